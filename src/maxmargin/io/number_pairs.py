"""Compiled parsing of ``index:value`` tokens, for large files."""

from __future__ import annotations

import numpy as np

from ..engine.keep import keep

#: Maximum number of digits of an index, and of a value, which as an integer is exact as a float.
INDEX_DIGITS, VALUE_DIGITS = 10, 15

_ZERO, _COLON, _SPACE, _TAB, _POINT, _MINUS, _PLUS = np.frombuffer(b"0: \t.-+", np.uint8).tolist()

#: Powers of ten that a float holds exactly.
_POWERS = 10.0 ** np.arange(VALUE_DIGITS + 1)


def parse_pairs(text: bytes, n: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Indices and values of n tokens separated by single spaces; None if a number is not simple.

    Simple values are decimal numbers without exponent and with at most 15 digits. The quotient of
    two integers that a float holds exactly is rounded correctly, so that values are those of
    ``float``.
    """
    indices, values = np.empty(n, np.int64), np.empty(n)
    found = _parse(np.frombuffer(text, np.uint8), indices, values)
    return (indices, values) if found == n else None


@keep
def _parse(text, indices, values):
    """The number of tokens; -1 if one is not simple."""
    at, count, end = 0, 0, len(text)
    while at < end:
        start, index = at, 0
        while at < end and 0 <= np.int64(text[at]) - _ZERO <= 9:
            index = 10 * index + (np.int64(text[at]) - _ZERO)
            at += 1
        if not 0 < at - start <= INDEX_DIGITS or at == end or text[at] != _COLON:
            return -1
        at += 1
        negative = at < end and text[at] == _MINUS
        if at < end and (negative or text[at] == _PLUS):
            at += 1
        number, digits, decimals, point = 0, 0, 0, False
        while at < end and text[at] != _SPACE and text[at] != _TAB:
            digit = np.int64(text[at]) - _ZERO
            if 0 <= digit <= 9:
                number = 10 * number + digit
                digits += 1
                decimals += point
            elif text[at] == _POINT and not point:
                point = True
            else:
                return -1
            if digits > VALUE_DIGITS:
                return -1
            at += 1
        if digits == 0 or count == len(indices):
            return -1
        value = number / _POWERS[decimals]
        indices[count], values[count] = index, -value if negative else value
        count += 1
        at += 1
    return count
