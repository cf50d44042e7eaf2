"""The experiments. An experiment is a function with a name, a claim and its data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from maxmargin.errors import MaxMarginError

if TYPE_CHECKING:
    from .session import Session

_EXPERIMENTS: dict[str, Experiment] = {}


class Verdict(NamedTuple):
    """Whether the claim held, with the numbers that decided it, or the error that ended the run."""

    passed: bool
    numbers: str
    finished: bool = True


@dataclass(frozen=True)
class Experiment:
    """A claim and how it is measured.

    Attributes
    ----------
    name : str
        Begins with the paper it is from, as in ``joachims-2009-fig6-cache``.
    title, claim : str
        What is compared, and the expected result in one sentence.
    data : tuple of str
        The data sets that must be in the data directory.
    peers : tuple of str
        Modules of other programs that must be installed.
    run : callable
        ``run(session) -> Verdict``: measures, shows its tables and draws through the session.
    store : str
        Name of the file of measurements. Experiments that share runs have the same one, so that
        each run is measured once.
    """

    name: str
    title: str
    claim: str
    data: tuple[str, ...]
    peers: tuple[str, ...]
    run: Callable[[Session], Verdict]
    store: str


def experiment(
    name: str,
    *,
    title: str,
    claim: str,
    data: tuple[str, ...] = (),
    peers: tuple[str, ...] = (),
    store: str | None = None,
) -> Callable[[Callable[[Session], Verdict]], Callable[[Session], Verdict]]:
    """Register the decorated function as an experiment; its own name is that of its store."""

    def register(run: Callable[[Session], Verdict]) -> Callable[[Session], Verdict]:
        _EXPERIMENTS[name] = Experiment(name, title, claim, data, peers, run, store or name)
        return run

    return register


def find_modules() -> list[str]:
    """The modules of all folders next to the framework: each may define experiments."""
    top = Path(__file__).parents[1]
    return [
        f"{top.name}.{path.parent.name}.{path.stem}"
        for path in sorted(top.glob("*/*.py"))
        if path.parent.name != "framework" and path.stem != "__init__"
    ]


def list_experiments() -> list[Experiment]:
    """All experiments, by name."""
    for module in find_modules():
        import_module(module)
    return [_EXPERIMENTS[name] for name in sorted(_EXPERIMENTS)]


def find_experiments(names: Iterable[str]) -> list[Experiment]:
    """The experiments with these names or beginnings of names; all of them if none is named."""
    known = {experiment.name: experiment for experiment in list_experiments()}
    found: dict[str, Experiment] = {}
    for name in list(names) or [""]:
        chosen = [name] if name in known else [key for key in known if key.startswith(name)]
        if not chosen:
            raise MaxMarginError(f"no experiment is named {name!r}; there are {', '.join(known)}")
        found |= {key: known[key] for key in chosen}
    return list(found.values())
