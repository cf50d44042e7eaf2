"""The arrays of the dual methods: working sets, scratch memory, and results of a pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .sharing import Shared

#: The key of a free place in the table of a ``Block``.
EMPTY = np.uint64(2**64 - 1)

#: Instead of the number of non-zeros, for a plane whose vector has not been written yet.
UNWRITTEN = -1


class Duals(NamedTuple):
    """The working sets: slot r of example i holds its labels, loss and dual variable.

    Slot 0 is always the truth, whose plane is zero. The labels of slot r start at
    ``slots * offsets[i] + r * length``. If ``gram`` is not empty, it holds <plane_r, plane_s> of
    the first ``known`` outputs of each example.
    """

    labels: np.ndarray
    loss: np.ndarray
    alpha: np.ndarray
    count: np.ndarray
    gram: np.ndarray
    known: np.ndarray

    #: Arrays that may be larger in a checkpoint than in a new run.
    grows = ("labels", "loss", "alpha", "gram")


class Block(NamedTuple):
    """Scratch memory of a visit: the planes of V_i one after the other, and the small QP.

    ``keys`` and ``sums`` are a hash table from indices to sums, which fits into the processor's
    caches even if w does not; ``places`` are the places in use. Indices are hashed with the
    multiplier ``spread``; if the table has a place for every index, ``spread`` is 1.
    """

    idx: np.ndarray
    val: np.ndarray
    nnz: np.ndarray
    loss: np.ndarray
    scale: np.ndarray
    F: np.ndarray
    K: np.ndarray
    step: np.ndarray
    keys: np.ndarray
    sums: np.ndarray
    places: np.ndarray
    spread: int


class Visits(NamedTuple):
    """Results of a pass: sums over the visited examples, and the gap of each example.

    ``total`` holds: sum of weight_i gap_i, number of examples changed, number of full V_i, sum of
    weight_i H_i (that of P(w) if the pass called every oracle and changed no example), the largest
    KKT violation, the number of outputs added, the largest amount by which an output of V_i was
    better than the oracle's (or than its bound, if it gave one), the example where this happened,
    and the sum of weight_i times the upper bounds of H_i.

    ``bound`` holds the upper bound of each example from its last decoding, -inf if its output was
    a best one; it is None if the oracle is exact.

    ``below`` (dim,) is for sign constraints (``solvers/signs.py``): what was clipped of each
    constrained weight, a number <= 0, and 1 for other weights; it is None without constraints.
    Code for what is None is not compiled.

    For the average of w over all visits, in which visit t has the weight t ** power: ``clock``
    holds t, the sum S of the weights so far and the power; ``lag`` is the sum over all steps of S
    times the step, so that the average is ``w - lag / S``. If ``lag`` is empty, there is no
    average.
    """

    total: np.ndarray
    gap: np.ndarray
    clock: np.ndarray
    lag: np.ndarray
    bound: np.ndarray | None
    below: np.ndarray | None

    def add(self, totals: list[np.ndarray]) -> None:
        """Add the totals of parts of a pass."""
        for more in totals:
            largest = max(self.total[VIOLATION], more[VIOLATION])
            worst = max((self.total[SHORT], self.total[WORST]), (more[SHORT], more[WORST]))
            self.total[:] += more
            self.total[VIOLATION], (self.total[SHORT], self.total[WORST]) = largest, worst


#: The entries of ``Visits.total``.
GAP, CHANGED, FULL, HINGE, VIOLATION, ADDED, SHORT, WORST, BOUND = range(9)


class PassOptions(NamedTuple):
    """What a pass does with the examples; a solver is a schedule of such passes.

    call_oracle : call the oracle for a new output of each example (type-I pass).
    min_gain : add this output if its value exceeds those of the known outputs by more than this.
    tau : skip examples whose KKT violation is not larger.
    frank_wolfe : True to move all of alpha_i towards the best output, None to move pairs of dual
        variables (SMO). The two differ in type, so that each is compiled only if it is used.
    keep_zeros : keep outputs whose dual variable is zero.
    decoded : ``labels`` already hold the oracle's outputs, at this w or at a slightly older one.
    sum_planes : only add C sum_ir weight_i alpha_ir plane_ir to w: with tau = inf this is w(alpha)
        from its definition, without another function to compile.
    shared : what several threads need to change w at the same time, None if one thread does; as
        with ``frank_wolfe``, each is compiled only if it is used.
    """

    call_oracle: bool
    min_gain: float = 0.0
    tau: float = 0.0
    frank_wolfe: bool | None = None
    keep_zeros: bool = False
    decoded: bool = False
    sum_planes: bool = False
    shared: Shared | None = None
