"""Text from data for screens and pages: control characters are replaced by visible escapes.

A label may contain characters that change the terminal, hide text or reverse its direction. Data
output (files, JSON, pipes) is not changed.
"""

from __future__ import annotations

import re
from typing import Any

#: Controls (C0, DEL, C1), line and paragraph separators, characters that change the direction of
#: text, and single surrogates, which no encoding of text can express.
_CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def printable(value: Any, keep: str = "") -> str:
    r"""The text of a value with visible escapes, such as ``\x1b``, for control characters.

    Parameters
    ----------
    value : object
    keep : str
        Control characters that are left as they are, such as ``"\n\t"`` in text of several lines.

    Examples
    --------
    >>> print(printable("a\x1b[31mb\u202e"))
    a\x1b[31mb\u202e
    """

    def visible(found: re.Match[str]) -> str:
        character = found[0]
        return character if character in keep else character.encode("unicode_escape").decode()

    return _CONTROLS.sub(visible, str(value))


def clipped(value: Any, length: int = 80) -> str:
    """The printable text of a value, cut with an ellipsis if it is longer."""
    text = str(value)
    if len(text) > length:
        text = text[: length - 1] + "…"
    return printable(text)
