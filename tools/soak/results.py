"""The results file: what each run has done, so that counts add up over seeds and runs."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import maxmargin

from . import ROOT
from .trial import FAILURES, Outcome

RESULTS = Path(__file__).with_name("results.json")

#: Failures of one place that a run describes; the others are only counted.
DESCRIBED = 2


@dataclass
class Tally:
    """What the trials of one kind have done."""

    trials: int = 0
    seconds: float = 0.0
    counts: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)

    def add(self, outcome: Outcome) -> None:
        """Add a trial."""
        self.trials += 1
        self.counts.update(outcome.counts)
        if outcome.failure:
            self.failures[outcome.failure] += 1


class Run:
    """The tallies of one run, and the first failures of each place."""

    def __init__(self, seed: int):
        self.seed, self.tallies = seed, {}
        self.failures: list[dict[str, Any]] = []

    def add(self, kind: str, outcome: Outcome, seconds: float) -> bool:
        """Add a trial; returns whether it is a failure of a place that is new."""
        tally = self.tallies.setdefault(kind, Tally())
        tally.add(outcome)
        tally.seconds += seconds
        if not outcome.failure:
            return False
        known = [f for f in self.failures if f["place"] == outcome.place and f["kind"] == kind]
        if len(known) < DESCRIBED:
            self.failures.append(
                {"kind": kind, "trial": outcome.number, "outcome": outcome.failure,
                 "place": outcome.place, "message": outcome.message[-1500:]}
            )  # fmt: skip
        return not known

    def as_json(self) -> dict[str, Any]:
        """What the results file holds of a run."""
        kinds = {
            name: {
                "trials": tally.trials, "seconds": round(tally.seconds),
                "counts": dict(sorted(tally.counts.items())), "failures": dict(tally.failures),
            }
            for name, tally in sorted(self.tallies.items())
        }  # fmt: skip
        return {
            "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="minutes"),
            "version": maxmargin.__version__, "commit": commit(), "seed": self.seed,
            "kinds": kinds, "failures": self.failures,
        }  # fmt: skip


def commit() -> str:
    """The commit that was tested, with a plus if files were changed since."""

    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
        return done.stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src")
    return git("rev-parse", "--short=10", "HEAD") + ("+" if changed else "")


def read_runs(path: Path = RESULTS) -> list[dict[str, Any]]:
    """All runs of a results file."""
    return json.loads(path.read_text())["runs"] if path.exists() else []


def append_run(run: Run, path: Path = RESULTS) -> None:
    """Add a run to the file."""
    from maxmargin.saving.atomic import write_lines_atomic

    runs = [*read_runs(path), run.as_json()]
    write_lines_atomic(path, [json.dumps({"runs": runs}, indent=1)])


def add_up(runs: list[dict[str, Any]]) -> dict[str, Tally]:
    """The tallies of all runs together, by kind."""
    sums: dict[str, Tally] = {}
    for run in runs:
        for name, entry in run["kinds"].items():
            tally = sums.setdefault(name, Tally())
            tally.trials += entry["trials"]
            tally.seconds += entry["seconds"]
            tally.counts.update(entry["counts"])
            tally.failures.update(entry["failures"])
    return sums


def table(sums: dict[str, Tally]) -> list[str]:
    """Lines of text: kind, trials, failures, what was counted."""
    lines = []
    for name, tally in sorted(sums.items()):
        counts = ", ".join(f"{n:,} {what}" for what, n in sorted(tally.counts.items()))
        failed = ", ".join(f"{tally.failures[f]:,} {f}" for f in FAILURES if tally.failures[f])
        lines.append(f"{name:22} {tally.trials:>9,} trials   {failed or 'no failure'}   ({counts})")
    return lines
