"""How well probabilities of labels agree with accuracy: calibrated max-marginals and a CRF.

Entities in two sets of sentences from biomedical abstracts. A chain is trained on all sentences and
calibrated by three folds of them; CRFsuite's marginals are those of its model. Errors are measured
on test sentences: the expected calibration error (ECE) over 15 bins, and the average negative
log-likelihood of the true labels.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import COLORS, GREY, clean
from ..framework.peers import MODULE, train_crf
from ..framework.registry import Verdict, experiment
from ..framework.sequences import sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.sequences import Tagged
    from ..framework.session import Group, Session

TASKS = ("BioNLP", "BioCreative")
N, QUICK = 3000, 200
FOLDS = 3
CRF, RAW = "CRFsuite, lbfgs", "not calibrated"
DEFAULT = "temperature"
METHODS = {DEFAULT: "sigmoid", "isotonic": "isotonic"}
BINS = 15
C = 0.1


@experiment(
    "ours-calibration",
    title="Calibration of the labels of tokens: expected calibration error on test sentences",
    claim="The probabilities of a ChainSVC with a fitted temperature have an expected calibration "
    "error of at most 2 %, and not above that of CRFsuite's marginals, on both sets.",
    data=("jnlpba", "bc2gm"),
    peers=(MODULE,),
)
def run(session: Session) -> Verdict:
    """Each task with every way to get probabilities."""
    n = QUICK if session.quick else N
    groups = [
        measure(session, task, n, program) for task in TASKS for program in (RAW, *METHODS, CRF)
    ]
    columns = [
        Column("task", "task"),
        Column("program", "probabilities"),
        Column("n", "sentences", count),
        Column("tokens", "test tokens", count),
        Column("accuracy", "accuracy", percent2),
        Column("ece", "ECE", percent2),
        Column("nll", "log-loss", lambda value: f"{value:.4f}"),
        Column("time", "seconds", seconds),
    ]
    session.table(groups, columns, f"{n:,} sentences for training and for the test, C = {C:g}")
    session.draw(lambda figure: paint(figure, groups), width=9.0, height=4.0)
    return judge(groups)


def measure(session: Session, task: str, n: int, program: str) -> Group:
    """Train, and compare probabilities of test tokens with their labels; done once."""

    def once(seed: int) -> dict[str, Any]:
        data, start = session.tagged(task, n), time.process_time()
        table = crf_marginals(data) if program == CRF else our_marginals(data, program)
        return {"time": time.process_time() - start} | errors_of(table, data.truth)

    config = {"task": task, "program": program, "n": n, "C": C, "folds": FOLDS}
    return session.measure(config, once, repeats=1)


def our_marginals(data: Tagged, program: str) -> np.ndarray:
    """Probabilities of the labels of all test tokens, in the order of their numbers."""
    import maxmargin as mm
    from maxmargin.data.probabilities import softmax

    Y = [labels.tolist() for labels in data.Y]
    clf = mm.ChainSVC(C=C).fit(data.X, Y)
    if program == RAW:
        found = softmax(np.concatenate(clf.max_marginals(data.X_test)), 1.0)
    else:
        mm.calibrate(clf, data.X, Y, METHODS[program], cv=FOLDS)
        found = np.concatenate(clf.predict_marginals(data.X_test))
    table = np.zeros((len(found), len(data.labels)))
    table[:, clf.classes_] = found
    return table


def crf_marginals(data: Tagged) -> np.ndarray:
    """The marginals of a CRF, in the order of the numbers of labels."""
    import pycrfsuite

    rows = []
    with tempfile.TemporaryDirectory() as directory:
        model = str(Path(directory) / "model")
        train_crf(data, model)
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        known = set(tagger.labels())
        for x in sentences(data.X_test):
            tagger.set(x)
            rows += [
                [tagger.marginal(label, t) if label in known else 0.0 for label in data.labels]
                for t in range(len(x))
            ]
        tagger.close()
    return np.array(rows)


def errors_of(table: np.ndarray, truth: np.ndarray) -> dict[str, Any]:
    """Accuracy, calibration error, log-loss and the curve of probabilities (n, n_classes)."""
    from maxmargin.metrics import reliability_curve

    curve = reliability_curve(truth, table, np.arange(table.shape[1]), BINS)
    known = np.flatnonzero(truth >= 0)
    mine = np.clip(table[known, truth[known]], 1e-12, 1.0)
    used = curve.support > 0
    return {
        "tokens": len(truth),
        "accuracy": float((table.argmax(axis=1) == truth).mean()),
        "ece": curve.error,
        "nll": float(-np.log(mine).mean()),
        "curve": [curve.probability[used].tolist(), curve.accuracy[used].tolist()],
    }


def judge(groups: list[Group]) -> Verdict:
    """The default method on each task against CRFsuite, whose marginals are not fitted again."""
    passed, lines = True, []
    for task in TASKS:
        error = {g.config["program"]: g.median("ece") for g in groups if g.config["task"] == task}
        passed &= error[DEFAULT] <= min(0.02, error[CRF])
        shown = ", ".join(f"{name} {percent2(value)}" for name, value in error.items())
        loss = {g.config["program"]: g.median("nll") for g in groups if g.config["task"] == task}
        lines.append(
            f"{task}: expected calibration error {shown}; log-loss {loss[DEFAULT]:.4f}, CRFsuite's "
            f"{loss[CRF]:.4f}"
        )
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, groups: list[Group]) -> None:
    """Accuracy over probability, one panel per task."""
    panels = figure.subplots(1, len(TASKS), sharey=True)
    for axes, task in zip(panels, TASKS, strict=True):
        axes.plot([0, 1], [0, 1], "--", color=GREY, linewidth=1)
        shown = [g for g in groups if g.config["task"] == task]
        for color, group in zip(COLORS, shown, strict=False):
            x, y = group.values[0]["curve"]
            axes.plot(x, y, "o-", color=color, label=group.config["program"], markersize=4)
        axes.legend(fontsize=8)
        clean(axes, task, "probability of the predicted label", "accuracy")
