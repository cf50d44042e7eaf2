"""What can be asked of every trained estimator, besides its predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.probabilities import Calibration, Sigmoid
from ..engine.several_outputs import check_diversity, check_m
from ..outputs.explain import Suspects
from .calibrated import get_curve, if_calibrated


class Answers:
    """Several outputs, confidence, probabilities, weights, suspects, and the report."""

    #: The structure that the estimator belongs to.
    structure: Any

    #: Set by ``mm.calibrate``.
    calibration_: Calibration

    def predict_m_best(
        self, X: Any, m: int = 5, diversity: float = 0.0
    ) -> list[list[tuple[Any, float]]]:
        """Up to m different outputs of each example with their scores ``<w, phi>``, best first.

        Parameters
        ----------
        X : sequence
            Inputs, as for ``predict``.
        m : int
            Maximum number of outputs; an example with fewer possible outputs gets all of them.
        diversity : float
            0 for the m best outputs. Otherwise each next output maximises its score plus
            ``diversity`` times the number of labels in which it differs from each earlier output.
            For trees it is the penalty for each constituent (label, first and last word) that an
            earlier tree has. It has no effect on classes. The returned scores do not include it.

        Returns
        -------
        list of lists of ``(output, score)``
            One list per example. The first output is that of ``predict``.
        """
        check_m(m)
        check_diversity(diversity)
        return self._m_best(X, m, diversity)

    def confidence(self, X: Any) -> np.ndarray:
        """Difference of the scores of the best and the second best output, array (n,).

        It is infinite if there is only one output. ``mm.calibrate`` turns it into probabilities.
        """
        return np.array([margin_of(found) for found in self._m_best(X, 2, 0.0)], float)

    @if_calibrated
    def probability(self, X: Any) -> np.ndarray:
        """Probability that the predicted output of each example is right as a whole, array (n,).

        It is 1 for examples with a single possible output. Needs ``mm.calibrate``.
        """
        return get_curve(self, "output")(self.confidence(X))

    def _examples(self, X: Any, Y: Any) -> tuple[Any, Any]:
        """Inputs and outputs, where outputs have the form of predictions."""
        return X, Y

    def _decisions(self, X: Any, Y: Any) -> dict[str, Any]:
        """Scores and truth of single decisions, as ``outputs.calibration.Decisions`` by kind."""
        return {}

    def _curves(self) -> dict[str, type]:
        """The kinds of curves that a calibration may have: Softmax, or Sigmoid for one score."""
        return {"output": Sigmoid}

    def _m_best(self, X: Any, m: int, diversity: float) -> list[list[tuple[Any, float]]]:
        raise NotImplementedError

    def explain(self, n: int = 10) -> Any:
        """The n largest positive and negative weights with their names.

        Returns
        -------
        object
            It prints as a table; ``to_dict()`` and ``to_frame()`` (with pandas) give the weights.
        """
        check_is_fitted(self)
        return self.structure.show.explain(self, n)

    def suspects(self, X: Any, Y: Any, n: int = 20) -> Suspects:
        """The n examples with the largest slack: difficult ones, or ones with a wrong output.

        Parameters
        ----------
        X, Y : sequences
            Inputs and given outputs, usually the training data.
        n : int
            Maximum number of examples; those that do not violate the margin are left out.

        Returns
        -------
        Suspects
            A list of dicts with ``index``, ``slack``, ``loss``, the given output ``truth`` and the
            output ``worst`` that violates the margin most; ``to_frame()`` makes a data frame.
        """
        check_is_fitted(self)
        return self._suspects(X, Y, n)

    def _suspects(self, X: Any, Y: Any, n: int) -> Suspects:
        raise NotImplementedError

    def report(
        self, path: str | Path, X: Any = None, Y: Any = None, *, test: Any = None, n: int = 10
    ) -> None:
        """Write a report on training and on the model: one HTML file that needs no network.

        Parameters
        ----------
        path : str or path
            A .html file.
        X, Y : optional
            The training examples. With them the report contains results per label and the examples
            with the largest slacks.
        test : (X, Y), optional
            Test examples, to report results on.
        n : int
            Number of weights of each sign to show per label.

        Raises
        ------
        MaxMarginError
            If bokeh is missing (``pip install bokeh``), or the file cannot be written.
        """
        from ..report.fitted import report_estimator

        check_is_fitted(self)
        report_estimator(path, self, X, Y, test, n)


def margin_of(found: list[tuple[Any, float]]) -> float:
    """The difference of the two best scores; infinite if there is one output."""
    return found[0][1] - found[1][1] if len(found) > 1 else float("inf")
