"""``svm_hmm_learn`` and ``svm_multiclass_learn``: options in SVM-struct's units, our solvers.

With its option ``-c`` and a loss of s per error (s = 100 for SVM-multiclass's percentages, else 1),
SVM-struct minimises::

    1/2 |v|^2 + c/n sum_i max_y s loss_i(y) - <v, psi_i(y)>               margin rescaling
    1/2 |v|^2 + c/n sum_i max_y s loss_i(y) (1 - <v, psi_i(y)>)           slack rescaling

and stops when this is within ``e c`` of the minimum. Our objective is P(w) with a loss of 1, and
training stops at a gap of ``tol C n``. Margin rescaling: with v = s w, SVM-struct's objective is
s^2 P(w) with C = c/(s n), and its ``e c`` becomes ``e c / s^2 = (e/s) C n``. Slack rescaling: s is
only a factor of the sum, so w = v and C = s c/n, and again ``e c = (e/s) C n``. In both cases the
model file holds v, as SVM-struct would write it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..cli.guard import check_output, warn
from ..errors import DataError
from ..io.hmm import integer_labels, read_hmm
from ..io.svm_struct import MAX_WEIGHTS, StructModel, write_svm_struct
from ..io.svmlight import read_examples
from ..report.certificate import bound, verdict
from ..result import Result
from ..solvers.n_slack import NSlack
from ..solvers.one_slack import OneSlack
from ..structures.chain.problem import Chain, Unlinked
from ..structures.multiclass.problem import Multiclass
from ..training import train
from .models import squared_differences
from .options import LearnOptions

#: SVM-struct does not limit the number of iterations.
NO_LIMIT = 10**9

#: The labels of a chain are 16-bit integers.
MAX_TAGS = 2**15 - 1


@dataclass(frozen=True)
class Units:
    """Our C and tol, and the factors that turn our weights and objectives into SVM-struct's."""

    C: float
    tol: float
    weight: float
    objective: float

    @classmethod
    def of(cls, options: LearnOptions, n: int, scale: float) -> Units:
        """The units for n examples and a loss of ``scale`` per error; see the module docstring."""
        c, tol = options.c, options.e / scale
        if options.rescaling == "slack":
            return cls(scale * c / n, tol, 1.0, 1.0)
        return cls(c / (scale * n), tol, scale, scale**2)


@dataclass(frozen=True)
class Job:
    """A problem with its checked data."""

    problem: Any
    X: Any
    Y: Any
    units: Units
    K: int
    d: int
    read: str
    hmm: bool = True


def learn(program: str, options: LearnOptions) -> None:
    """Train, report and write the model."""
    check_output(Path(options.model), options.data)
    solver = choose_solver(options)
    for note in options.notes:
        warn(note)
    job = (_hmm_job if program == "svm_hmm_learn" else _multiclass_job)(options)
    talk = options.verbosity > 0
    if talk:
        print(f"Reading training examples...{job.read}", flush=True)
    result = train(
        job.problem, job.X, job.Y, C=job.units.C, solver=solver, tol=job.units.tol,
        rescaling=options.rescaling, max_iter=NO_LIMIT, verbose=int(talk),
    )  # fmt: skip
    if not result.converged:
        warn(f"{verdict(result).lower()}: the objective is {bound(result)} above the optimum")
    if talk:
        print("\n".join(closing_lines(result, job.units, options)))
    write_svm_struct(_model(result.w * job.units.weight, job, options), options.model)
    if talk:
        print("Writing learned model...done")


def choose_solver(options: LearnOptions) -> Any:
    """The solver for the option ``-w``; without it, the default of maxmargin."""
    match options.algorithm:
        case None:
            return "auto"
        case 0 | 1:
            return NSlack(batch=options.batch, shrink=options.algorithm == 1)
        case 2 | 3:
            return OneSlack(cache=0)
    return OneSlack(cache=options.cache, share=options.share)


