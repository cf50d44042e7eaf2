"""Measure the speed-up of compiled functions: the same training in plain Python and compiled.

    python examples/matching_speed.py            # n = 500, 5 repeats
    python examples/matching_speed.py 100 3      # n = 100, 3 repeats

Both run the same solver on one core to the same certified tolerance, one after the other in each
repeat. Compile time is reported separately.
"""

from __future__ import annotations

import statistics
import sys

from matching import Matching, make_pairs
from matching_numba import FastMatching

import maxmargin as mm


def measure(n=500, repeats=5, solver="one-slack"):
    """Seconds in the solver, a pair for each repeat, and the two results."""
    _, _, X, Y = make_pairs(n)
    seconds, results = [], []
    for _ in range(repeats):
        results = [
            mm.train(problem, X, Y, C=0.1, solver=solver, tol=1e-2, n_jobs=1)
            for problem in (Matching(), FastMatching())
        ]
        seconds.append(tuple(result.time for result in results))
    return seconds, results


def main():
    """Print medians, their range and the ratio."""
    given = [int(argument) for argument in sys.argv[1:]]
    n, repeats = (*given, *(500, 5)[len(given) :])
    seconds, (plain, fast) = measure(n, repeats)
    for name, times, result in (
        ("plain Python", [a for a, _ in seconds], plain),
        ("numba functions", [b for _, b in seconds], fast),
    ):
        print(
            f"{name}: median {statistics.median(times):.4g} s of {repeats} "
            f"({min(times):.4g} to {max(times):.4g}), primal {result.primal:.6g}, "
            f"{result.n_oracle:,} oracle calls, compiling {result.compile_time:.1f} s"
        )
    ratios = sorted(a / b for a, b in seconds)
    print(f"ratio: {statistics.median(ratios):.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f})")


if __name__ == "__main__":
    main()
