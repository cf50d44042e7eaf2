"""The grammar of templates.

A template is a text with one directive or pattern per line; ``#`` starts a comment::

    columns NAME NAME ...          names of the columns, by default: word pos
    padding BEFORE AFTER           words outside of a sequence, treated like its words
    TERM | TERM | ...              a pattern: the values of its terms are combined

    TERM   = bias | COLUMN | COLUMN[OFFSET] | COLUMN[FIRST..LAST] | FUNCTION(TERM)
             | AFFIX(TERM) | AFFIX(TERM, LENGTH) | AFFIX(TERM, SHORTEST..LONGEST)
    COLUMN = a name | col0 | col1 | ... | extra
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from ..errors import DataError
from .functions import AFFIXES, SIMPLE, Function

#: The column of a term that stands for every column after the first.
EXTRA = -1
MAX_OFFSET = 99
MAX_LENGTH = 999
MAX_NESTED = 20
DEFAULT_COLUMNS = ("word", "pos")

_TOKEN = re.compile(r"\s*([^\W\d]\w*|[+-]?\d+|\.\.|\S)")
_COLUMN_NUMBER = re.compile(r"col(\d{1,4})")
_FUNCTIONS = sorted(SIMPLE | AFFIXES)
_RESERVED = {"bias", "columns", "extra", "padding", *_FUNCTIONS}


@dataclass(frozen=True)
class Term:
    """Functions, in their order, of a column of a token at an offset from the current one."""

    column: int
    offset: int
    functions: tuple[Function, ...] = ()

    def text(self, columns: tuple[str, ...]) -> str:
        """The text of the term in a template, with these names of columns."""
        text = f"{column_name(self.column, columns)}[{self.offset}]"
        for function in self.functions:
            text = function.text(text)
        return text


#: The terms of a pattern; the empty tuple is the bias.
Pattern = tuple[Term, ...]


def column_name(column: int, columns: tuple[str, ...]) -> str:
    """The name of a column."""
    if column == EXTRA:
        return "extra"
    return columns[column] if column < len(columns) else f"col{column}"


def parse_columns(words: list[str]) -> tuple[str, ...]:
    """The names in a ``columns`` line."""
    for name in words:
        if not re.fullmatch(r"[^\W\d]\w*", name):
            raise DataError(f"{name!r} is not a name: use letters, digits and _")
        if name in _RESERVED or _COLUMN_NUMBER.fullmatch(name):
            raise DataError(f"the name {name!r} is reserved; choose another")
    if not words or len(set(words)) < len(words):
        raise DataError("columns must be followed by the names of the columns, all different")
    return tuple(words)


def parse_pattern(line: str, columns: tuple[str, ...]) -> list[Pattern]:
    """The patterns of a line: several if its only term has a range of offsets."""
    texts = [text.strip() for text in line.split("|")]
    if texts == ["bias"]:
        return [()]
    terms = [_TermParser(text, columns).parse() for text in texts]
    if len(terms) == 1:
        return [(term,) for term in terms[0]]
    for text, choices in zip(texts, terms, strict=True):
        if len(choices) > 1:
            raise DataError(
                f"term {text!r}: a range of offsets cannot be combined; write one line per offset"
            )
    return [tuple(term for [term] in terms)]


class _TermParser:
    """Recursive descent over the tokens of one term."""

    def __init__(self, text: str, columns: tuple[str, ...]):
        self.text = text
        self.columns = columns
        self.tokens = _TOKEN.findall(text)
        self.at = 0
        self.depth = 0

    def parse(self) -> list[Term]:
        if not self.tokens:
            raise DataError("a term is missing next to a '|'")
        if self.text == "bias":
            raise self.error("the bias must be alone on its line")
        terms = self.term()
        if self.at < len(self.tokens):
            raise self.error(f"unexpected {self.tokens[self.at]!r} after a complete term")
        return terms

    def error(self, message: str) -> DataError:
        return DataError(f"term {self.text!r:.200}: {message}")

    def accept(self, token: str) -> bool:
        found = self.tokens[self.at : self.at + 1] == [token]
        self.at += found
        return found

    def expect(self, token: str) -> None:
        if not self.accept(token):
            found = repr(self.tokens[self.at]) if self.at < len(self.tokens) else "the end"
            raise self.error(f"expected {token!r}, found {found}")

    def term(self) -> list[Term]:
        name = self.tokens[self.at] if self.at < len(self.tokens) else ""
        self.at += 1
        if self.tokens[self.at : self.at + 1] == ["("]:
            return self.function(name)
        column = self.column(name)
        offsets = range(1)
        if self.accept("["):
            low, high = self.interval("an offset", -MAX_OFFSET, MAX_OFFSET)
            self.expect("]")
            offsets = range(low, high + 1)
        return [Term(column, offset) for offset in offsets]

    def function(self, name: str) -> list[Term]:
        if name not in _FUNCTIONS:
            raise self.error(f"no function {name!r}; the functions are {', '.join(_FUNCTIONS)}")
        self.depth += 1
        if self.depth > MAX_NESTED:
            raise self.error(f"more than {MAX_NESTED} functions of each other")
        self.expect("(")
        inner = self.term()
        function = Function(name)
        if self.accept(","):
            if name not in AFFIXES:
                raise self.error(f"{name} takes only a column")
            low, high = self.interval("a length", 1, MAX_LENGTH)
            function = Function(name, low, high)
        self.expect(")")
        return [replace(term, functions=(*term.functions, function)) for term in inner]

    def column(self, name: str) -> int:
        if name == "extra":
            return EXTRA
        if name in self.columns:
            return self.columns.index(name)
        if number := _COLUMN_NUMBER.fullmatch(name):
            return int(number[1])
        known = ", ".join(self.columns)
        raise self.error(f"no column {name!r}; the columns are {known}, col0, col1, ... and extra")

    def interval(self, what: str, least: int, most: int) -> tuple[int, int]:
        low = high = self.integer(what, least, most)
        if self.accept(".."):
            high = self.integer(what, least, most)
        if high < low:
            raise self.error(f"the range {low}..{high} is empty; write {high}..{low}")
        return low, high

    def integer(self, what: str, least: int, most: int) -> int:
        token = self.tokens[self.at] if self.at < len(self.tokens) else "the end"
        if not re.fullmatch(r"[+-]?[0-9]{1,9}", token) or not least <= int(token) <= most:
            raise self.error(f"expected {what} from {least} to {most}, found {token!r}")
        self.at += 1
        return int(token)


def meaningful_lines(text: str) -> Iterator[tuple[int, str]]:
    """The non-empty lines without comments, with their numbers from 1 on."""
    for number, line in enumerate(text.splitlines(), 1):
        if content := line.partition("#")[0].strip():
            yield number, content
