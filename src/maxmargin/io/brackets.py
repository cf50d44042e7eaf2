"""Files of bracketed trees in the style of the Penn treebank, and of plain sentences."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from ..data.trees import Tree, as_tree, escape, fold
from ..errors import DataError
from ..saving.atomic import write_lines_atomic
from .sources import display_name, open_source

ROOT = "TOP"
"""The label of an outer bracket without one: ``( (S ...))`` is read as ``(TOP (S ...))``."""

_BLANK = re.compile(r"[ \t\n\r\f\v]+")  # other blanks of Unicode may be part of a word
_TOKEN = re.compile(
    r"\(\s*(?:([^\s()]+)\s+([^\s()]+)\s*\)|([^\s()]*))"  # a tag with its word, or an opening label
    r"|(\))|([^\s()]+)",
    re.ASCII,
)
_FUNCTION = re.compile(r"(?<=.)[-=|].*")


def read_trees(
    path: Any, traces: bool = False, functions: bool = False
) -> tuple[list[list[str]], list[Tree]]:
    """Read sentences and their trees from a bracketed file.

    A tree may take one line or several. An outer bracket without a label, as in the Penn
    treebank's own files, is labelled ``TOP``. Brackets that are words stay as they are written,
    ``-LRB-`` and ``-RRB-``.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    traces, functions : bool
        Whether to keep traces (words with the tag ``-NONE-``) and function tags (``-SBJ-1`` in
        ``NP-SBJ-1``); see `clean`.

    Returns
    -------
    X : list of lists of str
        The words.
    Y : list of Tree

    Raises
    ------
    DataError
        If the file cannot be read or is no bracketed file; the message names file and line.
    """
    name = display_name(path)
    with open_source(path) as stream:
        text = _decode(stream.read(), name)
    trees = parse_trees(text, name, traces, functions)
    if not trees:
        raise DataError("holds no trees; write them in brackets: (S (NP (PRP She)) ...)", name)
    return [tree.leaves() for tree in trees], trees


def parse_trees(
    text: str, name: str | None = None, traces: bool = True, functions: bool = True
) -> list[Tree]:
    """The trees of a text.

    Parameters
    ----------
    text : str
    name : str, optional
        The file it comes from, for messages.
    traces, functions : bool
        Whether to keep them; see `clean`. Trees without any other word are left out.

    Raises
    ------
    DataError
        If brackets are unbalanced, labels are missing, or words have no tag.
    """
    collecting = gc.isenabled()
    gc.disable()  # nothing here is ever garbage, and to look for it takes half of the time
    try:
        trees = _parse(text, name, _joiner(traces, functions))
    finally:
        if collecting:
            gc.enable()
    return trees if traces else [tree for tree in trees if tree.label != "-NONE-"]


def _parse(text: str, name: str | None, join: Callable[[str, list[Tree]], Tree]) -> list[Tree]:
    trees: list[Tree] = []
    tagged: dict[tuple[str, str], Tree] = {}  # trees never change, so that words share them
    parts: list[Tree] = trees  # of the innermost open bracket
    stack: list[tuple[str, list[Tree], int]] = []
    for number, (tag, word, label, close, loose) in enumerate(_TOKEN.findall(text)):
        if word:
            node = tagged.get((tag, word))
            if node is None:
                node = tagged[tag, word] = Tree(tag, (word,))
            parts.append(node)
        elif close:
            if not stack:
                raise _error(text, number, "this ')' closes nothing; remove it", name)
            label, outer, start = stack.pop()
            if not label or not parts:
                label = _outer_label(label, parts, bool(stack), text, start, name)
            outer.append(join(label, parts))
            parts = outer
        elif loose:
            raise _loose(text, number, loose, name)
        else:
            stack.append((label, parts, number))
            parts = []
    if stack:
        raise _error(text, stack[0][2], "this tree is never closed; a ')' is missing", name)
    return trees


def _outer_label(
    label: str, parts: list[Tree], inside: bool, text: str, start: int, name: str | None
) -> str:
    """The name of an outer bracket without one; everything else that lacks something is refused."""
    if not parts:
        remedy = "write tag and word, as in (NN dog)" if label else "remove it"
        raise _error(text, start, f"({label}) holds nothing; {remedy}", name)
    if inside:
        raise _error(text, start, "a bracket inside a tree has no label; give it one", name)
    return ROOT


def _loose(text: str, number: int, word: str, name: str | None) -> DataError:
    return _error(
        text,
        number,
        f"the word {word!r} has no bracket of its own; write each word with its tag, as in "
        f"(NN {word}), and nothing between trees",
        name,
    )


def _error(text: str, number: int, message: str, name: str | None) -> DataError:
    """An error at a token, given by its number."""
    token = next(islice(_TOKEN.finditer(text), number, None))
    line = text.count("\n", 0, token.start()) + 1
    return DataError(message, name, line if name is not None or line > 1 else None)


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            "is not UTF-8; convert the file, for example with: iconv -f latin1 -t utf-8",
            name,
            content.count(b"\n", 0, error.start) + 1,
        ) from error


def clean(tree: Any, traces: bool = False, functions: bool = False) -> Tree | None:
    """The tree without traces and function tags.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
    traces : bool
        Whether to keep words with the tag ``-NONE-``. Without them, constituents left without
        words go too.
    functions : bool
        Whether to keep what follows the first ``-``, ``=`` or ``|`` of a constituent's label.

    Returns
    -------
    Tree or None
        None if no word is left. A constituent whose only part has its own label, which the removal
        often makes, is left out (unless both are kept).

    Examples
    --------
    >>> print(clean("(S (NP-SBJ (-NONE- *T*-1)) (VP=2 (VB Go)))"))
    (S (VP (VB Go)))
    """
    join = _joiner(traces, functions)

    def make(node: Tree, values: list[Any]) -> Tree:
        return node if node.preterminal else join(node.label, values)

    cleaned = fold(as_tree(tree), lambda node: node.children, make)
    return cleaned if traces or cleaned.label != "-NONE-" else None


_NOTHING = Tree("-NONE-", ("",))  # stands for a constituent without words until its parent drops it


def _joiner(traces: bool, functions: bool) -> Callable[[str, list[Tree]], Tree]:
    """What makes a constituent of its parts while leaving out what is not to be kept."""
    if traces and functions:
        return Tree
    short: dict[str, str] = {}  # labels without function tags

    def join(label: str, parts: list[Tree]) -> Tree:
        if not traces:
            for part in parts:
                if part.label == "-NONE-":
                    parts = [part for part in parts if part.label != "-NONE-"]
                    if not parts:
                        return _NOTHING
                    break
        if not functions:
            label = short.get(label) or short.setdefault(label, _FUNCTION.sub("", label))
        if len(parts) == 1 and parts[0].label == label and not parts[0].preterminal:
            return parts[0]
        return Tree(label, parts)

    return join


def read_sentences(path: Any, tagged: bool = False) -> list[list[Any]]:
    """Read plain sentences, one a line, words and punctuation separated by blanks.

    Empty lines are left out. Brackets are escaped as in trees: ``(`` becomes ``-LRB-``.

    Parameters
    ----------
    path : str, path or binary file object
        As for `read_trees`.
    tagged : bool
        Whether a token is a word, a slash and its tag, as in ``dog/NN``.

    Returns
    -------
    list of lists of str, or of pairs (word, tag)

    Raises
    ------
    DataError
        If the file cannot be read, has no words, or a word has no tag.
    """
    name = display_name(path)
    with open_source(path) as stream:
        text = _decode(stream.read(), name)
    sentences: list[list[Any]] = []
    for number, line in enumerate(text.split("\n"), 1):
        words: list[Any] = [escape(word) for word in _BLANK.split(line) if word]
        if tagged:
            words = [_split_tag(word, name, number) for word in words]
        if words:
            sentences.append(words)
    if not sentences:
        raise DataError("holds no sentences; write one a line, words separated by blanks", name)
    return sentences


def _split_tag(token: str, name: str, line: int) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")
    if not word or not tag:
        raise DataError(f"{token!r} is no word with its tag; write it as in dog/NN", name, line)
    return word, tag


def tree_lines(trees: Iterable[Any]) -> Iterator[str]:
    """The lines of a bracketed file, one tree a line, for `write_lines_atomic`.

    Parameters
    ----------
    trees : iterable of Tree, nltk.Tree or str

    Raises
    ------
    DataError
        If a label or word could not be read back: it is empty, or has blanks in it.
    """
    known: set[str] = set()
    for number, item in enumerate(trees):
        tree = as_tree(item)
        for node in tree.subtrees():
            for string in (node.label, node.children[0] if node.preterminal else node.label):
                if string not in known:
                    _check(number, string, string is node.label)  # type: ignore[arg-type]
                    known.add(string)  # type: ignore[arg-type]
        yield str(tree)


def _check(number: int, string: str, label: bool) -> None:
    if not string or _BLANK.search(string) or (label and ("(" in string or ")" in string)):
        what = "label" if label else "word"
        raise DataError(
            f"tree {number}: the {what} {string!r} cannot be written between brackets: it is "
            "empty, or has blanks or brackets in it"
        )


def write_trees(path: Any, trees: Iterable[Any]) -> None:
    """Write a bracketed file, one tree a line, complete or not at all.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output.
    trees : iterable of Tree, nltk.Tree or str
    """
    write_lines_atomic(path, tree_lines(trees))
