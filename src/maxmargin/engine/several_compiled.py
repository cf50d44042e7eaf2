"""The loops over several outputs bound to the built-in problems; see ``compiled.py``."""

# ruff: noqa: D103

from __future__ import annotations

from numba import njit

from ..structures.binary import problem as binary
from ..structures.cfg import functions as cfg
from ..structures.chain import problem as chain
from ..structures.multiclass import problem as multiclass
from .linalg import sparse_axpy
from .several import ask_m_best, keep_outputs, measure_outputs, sum_outputs


@njit(cache=True, nogil=True)
def binary_ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
    return ask_m_best(
        binary.m_best,
        pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def binary_measure(pack, v, m, order, outputs, margin, scratch):
    return measure_outputs(binary.loss, binary.delta, pack, v, m, order, outputs, margin, scratch)


@njit(cache=True, nogil=True)
def binary_sum(pack, mode, m, order, outputs, share, g, scratch):
    return sum_outputs(binary.delta, pack, mode, m, order, outputs, share, g, scratch)


@njit(cache=True, nogil=True)
def binary_keep(pack, m, order, outputs, cache, now):
    return keep_outputs(binary.loss, pack, m, order, outputs, cache, now)


@njit(cache=True, nogil=True)
def multiclass_ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
    return ask_m_best(
        multiclass.m_best,
        pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def multiclass_measure(pack, v, m, order, outputs, margin, scratch):
    return measure_outputs(
        multiclass.loss, multiclass.delta, pack, v, m, order, outputs, margin, scratch
    )


@njit(cache=True, nogil=True)
def multiclass_sum(pack, mode, m, order, outputs, share, g, scratch):
    return sum_outputs(multiclass.delta, pack, mode, m, order, outputs, share, g, scratch)


@njit(cache=True, nogil=True)
def multiclass_keep(pack, m, order, outputs, cache, now):
    return keep_outputs(multiclass.loss, pack, m, order, outputs, cache, now)


@njit(cache=True, nogil=True)
def chain_ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
    return ask_m_best(
        chain.m_best,
        pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def chain_measure(pack, v, m, order, outputs, margin, scratch):
    return measure_outputs(chain.loss, chain.delta, pack, v, m, order, outputs, margin, scratch)


@njit(cache=True, nogil=True)
def chain_sum(pack, mode, m, order, outputs, share, g, scratch):
    return sum_outputs(chain.delta, pack, mode, m, order, outputs, share, g, scratch)


@njit(cache=True, nogil=True)
def chain_keep(pack, m, order, outputs, cache, now):
    return keep_outputs(chain.loss, pack, m, order, outputs, cache, now)


@njit(cache=True, nogil=True)
def cfg_ask(pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work):
    return ask_m_best(
        cfg.m_best,
        pack, w, mode, diversity, m, order, outputs, score, trail, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def cfg_measure(pack, v, m, order, outputs, margin, scratch):
    return measure_outputs(cfg.loss, cfg.delta, pack, v, m, order, outputs, margin, scratch)


@njit(cache=True, nogil=True)
def cfg_sum(pack, mode, m, order, outputs, share, g, scratch):
    return sum_outputs(cfg.delta, pack, mode, m, order, outputs, share, g, scratch)


@njit(cache=True, nogil=True)
def cfg_keep(pack, m, order, outputs, cache, now):
    return keep_outputs(cfg.loss, pack, m, order, outputs, cache, now)


@njit(cache=True, nogil=True)
def cfg_truths(pack, total, scratch):
    idx, val = scratch
    for i in range(len(pack.weight)):
        y = pack.truth[pack.offsets[i] : pack.offsets[i + 1]]
        nnz = cfg.delta(pack.data, i, y, y[:0], idx, val)
        sparse_axpy(pack.weight[i], idx, val, nnz, total)
