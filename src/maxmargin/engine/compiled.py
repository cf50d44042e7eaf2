"""The loops bound to the kernels of the built-in problems: compiled once, kept on disk.

Two lines each, so that the kernels are globals of a cached function. numba's cache looks only at
the time stamp of this file; ``compiled_cache.py`` looks at all others.
"""

# ruff: noqa: D103

from __future__ import annotations

from numba import njit

from ..structures.binary import problem as binary
from ..structures.cfg import functions as cfg
from ..structures.chain import problem as chain
from ..structures.multiclass import problem as multiclass
from .arrays import UNWRITTEN
from .ascent import ascend_examples, sum_duals
from .linalg import sparse_dot
from .passes import collect_planes, decode_examples, recall_planes, remember_planes


@njit(nogil=True)
def binary_see(data, w, i, y, z, idx, val, work):
    return binary.margin(data, i, y, z, work), UNWRITTEN


@njit(cache=True, nogil=True)
def binary_decode(pack, w, mode, order, labels, work):
    return decode_examples(binary.decode, pack, w, mode, order, labels, work)


@njit(cache=True, nogil=True)
def binary_collect(pack, w, mode, order, labels, g, value, scratch):
    return collect_planes(
        binary.loss, binary.delta, pack, w, mode, order, labels, g, value, scratch
    )


@njit(cache=True, nogil=True)
def binary_recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
    return recall_planes(
        binary.score, binary_see,
        pack, w, mode, order, cache, now, labels, value, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def binary_remember(pack, order, labels, value, recalled, cache, now):
    return remember_planes(binary.loss, pack, order, labels, value, recalled, cache, now)


@njit(cache=True, nogil=True)
def binary_ascend(pack, w, C, mode, order, duals, rule, labels, visits, block, work):
    return ascend_examples(
        binary.decode, binary.loss, binary.delta, binary_see,
        pack, w, C, mode, order, duals, rule, labels, visits, block, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def binary_sum(pack, C, mode, order, duals, w, scratch):
    return sum_duals(binary.delta, pack, C, mode, order, duals, w, scratch)


@njit(nogil=True)
def multiclass_see(data, w, i, y, z, idx, val, work):
    return multiclass.margin(data, i, y, z, work), UNWRITTEN


@njit(cache=True, nogil=True)
def multiclass_decode(pack, w, mode, order, labels, work):
    return decode_examples(multiclass.decode, pack, w, mode, order, labels, work)


@njit(cache=True, nogil=True)
def multiclass_collect(pack, w, mode, order, labels, g, value, scratch):
    return collect_planes(
        multiclass.loss, multiclass.delta, pack, w, mode, order, labels, g, value, scratch
    )


@njit(cache=True, nogil=True)
def multiclass_recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
    return recall_planes(
        multiclass.score, multiclass_see,
        pack, w, mode, order, cache, now, labels, value, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def multiclass_remember(pack, order, labels, value, recalled, cache, now):
    return remember_planes(multiclass.loss, pack, order, labels, value, recalled, cache, now)


@njit(cache=True, nogil=True)
def multiclass_ascend(pack, w, C, mode, order, duals, rule, labels, visits, block, work):
    return ascend_examples(
        multiclass.decode, multiclass.loss, multiclass.delta, multiclass_see,
        pack, w, C, mode, order, duals, rule, labels, visits, block, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def multiclass_sum(pack, C, mode, order, duals, w, scratch):
    return sum_duals(multiclass.delta, pack, C, mode, order, duals, w, scratch)


@njit(nogil=True)
def chain_see(data, w, i, y, z, idx, val, work):
    return chain.margin(data, i, y, z, work), UNWRITTEN


@njit(cache=True, nogil=True)
def chain_decode(pack, w, mode, order, labels, work):
    return decode_examples(chain.decode, pack, w, mode, order, labels, work)


@njit(cache=True, nogil=True)
def chain_collect(pack, w, mode, order, labels, g, value, scratch):
    return collect_planes(chain.loss, chain.delta, pack, w, mode, order, labels, g, value, scratch)


@njit(cache=True, nogil=True)
def chain_recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
    return recall_planes(
        chain.score, chain_see,
        pack, w, mode, order, cache, now, labels, value, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def chain_remember(pack, order, labels, value, recalled, cache, now):
    return remember_planes(chain.loss, pack, order, labels, value, recalled, cache, now)


@njit(cache=True, nogil=True)
def chain_ascend(pack, w, C, mode, order, duals, rule, labels, visits, block, work):
    return ascend_examples(
        chain.decode, chain.loss, chain.delta, chain_see,
        pack, w, C, mode, order, duals, rule, labels, visits, block, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def chain_sum(pack, C, mode, order, duals, w, scratch):
    return sum_duals(chain.delta, pack, C, mode, order, duals, w, scratch)


@njit(nogil=True)
def cfg_score(data, w, i, work):
    pass


@njit(nogil=True)
def cfg_see(data, w, i, y, z, idx, val, work):
    nnz = cfg.delta(data, i, y, z, idx, val)
    return sparse_dot(idx, val, nnz, w), nnz


@njit(cache=True, nogil=True)
def cfg_decode(pack, w, mode, order, labels, work):
    return decode_examples(cfg.decode, pack, w, mode, order, labels, work)


@njit(cache=True, nogil=True)
def cfg_collect(pack, w, mode, order, labels, g, value, scratch):
    return collect_planes(cfg.loss, cfg.delta, pack, w, mode, order, labels, g, value, scratch)


@njit(cache=True, nogil=True)
def cfg_recall(pack, w, mode, order, cache, now, labels, value, scratch, work):
    return recall_planes(
        cfg_score, cfg_see,
        pack, w, mode, order, cache, now, labels, value, scratch, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def cfg_remember(pack, order, labels, value, recalled, cache, now):
    return remember_planes(cfg.loss, pack, order, labels, value, recalled, cache, now)


@njit(cache=True, nogil=True)
def cfg_ascend(pack, w, C, mode, order, duals, rule, labels, visits, block, work):
    return ascend_examples(
        cfg.decode, cfg.loss, cfg.delta, cfg_see,
        pack, w, C, mode, order, duals, rule, labels, visits, block, work,
    )  # fmt: skip


@njit(cache=True, nogil=True)
def cfg_sum(pack, C, mode, order, duals, w, scratch):
    return sum_duals(cfg.delta, pack, C, mode, order, duals, w, scratch)
