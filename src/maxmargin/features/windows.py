"""Occurrences of the patterns of a template in rows, computed for all tokens by integer codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .coding import Codes, Distinct, distinct
from .functions import Function, apply_all
from .parsing import Pattern, Term
from .rows import Rows
from .template import Template

_ESCAPE = str.maketrans({"\\": "\\\\", "|": "\\|"})
_LARGEST_KEY = 2**62


@dataclass(frozen=True)
class Table:
    """The values of a function for each distinct string of a column.

    Attributes
    ----------
    values : list of str
        Distinct values.
    codes : int32 array
        Indices of values: those of the first string, then those of the second, and so on.
    counts : int array or None
        Number of values per string; None if every string has one.
    """

    values: list[str]
    codes: np.ndarray
    counts: np.ndarray | None


@dataclass(frozen=True)
class Found:
    """The features of one pattern.

    Attributes
    ----------
    tokens : int32 array (m,)
        The token of each occurrence, in increasing order.
    features : Distinct
        The distinct features among the m occurrences.
    parts : list of (list of str, int array)
        For each term, its values and the code of the value in each distinct feature.
    """

    name: str
    tokens: np.ndarray
    features: Distinct
    parts: list[tuple[list[str], np.ndarray]]

    def names(self, kept: np.ndarray | None = None) -> Iterator[str]:
        """The names of the features, or only of those kept by a mask."""
        parts = self.parts
        if kept is not None:
            parts = [(values, codes[kept]) for values, codes in parts]
        if not parts:
            n = len(self.features.first) if kept is None else np.count_nonzero(kept)
            return iter([self.name] * n)
        head = self.name + "="
        if len(parts) == 1:
            [(values, codes)] = parts
            return (head + values[code] for code in codes.tolist())
        strings = [_escaped(values, codes) for values, codes in parts]
        return (head + "|".join(values) for values in zip(*strings, strict=True))


def _escaped(values: list[str], codes: np.ndarray) -> Iterator[str]:
    """Escape bars: otherwise ``a|b`` with ``c`` would look like ``a`` with ``b|c``."""
    safe = [
        value.translate(_ESCAPE) if "|" in value or "\\" in value else value for value in values
    ]
    return map(safe.__getitem__, codes.tolist())


class Windows:
    """The windows of a template over rows.

    Positions outside of a sequence also have codes, after those of the column's values: first the
    one just before a sequence, then the one before that, and so on; then those after it.

    Parameters
    ----------
    rows : Rows
    template : Template
        Expanded to the number of columns of the rows.
    """

    def __init__(self, rows: Rows, template: Template):
        self.rows = rows
        self.template = template
        self.reach = template.reach  # the template would search all its patterns each time
        reach = range(1, self.reach + 1)
        if template.padding:
            before, after = template.padding
            self.outside = [before] * len(reach) + [after] * len(reach)
        else:
            self.outside = [f"<-{i}>" for i in reach] + [f"<+{i}>" for i in reach]
        lengths = np.diff(rows.offsets)
        self.tokens = np.arange(rows.n_tokens, dtype=np.int32)
        self.start = np.repeat(rows.offsets[:-1].astype(np.int32), lengths)
        self.stop = np.repeat(rows.offsets[1:].astype(np.int32), lengths)
        self._slots: dict[tuple[int, int], np.ndarray] = {}
        self._tables: dict[tuple[int, tuple[Function, ...]], Table] = {}

    def find(self, pattern: Pattern) -> Found:
        """All occurrences of a pattern, at least one per token."""
        tokens = self.tokens
        parts: list[tuple[Table, np.ndarray]] = []
        for term in pattern:
            table, slots = self._table(term), self._slot(term)
            if len(tokens) != len(slots):
                slots = slots[tokens]
            if table.counts is not None:
                repeat, slots = _every_value(table.counts, slots)
                tokens = tokens[repeat]
                parts = [(other, codes[repeat]) for other, codes in parts]
            parts.append((table, table.codes[slots]))
        key, size = _combine(parts, len(tokens))
        features = distinct(key, size)
        # Only codes of distinct features are kept: those of all occurrences need far more memory.
        named = [(table.values, codes[features.first]) for table, codes in parts]
        return Found(self.template.name(pattern), tokens, features, named)

    def _slot(self, term: Term) -> np.ndarray:
        """The code of the string at an offset from each token."""
        place = (term.column, term.offset)
        if place not in self._slots:
            column = self.rows.columns[term.column]
            target = self.tokens + np.int32(term.offset)
            if term.offset == 0:
                slots = column.codes
            elif term.offset < 0:
                beyond = self.start - target
                number = np.int32(len(column.values) - 1) + beyond
                slots = np.where(beyond > 0, number, column.codes[np.maximum(target, 0)])
            else:
                beyond = target - self.stop
                number = np.int32(len(column.values) + self.reach) + beyond
                inside = column.codes[np.minimum(target, len(target) - 1)]
                slots = np.where(beyond >= 0, number, inside)
            self._slots[place] = slots
        return self._slots[place]

    def _table(self, term: Term) -> Table:
        """The values of the term's functions for each string of its column."""
        key = (term.column, term.functions)
        if key not in self._tables:
            strings = self.rows.columns[term.column].values
            results = [apply_all(term.functions, string) for string in strings]
            # A position outside has no letters, unless the template defines a padding word.
            functions = term.functions if self.template.padding else ()
            results += [apply_all(functions, string) for string in self.outside]
            self._tables[key] = _tabulate(results)
        return self._tables[key]


def _tabulate(results: list[list[str]]) -> Table:
    counts = np.fromiter(map(len, results), np.int64, len(results))
    index = Codes()
    codes = index.encode((value for result in results for value in result), int(counts.sum()))
    return Table(list(index), codes, None if (counts == 1).all() else counts)


def _every_value(counts: np.ndarray, slots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For strings with several values: the entry that each value belongs to, and its place."""
    starts = np.cumsum(counts) - counts
    here = counts[slots]
    repeat = np.repeat(np.arange(len(slots), dtype=np.int32), here)
    begins = starts[slots] - (np.cumsum(here) - here)
    return repeat, begins[repeat] + np.arange(len(repeat))


def _combine(parts: list[tuple[Table, np.ndarray]], n: int) -> tuple[np.ndarray, int]:
    """One number for the combined values of all terms, and an upper bound of these numbers."""
    if len(parts) == 1:
        [(table, codes)] = parts
        return codes, len(table.values)
    key, size = np.zeros(n, np.int64), 1
    for table, codes in parts:
        if size * len(table.values) > _LARGEST_KEY:
            found = distinct(key, size)
            key, size = found.inverse.astype(np.int64), len(found.first)
        key = key * len(table.values) + codes
        size *= len(table.values)
    return key, size
