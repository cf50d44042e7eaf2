"""Examples and the passes over them: everything that solvers need to know about the data.

Passes at a fixed w run in several threads. The oracle of the dual methods does too, for blocks of
examples, if that is faster. The order of sums depends on the examples only, so that results are
equal bit by bit for any number of threads.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..data.checked import check_positive_weights, check_vector
from ..problem import PREDICT, CompiledProblem, Pack
from .arrays import Block, Duals, PassOptions, Visits
from .bind import Loops
from .blocks import ascend_in_blocks, block_size
from .bounds import Hinge, sum_hinges
from .fingerprint import fingerprint
from .guard import guarded_work, with_guard
from .interpreted import try_functions
from .long_vectors import square
from .passes import Cache
from .shard_work import ShardWork
from .threads import fixed_pieces, split_by_effort
from .together import Together
from .vectors import Vector
from .warm_up import warm_up

#: Maximum number of partial sums of planes, each as long as w; used if w is short.
PARTIAL_SUMS = 8

#: For oracle calls whose upper bounds are not needed.
NO_BOUNDS = np.empty(0)


class Shard(ShardWork):
    """Packed examples of one problem.

    Parameters
    ----------
    problem : CompiledProblem
    pack : Pack
    n_jobs : int
        Number of threads for a compiled problem, or of processes for the oracle of a problem in
        plain Python; -1 for all cores.
    loops : Loops, optional
        The bound passes, for all modes; by default made from the functions of the problem.
    deterministic : bool
        With False the threads of a pass of dual ascent change w at the same time (``together.py``),
        except for problems in plain Python and for weights with sign constraints.
    """

    #: Whether weights are scores of a kernel (``kernels.scores.ScoreShard``).
    for_kernels = False

    #: The set of models whose optimum the dual bounds (``Result.bounds``); empty for all models.
    bounds: str = ""

    def __init__(
        self,
        problem: CompiledProblem,
        pack: Pack,
        n_jobs: int = 1,
        loops: Loops | None = None,
        deterministic: bool = True,
    ):
        super().__init__(problem, pack, n_jobs, loops)
        self.bounds = problem.bounds
        self.total_weight = float(pack.weight.sum())
        self.block_size = block_size(problem, pack)
        self.everyone = np.arange(self.n)
        self.scratch = self.new_scratch()
        self.unread = self.new_bounds()
        self._sum: np.ndarray | None = None
        self.n_oracle = 0
        self.pace = np.inf  # seconds per example in the last pass without steps
        self.together = None
        if not deterministic:
            self.share_weights()

    def share_weights(self) -> None:
        """Let the threads of a pass change w at the same time, if that is possible."""
        if self.threads.n > 1 and len(self.positive) == 0:
            self.together = Together(self)

    @cached_property
    def positive(self) -> np.ndarray:  # type: ignore[override]
        """The indices of the weights that must be >= 0."""
        return check_positive_weights(self.problem.positive(self.pack), self.pack.dim)

    def try_functions(self, mode: int) -> None:
        """Call a user's compiled functions in plain Python, before they run unchecked."""
        try_functions(self.problem, self.problem.functions_for(mode), self.pack, mode)

    def weights(self, w: Any) -> np.ndarray:
        """Weights from outside (``coef_`` can be changed after ``fit``), checked."""
        known = self.loops.compiled or self.pack.dim > 0  # problems in Python need not say it
        if not known:
            return w
        return check_vector(w, self.pack.dim, total=lambda v: square(v, self.threads))

    def fingerprint(self) -> str:
        """A hash of the problem and its packed examples."""
        kind = type(self.problem).__name__
        pack = self.pack
        if self.messages is not None:
            pack = pack._replace(data=pack.data._replace(messages=None))
        parts = [v for k, v in pack._asdict().items() if k not in ("work", "low", "high")]
        signs = [self.positive] if len(self.positive) else []
        return fingerprint(kind, *parts, *signs)

    @property
    def messages(self) -> np.ndarray | None:
        """What ``decode`` keeps from call to call (see ``Pack``), or None."""
        return getattr(self.pack.data, "messages", None)

    def operations(self) -> float | None:
        """Approximate number of operations of an oracle pass; None if unknown."""
        return self.problem.operations(self.pack)

    def oracle(
        self,
        w: np.ndarray,
        mode: int,
        labels: np.ndarray,
        order: np.ndarray,
        bound: np.ndarray | None = None,
    ) -> None:
        """Decode the examples of ``order`` into ``labels``, and their upper bounds into ``bound``.

        ``bound`` is what ``new_bounds`` returns, or empty if the bounds are not needed. Without it
        the bounds are written to ``unread``.
        """
        bound = self.unread if bound is None else bound
        decode = self.loops_for(mode).decode
        pack, work = self.pack, self.work_size(mode)

        def decode_part(part: np.ndarray) -> None:
            memory = guarded_work(work)
            decode(pack, w, mode, part, labels, bound, memory)
            self.check_work(memory)

        if self.processes is not None:
            self.processes.new_weights()
        for parts in self._parallel(order):
            if self.processes is not None:
                self.processes.decode(w, mode, labels, parts, self.check, bound)
            else:
                self.threads.each(decode_part, parts, self.check)
        if mode != PREDICT:
            self.n_oracle += len(order)

    def collect(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray | None = None
    ) -> tuple[np.ndarray, float, np.ndarray]:
        """The cut of ``labels`` at w: ``(g, l, value)`` with value_i = loss_i - <w, plane_i>.

        ``order`` are the examples, by default all; the value of other examples is not set.
        """
        g = np.zeros(self.pack.dim)
        loss, value = self._collect(w, mode, labels, self.everyone if order is None else order, g)
        return g, loss, value

    def hinge(self, w: np.ndarray, mode: int, order: np.ndarray | None = None) -> Hinge:
        """sum_i weight_i H_i(w) over the examples of ``order``, by default all."""
        order, labels, bound = (
            self.everyone if order is None else order, self.new_labels(), self.new_bounds(),
        )  # fmt: skip
        self.oracle(w, mode, labels, order, bound)
        value = self._values(w, mode, labels, order)
        return sum_hinges(self, w, mode, labels, value, bound, order)

    def cut(
        self, w: np.ndarray, mode: int, labels: np.ndarray, scale: float
    ) -> tuple[Vector, float, np.ndarray]:
        """Like ``collect`` for all examples, but with g as a plane, times ``scale``."""
        # An interruption leaves the array partly filled: it is put back only when it is zero again.
        g, self._sum = self._sum, None
        if g is None:
            g = np.zeros(self.pack.dim)
        loss, value = self._collect(w, mode, labels, self.everyone, g)
        plane = Vector.take(g, scale)
        self._sum = g
        return plane, loss, value

    def _collect(
        self,
        w: np.ndarray,
        mode: int,
        labels: np.ndarray,
        order: np.ndarray,
        g: np.ndarray,
        value: np.ndarray | None = None,
    ) -> tuple[float, np.ndarray]:
        """Add the planes of ``order`` to g; the partial sums do not depend on n_jobs."""
        value = np.empty(self.n) if value is None else value
        many = len(order) * self.pack.width // (16 * max(self.pack.dim, 1))
        groups = split_by_effort(order, self.effort, min(max(many, 1), PARTIAL_SUMS))

        def sum_group(number: int) -> tuple[np.ndarray, float]:
            own, scratch = np.zeros(self.pack.dim) if number else g, self.new_scratch()
            loss = 0.0
            for part in fixed_pieces(groups[number], self.loops.compiled):
                self.check()
                loss += self.loops.collect(self.pack, w, mode, part, labels, own, value, scratch)
            return own, loss

        sums = self.threads.each(sum_group, range(len(groups)), self.check)
        for more, _ in sums[1:]:
            g += more
        return float(sum(loss for _, loss in sums)), value

    def _values(
        self, w: np.ndarray, mode: int, labels: np.ndarray, order: np.ndarray
    ) -> np.ndarray:
        """loss_i - <w, plane_i> of the outputs in ``labels``; that of other examples is not set."""
        value, nothing = np.empty(self.n), np.empty(0)
        self.threads.each(
            lambda part: self.loops.collect(
                self.pack, w, mode, part, labels, nothing, value, self.new_scratch()
            ),
            fixed_pieces(order, self.loops.compiled),
            self.check,
        )
        return value

    def recall(
        self, w: np.ndarray, mode: int, cache: Cache, now: int, labels: np.ndarray
    ) -> np.ndarray:
        """Write the best cached outputs into ``labels``; returns their values at w."""
        value, size = np.empty(self.n), self.work_size(mode)
        self.threads.each(
            lambda part: self.loops.recall(
                self.pack, w, mode, part, cache, now, labels, value, self.new_scratch(),
                np.empty(size),
            ),
            fixed_pieces(self.everyone, self.loops.compiled),
            self.check,
        )  # fmt: skip
        return value

    def remember(
        self,
        labels: np.ndarray,
        value: np.ndarray,
        recalled: np.ndarray,
        cache: Cache,
        now: int,
        order: np.ndarray,
    ) -> None:
        """Keep the outputs of ``order`` that are better than all cached ones."""
        self.loops.remember(self.pack, order, labels, value, recalled, cache, now)

    def ascend(
        self,
        w: np.ndarray,
        C: float,
        mode: int,
        order: np.ndarray,
        duals: Duals,
        options: PassOptions,
        labels: np.ndarray,
        visits: Visits,
        block: Block,
        size: int = 0,
    ) -> None:
        """A pass of dual ascent over ``order``; w, duals and visits change in place.

        If the oracle is called, ``size`` examples are decoded at the same w, in threads, before
        their steps (``blocks.py``). If the oracle is cheap, each example is decoded just before its
        step.
        """
        work, ascend = guarded_work(self.work_size(mode)), self.loops_for(mode).ascend

        def step(
            part: np.ndarray, options: PassOptions, visits: Visits, block: Block, work: Any,
            w: np.ndarray = w,
        ) -> None:  # fmt: skip
            ascend(self.pack, w, C, mode, part, duals, options, labels, visits, block, work)

        if self.together is not None:
            if self.together.run(step, w, order, options, visits, block, work):
                return
            options = self.together.options(options, w)
        size = len(order) if options.tau == np.inf else min(size, self.block_size)
        if not (options.call_oracle and size > 0):
            for part in self.chunks(order):
                self.check()
                ascend(self.pack, w, C, mode, part, duals, options, labels, visits, block, work)
            self.check_work(work)
            self.n_oracle += len(order) * options.call_oracle
            return

        def decode(part: np.ndarray) -> None:
            self.oracle(w, mode, labels, part, visits.bound)

        ascend_in_blocks(self, step, decode, order, size, options, visits, block, work)
        for _, memory in [(block, work), *self._spare]:
            self.check_work(memory)

    def sum_duals(
        self, C: float, mode: int, duals: Duals, w: np.ndarray, frank_wolfe: bool | None = None
    ) -> None:
        """w += C sum_ir weight_i alpha_ir plane_ir, by the pass that is compiled anyway.

        ``frank_wolfe`` is that of the other passes of the run (see ``PassOptions``).
        """
        options = PassOptions(False, np.inf, np.inf, frank_wolfe, keep_zeros=True, sum_planes=True)
        block, visits = self.new_block(duals.loss.shape[1]), self.new_visits(0)
        labels = self.pack.truth.copy()
        self.ascend(w, C, mode, self.everyone, duals, options, labels, visits, block)

    def warm_up(self, mode: int, names: tuple[str, ...]) -> float:
        """Compile (or load) these passes; returns the seconds it took."""
        self.try_functions(mode)
        return warm_up(self.loops_for(mode), self, mode, names)


def predict_labels(
    problem: CompiledProblem, pack: Pack, w: np.ndarray, n_jobs: int = 1
) -> np.ndarray:
    """The flat labels that maximise <w, phi> for each example."""
    return predict_with_bounds(problem, pack, w, n_jobs)[0]


def predict_with_bounds(
    problem: CompiledProblem, pack: Pack, w: np.ndarray, n_jobs: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """The flat labels with a high <w, phi> for each example, and upper bounds on it (n,).

    The bound is NaN if the labels of an example maximise <w, phi>.
    """
    shard = Shard(problem, pack, n_jobs)
    labels, bound = with_guard(len(pack.truth), pack.truth.dtype), shard.new_bounds()
    try:
        shard.try_functions(PREDICT)
        shard.oracle(shard.weights(w), PREDICT, labels, shard.everyone, bound)
    finally:
        shard.close()
    bound = bound if len(bound) else np.full(pack.n, -np.inf)
    return labels, np.where(bound == -np.inf, np.nan, bound)
