"""Label sets: each of L labels is present or not, with weights of some pairs of labels.

w holds, in this order: d * L weights of features (feature-major); optionally L weights of the
constant feature; and 4 weights per pair of labels, for neither, only the second, only the first,
and both. With ``associative`` a pair has the last one only, which is >= 0. A label that is present
adds x / 2 to its features, one that is absent -x / 2, so that P without pairs is the sum of the
objectives of one binary SVM per label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.checked import check_codes
from ...engine.linalg import add_rows, mean_square, pack_rows, read_only, row_products
from ...errors import DataError
from ...inference import choose, is_forest, message_size, plan_graph, work_size
from ...problem import SLACK, CompiledProblem, Pack
from .functions import LabelSetData, functions_of


class LabelSets(CompiledProblem):
    """Sets of labels 0..n_labels-1 for the rows of a dense or CSR matrix.

    Parameters
    ----------
    n_labels : int
    pairs : int array (m, 2), optional
        The pairs of labels with weights; by default none.
    cost : array (n_labels,) or (n_labels, 2), optional
        The cost of an error for each label; with two columns, of a label that is predicted wrongly
        and of one that is missed. 1 by default.
    bias : float
        Value of an extra constant feature; 0 for none.
    associative : bool
        One weight >= 0 per pair, for both labels being present, in place of four.
    inference : str
        The decoder (``maxmargin.inference``); "auto" chooses one.
    """

    cache = 10

    def __init__(
        self,
        n_labels: int,
        pairs: Any = None,
        cost: Any = None,
        bias: float = 0.0,
        inference: str = "auto",
        associative: bool = False,
    ):
        self.n_labels, self.bias, self.associative = n_labels, float(bias), bool(associative)
        self.pairs = check_pairs(pairs, n_labels)
        self.cost = check_label_cost(cost, n_labels)
        self.plan = plan_graph(n_labels, self.pairs)
        forest = is_forest(self.plan, n_labels)
        self.kind = choose(inference, 2, forest, self.associative, n_labels)
        self.functions = functions_of(self.kind)

    def dim(self, d: int) -> int:
        """Length of w for d features."""
        return (d + (self.bias != 0)) * self.n_labels + self.pair_weights()

    def pair_weights(self) -> int:
        """The number of weights of pairs."""
        return (1 if self.associative else 4) * len(self.pairs)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack the rows of X (n, d) with an indicator matrix Y (n, n_labels)."""
        (n, d), L, m = X.shape, self.n_labels, len(self.pairs)
        flat = np.zeros(n * L) if Y is None else np.asarray(Y).ravel()
        truth = read_only(check_codes(flat, n * L, 0, 1, "entry"), np.int8)
        rows = pack_rows(X)
        widest = int(np.diff(rows.indptr).max(initial=0)) + (self.bias != 0)
        messages = np.zeros(n * message_size(self.kind, L, m, 2))
        return Pack(
            data=LabelSetData(
                rows, truth, self.cost, self.pairs, self.associative,
                read_only(self.plan, np.int32), messages, d, self.bias,
            ),
            offsets=read_only(np.arange(n + 1) * L, np.int64),
            truth=truth,
            dim=self.dim(d),
            width=L * widest + 2 * m,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
            work=3 * L + 4 * m + work_size(self.kind, L, m, 2),
        )  # fmt: skip

    def work(self, pack: Pack, mode: int) -> int:
        """Scratch memory of ``decode`` in floats."""
        if mode == SLACK:
            raise DataError(
                "slack rescaling has no oracle for label sets: the product of loss and score is "
                "not a sum over labels; use rescaling='margin'"
            ) from NotImplementedError("slack rescaling")
        return pack.work

    def positive(self, pack: Pack) -> range | None:
        """The weights of pairs of an associative model are >= 0."""
        return range(pack.dim - len(self.pairs), pack.dim) if self.associative else None

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        data, L, total = pack.data, self.n_labels, np.zeros(pack.dim)
        Y, d = pack.truth.reshape(pack.n, L).astype(np.int64), pack.data.n_features
        for k in range(L):
            add_rows(data.rows, pack.weight * (Y[:, k] - 0.5), np.full(pack.n, k), L, total)
        if self.bias:
            total[d * L : (d + 1) * L] = self.bias * pack.weight @ (Y - 0.5)
        if self.associative:
            a, b = self.pairs.T
            total[pack.dim - len(a) :] = (Y.T @ (pack.weight[:, None] * Y))[a, b]
            return total
        pairs = total[pack.dim - self.pair_weights() :].reshape(-1, 4)
        for e, (a, b) in enumerate(self.pairs.tolist()):
            pairs[e] = np.bincount(2 * Y[:, a] + Y[:, b], pack.weight, 4)
        return total

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of these sets (n,)."""
        L, d = self.n_labels, pack.data.n_features
        Y = labels.reshape(pack.n, L).astype(np.int64)
        scores = row_products(pack.data.rows, w[: d * L].reshape(d, L))
        if self.bias:
            scores = scores + self.bias * w[d * L : (d + 1) * L]
        total = ((Y - 0.5) * scores).sum(axis=1)
        weights = w[pack.dim - self.pair_weights() :]
        if self.associative:
            table = np.zeros((L, L))
            table[tuple(self.pairs.T)] = weights
            return total + np.einsum("ik,kl,il->i", Y, table, Y, optimize=True)
        weights = weights.reshape(-1, 4)
        for e, (a, b) in enumerate(self.pairs.tolist()):
            total += weights[e, 2 * Y[:, a] + Y[:, b]]
        return total

    def operations(self, pack: Pack) -> float:
        """Scores of the labels, and some sweeps over the pairs."""
        return float(pack.data.rows.nnz * self.n_labels + 80 * pack.n * len(self.pairs))

    def plane_square(self, pack: Pack) -> float:
        """The average |x|^2: one wrong label."""
        return mean_square(pack.data.rows) + self.bias**2

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """Absent and present."""
        return 0, 1

    def unpack(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """The indicator matrix (n, n_labels)."""
        return labels.reshape(pack.n, self.n_labels)


def check_pairs(pairs: Any, L: int) -> np.ndarray:
    """Pairs of different labels, read-only int64 array (m, 2)."""
    pairs = np.zeros((0, 2), np.int64) if pairs is None else np.asarray(pairs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise DataError(f"pairs must be integers of shape (m, 2), got {pairs.dtype} {pairs.shape}")
    if pairs.size and not (pairs.min() >= 0 and pairs.max() < L):
        raise DataError(f"pairs must be pairs of labels 0 to {L - 1}")
    if (pairs[:, 0] >= pairs[:, 1]).any() or len(np.unique(pairs, axis=0)) < len(pairs):
        raise DataError("pairs must be different, each with the smaller label first")
    return read_only(pairs, np.int64)


def check_label_cost(cost: Any, L: int) -> np.ndarray:
    """Costs (L, 2), checked to be finite and >= 0."""
    values = np.ones((L, 1)) if cost is None else np.asarray(cost, np.float64)
    if values.shape == (L,):
        values = values[:, None]
    if values.shape not in ((L, 1), (L, 2)):
        raise DataError(
            f"label_cost has shape {values.shape}: {L} labels need shape ({L},) or ({L}, 2)"
        )
    bad = ~np.isfinite(values) | (values < 0)
    if bad.any():
        k = int(np.argwhere(bad)[0, 0])
        raise DataError(f"the cost of label {k} is {values[k].tolist()}: costs must be >= 0")
    return read_only(np.broadcast_to(values, (L, 2)).copy(), np.float64)
