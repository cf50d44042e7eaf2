"""Conversion between schemes of chunk tags: IOB1, BIO (IOB2) and BIOES."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import DataError
from ..metrics.chunks import NO_TYPE, entities

SCHEMES = ("iob1", "bio", "bioes")

#: BILOU's names for BIOES' last and only tokens of an entity.
_BILOU = {"L": "E", "U": "S"}


def convert_tags(Y: Iterable[Sequence[str]], scheme: str) -> list[list[str]]:
    """The same entities in another scheme of tags.

    Parameters
    ----------
    Y : list of sequences of tags
        In any of the schemes, which is recognised by the rules of ``conlleval``; also BILOU.
    scheme : {"iob1", "bio", "bioes"}
        "iob1": ``I-`` for the tokens of an entity, ``B-`` only for the first token of one that
        follows another of the same type. "bio" (IOB2): ``B-`` for the first token of every entity.
        "bioes": also ``E-`` for its last token, and ``S-`` for the only one.

    Returns
    -------
    list of lists of tags

    Examples
    --------
    >>> Y = [["B-PER", "I-PER", "B-PER", "O"]]
    >>> convert_tags(Y, "bioes"), convert_tags(Y, "iob1")
    ([['B-PER', 'E-PER', 'S-PER', 'O']], [['I-PER', 'I-PER', 'B-PER', 'O']])
    """
    if scheme not in SCHEMES:
        raise DataError(f"scheme must be 'iob1', 'bio' or 'bioes', got {scheme!r}")
    return [_convert(i, labels, scheme) for i, labels in enumerate(Y)]


def _convert(i: int, labels: Sequence[Any], scheme: str) -> list[str]:
    tags = [_checked(i, t, label) for t, label in enumerate(labels)]
    out, last = ["O"] * len(tags), ("", -1)
    for kind, start, stop in entities(tags):
        prefixes = ["I"] * (stop - start)
        if scheme != "iob1" or last == (kind, start):
            prefixes[0] = "B"
        if scheme == "bioes":
            prefixes[-1] = "E" if stop - start > 1 else "S"
        end = "" if kind == NO_TYPE else f"-{kind}"
        out[start:stop] = [prefix + end for prefix in prefixes]
        last = (kind, stop)
    return out


def _checked(i: int, t: int, label: Any) -> str:
    """A tag with the prefixes of BIOES."""
    if isinstance(label, str):
        prefix, dash, kind = label.partition("-")
        prefix = _BILOU.get(prefix, prefix)
        if label == "O" or prefix in ("B", "I", "E", "S"):
            return f"{prefix}{dash}{kind}"
    raise DataError(
        f"the label {label!r} of token {t} of sequence {i} is not a chunk tag: tags are 'O', or "
        "B, I, E, S (or L, U) with a type, as in 'B-PER'",
        sequence=i,
        token=t,
        label=label,
    )
