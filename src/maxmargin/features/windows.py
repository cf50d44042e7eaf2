"""The features of tokens by a template: for blocks of tokens, as nodes of a tree of names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .coding import BLOCK
from .functions import Function, apply_all
from .parsing import Term
from .rows import Rows
from .template import Template
from .tree import NameTree, escaped


class Occurrences(NamedTuple):
    """Features of one pattern in a block of tokens.

    Attributes
    ----------
    tokens : int array (m,) or None
        The token of each entry, in increasing order; None if every token has one entry.
    nodes : int32 array (m,)
        The node of each entry; -1 if it is not in the tree.
    """

    tokens: np.ndarray | None
    nodes: np.ndarray


#: The number of tokens of a block, and the entries of each pattern.
Block = tuple[int, list[Occurrences]]


class Table(NamedTuple):
    """Values of a term for each distinct string of its column.

    Attributes
    ----------
    numbers : int32 array
        The values as numbers: those of the first string, then those of the second, and so on.
    counts : int array or None
        Number of values per string; None if every string has one.
    """

    numbers: np.ndarray
    counts: np.ndarray | None


class Values(NamedTuple):
    """The values of a term, with ``counts`` as in `Table`.

    ``special`` says whether a value has a letter that is escaped in names with several values.
    """

    values: list[str]
    counts: np.ndarray | None
    special: bool


class Windows:
    """The windows of a template over rows.

    Positions outside of a sequence also have codes, after those of the column's values: first the
    one just before a sequence, then the one before that, and so on; then those after it.

    Parameters
    ----------
    rows : Rows
    template : Template
        Expanded to the number of columns of the rows.
    tree : NameTree
    grow : bool
        Whether features that are not in the tree are added.
    """

    def __init__(self, rows: Rows, template: Template, tree: NameTree, grow: bool):
        self.rows = rows
        self.template = template
        self.tree, self.grow = tree, grow
        self.reach = template.reach  # the template would search all its patterns each time
        reach = range(1, self.reach + 1)
        if template.padding:
            before, after = template.padding
            self.outside = [before] * len(reach) + [after] * len(reach)
        else:
            self.outside = [f"<-{i}>" for i in reach] + [f"<+{i}>" for i in reach]
        lengths = np.diff(rows.offsets)
        self.start = np.repeat(rows.offsets[:-1].astype(np.int32), lengths)
        self.stop = np.repeat(rows.offsets[1:].astype(np.int32), lengths)
        self._values: dict[tuple[int, tuple[Function, ...]], Values] = {}
        self._tables_of: dict[tuple[int, tuple[Function, ...], bool], Table] = {}
        self.tables = [self._tables(p) for p in range(len(template.patterns))]

    def spans(self) -> Iterator[slice]:
        """The tokens of each block."""
        n = self.rows.n_tokens
        return (slice(start, min(start + BLOCK, n)) for start in range(0, n, BLOCK))

    def block(self, span: slice) -> Block:
        """The features of the tokens of a block; threads may work on several if nothing grows."""
        slots: dict[tuple[int, int], np.ndarray] = {}
        patterns = range(len(self.tables))
        return span.stop - span.start, [self._find(p, span, slots) for p in patterns]

    def _find(
        self, pattern: int, span: slice, slots: dict[tuple[int, int], np.ndarray]
    ) -> Occurrences:
        """The occurrences of a pattern for the tokens of a block."""
        tokens, nodes = None, np.full(span.stop - span.start, pattern, np.int32)
        terms = zip(self.template.patterns[pattern], self.tables[pattern], strict=True)
        for number, (term, table) in enumerate(terms):
            place = (term.column, term.offset)
            if place not in slots:
                slots[place] = self._slots(term, span)
            at = slots[place] if tokens is None else slots[place][tokens]
            if table.counts is not None:
                repeat, at = _every_value(table.counts, at)
                tokens = repeat if tokens is None else tokens[repeat]
                nodes = nodes[repeat]
            found = table.numbers[at]
            # The values of the first term are stored as nodes.
            nodes = self.tree.children(nodes, found, self.grow) if number else found
        return Occurrences(tokens, nodes)

    def _slots(self, term: Term, span: slice) -> np.ndarray:
        """The code of the string at an offset from each token of a block."""
        column = self.rows.columns[term.column]
        if term.offset == 0:
            return column.codes[span]
        target = np.arange(span.start, span.stop, dtype=np.int32) + np.int32(term.offset)
        if term.offset < 0:
            beyond = self.start[span] - target
            number = np.int32(len(column.values) - 1) + beyond
            return np.where(beyond > 0, number, column.codes[np.maximum(target, 0)])
        beyond = target - self.stop[span]
        number = np.int32(len(column.values) + self.reach) + beyond
        inside = column.codes[np.minimum(target, len(column.codes) - 1)]
        return np.where(beyond >= 0, number, inside)

    def _tables(self, pattern: int) -> list[Table]:
        """The values of each term of a pattern; those of the first term as nodes."""
        terms = self.template.patterns[pattern]
        tables = [self._table(term, len(terms) > 1) for term in terms]
        if tables:
            numbers, counts = tables[0]
            nodes = np.full(len(numbers), pattern, np.int32)
            tables[0] = Table(self.tree.children(nodes, numbers, self.grow), counts)
        return tables

    def _table(self, term: Term, combined: bool) -> Table:
        """The values of the term's functions for each string of its column."""
        place = (term.column, term.functions)
        if place not in self._values:
            self._values[place] = self._apply(term)
        values, counts, special = self._values[place]
        key = (*place, combined and special)
        if key not in self._tables_of:
            strings = map(escaped, values) if combined and special else values
            numbers = self.tree.numbers(strings, len(values), self.grow)
            self._tables_of[key] = Table(numbers, counts)
        return self._tables_of[key]

    def _apply(self, term: Term) -> Values:
        """The values for the strings of the column, and for the positions outside."""
        strings = self.rows.columns[term.column].values
        # A position outside has no letters, unless the template defines a padding word.
        functions = term.functions if self.template.padding else ()
        if not term.functions:
            values, counts = [*strings, *self.outside], None
        else:
            values, each = _apply(term.functions, strings)
            more, more_each = _apply(functions, self.outside)
            values, several = values + more, np.array(each + more_each, np.int64)
            counts = None if (several == 1).all() else several
        everything = "".join(values)
        return Values(values, counts, "|" in everything or "\\" in everything)


def _apply(functions: tuple[Function, ...], strings: list[str]) -> tuple[list[str], list[int]]:
    """The values of all strings, and the number of values of each."""
    values: list[str] = []
    counts: list[int] = []
    for string in strings:
        found = apply_all(functions, string)
        values += found
        counts.append(len(found))
    return values, counts


def _every_value(counts: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For strings with several values: the entry that each value belongs to, and its place."""
    starts = np.cumsum(counts) - counts
    here = counts[slots]
    repeat = np.repeat(np.arange(len(slots), dtype=np.int32), here)
    begins = starts[slots] - (np.cumsum(here) - here)
    return repeat, begins[repeat] + np.arange(len(repeat))
