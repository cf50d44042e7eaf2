"""The part of ``check_problem`` that tests a decoder of several outputs."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..engine.several import same_labels
from ..engine.several_outputs import SeveralOutputs
from ..engine.shard import Shard
from ..errors import ProblemError
from ..problem import MODES, PREDICT, SLACK
from .probing import RTOL

#: Number of outputs to ask for.
ASKED = 4


def check_m_best(shard: Shard, sample: np.ndarray, w: np.ndarray, modes: list[int]) -> None:
    """The first output has the value of decode's, and all outputs are different.

    Training uses the first output as the most violated one: if another output were more violated,
    the certificate would be wrong.
    """
    pack, first = shard.pack, SeveralOutputs(shard, 1)
    several = SeveralOutputs(shard, ASKED)
    for mode in modes:
        if not _supported(shard, mode):
            continue
        shard.oracle(w, mode, first.outputs.labels, sample)
        first.outputs.count[sample] = 1
        several.ask(w, mode, 0.0, sample)
        best, found = _values(first, w, mode)[:, 0], _values(several, w, mode)[:, 0]
        scale = RTOL * (1 + np.abs(best))
        for i in sample[found[sample] < best[sample] - scale[sample]].tolist():
            raise ProblemError(
                f"the first of several outputs of example {i} ({_name(mode)}) has the value "
                f"{found[i]:.6g}, but that of decode has {best[i]:.6g}: it must be the best"
            )
        for i in sample.tolist():
            lo, length = pack.offsets[i], pack.offsets[i + 1] - pack.offsets[i]
            slots = [ASKED * lo + r * length for r in range(several.outputs.count[i])]
            labels = several.outputs.labels
            if any(same_labels(labels, a, labels, b, length) for a, b in combinations(slots, 2)):
                raise ProblemError(
                    f"two of the outputs of example {i} ({_name(mode)}) are the same: "
                    "all outputs must be different"
                )


def _supported(shard: Shard, mode: int) -> bool:
    """Whether the problem finds several outputs in this mode."""
    try:
        shard.problem.m_best_work(shard.pack, mode, ASKED)
    except ProblemError as error:
        if isinstance(error.__cause__, NotImplementedError):
            return False
        raise
    return True


def _values(several: SeveralOutputs, w: np.ndarray, mode: int) -> np.ndarray:
    """The value that the mode maximises, for each output (n, m)."""
    margin = several.measure(w)
    loss = several.outputs.loss
    if mode == PREDICT:
        return -margin
    return loss * (1 - margin) if mode == SLACK else loss - margin


def _name(mode: int) -> str:
    return next((f"{name} rescaling" for name, m in MODES.items() if m == mode), "prediction")
