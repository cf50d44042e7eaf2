"""Bind the functions of a problem to the passes that solvers call.

==================================== ==============================================================
numba functions                      compiled together with each pass, kept on disk (``keep.py``)
plain Python functions               the same passes, interpreted
==================================== ==============================================================
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..problem import Functions
from . import ascent, exchange, smooth_passes
from . import passes as loops
from .arrays import UNWRITTEN
from .guard import plane_dot
from .interpreted import is_compiled


class Loops(NamedTuple):
    """The passes of this folder, bound to the functions of a problem."""

    decode: Callable[..., None]
    collect: Callable[..., float]
    recall: Callable[..., None]
    remember: Callable[..., None]
    ascend: Callable[..., None]
    value: Callable[..., None]
    curve: Callable[..., float]
    mark: Callable[..., None]
    planes: Callable[..., None]
    compiled: bool


@lru_cache(maxsize=64)
def bind(functions: Functions, name: str = "functions") -> Loops:
    """The passes for the functions of the problem ``name``, compiled if all are numba functions."""
    if is_compiled(functions):
        return compile_loops(functions, name)
    return interpret(functions)


def interpret(functions: Functions) -> Loops:
    """The passes as plain Python, also for functions that numba has compiled."""
    decode, loss, delta = (plain(f) for f in (functions.decode, functions.loss, functions.delta))
    score, margin_of = _margin_of(functions, plain)
    return Loops(
        partial(loops.decode_examples.py_func, decode),
        partial(loops.collect_planes.py_func, loss, delta),
        partial(loops.recall_planes.py_func, score, margin_of),
        partial(loops.remember_planes.py_func, loss),
        partial(ascent.ascend_examples.py_func, decode, loss, delta, margin_of),
        partial(smooth_passes.value_outputs.py_func, loss, score, margin_of),
        partial(smooth_passes.curve_outputs.py_func, loss, delta),
        partial(exchange.mark_planes.py_func, delta),
        partial(loops.write_planes.py_func, delta),
        compiled=False,
    )


def compile_loops(functions: Functions, name: str) -> Loops:
    """The passes with numba functions: each is compiled when it is first called."""
    from .ascent import ascend_examples
    from .keep import keep
    from .passes import decode_examples

    # These passes do not call the oracle: variants of a problem that differ in it share them.
    rest = replace(functions, decode=functions.loss, bounded=False)
    *without_oracle, margin_of = _without_oracle(rest, name)
    collect, recall, remember, *few = without_oracle
    decode_one, loss, delta = map(part, (functions.decode, functions.loss, functions.delta))

    def decode(pack, w, mode, order, labels, bound, work):
        return decode_examples(decode_one, pack, w, mode, order, labels, bound, work)

    def ascend(pack, w, C, mode, order, duals, options, labels, visits, block, work):
        return ascend_examples(
            decode_one, loss, delta, margin_of,
            pack, w, C, mode, order, duals, options, labels, visits, block, work,
        )  # fmt: skip

    decode, ascend = (keep(f, f"{name}: {f.__name__}") for f in (decode, ascend))
    return Loops(decode, collect, recall, remember, ascend, *few, compiled=True)


@lru_cache(maxsize=64)
def _without_oracle(functions: Functions, name: str) -> tuple[Any, ...]:
    """The passes that do not call the oracle, and the function that computes margins."""
    from numba import njit

    from .exchange import mark_planes
    from .inner_code import NO_ENTRY
    from .keep import keep
    from .passes import collect_planes, recall_planes, remember_planes, write_planes
    from .smooth_passes import curve_outputs, value_outputs

    loss, delta = part(functions.loss), part(functions.delta)
    score, margin_of = (njit(f, **NO_ENTRY) for f in _margin_of(functions, part))

    def collect(pack, w, mode, order, labels, g, value, scratch):
        return collect_planes(loss, delta, pack, w, mode, order, labels, g, value, scratch)

    def recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
        return recall_planes(
            score, margin_of, pack, w, mode, order, cache, now, labels, value, scratch, work
        )

    def remember(pack, order, labels, value, recalled, cache, now):
        return remember_planes(loss, pack, order, labels, value, recalled, cache, now)

    def value(pack, w, mode, order, outputs, part, value, scratch, work):
        return value_outputs(
            loss, score, margin_of, pack, w, mode, order, outputs, part, value, scratch, work
        )

    def curve(pack, mode, order, outputs, share, g, H, scratch, more):
        return curve_outputs(loss, delta, pack, mode, order, outputs, share, g, H, scratch, more)

    def mark(pack, examples, duals, before, marks, scratch):
        return mark_planes(delta, pack, examples, duals, before, marks, scratch)

    def planes(pack, examples, slots, duals, idx, val, nnz):
        return write_planes(delta, pack, examples, slots, duals, idx, val, nnz)

    bound = (collect, recall, remember, value, curve, mark, planes)
    return (*(keep(f, f"{name}: {f.__name__}") for f in bound), margin_of)


def _margin_of(functions: Functions, use: Callable[[Any], Any]) -> tuple[Any, Any]:
    """``(score, margin_of)``: functions that compute margins, from scores if the problem has them.

    ``margin_of(data, w, i, y, z, idx, val, width, work)`` returns the margin and the number of
    non-zeros of the difference of features, or UNWRITTEN if it did not write this difference.
    """
    if functions.score is None or functions.margin is None:
        delta = use(functions.delta)

        def score(data, w, i, work):
            pass

        def margin_of(data, w, i, y, z, idx, val, width, work):
            nnz = delta(data, i, y, z, idx, val)
            return plane_dot(idx, val, nnz, w, width, i), nnz

        return score, margin_of
    margin, scores = use(functions.margin), use(functions.score)

    def score_example(data, w, i, work):
        scores(data, w, i, work)

    def margin_of_scores(data, w, i, y, z, idx, val, width, work):
        return margin(data, i, y, z, work), UNWRITTEN

    return score_example, margin_of_scores


@lru_cache(maxsize=256)
def part(function: Any) -> Any:
    """A numba function as part of a compiled pass: it cannot be called from Python."""
    from numba import jit

    from .inner_code import NO_ENTRY

    return jit(**{**function.targetoptions, **NO_ENTRY})(function.py_func)


def plain(function: Any) -> Any:
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)
