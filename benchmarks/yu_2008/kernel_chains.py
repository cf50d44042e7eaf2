"""OCR letters: chains with kernels on the pixels."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, percent2, seconds
from ..framework.registry import Verdict, experiment
from ..framework.sequences import OCR

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: Parameters of the chains; tol is in wrong letters per word.
RUNS: dict[str, dict[str, Any]] = {
    "linear": {"C": 0.1},
    "rbf, 300 functions": {"C": 1.0, "kernel": "rbf", "n_basis": 300, "tol": 0.1},
    "rbf, 1,000 functions": {"C": 1.0, "kernel": "rbf", "n_basis": 1_000, "tol": 0.1},
    "poly, 1,000 functions": {
        "C": 1.0, "kernel": "poly", "coef0": 1.0, "n_basis": 1_000, "tol": 0.1,
    },
}  # fmt: skip


@experiment(
    "yu-2008-kernel-chains",
    title="OCR letters: chains with kernels on the pixels",
    claim="A kernel raises the letter accuracy of the linear chain by at least 3 points, in less "
    "than 10 minutes.",
    data=("ocr_letters",),
)
def run(session: Session) -> Verdict:
    """The linear chain, then those with kernels."""
    n = 300 if session.quick else None
    groups = [measure(session, name, options, n) for name, options in RUNS.items()]
    columns = [
        Column("chain", "chain"),
        Column("time", "seconds", seconds, "converged"),
        Column("map_time", "of these the map", seconds),
        Column("iterations", "iterations", count),
        Column("accuracy", "letter accuracy", percent2),
    ]
    session.table(groups, columns, "one core; the best setting is the best on the test part")
    linear, best = groups[0].median("accuracy"), max(groups[1:], key=lambda g: g.median("accuracy"))
    gain, took = best.median("accuracy") - linear, best.median("time")
    return Verdict(
        gain >= 0.03 and took < 600,
        f"linear {percent2(linear)}; {best.config['chain']} {percent2(linear + gain)} in "
        f"{seconds(took)} s",
    )


def measure(session: Session, name: str, options: dict[str, Any], n: int | None) -> Group:
    """Train and test one chain."""

    def once(seed: int) -> dict[str, Any]:
        from maxmargin import ChainSVC

        data = session.tagged(OCR, n)
        X_test = data.X_test[:n]
        clf = ChainSVC(**options, random_state=seed, max_time=900.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about the limit: the table shows it
            clf.fit(data.X, data.Y)
        found = np.concatenate([np.asarray(y) for y in clf.predict(X_test)])
        result = clf.result_
        return {
            "time": result.time + result.prepare_time,
            "map_time": result.prepare_time,
            "iterations": result.n_iter,
            "converged": result.converged,
            "accuracy": float((found == data.truth[: len(found)]).mean()),
        }

    config = {"chain": name, "n": n, **{key: str(value) for key, value in options.items()}}
    return session.measure(config, once)
