"""Several outputs of each example: the best ones, or diverse ones.

With ``diversity`` 0 these are the m best outputs. Otherwise each next one is the best new output of
score plus ``diversity`` times its differences from those before it (DivMBest). Built-in problems do
both exactly. A problem that has no m-best decoder is asked through its ordinary one, which is
approximate: see ``m_best_loops.ask_by_steps`` for training and ``explore`` for prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.passes import Cache
from ..engine.several import same_labels
from ..engine.several_bind import MBestLoops, bind_m_best
from ..engine.shard import Shard
from ..errors import DataError
from ..problem import MARGIN, PREDICT, KernelProblem, Pack

#: ``explore`` tries so many rewards, each so many times as strong as the one before.
TRIES = 3
STRONGER = 8.0


class Asker:
    """Asks for up to m outputs of each example of a shard.

    Parameters
    ----------
    shard : Shard
    m : int

    Attributes
    ----------
    outputs : Cache
        The outputs of each example, best first; ``count`` says how many there are.
    score : array (n, m)
        ``<w, phi_i(y)>`` of each, when predicting with a problem that has the kernel ``m_best``.
    """

    def __init__(self, shard: Shard, m: int):
        self.shard = shard
        self.m = m
        self.loops: MBestLoops = bind_m_best(
            shard.problem.kernels, type(shard.problem).__name__, shard.loops.compiled
        )
        self.outputs: Cache = shard.new_cache(m)
        self.score = np.zeros((shard.n, m))
        self.exact = shard.problem.kernels.m_best is not None

    def warm_up(self, mode: int) -> None:
        """Compile (or load) the loops by treating no example."""
        shard, nobody, nothing = self.shard, self.shard.everyone[:0], np.zeros(1)
        self.ask(nothing, mode, 0.0, nobody)
        margin, cache = np.zeros((0, self.m)), shard.new_cache(0)
        args = (shard.pack, nothing, self.m, nobody, self.outputs, margin, shard.scratch)
        self.loops.measure(*args)
        self.loops.sum(
            shard.pack, mode, self.m, nobody, self.outputs, margin, nothing, shard.scratch
        )
        self.loops.keep(shard.pack, self.m, nobody, self.outputs, cache, 0)

    def ask(self, w: np.ndarray, mode: int, diversity: float, order: np.ndarray) -> None:
        """Fill ``outputs`` for the examples of ``order``."""
        shard, m = self.shard, self.m
        work, ask = shard.problem.m_best_work(shard.pack, mode, m), self.loops.ask
        width = 0 if self.exact else m * shard.pack.width

        def some(part: np.ndarray) -> None:
            own = w if self.exact else w.copy()
            trail = (np.empty(width, np.uint64), np.empty(width), np.zeros(1, np.int64))
            scratch = tuple(np.empty_like(array) for array in shard.scratch)
            ask(
                shard.pack, own, mode, diversity, m, part, self.outputs, self.score, trail,
                scratch, np.empty(work),
            )  # fmt: skip

        if len(order) == 0:
            some(order)  # only to compile
        shard.each(some, order)
        if mode != PREDICT:
            shard.n_oracle += int(self.outputs.count[order].sum())

    def take(
        self, slot: np.ndarray | int, labels: np.ndarray, order: np.ndarray | None = None
    ) -> None:
        """labels_i = output number ``slot`` of example i, or the first where it has no such."""
        pack, counts = self.shard.pack, self.outputs.count
        order = self.shard.everyone if order is None else order
        slot = np.broadcast_to(slot, (pack.n,))[order]
        slot = np.where(slot < counts[order], slot, 0)
        first, lengths = pack.offsets[order], np.diff(pack.offsets)[order]
        within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        source = np.repeat(self.m * first + slot * lengths, lengths) + within
        labels[np.repeat(first, lengths) + within] = self.outputs.labels[source]

    def measure(self, v: np.ndarray) -> np.ndarray:
        """<v, psi_i(y)> (n, m) of all outputs, 0 where there is none; sets their losses as well."""
        shard, margin = self.shard, np.zeros((self.shard.n, self.m))
        shard.each_in_turn(
            lambda part: self.loops.measure(
                shard.pack, v, self.m, part, self.outputs, margin, shard.scratch
            ),
            shard.everyone,
        )
        return margin

    def sum(self, mode: int, share: np.ndarray) -> np.ndarray:
        """sum_ir weight_i share[i, r] plane_i(r), of outputs that have been measured."""
        shard, g = self.shard, np.zeros(self.shard.pack.dim)
        shard.each_in_turn(
            lambda part: self.loops.sum(
                shard.pack, mode, self.m, part, self.outputs, share, g, shard.scratch
            ),
            shard.everyone,
        )
        return g

    def keep(self, cache: Cache, now: int, order: np.ndarray) -> None:
        """Put all outputs but the first, which is there already, into the caches."""
        self.loops.keep(self.shard.pack, self.m, order, self.outputs, cache, now)


@dataclass(frozen=True)
class MBest:
    """Outputs of packed examples: ``labels[r]`` are the flat labels of the r-th outputs.

    Example i has the first ``count[i]`` of them, with scores ``score[i, r]``: ``<w, phi>``, or
    where a problem cannot say that, how much less than the first.
    """

    labels: list[np.ndarray]
    count: np.ndarray
    score: np.ndarray


def predict_m_best(
    problem: KernelProblem,
    X: Any,
    w: np.ndarray,
    m: int,
    diversity: float = 0.0,
    n_jobs: int | None = 1,
) -> tuple[Pack, MBest]:
    """Up to m outputs of each input."""
    check_m(m)
    check_diversity(diversity)
    pack = problem.pack(X)
    if problem.n_outputs is not None:
        m = min(m, problem.n_outputs)
    if problem.kernels.m_best is None:
        return pack, explore(problem, X, pack, w, m, diversity, n_jobs)
    shard = Shard(problem, pack, 1 if n_jobs is None else n_jobs)
    asker = Asker(shard, m)
    asker.ask(w, PREDICT, diversity, shard.everyone)
    labels = []
    for r in range(m):
        labels.append(shard.new_labels())
        asker.take(r, labels[-1])
    return pack, MBest(labels, asker.outputs.count, asker.score)


def explore(
    problem: KernelProblem,
    X: Any,
    pack: Pack,
    w: np.ndarray,
    m: int,
    diversity: float,
    n_jobs: int | None,
) -> MBest:
    """Different outputs through the loss-augmented oracle, with outputs found before as the truth.

    The oracle then finds the best of score plus reward times the loss between the two, and more
    by steps as in training, for a few rewards. Of all these the m best are taken, each by its
    score plus ``diversity`` times its losses against those before it. The second one is exact
    where ``diversity`` > 0 and it is new with this reward.
    """
    jobs = 1 if n_jobs is None else n_jobs
    shard = Shard(problem, pack, jobs)
    labels = [shard.new_labels()]
    shard.oracle(w, PREDICT, labels[0], shard.everyone)
    count, score = np.ones(pack.n, np.int32), np.zeros((pack.n, m))
    found: list[Shard] = []
    pool: list[np.ndarray] = []
    loss = np.zeros((TRIES * m * m, pack.n))  # sum of losses against what has been found
    for r in range(1, m):
        found.append(Shard(problem, problem.pack(X, problem.unpack(pack, labels[-1])), jobs))
        if r == 1 or (count < r).any():
            before = len(pool)
            pool += _pool(found[-1], w, m, diversity or 1.0)
            for c in range(before, len(pool)):
                loss[c] = sum(_margins(one, pool[c], w)[1] for one in found[:-1])
        for c, candidate in enumerate(pool):
            loss[c] += _margins(found[-1], candidate, w)[1]
        worth = [diversity * loss[c] - _margins(found[0], y, w)[0] for c, y in enumerate(pool)]
        labels.append(_best_new(pack, labels, pool, worth, count))
        score[:, r] = -_margins(found[0], labels[-1], w)[0]
    score += problem.first_scores(pack, w, labels[0])[:, None]
    return MBest(labels, count, score)


def _pool(shard: Shard, w: np.ndarray, m: int, reward: float) -> list[np.ndarray]:
    """Outputs that differ from the truth of the shard, for stronger and stronger rewards."""
    asker, pool = Asker(shard, m), []
    for _ in range(TRIES):
        asker.ask(w / reward, MARGIN, 1.0, shard.everyone)
        for r in range(m):
            pool.append(shard.new_labels())
            asker.take(r, pool[-1])
        reward *= STRONGER
    return pool


def _best_new(
    pack: Pack,
    labels: list[np.ndarray],
    pool: list[np.ndarray],
    worth: list[np.ndarray],
    count: np.ndarray,
) -> np.ndarray:
    """For each example the best output of the pool that is new; counts it where there is one."""
    best = labels[0].copy()
    order = np.argsort(-np.array(worth), axis=0, kind="stable")
    for i in np.flatnonzero(count == len(labels)).tolist():
        lo, length = pack.offsets[i], pack.offsets[i + 1] - pack.offsets[i]
        for c in order[:, i].tolist():
            if not any(same_labels(pool[c], lo, y, lo, length) for y in labels):
                best[lo : lo + length] = pool[c][lo : lo + length]
                count[i] += 1
                break
    return best


def _margins(shard: Shard, labels: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``<w, phi_i(y_i) - phi_i(y)>`` and ``loss_i(y)`` of each example, its truth being y_i."""
    asker = Asker(shard, 1)
    asker.outputs.labels[:] = labels
    asker.outputs.count[:] = 1
    return asker.measure(w)[:, 0], asker.outputs.loss[:, 0]


def check_m(m: int) -> None:
    """A number of outputs."""
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 1:
        raise DataError(f"m is a number of outputs >= 1, got {m!r}")


def check_diversity(diversity: Any) -> None:
    """A reward for each difference."""
    number = isinstance(diversity, int | float | np.number) and not isinstance(diversity, bool)
    if not (number and 0 <= diversity < np.inf):
        raise DataError(f"diversity is a number >= 0, got {diversity!r}")
