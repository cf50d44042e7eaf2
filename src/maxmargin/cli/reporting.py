"""``train --report``: the report of training on a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import MaxMarginError
from ..report.fitted import SUSPECTS, describe, results_of
from ..report.page import check_page
from ..report.training import write_report
from .guard import check_output

#: Number of weights of each sign to show per label.
_WEIGHTS = 10


def check_report(report: Path | None, test: str | None, data: str, others: list[Path]) -> None:
    """Raise an error if the report could not be written, before the data are read."""
    if report is None:
        if test is not None:
            raise MaxMarginError("--test needs a report: add --report FILE.html")
        return
    check_page(report)
    check_output(report, data)
    for other in others:
        if other.exists() and report.exists() and report.samefile(other):
            raise MaxMarginError(f"{report}: is also the output {other}: name another file")
    if test is not None:
        check_output(report, test)
        if not Path(test).is_dir():  # fail before training if it cannot be read
            with open(test, "rb"):
                pass


def report_training(
    report: Path, estimator: Any, examples: Any, test: str | None, command: str
) -> None:
    """Write the report of an estimator that was trained on the ``examples`` of a file."""
    structure = estimator.structure
    show = structure.show
    number_features(estimator)
    sets = [("training data", examples.X, examples.Y)]
    if test is not None:
        found = structure.files.read_labelled(test, estimator)
        sets.insert(0, (f"test data ({Path(test).name})", found.X, found.Y))
    outcomes, sections = results_of(estimator, sets)
    suspects = show.suspects(estimator, examples.X, examples.Y, SUSPECTS)
    show.locate(suspects or [], examples)
    run = describe(estimator, examples.size, outcomes, suspects, _WEIGHTS, sections)
    write_report(report, run.with_settings({"data": command}))


def number_features(estimator: Any) -> None:
    """Give features without names the numbers that they have in data files, from 1."""
    named = hasattr(estimator, "feature_names_in_") or getattr(estimator, "feature_names_", None)
    if not named and hasattr(estimator, "n_features_in_") and hasattr(estimator, "coef_"):
        estimator.feature_names_ = [f"feature {j + 1}" for j in range(estimator.n_features_in_)]
