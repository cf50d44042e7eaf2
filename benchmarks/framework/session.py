"""What an experiment works with: it measures, shows tables and draws through a session."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from maxmargin.errors import MaxMarginError

from .data import Dataset, load
from .display import Column, Console, measurement_line, table
from .registry import Experiment
from .report import Findings
from .sequences import Tagged, load_tagged
from .store import Store

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Group(NamedTuple):
    """The repeated measurements of one configuration."""

    config: dict[str, Any]
    values: list[dict[str, Any]]

    def numbers(self, key: str) -> list[float]:
        """One number per repeat; None, for not reached, becomes infinity."""
        return [math.inf if v[key] is None else float(v[key]) for v in self.values]

    def median(self, key: str) -> float:
        """The median over the repeats."""
        return statistics.median(self.numbers(key))

    def every(self, key: str) -> bool:
        """Whether it is true of all repeats."""
        return all(v[key] for v in self.values)


def side_by_side(groups: list[Group], key: str) -> Group:
    """Join groups that differ in one setting; the setting is appended to their values' names."""
    repeats = min(len(group.values) for group in groups)
    values = [
        {f"{name} {g.config[key]}": value for g in groups for name, value in g.values[r].items()}
        for r in range(repeats)
    ]
    return groups[0]._replace(values=values)


class Session:
    """A run of one experiment.

    Parameters
    ----------
    experiment : Experiment
    directory : path or None
        Where the data sets are.
    out : path
        Where measurements and pictures go.
    quick : bool
        Smaller sizes, to check that everything works.
    repeats : int
    fresh : bool
        Measure again what earlier sessions have measured.
    """

    def __init__(
        self,
        experiment: Experiment,
        directory: Path | None,
        out: Path,
        quick: bool = False,
        repeats: int = 3,
        fresh: bool = False,
    ):
        self.experiment = experiment
        self.directory = directory
        self.out = out
        self.quick = quick
        self.repeats = repeats
        self.fresh = fresh
        self.measured = 0
        self._own: set[str] = set()
        self.written: list[Path] = []
        self.findings = Findings()
        self.store = Store(out / f"{experiment.store}.jsonl")
        self.log = Console(stderr=True)

    def load(self, name: str, seed: int | None = 0) -> Dataset:
        """A data set, its training examples shuffled by ``seed``, or as in the file if None."""
        return load(name, self.directory, seed)

    def tagged(self, task: str, n: int | None = None) -> Tagged:
        """The sequences of a task; see `load_tagged`."""
        return load_tagged(task, self.directory, n)

    def measure(
        self,
        config: dict[str, Any],
        function: Callable[[int], dict[str, Any]],
        repeats: int | None = None,
    ) -> Group:
        """Call ``function(seed)`` once per repeat on one thread, unless the result is on disk.

        The values are numbers, texts, booleans, lists, or None for what was not reached. A slow
        measurement may set fewer ``repeats`` than the session.
        """
        repeats = self.repeats if repeats is None else min(repeats, self.repeats)
        return Group(config, [self._one(config, function, r) for r in range(repeats)])

    def measure_in_turn(
        self, runs: Sequence[tuple[dict[str, Any], Callable[[int], dict[str, Any]]]]
    ) -> list[Group]:
        """As ``measure`` for each ``(config, function)``, but repeat by repeat.

        All are measured once before any is measured again, for ratios on a machine whose speed
        changes.
        """
        rows = [[self._one(*run, repeat) for run in runs] for repeat in range(self.repeats)]
        return [Group(config, [row[k] for row in rows]) for k, (config, _) in enumerate(runs)]

    def _one(
        self, config: dict[str, Any], function: Callable[[int], dict[str, Any]], repeat: int
    ) -> dict[str, Any]:
        from threadpoolctl import threadpool_limits

        own = f"{config} {repeat}"
        known = self.store.get(config, repeat) if own in self._own or not self.fresh else None
        if known is not None:
            return known
        with threadpool_limits(limits=1):
            values = function(repeat)
        self.store.add(config, repeat, seed=repeat, values=values)
        self._own.add(own)
        self.measured += 1
        self.log.print(measurement_line(config, repeat, values), soft_wrap=True)
        return values

    def table(self, groups: Iterable[Group], columns: Iterable[Column], title: str) -> None:
        """Print one row per group, and keep it for the report."""
        groups, columns = list(groups), list(columns)
        self.findings.tables.append((groups, columns, title))
        Console().print(table(groups, columns, title))

    def draw(
        self, paint: Callable[[Figure], None], width: float = 9, height: float = 4.6, part: str = ""
    ) -> None:
        """Write the picture that ``paint`` draws into an empty figure.

        If there are several pictures, ``part`` is added to the file's name.
        """
        from maxmargin.report.convergence import require_matplotlib, save

        name = self.experiment.name + (f"-{part}" if part else "")
        name += "-quick" if self.quick else ""
        path = self.out / f"{name}.png"
        try:
            require_matplotlib()
        except MaxMarginError as error:
            self.log.print(f"no picture: {error}", style="yellow")
            return
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
        figure.suptitle(self.experiment.title, fontsize=11.5)
        paint(figure)
        save(figure, path)
        self.findings.figures.append(figure)
        self.written.append(path)
