"""Window templates: which features a token has."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from ..errors import DataError
from .builtin import BUILTIN
from .parsing import DEFAULT_COLUMNS, EXTRA, Pattern, meaningful_lines, parse_columns, parse_pattern

_LARGEST_FILE = 1 << 20


class Template:
    r"""A window template, parsed from its text; docs/templates.md describes the language.

    Parameters
    ----------
    source : str, path or Template
        The name of a built-in template ("default", "chunking" or "pos"), a file, or the text of a
        template.

    Attributes
    ----------
    text : str
        The text, including comments.
    patterns : tuple of Pattern
        The patterns that are applied to each token, without duplicates.
    columns : tuple of str
        Names of the columns.
    padding : (str, str) or None
        The words before and after a sequence, if they are treated like its words.

    Raises
    ------
    DataError
        If the text is wrong; the message names the line and the term.

    Examples
    --------
    >>> Template("word[-1..1]\nprefix(lower(word), 1..3)").names
    ['word[-1]', 'word[0]', 'word[1]', 'prefix(lower(word[0]),1..3)']
    """

    def __init__(self, source: Any):
        text, path = _find(_as_text(source.text) if isinstance(source, Template) else source)
        self.text = text
        self.columns: tuple[str, ...] = DEFAULT_COLUMNS
        self.padding: tuple[str, str] | None = None
        self.patterns: tuple[Pattern, ...] = ()
        maybe_name = source == text and "\n" not in text
        hint = f"; nor is it a file, or one of {', '.join(BUILTIN)}" if maybe_name else ""
        self._parse(path, hint)

    @classmethod
    def from_text(cls, text: str) -> Template:
        """The template with this text, even if it is the name of a built-in template or a file."""
        return cls(_as_text(text))

    @property
    def names(self) -> list[str]:
        """The text of each pattern, which is the part of its features' names before ``=``."""
        return [self.name(pattern) for pattern in self.patterns]

    @property
    def n_columns(self) -> int:
        """Minimum number of columns of the tokens."""
        return 1 + max((term.column for p in self.patterns for term in p), default=-1)

    @property
    def reach(self) -> int:
        """The largest distance of a token that a pattern uses."""
        return max((abs(term.offset) for p in self.patterns for term in p), default=0)

    def name(self, pattern: Pattern) -> str:
        """The text of a pattern."""
        return "|".join(term.text(self.columns) for term in pattern) or "bias"

    def expand(self, n_columns: int) -> Template:
        """The template for tokens of ``n_columns`` columns, with ``extra`` written out."""
        if not any(term.column == EXTRA for p in self.patterns for term in p):
            return self
        lines = [] if self.columns == DEFAULT_COLUMNS else [f"columns {' '.join(self.columns)}"]
        if self.padding:
            lines.append(f"padding {' '.join(self.padding)}")
        for pattern in self.patterns:
            several = any(term.column == EXTRA for term in pattern)
            for column in range(1, n_columns) if several else [0]:
                full = (replace(t, column=column) if t.column == EXTRA else t for t in pattern)
                lines.append("|".join(t.text(self.columns) for t in full) or "bias")
        return Template.from_text("\n".join(lines))

    def __repr__(self) -> str:
        return f"<Template: {' '.join(self.names)}>"

    def _parse(self, path: str, hint: str) -> None:
        lines: list[tuple[int, str]] = []
        seen = set()
        for number, line in meaningful_lines(self.text):
            keyword, *words = line.split()
            if keyword not in ("columns", "padding"):
                lines.append((number, line))
                continue
            with _place(path, number, hint):
                if keyword in seen:
                    raise DataError(f"there is a {keyword} line already")
                seen.add(keyword)
                self._directive(keyword, words)
        patterns: dict[Pattern, None] = {}
        for number, line in lines:
            with _place(path, number, hint):
                patterns.update(dict.fromkeys(parse_pattern(line, self.columns)))
        if not patterns:
            raise DataError("no patterns; write one per line, such as word[-1]", path)
        self.patterns = tuple(patterns)

    def _directive(self, keyword: str, words: list[str]) -> None:
        if keyword == "columns":
            self.columns = parse_columns(words)
        elif len(words) == 2:
            self.padding = (words[0], words[1])
        else:
            raise DataError(
                "padding must be followed by two words: the one before and the one after"
            )


@contextmanager
def _place(path: str, line: int, hint: str) -> Iterator[None]:
    """Add the place in the template and a hint to the errors of a block."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error}{hint}", path, line) from None


def _as_text(text: str) -> str:
    """The text with a line end, which marks it as text and not as a name."""
    return text if "\n" in text else text + "\n"


def _find(source: Any) -> tuple[str, str]:
    """The text of a template, and its name in messages."""
    if isinstance(source, str):
        if source in BUILTIN:
            return BUILTIN[source], f"template {source!r}"
        if "\n" in source or not os.path.isfile(source):
            return source, "template"
    elif not isinstance(source, os.PathLike):
        raise DataError(f"a template must be a name, a file or a text, not {source!r}")
    return _read(source)


def _read(path: Any) -> tuple[str, str]:
    name = os.fsdecode(path)
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=name) from error
    if len(content) > _LARGEST_FILE:
        raise DataError("is too large for a template", path=name)
    try:
        return content.decode("utf-8-sig"), name
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise DataError("is not UTF-8; convert it to UTF-8", path=name, line=line) from error
