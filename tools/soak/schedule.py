"""Shares the time of a run between the kinds, and tells what is found."""

from __future__ import annotations

import math
import sys
import tempfile
import time
import traceback
from contextlib import closing
from pathlib import Path
from typing import Any

from .results import Run, table
from .trial import RAW, Kind, Outcome
from .worker import run_trials


class Schedule:
    """One run over several kinds.

    Parameters
    ----------
    kinds : dict of str to Kind
    seed : int
    """

    def __init__(self, kinds: dict[str, Kind], seed: int):
        self.kinds, self.seed = kinds, seed
        self.run = Run(seed)
        self.spent = dict.fromkeys(kinds, 0.0)
        self.next = dict.fromkeys(kinds, 0)
        self.ready: dict[str, Any] = {}
        self.end = math.inf

    def go(self, minutes: float) -> Run:
        """Run batches until the time is over, each of the kind that is most behind its share."""
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            self.end = time.monotonic() + 60 * minutes
            while time.monotonic() < self.end:
                name = min(self.kinds, key=lambda name: self.spent[name] / self.kinds[name].share)
                self._batch(self.kinds[name], Path(folder))
        return self.run

    def _batch(self, kind: Kind, folder: Path) -> None:
        begin = time.monotonic()
        try:
            ready = self.prepare(kind, folder)
        except Exception as error:  # the other kinds go on
            self._give_up(kind, error)
            return
        first = self.next[kind.name]
        self.next[kind.name] += kind.batch
        last, numbers = time.monotonic(), range(first, first + kind.batch)
        with closing(run_trials(kind, ready, self.seed, numbers, folder)) as outcomes:
            for outcome in outcomes:
                now = time.monotonic()
                if self.run.add(kind.name, outcome, now - last):
                    tell(kind, self.seed, outcome)
                last = now
                if now > self.end:
                    break
        self.spent[kind.name] += last - begin

    def prepare(self, kind: Kind, folder: Path) -> Any:
        """What the kind needs, made once."""
        if kind.name not in self.ready:
            place = folder / kind.name.replace(" ", "-")
            place.mkdir()
            self.ready[kind.name] = kind.prepare(place)
        return self.ready[kind.name]

    def _give_up(self, kind: Kind, error: Exception) -> None:
        outcome = Outcome(-1, RAW, "".join(traceback.format_exception(error)), "prepare")
        self.run.add(kind.name, outcome, 0.0)
        tell(kind, self.seed, outcome)
        self.spent[kind.name] = math.inf

    def replay(self, name: str, number: int) -> Outcome:
        """One trial again."""
        with tempfile.TemporaryDirectory(prefix="soak-") as folder:
            kind, numbers = self.kinds[name], range(number, number + 1)
            ready = self.prepare(kind, Path(folder))
            (outcome,) = run_trials(kind, ready, self.seed, numbers, Path(folder))
        return outcome


def tell(kind: Kind, seed: int, outcome: Outcome) -> None:
    """Print a failure, and how to see it again."""
    print(
        f"FAILURE {outcome.failure} in {kind.name!r}, seed {seed}, trial {outcome.number}: "
        f"{outcome.place}\n  again: {command(kind.name, seed, outcome.number)}",
        file=sys.stderr, flush=True,
    )  # fmt: skip


def command(name: str, seed: int, number: int) -> str:
    """The command that runs one trial again."""
    return f"python -m tools.soak --seed {seed} --kind '{name}' --trial {number}"


def summary(run: Run) -> list[str]:
    """The counts of a run, and its first failure."""
    lines = table(run.tallies)
    if run.failures:
        first = run.failures[0]
        again = command(first["kind"], run.seed, first["trial"])
        lines += ["", f"the first failure: {first['outcome']}", first["message"], f"again: {again}"]
    return lines
