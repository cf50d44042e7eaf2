"""Example files in the format of svm_light.

An example is one line, ``target index:value index:value ... # comment``, with increasing indices
from 1 on. ``qid:``, ``sid:`` and ``cost:`` tokens may follow the target.

A file is parsed in blocks of lines. ``_parse_clean`` parses a whole block with compiled code
and gives up at anything unusual. ``CarefulParser`` then reads the same lines token by token, and
either accepts them or reports what is wrong and where.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import DataError
from .sources import display_name, line_blocks, open_source
from .svmlight_careful import CarefulParser, Rows, is_text, show, to_float, to_int

#: The largest feature index: the column indices of X are int32.
MAX_INDEX = 2**31 - 1

#: Shorter texts are parsed without compiled code, which would have to be loaded.
LONG = 1 << 18

_NUMBER_BYTES = b"0123456789.eE+-"
_TAB_TO_SPACE = bytes.maketrans(b"\t", b" ")


@dataclass(frozen=True)
class Examples:
    """The content of an example file.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix (n, n_features)
        Column j holds the feature with index j + 1.
    y : array (n,)
        int64 if all targets are integers, float64 if all are numbers, else str.
    qid : int64 array (n,) or None
        The ``qid:`` of each line, 0 for a line without one; None if no line has one.
    cost : float64 array (n,) or None
        The ``cost:`` (weight) of each line, 1 for a line without one; None if no line has one.
    line : int64 array (n,)
        The line number of each example in the file, for error messages.
    """

    X: Any
    y: np.ndarray
    qid: np.ndarray | None
    cost: np.ndarray | None
    line: np.ndarray


def read_svmlight(
    path: Any, n_features: int | None = None, dtype: Any = np.float64, *, drop_unseen: bool = False
) -> tuple[Any, np.ndarray]:
    """Read features and targets from a file in svm_light format.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    n_features : int, optional
        Number of columns of X; by default the largest index in the file.
    dtype : numpy.float64 or numpy.float32
        Type of the values of X.
    drop_unseen : bool
        Drop features with an index above ``n_features``, which a model has not seen in training.
        By default they are an error.

    Returns
    -------
    X : scipy.sparse.csr_matrix (n, n_features)
        Column j holds the feature with index j + 1.
    y : array (n,)
        int64 if all targets are integers, float64 if all are numbers, else str.

    Raises
    ------
    DataError
        If the file cannot be read, or a line is wrong; the message names file, line and token.
    """
    examples = read_examples(path, n_features, dtype, drop_unseen=drop_unseen)
    return examples.X, examples.y


def read_examples(
    path: Any, n_features: int | None = None, dtype: Any = np.float64, *, drop_unseen: bool = False
) -> Examples:
    """Read a file in svm_light format with its qid and cost; see `read_svmlight`."""
    name = display_name(path)
    limit = MAX_INDEX if n_features is None else n_features
    parser = _Parser(name, limit, np.dtype(dtype), drop_unseen)
    rows = Rows()
    with open_source(path) as stream:
        for first, lines in line_blocks(stream):
            rows.extend(parser.parse(lines, first))
    if not rows.targets:
        raise DataError(
            "contains no examples; write one 'target index:value ...' per line", path=name
        )
    return _assemble(rows, name, n_features, np.dtype(dtype))


class _Parser(CarefulParser):
    """Turns lines into rows: with the fast parser if possible, else with the careful one."""

    def parse(self, lines: list[bytes], first: int) -> Rows:
        return self._parse_clean(lines, first) or self.parse_careful(lines, first)

    def _parse_clean(self, lines: list[bytes], first: int) -> Rows | None:
        """The rows of a block without anything unusual, or None."""
        rows = Rows()
        bodies = []
        for number, line in enumerate(lines, first):
            parts = line.partition(b"#")[0].split(None, 1)
            if not parts:
                continue
            body = parts[1].rstrip() if len(parts) == 2 else b""
            qid = None
            if body.startswith(b"qid:"):
                token, _, body = body.partition(b" ")
                if not (token[4:].isdigit() and len(token) < 20):
                    return None
                qid = int(token[4:])
            rows.targets.append(parts[0])
            rows.line.append(number)
            rows.qid.append(qid)
            rows.counts.append(body.count(b":"))
            if body:
                bodies.append(body)
        rows.cost = [None] * len(rows.targets)
        features = _split_clean(b" ".join(bodies), sum(rows.counts))
        if features is None or not _clean_targets(rows.targets):
            return None
        return self._with_features(rows, *features)

    def _with_features(self, rows: Rows, indices: np.ndarray, values: np.ndarray) -> Rows | None:
        """The rows with their features, or None if a feature breaks a rule."""
        row = np.repeat(np.arange(len(rows.counts)), rows.counts)
        increasing = (np.diff(indices) > 0) | (np.diff(row) > 0)
        finite = np.abs(values) <= self.largest
        if not (increasing.all() and (indices >= 1).all() and finite.all()):
            return None
        seen = indices <= self.limit
        if not seen.all():
            if not self.drop_unseen:
                return None
            rows.counts = np.bincount(row[seen], minlength=len(rows.counts)).tolist()
            indices, values = indices[seen], values[seen]
        rows.indices, rows.values = [indices], [values]
        return rows


def _split_clean(text: bytes, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Indices and values of n ``index:value`` tokens separated by single spaces, or None."""
    if len(text) >= LONG:
        from .number_pairs import parse_pairs

        pairs = parse_pairs(text, n)
        if pairs is not None:
            return pairs
    # Without the bytes of numbers, one colon per token must be left. Tokens with an empty side,
    # such as "3:", pass this check; the number of pieces reveals them.
    if text.translate(_TAB_TO_SPACE, _NUMBER_BYTES) != (b": " * n)[:-1]:
        return None
    pieces = text.replace(b":", b" ").split()
    if len(pieces) != 2 * n:
        return None
    try:
        indices = np.fromiter(map(int, pieces[0::2]), np.int64, n)
        values = np.fromiter(map(float, pieces[1::2]), np.float64, n)
    except (ValueError, OverflowError):
        return None
    return indices, values


