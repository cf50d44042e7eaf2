"""Plain sentences, one per line, split into words by a tokenizer."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import DataError
from .brackets import decode_text
from .sources import display_name, open_source

Tokenizer = Callable[[str], Sequence[str]]

_WORDS = re.compile(r"\w+(?:['\u2019.-]\w+)*|[^\w\s]")

#: Tokenizers by name: at spaces, or also between words and punctuation.
TOKENIZERS: dict[str, Tokenizer] = {"spaces": str.split, "words": _WORDS.findall}


def read_raw(path: Any, tokenize: Tokenizer) -> list[list[str]]:
    """The words of each sentence of a text file; empty lines are left out.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    tokenize : callable
        From a line to its words.

    Raises
    ------
    DataError
        If the file cannot be read, has no words, or ``tokenize`` does not return strings; the
        message names file and line.
    """
    name = display_name(path)
    with open_source(path) as stream:
        text = decode_text(stream.read(), name)
    found = [_split(line, tokenize, name, i) for i, line in enumerate(text.split("\n"), 1)]
    sentences = [words for words in found if words]
    if not sentences:
        raise DataError("contains no words; write one sentence per line", name)
    return sentences


def _split(line: str, tokenize: Tokenizer, name: str, number: int) -> list[str]:
    try:
        words = list(tokenize(line.strip())) if line.strip() else []
    except Exception as error:
        raise DataError(f"the tokenizer fails: {error!r}", name, number) from error
    wrong = [word for word in words if not isinstance(word, str) or word.split() != [word]]
    if wrong:
        message = f"the tokenizer returned {wrong[0]!r}: words are strings without spaces"
        raise DataError(message, name, number)
    return words
