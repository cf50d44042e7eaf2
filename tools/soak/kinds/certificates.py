"""Random tiny problems, many of them degenerate: no certificate contradicts an independent QP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm
from maxmargin.data.source import take
from maxmargin.errors import ProblemError
from maxmargin.registry import all_structures
from maxmargin.structures.tiny import Tiny

from ..certify import check_certificate
from ..problems import SOLVERS, Planes, optimum, warm_up
from ..trial import FALSE, FoundError, Kind, Trial

#: Structures whose rows may be anything, as those of chains; the others keep the examples of their
#: description.
ROWS = ("binary", "multiclass", "own")


def prepare(folder: Path) -> list[tuple[str, Tiny]]:
    """The tiny examples of all structures."""
    warm_up()
    return [(s.name, tiny) for s in all_structures() for tiny in s.examples()]


def trial(trial: Trial) -> None:
    """Train on random rows with a random solver, and check the certificate."""
    random = trial.random
    name, tiny = random.choice(trial.ready)
    X, Y = _examples(random, name, tiny)
    weight = np.array([random.choice((0.0, 0.5, 1.0, 1.0, 1.0, 3.0)) for _ in Y])
    weight = weight if weight.any() else np.ones(len(Y))
    solver = random.choice(sorted(SOLVERS))
    C = random.choice((1.0, 10.0 ** random.uniform(-8, 6)))
    tol = 10.0 ** random.uniform(-8, -1)
    rescaling = random.choice(tiny.rescalings)
    max_iter = random.choice((1, 2, 5, 50, 300))
    about = (
        f"{name} {tiny.name}, {SOLVERS[solver]}, {rescaling}, tol {tol:g}, {max_iter} iterations"
    )
    with trial.refusals():
        result = train(
            tiny.problem, X, Y, C=C, solver=SOLVERS[solver], tol=tol, rescaling=rescaling,
            sample_weight=weight, max_iter=max_iter, random_state=random.randrange(100),
        )  # fmt: skip
        problem = Planes.of(tiny, X, Y, rescaling, weight)
        bounds = optimum(problem, C)
        check_certificate(result, problem, C, tol, bounds, f"{about}, {result.status.name}")
        trial.count("certificates")
        trial.count("converged", int(result.converged))
        sharp = bounds[0] - bounds[1] <= 0.1 * tol * C * weight.sum()
        trial.count("compared within a tenth of tol", int(sharp))


def train(*arguments: Any, **options: Any) -> Any:
    """Train; these problems are honest, so that an error which blames them is false."""
    try:
        return mm.train(*arguments, **options)
    except ProblemError as error:
        if "check_problem" in str(error):
            raise FoundError(FALSE, f"an honest problem is called wrong: {error}") from error
        raise


def _examples(random: Any, name: str, tiny: Tiny) -> tuple[Any, Any]:
    """Rows with duplicates, zeros, wild scales and contradicting labels, or the given examples."""
    if name not in (*ROWS, "chain"):
        chosen = [random.randrange(len(tiny.X)) for _ in range(random.randint(1, 6))]
        if name != "cfg":  # the number of features is that of all graphs
            chosen += range(len(tiny.X))
        return take(tiny.X, np.array(chosen)), take(tiny.Y, np.array(chosen))
    numbers = np.random.default_rng(random.getrandbits(64))
    scale = random.choice((1.0, 1.0, 10.0 ** random.uniform(-6, 6)))
    if name in ROWS:
        X = _rows(random, numbers, random.randint(1, 8), np.shape(tiny.X)[1], scale)
        return X, _labels(random, tiny.Y, len(X))
    X, Y = [], []
    for _ in range(random.randint(1, 4)):
        x = _rows(random, numbers, random.randint(1, 3), tiny.X[0].shape[1], scale)
        X.append(x)
        Y.append(np.array(random.choice(tiny.outputs(x))))
    if random.random() < 0.3:
        X, Y = X * 2, Y * 2
    return X, Y


def _rows(random: Any, numbers: Any, n: int, d: int, scale: float) -> np.ndarray:
    X = scale * numbers.standard_normal((n, d))
    if random.random() < 0.3:
        X = np.round(X / scale) * scale
    if random.random() < 0.4:
        X = np.repeat(X, random.choice((2, 3)), axis=0)
    if random.random() < 0.3:
        X[random.randrange(len(X))] = 0.0
    if random.random() < 0.1:
        X[:, random.randrange(d)] = random.choice((0.0, 1e3 * scale))
    return X


def _labels(random: Any, Y: Any, n: int) -> Any:
    values = random.choices(sorted(set(np.asarray(Y).tolist())), k=n)
    return values if isinstance(Y, list) else np.array(values)


KIND = Kind(
    "certificates",
    "every solver and variant on random tiny problems (duplicated and zero rows, contradicting "
    "labels, weights of 0, C from 1e-8 to 1e6, scales from 1e-6 to 1e6): P is recomputed in long "
    "double and D compared with cvxopt's QP over all enumerated outputs",
    trial, share=3.0, prepare=prepare, batch=200,
)  # fmt: skip
