"""First-order chains: one label per token, with weights of features and of pairs of neighbours.

w holds, in this order: d * K emission weights (feature-major); K * K transition weights
``[from, to]``; and optionally K weights of the first label and K of the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_codes
from ...data.costs import check_cost
from ...data.sequences import LabelSequences, Sequences, check_finite, offsets_of, stack_sequences
from ...data.transitions import check_gold
from ...engine.linalg import add_rows, pack_rows, read_only, sparse_if_it_pays
from ...errors import DataError
from ...problem import MARGIN, PREDICT, CompiledProblem, Functions, Pack
from .functions import (
    HAMMING,
    ZERO_ONE,
    ChainData,
    decode,
    decode_sums,
    delta,
    delta_tokens,
    loss,
    m_best,
    margin,
    score,
)

#: Maximum memory for counting the errors of a sequence, in floats (1 GB).
LONGEST = 1 << 27


class Chain(CompiledProblem):
    """Sequences of labels 0..n_classes-1.

    Parameters
    ----------
    n_classes : int
    loss : {"hamming", "zero-one"}
    cost : array (n_classes, n_classes), optional
        ``cost[t, k]`` is the Hamming loss of predicting k if t is true; 0/1 by default.
    allowed : bool array (n_classes + 2, n_classes), optional
        The allowed transitions ``[from, to]``, and in the last two rows the allowed first and last
        labels.
    ends : bool
        Whether the first and the last label have additional weights.
    """

    functions = Functions(decode, loss, delta, score, margin, m_best)
    sums = Functions(decode_sums, loss, delta, score, margin, m_best)
    cache = 10

    def __init__(
        self,
        n_classes: int,
        loss: str = "hamming",
        cost: Any = None,
        allowed: Any = None,
        ends: bool = False,
    ):
        if loss not in ("hamming", "zero-one"):
            raise DataError(f"loss must be 'hamming' or 'zero-one', got {loss!r}")
        if n_classes > np.iinfo(np.int16).max:
            raise DataError(f"{n_classes} labels are too many: at most 32767")
        self.n_classes = n_classes
        self.kind = HAMMING if loss == "hamming" else ZERO_ONE
        self.cost = check_cost(cost, n_classes)
        shape = (n_classes + 2, n_classes)
        self.allowed = np.ones(shape, bool) if allowed is None else np.asarray(allowed, bool)
        if self.allowed.shape != shape:
            raise DataError(f"the mask has shape {self.allowed.shape}, expected {shape}")
        self.ends = bool(ends)

    def functions_for(self, mode: int) -> Functions:
        """The functions for one mode, without counting errors if the loss is a sum over tokens."""
        simple = mode == PREDICT or (mode == MARGIN and self.kind == HAMMING)
        return self.sums if simple else self.functions

    def dim(self, d: int) -> int:
        """Length of w for d features."""
        K = self.n_classes
        return d * K + K * K + (2 * K if self.ends else 0)

    def check_truth(self, X: Any, codes: np.ndarray, classes: np.ndarray) -> None:
        """Raise a DataError if true labels contain a transition that is not allowed."""
        check_gold(self.allowed, X, codes, classes)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack sequences X of feature rows with sequences Y of class numbers."""
        X = stack_sequences(X)
        check_finite(X)
        n, total = len(X), X.matrix.shape[0]
        y = np.zeros(total, np.int16) if Y is None else self._codes(X, Y)
        truth, offsets = read_only(y, np.int16), read_only(X.offsets, np.int64)
        rows = pack_rows(sparse_if_it_pays(X.matrix))
        tokens = np.ones(total) if X.weight is None else X.weight
        barrier = np.where(self.allowed, 0.0, -np.inf).ravel()
        starts = rows.indptr[X.offsets]
        lengths = X.lengths
        return Pack(
            data=ChainData(
                rows, offsets, truth, read_only(tokens, np.float64), self.cost,
                read_only(barrier, np.float64), X.n_features, self.kind, int(self.ends),
            ),
            offsets=offsets,
            truth=truth,
            dim=self.dim(X.n_features),
            width=int((2 * np.diff(starts) + 2 * lengths).max(initial=0)) + 4,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
        )  # fmt: skip

    def _codes(self, X: Sequences, Y: Any) -> np.ndarray:
        """The class numbers of all tokens (n_tokens,)."""
        if not isinstance(Y, LabelSequences):
            flat = np.concatenate([*Y, np.zeros(0, np.int16)])
            Y = LabelSequences(flat, offsets_of([len(labels) for labels in Y]))
        if not np.array_equal(Y.offsets, X.offsets):
            raise DataError("Y must have one label per token of each sequence of X")
        flat = Y.flat
        most = min(self.n_classes, 1 << 15) - 1  # labels are int16
        return check_codes(flat, len(flat), 0, most, "the label of token")

    def work(self, pack: Pack, mode: int) -> int:
        """Scratch memory of ``decode`` in floats; counting errors needs more."""
        K, lengths = self.n_classes, np.diff(pack.offsets)
        longest = int(lengths.max(initial=0))
        base = K * K + 2 * K + 3 * longest * K
        if mode == PREDICT or (mode == MARGIN and self.kind == HAMMING):
            return base
        data = pack.data
        worst = data.weight * self.cost.max(axis=1, initial=0)[data.y]
        if self.kind == HAMMING and ((self.cost % 1).any() or (data.weight % 1).any()):
            raise DataError(
                "slack rescaling of the Hamming loss counts errors, so class_weight, token_weight "
                "and the cost matrix must be whole numbers: scale them, or use rescaling='margin'"
            )
        ends = np.concatenate([[0.0], np.cumsum(worst)])[pack.offsets]
        most = np.ones(pack.n) if self.kind == ZERO_ONE else np.diff(ends)
        size = base + int((lengths * (most + 1)).max(initial=0)) * K + K
        if size > LONGEST:
            i = int(np.argmax(lengths * (most + 1)))
            raise DataError(
                f"sequence {i} has {lengths[i]} tokens and up to {most[i]:.0f} errors to count: "
                f"its oracle would need {8 * size / 2**30:.1f} GB; split it, use smaller weights, "
                "or rescaling='margin'",
                sequence=i,
            )
        return size

    def m_best_work(self, pack: Pack, mode: int, m: int) -> int:
        """Scratch memory of ``m_best`` in floats: scores, and up to m + 1 prefixes per state."""
        K, longest = self.n_classes, int(np.diff(pack.offsets).max(initial=0))
        lists = 2 * (longest * K + 1) * (m + 2) + 2 * longest + K
        return max(self.work(pack, mode), K * K + 2 * K + 2 * longest * K + lists)

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        K, data = self.n_classes, pack.data
        lengths = np.diff(pack.offsets)
        of = np.repeat(np.arange(pack.n), lengths)
        weight, y = pack.weight[of], data.y.astype(np.int64)
        total = np.zeros(pack.dim)
        add_rows(data.rows, weight, y, K, total)
        base, inner = data.n_features * K, np.flatnonzero(of[1:] == of[:-1])
        np.add.at(total, base + y[inner] * K + y[inner + 1], weight[inner])
        if self.ends:
            some = np.flatnonzero(lengths)
            np.add.at(total, base + K * K + y[pack.offsets[some]], pack.weight[some])
            np.add.at(total, base + K * K + K + y[pack.offsets[some + 1] - 1], pack.weight[some])
        return total

    def operations(self, pack: Pack) -> float:
        """One operation per entry of X and label, and per token and pair of labels."""
        K = self.n_classes
        return float(pack.data.rows.nnz * K + len(pack.truth) * K * K)

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The class numbers."""
        return 0, self.n_classes - 1

    def unpack(self, pack: Pack, labels: np.ndarray) -> list[np.ndarray]:
        """The class numbers of each sequence."""
        return np.split(labels, pack.offsets[1:-1])


class Unlinked(Chain):
    """Chains whose transitions have no weights, for losses of whole sequences.

    If the loss is a sum over the tokens, ``Multiclass`` on the tokens is the same and faster.
    """

    functions = Functions(decode, loss, delta_tokens, score, margin)

    def functions_for(self, mode: int) -> Functions:
        """The same functions for all modes."""
        return self.functions

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        total = super().truth_features(pack)
        total[pack.data.n_features * self.n_classes :] = 0.0
        return total
