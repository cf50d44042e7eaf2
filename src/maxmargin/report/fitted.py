"""The report of a fitted estimator: collects what it can say about itself and about data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..data.labels import as_label_array
from ..errors import DataError, MaxMarginError
from ..estimators.classifier import read_matrix
from ..metrics import SequenceEvaluation
from ..outputs.explain import explain, largest_slacks
from ..problem import as_kernel_problem
from .page import check_page
from .results import Outcome
from .training import Run, write_report

#: The examples with the largest slacks that are shown.
SUSPECTS = 10


def report_estimator(
    path: str | Path, clf: Any, X: Any = None, Y: Any = None, test: Any = None, n: int = 10
) -> None:
    """Write the report of an estimator; see ``ChainSVC.report``."""
    check_page(path)
    if (X is None) != (Y is None):
        raise MaxMarginError("a report needs both X and Y, or neither")
    sets = [] if X is None else [("training data", X, Y)]
    sets += [] if test is None else [("test data", *test)]
    outcomes = [found for name, A, B in sets if (found := outcome(clf, name, A, B)) is not None]
    suspects = None if X is None else find_suspects(clf, X, Y)
    size = "" if X is None else f"{len(Y):,} examples"
    write_report(path, describe(clf, size, outcomes, suspects, n))


def describe(
    clf: Any, size: str, outcomes: Sequence[Outcome], suspects: list[dict[str, Any]] | None, n: int
) -> Run:
    """What a report shows of a fitted estimator; ``size`` says what the data were."""
    name = type(clf).__name__
    parts = [size]
    if hasattr(clf, "n_features_in_"):
        parts.append(f"{clf.n_features_in_:,} features")
    if hasattr(clf, "classes_"):
        parts.append(f"{len(clf.classes_):,} labels")
    told = ", ".join(part for part in parts if part)
    return Run(
        clf.result_,
        title=f"{name}: training report",
        subject=f"{name} with C = {clf.C:g}{' on ' if told else ''}{told}.",
        settings=clf.get_params(deep=False),
        outcomes=outcomes,
        explanation=explain(clf, n) if _is_linear(clf) else None,
        suspects=suspects,
    )


def outcome(clf: Any, data: str, X: Any, Y: Any) -> Outcome | None:
    """Predictions on some data; None for structures that are no labels."""
    if not hasattr(clf, "classes_"):
        return None
    sequences = hasattr(clf, "transition_")
    truth, predicted = Y, clf.predict(X)
    if not sequences:
        truth, predicted = [as_label_array(Y).tolist()], [as_label_array(predicted).tolist()]
    try:
        found = SequenceEvaluation.of(truth, predicted, clf.classes_)
    except TypeError:  # trees and other outputs that are no sequences of labels
        return None
    return sequence_outcome(found, data) if sequences else (
        Outcome(data, found.labels, found.confusion)
    )  # fmt: skip


def sequence_outcome(found: SequenceEvaluation, data: str) -> Outcome:
    """What an evaluation of sequences tells."""
    more = (
        f"{found.n_exact:,} of {found.n_sequences:,} sequences are right as a whole "
        f"({100 * found.sequence_accuracy:.1f} %)."
    )
    if found.f1 is not None:
        more += (
            f" Entities, as conlleval counts them: precision {100 * (found.precision or 0):.2f}, "
            f"recall {100 * (found.recall or 0):.2f}, F1 {100 * found.f1:.2f} %."
        )
    return Outcome(data, found.labels, found.confusion, "tokens", more)


def find_suspects(clf: Any, X: Any, Y: Any, n: int = SUSPECTS) -> list[dict[str, Any]] | None:
    """The examples with the largest slack; None for models that do not tell."""
    if hasattr(clf, "suspects"):
        found = clf.suspects(X, Y, n)
        for suspect in found:
            suspect["words"] = _words(X, suspect["index"])
        return found
    if hasattr(clf, "problem"):  # a structure of the user's own
        problem = as_kernel_problem(clf.problem)
        pack, names = problem.pack(X, Y, None), None
    elif _is_linear(clf):
        problem, names = clf._problem(), clf.classes_.tolist()
        pack = problem.pack(*_encoded(clf, X, Y, names), None)
    else:
        return None
    found = largest_slacks(problem, pack, clf.result_.w, clf.rescaling, n)
    return [
        {"index": s.index, "slack": s.slack, "loss": s.loss,
         "truth": _output(s.truth, names), "worst": _output(s.worst, names)}
        for s in found
    ]  # fmt: skip


def _encoded(clf: Any, X: Any, y: Any, names: list[Any]) -> tuple[Any, np.ndarray]:
    """The rows and the labels of a linear classifier as its problem reads them."""
    numbers = {label: k for k, label in enumerate(names)}
    labels = as_label_array(y).tolist()
    strange = next((label for label in labels if label not in numbers), None)
    if strange is not None:
        raise DataError(
            f"the label {strange!r} was not trained: X and Y are the training examples, others "
            "are given as test=(X, Y)"
        )
    return read_matrix(clf, X, reset=False), clf._encode(
        np.array([numbers[label] for label in labels])
    )


def _is_linear(clf: Any) -> bool:
    if hasattr(clf, "grammar_"):  # the weights of a parser are those of rules
        return False
    return hasattr(clf, "coef_") and getattr(clf, "kernel", None) in (None, "linear")


def _output(labels: np.ndarray, names: list[Any] | None) -> Any:
    """An output by its name: a class number, or an object of the user's own."""
    if names is None:
        return labels[0] if len(labels) == 1 else labels.tolist()
    code = int(labels[0])
    if len(names) == 2 and code < 0:  # a binary label is -1 or 1
        code = 0
    return names[code]


def _words(X: Any, i: int) -> Any:
    """The tokens of a sequence, if they have words: columns, dicts or lists of names."""
    first = X[i] if not hasattr(X, "matrix") else None
    if first is None or hasattr(first, "shape") or not hasattr(first, "__len__"):
        return None
    return first
