"""Example files in the format of svm_light, and text files written atomically.

An example is one line, ``target index:value index:value ... # comment``, with indices from 1 on
that increase along the line. ``qid:``, ``sid:`` and ``cost:`` tokens may follow the target.

A file is parsed in blocks of lines. ``_parse_clean`` hands a whole block to C-level loops and
gives up at anything unusual; ``_parse_careful`` then goes through the same lines token by token,
and either accepts them or says what is wrong where.
"""

from __future__ import annotations

import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO, NoReturn

import numpy as np

from ..errors import DataError, MaxMarginError

#: The largest feature index: the column indices of X are int32.
MAX_INDEX = 2**31 - 1

_BLOCK_BYTES = 1 << 20
_GZIP_MAGIC = b"\x1f\x8b"
_UTF8_BOM = b"\xef\xbb\xbf"
_NUMBER_BYTES = b"0123456789.eE+-"
_TAB_TO_SPACE = bytes.maketrans(b"\t", b" ")


@dataclass(frozen=True)
class Examples:
    """The content of an example file.

    Attributes
    ----------
    X : scipy.sparse.csr_matrix (n, n_features)
    y : array (n,)
        int64 when every target is integral, float64 when every target is a number, else str.
    qid : int64 array (n,) or None
        The ``qid:`` of each line, 0 where a line has none; None when no line has one.
    cost : float64 array (n,) or None
        The ``cost:`` (weight) of each line, 1 where a line has none; None when no line has one.
    line : int64 array (n,)
        The line of the file that each example was on, for error messages.
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
        Drop the features above ``n_features``, which a model has not seen in training, instead of
        refusing the file.

    Returns
    -------
    X : scipy.sparse.csr_matrix (n, n_features)
    y : array (n,)
        int64 when every target is integral, float64 when every target is a number, else str.

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
    name = _display_name(path)
    limit = MAX_INDEX if n_features is None else n_features
    parser = _Parser(name, limit, np.dtype(dtype), drop_unseen)
    rows = _Rows()
    try:
        with _open_binary(path) as stream:
            for first, lines in _blocks(stream):
                rows.extend(parser.parse(lines, first))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(
            f"the gzip data is corrupt or truncated ({error}); compress or download it again",
            path=name,
        ) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=name) from error
    if not rows.targets:
        raise DataError("holds no examples; write one 'target index:value ...' a line", path=name)
    return _assemble(rows, name, n_features, np.dtype(dtype))


def _display_name(source: Any) -> str:
    if isinstance(source, str) and source == "-":
        return "<stdin>"
    if hasattr(source, "read"):
        return str(getattr(source, "name", "<stream>"))
    return os.fsdecode(source)


@contextmanager
def _open_binary(source: Any) -> Iterator[BinaryIO]:
    """The uncompressed bytes of ``source``; closes only what it opened itself."""
    if isinstance(source, io.TextIOBase):
        raise DataError("is open in text mode; open it with mode 'rb'", _display_name(source))
    with ExitStack() as stack:
        if isinstance(source, str) and source == "-":
            stream: Any = sys.stdin.buffer
        elif hasattr(source, "read"):
            stream = source
        else:
            stream = stack.enter_context(open(source, "rb"))
        if not hasattr(stream, "peek"):
            stream = io.BufferedReader(stream)
            stack.callback(stream.detach)  # or the caller's file is closed with the buffer
        if stream.peek(2)[:2] == _GZIP_MAGIC:
            unzipped: Any = gzip.GzipFile(fileobj=stream)
            stream = stack.enter_context(io.BufferedReader(unzipped, _BLOCK_BYTES))
        yield stream


def _blocks(stream: BinaryIO) -> Iterator[tuple[int, list[bytes]]]:
    """Lists of lines, each with the number of its first line."""
    first = 1
    while lines := stream.readlines(_BLOCK_BYTES):
        if first == 1:
            lines[0] = lines[0].removeprefix(_UTF8_BOM)
        yield first, lines
        first += len(lines)


@dataclass
class _Rows:
    """Parsed lines: one entry per example, and the features of all of them end to end."""

    targets: list[bytes] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    qid: list[int | None] = field(default_factory=list)
    cost: list[float | None] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    indices: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def extend(self, other: _Rows) -> None:
        for mine, more in zip(vars(self).values(), vars(other).values(), strict=True):
            mine.extend(more)


@dataclass(frozen=True)
class _Parser:
    """Turns lines into rows; the fields are what a line is checked against."""

    name: str
    limit: int
    dtype: np.dtype
    drop_unseen: bool

    @cached_property
    def largest(self) -> float:
        """The largest finite value."""
        return float(np.finfo(self.dtype).max)

    def parse(self, lines: list[bytes], first: int) -> _Rows:
        return self._parse_clean(lines, first) or self._parse_careful(lines, first)

    def _parse_clean(self, lines: list[bytes], first: int) -> _Rows | None:
        """Rows of a block without surprises, or None."""
        rows = _Rows()
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

    def _with_features(self, rows: _Rows, indices: np.ndarray, values: np.ndarray) -> _Rows | None:
        """The rows with their features, or None where a feature breaks a rule."""
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

    def _parse_careful(self, lines: list[bytes], first: int) -> _Rows:
        """Rows of any valid block; raises DataError at the first error."""
        rows = _Rows()
        for number, line in enumerate(lines, first):
            tokens = line.partition(b"#")[0].split()
            if tokens:
                self._parse_line(tokens, number, rows)
        return rows

    def _parse_line(self, tokens: list[bytes], number: int, rows: _Rows) -> None:
        self._check_target(tokens[0], number)
        special: dict[bytes, Any] = {}
        indices: list[int] = []
        values: list[float] = []
        previous = 0
        for token in tokens[1:]:
            key, _, text = token.partition(b":")
            if key in (b"qid", b"sid", b"cost"):
                special[key] = self._special(key, text, token, number)
                continue
            index, value = self._feature(token, previous, number)
            previous = index
            if index <= self.limit:
                indices.append(index)
                values.append(value)
        rows.targets.append(tokens[0])
        rows.line.append(number)
        rows.qid.append(special.get(b"qid"))
        rows.cost.append(special.get(b"cost"))
        rows.counts.append(len(indices))
        rows.indices.append(np.array(indices, dtype=np.int64))
        rows.values.append(np.array(values, dtype=np.float64))

    def _check_target(self, target: bytes, number: int) -> None:
        if not _is_text(target):
            self._fail("is not UTF-8 text; save it as UTF-8 (gzip is fine)", number)
        if b":" in target:
            self._fail(
                f"the target is missing: the line starts with {_show(target)}; "
                "write 'target index:value ...' (target 0 if it is not known)",
                number,
            )

    def _special(self, key: bytes, text: bytes, token: bytes, number: int) -> int | float:
        if key == b"cost":
            cost = _to_float(text)
            if cost is None or not 0 <= cost < np.inf:
                self._fail(f"{_show(token)} is not a weight; write cost:value, value >= 0", number)
            return cost
        integer = _to_int(text)
        if integer is None or abs(integer) >= 2**63:
            self._fail(f"{_show(token)} is not an integer; write {key.decode()}:integer", number)
        return integer

    def _feature(self, token: bytes, previous: int, number: int) -> tuple[int, float]:
        """Index and value of one ``index:value`` token that follows the index ``previous``."""
        before, colon, after = token.partition(b":")
        if not (before and colon and after):
            self._fail(f"{_show(token)} is not a feature; write index:value", number)
        index = _to_int(before)
        if index is None:
            self._fail(
                f"feature index {_show(before)} is not an integer; "
                "write index:value with index >= 1",
                number,
            )
        if index < 1:
            self._fail(f"feature index {index} is below 1; count features from 1", number)
        if index == previous:
            self._fail(f"feature index {index} is repeated; give each index once a line", number)
        if index < previous:
            self._fail(
                f"feature index {index} comes after {previous}; sort the features of a line "
                "by index",
                number,
            )
        if index > self.limit and not self.drop_unseen:
            self._fail(
                f"feature index {index} is above {self.limit}, the largest allowed here; "
                "renumber the features or raise n_features",
                number,
            )
        value = _to_float(after)
        if value is None:
            self._fail(f"the value of {_show(token)} is not a number; write index:value", number)
        if not abs(value) <= self.largest:  # also true of NaN
            self._fail(
                f"the value of {_show(token)} is not a finite {self.dtype} number; "
                "leave missing features out",
                number,
            )
        return index, value

    def _fail(self, message: str, number: int) -> NoReturn:
        raise DataError(message, path=self.name, line=number)


def _split_clean(text: bytes, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Indices and values of n ``index:value`` tokens set apart by single blanks, or None."""
    # What is left without the number bytes must be one colon per token. That leaves tokens with
    # an empty side, such as "3:", which the number of pieces shows.
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
    return b":" not in joined and _is_text(joined)