def _clean_targets(targets: list[bytes]) -> bool:
    joined = b" ".join(targets)
    return b":" not in joined and is_text(joined)


def _assemble(rows: Rows, name: str, n_features: int | None, dtype: np.dtype) -> Examples:
    from scipy.sparse import csr_matrix  # slow to import, so only when a file is read

    indices = np.concatenate(rows.indices) - 1
    if n_features is None:
        n_features = int(indices.max(initial=-1)) + 1
    indptr = np.concatenate([[0], np.cumsum(rows.counts)])
    values = np.concatenate(rows.values).astype(dtype)
    X = csr_matrix((values, indices, indptr), shape=(len(rows.counts), n_features))
    return Examples(
        X=X,
        y=_labels(rows, name),
        qid=_column(rows.qid, 0, np.int64),
        cost=_column(rows.cost, 1.0, np.float64),
        line=np.array(rows.line, dtype=np.int64),
    )


def _column(entries: list[Any], default: float, dtype: Any) -> np.ndarray | None:
    """The entries with missing ones filled in, or None if all are missing."""
    if all(entry is None for entry in entries):
        return None
    return np.array([default if entry is None else entry for entry in entries], dtype=dtype)


def _labels(rows: Rows, name: str) -> np.ndarray:
    numbers = {target: _to_number(target) for target in set(rows.targets)}
    if None in numbers.values():
        return np.array([target.decode() for target in rows.targets])
    y = [numbers[target] for target in rows.targets]
    if all(isinstance(number, int) for number in numbers.values()):
        return np.array(y, dtype=np.int64)
    values = np.array(y, dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise DataError(
            f"the target {show(rows.targets[bad[0]])} is not a finite number; correct the line "
            "or leave it out",
            path=name,
            line=rows.line[bad[0]],
        )
    return values


def _to_number(text: bytes) -> int | float | None:
    """The number that a target stands for, as int if it is an integer; None if it is a word."""
    value, integer = to_float(text), to_int(text)
    if integer is None and value is not None and value.is_integer():
        integer = int(value)
    return integer if integer is not None and -(2**63) <= integer < 2**63 else value
