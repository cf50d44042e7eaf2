"""Sign constraints w_j >= 0 on chosen weights (``CompiledProblem.positive``).

The dual variables give v = C sum_ir weight_i alpha_ir plane_ir, and w is v with the constrained
weights clipped at zero. v is kept as w and ``below``, the negative parts that were clipped: for a
constrained weight one of the two is zero, so that v = w + below without rounding.

    D(alpha) = C sum_ir weight_i alpha_ir loss_ir - 1/2 |w|^2    (docs/mathematics.md)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from .checking import require


def clip(v: np.ndarray, positive: np.ndarray) -> np.ndarray:
    """Turn v into w, in place; returns ``below``, what was clipped, at the constrained weights."""
    below = np.minimum(v[positive], 0.0)
    v[positive] = np.maximum(v[positive], 0.0)
    return below


def check_clipped(w: np.ndarray, below: np.ndarray, positive: np.ndarray) -> None:
    """Check numbers of a checkpoint: w >= 0 >= below at the constrained weights, one of them 0."""
    limited = w[positive]
    require((limited >= 0).all() and (below <= 0).all(), "w has the wrong sign")
    require(not (limited * below).any(), "a weight is positive and clipped")


def check_signs(solver: Any, shard: Any) -> None:
    """Raise a DataError if there are sign constraints and the solver ignores them."""
    if len(shard.positive) and not solver.for_signs:
        raise DataError(
            f"{type(shard.problem).__name__} has weights that must be >= 0 (positive), and the "
            f"solver {solver.name!r} has no such constraints: use 'sdm', 'bcfw', 'n-slack', "
            "'one-slack' or 'subgradient'"
        )
