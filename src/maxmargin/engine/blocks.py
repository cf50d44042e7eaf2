"""A pass of dual ascent in blocks: decode the examples of a block at the same w, then step.

An output found at a slightly older w still gives a valid plane, whose value is computed at the new
w. So the oracle can run in threads or worker processes, which is faster if most of the time is
spent in the oracle.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..problem import CompiledProblem, Pack
from .arrays import CHANGED, Block, PassOptions, Visits
from .threads import fixed_pieces

if TYPE_CHECKING:
    from .shard import Shard

#: Maximum number of examples in a block, which are decoded at the same w before their dual steps.
#: A block has at most one in BLOCK_PART of all examples, so that w is not too old for the last one.
BLOCK, BLOCK_PART = 64, 16

#: Decode in blocks if the oracle costs at least this many operations per non-zero of a plane.
HEAVY = 50

#: Pieces of a pass are given to a thread several at a time, in this many calls per thread: the
#: pieces of a cheap oracle take less time than to wake a thread.
CALLS = 64

#: ``step(part, options, visits, block, work)`` visits examples one after the other.
Step = Callable[[np.ndarray, PassOptions, Visits, Block, np.ndarray], None]


def block_size(problem: CompiledProblem, pack: Pack) -> int:
    """Maximum number of examples decoded at once in the dual methods; 0 for one by one.

    Blocks change the iterates, so the choice depends on counts and never on n_jobs. With a slightly
    older w the same gap takes one or two more iterations (18 instead of 16 passes on chunking). Two
    threads make up for this if most of the time is spent in the oracle, but not if the step reuses
    the scores of the oracle.
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
    """Decode ``size`` examples of ``order`` at a time, then step on those with a gap above tau.

    ``decode(part)`` calls the oracle of a problem in plain Python.
    """
    still = options._replace(tau=np.inf)
    own = visits._replace(total=np.zeros_like(visits.total))  # examples are counted once
    for start in range(0, len(order), size):
        part = order[start : start + size]
        found = part if size == shard.n else np.unique(part)
        if not shard.loops.compiled:  # in worker processes if n_jobs > 1
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
    """Visit examples without steps: in any number of threads, with sums in a fixed order."""
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
    # The choice of threads does not change the result, so it may depend on the time measured.
    start = time.perf_counter()
    size = max(len(pieces) // (CALLS * shard.threads.n), 1)
    calls = [pieces[k : k + size] for k in range(0, len(pieces), size)]
    found = shard.threads.each(
        lambda several: [look(piece) for piece in several], calls, shard.check,
        expected=shard.pace * len(order),
    )  # fmt: skip
    totals = [total for several in found for total in several]
    shard.pace = (time.perf_counter() - start) / max(len(order), 1)
    visits.add(totals)
