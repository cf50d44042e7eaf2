"""The report of a fitted estimator, with its results on training and test data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..errors import MaxMarginError
from .page import check_page, escape, table
from .results import Outcome
from .training import Run, write_report

#: Number of examples with the largest slacks to show.
SUSPECTS = 10


def report_estimator(
    path: str | Path, clf: Any, X: Any = None, Y: Any = None, test: Any = None, n: int = 10
) -> None:
    """Write the report of an estimator; see ``ChainSVC.report``."""
    check_page(path)
    if Y is not None:
        X, Y = clf._examples(X, Y)  # trees contain their sentences, so X may be None
    if (X is None) != (Y is None):
        raise MaxMarginError("a report needs both X and Y, or neither")
    show = clf.structure.show
    sets = [] if test is None else [("test data", *test)]
    sets += [] if X is None else [("training data", X, Y)]
    outcomes, sections = results_of(clf, sets)
    suspects = None if X is None else show.suspects(clf, X, Y, SUSPECTS)
    size = "" if Y is None else f"{len(Y):,} examples"
    write_report(path, describe(clf, size, outcomes, suspects, n, sections))


def results_of(
    clf: Any, sets: Sequence[tuple[str, Any, Any]]
) -> tuple[list[Outcome], list[tuple[str, str]]]:
    """Results by label, and sections with other results, on data given as (name, X, Y).

    Sections about single examples, such as pictures, are those of the first data.
    """
    show = clf.structure.show
    outcomes = [found for each in sets if (found := show.outcome(clf, *each)) is not None]
    sections = [] if outcomes or not sets else [("Results", _measures(clf, sets))]
    return outcomes, sections + [
        part for _, *first in sets[:1] for part in show.sections(clf, *first)
    ]


def _measures(clf: Any, sets: Sequence[tuple[str, Any, Any]]) -> str:
    """A table of the measures of a structure whose results are not labels."""
    show = clf.structure.show
    found = [show.evaluate(clf, SimpleNamespace(X=X, Y=Y)).to_dict() for _, X, Y in sets]
    names = [name for name, value in found[0].items() if isinstance(value, int | float)]
    rows = [[_name(name), *(_number(each[name]) for each in found)] for name in names]
    return table(["measure", *(name for name, *_ in sets)], rows, [False] + len(sets) * [True])


def _name(measure: str) -> str:
    words = {"n": "examples"}.get(measure, measure.replace("_", " ").replace("f1", "F1"))
    return escape(words)


def _number(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def describe(
    clf: Any,
    size: str,
    outcomes: Sequence[Outcome],
    suspects: list[dict[str, Any]] | None,
    n: int,
    sections: Sequence[tuple[str, str]] = (),
) -> Run:
    """The content of the report of a fitted estimator; ``size`` describes the training data."""
    name = type(clf).__name__
    explanation = _explanation(clf, n)
    told = ", ".join(part for part in (size, clf.structure.show.describe(clf)) if part)
    return Run(
        clf.result_,
        title=f"{name}: training report",
        subject=f"{name} with C = {clf.C:g} on {told}.",
        settings=clf.get_params(deep=False),
        outcomes=outcomes,
        explanation=explanation,
        suspects=suspects,
        transitions=clf.structure.show.transitions(clf) if explanation is not None else "",
        sections=sections,
    )


def _explanation(clf: Any, n: int) -> Any:
    """The largest weights of a linear model; None for other models."""
    try:
        found = clf.structure.show.explain(clf, n)
    except MaxMarginError:
        return None
    return found if hasattr(found, "labels") else None
