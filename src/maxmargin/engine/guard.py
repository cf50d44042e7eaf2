"""Checks of what the functions of a problem write, made by the passes after every call.

Compiled code does not check bounds. A ``delta`` with an index outside of w, or a ``decode`` with a
label that the problem does not have, would read and write memory that belongs to others. The checks
run in the same loops as the products, which wait for additions most of the time, and so they cost
nothing that can be measured. The memory that a function writes to has a few more entries than it
may use (``with_guard``), so that a function that writes slightly too much is reported as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import types
from numba.extending import overload, register_jitable

from ..errors import ProblemError
from .keep import leaf

#: Entries after the end of arrays that the functions of a problem write to.
GUARD = 256

#: The value of the entries after the end of ``work``.
UNTOUCHED = -1.2345678e300

#: What a function has done wrong.
COUNT, INDEX, VALUE, LOSS, LABEL, FOUND, BOUND = range(7)

MESSAGES = {
    COUNT: "delta of example {0} writes {1} entries, but pack.width is {2}",
    INDEX: "delta of example {0} writes the index {1}, outside 0..{2}",
    VALUE: "delta of example {0} has the value {1} at the index {2}: values must be finite",
    LOSS: "the loss of example {0} is {1}: a loss must be a finite number >= 0",
    LABEL: "decode of example {0} writes the label {1}, outside the problem's label_bounds ({2})",
    BOUND: "decode of example {0} returns the bound {1}: it must be finite, or NaN if y is best",
    FOUND: "m_best of example {0} returns the number {1}: it must find 1 to m = {2} outputs",
}


class FunctionError(ProblemError):
    """A function of the problem has written something impossible; raised by compiled code."""

    def __init__(self, kind: int, example: int, found: float, limit: float) -> None:
        self.example = example
        text = MESSAGES[kind].format(example, found, limit)
        super().__init__(f"{text}; mm.check_problem finds such mistakes")

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it is a ProblemError with the same message."""
        return ProblemError, (str(self),)


@register_jitable
def fail(kind, i, found, limit):
    """Raise the error; a separate function, so that its callers are small enough to be inlined."""
    raise FunctionError(kind, i, found, limit)


@leaf
def plane_dot(idx, val, nnz, w, width, i):
    """<w, v> of a sparse v that ``delta`` has written for example i, checked."""
    if nnz < 0 or nnz > width:
        fail(COUNT, i, nnz, width)
    total, dim = 0.0, np.uint64(len(w))
    for p in range(nnz):
        if idx[p] >= dim:
            fail(INDEX, i, np.int64(idx[p]), len(w) - 1)
        total += val[p] * w[idx[p]]
    if not np.isfinite(total):
        check_values(idx, val, nnz, i)
    return total


@leaf
def check_plane(idx, val, nnz, dim, width, i):
    """The same checks without a product; returns nnz."""
    if nnz < 0 or nnz > width:
        fail(COUNT, i, nnz, width)
    outside, total = False, 0.0
    for p in range(nnz):
        outside |= idx[p] >= np.uint64(dim)
        total += val[p]
    if outside:
        for p in range(nnz):
            if idx[p] >= np.uint64(dim):
                fail(INDEX, i, np.int64(idx[p]), dim - 1)
    if not np.isfinite(total):
        check_values(idx, val, nnz, i)
    return nnz


@register_jitable
def check_values(idx, val, nnz, i):
    """Raise an error if a value of the plane is NaN or infinite; a product can also overflow."""
    for p in range(nnz):
        if not np.isfinite(val[p]):
            fail(VALUE, i, val[p], np.int64(idx[p]))


@register_jitable
def check_loss(value, i):
    """The loss of example i, a finite number >= 0."""
    if not (value >= 0.0 and value < np.inf):
        fail(LOSS, i, value, 0)
    return value


@register_jitable
def check_found(found, m, i):
    """The number of outputs that ``m_best`` has found for example i."""
    if found < 1 or found > m:
        fail(FOUND, i, found, m)
    return found


@register_jitable
def check_bound(value, i):
    """The bound that ``decode`` returned for example i; -inf instead of NaN for a best output."""
    if np.isnan(value):
        return -np.inf
    if not np.isfinite(value):
        fail(BOUND, i, value, 0)
    return value


def check_returned(found: Any, i: int) -> float:
    """The bound that ``decode`` of a bounded problem returned: a number, -inf for a best output."""
    if isinstance(found, bool) or not isinstance(found, float | np.floating):
        raise ProblemError(
            f"decode of example {i} returns {found!r}, but its functions have bounded=True: it "
            "must return an upper bound as a float, or NaN if its output is a best one"
        )
    return float(check_bound(float(found), i))


def note_bound(found, bound, i):
    """bound_i = what ``decode`` returned; -inf for a best output. Exact oracles return nothing.

    ``bound`` is None or empty if the bounds are not needed.
    """
    if bound is not None and len(bound) > 0:
        bound[i] = -np.inf if found is None else check_bound(found, i)


@overload(note_bound)
def _overload_note_bound(found, bound, i):
    def keep(found, bound, i):
        if len(bound) > 0:
            bound[i] = check_bound(found, i)

    known = isinstance(found, types.Float) and isinstance(bound, types.Array)
    return keep if known else lambda found, bound, i: None


def bound_of(bound, i):
    """The upper bound of example i, or -inf if its output is a best one."""
    return -np.inf if bound is None else bound[i]


@overload(bound_of)
def _overload_bound_of(bound, i):
    known = isinstance(bound, types.Array)
    return (lambda bound, i: bound[i]) if known else lambda bound, i: -np.inf


def check_labels(y, low, high, i):
    """Raise an error if ``decode`` has written labels outside low..high for example i."""
    if y.dtype != object:
        for label in y[(y < low) | (y > high)][:1].tolist():
            fail(LABEL, i, label, high if label > high else low)


@overload(check_labels)
def _overload_check_labels(y, low, high, i):
    def check(y, low, high, i):
        for j in range(len(y)):
            if y[j] < low or y[j] > high:
                fail(LABEL, i, np.int64(y[j]), high if y[j] > high else low)

    return check


def with_guard(size: int, dtype: Any = np.float64) -> np.ndarray:
    """A new array for a function to write to; after its end there are GUARD entries to spare."""
    return np.empty(size + GUARD, dtype)[:size]


def guarded_work(size: int) -> np.ndarray:
    """Scratch memory for ``decode``, for ``check_work`` afterwards.

    It begins as zeros: what was in memory before may be NaN, of which interpreted code warns.
    """
    work = np.zeros(size + GUARD)[:size]
    _after(work)[:] = UNTOUCHED
    return work


def check_work(work: np.ndarray, name: str) -> None:
    """Raise an error if ``decode`` has written after the end of its scratch memory."""
    if (_after(work) != UNTOUCHED).any():
        raise ProblemError(
            f"decode of {name} writes outside its scratch memory of {len(work)} floats: Pack.work "
            "(or the problem's work) must be larger; mm.check_problem names the example"
        )


def _after(work: np.ndarray) -> np.ndarray:
    """The entries after the end of guarded memory."""
    assert work.base is not None
    return work.base[len(work) :]
