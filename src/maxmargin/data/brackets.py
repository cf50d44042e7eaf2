"""Trees written in brackets, in the style of the Penn treebank."""

from __future__ import annotations

import gc
import re
from collections.abc import Callable
from itertools import islice
from typing import Any

from ..errors import DataError
from .trees import Tree, fold

ROOT = "TOP"
"""The label of an outer bracket without label: ``( (S ...))`` is read as ``(TOP (S ...))``."""

_TOKEN = re.compile(
    r"\(\s*(?:([^\s()]+)\s+([^\s()]+)\s*\)|([^\s()]*))"  # a tag with its word, or an opening label
    r"|(\))|([^\s()]+)",
    re.ASCII,
)
_FUNCTION = re.compile(r"(?<=.)[-=|].*")


def as_tree(obj: Any) -> Tree:
    """A `Tree` from a `Tree`, an ``nltk.Tree`` or a bracketed string.

    Parameters
    ----------
    obj : Tree, nltk.Tree or str
        A str is in Penn style: ``(S (NP (D the) (N dog)) (VP (V barks)))``.

    Raises
    ------
    DataError
        If ``obj`` has another type, or is not a tree over tagged words.

    Examples
    --------
    >>> as_tree("( (S (NP (PRP She)) (VP (VBZ sleeps))))").label
    'TOP'
    """
    if isinstance(obj, Tree):
        return obj
    if isinstance(obj, str):
        found = parse_trees(obj)
        if len(found) != 1:
            raise DataError(f"the string contains {len(found)} trees; give one, as in (NN dog)")
        return found[0]
    if isinstance(obj, list) and callable(getattr(obj, "label", None)):
        return fold(obj, list, lambda node, values: Tree(str(node.label()), values))
    raise DataError(
        f"{type(obj).__name__} is not a tree; give a maxmargin.Tree, an nltk.Tree or a bracketed "
        "string"
    )


def parse_trees(
    text: str, name: str | None = None, traces: bool = True, functions: bool = True
) -> list[Tree]:
    """The trees of a text.

    Parameters
    ----------
    text : str
    name : str, optional
        The name of the file, for error messages.
    traces, functions : bool
        Whether to keep traces and function tags; see `clean`. Trees that consist of traces only
        are left out.

    Raises
    ------
    DataError
        If brackets are unbalanced, labels are missing, or words have no tag.
    """
    collecting = gc.isenabled()
    gc.disable()  # nothing here becomes garbage, and collecting takes half of the time
    try:
        trees = _parse(text, name, _joiner(traces, functions))
    finally:
        if collecting:
            gc.enable()
    return trees if traces else [tree for tree in trees if tree.label != "-NONE-"]


def _parse(text: str, name: str | None, join: Callable[[str, list[Tree]], Tree]) -> list[Tree]:
    trees: list[Tree] = []
    tagged: dict[tuple[str, str], Tree] = {}  # trees are immutable, so equal words share one
    parts: list[Tree] = trees  # the children of the innermost open bracket
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
            opened = stack[-1][2] if stack else None
            raise _loose(text, number, loose, opened, name)
        else:
            stack.append((label, parts, number))
            parts = []
    if stack:
        raise _error(text, stack[0][2], "this tree is never closed; a ')' is missing", name)
    return trees


def _outer_label(
    label: str, parts: list[Tree], inside: bool, text: str, start: int, name: str | None
) -> str:
    """The label of an outer bracket without label; a DataError for other incomplete brackets."""
    if not parts:
        remedy = "write tag and word, as in (NN dog)" if label else "remove it"
        raise _error(text, start, f"({label}) is empty; {remedy}", name)
    if inside:
        raise _error(text, start, "a bracket inside a tree has no label; give it one", name)
    return ROOT


def _loose(text: str, number: int, word: str, opened: int | None, name: str | None) -> DataError:
    """The error for a word without brackets; ``opened`` is the innermost open bracket."""
    tokens = _TOKEN.finditer(text)
    unclosed = text.count("(") > text.count(")")
    if (
        unclosed and opened is not None and opened == number - 1
    ):  # the word follows a label, as in (DT the
        bracket, token, after = next(islice(tokens, opened, None)), next(tokens), next(tokens, None)
        if after is None or after[0].startswith("("):
            shown = f"{bracket[0]} {token[0]}"
            return _error(text, opened, f"{shown!r} is never closed; a ')' is missing", name)
    return _error(
        text,
        number,
        f"the word {word!r} has no tag; write each word in brackets with its tag, as in "
        f"(NN {word}), and nothing between trees",
        name,
    )


def _error(text: str, number: int, message: str, name: str | None) -> DataError:
    """The DataError for the token with this number."""
    token = next(islice(_TOKEN.finditer(text), number, None))
    line = text.count("\n", 0, token.start()) + 1
    return DataError(message, name, line if name is not None or line > 1 else None)


def clean(tree: Any, traces: bool = False, functions: bool = False) -> Tree | None:
    """The tree without traces and function tags.

    Parameters
    ----------
    tree : Tree, nltk.Tree or str
        The tree, which is not changed.
    traces : bool
        Whether to keep words with the tag ``-NONE-``. If not, constituents that have no other
        words are removed too.
    functions : bool
        Whether to keep what follows the first ``-``, ``=`` or ``|`` of a constituent's label.

    Returns
    -------
    Tree or None
        None if no word is left. A constituent whose only child has the same label, which removing
        often creates, is merged with it (unless traces and functions are both kept).

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


_NOTHING = Tree("-NONE-", ("",))  # a constituent without words, which its parent removes


def _joiner(traces: bool, functions: bool) -> Callable[[str, list[Tree]], Tree]:
    """A function that makes a constituent from its children, without what is not kept."""
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