def _hmm_job(options: LearnOptions) -> Job:
    X, tags = read_hmm(options.data)
    n, tokens, d = len(X), X.matrix.shape[0], X.n_features
    K = max(map(max, tags))
    _check_size(options.data, K, d, MAX_TAGS)
    read = f" {n} examples, {tokens} tokens, {d} features, {K} classes... done"
    units = Units.of(options, n, 1.0)
    Y = [np.array(sequence) - 1 for sequence in tags]
    if options.order == 1 or options.loss == 0 or options.rescaling == "slack":
        loss = "hamming" if options.loss == 1 else "zero-one"
        problem = (Chain if options.order == 1 else Unlinked)(K, loss)
        return Job(problem, X, Y, units, K, d, read)
    # Here the maximum over a sequence is the sum of the maxima over its tokens, so C stays the
    # same. Only tol is relative to the number of examples.
    units = Units(units.C, units.tol * n / tokens, 1.0, 1.0)
    return Job(Multiclass(K), X.matrix, np.concatenate(Y), units, K, d, read)


def _multiclass_job(options: LearnOptions) -> Job:
    examples = read_examples(options.data)
    y = integer_labels(examples, options.data, "class", lowest=1)
    n, d = examples.X.shape
    K = int(y.max())
    _check_size(options.data, K, d, MAX_WEIGHTS)
    read = f" ({n} examples) done\nTraining set properties: {d} features, {K} classes"
    cost = squared_differences(K) if options.loss == 1 else None
    units = Units.of(options, n, 100.0 if options.loss == 0 else 1.0)
    return Job(Multiclass(K, cost), examples.X, y - 1, units, K, d, read, hmm=False)


def _check_size(data: str, K: int, d: int, most: int) -> None:
    if d == 0:
        raise DataError("no line has a feature: there is nothing to learn from", path=data)
    if most < K or K * max(d, K) > MAX_WEIGHTS:
        raise DataError(
            f"the largest class is {K}, with {d} features: number the classes 1, 2, 3 and so on, "
            "since all numbers up to the largest become classes",
            path=data,
        )


def _model(w: np.ndarray, job: Job, options: LearnOptions) -> StructModel:
    K, d = job.K, job.d
    emission = w[: d * K].reshape(d, K).T
    if isinstance(job.problem, Chain):
        transition = w[d * K :].reshape(K, K)
        return StructModel(emission, transition, options.loss, order=options.order)
    transition = np.zeros((K, K)) if job.hmm else None
    return StructModel(emission, transition, options.loss, order=0)


def closing_lines(result: Result, units: Units, options: LearnOptions) -> list[str]:
    """The final report of SVM-struct in its units, with certified bounds."""
    scale = units.objective
    norm = units.weight * float(np.linalg.norm(result.w))
    slack = (scale * result.primal - 0.5 * norm**2) / options.c
    shares = _shares(result) if options.verbosity > 1 else ""
    planes = result.history[-1].planes if result.history else 0
    return [
        f"Final epsilon on KKT-Conditions: {scale * result.gap / options.c:.5f}",
        f"Upper bound on duality gap: {scale * result.gap:.5f}",
        f"Dual objective value: dval={scale * result.dual:.5f}",
        f"Primal objective value: pval={scale * result.primal:.5f}",
        f"Total number of constraints in final working set: {planes}",
        f"Number of iterations: {result.n_iter}",
        f"Number of calls to 'find_most_violated_constraint': {result.n_oracle}",
        f"Norm of weight vector: |w|={norm:.5f}",
        f"Value of slack variable (global): xi={slack:.5f}",
        f"Runtime in cpu-seconds: {result.time:.2f}{shares}",
    ]


def _shares(result: Result) -> str:
    """The parts of the solver's time, in percent."""
    total = result.time or 1.0
    parts = (f"{100 * part / total:.2f}% for {name}" for name, part in result.shares.items())
    return f" ({', '.join(parts)})"
