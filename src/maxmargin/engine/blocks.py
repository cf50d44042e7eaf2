"""A pass of dual ascent in blocks: examples are decoded at the same w, and then take their steps.

A plane found at a slightly old w is still a plane, and its value is that at the new w. So the
oracle can run in threads or worker processes, which pays where it is most of the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..problem import CompiledProblem, Pack
from .arrays import CHANGED, SHORT, VIOLATION, WORST, Block, PassOptions, Visits
from .threads import fixed_pieces

if TYPE_CHECKING:
    from .shard import Shard

#: Examples of a block that is decoded at the same w, before their dual steps; and a block is at
#: most this part of all examples, so that the w of the last one is not too old.
BLOCK, BLOCK_PART = 64, 16

#: Operations of the oracle, for each number that a plane can have, from which on blocks pay.
HEAVY = 50

#: ``step(part, options, visits, block, work)`` visits examples one after the other.
Step = Callable[[np.ndarray, PassOptions, Visits, Block, np.ndarray], None]


def block_size(problem: CompiledProblem, pack: Pack) -> int:
    """The most examples that are decoded at once in the dual methods; 0 for one by one.

    Counts decide, never n_jobs, for it changes the iterates: with a slightly old w the same
    gap takes one or two iterations more (16 and 18 passes on chunking). Two threads win that
    back where the oracle is most of the work, and not where its scores serve the step as well.
    """
    operations = problem.operations(pack)
    known = problem.functions.margin is not None
    light = known and operations is not None and operations < HEAVY * pack.width * pack.n
    return 0 if light else min(max(pack.n // BLOCK_PART, 1), BLOCK)


def ascend_in_blocks(
    shard: Shard,
    step: Step,
    decode: Callable[[np.ndarray], None],
    order: np.ndarray,
    size: int,
    options: PassOptions,
    visits: Visits,
    block: Block,
    work: np.ndarray,
) -> None:
    """Look at ``size`` examples of ``order`` at a time, then step on those whose gap is worth it.

    ``decode(part)`` asks the oracle of a problem in plain Python.
    """
    still = options._replace(tau=np.inf)
    own = visits._replace(total=np.zeros_like(visits.total))  # examples are counted once
    for start in range(0, len(order), size):
        part = order[start : start + size]
        found = part if size == shard.n else np.unique(part)
        if not shard.loops.compiled:  # in worker processes, if there are any
            decode(found)
            shard.n_oracle -= len(found)  # counted below
            still = still._replace(decoded=True)
        _look(shard, step, found, still, visits, block, work)
        shard.n_oracle += len(found)
        if options.tau < np.inf:
            worth = part[visits.gap[part] > options.tau]
            step(worth, options._replace(call_oracle=False), own, block, work)
    visits.total[CHANGED] += own.total[CHANGED]


def _look(
    shard: Shard,
    step: Step,
    order: np.ndarray,
    options: PassOptions,
    visits: Visits,
    block: Block,
    work: np.ndarray,
) -> None:
    """Visit examples that do not move: in any number of threads, with sums piece by piece."""
    spare = shard.spare_memory(block, work)

    def look(part: np.ndarray) -> np.ndarray:
        mine = visits._replace(total=np.zeros_like(visits.total), clock=visits.clock.copy())
        own = spare.pop()
        try:
            step(part, options, mine, *own)
        finally:
            spare.append(own)
        return mine.total

    pieces = fixed_pieces(order, shard.loops.compiled, slow=shard.block_size > 0)
    # How long it took is no part of the result, so that the clock may decide who does it.
    start = time.perf_counter()
    totals = shard.threads.each(look, pieces, shard.check, expected=shard.pace * len(order))
    shard.pace = (time.perf_counter() - start) / max(len(order), 1)
    for total in totals:
        largest = max(visits.total[VIOLATION], total[VIOLATION])
        short, worst = max((visits.total[SHORT], visits.total[WORST]), (total[SHORT], total[WORST]))
        visits.total[:] += total
        visits.total[VIOLATION], visits.total[SHORT], visits.total[WORST] = largest, short, worst
