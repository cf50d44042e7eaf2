"""Images of the demo: digits as PNG or as text, and learned transitions on a keypad."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode

import numpy as np

from ..datasets import KEYPAD

#: Side of a digit's image, in pixels.
SIDE = 8

#: From white to black.
_SHADES = " ░▒▓█"

#: Radius of a key and distance of two keys, in units of the SVG image.
_RADIUS, _STEP = 17, 58


def png(pixels: np.ndarray) -> bytes:
    """A greyscale PNG file of an array (rows, columns) with values from 0 (white) to 1 (black)."""
    grey = np.round(255 * (1 - np.clip(pixels, 0, 1))).astype(np.uint8)
    rows = b"".join(b"\0" + row.tobytes() for row in grey)
    size = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    parts = [_chunk(b"IHDR", size), _chunk(b"IDAT", zlib.compress(rows, 9)), _chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)


def image_address(digit: np.ndarray) -> str:
    """A digit's 64 pixels as a data URL."""
    return "data:image/png;base64," + b64encode(png(digit.reshape(SIDE, SIDE))).decode()


def digits_as_text(code: np.ndarray) -> str:
    """The images (length, 64) of a code side by side; each character stands for two pixels."""
    pairs = code.reshape(len(code), SIDE // 2, 2, SIDE).mean(axis=2)
    shade = np.round(pairs * (len(_SHADES) - 1)).astype(int)
    return "\n".join(
        "".join(_SHADES[value] for digit in shade for value in digit[row])
        for row in range(SIDE // 2)
    )


def favoured_pairs(transitions: np.ndarray) -> list[tuple[int, int]]:
    """The pairs (digit, next digit) with a positive weight, largest first."""
    order = np.argsort(-transitions, axis=None, kind="stable")
    pairs = [divmod(int(place), len(transitions)) for place in order]
    return [(a, b) for a, b in pairs if transitions[a, b] > 0]


def keypad_svg(transitions: np.ndarray) -> str:
    """SVG image of a keypad, with a line for each pair of digits with a positive weight.

    Parameters
    ----------
    transitions : array (10, 10)
        Weights ``[digit, next digit]``. The width of a line is the larger weight of its two
        directions; lines between keys that are not neighbours are dashed.
    """
    both = np.maximum(transitions, transitions.T)
    largest = max(float(both.max()), 1e-9)
    lines = [
        _line(a, b, 9 * both[a, b] / largest)
        for a in range(10)
        for b in range(a, 10)
        if both[a, b] > 0
    ]
    keys = []
    for digit in range(10):
        x, y = _middle(digit)
        keys.append(f'<circle cx="{x}" cy="{y}" r="{_RADIUS}"/>')
        keys.append(f'<text x="{x}" y="{y + 6}">{digit}</text>')
    width, height = 2 * _STEP + 50, 3 * _STEP + 50
    return (
        f'<svg class="keypad" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'role="img" aria-label="Keypad with lines between the digits that follow each other">'
        f"{''.join(lines)}{''.join(keys)}</svg>"
    )


def _middle(digit: int) -> tuple[int, int]:
    row, column = (3, 1) if digit == 0 else divmod(digit - 1, 3)
    return 25 + _STEP * column, 25 + _STEP * row


def _line(a: int, b: int, width: float) -> str:
    (x, y), (to_x, to_y) = _middle(a), _middle(b)
    kind = "" if b in KEYPAD[a] else ' class="far"'
    return (
        f'<line{kind} x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" style="stroke-width:{width:.1f}"/>'
    )
