"""Random number generators for several workers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..solvers.task import Task


def random_states(task: Task, K: int) -> list[Any]:
    """The states of the random number generators of K workers.

    The first continues the driver's generator, so that a single worker draws the same numbers as
    a local run.
    """
    others = [np.random.RandomState(task.random.randint(2**31 - 1)) for _ in range(K - 1)]
    return [task.random.get_state(), *(other.get_state() for other in others)]
