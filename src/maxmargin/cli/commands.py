"""What the commands do, once their options are read."""

from __future__ import annotations

import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..errors import DataError, MaxMarginError
from ..estimators import CFGSVC, BinarySVC, ChainSVC, MulticlassSVC
from ..io import read_examples, write_lines_atomic
from ..io.svmlight import Examples
from ..objective import check_positive
from ..outputs.explain import explain
from ..outputs.m_best import check_diversity, check_m
from ..report.certificate import bound, certificate, verdict
from ..report.confusion import plot_confusion
from ..saving.models import load, summary
from ..solvers import get_solver
from ..structures.cfg.command import (
    check_cfg,
    check_drawing,
    evaluate_cfg,
    fit_cfg,
    predict_cfg,
    predict_cfg_m_best,
    read_cfg_data,
)
from ..structures.cfg.show import draw_worst, explain_cfg, print_bracket_evaluation, print_rules
from ..structures.chain.command import (
    check_chain,
    check_is_chain,
    check_picture,
    check_predict,
    evaluate_chain,
    find_suspects,
    fit_chain,
    predict_chain,
    predict_chain_m_best,
    read_chain_data,
)
from ..structures.chain.show import print_sequence_evaluation, print_suspects, suspects_json
from ..training import check_stop
from .evaluation import Evaluation
from .guard import check_output, warn
from .kernel_options import check_kernel_options
from .reporting import check_report, report_training
from .show import Console, evaluation_json, info_json, print_evaluation, print_info, print_training

ESTIMATORS: dict[str, Any] = {"binary": BinarySVC, "multiclass": MulticlassSVC}


def train_model(
    structure: str,
    data: str,
    model: Path,
    parameters: dict[str, Any],
    plot: Path | None,
    quiet: bool,
    form: str = "auto",
    label: int | None = None,
    report: Path | None = None,
    test: str | None = None,
    functions: bool = False,
) -> None:
    """Train and write; everything that can be refused is refused before the data are read."""
    check_output(model, data)
    check_picture(plot, data)
    check_report(report, test, data, [model])
    check_positive("C", parameters["C"])
    check_stop(parameters["tol"], parameters["max_iter"], parameters["max_time"])
    get_solver(parameters["solver"])  # only to refuse a wrong name early
    if structure != "cfg":
        check_kernel_options(parameters)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # said below, in the user's words
        warnings.showwarning = lambda message, *_: warn(str(message))
        if structure == "chain":
            check_chain(parameters, form)
            examples = read_chain_data(data, parameters, form, label)
            size = f"{len(examples.X):,} sequences, {examples.n_tokens:,} tokens"
            estimator = fit_chain(examples, parameters)
        elif structure == "cfg":
            check_cfg(parameters)
            examples, size = read_cfg_data(data, functions)
            estimator = fit_cfg(examples, parameters, functions)
        else:
            examples = read_examples(data)
            _check_training_data(structure, data, examples)
            size = f"{examples.X.shape[0]:,} examples"
            estimator = ESTIMATORS[structure](**parameters)
            estimator.fit(examples.X, examples.y, sample_weight=examples.cost)
    estimator.save(model)
    result = estimator.result_
    if plot is not None:
        result.plot(plot)
    if report is not None:
        report_training(report, estimator, examples, size, test, data)
    if not result.as_asked:
        warn(
            f"{verdict(result).lower()} with a gap of {result.gap:.4g}: the objective is "
            f"{bound(result)} above the optimum"
        )
    if not result.w.any():
        warn("all weights are zero, so all examples get the same label: train longer or raise --C")
    if not quiet:
        written = [str(path) for path in (model, plot, report) if path is not None]
        seconds = time.perf_counter() - start
        print_training(estimator, size, certificate(result), written, seconds)


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


