"""The file of results: for each row its figures, and with what they were measured."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, NamedTuple

from maxmargin import __version__

from ..framework.store import machine

#: The only source of measured figures of the pages.
RESULTS = Path(__file__).with_name("results.json")

ROOT = Path(__file__).parents[2]


class Measured(NamedTuple):
    """Figures of one row: seconds, percent, megabytes or ratios, by name."""

    figures: dict[str, float]
    version: str
    commit: str
    processor: str
    cores: int
    python: str
    date: str

    @property
    def conditions(self) -> tuple[str, str, str, str]:
        """What rows of one run have in common."""
        return self.version, self.commit, self.processor, self.date

    @property
    def day(self) -> str:
        """The date, for a sentence."""
        day = date.fromisoformat(self.date)
        return f"{day.day} {day:%B %Y}"


def record(row: str, figures: dict[str, float], path: Path = RESULTS) -> None:
    """Store the figures of a row, with version, commit, processor and date."""
    rows = read_results(path)
    here = machine()
    rows[row] = Measured(
        {name: float(f"{value:.4g}") for name, value in figures.items()},
        __version__,
        find_commit(),
        here["cpu"],
        here["cores"],
        here["python"],
        datetime.now(UTC).date().isoformat(),
    )
    text = json.dumps({name: rows[name]._asdict() for name in sorted(rows)}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read_results(path: Path = RESULTS) -> dict[str, Measured]:
    """All rows that have been measured."""
    if not path.exists():
        return {}
    rows: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {name: Measured(**row) for name, row in rows.items()}


def find_commit() -> str:
    """The commit of the clone, marked if the sources of the package differ from it."""
    commit = _git("rev-parse", "--short=7", "HEAD")
    changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    return f"{commit}, changed" if changed else commit or "unknown"


def _git(*arguments: str) -> str:
    """What a command of git prints; nothing where there is no git or no clone."""
    try:
        done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    except OSError:
        return ""
    return done.stdout.strip()
