"""The reliability curve of a calibrated model, as a chart of the report."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .charts import COLORS, Chart, Series
from .page import Page, escape
from .results import Outcome

#: Groups of fewer predictions are not drawn: their accuracy says little.
FEWEST = 10


def reliability_html(page: Page, outcomes: Sequence[Outcome]) -> str:
    """Accuracy over probability for each set of data; empty if the model is not calibrated."""
    shown = [outcome for outcome in outcomes if outcome.reliability is not None]
    if not shown:
        return ""
    series = [_series(outcome, COLORS[k % len(COLORS)]) for k, outcome in enumerate(shown)]
    series.append(
        Series("perfectly calibrated", [0.0, 1.0], [0.0, 1.0], "--grey", "dashed", hover="none")
    )
    chart = Chart(
        "", "probability of the predicted label", "accuracy", series,
        x_range=(0.0, 1.02), y_range=(0.0, 1.02),
    )  # fmt: skip
    errors = "; ".join(
        f"{100 * outcome.reliability.error:.2f} % on the {outcome.data}"
        for outcome in shown
        if outcome.reliability is not None
    )
    words = (
        "How often predicted labels are right, by their probability. On the dashed line they are "
        "right as often as the probability says; above it the model is too careful. The expected "
        f"calibration error, the average distance from the line, is {errors}. Training data look "
        f"more reliable than they are. Groups of fewer than {FEWEST} predictions are not drawn."
    )
    return f"<p class='muted'>{escape(words)}</p>" + page.charts([chart])


def _series(outcome: Outcome, color: str) -> Series:
    curve = outcome.reliability
    assert curve is not None
    used = np.flatnonzero(curve.support >= FEWEST)
    x, y = curve.probability[used].tolist(), curve.accuracy[used].tolist()
    texts = [
        f"{outcome.data}\nprobability {a:.3f}: {100 * b:.1f} % right\n{n:,} {outcome.what}"
        for a, b, n in zip(x, y, curve.support[used].tolist(), strict=True)
    ]
    return Series(outcome.data, x, y, color, marker="circle", texts=texts)
