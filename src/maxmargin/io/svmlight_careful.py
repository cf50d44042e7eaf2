"""A parser of svm_light files that reads token by token: slow, but with exact error messages."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from ..errors import DataError


@dataclass
class Rows:
    """Parsed lines: one entry per example, and the features of all examples in flat lists."""

    targets: list[bytes] = field(default_factory=list)
    line: list[int] = field(default_factory=list)
    qid: list[int | None] = field(default_factory=list)
    cost: list[float | None] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    indices: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def extend(self, other: Rows) -> None:
        """Append the rows of the next lines."""
        for mine, more in zip(vars(self).values(), vars(other).values(), strict=True):
            mine.extend(more)


@dataclass(frozen=True)
class CarefulParser:
    """Turns lines into rows; the fields are the limits that lines are checked against."""

    name: str
    limit: int
    dtype: np.dtype
    drop_unseen: bool

    @cached_property
    def largest(self) -> float:
        """The largest finite value."""
        return float(np.finfo(self.dtype).max)

    def parse_careful(self, lines: list[bytes], first: int) -> Rows:
        """The rows of a valid block; raises DataError at the first error."""
        rows = Rows()
        for number, line in enumerate(lines, first):
            tokens = line.partition(b"#")[0].split()
            if tokens:
                self._parse_line(tokens, number, rows)
        return rows

    def _parse_line(self, tokens: list[bytes], number: int, rows: Rows) -> None:
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
        if not is_text(target):
            self._fail("is not UTF-8 text; save it as UTF-8 (gzip is fine)", number)
        if b":" in target:
            self._fail(
                f"the target is missing: the line starts with {show(target)}; "
                "write 'target index:value ...' (target 0 if it is not known)",
                number,
            )

    def _special(self, key: bytes, text: bytes, token: bytes, number: int) -> int | float:
        if key == b"cost":
            cost = to_float(text)
            if cost is None or not 0 <= cost < np.inf:
                self._fail(f"{show(token)} is not a weight; write cost:value, value >= 0", number)
            return cost
        integer = to_int(text)
        if integer is None or abs(integer) >= 2**63:
            self._fail(f"{show(token)} is not an integer; write {key.decode()}:integer", number)
        return integer

    def _feature(self, token: bytes, previous: int, number: int) -> tuple[int, float]:
        """Index and value of one ``index:value`` token that follows the index ``previous``."""
        before, colon, after = token.partition(b":")
        if not (before and colon and after):
            self._fail(f"{show(token)} is not a feature; write index:value", number)
        index = to_int(before)
        if index is None:
            self._fail(
                f"feature index {show(before)} is not an integer; "
                "write index:value with index >= 1",
                number,
            )
        if index < 1:
            self._fail(f"feature index {index} is below 1; count features from 1", number)
        if index == previous:
            self._fail(f"feature index {index} is repeated; give each index once per line", number)
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
        value = to_float(after)
        if value is None:
            self._fail(f"the value of {show(token)} is not a number; write index:value", number)
        if not abs(value) <= self.largest:  # also true of NaN
            self._fail(
                f"the value of {show(token)} is not a finite {self.dtype} number; "
                "leave missing features out",
                number,
            )
        return index, value

    def _fail(self, message: str, number: int) -> NoReturn:
        raise DataError(message, path=self.name, line=number)


def is_text(raw: bytes) -> bool:
    """Whether the bytes are UTF-8 that an array of str can hold."""
    # NumPy strings lose trailing NULs; in practice a NUL means UTF-16 or binary data.
    try:
        return "\0" not in raw.decode()
    except UnicodeDecodeError:
        return False


def show(token: bytes) -> str:
    """A token in quotes for a message."""
    return repr(token.decode(errors="backslashreplace"))


def to_int(text: bytes) -> int | None:
    """The integer, or None; unlike in Python, 1_000 is not a number."""
    try:
        return None if b"_" in text else int(text)
    except ValueError:
        return None


def to_float(text: bytes) -> float | None:
    """The number, or None; unlike in Python, 1_000 is not a number."""
    try:
        return None if b"_" in text else float(text)
    except ValueError:
        return None
