"""Distinct words in bytes and their numbers, without a Python object for each occurrence."""

from __future__ import annotations

from itertools import pairwise

import numpy as np


class Words:
    """Numbers for words, from 0 in the order in which they are first seen.

    A hash table in compiled code, which compares the bytes of words.
    """

    def __init__(self) -> None:
        self.count = 0
        self._text, self._ends = np.zeros(0, np.uint8), np.zeros(1, np.int64)
        self._hashes, self._table = np.zeros(0, np.uint64), np.zeros(0, np.int32)

    def encode(self, text: np.ndarray, begins: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The numbers of the words ``text[begins[i]:ends[i]]``, an int32 array (n,).

        Parameters
        ----------
        text : uint8 array, read-only
            As by ``np.frombuffer``; there is compiled code only for this.
        begins, ends : int64 arrays (n,)
            Positions in the text, which are not checked.
        """
        from .word_table import number_words  # compiled, so only when it is needed

        self._make_room(len(begins), int((ends - begins).sum()))
        numbers = np.empty(len(begins), np.int32)
        self.count = number_words(
            text, begins, ends, self._text, self._ends, self._hashes, self._table, self.count,
            numbers,
        )  # fmt: skip
        return numbers

    def since(self, first: int) -> list[bytes]:
        """The words from number ``first`` on."""
        ends = self._ends[first : self.count + 1].tolist()
        text = self._text[ends[0] : ends[-1]].tobytes()
        return [text[a - ends[0] : b - ends[0]] for a, b in pairwise(ends)]

    def _make_room(self, n: int, size: int) -> None:
        """Make the arrays large enough for n more words of ``size`` bytes in total."""
        used = int(self._ends[self.count])
        if used + size > len(self._text):
            text = np.empty(2 * (used + size), np.uint8)
            text[:used] = self._text[:used]
            self._text = text
        if self.count + n <= len(self._hashes):
            return
        old, ends = self.count, self._ends
        places = 1 << (2 * (old + n)).bit_length()
        self._ends = np.zeros(places // 2 + 1, np.int64)
        self._hashes, self._table = np.empty(places // 2, np.uint64), np.full(places, -1, np.int32)
        self.count = 0
        if old:  # the words in their order get the same numbers
            text = np.frombuffer(self._text[:used].tobytes(), np.uint8)
            self.encode(text, ends[:old], ends[1 : old + 1])
