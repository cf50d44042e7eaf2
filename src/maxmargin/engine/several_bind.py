"""The passes of ``several.py``, bound to the functions of a problem; see ``bind.py``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

from ..problem import Functions
from . import several as loops
from .bind import part, plain


class MBestLoops(NamedTuple):
    """The passes that find, measure, sum and cache several outputs per example."""

    ask: Callable[..., None]
    measure: Callable[..., None]
    sum: Callable[..., None]
    keep: Callable[..., None]


def bind_m_best(functions: Functions, name: str, compiled: bool) -> MBestLoops:
    """The passes of the problem ``name``, compiled or interpreted."""
    return _compile(functions, name) if compiled else _interpret(functions)


def _interpret(functions: Functions) -> MBestLoops:
    decode, loss, delta = (plain(f) for f in (functions.decode, functions.loss, functions.delta))
    if functions.m_best is None:
        ask = partial(loops.ask_by_steps.py_func, decode, loss, delta)
    else:
        ask = partial(loops.ask_m_best.py_func, plain(functions.m_best))
    return MBestLoops(
        ask,
        partial(loops.measure_outputs.py_func, loss, delta),
        partial(loops.sum_outputs.py_func, delta),
        partial(loops.keep_outputs.py_func, loss),
    )


@lru_cache(maxsize=64)
def _compile(functions: Functions, name: str) -> MBestLoops:
    """The passes with numba functions: each is compiled when it is first called."""
    from .keep import keep
    from .several import ask_by_steps, ask_m_best, keep_outputs, measure_outputs, sum_outputs

    decode, loss, delta = map(part, (functions.decode, functions.loss, functions.delta))
    m_best = None if functions.m_best is None else part(functions.m_best)

    def ask_steps(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work, bound):
        return ask_by_steps(
            decode, loss, delta,
            pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work, bound,
        )  # fmt: skip

    def ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work, bound):
        return ask_m_best(
            m_best, pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work, bound
        )

    def measure(pack, v, m, order, outputs, margin, scratch):
        return measure_outputs(loss, delta, pack, v, m, order, outputs, margin, scratch)

    def sum(pack, mode, m, order, outputs, share, g, scratch):
        return sum_outputs(delta, pack, mode, m, order, outputs, share, g, scratch)

    def keep_some(pack, m, order, outputs, cache, now):
        return keep_outputs(loss, pack, m, order, outputs, cache, now)

    bound = (ask_steps if m_best is None else ask, measure, sum, keep_some)
    pairs = zip(MBestLoops._fields, bound, strict=True)
    return MBestLoops(*(keep(f, f"{name}: {loop} several outputs") for loop, f in pairs))
