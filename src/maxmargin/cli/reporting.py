"""``train --report``: the report of a training run on files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import MaxMarginError
from ..estimators import CFGSVC
from ..io import read_examples
from ..report.fitted import SUSPECTS, describe, find_suspects, outcome, sequence_outcome
from ..report.page import check_page
from ..report.results import Outcome
from ..report.training import write_report
from ..structures.chain.command import evaluate_chain
from ..structures.chain.files import Tagged, token_lines
from .evaluation import Evaluation
from .guard import check_output

#: Weights of each sign that are shown for a label.
_WEIGHTS = 10


def check_report(report: Path | None, test: str | None, data: str, others: list[Path]) -> None:
    """Refuse a report that could not be written, before the data are read."""
    if report is None:
        if test is not None:
            raise MaxMarginError("--test is for the report: give --report FILE.html too")
        return
    check_page(report)
    check_output(report, data)
    for other in others:
        if other.exists() and report.exists() and report.samefile(other):
            raise MaxMarginError(f"{report}: is written as {other} too: name another file")
    if test is not None:
        check_output(report, test)
        with open(test, "rb"):  # that it can be read must be known before training
            pass


def report_training(
    report: Path, estimator: Any, data: Any, size: str, test: str | None, command: str
) -> None:
    """Write the report; ``data`` are ``Tagged`` sequences, ``Examples`` or trees."""
    if isinstance(estimator, CFGSVC):
        run = describe(estimator, size, [], None, _WEIGHTS)
        write_report(report, run.with_settings({"data": command}))
        return
    chain = isinstance(data, Tagged)
    X, Y = (data.X, data.Y) if chain else (data.X, data.y)
    outcomes = [outcome(estimator, "training data", X, Y)]
    if test is not None:
        outcomes.append(_test_outcome(estimator, test, chain))
    suspects = find_suspects(estimator, X, Y, SUSPECTS)
    if chain:
        _locate(suspects or [], data)
    elif getattr(estimator, "feature_names_", None) is None:
        # Files count features from 1 on.
        estimator.feature_names_ = [f"feature {j + 1}" for j in range(estimator.n_features_in_)]
    shown = [found for found in outcomes if found is not None]
    run = describe(estimator, size, shown, suspects, _WEIGHTS)
    write_report(report, run.with_settings({"data": command}))


def _test_outcome(estimator: Any, test: str, chain: bool) -> Outcome:
    name = f"test data ({Path(test).name})"
    if chain:
        return sequence_outcome(evaluate_chain(estimator, test), name)
    examples = read_examples(test, estimator.n_features_in_, drop_unseen=True)
    found = Evaluation.of(examples.y, estimator.predict(examples.X), estimator.classes_)
    return Outcome(name, found.classes, found.confusion)


def _locate(suspects: list[dict[str, Any]], tagged: Tagged) -> None:
    """The lines of the file, where it has any."""
    lines = token_lines(tagged)
    for suspect in suspects:
        span = slice(*tagged.X.offsets[suspect["index"] : suspect["index"] + 2])
        suspect["lines"] = None if lines is None else lines[span].tolist()
