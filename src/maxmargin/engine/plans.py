"""Which thread makes which visits of a pass, and how visits are counted for the average of w."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .sharing import new_counter

#: The next piece of a pass is this part of what is left, divided by the number of threads: pieces
#: become smaller, so that no thread waits long for the last one. They take at least about SHORTEST
#: seconds, and have at most as many visits as there are examples in a window of ``shuffled``
#: passes, which are neighbours in memory.
PART, SHORTEST, LARGEST = 4, 5e-5, 2048


class Plan(NamedTuple):
    """The visits of the threads in a part of a pass, see ``Shared``.

    It is the same for all, or everyone has its own visits.
    """

    order: np.ndarray
    turn: np.ndarray
    ends: np.ndarray
    taken: np.ndarray


def divide(part: np.ndarray, n: int, smallest: int) -> Plan:
    """The plan for n threads that visit these examples."""
    ends = [0]
    while ends[-1] < len(part):
        left = len(part) - ends[-1]
        ends.append(ends[-1] + min(max(left // (PART * n), smallest, 1), LARGEST, left))
    return Plan(part, new_counter(), np.array(ends), np.zeros(len(ends), np.int64))


def advanced(clock: np.ndarray, visits: int) -> np.ndarray:
    """The clock of the average (see ``Visits``) after this many more visits."""
    t, weight, power = clock
    return np.array([t + visits, weight + sum_powers(t, t + visits, power), power])


def sum_powers(a: float, b: float, p: float) -> float:
    """About the sum of t ** p for t = a + 1, ..., b, by the midpoint rule.

    The average of w needs no more: any weights of the visits give a point to certify.
    """
    return ((b + 0.5) ** (p + 1) - (a + 0.5) ** (p + 1)) / (p + 1)
