"""Feature matrices from rows of columns and a template."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import DataError
from .coding import in_columns, rank
from .matrix import Occurrences, binary_matrix
from .rows import Rows
from .template import Template
from .vocabulary import Vocabulary
from .windows import Found, Windows

if TYPE_CHECKING:
    from ..data.sequences import Sequences


class Extractor:
    r"""Turns rows of columns, as read by `maxmargin.io.read_conll`, into feature sequences.

    Parameters
    ----------
    template : str, path or Template
        The name of a built-in template, a file, or the text of a template; see `Template`.
    min_count : int
        Features that occur fewer times in the rows of `fit_transform` are left out.

    Attributes
    ----------
    template_ : Template
        The template expanded to the number of columns seen. `from_names` needs only its ``text``
        and ``names_``.
    vocabulary_ : Vocabulary
        The names of the features and their columns.
    names_ : list of str
        The features of the columns, most frequent first, so that the weights of frequent
        features are close together in memory.

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
        """A fitted extractor with this template and these names of columns."""
        extractor = cls(Template.from_text(template_text))
        extractor.template_ = extractor.template
        extractor.vocabulary_ = Vocabulary(names)
        return extractor

    @property
    def names_(self) -> list[str]:
        """The names of the columns."""
        return self.vocabulary_.names_

    def fit_transform(self, rows: Any) -> Sequences:
        """Choose the columns and extract the features.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            A token is a tuple of str, or a str.

        Returns
        -------
        Sequences
            ``matrix`` is a CSR matrix (total tokens, n_features) of ones, in float32, with sorted
            indices.
        """
        rows = Rows.of(rows)
        if not rows.n_tokens:
            raise DataError("there are no tokens to extract features from")
        template = Template(self.template).expand(rows.n_columns)
        found = _find(rows, template)
        columns, n = rank(np.concatenate([f.features.counts for f in found]), self.min_count)
        if not n:
            raise DataError(
                f"no feature occurs min_count = {self.min_count} times; use a lower min_count"
            )
        by_pattern = _per_pattern(columns, found)
        names = (f.names(own >= 0) for f, own in zip(found, by_pattern, strict=True))
        names = in_columns(chain.from_iterable(names), columns[columns >= 0], n)
        self.template_ = template
        self.vocabulary_ = Vocabulary(names)
        return _sequences(rows, found, by_pattern, n)

    def transform(self, rows: Any) -> Sequences:
        """Extract the features seen by `fit_transform`; others are left out.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            With the same columns as the rows of `fit_transform`.

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
            f"the template needs {template.n_columns} columns, the tokens have "
            f"{rows.n_columns}; correct the rows, or use another template"
        )
    windows = Windows(rows, template)
    return [windows.find(pattern) for pattern in template.patterns]


def _per_pattern(columns: np.ndarray, found: list[Found]) -> list[np.ndarray]:
    """The columns of the features of each pattern."""
    return np.split(columns, np.cumsum([len(f.features.first) for f in found])[:-1])


def _sequences(
    rows: Rows, found: list[Found], by_pattern: list[np.ndarray], n_features: int
) -> Sequences:
    """The matrix of all occurrences, from the columns of each pattern's features."""
    from ..data.sequences import Sequences

    occurrences = [
        Occurrences(f.tokens, f.features.inverse, own)
        for f, own in zip(found, by_pattern, strict=True)
    ]
    return Sequences(binary_matrix(occurrences, (rows.n_tokens, n_features)), rows.offsets)
