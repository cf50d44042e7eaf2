"""Compile (or load) what a solver will call, before its clock starts."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from .arrays import PassOptions
from .bind import Loops
from .keep import piece
from .shard_arrays import ShardArrays
from .side_by_side import Job, make_ready
from .smo import ascend_block
from .sparse import go_towards
from .vectors import warm_up_vectors


def warm_up(loops: Loops, arrays: ShardArrays, mode: int, names: tuple[str, ...]) -> float:
    """Compile (or load) these passes by calls without examples; returns the seconds it took."""
    start = time.perf_counter()

    def call(number: int, name: str) -> None:
        with piece(number, len(names)):
            getattr(loops, name.split()[0])(*_nothing_to_do(name, arrays, mode))
        if name.startswith("ascend") and not loops.compiled:
            _warm_up_block(arrays, _pass_options(name, arrays))

    jobs: list[Job] = [partial(call, number, name) for number, name in enumerate(names, 1)]
    if "collect" in names:
        jobs.append(_warm_up_sums)
    make_ready(jobs)
    return time.perf_counter() - start


def _warm_up_sums() -> None:
    go_towards(np.zeros(1), np.zeros(1), 0.0, np.zeros(1))
    warm_up_vectors()


def _nothing_to_do(name: str, arrays: ShardArrays, mode: int) -> tuple[Any, ...]:
    """Arguments for a pass over no examples."""
    pack, scratch, no_examples = arrays.pack, arrays.new_scratch(), np.arange(0)
    w, labels, value, work = np.zeros(1), pack.truth[:0].copy(), np.zeros(0), np.zeros(0)
    cache, duals = arrays.new_cache(0), arrays.new_duals(1)
    visits, block = arrays.new_visits(0), arrays.new_block(0)
    outputs, square = pack.truth[:0], np.zeros((1, 1))
    return {
        "decode": (pack, w, mode, no_examples, labels, value, work),
        "collect": (pack, w, mode, no_examples, labels, w, value, scratch),
        "recall": (pack, w, mode, no_examples, cache, 0, labels, value, scratch, work),
        "remember": (pack, no_examples, labels, value, value, cache, 0),
        "value": (pack, w, mode, no_examples, outputs, 1.0, square, scratch, work),
        "curve": (pack, mode, no_examples, outputs, square, w, square, scratch, scratch),
        "planes": (pack, no_examples, no_examples, duals, *scratch, no_examples),
        "mark": (pack, no_examples, duals, square, np.zeros(1, np.uint8), scratch),
        "ascend": (
            pack,
            w,
            1.0,
            mode,
            no_examples,
            duals,
            _pass_options(name, arrays),
            labels,
            visits,
            block,
            work,
        ),
    }[name.split()[0]]


def _pass_options(name: str, arrays: ShardArrays) -> PassOptions:
    """The options for which "ascend" or "ascend frank-wolfe" is compiled."""
    options = PassOptions(True, frank_wolfe=True if name == "ascend frank-wolfe" else None)
    return options if arrays.together is None else arrays.together.options(options, np.zeros(1))


def _warm_up_block(arrays: ShardArrays, options: PassOptions) -> None:
    """Compile the part of dual ascent that problems in plain Python share."""
    duals, block, visits = arrays.new_duals(1), arrays.new_block(1), arrays.new_visits(0)
    ascend_block(
        duals.alpha[0], duals.gram, duals.known, 0, 1, block, 1.0, options, arrays.pack.width,
        np.zeros(1), visits,
    )  # fmt: skip
