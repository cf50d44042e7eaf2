"""The loops of ``m_best_loops.py`` with the kernels of a problem filled in; see ``bind.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, NamedTuple

from ..problem import Kernels
from . import several as loops
from .bind import Loops, _plain, bind, module_kernels


class MBestLoops(NamedTuple):
    """How several outputs of an example are found, measured, summed and kept."""

    ask: Callable[..., None]
    measure: Callable[..., None]
    sum: Callable[..., None]
    keep: Callable[..., None]


def bind_m_best(kernels: Kernels, bound: Loops | None = None) -> MBestLoops:
    """The fastest loops there are; interpreted ones where ``bound``, the other loops, are."""
    bound = bind(kernels) if bound is None else bound
    return _compiled(kernels) if bound.compiled else _interpret(kernels)


def _interpret(kernels: Kernels) -> MBestLoops:
    decode, loss, delta = (_plain(f) for f in (kernels.decode, kernels.loss, kernels.delta))
    if kernels.m_best is None:
        ask = partial(loops.ask_by_steps.py_func, decode, loss, delta)
    else:
        ask = partial(loops.ask_m_best.py_func, _plain(kernels.m_best))
    return MBestLoops(
        ask,
        partial(loops.measure_outputs.py_func, loss, delta),
        partial(loops.sum_outputs.py_func, delta),
        partial(loops.keep_outputs.py_func, loss),
    )


@lru_cache(maxsize=64)
def _compiled(kernels: Kernels) -> MBestLoops:
    return _built_in().get(kernels) or _compile(kernels)


def _compile(kernels: Kernels) -> MBestLoops:
    """Bindings for a user's numba kernels; closures cannot be kept on disk."""
    from numba import njit

    from .several import ask_by_steps, ask_m_best, keep_outputs, measure_outputs, sum_outputs

    decode, loss, delta, m_best = kernels.decode, kernels.loss, kernels.delta, kernels.m_best

    @njit(nogil=True)
    def user_steps(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
        return ask_by_steps(
            decode, loss, delta,
            pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
        )  # fmt: skip

    @njit(nogil=True)
    def user_ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
        return ask_m_best(
            m_best, pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work
        )

    @njit(nogil=True)
    def user_measure(pack, v, m, order, outputs, margin, scratch):
        return measure_outputs(loss, delta, pack, v, m, order, outputs, margin, scratch)

    @njit(nogil=True)
    def user_sum(pack, mode, m, order, outputs, share, g, scratch):
        return sum_outputs(delta, pack, mode, m, order, outputs, share, g, scratch)

    @njit(nogil=True)
    def user_keep(pack, m, order, outputs, cache, now):
        return keep_outputs(loss, pack, m, order, outputs, cache, now)

    ask = user_steps if m_best is None else user_ask
    return MBestLoops(ask, user_measure, user_sum, user_keep)


@lru_cache(maxsize=1)
def _built_in() -> dict[Kernels, MBestLoops]:
    """Which bindings of ``m_best_compiled.py`` belong to which kernels."""
    from ..structures.binary import problem as binary
    from ..structures.cfg import functions as cfg
    from ..structures.chain import problem as chain
    from ..structures.multiclass import problem as multiclass
    from . import several_compiled as compiled

    modules: dict[str, Any] = {
        "binary": binary, "multiclass": multiclass, "chain": chain, "cfg": cfg,
    }  # fmt: skip
    return {
        module_kernels(module): MBestLoops(
            *(getattr(compiled, f"{name}_{loop}") for loop in MBestLoops._fields)
        )
        for name, module in modules.items()
    }