def predict_labels(
    model: Path,
    data: str,
    out: str,
    scores: bool,
    unlabelled: bool,
    draw: bool = False,
    svg: Path | None = None,
) -> None:
    """Write a line for each example: its label, then its scores if they are wanted."""
    if out != "-":
        check_output(Path(out), data)
        check_output(Path(out), str(model))
    estimator = load(model)
    check_predict(estimator, model, scores, unlabelled)
    check_drawing(estimator, model, data, draw, svg)
    if isinstance(estimator, CFGSVC):
        predict_cfg(estimator, data, out, draw, svg)
        return
    if isinstance(estimator, ChainSVC):
        predict_chain(estimator, data, out, unlabelled)
        return
    X = _read(data, estimator).X
    labels = estimator.predict(X).tolist()
    if not scores:
        write_lines_atomic(out, map(str, labels))
        return
    rows = estimator.decision_function(X).reshape(len(labels), -1).tolist()
    lines = ("\t".join(map(str, (label, *row))) for label, row in zip(labels, rows, strict=True))
    write_lines_atomic(out, lines)


def predict_several(
    model: Path, data: str, out: str, unlabelled: bool, m: int, diversity: float | None
) -> None:
    """Write several outputs of each example, with their scores."""
    check_m(m)
    check_diversity(0.0 if diversity is None else diversity)
    if out != "-":
        check_output(Path(out), data)
        check_output(Path(out), str(model))
    estimator = load(model)
    check_predict(estimator, model, False, unlabelled)
    if isinstance(estimator, ChainSVC):
        predict_chain_m_best(estimator, data, out, unlabelled, m, diversity or 0.0)
        return
    if isinstance(estimator, CFGSVC):
        predict_cfg_m_best(estimator, data, out, m, diversity or 0.0)
        return
    if diversity is not None:
        raise MaxMarginError(
            f"{model}: is a {type(estimator).__name__}, and --diversity is for chains and trees"
        )
    found = estimator.predict_m_best(_read(data, estimator).X, m)
    write_lines_atomic(
        out, ("\t".join(f"{label}\t{score}" for label, score in row) for row in found)
    )


def evaluate_model(model: Path, data: str, as_json: bool, plot: Path | None) -> None:
    """Print how well the predictions agree with the targets."""
    estimator = load(model)
    if isinstance(estimator, CFGSVC):
        check_drawing(estimator, model, data, svg=plot)
        trees = evaluate_cfg(estimator, data)
        if as_json:
            _print_json(trees.evaluation.to_dict())
        else:
            print_bracket_evaluation(trees.evaluation)
        if plot is not None:
            draw_worst(trees, plot)
        return
    check_picture(plot, data)
    if isinstance(estimator, ChainSVC):
        found = evaluate_chain(estimator, data)
        if as_json:
            _print_json(found.to_dict())
        else:
            print_sequence_evaluation(found)
        if plot is not None:
            found.plot(plot)
        return
    examples = _read(data, estimator)
    evaluation = Evaluation.of(examples.y, estimator.predict(examples.X), estimator.classes_)
    if as_json:
        _print_json(evaluation_json(evaluation))
    else:
        print_evaluation(evaluation)
    if plot is not None:
        plot_confusion(evaluation.classes, evaluation.confusion, plot)


def explain_model(model: Path, n: int, as_json: bool) -> None:
    """Print the largest weights."""
    estimator = load(model)
    if hasattr(estimator, "dual_coef_"):
        raise DataError("has a kernel, so its features have no weights to show", path=str(model))
    if isinstance(estimator, CFGSVC):
        content = explain_cfg(estimator, n)
        _print_json(content) if as_json else print_rules(content)
        return
    if not hasattr(estimator, "feature_names_in_") and not getattr(
        estimator, "feature_names_", None
    ):
        # Files count features from 1 on.
        estimator.feature_names_ = [f"feature {j + 1}" for j in range(estimator.n_features_in_)]
    explanation = explain(estimator, n)
    if as_json:
        _print_json(explanation.to_dict())
    else:
        print(explanation)


def show_suspects(model: Path, data: str, n: int, as_json: bool) -> None:
    """Print the sequences that disagree most with the model."""
    estimator = load(model)
    check_is_chain(estimator, model, "suspects")
    found = find_suspects(estimator, data, n)
    if as_json:
        _print_json(suspects_json(found))
    else:
        print_suspects(found, data)


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


def _print_json(content: Any) -> None:
    Console(soft_wrap=True).print(json.dumps(content, indent=2), markup=False)
