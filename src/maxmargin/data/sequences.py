"""Sequences of tokens, the input of a chain, from the forms that users may pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import DataError
from .checked import (
    WEIGHTS,
    NotFinite,
    check_finite_rows,
    check_offsets,
    csr_rows,
    first_bad_weight,
    plain_array,
)


class Sequences(Sequence[Any]):
    """The feature rows of all tokens in one matrix, and the start of each sequence.

    Parameters
    ----------
    matrix : CSR matrix or array (total, d)
        One row per token.
    offsets : int array (n + 1,)
        Sequence i is ``matrix[offsets[i]:offsets[i + 1]]``.
    weight : array (total,), optional
        Weights >= 0 of the tokens, which multiply the loss of an error.
    """

    def __init__(self, matrix: Any, offsets: Any, weight: Any = None):
        import scipy.sparse as sp

        sparse = sp.issparse(matrix)
        self.matrix = (
            csr_rows(matrix, "the matrix of tokens") if sparse else plain_array(matrix, "X")
        )
        if self.matrix.ndim != 2:
            raise DataError(
                f"the features of tokens must be a matrix, got shape {self.matrix.shape}"
            )
        self.offsets = check_offsets(offsets, self.matrix.shape[0])
        self.weight = None if weight is None else self._check_weight(weight)

    @property
    def lengths(self) -> np.ndarray:
        """Number of tokens of each sequence, array (n,)."""
        return np.diff(self.offsets)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.matrix.shape[1]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, key: Any) -> Any:
        """The rows of one sequence, or the ``Sequences`` of a slice or an array of numbers."""
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            return self.matrix[self.offsets[i] : self.offsets[i + 1]]
        chosen = np.arange(len(self))[key]
        tokens = tokens_of(self.offsets, chosen)
        weight = None if self.weight is None else self.weight[tokens]
        return Sequences(self.matrix[tokens], offsets_of(self.lengths[chosen]), weight)

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def locate(self, row: int) -> tuple[int, int]:
        """The numbers of sequence and token of a row of the matrix, from 0."""
        i = int(np.searchsorted(self.offsets, row, side="right")) - 1
        return i, int(row - self.offsets[i])

    def _check_weight(self, weight: Any) -> np.ndarray:
        weight = plain_array(weight, "token_weight", np.float64)
        if weight.shape != (self.matrix.shape[0],):
            raise DataError(
                f"token weights have shape {weight.shape}, but there are "
                f"{self.matrix.shape[0]} tokens: give one weight per token"
            )
        row = first_bad_weight(weight)
        if row is not None:
            i, t = self.locate(row)
            raise DataError(
                f"the weight of token {t} of sequence {i} is {weight[row]}: {WEIGHTS}",
                sequence=i,
                token=t,
            )
        return weight


class LabelSequences:
    """Class numbers of the tokens of sequences, end to end.

    Attributes
    ----------
    flat : int array (total,)
    offsets : int64 array (n + 1,)
        Sequence i is ``flat[offsets[i]:offsets[i + 1]]``.
    """

    def __init__(self, flat: np.ndarray, offsets: np.ndarray):
        self.flat, self.offsets = flat, offsets

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: Any) -> Any:
        """The labels of one sequence; of several (a slice or array), the same kind of object."""
        if isinstance(i, int | np.integer):
            i = range(len(self))[i]
            return self.flat[self.offsets[i] : self.offsets[i + 1]]
        chosen = np.arange(len(self))[i]
        offsets = offsets_of(np.diff(self.offsets)[chosen])
        return LabelSequences(self.flat[tokens_of(self.offsets, chosen)], offsets)


def offsets_of(lengths: Any) -> np.ndarray:
    """The start of each sequence, followed by the total number of tokens, int64 array (n + 1,)."""
    return np.concatenate([[0], np.cumsum(np.asarray(lengths, np.int64))])


def tokens_of(offsets: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """The numbers of all tokens of the chosen sequences, int64 array."""
    pairs = zip(offsets[chosen].tolist(), offsets[chosen + 1].tolist(), strict=True)
    return np.concatenate([np.arange(0), *(np.arange(start, stop) for start, stop in pairs)])


def stack_sequences(X: Any) -> Sequences:
    """A list of matrices (L_i, d), sparse or dense, as ``Sequences``."""
    import scipy.sparse as sp

    if isinstance(X, Sequences):
        return X
    if sp.issparse(X) or getattr(X, "ndim", 3) == 2:
        raise DataError(
            "X is one matrix: it must be a list of sequences; for a single sequence use [X]"
        )
    parts = [_as_matrix(x, i) for i, x in enumerate(X)]
    if not parts:
        raise DataError("X is empty: at least one sequence is needed")
    d = next((x.shape[1] for x in parts if x.ndim == 2 and x.shape[0]), None)
    for i, x in enumerate(parts):
        if x.size == 0 and x.ndim < 2:
            parts[i] = np.zeros((0, d or 0))
        elif x.ndim != 2:
            raise DataError(
                f"sequence {i} has shape {x.shape}: it must be a matrix with one row per token",
                sequence=i,
            )
        elif x.shape[1] != d and x.shape[0]:
            raise DataError(
                f"sequence {i} has {x.shape[1]} features, the sequences before it have {d}",
                sequence=i,
            )
        if not sp.issparse(x) and x.dtype.kind not in "fiub":
            raise DataError(
                f"sequence {i} has type {x.dtype}: features must be numbers", sequence=i
            )
    offsets = offsets_of([x.shape[0] for x in parts])
    parts = [x for x in parts if x.shape[0]] or [np.zeros((0, d or 0))]
    if any(sp.issparse(x) for x in parts):
        matrix: Any = sp.vstack([sp.csr_array(x) for x in parts], format="csr")
    else:
        matrix = np.concatenate(parts)
    return Sequences(matrix, offsets)


def _as_matrix(x: Any, i: int) -> Any:
    """A sparse matrix as CSR, anything else as an array."""
    if hasattr(x, "tocsr"):
        return csr_rows(x, f"sequence {i}")
    try:
        return plain_array(x, f"sequence {i}")
    except DataError:
        raise
    except ValueError as error:
        raise DataError(
            f"the rows of sequence {i} have different lengths: {error}", sequence=i
        ) from error


def check_finite(X: Sequences) -> None:
    """Raise a DataError for NaN or infinity that names the sequence and the token."""
    try:
        check_finite_rows(X.matrix)
    except NotFinite as error:
        i, t = X.locate(error.row)
        raise DataError(
            f"feature {error.column} of token {t} of sequence {i} is {error.value}: features must "
            "be finite",
            sequence=i,
            token=t,
        ) from None
