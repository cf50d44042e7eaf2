"""The weights in a model file of SVM-struct: their indices, and how to read and write them.

A support vector is one line, ``coefficient [qid:n] index:value ... #comment``. The line of a linear
model holds all of its weights, so it is read in pieces. The header alone never decides how much
memory is allocated: memory use is proportional to the bytes that were read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import numpy as np

from .svmlight_careful import show, to_float, to_int

#: Bytes that are parsed at once, and the length of the longest token.
_PIECE_BYTES, _TOKEN_BYTES = 1 << 20, 1000

#: The largest weight vector: this many entries, plus this many per byte of the file. The sparsest
#: real models have about one non-zero, of at least 8 bytes, per 100 weights.
FREE_WEIGHTS, WEIGHTS_PER_BYTE = 1 << 23, 16

#: Weights that are formatted at once.
_BLOCK = 1 << 16


class Refused(Exception):
    """An error in the file, with its line."""

    def __init__(self, message: str, line: int):
        super().__init__(message)
        self.line = line


@dataclass(frozen=True)
class Layout:
    """The indices of the weights of K classes and d features; index 0 is unused.

    ``order`` is the order of the transitions, or None in SVM-multiclass.
    """

    K: int
    d: int
    order: int | None

    @property
    def base(self) -> int:
        """The index before the first emission, which is that of class 1 and feature 1."""
        if self.order is None:
            return 0
        cumulated = self.K + self.order * self.K**2
        return cumulated + 1 + self.d

    @property
    def size(self) -> int:
        """The largest index."""
        return self.base + self.K * self.d

    def split(self, w: np.ndarray, line: int = 0) -> tuple[np.ndarray, np.ndarray | None]:
        """Split a weight vector (size + 1,) into emission and transition weights."""
        K, base = self.K, self.base
        emission = w[base + 1 :].reshape(K, self.d).copy()
        if self.order is None:
            return emission, None
        transition = np.zeros((K, K))
        end = K + 1
        if self.order == 1:
            end = K + 1 + K * K
            transition = w[K + 1 : end].reshape(K, K).copy()
        if w[: K + 1].any() or w[end : base + 1].any():
            raise Refused(
                "there is a weight where SVM-HMM never has one: the file is damaged", line
            )
        return emission, transition

    def join(self, emission: np.ndarray, transition: np.ndarray | None) -> np.ndarray:
        """Join emission and transition weights to a weight vector (size + 1,)."""
        w = np.zeros(self.size + 1)
        w[self.base + 1 :] = emission.ravel()
        if self.order == 1 and transition is not None:
            w[self.K + 1 : self.K + 1 + self.K**2] = transition.ravel()
        return w


class WeightReader:
    """Reads vectors and adds them up.

    Parameters
    ----------
    stream : binary file
        Positioned at the first vector.
    line : int
        The number of that line.
    size : int
        The largest possible index.
    """

    def __init__(self, stream: BinaryIO, line: int, size: int):
        self.stream = stream
        self.line = line
        self.size = size
        self.bytes = 0
        self.indices: list[np.ndarray] = []
        self.values: list[np.ndarray] = []

    def read(self, count: int) -> np.ndarray:
        """The sum (size + 1,) of ``count`` vectors times their coefficients; index 0 is unused."""
        for i in range(count):
            if not self._read_vector():
                self._fail(f"the file ends after {i} of {count} vectors")
            self.line += 1
        self.line -= count
        if self.size > FREE_WEIGHTS + WEIGHTS_PER_BYTE * self.bytes:
            self._fail(
                f"the header declares {self.size:,} weights, but there are only "
                f"{self.bytes:,} bytes of them: the file is damaged"
            )
        w = np.zeros(self.size + 1)
        for indices, values in zip(self.indices, self.values, strict=True):
            w[indices] += values  # the indices of a piece increase, so none occurs twice
        if not np.isfinite(w).all():
            self._fail("the sum of the vectors is not finite")
        return w

    def _read_vector(self) -> bool:
        """Read one line; returns False at the end of the file."""
        coefficient, last, found = None, 0, False
        for piece in self._pieces():
            found = True
            tokens = piece.split()
            if coefficient is None and tokens:
                coefficient = self._coefficient(tokens.pop(0))
                if tokens and tokens[0].startswith(b"qid:"):
                    del tokens[
                        0
                    ]  # the class of a kernel's vector, which a linear model does not use
            if tokens and coefficient is not None:
                last = self._add(tokens, coefficient, last)
        if found and coefficient is None:
            self._fail("the vector is missing")
        return found

    def _pieces(self) -> Iterator[bytes]:
        """Pieces of the line without its comment; each ends between two tokens."""
        rest, comment = b"", False
        while raw := self.stream.readline(_PIECE_BYTES):
            self.bytes += len(raw)
            if not comment:
                text, mark, _ = (rest + raw).partition(b"#")
                comment = bool(mark)
                end = len(text) if comment or raw.endswith(b"\n") else text.rfind(b" ") + 1
                rest = text[end:]
                if len(rest) > _TOKEN_BYTES:
                    self._fail("the line is not a vector of index:value tokens")
                yield text[:end]
            if raw.endswith(b"\n"):
                return
        if rest:
            yield rest  # the last line, without a newline

    def _coefficient(self, token: bytes) -> float:
        value = to_float(token)
        if value is None or not np.isfinite(value):
            self._fail(f"the vector starts with {show(token[:40])}, not with a number")
        return value

    def _add(self, tokens: list[bytes], coefficient: float, last: int) -> int:
        """Add ``index:value`` tokens that follow the index ``last``; returns the new last."""
        try:
            pairs = [token.split(b":") for token in tokens]
            indices = np.fromiter((int(a) for a, _ in pairs), np.int64, len(pairs))
            values = np.fromiter((float(b) for _, b in pairs), np.float64, len(pairs))
        except (ValueError, OverflowError):
            self._fail_at(tokens)
        wrong = np.diff(indices, prepend=last) <= 0
        wrong |= (indices > self.size) | ~np.isfinite(values)
        if wrong.any():
            token = tokens[int(np.flatnonzero(wrong)[0])]
            self._fail(
                f"{show(token[:40])} is wrong: indices increase from 1 to {self.size}, and values "
                "are finite"
            )
        self.indices.append(indices)
        with np.errstate(over="ignore"):  # checked at the end
            self.values.append(coefficient * values)
        return int(indices[-1])

    def _fail_at(self, tokens: list[bytes]) -> NoReturn:
        """Name the token that is not ``index:value``."""
        for token in tokens:
            index, _, value = token.partition(b":")
            number = to_int(index)
            if number is None or abs(number) >= 2**63 or to_float(value) is None:
                self._fail(f"{show(token[:40])} is not index:value")
        self._fail("the line is not a vector of index:value tokens")

    def _fail(self, message: str) -> NoReturn:
        raise Refused(message, self.line)


def weight_text(w: np.ndarray) -> Iterator[bytes]:
    """``index:value`` with 8 digits for each non-zero of w, followed by a space."""
    nonzero = np.flatnonzero(w)
    for start in range(0, len(nonzero), _BLOCK):
        indices = nonzero[start : start + _BLOCK]
        pairs = zip(indices.tolist(), w[indices].tolist(), strict=True)
        yield "".join([f"{i}:{value:.8g} " for i, value in pairs]).encode()
