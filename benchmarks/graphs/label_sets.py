"""Sets of labels: weights of pairs of labels against classifiers of single labels and a chain."""

from __future__ import annotations

import time
import warnings
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

import maxmargin as mm
from maxmargin.metrics.label_sets import score_label_sets

from ..framework.display import Column, percent2, seconds
from ..framework.registry import Verdict, experiment
from .graph_data import LABEL_SETS, load_label_sets

if TYPE_CHECKING:
    from ..framework.session import Group, Session

SINGLE, CHAIN = "one LinearSVC per label", "chain of logistic regressions"

#: The interactions of ours: all pairs; of 159 labels those that attract each other.
OURS = {"scene": "full", "yeast": "full", "emotions": "full", "bibtex": "associative"}

#: The values of C, and the number of folds; of bibtex one fold is scored, and fewer values of ours.
VALUES, FOLDS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0), 5
FEWER = (0.1, 0.3, 1.0, 3.0)

#: What it costs to miss a label, if a label too many costs 1: for the others a weight of the class.
COSTS = (1.0, 1.5, 2.2)

#: Wrong labels per example, and the maximum number of iterations, with all examples and in a fold.
TOL, LONG, SHORT, SHORTEST = 0.05, 1000, 30, 10


@experiment(
    "graphs-label-sets",
    title="Sets of labels: scene, yeast, emotions and bibtex",
    claim="Weights of pairs of labels reach at least the subset accuracy and the micro F1 of one "
    "LinearSVC per label on all four sets, and of a chain of logistic regressions on two.",
    data=("multilabel",),
)
def run(session: Session) -> Verdict:
    """All programs, C and costs chosen in the same way by cross-validation on the training part."""
    names = ("emotions",) if session.quick else LABEL_SETS
    rows = {
        name: [measure(session, name, program) for program in (SINGLE, CHAIN, OURS[name])]
        for name in names
    }
    columns = [
        Column("data", "data"),
        Column("program", "program"),
        Column("C", "C", lambda value: f"{value:g}"),
        Column("missed", "cost of a missed label", lambda value: f"{value:g}"),
        Column("subset", "subset accuracy", percent2),
        Column("micro", "micro F1", percent2),
        Column("cv_cpu", "CPU s, choosing", seconds),
        Column("cpu", "CPU s", seconds),
    ]
    title = "C and costs by cross-validation on training examples, for the mean of both measures"
    session.table([g for groups in rows.values() for g in groups], columns, title)
    return judge(rows)


def measure(session: Session, name: str, program: str) -> Group:
    """One program on one data set."""
    values, folds = VALUES, FOLDS
    if name == "bibtex":
        values, folds = VALUES if program in (SINGLE, CHAIN) else FEWER, 1
    values = values[1::2] if session.quick else values

    def once(seed: int) -> dict[str, Any]:
        data = load_label_sets(name, session.directory)
        start = time.process_time()
        C, missed = choose(program, data, list(product(values, COSTS)), folds)
        chosen = time.process_time()
        model = train(program, C, missed, data.X, data.Y)
        found = {
            "C": C,
            "missed": missed,
            "cv_cpu": chosen - start,
            "cpu": time.process_time() - chosen,
        } | dict(zip(("subset", "micro"), both(model, data.X_test, data.Y_test), strict=True))
        if program in (SINGLE, CHAIN):
            return found
        result, scale = model.result_, C * len(data.Y)
        return found | {
            "optimisation": result.gap_optimisation / scale,
            "inference_gap": result.gap_inference / scale,
            "pairs": strongest(model.interactions_),
        }

    tried = {"values": len(values), "costs": len(COSTS), "folds": folds}
    config = {"data": name, "program": program} | tried
    return session.measure(config, once, repeats=1)


def choose(program: str, data: Any, pairs: Any, folds: int) -> tuple[float, float]:
    """C and cost with the highest mean score over the folds; the same folds for all programs."""
    from sklearn.model_selection import KFold

    scores = np.zeros(len(pairs))
    splits = KFold(FOLDS, shuffle=True, random_state=0).split(data.Y)
    for kept, held in islice(splits, folds):
        for k, (C, missed) in enumerate(pairs):
            limit = SHORTEST if folds == 1 else SHORT
            model = train(program, C, missed, data.X[kept], data.Y[kept], limit)
            scores[k] += sum(both(model, data.X[held], data.Y[held]))
    return pairs[int(scores.argmax())]


def train(program: str, C: float, missed: float, X: Any, Y: Any, limit: int = LONG) -> Any:
    """A trained model of this program."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.multioutput import ClassifierChain
    from sklearn.svm import LinearSVC

    model: Any
    costs = {0: 1.0, 1: missed}
    if program == SINGLE:
        model = OneVsRestClassifier(LinearSVC(C=C, class_weight=costs))
    elif program == CHAIN:
        model = ClassifierChain(LogisticRegression(C=C, solver="liblinear", class_weight=costs))
    else:
        model = mm.MultilabelSVC(
            C=C, interactions=program, fit_intercept=True, tol=TOL, max_iter=limit,
            label_cost=np.tile([1.0, missed], (Y.shape[1], 1)),
        )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, Y)


def both(model: Any, X: Any, Y: np.ndarray) -> tuple[float, float]:
    """Subset accuracy and micro F1."""
    found = model.predict(X)
    scores = score_label_sets(Y, np.asarray(found).astype(int))
    return scores.subset_accuracy, scores.micro_f1


def strongest(weights: np.ndarray, n: int = 3) -> str:
    """The pairs of labels that attract each other most, and those that repel each other most."""
    a, b = np.triu_indices(len(weights), 1)
    order = np.argsort(-weights[a, b])
    ends = [*order[:n].tolist(), *order[-n:].tolist()]
    return ", ".join(f"{a[e]}-{b[e]} {weights[a[e], b[e]]:+.2f}" for e in ends)


def judge(rows: dict[str, list[Group]]) -> Verdict:
    """Where ours is at least as good in both measures."""
    lines, better = [], {SINGLE: 0, CHAIN: 0}
    for name, (*peers, ours) in rows.items():
        for peer in peers:
            least = min(ours.median(key) - peer.median(key) for key in ("subset", "micro"))
            better[peer.config["program"]] += least >= 0
        lines.append(
            f"{name}: {percent2(ours.median('subset'))}, {percent2(ours.median('micro'))}; gap per "
            f"example {ours.median('optimisation'):.3f} (optimisation) and "
            f"{ours.median('inference_gap'):.3f} (inference); pairs {ours.values[0]['pairs']}"
        )
    lines += [f"not below {peer} on {count} of {len(rows)}" for peer, count in better.items()]
    return Verdict(better[SINGLE] == len(rows) and better[CHAIN] >= 2, "\n".join(lines))
