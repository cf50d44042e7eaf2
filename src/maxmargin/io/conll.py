"""Files in CoNLL format: one token per line with its columns, and a blank line after a sequence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from ..features.coding import cut
from ..features.rows import Column, Rows
from ..features.words import Words
from .sources import byte_blocks, display_name, open_source, refuse_zero_bytes

_DOCUMENT = b"-DOCSTART-"


def read_conll(path: Any, label: int | None = -1) -> tuple[Rows, list[list[str]] | None]:
    """Read tokens and their labels from a file in CoNLL format.

    Columns are separated by spaces or tabs, sequences by one or more blank lines. Lines that
    begin with ``-DOCSTART-`` are skipped.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    label : int or None
        The column with the labels, counted from the end if negative; None if the file has no
        labels.

    Returns
    -------
    rows : Rows
        The other columns, like a list of sequences, each a list of tuples of str.
    labels : list of lists of str, or None
        The labels of each sequence; None without a column of labels.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is wrong; the message names file and line.
    """
    name = display_name(path)
    reader = _Reader(name)
    with open_source(path) as stream:
        for first, block in byte_blocks(stream):
            reader.add(block, first)
    columns, offsets = reader.finish()
    if label is None:
        return Rows(columns, offsets), None
    if not -len(columns) <= label < len(columns):
        raise DataError(
            f"there is no column {label} for the labels: tokens have {len(columns)} columns, "
            f"numbered from 0 to {len(columns) - 1}, or from -1 down to {-len(columns)}",
            path=name,
        )
    if len(columns) == 1:
        raise DataError(
            "has only one column, which cannot be both words and labels; read it with label=None",
            name,
        )
    labels = columns.pop(label).strings()
    return Rows(columns, offsets), list(cut(labels, offsets))


class _Reader:
    """Collects the columns of a file block by block, as codes, because most strings repeat."""

    def __init__(self, name: str):
        self.name = name
        self.width = 0
        self.first_line = 0
        self.n_tokens = 0
        self.ends: list[np.ndarray] = [np.zeros(1, np.int64)]
        self.words: list[Words] = []
        self.values: list[list[str]] = []
        self.codes: list[list[np.ndarray]] = []

    def add(self, block: bytes, first: int) -> None:
        """Add a block of whole lines; the first line has this number."""
        refuse_zero_bytes(block, self.name, first)
        if _DOCUMENT in block:
            block = _without_documents(block)
        text = np.frombuffer(block, np.uint8)
        begins, ends, widths = find_words(text)
        blank = widths == 0
        self.ends.append(self.n_tokens + np.cumsum(~blank)[blank])
        tokens = np.flatnonzero(widths)
        if not tokens.size:
            return
        if not self.width:
            self._begin(int(widths[tokens[0]]), first + int(tokens[0]))
        wrong = tokens[widths[tokens] != self.width]
        if wrong.size:
            raise self._wrong_width(int(widths[wrong[0]]), first + int(wrong[0]))
        for number in range(self.width):
            own = slice(number, None, self.width)
            codes = self.words[number].encode(text, begins[own].copy(), ends[own].copy())
            self._decode(number, codes, first + tokens)
            self.codes[number].append(codes)
        self.n_tokens += tokens.size

    def finish(self) -> tuple[list[Column], np.ndarray]:
        """The columns and offsets of the whole file."""
        if not self.n_tokens:
            raise DataError(
                "contains no tokens; write one per line with its columns, and a blank line after "
                "each sequence",
                path=self.name,
            )
        columns = [
            Column(values, np.concatenate(codes))
            for values, codes in zip(self.values, self.codes, strict=True)
        ]
        ends = np.concatenate([*self.ends, [self.n_tokens]])
        return columns, np.unique(ends)  # consecutive blank lines end the same sequence

    def _begin(self, width: int, line: int) -> None:
        self.width, self.first_line = width, line
        self.words = [Words() for _ in range(width)]
        self.values = [[] for _ in range(width)]
        self.codes = [[] for _ in range(width)]

    def _decode(self, number: int, codes: np.ndarray, lines: np.ndarray) -> None:
        """Make strings of the new words of a column."""
        values = self.values[number]
        for word in self.words[number].since(len(values)):
            try:
                values.append(word.decode())
            except UnicodeDecodeError as error:
                shown = word.decode(errors="backslashreplace")
                raise DataError(
                    f"column {number}, '{shown}', is not UTF-8; convert the file, for example "
                    "with: iconv -f latin1 -t utf-8",
                    path=self.name,
                    line=int(lines[np.argmax(codes == len(values))]),
                ) from error

    def _wrong_width(self, width: int, line: int) -> DataError:
        return DataError(
            f"{width} columns, where the first token (line {self.first_line}) has "
            f"{self.width}; give every token the same columns, and end sequences by blank lines "
            "(for plain sentences, one per line, use maxmargin predict --raw)",
            path=self.name,
            line=line,
        )


def find_words(text: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The positions where words begin and end, and the number of words of each line.

    Words are separated as by ``bytes.split``: at ASCII spaces only, because other Unicode spaces
    may be part of a word.
    """
    from ..features.word_table import split_lines  # compiled, so only when it is needed

    begins, ends = np.empty((2, len(text) // 2 + 1), np.int64)
    widths = np.empty(np.count_nonzero(text == ord("\n")) + 1, np.int64)
    n, lines = split_lines(text, begins, ends, widths)
    return begins[:n], ends[:n], widths[:lines]


def _without_documents(block: bytes) -> bytes:
    """The block with an empty line in place of each ``-DOCSTART-`` line."""
    lines = block.split(b"\n")
    return b"\n".join(b"" if line.split(None, 1)[:1] == [_DOCUMENT] else line for line in lines)
