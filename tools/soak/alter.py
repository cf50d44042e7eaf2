"""Ways to alter bytes, text, JSON and arrays; ``random`` decides everything."""

from __future__ import annotations

import copy
import json
import random as _random
from typing import Any

import numpy as np

from tests.saving.alter_checkpoints import ALTERATIONS

Random = _random.Random

#: Numbers and words that readers may stumble over.
WORDS = [
    "", "0", "-1", "1", "2", "7", "-0", "1.5", "1e308", "-1e308", "1e309", "1e-320", "nan", "-nan",
    "inf", "-inf", "2147483647", "2147483648", "-2147483648", "4294967297", "9223372036854775807",
    "9223372036854775808", "99999999999999999999", "0x10", "1_000", "1:1", "1:nan", "0:1", "-1:1",
    "2147483648:1", "qid:", "qid:-1", "cost:-1", "cost:nan", "sid:1", ":", "::", "#", "[", "]", "(",
    ")", "((((", "))))", "%", "|", "\\", "'", '"', "None", "True", "\t", "\u00a0", "\u200b",
    "\u2028", "\u202e", "\ufeff", "\x1b[31m", "é", "漢", "\U0001f600", "a" * 5000, "(" * 3000,
    "[0]" * 300, "..", "[-9999999999..9999999999]", "[0..1000000]", "*", "+1", "--1", "\u0661",
]  # fmt: skip
BYTES = [b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"\r\n", b"\n\n",
         b"\x0b", b"\x1a", b"\x85", b"\n", b" ", b"\t"]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 2, 7, 10**3, 2**30, 2**31, 2**32 + 1, 2**53, 2**63, 10**30,
    -(2**63), 0.5, 1e-320, 1e300, -1.5, "", "x", "0", "nan", "<f8", "<U999999999", "|O", "array",
    "\0", "\ud800", "\x1b[2J", "a" * 3000, [], {}, [None], [[]], [0, 1], ["a", "a"],
    [[1, 2], [3]], {"array": "coef_"}, {"value": None}, {"tuple": []}, {"x": {"y": [0]}},
    {"array": "<U67108864", "values": ["a"]},
]  # fmt: skip
NUMBERS = [0, -1, 1, 2, 7, 100, 2**15, 2**30, 2**31 - 1, -(2**31), 2**62, 0.5, -0.5, 1e300, -1e300,
           1e-320, np.nan, np.inf, -np.inf]  # fmt: skip


def alter_bytes(random: Random, content: bytes) -> bytes:
    """Change, take away, repeat or insert a few bytes."""
    data = bytearray(content)
    for _ in range(random.choice((1, 1, 1, 2, 3, 10))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((1, 1, 2, 4, 8, 50, 500)))
        what = random.randrange(6)
        if what == 0:
            data[at:end] = random.randbytes(end - at)
        elif what == 1:
            del data[at:end]
        elif what == 2:
            data[at:at] = data[at:end]
        elif what == 3:
            data[at:at] = random.choice(BYTES)
        elif what == 4 and at < len(data):
            data[at] ^= 1 << random.randrange(8)
        else:
            data[at:end] = random.choice((b"\0", b"\xff")) * (end - at)
    return bytes(data)


def alter_text(random: Random, content: bytes) -> bytes:
    """Change tokens and lines, or bytes."""
    if random.random() < 0.3:
        return alter_bytes(random, content)
    lines = content.split(b"\n")
    for _ in range(random.choice((1, 1, 2, 5))):
        at, what = random.randrange(len(lines)), random.randrange(8)
        if what == 0:
            lines[at : at + random.choice((1, 1, 3))] = []
        elif what == 1:
            lines[at:at] = random.choices(lines, k=random.choice((1, 2, 50)))
        elif what == 2:
            other = random.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        else:
            lines[at] = _alter_line(random, lines[at])
        lines = lines or [b""]
    return b"\n".join(lines)


def _alter_line(random: Random, line: bytes) -> bytes:
    separator = random.choice((b" ", b" ", b":", b"[", b"("))
    tokens = line.split(separator)
    at = random.randrange(len(tokens))
    word = random.choice(WORDS).encode("utf8")
    if random.random() < 0.3:
        tokens[at:at] = [word]
    elif random.random() < 0.2:
        tokens[at] += word
    else:
        tokens[at] = word
    return separator.join(tokens)


def alter_json(random: Random, value: Any) -> Any:
    """A copy in which one place has another value, is missing, or is there twice."""
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places:
        return random.choice(VALUES)
    holder, key = random.choice(places)
    what = random.random()
    if what < 0.15:
        del holder[key]
    elif what < 0.3:
        other, place = random.choice(places)
        holder[key] = copy.deepcopy(other[place])
    elif what < 0.4 and isinstance(holder[key], list):
        holder[key] = holder[key] * random.choice((2, 3)) if random.random() < 0.5 else []
    elif what < 0.7 and isinstance(holder[key], int | float):
        holder[key] = random.choice([v for v in VALUES if isinstance(v, int | float)])
    else:
        holder[key] = copy.deepcopy(random.choice(VALUES))
    return value


def _places(value: Any) -> Any:
    """``(container, key)`` of everything inside a JSON value."""
    items = (
        list(value.items())
        if isinstance(value, dict)
        else list(enumerate(value))
        if isinstance(value, list)
        else []
    )
    for key, inner in items:
        yield value, key
        yield from _places(inner)


def alter_array(random: Random, array: np.ndarray) -> np.ndarray:
    """An array with other values, another type or another shape."""
    with np.errstate(all="ignore"):
        for _ in range(20):
            try:
                if random.random() < 0.6:
                    return _other_values(random, array)
                return np.asarray(random.choice(list(ALTERATIONS.values()))(array))
            except (ValueError, TypeError, OverflowError, IndexError):
                continue
    return array[:0]


def _other_values(random: Random, array: np.ndarray) -> np.ndarray:
    """Some entries are other numbers, or are moved."""
    other = array.copy().reshape(-1)
    if other.dtype.kind == "U":
        other[random.randrange(other.size)] = random.choice(WORDS)[:5]
        return other.reshape(array.shape)
    for _ in range(random.choice((1, 1, 2, 5))):
        at = random.randrange(other.size)
        if random.random() < 0.3:
            other[at] = other[random.randrange(other.size)]
        elif random.random() < 0.3:
            other[at] = other[at] + random.choice((-1, 1, 100))
        else:
            other[at] = random.choice(NUMBERS)
    return other.reshape(array.shape)


def dump_json(value: Any) -> bytes:
    """JSON that may hold what a writer would refuse."""
    return json.dumps(value, indent=1).encode("ascii")
