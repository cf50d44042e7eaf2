"""SVM-struct's programs under their own names: the entry points of the package."""

from __future__ import annotations

import sys

from .app import app


def _run(program: str) -> None:
    app(args=[program, *sys.argv[1:]])


def svm_hmm_learn() -> None:
    """The entry point of that name."""
    _run("svm_hmm_learn")


def svm_hmm_classify() -> None:
    """The entry point of that name."""
    _run("svm_hmm_classify")


def svm_multiclass_learn() -> None:
    """The entry point of that name."""
    _run("svm_multiclass_learn")


def svm_multiclass_classify() -> None:
    """The entry point of that name."""
    _run("svm_multiclass_classify")
