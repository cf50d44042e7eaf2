"""Small trained models of every structure, with inputs to predict."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp

import maxmargin as mm
from maxmargin.registry import all_structures

COLUMNS = [
    [("the", "DT"), ("dog", "NN"), ("barks", "VB")],
    [("a", "DT"), ("cat", "NN")],
    [("dogs", "NN"), ("bark", "VB")],
]
TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"]]


@dataclass(frozen=True)
class Sample:
    """A fitted estimator, inputs that it predicts, and the problem that ``mm.load`` needs."""

    name: str
    estimator: Any
    X: Any
    problem: Any = None


@cache
def samples() -> list[Sample]:
    """The tiny examples of all structures; and names, templates, labels of all types, kernels."""
    found = [_fit(f"{s.name} {tiny.name}", tiny) for s in all_structures() for tiny in s.examples()]
    return [sample for sample in found if sample is not None] + _chains() + _classes()


def _fit(name: str, tiny: Any) -> Sample | None:
    if tiny.estimator is None:
        return None
    X, Y = tiny.data or (tiny.X, tiny.Y)
    estimator = tiny.estimator.fit(X, Y)
    return Sample(name, estimator, X, getattr(estimator, "problem", None))


def _chains() -> list[Sample]:
    """Columns with templates, dicts, sparse rows, masks of transitions."""
    dicts = [[{"w": w, "n": i + 0.5, "ü|": True} for i, (w, _) in enumerate(x)] for x in COLUMNS]
    sparse = [sp.csr_matrix(np.eye(4)[: len(x)]) for x in COLUMNS]
    pairs = [(None, "D"), (None, "N"), ("D", "N"), ("N", "V"), ("V", None), ("N", None)]
    inputs = {
        "template": (mm.ChainSVC(template="chunking", start_stop=True), COLUMNS),
        "pairs": (mm.ChainSVC(template="default", transitions=pairs), COLUMNS),
        "dicts": (mm.ChainSVC(solver=mm.SDM(inner=3), class_weight={"D": 2.0}), dicts),
        "sparse": (mm.ChainSVC(loss=2 * (1 - np.eye(3)), rescaling="slack"), sparse),
    }
    return [Sample(f"chain {k}", e.fit(X, TAGS), X) for k, (e, X) in inputs.items()]


def _classes() -> list[Sample]:
    """Labels of several types, kernels and basis functions."""
    X, y = mm.datasets.make_multiclass(24, 3, 3)
    words = np.array(["blue", "green", "ré\x1b[31m"])[y]
    pairs = np.empty(len(y), object)
    pairs[:] = [("class", int(label)) for label in y]
    kernel: dict[str, Any] = {"kernel": "rbf", "C": 2.0}
    inputs = {
        "words": (mm.MulticlassSVC(fit_intercept=True, solver=mm.OneSlack(cache=2)), words),
        "tuples": (mm.MulticlassSVC(loss=2 * (1 - np.eye(3)), class_weight="balanced"), pairs),
        "rbf": (mm.MulticlassSVC(**kernel), y),
        "basis": (mm.MulticlassSVC(n_basis=4, **kernel), words),
        "binary poly": (mm.BinarySVC(kernel="poly", degree=2), y > 0),
        "binary basis": (mm.BinarySVC(n_basis=4, fit_intercept=True, **kernel), y > 0),
    }
    return [Sample(k, e.fit(X, labels), X) for k, (e, labels) in inputs.items()]


def same_predictions(a: Any, b: Any, X: Any) -> bool:
    """Whether two estimators predict the same."""
    return repr(list(a.predict(X))) == repr(list(b.predict(X)))
