"""python -m tools.soak [--minutes 10] [--seed 0] [--kind NAME [--trial NUMBER]]."""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path

from . import page
from .results import RESULTS, append_run
from .schedule import Schedule, summary
from .trial import all_kinds


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description="The long test.")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=None, help="by default one that is unused")
    parser.add_argument("--kind", action="append", help="only this kind; may be repeated")
    parser.add_argument("--trial", type=int, help="only this trial of the kind")
    parser.add_argument("--results", type=Path, default=RESULTS, help="counts are added here")
    parser.add_argument("--list", action="store_true", help="list the kinds")
    return parser.parse_args(arguments)


def main() -> int:
    """Run; the exit code is 1 if there was a failure."""
    options, kinds = parse(), all_kinds()
    warnings.simplefilter("ignore")
    if options.list:
        print("\n".join(f"{kind.name}: {kind.about}" for kind in kinds.values()))
        return 0
    wanted = {name: kinds[name] for name in options.kind or kinds}
    if options.trial is not None:
        (name,) = wanted
        outcome = Schedule(wanted, options.seed or 0).replay(name, options.trial)
        print(outcome.failure or "no failure", outcome.counts, outcome.message, sep="\n")
        return bool(outcome.failure)
    seed = unused_seed(options.results) if options.seed is None else options.seed
    print(f"seed {seed}, {options.minutes:g} minutes", flush=True)
    run = Schedule(wanted, seed).go(options.minutes)
    append_run(run, options.results)
    if options.results == RESULTS:
        page.write()
    print("\n".join(summary(run)))
    return bool(run.failures)


def unused_seed(path: Path) -> int:
    """The smallest seed that no run of the results file has had."""
    from .results import read_runs

    return 1 + max((run["seed"] for run in read_runs(path)), default=-1)


if __name__ == "__main__":
    sys.exit(main())
