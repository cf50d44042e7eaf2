"""The code of the commands; what differs between structures is done by the structure."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from ..engine.several_outputs import check_diversity, check_m
from ..engine.threads import n_threads
from ..errors import DataError, MaxMarginError
from ..io import sources
from ..io.raw import TOKENIZERS
from ..registry import load
from ..report.certificate import bound, optimum, verdict
from ..report.console import print_json
from ..report.convergence import check_format, require_matplotlib
from ..structures.base import Structure
from ..structures.files import Wish
from .guard import check_output, warn
from .named import import_object, import_problem
from .reading import progress_line
from .reporting import check_report, number_features, report_training
from .show import print_training


@contextmanager
def _messages(quiet: bool = False) -> Iterator[None]:
    """Print each warning as one line on stderr; show the progress of reading unless ``quiet``."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)  # train_model prints its own
        warnings.showwarning = lambda message, *_: warn(str(message))
        sources.on_open = None if quiet else progress_line
        try:
            yield
        finally:
            sources.on_open = None


def train_model(
    structure: Structure,
    data: list[str],
    model: Path,
    options: Any,
    plot: Path | None,
    report: Path | None,
    test: str | None,
    quiet: bool,
) -> None:
    """Train a model and write it; options and output paths are checked before data are read."""
    for path in data:
        check_output(model, path)
        if plot is not None:
            check_picture(plot, path)
        check_report(report, test, path, [model])
    options.check()
    if report is not None and getattr(options, "cache", None) is not None:
        raise MaxMarginError("--report needs the examples in memory: leave out --cache")
    if options.checkpoint is not None:
        check_output(options.checkpoint)
    start, files = time.perf_counter(), structure.files
    with _messages(quiet):
        examples = files.read_all(data, options, verbose=int(not quiet))
        estimator = files.estimator(examples, options)
        estimator.set_params(verbose=int(not quiet))
        files.fit(estimator, examples)
    estimator.save(model)
    result = estimator.result_
    if plot is not None:
        result.plot(plot)
    if report is not None:
        report_training(report, estimator, examples, test, data[0])
    if not result.as_asked:
        warn(
            f"{verdict(result).lower()} with a gap of {result.gap:.4g}: the objective is "
            f"{bound(result)} above {optimum(result)}"
        )
    if not result.w.any():
        warn(
            "all weights are zero, so all examples get the same label: increase --C or train longer"
        )
    if not quiet:
        written = [str(path) for path in (model, plot, report) if path is not None]
        seconds = time.perf_counter() - start
        print_training(estimator, examples.size, written, seconds)


def _load(model: Path, problem: str | None, jobs: int | None = None) -> Any:
    """The estimator in a file; ``problem`` names the user's problem, which a file cannot hold."""
    if jobs is not None:
        n_threads(jobs)  # raises an error if the number is impossible
    estimator = load(model, None if problem is None else import_problem(problem))
    return estimator if jobs is None else estimator.set_params(n_jobs=jobs)


def predict(
    model: Path,
    data: str,
    out: str,
    wish: Wish,
    m: int | None,
    diversity: float | None,
    problem: str | None,
    jobs: int | None,
) -> None:
    """Write predictions, or the ``m`` best outputs of each example with their scores."""
    if m is not None:
        check_m(m)
        check_diversity(0.0 if diversity is None else diversity)
    if out != "-":
        check_output(Path(out), data)
        check_output(Path(out), str(model))
    if wish.svg is not None:
        check_output(wish.svg, data)
    estimator = _load(model, problem, jobs)
    files = estimator.structure.files
    for option in wish.given():
        if option not in files.offers:
            raise MaxMarginError(
                f"{model}: contains a {type(estimator).__name__}: {option} is not available for "
                f"{estimator.structure.name}"
            )
    if wish.probabilities and not hasattr(estimator, "calibration_"):
        raise MaxMarginError(
            f"{model}: has no probabilities yet: run 'maxmargin calibrate {model} DATA -o "
            "CALIBRATED' with data that it was not trained on"
        )
    with _messages():
        if m is None:
            files.predict(estimator, data, out, wish)
        else:
            files.predict_m_best(estimator, data, out, wish, m, diversity)


def find_tokenizer(name: str) -> Any:
    """The function that splits lines into words: a known one, or a user's ``module:function``."""
    found = TOKENIZERS.get(name) or (import_object(name) if ":" in name else None)
    if not callable(found):
        known = ", ".join(TOKENIZERS)
        raise MaxMarginError(f"tokenizer {name!r} is not one of {known} or a module:function")
    return found


def calibrate_model(model: Path, data: str, out: Path, method: str) -> None:
    """Write the model with a calibration that is fitted to held-out data."""
    from ..outputs.calibration import calibrate

    check_output(out, data)
    estimator = load(model)
    with _messages():
        examples = estimator.structure.files.read_labelled(data, estimator)
        calibrate(estimator, examples.X, examples.Y, method)
    estimator.save(out)


def prune_model(model: Path, data: str, out: Path, below: float) -> None:
    """Write the model without its small weights; print what was removed."""
    check_output(out, data)
    estimator = load(model)
    if not hasattr(estimator, "prune"):
        raise MaxMarginError(
            f"{model}: contains a {type(estimator).__name__}: pruning is for taggers and parsers"
        )
    size = model.stat().st_size
    with _messages():
        examples = estimator.structure.files.read_labelled(data, estimator)
        found = estimator.prune(examples.X, examples.Y, below)
    estimator.save(out)
    print(f"{found}; the file has {out.stat().st_size:,} bytes instead of {size:,}")


def evaluate_model(
    model: Path,
    data: str,
    as_json: bool,
    plot: Path | None,
    problem: str | None,
    jobs: int | None,
) -> None:
    """Print how well predictions agree with the true labels."""
    estimator = _load(model, problem, jobs)
    structure = estimator.structure
    if plot is not None:
        structure.show.check_plot(plot)
        check_output(plot, data)
    with _messages():
        examples = structure.files.read_labelled(data, estimator)
        found = structure.show.evaluate(estimator, examples)
    if as_json:
        print_json(found.to_dict())
    else:
        found.print()
    if plot is not None:
        found.plot(plot)


def explain_model(model: Path, n: int, as_json: bool, problem: str | None) -> None:
    """Print the largest weights."""
    estimator = _load(model, problem)
    number_features(estimator)
    try:
        found = estimator.structure.show.explain(estimator, n)
    except MaxMarginError as error:
        raise DataError(str(error), path=str(model)) from error
    if as_json:
        print_json(found.to_dict())
    else:
        print(found)


def show_suspects(model: Path, data: str, n: int, as_json: bool, problem: str | None) -> None:
    """Print the examples that disagree most with the model."""
    estimator = _load(model, problem)
    with _messages():
        estimator.structure.show.print_suspects(estimator, data, n, as_json)


def check_picture(plot: Path, data: str) -> None:
    """Raise an error if a figure could not be written."""
    require_matplotlib()
    check_format(plot)
    check_output(plot, data)
