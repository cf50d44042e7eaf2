"""Cutting planes with kernels, from samples of the examples: Yu and Joachims (2008).

A cut over all examples has as many basis functions as there are violated examples, and a Gram
matrix of such cuts needs n^2 kernel evaluations. Cuts from r examples need r^2 or r n:

"constant"
    Algorithm 2: r random examples. Nothing depends on n.
"linear"
    Algorithm 3: the scores of all examples are known (the table A of each cut), a cut is made from
    r of the violated examples, and the exact cut decides when to stop.

We use sums instead of averages. Constant time: g = (n/r) sum psi, l = (n/r) sum loss. Linear time:
l over all examples, and g = (|I|/r) sum psi over r examples of I, the examples with a loss.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from ..objective import NUMBER, check_integer
from ..result import Status
from .base import Solver, State
from .checking import check_labels
from .kernel_bundle import Point, SparseBundle, TableBundle
from .task import Task

if TYPE_CHECKING:
    from ..kernels.scores import ScoreShard

#: Solve the QP to this fraction of the current gap.
QP_PRECISION = 0.01

#: An example counts as bound if it was violated this many times in a row.
BOUND_AFTER = 5

#: Default number of examples per cut (Yu and Joachims, 2008, section 6.2).
SAMPLE = {"linear": 400, "constant": 1000}


@dataclass
class SampledState(State):
    """The working set, the point of the next cut (query), and the centre of the steps."""

    model: Any  # a TableBundle or a SparseBundle
    query: Point
    centre: Point
    labels: np.ndarray
    centre_primal: float = np.inf
    quiet: int = 0
    exact: bool = True  # whether all cuts were made from all examples
    streak: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    finished: bool = False
    bounded: bool = False  # whether D is known, because every cut was made from all examples
    certified: bool = False
    tol: float = np.inf  # the tol with which training has finished

    @property
    def status(self) -> Status:  # type: ignore[override]
        """The reason why training ended."""
        if self.certified:
            return Status.CONVERGED
        return Status.STALLED if self.bounded else Status.UNCERTIFIED

    def check_restored(self, task: Task) -> None:
        """Check the labels; the working set and the points check themselves."""
        check_labels(task, self.labels)


@dataclass(frozen=True)
class SampledCuts(Solver):
    """1-slack cutting planes in the space of a kernel, from samples of the examples.

    Parameters
    ----------
    kind : {"linear", "constant"}
        The cost of an iteration as a function of n.
    r : int, optional
        Number of examples per cut, by default 400 (linear) or 1000 (constant). With all examples
        the algorithm is exact, and the result of "linear" has a certificate.
    p : int
        "constant" stops after this many cuts in a row that are not violated.
    step : float, optional
        Position of the next cut on the segment from the best point so far (constant: the last
        point) to the solution of the QP (1, as in the paper).
    rates : (float, float), optional
        Relative sampling rates of bound examples (violated in the last 5 iterations) and of others,
        such as ``(1, 3)``; "linear" only. Each kind is scaled separately, so that cuts are
        unbiased.
    tries : int
        Number of samples of r examples that are tried until the cut is violated; after these, r is
        doubled until it is.
    idle : int
        Cuts are removed after this many iterations without influence.
    max_bytes : int
        Maximum memory for the score tables ("linear"), in bytes; more raises an error.
    cache_bytes : int
        Memory for columns of the kernel matrix, in bytes; "constant" uses it only if all columns
        fit, and in long runs. A resumed run computes the columns again and gives the same results
        up to rounding.
    dtype : {"float32", "float64"}
        Type of kernel values and score tables.
    """

    kind: str = "linear"
    r: int | None = None
    p: int = 4
    step: float | None = None
    rates: tuple[float, float] | None = None
    tries: int = 20
    idle: int = 20
    max_bytes: int = 2**31
    cache_bytes: int = 2**29
    dtype: str = "float32"

    name = "sampled-cuts"
    variants = {"sampled-linear": {}, "sampled-constant": {"kind": "constant"}}
    for_kernels = True
    estimates = True
    resources = ("max_bytes", "cache_bytes")

    def __post_init__(self) -> None:
        if self.kind not in SAMPLE:
            raise DataError(f"kind must be 'linear' or 'constant', got {self.kind!r}")
        if self.step is not None and not 0 < self.step <= 1:
            raise DataError(f"step must be in (0, 1], got {self.step}")
        for name, low in (("r", 1), ("p", 1), ("tries", 1), ("idle", 1), ("max_bytes", 0),
                          ("cache_bytes", 0)):  # fmt: skip
            value = getattr(self, name)
            if value is not None:
                check_integer(name, value, low, 2**62)
        if self.dtype not in ("float32", "float64"):
            raise DataError(f"dtype must be 'float32' or 'float64', got {self.dtype!r}")
        if self.rates is not None and (self.kind == "constant" or not _are_rates(self.rates)):
            raise DataError(f"rates must be two numbers > 0, and need kind='linear': {self.rates}")

    def loops(self, task: Task) -> tuple[str, ...]:
        """The compiled passes it calls."""
        return ("decode", "collect")

    def init(self, task: Task) -> SampledState:
        """Line 2: an empty working set, w = 0."""
        shard: ScoreShard = task.shard  # type: ignore[assignment]
        if not shard.for_kernels:
            raise DataError(
                "sampled cuts need a kernel: set kernel='rbf' or another kernel, or use "
                "solver='one-slack'"
            )
        linear = self.kind == "linear"
        shard.compute_in(np.dtype(self.dtype), self.cache_bytes, every_row=linear)
        model = (
            TableBundle(shard, task.N, self.idle, self.max_bytes)
            if linear
            else SparseBundle(shard, task.N, self.idle)
        )
        start = model.start()
        streak = np.zeros(shard.n if linear else 0, np.int32)
        return SampledState(model, start, start, shard.new_labels(), streak=streak)

    def thaw(self, task: Task, state: SampledState) -> None:
        """After a checkpoint was read: a finished run continues if tol is now smaller."""
        if task.tol < state.tol:
            state.finished = state.certified = False
            state.quiet = 0

    def planes(self, state: SampledState) -> int:
        """Size of the working set."""
        return len(state.model)

    def step_once(self, task: Task, state: SampledState) -> tuple[Any, float, float]:
        """One iteration of the loop in lines 4 to 9: a cut, the QP, and the next point."""
        sampled = self._constant if self.kind == "constant" else self._linear
        found = sampled(task, state)
        if found is not None:
            self._add(task, state, *found)
        state.tol = task.tol if state.finished else np.inf
        state.bounded = state.exact and self.kind == "linear" and (state.finished or task.last)
        if not state.bounded:
            return state.centre.w, state.centre_primal, -np.inf
        primal, dual = self._certify(task, state)
        state.certified = primal - dual <= task.tol * task.N
        return state.centre.w, primal, dual

    def _certify(self, task: Task, state: SampledState) -> tuple[float, float]:
        """P and D from their definitions, with kernel values in double precision.

        Those of the iterations contain the rounding errors of the tables and of many steps.
        """
        shard: ScoreShard = task.shard  # type: ignore[assignment]
        with task.share("certificate"):
            scored = shard.lift_exactly(state.centre.w)
            square = float(state.centre.w @ scored)
            primal = 0.5 * square + task.C * shard.hinge(scored, task.mode).found
            model = state.model
            square = float(model.w @ shard.lift_exactly(model.w))
            return primal, task.N * float(model.beta @ model.loss) - 0.5 * square

    def _add(self, task: Task, state: SampledState, g: Any, loss: float, value: float) -> None:
        """Lines 5 to 7: add the cut to the working set, solve the QP, and move the point.

        ``value`` is <g, w> of the centre.
        """
        model = state.model
        with task.share("kernel"):
            model.add(g, loss)
        # The inner products of the centre include the new cut.
        state.centre = state.centre._replace(along=np.append(state.centre.along, value))
        with task.share("qp"):
            gap = (state.centre_primal - model.dual) / task.N
            model.solve(QP_PRECISION * max(gap, task.tol))
        state.query = model.between(state.centre, self._length())
        kept = model.drop_idle()
        state.centre = state.centre._replace(along=state.centre.along[kept])
        state.query = state.query._replace(along=state.query.along[kept])

    def _length(self) -> float:
        return STEP[self.kind] if self.step is None else self.step

    def _constant(self, task: Task, state: SampledState) -> tuple[Any, float, float] | None:
        """Algorithm 2, lines 11 to 18: the cut of r examples, and an estimate of P."""
        shard: ScoreShard = task.shard  # type: ignore[assignment]
        model, query = state.model, state.query
        r = min(self.r or SAMPLE["constant"], shard.n)
        state.exact = state.exact and r == shard.n
        chosen, scale = draw(task.random, shard.n, r), shard.n / r
        with ExitStack() as stack:
            with task.share("kernel"):
                rows = shard.rows_of(chosen)
                scored = stack.enter_context(model.scored(query.w, rows))
            with task.share("oracle"):
                shard.oracle(scored, task.mode, state.labels, chosen)
                g, loss, value = shard.sparse_cut(
                    scored, task.mode, state.labels, chosen, scale / task.n
                )
            along = g.dot(scored)
        hinge = scale * float(shard.pack.weight[chosen] @ value)
        state.centre = query
        state.centre_primal = 0.5 * query.square + task.C * hinge
        violated = state.centre_primal - model.dual > task.tol * task.N
        state.quiet = 0 if violated else state.quiet + 1
        state.finished = state.quiet >= (1 if r == shard.n else self.p)
        if violated:
            return g, loss, along
        if self._length() < 1:
            state.query = model.between(query, self._length())
        return None

    def _linear(self, task: Task, state: SampledState) -> tuple[Any, float, float] | None:
        """Algorithm 3, lines 11 to 22: the exact cut decides when to stop, a sample is added."""
        shard, query = task.shard, state.query
        with task.share("oracle"):
            shard.oracle(query.scored, task.mode, state.labels, shard.everyone)
            g, loss, value = shard.collect(query.scored, task.mode, state.labels)
        primal = 0.5 * query.square + task.C * float(shard.pack.weight @ value)
        if primal < state.centre_primal:
            state.centre, state.centre_primal = query, primal
        if state.centre_primal - state.model.dual <= task.tol * task.N:
            state.finished = True
            return None
        # At w = 0 the value of an output is its loss.
        zero = np.zeros_like(query.w)
        _, _, losses = shard.collect(zero, task.mode, state.labels)
        inside = np.flatnonzero(losses > 0)  # line 16
        state.streak = np.where(losses > 0, state.streak + 1, 0)
        r = self.r or SAMPLE["linear"]
        if r >= len(inside):
            return self._cut(task, state, g, loss)
        state.exact = False
        least = (state.model.dual - 0.5 * query.square) / task.C + task.tol * task.n
        margins = shard.pack.weight * (losses - value)
        chosen, scale = self._draw(task, state, inside, r, margins, loss - least)
        g = np.zeros_like(query.w)
        for part, factor in zip(chosen, scale, strict=True):
            g += factor * shard.collect(query.scored, task.mode, state.labels, part)[0]
        return self._cut(task, state, g, loss)

    def _cut(
        self, task: Task, state: SampledState, g: np.ndarray, loss: float
    ) -> tuple[np.ndarray, float, float]:
        """A cut divided by n, and its inner product with the centre."""
        g = g / task.n
        return g, loss / task.n, float(g @ state.centre.scored)

    def _draw(
        self,
        task: Task,
        state: SampledState,
        inside: np.ndarray,
        r: int,
        margins: np.ndarray,
        room: float,
    ) -> tuple[list[np.ndarray], list[float]]:
        """Lines 18 to 20: draw until the cut is violated, that is ``sum scale margin < room``.

        The margins are known, so a draw costs no kernel evaluations. The exact cut is violated; if
        ``tries`` draws are not, r is doubled.
        """
        strata, rates = [inside], [1.0]
        if self.rates is not None:
            bound = state.streak[inside] >= BOUND_AFTER
            strata = [inside[bound], inside[~bound]]
            rates = list(self.rates)
        tried = 0
        while True:
            shares = np.array([rate * len(s) for rate, s in zip(rates, strata, strict=True)])
            sizes = [min(len(s), int(np.ceil(r * share / shares.sum())))
                     for s, share in zip(strata, shares, strict=True)]  # fmt: skip
            chosen = [s[draw(task.random, len(s), m)]
                      for s, m in zip(strata, sizes, strict=True)]  # fmt: skip
            scale = [len(s) / max(m, 1) for s, m in zip(strata, sizes, strict=True)]
            total = sum(f * margins[part].sum() for f, part in zip(scale, chosen, strict=True))
            if total < room or r >= len(inside):
                return chosen, scale
            tried += 1
            if tried >= self.tries:
                r *= 2


def _are_rates(rates: Any) -> bool:
    """Whether these are two finite numbers above 0."""
    if not isinstance(rates, tuple | list) or len(rates) != 2:
        return False
    return all(isinstance(rate, NUMBER) and 0 < rate < np.inf for rate in rates)


#: The default of ``step``.
STEP = {"linear": 0.3, "constant": 1.0}


def draw(random: np.random.RandomState, n: int, r: int) -> np.ndarray:
    """r different numbers below n, sorted; for small r the cost does not depend on n."""
    if 3 * r >= n:
        return np.sort(random.permutation(n)[:r])
    found = np.unique(random.randint(0, n, r))
    while len(found) < r:
        more = random.randint(0, n, 2 * (r - len(found)))
        found = np.unique(np.concatenate([found, more]))
    return found if len(found) == r else np.sort(random.permutation(found)[:r])