def _is_text(raw: bytes) -> bool:
    # numpy strings lose trailing NULs; in practice a NUL is a sign of UTF-16 or binary data.
    try:
        return "\0" not in raw.decode()
    except UnicodeDecodeError:
        return False


def _show(token: bytes) -> str:
    return repr(token.decode(errors="backslashreplace"))


def _to_int(text: bytes) -> int | None:
    try:
        return None if b"_" in text else int(text)
    except ValueError:
        return None


def _to_float(text: bytes) -> float | None:
    try:
        return None if b"_" in text else float(text)
    except ValueError:
        return None


def _assemble(rows: _Rows, name: str, n_features: int | None, dtype: np.dtype) -> Examples:
    from scipy.sparse import csr_matrix  # slow to import: only when a file is read

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
    """The entries with the missing ones filled in, or None if all are missing."""
    if all(entry is None for entry in entries):
        return None
    return np.array([default if entry is None else entry for entry in entries], dtype=dtype)


def _labels(rows: _Rows, name: str) -> np.ndarray:
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
            f"the target {_show(rows.targets[bad[0]])} is not a finite number; correct the line "
            "or leave it out",
            path=name,
            line=rows.line[bad[0]],
        )
    return values


def _to_number(text: bytes) -> int | float | None:
    """The number that a target stands for, an int if it is integral; None if it is a word."""
    value, integer = _to_float(text), _to_int(text)
    if integer is None and value is not None and value.is_integer():
        integer = int(value)
    return integer if integer is not None and -(2**63) <= integer < 2**63 else value


