"""A solver that keeps what it would have returned for larger values of tol."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from maxmargin.objective import gap_target
from maxmargin.solvers.sdm import SDM


@dataclass(frozen=True)
class Milestones(SDM):
    """SDM that keeps the best certified weights when the gap first falls below each tol.

    Parameters
    ----------
    tols : tuple of float

    Attributes
    ----------
    found : dict
        By tol: CPU seconds since the first iteration began, and the weights.
    """

    tols: tuple[float, ...] = ()
    found: dict[float, tuple[float, np.ndarray]] = field(default_factory=dict)
    best: dict[str, Any] = field(default_factory=dict)

    def init(self, task: Any) -> Any:
        """Start the clock."""
        self.found.clear()
        self.best.update(primal=np.inf, dual=-np.inf, w=None, start=time.process_time())
        return super().init(task)

    def step_once(self, task: Any, state: Any) -> Any:
        """An iteration; afterwards the weights are kept, while the clock stands still."""
        step = super().step_once(task, state)
        now, best = time.process_time(), self.best
        w, primal, dual = step[:3]
        if w is not None and primal < best["primal"]:
            best.update(primal=primal, w=w.copy())
        best["dual"] = max(best["dual"], dual)
        for tol in self.tols:
            if tol not in self.found and best["primal"] - best["dual"] <= gap_target(
                tol, task.C, task.n
            ):
                self.found[tol] = (now - best["start"], best["w"])
        best["start"] += time.process_time() - now
        return step
