"""What training returns: the weights, their certificate, and how they were reached."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .errors import MaxMarginError


class Status(Enum):
    """Why training ended; the value is the message for a person."""

    CONVERGED = "converged: the duality gap is within tol"
    MAX_ITER = "stopped at max_iter before the duality gap was within tol: raise max_iter or tol"
    MAX_TIME = "stopped at max_time before the duality gap was within tol: raise max_time or tol"
    INTERRUPTED = "interrupted before the duality gap was within tol"
    CALLBACK = "stopped by a callback before the duality gap was within tol"
    OWN_RULE = "stopped by the solver's own rule before the duality gap was within tol"
    UNCERTIFIED = "ended by the rule of sampled cuts, which prove nothing: see result.audit()"
    IMPORTED = "not trained here: the weights come from another program's file"
    STALLED = "stopped at the precision of floating point before the gap was within tol: raise tol"


class Record(NamedTuple):
    """One iteration: the best certified values known after it.

    ``time`` is the solver's own, without packing, compiling, callbacks and drawing.
    """

    iteration: int
    time: float
    n_oracle: int
    primal: float
    dual: float
    gap: float
    planes: int


class WorkerReport(NamedTuple):
    """A worker of a distributed run: its place, its examples and the seconds it was at work."""

    worker: int
    host: str
    pid: int
    n: int
    busy: float
    restarts: int


class Stop(NamedTuple):
    """When to stop, beside the certified rule ``gap <= tol * C * n``."""

    tol: float = 1e-2
    max_iter: int = 10_000
    max_time: float | None = None


class Audit(NamedTuple):
    """P(w) and the value D of a feasible dual point: the optimum lies between them."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        """P - D."""
        return self.primal - self.dual


@dataclass
class Result:
    """The outcome of training.

    Attributes
    ----------
    w : array (dim,)
        The weights: the best point seen, with its certificate below.
    primal, dual, gap : float
        P(w), the best dual value D, and P(w) - D: the optimum lies between D and P(w).
    status : Status
    n_iter, n_oracle : int
        Iterations, and calls of the loss-augmented oracle.
    time, prepare_time, compile_time : float
        Seconds in the solver; packing the data; compiling or loading compiled code.
    history : list of Record
    shares : dict
        Seconds by kind of work: oracle, planes, cache, qp.
    state : the solver's state in the end, where a later run wants to begin from it; else None
    workers : list of WorkerReport
        Of a distributed run: how busy each worker was, and how often it was replaced.
    solver : str
        Its name; empty where it is not known.
    target : float or None
        The gap at which training may stop, tol * C * n; None where it is not known.
    """

    w: np.ndarray
    primal: float
    dual: float
    gap: float
    status: Status
    n_iter: int
    n_oracle: int
    time: float
    prepare_time: float = 0.0
    compile_time: float = 0.0
    history: list[Record] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    state: Any = field(default=None, repr=False)
    workers: list[WorkerReport] = field(default_factory=list)
    solver: str = ""
    target: float | None = None

    @property
    def converged(self) -> bool:
        """Whether the certified stopping rule was met."""
        return self.status is Status.CONVERGED

    @property
    def as_asked(self) -> bool:
        """Whether training ended by the rule of its solver, not by a limit."""
        return self.status in (Status.CONVERGED, Status.UNCERTIFIED)

    def audit(self) -> Any:
        """P(w) and a feasible dual value of the problem that was asked for: ``.primal .dual .gap``.

        Of a kernel that means its whole space, whatever subspace or sample was trained on, and is
        computed now, from the training data: after ``mm.load`` these are no longer there.
        """
        if not np.isfinite(self.gap):
            raise MaxMarginError(
                "there is nothing to audit: this result was loaded or imported, and the data are "
                "not at hand; audit the result of fit"
            )
        return Audit(self.primal, self.dual)

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw primal, dual and gap over time and oracle calls; see ``report.convergence``.

        With a ``path`` that ends in .html an interactive report is written there as well.
        """
        from .report.convergence import plot_result

        if path is not None and Path(path).suffix.lower() in (".html", ".htm"):
            from .report.training import Run, write_report

            write_report(path, Run(self))
            path = None
        return plot_result(self, path)

    def __repr__(self) -> str:
        return (
            f"Result({self.status.name}, primal={self.primal:.6g}, dual={self.dual:.6g}, "
            f"gap={self.gap:.3g}, n_iter={self.n_iter}, n_oracle={self.n_oracle}, "
            f"time={self.time:.2f} s)"
        )


Callback = Callable[[Record, np.ndarray], Any]
