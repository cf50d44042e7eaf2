"""Files of bracketed trees as in the Penn treebank, and files of plain sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from ..data.brackets import as_tree, parse_trees
from ..data.trees import Tree, escape
from ..errors import DataError
from ..saving.atomic import write_lines_atomic
from .sources import display_name, open_source

_BLANK = re.compile(r"[ \t\n\r\f\v]+")  # other Unicode spaces may be part of a word


def read_trees(
    path: Any, traces: bool = False, functions: bool = False
) -> tuple[list[list[str]], list[Tree]]:
    """Read sentences and their trees from a bracketed file.

    A tree may take one line or several. An outer bracket without a label, as in the Penn
    treebank's files, is labelled ``TOP``. Brackets that are words stay as they are in the file,
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
        The trees.

    Raises
    ------
    DataError
        If the file cannot be read or is not a bracketed file; the message names file and line.
    """
    name = display_name(path)
    with open_source(path) as stream:
        text = _decode(stream.read(), name)
    trees = parse_trees(text, name, traces, functions)
    if not trees:
        raise DataError("holds no trees; write them in brackets: (S (NP (PRP She)) ...)", name)
    return [tree.leaves() for tree in trees], trees


def _decode(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(
            "is not UTF-8; convert the file, for example with: iconv -f latin1 -t utf-8",
            name,
            content.count(b"\n", 0, error.start) + 1,
        ) from error


def read_sentences(path: Any, tagged: bool = False) -> list[list[Any]]:
    """Read plain sentences, one per line, with words and punctuation separated by spaces.

    Empty lines are left out. Brackets are escaped as in trees: ``(`` becomes ``-LRB-``.

    Parameters
    ----------
    path : str, path or binary file object
        As for `read_trees`.
    tagged : bool
        Whether each token is a word, a slash and its tag, as in ``dog/NN``.

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
        raise DataError("holds no sentences; write one per line, words separated by spaces", name)
    return sentences


def _split_tag(token: str, name: str, line: int) -> tuple[str, str]:
    word, _, tag = token.rpartition("/")
    if not word or not tag:
        raise DataError(f"{token!r} is not a word with its tag; write it as in dog/NN", name, line)
    return word, tag


def tree_lines(trees: Iterable[Any]) -> Iterator[str]:
    """The lines of a bracketed file, one tree per line, for `write_lines_atomic`.

    Parameters
    ----------
    trees : iterable of Tree, nltk.Tree or str
        The trees, one per line.

    Raises
    ------
    DataError
        If a label or word could not be read back because it is empty or contains spaces or
        brackets.
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
            "empty, or contains spaces or brackets"
        )


def write_trees(path: Any, trees: Iterable[Any]) -> None:
    """Write a bracketed file with one tree per line; an error leaves no partial file.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output.
    trees : iterable of Tree, nltk.Tree or str
        The trees, one per line.
    """
    write_lines_atomic(path, tree_lines(trees))
