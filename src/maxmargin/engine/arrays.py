"""The arrays of the dual methods: working sets, a visit's memory, what a pass has seen and does."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

#: A free place in the table of a Gram matrix.
EMPTY = np.uint64(2**64 - 1)

#: The number of non-zeros of a plane whose vector nobody has needed yet.
UNWRITTEN = -1


class Duals(NamedTuple):
    """The working sets: slot r of example i holds its labels, loss and dual variable.

    Slot 0 is the truth, always: its plane is zero. The labels of slot r begin at
    ``slots * offsets[i] + r * length``. Where ``gram`` is not empty it keeps <plane_r, plane_s> of
    the first ``known`` outputs of each example.
    """

    labels: np.ndarray
    loss: np.ndarray
    alpha: np.ndarray
    count: np.ndarray
    gram: np.ndarray
    known: np.ndarray

    #: Arrays of a checkpoint that may be larger than those of a fresh run.
    grows = ("labels", "loss", "alpha", "gram")


class Block(NamedTuple):
    """Working memory of a visit: the planes of V_i one after the other, and the small QP.

    ``keys`` and ``sums`` are a table from indices to numbers, small enough for the processor's
    caches where w is not; ``places`` are those in use. It is hashed by ``spread``, unless it has
    room for all indices (spread 1).
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
    """What a pass has seen: sums over the visited examples, and the gap of each.

    ``total`` holds: sum of weight_i gap_i, number of examples changed, number of full V_i, sum of
    weight_i H_i (which is that of P(w) after a pass that asked for every example and changed
    none), the largest KKT violation, the number of outputs added, the most by which an output of
    V_i was better than the oracle's answer, and the example where it was.

    For the average of w over all visits, visit t weighing t to some power: ``clock`` holds t, the
    sum of the weights S_t so far and the power, ``lag`` the sum over all steps of S times the step,
    so that the average is ``w - lag / S``. No average is wanted when ``lag`` is empty.
    """

    total: np.ndarray
    gap: np.ndarray
    clock: np.ndarray
    lag: np.ndarray


#: What ``Visits.total`` holds.
GAP, CHANGED, FULL, HINGE, VIOLATION, ADDED, SHORT, WORST = range(8)


class PassOptions(NamedTuple):
    """What a pass does with the examples: the schedules of the solvers are made of these.

    call_oracle : call the oracle for a new output of each example (type-I pass).
    min_gain : by how much that must beat the known outputs to be added.
    tau : examples whose KKT violation is not larger are left alone.
    frank_wolfe : True to move all of alpha_i towards the best output, None to go pair by pair
        (SMO). They differ in type, so that each is compiled only where it is used.
    keep_zeros : keep outputs whose dual variable is zero.
    decoded : ``labels`` already hold the oracle's answers, at this w or at a slightly older one.
    """

    call_oracle: bool
    min_gain: float = 0.0
    tau: float = 0.0
    frank_wolfe: bool | None = None
    keep_zeros: bool = False
    decoded: bool = False
