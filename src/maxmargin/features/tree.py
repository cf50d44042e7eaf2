"""Names of features as paths in a tree, so that features are found by integers, not by strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat

import numpy as np

from ..errors import DataError
from .coding import Codes
from .template import Template
from .words import Words

_ESCAPE = str.maketrans({"\\": "\\\\", "|": "\\|"})

#: The number of a string is in the lower half of a path.
_NUMBER = (1 << 32) - 1


class NameTree:
    """The features of a template: each is a path from the node of its pattern along its values.

    Strings are numbered, and a tree of integers takes the place of an index of names: the names
    of the features of new tokens, of which most are unknown, need not be made.

    Parameters
    ----------
    template : Template
        Expanded to the number of columns of the tokens. Its patterns are the first nodes.
    """

    def __init__(self, template: Template):
        self.template = template
        self.depths = [len(pattern) for pattern in template.patterns]
        names = zip(template.names, self.depths, strict=True)
        self.heads = [f"{name}=" if depth else name for name, depth in names]
        self.strings = Codes()
        self.count = len(self.heads)
        self.paths = np.zeros(0, np.int64)
        self._make_room(1024)

    @classmethod
    def of_names(cls, template: Template, names: list[str]) -> tuple[NameTree, np.ndarray]:
        """The tree of these names, and for each node the position of its name, or -1.

        Names that the template cannot give are left out.
        """
        tree = cls(template)
        words, parts, counts = _parts(names)
        tree.strings.update(zip(words, range(len(words)), strict=True))
        patterns = np.full(len(words), -1, np.int32)
        for p, name in enumerate(template.names):
            if name in tree.strings:
                patterns[tree.strings[name]] = p
        first = np.cumsum(counts) - counts
        nodes = patterns[parts[first]]
        nodes[counts != np.array([*tree.depths, 0])[nodes] + 1] = -1
        for number in range(1, max(tree.depths, default=0) + 1):
            more = np.flatnonzero((counts > number) & (nodes >= 0))
            nodes[more] = tree.children(nodes[more], parts[first[more] + number], True)
        columns, known = np.full(tree.count, -1, np.int32), np.flatnonzero(nodes >= 0)
        columns[nodes[known]] = known
        if np.count_nonzero(columns >= 0) < len(known):
            raise DataError("the names of features are not all different")
        return tree, columns

    def numbers(self, strings: Iterable[str], n: int, grow: bool) -> np.ndarray:
        """The numbers of n strings; -1 for unknown ones, unless the tree grows."""
        if grow:
            return self.strings.encode(strings, n)
        return np.fromiter(map(self.strings.get, strings, repeat(-1)), np.int32, n)

    def children(self, parents: np.ndarray, numbers: np.ndarray, grow: bool) -> np.ndarray:
        """The child of each parent with the number of a string; -1 if there is none.

        Parameters
        ----------
        parents, numbers : int32 arrays (n,)
        grow : bool
            Add missing children.
        """
        from .nodes import find_children  # compiled, so only when features are extracted

        if grow:
            self._make_room(len(parents))
        found = np.empty(len(parents), np.int32)
        self.count = find_children(
            parents, numbers, self.table, self.paths, self.count, grow, found
        )
        return found

    def _make_room(self, n: int) -> None:
        """Make the table large enough for n more nodes."""
        if self.count + n <= len(self.paths):
            return
        from .nodes import find_children

        old, roots = self.paths[: self.count], len(self.heads)
        size = 1 << (2 * (self.count + n)).bit_length()
        self.table = np.full(2 * size, -1)
        self.paths = np.full(size // 2, -1)
        if len(old) > roots:  # adding them in their order gives them the same numbers
            parents, numbers = (old[roots:] >> 32), (old[roots:] & _NUMBER)
            find_children(
                parents.astype(np.int32), numbers.astype(np.int32), self.table, self.paths, roots,
                True, np.empty(len(parents), np.int32),
            )  # fmt: skip

    def finish(self) -> None:
        """Free the memory for further nodes; only `names` works afterwards."""
        self.paths, self.table = self.paths[: self.count].copy(), np.empty(0, np.int64)

    def names(self, nodes: np.ndarray) -> list[str]:
        """The names of the features at these nodes."""
        top = nodes.astype(np.int64)
        while (inner := top >= len(self.heads)).any():
            top[inner] = self.paths[top[inner]] >> 32
        strings, names = list(self.strings), np.empty(len(nodes), object)
        for p, (head, depth) in enumerate(zip(self.heads, self.depths, strict=True)):
            own = np.flatnonzero(top == p)
            node, values = nodes[own].astype(np.int64), []
            for _ in range(depth):
                path = self.paths[node]
                values.append(map(strings.__getitem__, (path & _NUMBER).tolist()))
                node = path >> 32
            names[own] = _join(head, values[::-1], len(own))
        return names.tolist()


def _join(head: str, values: list[Iterator[str]], n: int) -> list[str]:
    if len(values) <= 1:
        return [head + value for value in values[0]] if values else [head] * n
    return [head + text for text in map("|".join, zip(*values, strict=True))]


def escaped(value: str) -> str:
    """The value in a name with several: otherwise ``a|b, c`` would look like ``a, b|c``."""
    return value.translate(_ESCAPE) if "|" in value or "\\" in value else value


def _parts(names: list[str]) -> tuple[list[str], np.ndarray, np.ndarray]:
    """The parts of all names: the distinct ones, their numbers, and how many each name has."""
    from .word_table import split_names

    each = [name.encode("utf-8", "surrogatepass") for name in names]
    lengths = np.fromiter(map(len, each), np.int64, len(each))
    encoded = b"".join(each)
    text = np.frombuffer(encoded, np.uint8)
    room = len(names) + encoded.count(b"=") + encoded.count(b"|")
    begins, ends = np.empty(room, np.int64), np.empty(room, np.int64)
    counts = np.empty(len(names), np.int64)
    m = split_names(text, lengths, begins, ends, counts)
    words = Words()
    parts = words.encode(text, begins[:m], ends[:m])
    return [word.decode("utf-8", "surrogatepass") for word in words.since(0)], parts, counts
