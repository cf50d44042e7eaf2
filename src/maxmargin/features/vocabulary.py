"""Names of features and their columns, for features that users compute themselves."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .coding import in_columns, rank
from .entries import flat_entries

if TYPE_CHECKING:
    from ..data.sequences import Sequences


class Vocabulary:
    """Turns sequences of tokens with named features into sequences of feature rows.

    A token is a dict from names to values, or a list of names. A value is a number, a bool (1 or 0)
    or a str, which gives the feature ``name=value`` with the value 1. Names in a list have the
    value 1. As in CRFsuite a value may also be a list or a set of str, which gives a feature
    ``name=value`` for each of them, or another dict, whose features get the prefix ``name:``.

    Parameters
    ----------
    names : iterable of str, optional
        The names of the columns, if already known.
    min_count : int
        Features that occur fewer times in the data of `fit_transform` are left out.

    Attributes
    ----------
    names_ : list of str
        The names of the columns; after `fit_transform`, the most frequent first.

    Examples
    --------
    >>> vocabulary = Vocabulary()
    >>> X = vocabulary.fit_transform([[{"word": "a", "n": 2}, {"word": "b", "n": 0.5}]])
    >>> vocabulary.names_
    ['n', 'word=a', 'word=b']
    >>> X.matrix.toarray()
    array([[2. , 1. , 0. ],
           [0.5, 0. , 1. ]])
    """

    def __init__(self, names: Iterable[str] | None = None, min_count: int = 1):
        self.min_count = min_count
        self._index: dict[str, int] | None = None
        if names is not None:
            self.names_ = list(names)

    def __len__(self) -> int:
        return len(self.names_)

    def lookup(self, names: Iterable[str], n: int) -> np.ndarray:
        """The columns of n names, an array (n,); -1 for names without a column."""
        if self._index is None:
            check_distinct_names(self.names_)
            self._index = {name: i for i, name in enumerate(self.names_)}
        return np.fromiter(map(self._index.get, names, repeat(-1)), np.int32, n)

    def fit_transform(self, X: Any) -> Sequences:
        """Assign a column to every name in X, and make the matrix.

        Parameters
        ----------
        X : list of sequences, each a list of dicts or of lists of str
            The features of each token: names with values, or names alone.

        Returns
        -------
        Sequences
            ``matrix`` is a CSR matrix (total tokens, n_features) in float64 with sorted indices.

        Raises
        ------
        DataError
            If a value is not finite or has a wrong type; the message names sequence, token and
            feature.
        """
        entries = flat_entries(X)
        counts = np.bincount(entries.codes, minlength=len(entries.names))
        columns, n = rank(counts, self.min_count)
        if len(counts) and not n:
            raise DataError(
                f"no feature occurs min_count = {self.min_count} times; use a lower min_count"
            )
        kept = compress(entries.names, (columns >= 0).tolist())
        self.names_ = in_columns(kept, columns[columns >= 0], n) if n else []
        self._index = None
        return entries.sequences(columns, n)

    def transform(self, X: Any) -> Sequences:
        """Make the matrix; names without a column are left out."""
        if not hasattr(self, "names_"):
            raise DataError("the vocabulary has no names yet; call fit_transform first")
        entries = flat_entries(X)
        columns = self.lookup(entries.names, len(entries.names))
        return entries.sequences(columns, len(self.names_))


def check_distinct_names(names: list[str]) -> None:
    """Raise a DataError if a name occurs twice."""
    if len(set(names)) < len(names):
        raise DataError("the names of features are not all different")
