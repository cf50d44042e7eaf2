"""``maxmargin demo``: one training run on data that every installation has, explained."""

from __future__ import annotations

import time
import warnings
from pathlib import Path

import numpy as np
from rich.panel import Panel
from rich.text import Text
from sklearn.svm import LinearSVC

from ..datasets import load_digits_split
from ..estimators import MulticlassSVC
from ..report.certificate import certificate
from ..report.convergence import check_format, require_matplotlib
from ..report.page import check_page
from .guard import check_output
from .show import Console, pairs_table, result_rows

C = 0.1
TOL = 1e-3

NEXT = """\
maxmargin train multiclass train.txt -o model.mm --report model.html
maxmargin evaluate model.mm test.txt
maxmargin info model.mm"""


def run(out: Path, report: Path) -> None:
    """Train, compare, draw, report, and say what to do next."""
    require_matplotlib()
    check_format(out)
    check_page(report)
    for path in (out, report):
        check_output(path)
    console = Console()
    X_train, X_test, y_train, y_test = load_digits_split()
    console.print(
        f"Training a multi-class SVM on {len(y_train):,} handwritten digits of 8 x 8 pixels "
        f"(C={C}, tol={TOL})"
    )
    model = MulticlassSVC(C=C, tol=TOL, verbose=1).fit(X_train, y_train)
    rows = [
        ("test accuracy", f"{model.score(X_test, y_test):.4f} on {len(y_test):,} digits"),
        *result_rows(model.result_),
        ("compare", _compare(X_train, y_train)),
    ]
    model.result_.plot(out)
    model.report(report, X_train, y_train, test=(X_test, y_test))
    console.print(Panel(pairs_table(rows), title="Result", title_align="left", expand=False))
    console.print(Text(certificate(model.result_)))
    words = f"Drew the convergence in {out}; open {report} in a browser for the whole report."
    console.print(Text(words, style="green"))
    console.print("\nNext, with your own data in svmlight format:")
    console.print(Text(NEXT, style="bold"))


def _compare(X: np.ndarray, y: np.ndarray) -> str:
    """The objective that scikit-learn's solver of the same problem reaches."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may stop at its iteration limit
        peer = LinearSVC(
            C=C, multi_class="crammer_singer", fit_intercept=False, random_state=0
        ).fit(X, y)
    seconds = time.perf_counter() - start
    value = objective(peer.coef_, X, y)
    return f"LinearSVC (crammer_singer) reaches {value:.6g} in {seconds:.2f} s, with no certificate"


def objective(coef: np.ndarray, X: np.ndarray, y: np.ndarray) -> float:
    """P of multi-class weights ``coef`` (k, d) with 0/1 loss; y holds class numbers."""
    scores = X @ coef.T
    rows = np.arange(len(y))
    truth = scores[rows, y].copy()
    scores += 1.0
    scores[rows, y] -= 1.0
    return 0.5 * float((coef**2).sum()) + C * float((scores.max(axis=1) - truth).sum())
