"""All solvers on the same problem.

All of them are certified, so their curves can be compared.
"""

import warnings

from matplotlib.figure import Figure
from sklearn.exceptions import ConvergenceWarning

import maxmargin as mm

X, _, y, _ = mm.datasets.load_digits_split()

curves = {}
for name in ("sdm", "one-slack", "bcfw", "n-slack", "subgradient"):
    clf = mm.MulticlassSVC(C=0.1, tol=1e-3, solver=name, max_time=3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # ends the slow ones
        result = clf.fit(X, y).result_
    curves[name] = [(r.n_oracle, r.gap) for r in result.history if r.gap < 1e6]
    print(
        f"{name:12} {result.status.name:10} primal {result.primal:.3f}, dual {result.dual:.3f}, "
        f"{result.n_oracle:,} oracle calls"
    )

figure = Figure(figsize=(8, 4.4), layout="constrained")
axes = figure.subplots()
for name, points in curves.items():
    axes.plot(*zip(*points, strict=True), "o-", markersize=3, label=name)
axes.set(xscale="log", yscale="log", xlabel="oracle calls", ylabel="duality gap")
axes.set_title("Digits, C = 0.1: the gap closes", loc="left")
axes.legend(frameon=False, fontsize=9)
figure.savefig("solvers.png", dpi=130)
