"""Entities (chunks) in sequences of tags, found by the rules of the CoNLL script ``conlleval``.

A label is a tag, a hyphen and a type: ``B-NP`` begins an entity of type NP, ``I-`` continues one
(or begins one if none of its type is open, as in IOB1), ``E-`` ends one, ``S-`` is an entity of one
token, and ``O`` is outside. The rules for B, I and O are those of the script. Its version of 2004
does not know S, and joins an entity that ends in E with a B right after it. Here E and S always end
an entity and S always begins one, as in ``seqeval`` (in its default mode) and in later versions of
the script. As in the script, ``[-NP`` and ``]-NP`` are entities of one word and ``.`` is outside.
Any other tag continues or begins an entity by its type alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

#: The type of tags without a type, such as ``B`` alone.
NO_TYPE = "_"

_TAGS = {tag: code for code, tag in enumerate("OBIES[].")}
_OTHER = len(_TAGS)


def _table(pairs: Iterable[tuple[str, str]]) -> np.ndarray:
    """``table[previous, current]`` is true for these pairs of tags; ``*`` stands for any tag."""
    table = np.zeros((_OTHER + 1, _OTHER + 1), bool)
    for pair in pairs:
        codes = (
            range(_OTHER + 1) if tags == "*" else [_TAGS[tag] for tag in tags] for tags in pair
        )
        table[np.ix_(*codes)] = True
    return table


_STARTS = _table([("*", "BS[]"), ("OES", "IE")])
_ENDS = _table([("ES[]", "*"), ("BI", "BSO")])

#: Tags that never begin or end an entity because of a change of type.
_OUTSIDE = np.isin(np.arange(_OTHER + 1), [_TAGS["O"], _TAGS["."]])


class Chunks(NamedTuple):
    """Entities in a range of tokens, in the order of their starts.

    Attributes
    ----------
    start, stop : int arrays (m,)
        Positions: an entity is ``labels[start:stop]``.
    kind : int array (m,)
        Number of the type of each entity.
    """

    start: np.ndarray
    stop: np.ndarray
    kind: np.ndarray


def are_chunk_labels(labels: Iterable[Any]) -> bool:
    """Whether all labels are strings, and one is a tag of an entity, or all are "O", "B" or "I"."""
    labels = list(labels)
    if not all(isinstance(label, str) for label in labels):
        return False
    typed = any(label.startswith(("B-", "I-", "E-", "S-", "[-", "]-")) for label in labels)
    return typed or ("O" in labels and set(labels) <= {"O", "B", "I"})


def split_labels(labels: Sequence[str]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """``(tags, kinds, types)``: the numbers of tag and type of each label, and all types."""
    parts = [label.partition("-") for label in labels]
    names = [type_ or NO_TYPE for _, _, type_ in parts]
    types = sorted({*names, NO_TYPE})
    number = {name: k for k, name in enumerate(types)}
    tags = np.array([_TAGS.get(tag, _OTHER) for tag, _, _ in parts], np.intp)
    return tags, np.array([number[name] for name in names], np.intp), types


def find_chunks(
    tags: np.ndarray, kinds: np.ndarray, offsets: np.ndarray, no_type: int = 0
) -> Chunks:
    """The entities of many sequences, whose tokens are stored one after the other.

    Parameters
    ----------
    tags, kinds : int arrays (n_tokens,)
        Numbers as returned by ``split_labels``.
    offsets : int array (n + 1,)
        Sequence i is ``tags[offsets[i]:offsets[i + 1]]``.
    no_type : int
        The number of ``NO_TYPE``.
    """
    # An O before the first and after each sequence keeps entities within their sequences.
    borders = np.insert(offsets[1:] + np.arange(1, len(offsets)), 0, 0)
    size = len(tags) + len(borders)
    inside = np.ones(size, bool)
    inside[borders] = False
    tag, kind = np.full(size, _TAGS["O"]), np.full(size, no_type)
    tag[inside], kind[inside] = tags, kinds
    starts, ends = _edges(tag, kind)
    edges = np.flatnonzero(starts | ends | ~inside)
    start = np.flatnonzero(starts)
    stop = edges[np.searchsorted(edges, start, side="right")]
    before = np.cumsum(~inside)[start]
    return Chunks(start - before, stop - before, kind[start])


def _edges(tag: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether an entity starts at each token, and whether one has ended right before it."""
    starts, ends = np.zeros(len(tag), bool), np.zeros(len(tag), bool)
    previous, current = tag[:-1], tag[1:]
    differ = kind[:-1] != kind[1:]
    starts[1:] = _STARTS[previous, current] | (differ & ~_OUTSIDE[current])
    ends[1:] = _ENDS[previous, current] | (differ & ~_OUTSIDE[previous])
    return starts, ends


def entities(labels: Sequence[str]) -> list[tuple[str, int, int]]:
    """The entities of one sequence: ``(type, start, stop)``, where ``labels[start:stop]`` is one.

    Parameters
    ----------
    labels : sequence of str
        Tags such as ``B-PER``, ``I-PER``, ``O``; also IOB1 and B, I, E, S, O.

    Returns
    -------
    list of (str, int, int)

    Examples
    --------
    >>> entities(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
    [('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
    """
    tags, kinds, types = split_labels(labels)
    chunks = find_chunks(tags, kinds, np.array([0, len(tags)]), types.index(NO_TYPE))
    return [
        (types[kind], start, stop)
        for start, stop, kind in zip(*(column.tolist() for column in chunks), strict=True)
    ]
