"""159 labels with weights of all 12,561 pairs that attract each other."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import maxmargin as mm

from ..framework.display import Column, count, percent2, seconds
from ..framework.registry import Verdict, experiment
from .graph_data import load_label_sets
from .label_sets import both

if TYPE_CHECKING:
    from ..framework.session import Session

C = 0.1

#: What the claim says: wrong labels per example, CPU seconds, megabytes.
TOL, SECONDS, MEGABYTES = 0.05, 600.0, 4000.0


@experiment(
    "graphs-bibtex",
    title="bibtex, 4,880 examples, 159 labels, weights of all 12,561 pairs",
    claim=f"Training proves to be within {TOL:g} wrong labels per example of the optimum, with "
    f"exact inference, after at most {SECONDS:g} CPU seconds and with at most "
    f"{MEGABYTES / 1000:g} GB.",
    data=("multilabel",),
)
def run(session: Session) -> Verdict:
    """Training, with the peak memory of this process."""
    n, directory = 200 if session.quick else 4880, session.directory
    config = {"n": n, "C": C, "tol": TOL}
    group = session.measure(config, lambda seed: train(directory, n), repeats=1)
    columns = [
        Column("n", "examples", count),
        Column("cpu", "CPU s", seconds),
        Column("mb", "MB", count),
        Column("gap", "gap", lambda value: f"{value:.3f}"),
        Column("iterations", "iterations", count),
        Column("subset", "subset accuracy", percent2),
        Column("micro", "micro F1", percent2),
    ]
    session.table([group], columns, f'interactions="associative", C = {C:g}, one core')
    cpu, mb, gap = (group.median(key) for key in ("cpu", "mb", "gap"))
    return Verdict(
        cpu <= SECONDS and mb <= MEGABYTES and gap <= TOL,
        f"gap {gap:.3f} after {seconds(cpu)} CPU s, {mb:,.0f} MB; pairs with a weight: "
        f"{group.median('pairs'):,.0f}",
    )


def train(directory: Path | None, n: int) -> dict[str, Any]:
    """Train on the first n examples; the memory is the peak of this process since its start."""
    data = load_label_sets("bibtex", directory)
    clf = mm.MultilabelSVC(
        C=C, interactions="associative", fit_intercept=True, tol=TOL, max_iter=1000
    )
    clf.fit(data.X[:2], data.Y[:2])  # compile
    start = time.process_time()
    clf.fit(data.X[:n], data.Y[:n])
    took = time.process_time() - start
    subset, micro = both(clf, data.X_test, data.Y_test)
    return {
        "cpu": took,
        "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6,
        "gap": clf.result_.gap / (C * n),
        "iterations": clf.result_.n_iter,
        "pairs": int((clf.pairwise_[:, 1, 1] > 0).sum()),
        "subset": subset,
        "micro": micro,
    }
