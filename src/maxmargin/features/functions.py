"""The functions of a template, which turn the string in a column into one or more strings."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache


def shape(value: str) -> str:
    """The string with every character replaced by its kind.

    >>> shape("McDonald's-1990")
    "XxXxxxxx'x-dddd"
    """
    return "".join(map(_kind, value))


def short_shape(value: str) -> str:
    """The shape with repeated characters merged into one.

    >>> short_shape("McDonald's-1990")
    "XxXx'x-d"
    """
    return re.sub(r"(.)\1+", r"\1", shape(value), flags=re.DOTALL)


def _kind(char: str) -> str:
    if char.isupper() or char.istitle():
        return "X"
    if char.islower():
        return "x"
    if char.isdigit():
        return "d"
    return "a" if char.isalpha() else char  # a: a letter of a script without upper and lower case


@lru_cache(maxsize=2**16)  # a corpus has the same words again and again
def word_class(value: str) -> str:
    """The kind of characters in the string.

    ========  ============================================  ============
    digits    only digits                                   1990
    number    digits and signs                              1,000.5  '90
    punct     neither letters nor digits                    --
    lower     lower-case letters, maybe signs               co-op
    capital   one capital letter; or capitals and signs     I  U.S.
    upper     two or more letters, all capitals             IBM
    initial   only the first letter is a capital            Smith
    mixed     other capitals                                McDonald
    alnum     letters and digits                            3rd  F-16
    ========  ============================================  ============
    """
    letters = [char for char in value if char.isalpha()]
    if any(char.isdigit() for char in value):
        if letters:
            return "alnum"
        return "digits" if all(char.isdigit() for char in value) else "number"
    if not letters:
        return "punct"
    capitals = sum(_kind(char) == "X" for char in letters)
    if capitals == 0:
        return "lower"
    if capitals == len(letters):
        return "upper" if len(letters) == len(value) > 1 else "capital"
    return "initial" if capitals == 1 and _kind(value[0]) == "X" else "mixed"


def prefix(value: str, n: int) -> str:
    """The first n characters, or all if there are fewer."""
    return value[:n]


def suffix(value: str, n: int) -> str:
    """The last n characters, or all if there are fewer; n is at least 1."""
    return value[-n:]


SIMPLE: dict[str, Callable[[str], str]] = {
    "class": word_class,
    "length": lambda value: str(len(value)),
    "lower": str.lower,
    "shape": shape,
    "short_shape": short_shape,
}
AFFIXES: dict[str, Callable[[str, int], str]] = {"prefix": prefix, "suffix": suffix}


@dataclass(frozen=True)
class Function:
    """A function with its arguments.

    Attributes
    ----------
    name : str
        A key of ``SIMPLE`` or ``AFFIXES``.
    low, high : int
        The shortest and longest affix; if ``high`` is None, all lengths from 1 on.
    """

    name: str
    low: int = 1
    high: int | None = None

    def __call__(self, value: str) -> list[str]:
        """The values of a string: at least one, without duplicates."""
        if self.name in SIMPLE:
            return [SIMPLE[self.name](value)]
        affix = AFFIXES[self.name]
        longest = len(value) if self.high is None else min(self.high, len(value))
        # A string shorter than all lengths has one affix: itself.
        return [affix(value, n) for n in range(self.low, max(self.low, longest) + 1)]

    def text(self, inner: str) -> str:
        """The text of this function of ``inner`` in a template."""
        if self.name in SIMPLE or self.high is None:
            return f"{self.name}({inner})"
        lengths = str(self.low) if self.low == self.high else f"{self.low}..{self.high}"
        return f"{self.name}({inner},{lengths})"


def apply_all(functions: tuple[Function, ...], value: str) -> list[str]:
    """Apply functions to a string, in their order; returns all values."""
    values = [value]
    for function in functions:
        values = list(dict.fromkeys(v for u in values for v in function(u)))
    return values
