"""What the commands do, once their options are read."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import DataError
from ..estimators import BinarySVC, MulticlassSVC
from ..io import read_examples, write_lines_atomic
from ..io.models import load, summary
from ..io.svmlight import Examples
from ..objective import check_positive
from ..report.certificate import bound, certificate, verdict
from ..report.convergence import check_format, require_matplotlib
from ..solvers import get_solver
from ..training import check_stop
from .evaluation import Evaluation
from .guard import check_output, warn
from .show import Console, evaluation_json, info_json, print_evaluation, print_info, print_training

ESTIMATORS: dict[str, Any] = {"binary": BinarySVC, "multiclass": MulticlassSVC}


def train_model(
    structure: str,
    data: str,
    model: Path,
    parameters: dict[str, Any],
    plot: Path | None,
    quiet: bool,
) -> None:
    """Train and write; everything that can be refused is refused before the data are read."""
    check_output(model, data)
    if plot is not None:
        require_matplotlib()
        check_format(plot)
        check_output(plot, data)
    check_positive("C", parameters["C"])
    check_stop(parameters["tol"], parameters["max_iter"], parameters["max_time"])
    get_solver(parameters["solver"], n=1)  # only to refuse a wrong name early
    examples = read_examples(data)
    _check_training_data(structure, data, examples)
    estimator = ESTIMATORS[structure](**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below, in the user's words
        estimator.fit(examples.X, examples.y, sample_weight=examples.cost)
    estimator.save(model)
    result = estimator.result_
    if plot is not None:
        result.plot(plot)
    if not result.converged:
        warn(
            f"{verdict(result).lower()} with a gap of {result.gap:.4g}: the objective is "
            f"{bound(result)} above the optimum"
        )
    if not estimator.coef_.any():
        warn("all weights are zero, so all examples get the same label: train longer or raise --C")
    if not quiet:
        written = [str(path) for path in (model, plot) if path is not None]
        print_training(estimator, examples.X.shape[0], certificate(result), written)


def _check_training_data(structure: str, data: str, examples: Examples) -> None:
    if examples.X.shape[1] == 0:
        raise DataError("no line has a feature: there is nothing to learn from", path=data)
    if examples.y.dtype.kind == "f":
        i = int(np.flatnonzero(examples.y % 1)[0])
        raise DataError(
            f"the target {examples.y[i]} is no class: use integers or words",
            path=data,
            line=int(examples.line[i]),
        )
    n_classes = len(np.unique(examples.y))
    if n_classes < 2:
        label = examples.y[0].item()
        raise DataError(f"all examples have the label {label!r}: two are needed", path=data)
    if structure == "binary" and n_classes > 2:
        raise DataError(f"has {n_classes} classes: use 'maxmargin train multiclass'", path=data)


def predict_labels(model: Path, data: str, out: str, scores: bool) -> None:
    """Write a line for each example: its label, then its scores if they are wanted."""
    if out != "-":
        check_output(Path(out), data)
    estimator = load(model)
    X = _read(data, estimator).X
    labels = estimator.predict(X).tolist()
    if not scores:
        write_lines_atomic(out, map(str, labels))
        return
    rows = estimator.decision_function(X).reshape(len(labels), -1).tolist()
    lines = ("\t".join(map(str, (label, *row))) for label, row in zip(labels, rows, strict=True))
    write_lines_atomic(out, lines)


def evaluate_model(model: Path, data: str, as_json: bool) -> None:
    """Print how well the predictions agree with the targets."""
    estimator = load(model)
    examples = _read(data, estimator)
    evaluation = Evaluation.of(examples.y, estimator.predict(examples.X), estimator.classes_)
    if as_json:
        _print_json(evaluation_json(evaluation))
    else:
        print_evaluation(evaluation)


def show_model(model: Path, as_json: bool) -> None:
    """Print what a model file holds."""
    content = summary(model)
    if as_json:
        _print_json(info_json(content))
    else:
        print_info(str(model), content, certificate(content["result"]))


def _read(data: str, estimator: Any) -> Examples:
    """Examples with the features that the estimator knows."""
    return read_examples(data, estimator.n_features_in_, drop_unseen=True)


def _print_json(content: dict[str, Any]) -> None:
    Console(soft_wrap=True).print(json.dumps(content, indent=2), markup=False)
