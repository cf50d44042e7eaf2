"""``maxmargin compile``: fill the folder of compiled code ahead of time, by tiny trainings.

They use the structures' tiny examples, so that a new structure is compiled like the others.
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from ..io.number_pairs import parse_pairs
from ..registry import all_structures, get_structure, load
from ..structures.files import Wish

#: Solvers that together call all passes; only BCFW compiles a step of another kind.
SOLVERS = ("sdm", "one-slack", "bcfw")


def compile_structures(names: Iterable[str]) -> None:
    """Compile what training and prediction of these structures call; all of them by default."""
    parse_pairs(b"1:1", 1)  # files in svm_light format, if they are large
    chosen = [get_structure(name) for name in names]
    for structure in chosen or all_structures():
        examples = [example for example in structure.examples() if example.estimator is not None]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            for example in examples:
                _use_arrays(example)
            for example in [example for example in examples if example.text][:1]:
                _use_files(structure, example)
        print(f"{structure.name}: {'compiled' if examples else 'nothing to compile'}")


def _use_arrays(example: Any) -> None:
    """Train and predict."""
    X, Y = example.data or (example.X, example.Y)
    for solver in SOLVERS:
        estimator = clone(example.estimator).set_params(solver=solver, max_iter=2)
        estimator.fit(X, Y)
        estimator.predict(X)


def _use_files(structure: Any, example: Any) -> None:
    """Train and predict from files, whose readers and writers may be compiled."""
    files, options, text = structure.files, structure.options(), example.text
    with tempfile.TemporaryDirectory() as folder:
        data, model = str(Path(folder, "data")), str(Path(folder, "model.mm"))
        Path(data).write_bytes(text if isinstance(text, bytes) else text.encode())
        read = files.read_all([data], options)
        estimator = files.estimator(read, options).set_params(max_iter=2)
        files.fit(estimator, read)
        estimator.save(model)
        files.predict(load(model), data, str(Path(folder, "out")), Wish())
