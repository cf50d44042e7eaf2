"""The snakes of Nowozin et al. (2011): paths of ten cells whose order only pairs of cells tell."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

import maxmargin as mm

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import clean, legend, log_scale, style
from ..framework.registry import Verdict, experiment
from .graph_data import load_snakes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

C, TOL = 0.1, 0.01

#: What the claim says: the fraction of the test nodes, and CPU seconds.
ACCURACY, SECONDS = 0.99, 5.0


@experiment(
    "graphs-snakes",
    title=f"Snakes on grids, 11 labels, C = {C:g}: 200 graphs to train and 100 to test",
    claim=f"Training takes at most {SECONDS:g} CPU seconds, labels at least {ACCURACY:.0%} of the "
    f"test nodes correctly, and closes the optimisation part of the gap to tol = {TOL:g}.",
    data=("snakes",),
)
def run(session: Session) -> Verdict:
    """Training, with both parts of the gap after each iteration."""
    group = measure(session)
    columns = [
        Column("cpu", "CPU s", seconds),
        Column("accuracy", "test nodes", percent2),
        Column("oracle_calls", "oracle calls", count),
        Column("optimisation", "gap: optimisation", seconds),
        Column("inference_gap", "gap: inference", seconds),
        Column("target", "tol C n", seconds),
    ]
    session.table([group], columns, f"C = {C:g}, tol = {TOL:g}, one core")
    session.draw(lambda figure: paint(figure, group), width=7, height=3.6)
    return judge(group)


def measure(session: Session) -> Group:
    """Train and test."""

    def once(seed: int) -> dict[str, Any]:
        data = load_snakes(session.directory)
        n = 40 if session.quick else len(data.X)
        mm.GraphSVC(C=C, tol=1e6).fit(data.X[:2], data.Y[:2])  # compile
        clf = mm.GraphSVC(C=C, tol=TOL, random_state=seed)
        start = time.process_time()
        clf.fit(data.X[:n], data.Y[:n])
        took, result = time.process_time() - start, clf.result_
        parts = [[r.n_oracle, r.gap - r.gap_inference, r.gap_inference] for r in result.history]
        return {
            "cpu": took,
            "accuracy": clf.score(data.X_test, data.Y_test),
            "oracle_calls": result.n_oracle,
            "optimisation": result.gap_optimisation,
            "inference_gap": result.gap_inference,
            "target": result.target,
            "parts": [part for part in parts if np.isfinite(part[1])],
        }

    config = {"inference": "auto", "C": C, "tol": TOL, "quick": session.quick}
    return session.measure(config, once)


def judge(group: Group) -> Verdict:
    """Time, accuracy and both parts of the gap."""
    cpu, accuracy = group.median("cpu"), group.median("accuracy")
    closed = group.median("optimisation") <= group.median("target")
    passed = cpu <= SECONDS and accuracy >= ACCURACY and closed
    return Verdict(
        passed,
        f"{percent2(accuracy)} of the test nodes after {seconds(cpu)} CPU s; optimisation gap "
        f"{group.median('optimisation'):.3f} ({group.median('target'):.3f} asked), inference gap "
        f"{group.median('inference_gap'):.3f}",
    )


def paint(figure: Figure, group: Group) -> None:
    """Both parts of the gap over the calls of the decoder."""
    axes = figure.subplots()
    calls, optimisation, inference = np.array(group.values[0]["parts"]).T
    axes.plot(calls, optimisation, label="optimisation: more iterations close it", **style(0))
    axes.plot(calls, inference, label="inference: the decoder leaves it open", **style(1))
    axes.axhline(group.median("target"), color="0.5", lw=1, ls="--", label="tol")
    log_scale(axes, "y")
    clean(axes, "The two parts of the gap", "calls of the decoder", "")
    legend(figure, axes, columns=3)
