"""From rows of columns to feature matrices, by a template."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .coding import in_columns, rank, token_matrix
from .rows import Rows
from .template import Template
from .vocabulary import Vocabulary
from .windows import Found, Windows

if TYPE_CHECKING:
    from ..data.sequences import Sequences


class Extractor:
    r"""Turns rows of columns, as `maxmargin.io.read_conll` gives them, into feature sequences.

    Parameters
    ----------
    template : str, path or Template
        The name of a built-in template, a file, or the text; see `Template`.
    min_count : int
        Features that occur less often in the rows of `fit_transform` are left out.

    Attributes
    ----------
    template_ : Template
        The template for the number of columns seen; its ``text`` and ``names_`` are all that
        `from_names` needs.
    vocabulary_ : Vocabulary
    names_ : list of str
        The features of the columns, the most frequent first: the weights of features that are
        used often then lie together in memory.

    Examples
    --------
    >>> extractor = Extractor("word[-1]\nword[-1] | word[0]")
    >>> extractor.fit_transform([["a", "dog"], ["a", "cat"]]).matrix.shape
    (4, 5)
    >>> extractor.names_[:3]
    ['word[-1]=a', 'word[-1]=<-1>', 'word[-1]|word[0]=<-1>|a']
    """

    def __init__(self, template: Any = "default", min_count: int = 1):
        self.template = template
        self.min_count = min_count

    @classmethod
    def from_names(cls, template_text: str, names: Iterable[str]) -> Extractor:
        """The fitted extractor with this template and these names of columns."""
        extractor = cls(Template.from_text(template_text))
        extractor.template_ = extractor.template
        extractor.vocabulary_ = Vocabulary(names)
        return extractor

    @property
    def names_(self) -> list[str]:
        """The features of the columns."""
        return self.vocabulary_.names_

    def fit_transform(self, rows: Any) -> Sequences:
        """Choose the columns, and extract.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            A token is a tuple of str, or a str.

        Returns
        -------
        Sequences
            ``matrix`` is CSR (total tokens, n_features), float32, with ones and sorted indices.
        """
        rows = Rows.of(rows)
        if not rows.n_tokens:
            raise DataError("there are no tokens to take features from")
        template = Template(self.template).expand(rows.n_columns)
        found = _find(rows, template)
        columns, n = rank(np.concatenate([f.features.counts for f in found]), self.min_count)
        if not n:
            raise DataError(f"no feature occurs min_count = {self.min_count} times; lower it")
        by_pattern = _per_pattern(columns, found)
        names = (f.names(own >= 0) for f, own in zip(found, by_pattern, strict=True))
        names = in_columns(chain.from_iterable(names), columns[columns >= 0], n)
        self.template_ = template
        self.vocabulary_ = Vocabulary(names)
        return _sequences(rows, found, by_pattern, n)

    def transform(self, rows: Any) -> Sequences:
        """Extract the features that `fit_transform` has seen; others are left out.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            With the columns of the rows of `fit_transform`.

        Returns
        -------
        Sequences
        """
        if not hasattr(self, "vocabulary_"):
            raise DataError("the extractor has no features yet; call fit_transform first")
        rows = Rows.of(rows)
        found = _find(rows, self.template_.expand(rows.n_columns)) if rows.n_tokens else []
        by_pattern = [self.vocabulary_.lookup(f.names(), len(f.features.first)) for f in found]
        return _sequences(rows, found, by_pattern, len(self.names_))


def _find(rows: Rows, template: Template) -> list[Found]:
    if rows.n_columns < template.n_columns:
        raise DataError(
            f"the template looks at {template.n_columns} columns, the tokens have "
            f"{rows.n_columns}; correct the rows, or use another template"
        )
    windows = Windows(rows, template)
    return [windows.find(pattern) for pattern in template.patterns]


def _per_pattern(columns: np.ndarray, found: list[Found]) -> list[np.ndarray]:
    """The columns of each pattern's own features."""
    return np.split(columns, np.cumsum([len(f.features.first) for f in found])[:-1])


def _sequences(
    rows: Rows, found: list[Found], by_pattern: list[np.ndarray], n_features: int
) -> Sequences:
    """The matrix of all occurrences, given the columns of each pattern's features."""
    from ..data.sequences import Sequences

    none = np.zeros(0, np.int32)
    tokens = np.concatenate([none, *(f.tokens for f in found)])
    occurrences = zip(by_pattern, found, strict=True)
    columns = np.concatenate([none, *(own[f.features.inverse] for own, f in occurrences)])
    values = np.ones(len(tokens), np.float32)
    matrix = token_matrix(tokens, columns, values, (rows.n_tokens, n_features))
    return Sequences(matrix, rows.offsets)
