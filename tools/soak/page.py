"""Writes the counts into docs/reliability.md: python -m tools.soak.page.

The page keeps its text; what is between the marks is written from ``results.json`` and
``comparison.json``, and a test compares them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

from . import ROOT
from .compare import COMPARISON
from .results import Tally, add_up, read_runs
from .trial import FAILURES, all_kinds

PAGE = ROOT / "docs" / "reliability.md"

#: Counts that the first table shows, and their names in the kinds.
SUMS = {
    "kills (-9)": ("kills",),
    "altered files": ("altered files",),
    "altered arrays and parameters": ("altered inputs",),
    "truncations": ("truncations",),
    "certificates compared with a QP": ("certificates",),
    "loads during saves": ("loads during saves",),
    "writes to full disks": (
        "writes to full disks", "writes beyond a limit", "writes to /dev/full",
    ),
    "predictions in threads": ("predictions in threads",),
    "Ray workers stopped": ("stops",),
}  # fmt: skip


def sums_table(runs: list[dict[str, Any]]) -> str:
    """What all runs have done together, and what failed."""
    sums = add_up(runs)
    counts: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    for tally in sums.values():
        counts.update(tally.counts)
        failures.update(tally.failures)
    hours = sum(tally.seconds for tally in sums.values()) / 3600
    rows = [f"| {what} | {sum(counts[n] for n in names):,} |" for what, names in SUMS.items()]
    rows += [f"| **{failure}** | **{failures[failure]:,}** |" for failure in FAILURES]
    commits = list(dict.fromkeys(run["commit"] for run in runs))
    shown = ", ".join(f"`{commit}`" for commit in commits)
    head = (
        f"{len(runs)} runs, {hours:.1f} hours, of the commits {shown}:\n\n| | sum |\n|---|---:|\n"
    )
    return head + "\n".join(rows)


def kinds_table(sums: dict[str, Tally]) -> str:
    """One row per kind of trial."""
    rows = ["| trials | what is done | number | failures |", "|---|---|---:|---:|"]
    for name, kind in sorted(all_kinds().items()):
        tally = sums.get(name, Tally())
        failed = sum(tally.failures.values())
        rows.append(f"| {name} | {kind.about} | {tally.trials:,} | {failed:,} |")
    return "\n".join(rows)


def comparison_table(found: dict[str, Any]) -> str:
    """What each program makes of the same inputs."""
    names = list(found["versions"])
    rows = [
        "| input | " + " | ".join(f"{name} {found['versions'][name]}" for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    for what, answers in found["inputs"].items():
        cells = [_cell(answers.get(name)) for name in names]
        rows.append(f"| {what} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _cell(counts: dict[str, int] | None) -> str:
    if counts is None:
        return "takes no matrices"
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return ", ".join(f"{what} {_percent(n, total)}" for what, n in ordered)


def _percent(n: int, total: int) -> str:
    percent = 100 * n / total
    return "always" if n == total else f"{percent:.1f} %" if percent < 10 else f"{percent:.0f} %"


def fill(text: str) -> str:
    """The page with its tables written again."""
    runs = read_runs()
    tables = {
        "sums": sums_table(runs),
        "kinds": kinds_table(add_up(runs)),
        "comparison": comparison_table(json.loads(COMPARISON.read_text())),
    }
    for name, table in tables.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
        text, n = pattern.subn(lambda _, b=begin, t=table, e=end: f"{b}\n\n{t}\n\n{e}", text)
        if n != 1:
            raise ValueError(f"{PAGE} needs the marks {begin} and {end} once, it has {n}")
    return text


def write() -> None:
    """Write the page."""
    PAGE.write_text(fill(PAGE.read_text(encoding="utf8")), encoding="utf8")


if __name__ == "__main__":
    write()
