"""``Result``: what training returns, the weights with their certificate and history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .errors import MaxMarginError


class Status(Enum):
    """Why training ended; the value is the message shown to users."""

    CONVERGED = "converged: the duality gap is within tol"
    MAX_ITER = "stopped at max_iter before the duality gap was within tol: raise max_iter or tol"
    MAX_TIME = "stopped at max_time before the duality gap was within tol: raise max_time or tol"
    INTERRUPTED = "interrupted before the duality gap was within tol"
    CALLBACK = "stopped by a callback before the duality gap was within tol"
    OWN_RULE = "stopped by the solver's own rule before the duality gap was within tol"
    UNCERTIFIED = "ended by the rule of sampled cuts, which give no bound: see result.audit()"
    IMPORTED = "not trained by maxmargin: the weights were read from another program's file"
    INFERENCE_LIMITED = (
        "optimised as far as inference allows: the gap of the outputs found is within tol, and the "
        "oracle's bounds leave the rest"
    )
    PRUNED = "converged; small weights were removed later, and the gap includes what this costs"
    STALLED = "stopped at the precision of floating point before the gap was within tol: raise tol"


#: ``Result.bounds`` of a problem whose outputs are relaxed.
RELAXED = "of the relaxed problem"


class Record(NamedTuple):
    """One iteration: the best certified values known after it.

    ``time`` is in seconds and counts the solver only, without packing, compiling, callbacks and
    drawing. ``n_oracle`` counts oracle calls, ``planes`` the planes that the solver holds.
    ``gap_inference`` is the part of the gap that an inexact oracle leaves (see ``Result``).
    """

    iteration: int
    time: float
    n_oracle: int
    primal: float
    dual: float
    gap: float
    planes: int
    gap_inference: float = 0.0

    @property
    def gap_optimisation(self) -> float:
        """The part of the gap that training can close."""
        return self.gap - self.gap_inference


class WorkerReport(NamedTuple):
    """A worker of a distributed run: host, process, number of examples, seconds of work."""

    worker: int
    host: str
    pid: int
    n: int
    busy: float
    restarts: int


class Stop(NamedTuple):
    """When to stop: ``gap <= tol * C * n``, or a limit on iterations or on time (seconds)."""

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
        The weights with the lowest objective found.
    primal, dual, gap : float
        P(w), the best dual value D, and P(w) - D: the optimum lies between D and P(w). If the
        oracle is not exact, ``primal`` is an upper bound of P(w), from the oracle's bounds.
    gap_inference, gap_optimisation : float
        The parts of the gap. The first is what an inexact oracle leaves: the upper bound of P(w)
        minus P(w) of the outputs found; it is 0 if the oracle is exact. The second is the rest,
        which training closes.
    status : Status
        Why training ended.
    n_iter, n_oracle : int
        Iterations, and calls of the loss-augmented oracle.
    time, prepare_time, compile_time : float
        Seconds in the solver; packing the data; compiling or loading compiled code.
    earlier_time : float
        The part of ``time`` that was spent before training was resumed from a checkpoint.
    history : list of Record
        The best values known after each iteration.
    shares : dict
        Seconds per kind of work: oracle, planes, cache, qp.
    state : WarmStart or None
        The final state of the solver, if ``train`` was called with ``keep=True``.
    workers : list of WorkerReport
        For a distributed run: how busy each worker was, and how often it was replaced.
    solver : str
        Name of the solver; empty if unknown.
    target : float or None
        The gap at which training may stop, tol * C * n; None if unknown.
    bounds : str
        The set of models whose optimum ``dual`` bounds from below, such as "among models with
        these 20 basis functions"; empty for all models. "of the relaxed problem" if outputs are
        relaxed (``relax=True``): primal, dual and gap are then those of this problem, whose
        objective is an upper bound on the exact one.
    trivial : bool
        Whether w = 0 is within tol as well: C is too small for this tol, or the features do not
        help.
    deterministic : bool
        Whether another run gives the same weights; False if threads have changed them at the same
        time (``deterministic=False``).
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
    bounds: str = ""
    trivial: bool = False
    gap_inference: float = 0.0
    earlier_time: float = 0.0
    deterministic: bool = True

    @property
    def gap_optimisation(self) -> float:
        """The part of the gap that training can close; training stops when it is within tol."""
        return self.gap - self.gap_inference

    @property
    def converged(self) -> bool:
        """Whether the certified stopping rule was met."""
        return self.status is Status.CONVERGED

    @property
    def as_asked(self) -> bool:
        """Whether training ended by the stopping rule of its solver, not by a limit."""
        as_asked = (
            Status.CONVERGED, Status.INFERENCE_LIMITED, Status.PRUNED, Status.UNCERTIFIED,
        )  # fmt: skip
        return self.status in as_asked

    def audit(self) -> Any:
        """P(w) and the value of a feasible dual point: ``.primal``, ``.dual`` and ``.gap``.

        With a kernel they are those of its whole space, even if training used basis functions or
        sampled cuts. For these they are computed from the training data in this call, so the
        result of a loaded model cannot be audited.
        """
        if self.bounds not in ("", RELAXED) or not np.isfinite(self.gap):
            raise MaxMarginError(
                "this result was loaded or imported, without the training data that an audit "
                "needs: call audit() on the result of fit"
            )
        return Audit(self.primal, self.dual)

    def plot(self, path: str | Path | None = None) -> Any:
        """Plot primal, dual and gap over time and oracle calls; see ``report.convergence``.

        The figure is also written to ``path``; a path that ends in .html gets an interactive
        report instead.
        """
        from .report.convergence import plot_result

        if path is not None and Path(path).suffix.lower() in (".html", ".htm"):
            from .report.training import Run, write_report

            write_report(path, Run(self))
            path = None
        return plot_result(self, path)

    def __repr__(self) -> str:
        bounds = f", bounds={self.bounds!r}" if self.bounds else ""
        rest = f" ({self.gap_inference:.3g} from inference)" if self.gap_inference else ""
        return (
            f"Result({self.status.name}, primal={self.primal:.6g}, dual={self.dual:.6g}, "
            f"gap={self.gap:.3g}{rest}, n_iter={self.n_iter}, n_oracle={self.n_oracle}, "
            f"time={self.time:.2f} s{bounds})"
        )


Callback = Callable[[Record, np.ndarray], Any]
