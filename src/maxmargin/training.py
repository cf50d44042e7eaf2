"""``train``: from a problem and examples to a certified result. The estimators call it."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import numpy as np

from .data.checked import check_weights
from .data.source import OpenSource, Source, n_examples, take
from .engine.python import as_compiled_problem
from .engine.shard import Shard
from .errors import DataError
from .objective import check_factor, check_integer, check_positive
from .problem import MODES, CompiledProblem
from .result import Callback, Result, Stop
from .saving.checkpoint import Checkpoint, Saver, as_checkpoint

if TYPE_CHECKING:
    from .solvers.warm import WarmStart


def train(
    problem: Any,
    X: Any,
    Y: Any = None,
    *,
    C: float = 1.0,
    solver: Any = "auto",
    tol: float = 1e-2,
    rescaling: str = "margin",
    sample_weight: Any = None,
    max_iter: int = 10_000,
    max_time: float | None = None,
    n_jobs: int | None = 1,
    deterministic: bool = True,
    random_state: Any = 0,
    backend: Any = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: Any = None,
    every: str | float = "5min",
    resume: bool = True,
    start: WarmStart | None = None,
    relabel: np.ndarray | None = None,
    keep: bool = False,
    verbose: int = 0,
) -> Result:
    """Minimise ``1/2 |w|^2 + C sum_i weight_i H_i(w)``.

    Parameters
    ----------
    problem : Problem or CompiledProblem
        The structure: its features, loss and oracle.
    X, Y : sequences
        Inputs and true outputs; or ``mm.Files`` alone.
    C : float
        Weight of the sum of the losses relative to the regularizer.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack.
    sample_weight : array (n,), optional
        Weights >= 0 of the examples.
    max_iter : int
        Maximum number of iterations.
    max_time : float, optional
        Maximum time in the solver, in seconds. If a limit is reached, the best weights so far are
        returned with their certificate.
    n_jobs : int
        Number of threads for compiled problems, or of worker processes for the oracle of a plain
        Python problem; -1 for all cores. The result does not depend on it, unless
        ``deterministic`` is False.
    deterministic : bool
        With False the threads of "sdm", "n-slack" and "bcfw" change the weights at the same time,
        which is faster; the certificate is as good, but two runs differ within it. Problems in
        plain Python and weights with sign constraints are trained as with True. With ``backend``
        the threads of each worker do so.
    random_state : int or RandomState
        Seed of the order in which examples are visited.
    backend : optional
        Where the examples are processed: ``mm.Ray(...)`` for the workers of a cluster; by default
        in this process.
    callbacks : iterable of callables
        ``callback(record, state)`` is called after each iteration; a true return value stops
        training.
    checkpoint : path or Checkpoint, optional
        A file to which training is saved regularly and at its end, and from which it continues if
        the file exists. See ``mm.Checkpoint``.
    every : str or float
        Time between two saves: "30s", "5min", "1h", or a number of seconds.
    resume : bool
        Whether to continue from an existing checkpoint; the result is the same as without
        interruption. With False it is overwritten.
    start : WarmStart, optional
        The ``state`` of an earlier result. Its dual variables or cuts are the starting point, for
        another C or tol, or for additional examples after the earlier ones. It cannot be used
        again.
    relabel : int array, optional
        ``relabel[old] = new`` if the classes of ``start`` now have other numbers.
    keep : bool
        Whether the result has a ``state`` for a later ``start``.
    verbose : int
        1 shows a progress bar on stderr.

    Returns
    -------
    Result
    """
    begin = time.perf_counter()
    compiled_problem = as_compiled_problem(problem)
    if isinstance(X, Source):
        X = X.open(backend)
    files = isinstance(X, OpenSource)
    if files:
        check_alone(Y, sample_weight)
    weight = None if files else check_examples(X, Y, sample_weight)
    stop = check_stop(tol, max_iter, max_time)
    settings = (stop, rescaling, random_state, callbacks, verbose)
    saved = as_checkpoint(checkpoint, every, resume)
    if backend is not None:
        if start is not None or keep:
            raise DataError("start= and keep= work only in this process: leave out backend=")
        result = backend.train(
            compiled_problem, X, Y, weight, C, solver, *settings, saved,
            deterministic=deterministic,
        )  # fmt: skip
    else:
        pack = X.pack(compiled_problem) if files else compiled_problem.pack(X, Y, weight)
        if not pack.weight.any():
            raise DataError("all weights are zero: nothing to learn from")
        jobs = 1 if n_jobs is None else n_jobs
        shard = Shard(compiled_problem, pack, jobs, deterministic=deterministic)
        if start is not None and start.trusted and start.solver.keeps_sums:
            start.trusted = begins_with(compiled_problem, X, Y, weight, start)
        with closing(shard):
            result = train_shard(shard, C, solver, *settings, saved, start, relabel, keep)
    solving = result.time - result.earlier_time
    result.prepare_time = time.perf_counter() - begin - solving - result.compile_time
    return result


def begins_with(problem: CompiledProblem, X: Any, Y: Any, weight: Any, start: WarmStart) -> bool:
    """Whether the first examples, packed for this problem, are exactly those of an earlier run.

    What is learned from all examples (balanced weights, scales of features) may have changed them.
    """
    if n_examples(X) < start.n:
        return False
    first = np.arange(start.n)
    part = None if weight is None else weight[: start.n]
    pack = problem.pack(take(X, first), take(Y, first), part)
    with closing(Shard(problem, pack)) as shard:
        return shard.fingerprint() == start.fingerprint


def train_shard(
    shard: Shard,
    C: float,
    solver: Any,
    stop: Stop,
    rescaling: str = "margin",
    random_state: Any = 0,
    callbacks: Iterable[Callback] = (),
    verbose: int = 0,
    checkpoint: Checkpoint | None = None,
    start: WarmStart | None = None,
    relabel: np.ndarray | None = None,
    keep: bool = False,
) -> Result:
    """Train on packed examples.

    Parameters
    ----------
    shard : Shard
        The packed examples.
    C, solver, rescaling, random_state, callbacks, verbose
        As for ``train``.
    stop : Stop
        Tolerance and limits.
    checkpoint : Checkpoint, optional
    start : WarmStart, optional
        The state of an earlier run on these examples, or on the first of them.
    relabel : int array, optional
        ``relabel[old] = new``: the new numbers of the classes of ``start``.
    keep : bool
        Whether the result has a ``state`` for a later ``start``.
    """
    from threadpoolctl import threadpool_limits

    from .solvers import Task, get_solver, solve
    from .solvers.signs import check_signs
    from .solvers.warm import WarmStart

    mode = MODES[check_rescaling(rescaling)]
    task = Task(shard, check_factor("C", C), mode, stop.tol, random(random_state))
    chosen = get_solver(solver, shard, task.C)
    check_signs(chosen, shard)
    compile_time = shard.warm_up(task.mode, chosen.loops(task))
    compile_time += chosen.warm_up(task)
    # The matrices are small: synchronising BLAS threads would cost more than it saves.
    with threadpool_limits(1, "blas"), ExitStack() as stack:
        callbacks = list(callbacks)
        if verbose:
            from .progress import ProgressBar

            callbacks.append(stack.enter_context(ProgressBar(task, stop)))
        state = None if start is None else start.begin(chosen, task, relabel)
        shard.n_oracle = 0
        saver = None if checkpoint is None else Saver(checkpoint, chosen, task)
        result = solve(chosen, task, stop, callbacks, saver, state)
    result.compile_time = compile_time
    if keep and any(result.w is value for value in vars(result.state).values()):
        result.w = result.w.copy()  # a later run changes the state in place
    result.state = WarmStart.of(chosen, task, result.state) if keep else None
    return result


def check_examples(X: Any, Y: Any, sample_weight: Any) -> np.ndarray | None:
    """The sample weights as an array; a DataError if lengths differ or weights are invalid."""
    n = n_examples(X)
    if n == 0:
        raise DataError("X is empty: training needs at least one example")
    if Y is None:
        raise DataError("Y is missing: training needs the true output of each example")
    if n_examples(Y) != n:
        raise DataError(f"X has {n} examples and Y has {n_examples(Y)}: the lengths must agree")
    if sample_weight is None:
        return None
    weight = check_weights(sample_weight, n, "sample_weight")
    if not weight.any():
        raise DataError("all sample weights are zero: nothing to learn from")
    return weight


def check_alone(*others: Any) -> None:
    """Raise a DataError if labels or weights are given in addition to files that hold them."""
    if any(other is not None for other in others):
        raise DataError("mm.Files contain labels and weights: do not pass y or sample_weight")


def check_rescaling(rescaling: str) -> str:
    """The name; a DataError if it is not one."""
    if not isinstance(rescaling, str) or rescaling not in MODES:
        raise DataError(f"rescaling is 'margin' or 'slack', got {rescaling!r}")
    return rescaling


def check_stop(tol: float, max_iter: int, max_time: float | None) -> Stop:
    """The checked tolerance and limits."""
    max_iter = check_integer("max_iter", max_iter, 1, 2**63 - 1)
    if max_time is not None:
        max_time = check_positive("max_time", max_time)
    return Stop(check_positive("tol", tol), max_iter, max_time)


def random(random_state: Any) -> np.random.RandomState:
    """A RandomState from a seed, None, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32))
    if random_state is not None:
        more = ", None, a numpy RandomState or a Generator"
        random_state = check_integer("random_state", random_state, 0, 2**32 - 1, more)
    return np.random.RandomState(random_state)


def tolerance(tol: float | None, largest: float) -> float:
    """``tol``; if it is None, a hundredth of the largest loss of an average example, at least 0.01.

    Scores on held-out examples hardly change below it: see "which tol" in ``docs/solvers.md``.
    """
    return 0.01 * max(largest, 1.0) if tol is None else tol
