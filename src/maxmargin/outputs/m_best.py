"""Several outputs of each example: the best ones, or diverse ones.

With ``diversity`` 0 these are the m best outputs. Otherwise each next output maximises its score
plus ``diversity`` times its differences from the outputs before it (DivMBest). Built-in problems
solve both exactly. For a problem without an m-best decoder, outputs are found approximately with
``decode``: see ``engine.several.ask_by_steps`` for training and ``explore`` for prediction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..engine.several import same_labels
from ..engine.several_outputs import SeveralOutputs, check_diversity, check_m
from ..engine.shard import Shard
from ..problem import MARGIN, PREDICT, CompiledProblem, Pack

#: ``explore`` tries this many rewards for differences ...
TRIES = 3
#: ... each this factor larger than the one before.
STRONGER = 8.0


@dataclass(frozen=True)
class MBest:
    """Several outputs of packed examples.

    Attributes
    ----------
    labels : list of flat label arrays
        ``labels[r]`` holds the r-th output of every example.
    count : int array (n,)
        Example i has ``count[i]`` outputs.
    score : array (n, m)
        ``<w, phi>`` of each output, or its difference from the first output's if the problem
        cannot compute scores.
    """

    labels: list[np.ndarray]
    count: np.ndarray
    score: np.ndarray


def predict_m_best(
    problem: CompiledProblem,
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
    if problem.functions.m_best is None:
        return pack, explore(problem, X, pack, w, m, diversity, n_jobs)
    shard = Shard(problem, pack, 1 if n_jobs is None else n_jobs)
    several = SeveralOutputs(shard, m)
    several.ask(shard.weights(w), PREDICT, diversity, shard.everyone)
    labels = []
    for r in range(m):
        labels.append(shard.new_labels())
        several.take(r, labels[-1])
    return pack, MBest(labels, several.outputs.count, several.score)


def explore(
    problem: CompiledProblem,
    X: Any,
    pack: Pack,
    w: np.ndarray,
    m: int,
    diversity: float,
    n_jobs: int | None,
) -> MBest:
    """Different outputs from the loss-augmented oracle, with earlier outputs as the truth.

    The oracle then maximises the score plus a reward times the loss against an earlier output.
    This is done for a few rewards, and repeated in steps as in training. From all outputs found,
    m are chosen one after the other, by score plus ``diversity`` times the losses against those
    chosen before. The second output is exact if ``diversity`` > 0 and the oracle found a new
    output with this reward.
    """
    jobs = 1 if n_jobs is None else n_jobs
    shard = Shard(problem, pack, jobs)
    labels = [shard.new_labels()]
    w = shard.weights(w)
    shard.oracle(w, PREDICT, labels[0], shard.everyone)
    count, score = np.ones(pack.n, np.int32), np.zeros((pack.n, m))
    found: list[Shard] = []
    pool: list[np.ndarray] = []
    loss = np.zeros((TRIES * m * m, pack.n))  # sum of losses against the outputs chosen so far
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
    """Outputs that differ from the truth of the shard, for increasing rewards."""
    several, pool = SeveralOutputs(shard, m), []
    for _ in range(TRIES):
        several.ask(w / reward, MARGIN, 1.0, shard.everyone)
        for r in range(m):
            pool.append(shard.new_labels())
            several.take(r, pool[-1])
        reward *= STRONGER
    return pool


def _best_new(
    pack: Pack,
    labels: list[np.ndarray],
    pool: list[np.ndarray],
    worth: list[np.ndarray],
    count: np.ndarray,
) -> np.ndarray:
    """The best new output of the pool for each example; increases ``count`` where there is one."""
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
    """``<w, phi_i(y_i) - phi_i(y)>`` and ``loss_i(y)`` of each example, arrays (n,)."""
    several = SeveralOutputs(shard, 1)
    several.outputs.labels[:] = labels
    several.outputs.count[:] = 1
    return several.measure(w)[:, 0], several.outputs.loss[:, 0]
