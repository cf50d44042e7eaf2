"""What a trial is, and what can come of it."""

from __future__ import annotations

import random
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from maxmargin.errors import MaxMarginError

from . import ROOT

CRASH, HANG, RAW = "crash", "hang", "raw traceback"
FALSE, WRONG, LEFT = "false certificate", "wrong result", "left behind"

#: Every way to fail.
FAILURES = (CRASH, HANG, RAW, FALSE, WRONG, LEFT)


class FoundError(Exception):
    """What must not happen has happened; ``outcome`` is one of ``FAILURES``."""

    def __init__(self, outcome: str, message: str):
        super().__init__(message)
        self.outcome = outcome


@dataclass
class Trial:
    """One trial: its source of randomness, an empty folder, and what its kind has prepared.

    ``seed``, kind and ``number`` determine every draw of ``random``.
    """

    kind: str
    seed: int
    number: int
    folder: Path
    ready: Any = None
    counts: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.random = random.Random(f"{self.seed} {self.kind} {self.number}")

    def count(self, what: str, n: int = 1) -> None:
        """Add to what the trial has done."""
        self.counts[what] += n

    @contextmanager
    def refusals(self, *more: type[Exception]) -> Iterator[None]:
        """Errors for users are what bad input deserves: they end the block and are counted."""
        try:
            yield
            self.count("accepted")
        except Exception as error:
            if not (isinstance(error, more) or for_users(error)):
                raise
            self.count("refused")


def for_users(error: Exception) -> bool:
    """Whether it is an error of ours, or of scikit-learn's checks of X and y."""
    if isinstance(error, MaxMarginError):
        return True
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    return isinstance(error, ValueError | TypeError) and "/sklearn/utils/" in last


@dataclass(frozen=True)
class Kind:
    """A kind of trial.

    Attributes
    ----------
    name : str
    about : str
        What is done, for the documentation.
    trial : ``trial(Trial)``
        Raises for every failure: `FoundError`, or an exception that users should not see.
    share : float
        Part of the time, relative to the other kinds.
    prepare : ``prepare(folder) -> ready``
        Called once per run, before the first trial.
    batch : int
        Number of trials per forked process.
    seconds : float
        A trial that takes longer hangs.
    memory : int or None
        Bytes that a trial may allocate.
    """

    name: str
    about: str
    trial: Callable[[Trial], None]
    share: float = 1.0
    prepare: Callable[[Path], Any] = lambda folder: None
    batch: int = 200
    seconds: float = 10.0
    memory: int | None = 4 * 2**30


@dataclass
class Outcome:
    """What came of a trial; ``failure`` is empty if all was well."""

    number: int
    failure: str = ""
    message: str = ""
    place: str = ""
    counts: dict[str, int] = field(default_factory=dict)


def judge(kind: Kind, trial: Trial) -> Outcome:
    """Run a trial in this process."""
    failure = message = place = ""
    try:
        kind.trial(trial)
    except FoundError as error:
        failure, message, place = error.outcome, str(error), _place(error)
    except Exception as error:
        failure, place = RAW, _place(error)
        message = "".join(traceback.format_exception(error))[-4000:]
    return Outcome(trial.number, failure, message, place, dict(trial.counts))


def _place(error: Exception) -> str:
    """The error's type, and the last line of the package that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "/maxmargin/" in frame.filename] or frames
    file = ours[-1].filename.rpartition("/maxmargin/")[2].removeprefix(f"{ROOT}/")
    where = f"{file}:{ours[-1].lineno}"
    return f"{type(error).__name__} at {where}"


def all_kinds() -> dict[str, Kind]:
    """The kinds of the folder ``kinds``, by name."""
    from . import kinds

    names = [module.name for module in iter_modules(kinds.__path__)]
    found = [import_module(f"{kinds.__name__}.{name}").KIND for name in names]
    return {kind.name: kind for kind in found}
