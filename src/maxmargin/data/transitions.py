"""Masks of allowed transitions between the labels of a chain."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DataError
from .sequences import Sequences

#: Prefixes after which a segment can continue, prefixes that continue one, and all prefixes.
#: BILOU uses L and U where BIOES uses E and S.
_INSIDE = {"bio": "BI", "bioes": "BI"}
_CONTINUES = {"bio": "I", "bioes": "IEL"}
_PREFIXES = {"bio": "BI", "bioes": "BIESLU"}


def allowed_transitions(transitions: Any, classes: np.ndarray) -> np.ndarray:
    """The mask of allowed transitions.

    Parameters
    ----------
    transitions : None, "bio", "bioes", pairs of labels or bool array
        The name of the labels' tagging scheme; or the allowed pairs ``(label, next label)``, where
        ``(None, label)`` allows a first label and ``(label, None)`` a last label (without such
        pairs all are allowed); or an array ``(K, K)`` or ``(K + 2, K)`` in the order of
        ``classes``. None allows all transitions.
    classes : array (K,)

    Returns
    -------
    bool array (K + 2, K)
        ``[from, to]``, then a row of allowed first labels and a row of allowed last labels.
    """
    K = len(classes)
    if transitions is None:
        return np.ones((K + 2, K), bool)
    if isinstance(transitions, str):
        if transitions not in _INSIDE:
            raise DataError(
                "transitions must be 'bio', 'bioes', pairs of labels or a bool array, got "
                f"{transitions!r}"
            )
        return _by_scheme(transitions, classes.tolist())
    if isinstance(transitions, np.ndarray) and transitions.dtype == bool:
        return _by_array(transitions, K)
    return _by_pairs(transitions, classes.tolist())


def _by_scheme(scheme: str, classes: list[Any]) -> np.ndarray:
    parts = [_split_tag(label, scheme) for label in classes]
    K = len(classes)
    allowed = np.zeros((K + 2, K), bool)
    for a, (before, kind) in enumerate(parts):
        inside = before in _INSIDE[scheme]
        for b, (after, kind_after) in enumerate(parts):
            if after in _CONTINUES[scheme]:
                allowed[a, b] = inside and kind == kind_after
            else:  # a new segment or none: in BIOES only if the last segment has ended
                allowed[a, b] = scheme == "bio" or not inside
        allowed[K, a] = before not in _CONTINUES[scheme]
        allowed[K + 1, a] = scheme == "bio" or not inside
    return allowed


def _split_tag(label: Any, scheme: str) -> tuple[str, str]:
    """Prefix and type of a tag."""
    if label == "O":
        return "O", ""
    if isinstance(label, str):
        prefix, _, kind = label.partition("-")
        if len(prefix) == 1 and prefix in _PREFIXES[scheme]:
            return prefix, kind
    raise DataError(
        f"the label {label!r} is not a {scheme.upper()} tag: with transitions={scheme!r} labels "
        f"must be 'O' or one of {', '.join(_PREFIXES[scheme])} with a type, as in 'B-NP'",
        label=label,
    )


def _by_array(mask: np.ndarray, K: int) -> np.ndarray:
    if mask.shape == (K + 2, K):
        return mask.copy()
    if mask.shape != (K, K):
        raise DataError(
            f"the mask of transitions has shape {mask.shape}: {K} labels need ({K}, {K}), or "
            f"({K + 2}, {K}) with a row of first labels and a row of last labels"
        )
    return np.vstack([mask, np.ones((2, K), bool)])


def _by_pairs(pairs: Any, classes: list[Any]) -> np.ndarray:
    K = len(classes)
    number = {label: k for k, label in enumerate(classes)}
    allowed = np.zeros((K + 2, K), bool)
    try:
        pairs = [(a, b) for a, b in pairs]
    except (TypeError, ValueError) as error:
        raise DataError(
            f"transitions must be 'bio', 'bioes', pairs of labels or a bool array, got {pairs!r}"
        ) from error
    if any(isinstance(label, bool) for pair in pairs for label in pair) and not any(
        isinstance(label, bool) for label in classes
    ):
        raise DataError("a mask of transitions must be an array: use numpy.array(..., bool)")
    for a, b in pairs:
        # Labels that are not in the training data are no error: a fold may not contain them.
        if a is None and b in number:
            allowed[K, number[b]] = True
        elif b is None and a in number:
            allowed[K + 1, number[a]] = True
        elif a in number and b in number:
            allowed[number[a], number[b]] = True
    for row in (K, K + 1):
        if not allowed[row].any():
            allowed[row] = True
    return allowed


def check_gold(allowed: np.ndarray, X: Sequences, codes: np.ndarray, classes: np.ndarray) -> None:
    """Raise a DataError for true labels that the mask forbids; it names sequence and token.

    Parameters
    ----------
    allowed : bool array (K + 2, K)
        As from `allowed_transitions`.
    X : Sequences
    codes : int array (total,)
        Class numbers of all tokens.
    classes : array (K,)
    """
    K = len(classes)
    starts, ends, after = _places(X)
    bad = after[~allowed[codes[after - 1], codes[after]]]
    names = classes.tolist()
    if len(bad):
        i, t = X.locate(bad[0])
        a, b = names[codes[bad[0] - 1]], names[codes[bad[0]]]
        raise DataError(
            f"the true labels of sequence {i} go from {a!r} to {b!r} at token {t}, which "
            "transitions forbids: correct the labels, or allow it",
            sequence=i,
            token=t,
        )
    for row, tokens, what in ((K, starts, "begin"), (K + 1, ends, "end")):
        bad = tokens[~allowed[row, codes[tokens]]]
        if len(bad):
            i, _ = X.locate(bad[0])
            raise DataError(
                f"the true labels of sequence {i} {what} with {names[codes[bad[0]]]!r}, which "
                "transitions forbids: correct the labels, or allow it",
                sequence=i,
                token=0 if what == "begin" else -1,
            )


def allow_gold(allowed: np.ndarray, X: Sequences, codes: np.ndarray) -> None:
    """Allow, in place, all transitions that occur in the labels ``codes`` of all tokens."""
    K = allowed.shape[1]
    starts, ends, after = _places(X)
    allowed[codes[after - 1], codes[after]] = True
    allowed[K, codes[starts]] = True
    allowed[K + 1, codes[ends]] = True


def _places(X: Sequences) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the first tokens, of the last tokens, and of all tokens but the first ones."""
    full = X.lengths > 0
    starts, ends = X.offsets[:-1][full], X.offsets[1:][full] - 1
    inner = np.ones(X.offsets[-1], bool)
    inner[starts] = False
    return starts, ends, np.flatnonzero(inner)
