"""What the commands do with sequences."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...cli.guard import check_output, warn
from ...errors import DataError, MaxMarginError
from ...estimators import CFGSVC, ChainSVC
from ...features import Template
from ...io import conll_lines, write_lines_atomic
from ...io.sources import display_name
from ...metrics import SequenceEvaluation
from .files import Tagged, located, match_labels, read_new, read_training, token_lines

#: So many different labels make one think of the wrong column.
_MANY_LABELS = 1000


def check_chain(parameters: dict[str, Any], form: str) -> None:
    """Refuse what can be refused before the data are read."""
    if form == "hmm" and parameters["template"] is not None:
        raise MaxMarginError(
            "--template makes features of columns, but files of SVM-HMM have their features: "
            "leave it out"
        )
    if parameters["template"] is not None:
        Template(parameters["template"])
    if parameters["class_weight"] is not None and parameters["loss"] != "hamming":
        raise MaxMarginError("--class-weight weighs the errors of tokens: use --loss hamming")


def read_chain_data(data: str, parameters: dict[str, Any], form: str, label: int | None) -> Tagged:
    """Read sequences to train on; completes the parameters by what the file is."""
    tagged = read_training(data, form, -1 if label is None else label)
    if tagged.form["format"] == "hmm":
        check_chain(parameters, "hmm")
        if label is not None:
            raise MaxMarginError(
                "--label is a column, and files of SVM-HMM have none: leave it out"
            )
    elif parameters["template"] is None:
        parameters["template"] = "default"
    _check_labels(tagged)
    return tagged


def _check_labels(tagged: Tagged) -> None:
    assert tagged.Y is not None
    labels = {label for labels in tagged.Y for label in labels}
    where = f"column {tagged.form['label']}" if "label" in tagged.form else "the file"
    name = display_name(tagged.data)
    if len(labels) == 1:
        hint = "; is --label right?" if "label" in tagged.form else ""
        raise DataError(
            f"all tokens have the label {labels.pop()!r} in {where}: two are needed{hint}", name
        )
    if len(labels) > _MANY_LABELS:
        warn(
            f"{name}: there are {len(labels):,} different labels in {where}, and each has its "
            "weights; if that is not the column of the labels, give --label"
        )


def fit_chain(tagged: Tagged, parameters: dict[str, Any]) -> ChainSVC:
    """Train; errors in the data name their lines."""
    estimator = ChainSVC(**parameters)
    with located(tagged):
        estimator.fit(tagged.X, tagged.Y)
    estimator._data_format = tagged.form
    return estimator


def predict_chain(estimator: ChainSVC, data: str, out: str, unlabelled: bool) -> None:
    """Write the columns with the predicted label after them, or one label a line."""
    tagged = read_new(data, estimator, unlabelled)
    predicted = estimator.predict(tagged.X)
    if tagged.table is None:
        write_lines_atomic(out, (str(label) for labels in predicted for label in labels))
    else:
        write_lines_atomic(out, conll_lines(tagged.table, predicted))


def predict_chain_m_best(
    estimator: ChainSVC, data: str, out: str, unlabelled: bool, m: int, diversity: float
) -> None:
    """Write each sequence once for each of its outputs, below a line of rank and score."""
    tagged = read_new(data, estimator, unlabelled)
    found = estimator.predict_m_best(tagged.X, m, diversity)
    rows: Any = [[()] * len(one[0][0]) for one in found] if tagged.table is None else tagged.table
    write_lines_atomic(out, _ranked_lines(rows, found))


def _ranked_lines(rows: Any, found: list[list[tuple[Any, float]]]) -> Iterator[str]:
    for tokens, outputs in zip(rows, found, strict=True):
        for rank, (labels, score) in enumerate(outputs):
            yield f"# {rank} {score}"
            for token, label in zip(tokens, labels, strict=True):
                yield " ".join((*token, str(label)))
            yield ""


def evaluate_chain(estimator: ChainSVC, data: str) -> SequenceEvaluation:
    """Count how well predictions agree with the labels of a file."""
    tagged, Y = _read_labelled(estimator, data)
    return SequenceEvaluation.of(Y, estimator.predict(tagged.X), estimator.classes_)


def _read_labelled(estimator: ChainSVC, data: str) -> tuple[Tagged, list[list[Any]]]:
    tagged = read_new(data, estimator)
    if tagged.Y is None:
        reason = "all tags are 0"
        if tagged.table is not None:
            reason = f"its {tagged.table.n_columns} columns are those beside the label"
        raise DataError(
            f"has no labels to compare with: {reason}; 'maxmargin predict' labels it",
            display_name(data),
        )
    return tagged, match_labels(tagged.Y, estimator.classes_)


def find_suspects(estimator: ChainSVC, data: str, n: int) -> list[dict[str, Any]]:
    """The sequences of a file that disagree most with the model.

    Returns
    -------
    list of dict
        What ``ChainSVC.suspects`` says, and ``words``, a tuple of columns for each token (None if
        the file has none), and ``lines``, the line of each token (None for standard input).
    """
    tagged, Y = _read_labelled(estimator, data)
    known = set(estimator.classes_.tolist())
    kept = [i for i, labels in enumerate(Y) if known.issuperset(labels)]
    if len(kept) < len(Y):
        warn(
            f"{len(Y) - len(kept):,} of {len(Y):,} sequences are left out: they have labels that "
            "training has not seen"
        )
    if not kept:
        return []
    found = estimator.suspects(tagged.X[kept], [Y[i] for i in kept], n)
    lines = token_lines(tagged)
    for suspect in found:
        i = suspect["index"] = kept[suspect["index"]]
        suspect["words"] = None if tagged.table is None else tagged.X[i]
        span = slice(*tagged.X.offsets[i : i + 2])
        suspect["lines"] = None if lines is None else lines[span].tolist()
    return found


def check_is_chain(estimator: Any, model: Path, what: str) -> None:
    """Refuse other models, for what only sequences have."""
    if not isinstance(estimator, ChainSVC):
        raise MaxMarginError(f"{model}: is a {type(estimator).__name__}, and {what} is for chains")


def check_predict(estimator: Any, model: Path, scores: bool, unlabelled: bool) -> None:
    """Refuse options that the model has no use for."""
    if isinstance(estimator, ChainSVC | CFGSVC) and scores:
        raise MaxMarginError(
            f"{model}: is a {type(estimator).__name__}, which has no score of each class: no "
            "--scores"
        )
    if unlabelled:
        check_is_chain(estimator, model, "--no-labels")


def check_picture(plot: Path | None, data: str) -> None:
    """Refuse a picture that could not be written."""
    from ...report.convergence import check_format, require_matplotlib

    if plot is not None:
        require_matplotlib()
        check_format(plot)
        check_output(plot, data)
