"""From the kernels of a problem to the loops a solver calls: which of the three speeds it gets.

==================================== =========================================================
kernels of a built-in problem        ``compiled.py``: compiled once, kept on disk
numba functions of a user            compiled here, once in each process
plain Python functions               the same loops, interpreted
==================================== =========================================================
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..problem import Kernels
from . import ascent
from . import passes as loops
from .arrays import UNWRITTEN
from .compiled_cache import delete_outdated
from .linalg import sparse_dot


class Loops(NamedTuple):
    """The loops of ``loops.py`` with the kernels filled in."""

    decode: Callable[..., None]
    collect: Callable[..., float]
    recall: Callable[..., None]
    remember: Callable[..., None]
    ascend: Callable[..., None]
    sum: Callable[..., None]
    compiled: bool


@lru_cache(maxsize=64)
def bind(kernels: Kernels) -> Loops:
    """The fastest loops there are for these kernels."""
    from numba.core.dispatcher import Dispatcher

    delete_outdated()
    functions = [f for f in vars(kernels).values() if f is not None]
    if not all(isinstance(f, Dispatcher) for f in functions):
        return interpret(kernels)
    return _built_in().get(kernels) or compile_loops(kernels)


def interpret(kernels: Kernels) -> Loops:
    """The loops as plain Python, also for kernels that numba has compiled."""
    decode, loss, delta = (_plain(f) for f in (kernels.decode, kernels.loss, kernels.delta))
    score, see = _see(kernels, _plain)
    return Loops(
        partial(loops.decode_examples.py_func, decode),
        partial(loops.collect_planes.py_func, loss, delta),
        partial(loops.recall_planes.py_func, score, see),
        partial(loops.remember_planes.py_func, loss),
        partial(ascent.ascend_examples.py_func, decode, loss, delta, see),
        partial(ascent.sum_duals.py_func, delta),
        compiled=False,
    )


def compile_loops(kernels: Kernels) -> Loops:
    """Bindings for a user's numba kernels; closures cannot be kept on disk."""
    from numba import njit

    from .ascent import ascend_examples, sum_duals
    from .passes import collect_planes, decode_examples, recall_planes, remember_planes

    decode, loss, delta = kernels.decode, kernels.loss, kernels.delta
    score, see = (njit(f, nogil=True) for f in _see(kernels, lambda f: f))

    @njit(nogil=True)
    def user_decode(pack, w, mode, order, labels, work):
        return decode_examples(decode, pack, w, mode, order, labels, work)

    @njit(nogil=True)
    def user_collect(pack, w, mode, order, labels, g, value, scratch):
        return collect_planes(loss, delta, pack, w, mode, order, labels, g, value, scratch)

    @njit(nogil=True)
    def user_recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
        return recall_planes(
            score, see, pack, w, mode, order, cache, now, labels, value, scratch, work
        )

    @njit(nogil=True)
    def user_remember(pack, order, labels, value, recalled, cache, now):
        return remember_planes(loss, pack, order, labels, value, recalled, cache, now)

    @njit(nogil=True)
    def user_ascend(pack, w, C, mode, order, duals, rule, labels, visits, block, work):
        return ascend_examples(
            decode, loss, delta, see,
            pack, w, C, mode, order, duals, rule, labels, visits, block, work,
        )  # fmt: skip

    @njit(nogil=True)
    def user_sum(pack, C, mode, order, duals, w, scratch):
        return sum_duals(delta, pack, C, mode, order, duals, w, scratch)

    return Loops(
        user_decode, user_collect, user_recall, user_remember, user_ascend, user_sum, compiled=True
    )


def _see(kernels: Kernels, use: Callable[[Any], Any]) -> tuple[Any, Any]:
    """``(score, see)``: how margins are seen, from scores where a problem has them.

    ``see(data, w, i, y, z, idx, val, work)`` returns the margin, and the number of non-zeros of the
    difference of features if it had to write it.
    """
    if kernels.score is None or kernels.margin is None:
        delta = use(kernels.delta)

        def score(data, w, i, work):
            pass

        def see(data, w, i, y, z, idx, val, work):
            nnz = delta(data, i, y, z, idx, val)
            return sparse_dot(idx, val, nnz, w), nnz

        return score, see
    margin, scores = use(kernels.margin), use(kernels.score)

    def score_example(data, w, i, work):
        scores(data, w, i, work)

    def see_scores(data, w, i, y, z, idx, val, work):
        return margin(data, i, y, z, work), UNWRITTEN

    return score_example, see_scores


def _plain(function: Any) -> Any:
    """The Python function behind a compiled one."""
    return getattr(function, "py_func", function)


def module_kernels(module: Any) -> Kernels:
    """The kernels that a file of a built-in problem defines."""
    optional = (getattr(module, name, None) for name in ("score", "margin", "m_best"))
    return Kernels(module.decode, module.loss, module.delta, *optional)


@lru_cache(maxsize=1)
def _built_in() -> dict[Kernels, Loops]:
    """Which bindings of ``compiled.py`` belong to which kernels."""
    from ..structures.binary import problem as binary
    from ..structures.cfg import functions as cfg
    from ..structures.chain import problem as chain
    from ..structures.multiclass import problem as multiclass
    from . import compiled

    modules: dict[str, Any] = {
        "binary": binary, "multiclass": multiclass, "chain": chain, "cfg": cfg,
    }  # fmt: skip
    return {
        module_kernels(module): Loops(
            *(getattr(compiled, f"{name}_{loop}") for loop in Loops._fields[:-1]), compiled=True
        )
        for name, module in modules.items()
    }