def write_lines_atomic(path: Any, lines: Iterable[str]) -> None:
    """Write a UTF-8 text file that is either complete or not there; ``"-"`` is standard output.

    Parameters
    ----------
    path : str or path
    lines : iterable of str, without line ends

    Raises
    ------
    MaxMarginError
        If the file cannot be written. A file that was there before is left as it was.
    """
    encoded = (line.encode() + b"\n" for line in lines)
    if isinstance(path, str) and path == "-":
        sys.stdout.flush()
        sys.stdout.buffer.writelines(encoded)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.writelines(encoded)


@contextmanager
def atomic_file(path: Any, error: type[MaxMarginError] = MaxMarginError) -> Iterator[BinaryIO]:
    """A binary file that takes its place at ``path`` only when the block ends without an error.

    Parameters
    ----------
    path : str or path
    error : type of MaxMarginError
        Raised, with the name of the file and the reason, if the file cannot be written.
    """
    try:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            # A device or a pipe, such as /dev/stdout: written to, never replaced.
            with open(path, "wb") as file:
                yield file
            return
        target = os.path.realpath(path)  # a link stays a link
        temporary = os.path.join(os.path.dirname(target), f".{secrets.token_hex(8)}.tmp")
        try:
            with open(temporary, "xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as reason:
        raise error(f"{os.fsdecode(path)}: cannot be written: {reason.strerror or reason}") from (
            reason
        )
