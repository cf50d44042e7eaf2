"""``train``: from a problem and its examples to a certified result. The estimators call it too."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from .data.checked import check_weights
from .data.source import OpenSource, Source
from .engine.python import as_compiled_problem
from .engine.shard import Shard
from .errors import DataError
from .objective import check_positive
from .problem import MODES
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
    random_state: Any = 0,
    backend: Any = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: Any = None,
    every: str | float = "5min",
    resume: bool = False,
    start: WarmStart | None = None,
    relabel: np.ndarray | None = None,
    keep: bool = False,
    verbose: int = 0,
) -> Result:
    """Minimise ``1/2 |w|^2 + C sum_i weight_i H_i(w)``.

    Parameters
    ----------
    problem : Problem or CompiledProblem
    X, Y : sequences
        Inputs and true outputs; or ``mm.Files`` alone.
    C : float
        Weight of the sum of losses against the regulariser.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
    sample_weight : array (n,), optional
        Weights >= 0 of the examples.
    max_iter, max_time : int, float (seconds)
        Limits; the best point so far is returned with its certificate.
    n_jobs : int
        Threads for compiled problems, worker processes for the oracle of one in plain Python; -1
        for all cores. The result does not depend on it.
    random_state : int or RandomState
    backend : optional
        Where the examples are worked on: ``mm.Ray(...)`` for the workers of a cluster; in this
        process by default.
    callbacks : iterable of callables
        ``callback(record, state)`` after each iteration; a true return value stops training.
    checkpoint : path or Checkpoint, optional
        A file in which training is saved, so that nothing is lost when it is killed.
    every : str or float
        How often: "30s", "5min", "1h", or seconds.
    resume : bool
        Continue from the checkpoint if it is there, exactly as if training had never stopped.
    start : the ``state`` of an earlier result, optional
        Where to begin: its dual variables, or its cuts, serve for another C or tol, and for more
        examples after those it was trained on. It is used up by that.
    relabel : array, optional
        ``relabel[old] = new`` if the classes of ``start`` have got other numbers.
    keep : bool
        Let the result have such a ``state``.
    verbose : int
        1 draws a progress bar on stderr.

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
            raise DataError("start= and keep= are for training in this process: no backend=")
        result = backend.train(compiled_problem, X, Y, weight, C, solver, *settings, saved)
    else:
        pack = X.pack(compiled_problem) if files else compiled_problem.pack(X, Y, weight)
        shard = Shard(compiled_problem, pack, 1 if n_jobs is None else n_jobs)
        try:
            result = train_shard(shard, C, solver, *settings, saved, start, relabel, keep)
        finally:
            shard.close()
    result.prepare_time = time.perf_counter() - begin - result.time - result.compile_time
    return result


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
    shard, C, solver, stop, rescaling, random_state, callbacks, verbose, checkpoint
    start : WarmStart, optional
        What an earlier run has left, on these examples or on the first of them.
    relabel : array, optional
        New numbers of its classes.
    keep : bool
        Whether the result shall have a ``state`` for a later run to begin from.
    """
    from threadpoolctl import threadpool_limits

    from .solvers import Task, get_solver, solve
    from .solvers.warm import WarmStart

    if rescaling not in MODES:
        raise DataError(f"rescaling is 'margin' or 'slack', got {rescaling!r}")
    task = Task(shard, check_positive("C", C), MODES[rescaling], stop.tol, random(random_state))
    chosen = get_solver(solver, shard)
    compile_time = shard.warm_up(task.mode, chosen.loops(task))
    compile_time += chosen.warm_up(task)
    # One thread for BLAS: our matrices are small, and waiting for its threads costs far more.
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
    result.state = WarmStart.of(chosen, task, result.state) if keep else None
    return result


def check_examples(X: Any, Y: Any, sample_weight: Any) -> np.ndarray | None:
    """Lengths agree and weights are usable."""
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    if n == 0:
        raise DataError("X is empty: training needs at least one example")
    if len(Y) != n:
        raise DataError(f"X has {n} examples and Y has {len(Y)}: the lengths must agree")
    if sample_weight is None:
        return None
    weight = check_weights(np.asarray(sample_weight, np.float64), n, "sample_weight")
    if not weight.any():
        raise DataError("all sample weights are zero: nothing to learn from")
    return weight


def check_alone(*others: Any) -> None:
    """Files hold the labels and weights of their examples."""
    if any(other is not None for other in others):
        raise DataError("mm.Files hold labels and weights themselves: give nothing beside them")


def check_stop(tol: float, max_iter: int, max_time: float | None) -> Stop:
    """Limits as the training loop reads them."""
    if isinstance(max_iter, bool) or int(max_iter) != max_iter or max_iter < 1:
        raise DataError(f"max_iter is an integer >= 1, got {max_iter!r}")
    if max_time is not None:
        max_time = check_positive("max_time", max_time)
    return Stop(check_positive("tol", tol), int(max_iter), max_time)


def random(random_state: Any) -> np.random.RandomState:
    """The RandomState of a seed, of None or of itself."""
    if isinstance(random_state, np.random.RandomState):
        return random_state
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.integers(2**32))
    return np.random.RandomState(random_state)
