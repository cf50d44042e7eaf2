"""Files and output of structures whose examples are rows of a matrix with one class each.

Their data files are in svmlight format.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.labels import as_label_array
from ..errors import DataError, MaxMarginError
from ..io.svmlight import read_examples
from ..metrics import reliability_curve
from ..metrics.classes import Evaluation
from ..report.evaluation import ShownEvaluation
from ..report.results import Outcome
from ..saving.atomic import write_lines_atomic
from .files import DataFiles, Examples, Wish
from .show import Show


class RowFiles(DataFiles):
    """svmlight files; predictions are one label per line."""

    offers = frozenset({"--scores", "--probabilities"})

    def read(self, path: str, options: Any) -> Examples:
        """Rows with classes to train on."""
        found = read_examples(path)
        self._check(path, found)
        return Examples(found.X, found.y, path, f"{found.X.shape[0]:,} examples", found.cost)

    def _check(self, path: str, found: Any) -> None:
        """Raise an error if the file has no classes or no features."""
        if found.X.shape[1] == 0:
            raise DataError("no line has a feature: there is nothing to learn from", path=path)
        if found.y.dtype.kind == "f":
            i = int(np.argmax((found.y % 1 != 0) | (np.abs(found.y) >= 2.0**63)))
            raise DataError(
                f"the target {found.y[i]} is not a class: use integers of 64 bits, or words",
                path=path,
                line=int(found.line[i]),
            )
        n_classes = len(np.unique(found.y))
        if n_classes < 2:
            label = found.y[0].item()
            raise DataError(f"all examples have the label {label!r}: two are needed", path=path)
        self.check_classes(path, n_classes)

    def check_classes(self, path: str, n_classes: int) -> None:
        """Raise an error if the structure cannot have this number of classes."""

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> Examples:
        """Rows with the features that the estimator was trained on."""
        found = read_examples(path, estimator.n_features_in_, drop_unseen=True)
        return Examples(found.X, found.y, path, f"{found.X.shape[0]:,} examples", found.cost)

    def predict(self, estimator: Any, path: str, out: str, wish: Wish) -> None:
        """Write one label per line, followed by the scores or probabilities of the classes."""
        if not wish.scores and not wish.probabilities:
            super().predict(estimator, path, out, wish)
            return
        X = self.read_new(path, estimator).X
        labels = estimator.predict(X).tolist()
        of_classes = estimator.decision_function if wish.scores else estimator.predict_proba
        rows = of_classes(X).reshape(len(labels), -1).tolist()
        pairs = zip(labels, rows, strict=True)
        write_lines_atomic(out, ("\t".join(map(str, (label, *row))) for label, row in pairs))

    def lines(self, outputs: Any) -> Any:
        """One label per line."""
        return map(str, outputs.tolist())

    def predict_m_best(
        self, estimator: Any, path: str, out: str, wish: Wish, m: int, diversity: float | None
    ) -> None:
        """Write one line per example: its m best labels, each with its score."""
        if diversity is not None:
            raise MaxMarginError(
                f"--diversity is not available for {self.structure.name}: all classes differ "
                "equally"
            )
        found = estimator.predict_m_best(self.read_new(path, estimator).X, m)
        write_lines_atomic(
            out, ("\t".join(f"{label}\t{score}" for label, score in row) for row in found)
        )


class RowShow(Show):
    """Output for classes: tables per class, and confusion."""

    def describe(self, estimator: Any) -> str:
        """Numbers of features and classes."""
        return f"{estimator.n_features_in_:,} features, {len(estimator.classes_):,} classes"

    def evaluate(self, estimator: Any, examples: Examples) -> ShownEvaluation:
        """Counts by class."""
        predicted = estimator.predict(examples.X)
        return ShownEvaluation.of(examples.Y, predicted, estimator.classes_)

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Outcome:
        """Confusion of classes."""
        predicted = as_label_array(estimator.predict(X))
        found = Evaluation.of(as_label_array(Y), predicted, estimator.classes_)
        from ..estimators.calibrated import curves_of  # needs scikit-learn, which `info` does not

        curve = None
        if "classes" in curves_of(estimator):
            curve = reliability_curve(Y, estimator.predict_proba(X), found.classes)
        return Outcome(data, found.classes, found.confusion, reliability=curve)
