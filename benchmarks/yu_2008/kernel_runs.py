"""Runs with kernels as measurements, ours and libsvm's."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, percent2, seconds
from .kernel_data import GAMMA, Task, load_task

if TYPE_CHECKING:
    from ..framework.session import Group, Session

LIBSVM = "libsvm"
BASIS, LINEAR, CONSTANT = "basis functions", "sampled, linear time", "sampled, constant time"

#: Seconds after which a run of ours is ended.
CAP = 600.0


def methods() -> dict[str, dict[str, Any]]:
    """Our methods, by the parameters of the estimator.

    The constant-time one never sees all examples: it needs larger samples and a smaller tol.
    """
    from maxmargin import SampledCuts

    return {
        BASIS: {},
        LINEAR: {"solver": "sampled-linear"},
        CONSTANT: {"solver": SampledCuts("constant", r=2_000), "tol": 1e-3},
    }


def measure_libsvm(session: Session, task: Task, C: float = 1.0, repeats: int = 1) -> Group:
    """scikit-learn's SVC, as its users call it."""

    def once(seed: int) -> dict[str, Any]:
        from sklearn.svm import SVC

        data = load_task(session, task._replace(seed=seed))
        some = len(data.y_test) if session.quick else 20_000
        peer = SVC(C=C, gamma=GAMMA[task.name], cache_size=1000)
        start = time.perf_counter()
        peer.fit(data.X, data.y)
        took = time.perf_counter() - start
        return {
            "time": took,
            "error": 1 - float(peer.score(data.X_test, data.y_test)),
            "train_error": 1 - float(peer.score(data.X[:some], data.y[:some])),
            "support": int(peer.n_support_.sum()),
            "converged": True,
        }

    config = {"program": LIBSVM, "data": task.name, "n": task.n, "C": C}
    return session.measure(config, once, repeats)


def measure_ours(
    session: Session,
    task: Task,
    name: str,
    options: dict[str, Any],
    C: float = 1.0,
    tol: float = 1e-2,
    cap: float = CAP,
    repeats: int | None = None,
) -> Group:
    """Training with one of our methods; the time includes everything except compiling."""
    options = {"tol": tol} | options

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import BinarySVC

        data = load_task(session, task._replace(seed=seed))
        some = len(data.y_test) if session.quick else 20_000
        clf = BinarySVC(
            C, kernel="rbf", gamma=GAMMA[task.name], max_time=cap, random_state=seed, **options
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about limits: the table shows them
            clf.fit(data.X, data.y)
        result = clf.result_
        return {
            "time": result.time + result.prepare_time,
            "compile_time": result.compile_time,
            "iterations": result.n_iter,
            "seconds_per_iteration": result.time / result.n_iter,
            "primal": result.primal / (C * len(data.y)),
            "error": 1 - clf.score(data.X_test, data.y_test),
            "train_error": 1 - clf.score(data.X[:some], data.y[:some]),
            "support": len(clf.support_),
            "converged": result.as_asked,
        }

    config = {
        "program": name, "data": task.name, "n": task.n, "C": C, "tol": options["tol"], "cap": cap,
    }  # fmt: skip
    return session.measure(config, once, repeats)


def show(session: Session, groups: Sequence[Group], title: str) -> None:
    """One row per run."""
    columns = [
        Column("program", "program"),
        Column("n", "n", count),
        Column("C", "C", lambda value: f"{value:g}"),
        Column("time", "seconds", seconds, "converged"),
        Column("error", "test error", percent2),
        Column("train_error", "training error", percent2),
        Column("support", "support vectors", count),
    ]
    session.table(groups, columns, title)
