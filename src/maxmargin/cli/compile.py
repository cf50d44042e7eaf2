"""``maxmargin compile``: fill the folder of compiled code ahead of time, by tiny trainings.

They use the structures' tiny examples, so that a new structure is compiled like the others.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..registry import all_structures, get_structure

#: Solvers that together call all passes; only BCFW compiles a step of another kind.
SOLVERS = ("sdm", "one-slack", "bcfw")


def compile_structures(names: Iterable[str]) -> None:
    """Compile what training and prediction of these structures call; all of them by default."""
    chosen = [get_structure(name) for name in names]
    for structure in chosen or all_structures():
        examples = [example for example in structure.examples() if example.estimator is not None]
        for example in examples:
            X, Y = example.data or (example.X, example.Y)
            for solver in SOLVERS:
                estimator = clone(example.estimator).set_params(solver=solver, max_iter=2)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    estimator.fit(X, Y)
                estimator.predict(X)
        print(f"{structure.name}: {'compiled' if examples else 'nothing to compile'}")
