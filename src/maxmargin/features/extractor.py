"""Feature matrices from rows of columns and a template."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from functools import cached_property
from typing import Any

import numpy as np

from ..data.sequences import Sequences
from ..engine.threads import Threads, n_threads, no_limit
from ..errors import DataError
from .coding import rank
from .matrix import binary_matrix, sort_rows
from .rows import Rows
from .template import Template
from .tree import NameTree
from .vocabulary import Vocabulary
from .windows import Block, Windows


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
        self._tree: tuple[NameTree, np.ndarray] | None = None  # made at the first transform
        self._nodes: tuple[NameTree, np.ndarray] | None = None  # until the names are made

    def __getstate__(self) -> dict[str, Any]:
        """The names in place of the trees, which they give again."""
        hasattr(self, "vocabulary_")  # makes the names
        return self.__dict__ | {"_tree": None}

    @classmethod
    def from_names(cls, template_text: str, names: Iterable[str]) -> Extractor:
        """A fitted extractor with this template and these names of columns."""
        extractor = cls(Template.from_text(template_text))
        extractor.template_ = extractor.template
        extractor.vocabulary_ = Vocabulary(names)
        return extractor

    @cached_property
    def vocabulary_(self) -> Vocabulary:
        """The names of the features; made when first used, as they take more memory than nodes."""
        known = self._nodes
        if known is None and "vocabulary_" not in self.__dict__:
            raise AttributeError("the extractor has no features yet; call fit_transform first")
        if known is not None:  # otherwise another thread has just made them
            self.__dict__["vocabulary_"] = Vocabulary(known[0].names(known[1]))
            self._nodes = None
        return self.__dict__["vocabulary_"]

    @property
    def names_(self) -> list[str]:
        """The names of the columns."""
        return self.vocabulary_.names_

    def fit_transform(self, rows: Any, n_jobs: int | None = 1) -> Sequences:
        """Choose the columns and extract the features.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            A token is a tuple of str, or a str.
        n_jobs : int, optional
            Number of threads; -1 for all cores. The result does not depend on it.

        Returns
        -------
        Sequences
            ``matrix`` is a CSR matrix (total tokens, n_features) of ones, in float32, with sorted
            indices.
        """
        rows = Rows.of(rows)
        if not rows.n_tokens:
            raise DataError("there are no tokens to extract features from")
        template = _expand(Template(self.template), rows)
        tree = NameTree(template)
        windows = Windows(rows, template, tree, grow=True)
        blocks = [windows.block(span) for span in windows.spans()]
        columns, n = rank(_count(blocks, tree.count), self.min_count)
        if not n:
            raise DataError(
                f"no feature occurs min_count = {self.min_count} times; use a lower min_count"
            )
        self.template_ = template
        self.__dict__.pop("vocabulary_", None)
        tree.finish()
        self._nodes = tree, np.argsort(columns, kind="stable")[-n:].astype(np.int32)
        self._tree = None
        return _sequences(rows, blocks, lambda block: block, columns, n, n_jobs)

    def transform(self, rows: Any, n_jobs: int | None = 1) -> Sequences:
        """Extract the features seen by `fit_transform`; others are left out.

        Parameters
        ----------
        rows : Rows or list of sequences of tokens
            With the same columns as the rows of `fit_transform`.
        n_jobs : int, optional
            Number of threads; -1 for all cores.

        Returns
        -------
        Sequences
        """
        if not hasattr(self, "vocabulary_"):
            raise DataError("the extractor has no features yet; call fit_transform first")
        rows = Rows.of(rows)
        if not rows.n_tokens:
            return Sequences(binary_matrix([], len(self.names_)), rows.offsets)
        template = _expand(self.template_, rows)
        if self._tree is None or self._tree[0].template.text != template.text:
            self._tree = NameTree.of_names(template, self.names_)
        tree, columns = self._tree
        windows = Windows(rows, template, tree, grow=False)
        return _sequences(rows, windows.spans(), windows.block, columns, len(self.names_), n_jobs)


def _expand(template: Template, rows: Rows) -> Template:
    """The template for the columns of the rows."""
    template = template.expand(rows.n_columns)
    if rows.n_columns < template.n_columns:
        raise DataError(
            f"the template needs {template.n_columns} columns, the tokens have "
            f"{rows.n_columns}; correct the rows, or use another template"
        )
    return template


def _count(blocks: list[Block], n_nodes: int) -> np.ndarray:
    """How often each node occurs."""
    counts = np.zeros(n_nodes, np.int64)
    for _, entries in blocks:
        nodes = np.concatenate([own for _, own in entries])
        np.add.at(counts, nodes, 1)
    return counts


def _sequences(
    rows: Rows,
    pieces: Iterable[Any],
    block: Callable[[Any], Block],
    columns: np.ndarray,
    n_features: int,
    n_jobs: int | None,
) -> Sequences:
    """The matrix of all entries, from the block of each piece and the column of each node."""
    columns = np.append(columns, np.int32(-1))  # the place of entries without a node

    def sort(piece: Any) -> tuple[np.ndarray, np.ndarray]:
        n, entries = block(piece)
        return sort_rows(entries, columns, n)

    with closing(Threads(n_threads(n_jobs))) as threads:
        found = threads.each(sort, pieces, no_limit)
    return Sequences(binary_matrix(found, n_features), rows.offsets)
