"""Counts of predicted against true sequences of labels, and all figures computed from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.printable import printable
from ..errors import DataError
from .chunks import NO_TYPE, are_chunk_labels, find_chunks, split_labels
from .counts import Counts, frequent_errors, plain
from .inputs import all_labels, as_list, check_lengths

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class SequenceEvaluation:
    """Counts of predicted sequences; ``print`` shows the output of ``conlleval`` and one more line.

    Attributes
    ----------
    labels : list
        The labels of the model, then all others that occur.
    n_known : int
        Number of ``labels`` that the model knows.
    confusion : int array (k, k)
        ``confusion[t, p]`` is the number of tokens of label t with prediction p.
    n_sequences, n_exact : int
        Number of sequences, and of sequences without any error.
    entities : Counts or None
        Entities of each type, by the rules of ``conlleval``; None if the labels are not chunk tags
        (strings, at least one of which begins with ``B-``, ``I-``, ``E-`` or ``S-``).

    Examples
    --------
    >>> print(evaluate_sequences([["B-NP", "I-NP", "O"]], [["B-NP", "O", "O"]]))
    processed 3 tokens with 1 phrases; found: 1 phrases; correct: 0.
    accuracy:  66.67%; precision:   0.00%; recall:   0.00%; FB1:   0.00
                   NP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
    sequences: 1; without error: 0 (0.00%)
    """

    labels: list[Any]
    n_known: int
    confusion: np.ndarray
    n_sequences: int
    n_exact: int
    entities: Counts | None

    @property
    def n_tokens(self) -> int:
        """Number of tokens."""
        return int(self.confusion.sum())

    @property
    def n_correct(self) -> int:
        """Number of tokens with the correct label."""
        return int(self.confusion.trace())

    @property
    def n_unseen(self) -> int:
        """Number of tokens whose true label the model does not know."""
        return int(self.confusion[self.n_known :].sum())

    @property
    def accuracy(self) -> float:
        """Fraction of the tokens with the correct label; 0 if there are none."""
        return self.n_correct / max(self.n_tokens, 1)

    @property
    def sequence_accuracy(self) -> float:
        """Fraction of the sequences without any error; 0 if there are none."""
        return self.n_exact / max(self.n_sequences, 1)

    @property
    def tokens(self) -> Counts:
        """Counts of tokens per label."""
        return Counts.of(self.labels, self.confusion)

    @property
    def precision(self) -> float | None:
        """Fraction of the predicted entities that are correct."""
        return None if self.entities is None else float(self.entities.overall.precision[0])

    @property
    def recall(self) -> float | None:
        """Fraction of the true entities that are found."""
        return None if self.entities is None else float(self.entities.overall.recall[0])

    @property
    def f1(self) -> float | None:
        """Harmonic mean of the entities' precision and recall."""
        return None if self.entities is None else float(self.entities.overall.f1[0])

    def errors(self, n: int | None = None) -> list[tuple[Any, Any, int]]:
        """The n most frequent errors as ``(true label, predicted label, tokens)``; default all."""
        found = frequent_errors(self.confusion, n)
        return [(self.labels[t], self.labels[p], count) for t, p, count in found]

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot the confusion matrix of labels; see ``maxmargin.report.confusion``."""
        from ..report.confusion import plot_confusion

        return plot_confusion(self.labels, self.confusion, path)

    def to_dict(self) -> dict[str, Any]:
        """All numbers as JSON types."""
        entities = None
        if self.entities is not None:
            entities = {"overall": self.entities.overall.rows()[0], "types": self.entities.rows()}
        return {
            "n_sequences": self.n_sequences,
            "n_exact": self.n_exact,
            "sequence_accuracy": self.sequence_accuracy,
            "n_tokens": self.n_tokens,
            "n_correct": self.n_correct,
            "n_unseen": self.n_unseen,
            "accuracy": self.accuracy,
            "entities": entities,
            "labels": self.tokens.rows(),
            "errors": [[plain(t), plain(p), n] for t, p, n in self.errors()],
        }

    def __str__(self) -> str:
        lines = self._entity_lines() if self.entities is not None else self._token_lines()
        exact = f"{self.n_exact} ({100 * self.sequence_accuracy:.2f}%)"
        lines.append(f"sequences: {self.n_sequences}; without error: {exact}")
        if self.n_unseen:
            lines.append(f"tokens with a label that the model does not know: {self.n_unseen}")
        return "\n".join(lines)

    def _token_lines(self) -> list[str]:
        head = f"processed {self.n_tokens} tokens; correct: {self.n_correct}."
        return [head, f"accuracy: {100 * self.accuracy:6.2f}%", str(self.tokens)]

    def _entity_lines(self) -> list[str]:
        """The output of ``conlleval``."""
        assert self.entities is not None
        overall = self.entities.overall
        phrases, found, correct = overall.support[0], overall.found[0], overall.correct[0]
        return [
            f"processed {self.n_tokens} tokens with {phrases} phrases; "
            f"found: {found} phrases; correct: {correct}.",
            f"accuracy: {100 * self.accuracy:6.2f}%; {_scores(overall.rows()[0])}",
            *(
                f"{printable(row['name']):>17}: {_scores(row)}  {row['found']}"
                for row in self.entities.rows()
            ),
        ]


def evaluate_sequences(
    truth: Iterable[Sequence[Any]],
    predicted: Iterable[Sequence[Any]],
    classes: Iterable[Any] | None = None,
) -> SequenceEvaluation:
    """Compare predicted with true sequences of labels.

    Parameters
    ----------
    truth, predicted : lists of sequences of labels
        Labels may be of any hashable type.
    classes : iterable of labels, optional
        The labels that the model knows; by default all labels that occur.

    Raises
    ------
    DataError
        If the lengths of two sequences, or the numbers of sequences, differ.
    """
    there, given = [as_list(y) for y in truth], [as_list(y) for y in predicted]
    offsets = check_lengths(there, given)
    flat = list(chain(*there)), list(chain(*given))
    labels, n_known = all_labels(flat, classes)
    number = {label: k for k, label in enumerate(labels)}
    true, guess = (np.fromiter(map(number.__getitem__, y), np.intp, len(y)) for y in flat)
    k = len(labels)
    confusion = np.bincount(true * k + guess, minlength=k * k).reshape(k, k)
    wrong = np.concatenate([[0], np.cumsum(true != guess)])[offsets]
    n_exact = int((np.diff(wrong) == 0).sum())
    entities = _count_entities(labels, true, guess, offsets)
    return SequenceEvaluation(labels, n_known, confusion, len(there), n_exact, entities)


def classification_report(
    truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]], output_dict: bool = False
) -> str | dict[str, dict[str, float]]:
    """Precision, recall, F1 and support of each type of entity, as scikit-learn reports classes.

    Parameters
    ----------
    truth, predicted : lists of sequences of labels
        Chunk tags such as "B-PER", whose entities are counted by the rules of ``conlleval``; for
        other labels the tokens of each label are counted.
    output_dict : bool
        Return a dict instead of text.

    Returns
    -------
    str or dict
        ``{type: {"precision": ..., "recall": ..., "f1-score": ..., "support": ...}}``, with the
        additional keys "micro avg", "macro avg" and "weighted avg".

    Examples
    --------
    >>> Y = [["B-PER", "O", "B-LOC"]]
    >>> classification_report(Y, [["B-PER", "O", "O"]], output_dict=True)["LOC"]["recall"]
    0.0
    """
    found = evaluate_sequences(truth, predicted)
    counts = found.tokens if found.entities is None else found.entities
    return counts.report() if output_dict else str(counts)


def token_accuracy(truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]) -> float:
    """Fraction of the tokens with the correct label."""
    return evaluate_sequences(truth, predicted).accuracy


def sequence_accuracy(truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]) -> float:
    """Fraction of the sequences without any error."""
    return evaluate_sequences(truth, predicted).sequence_accuracy


def entity_f1(truth: Iterable[Sequence[Any]], predicted: Iterable[Sequence[Any]]) -> float:
    """F1 of the entities of all types together, by the rules of ``conlleval``.

    Raises
    ------
    DataError
        If the labels are not chunk tags.
    """
    f1 = evaluate_sequences(truth, predicted).f1
    if f1 is None:
        raise DataError("no label is a chunk tag such as 'B-NP': there are no entities to count")
    return f1


def _scores(row: dict[str, Any]) -> str:
    precision, recall, f1 = (100 * row[key] for key in ("precision", "recall", "f1"))
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"


def _count_entities(
    labels: list[Any], true: np.ndarray, guess: np.ndarray, offsets: np.ndarray
) -> Counts | None:
    """Counts of entities per type; None if the labels are not chunk tags."""
    if not are_chunk_labels(labels):
        return None
    tags, kinds, types = split_labels(labels)
    no_type = types.index(NO_TYPE)
    true_chunks, found = (find_chunks(tags[y], kinds[y], offsets, no_type) for y in (true, guess))
    # No two entities of a sequence have the same start, so starts identify which to compare.
    _, i, j = np.intersect1d(
        true_chunks.start, found.start, assume_unique=True, return_indices=True
    )
    same = (true_chunks.stop[i] == found.stop[j]) & (true_chunks.kind[i] == found.kind[j])
    correct, n_found, support = (
        np.bincount(kind, minlength=len(types))
        for kind in (true_chunks.kind[i][same], found.kind, true_chunks.kind)
    )
    seen = np.flatnonzero(n_found + support)
    return Counts([types[k] for k in seen], correct[seen], n_found[seen], support[seen])
