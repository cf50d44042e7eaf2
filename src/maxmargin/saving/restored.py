"""Checks that a state from a checkpoint agrees with the examples and with itself.

``state.Reader`` has checked types and shapes. Here numbers that compiled code uses as indices are
checked, and everything that follows from other parts of the state: w from the dual variables or
from the cuts, losses from labels, P from w. An altered file therefore cannot cause a crash, and is
unlikely to lead to a wrong certificate. Every function raises ValueError.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import check_like
from ..engine.arrays import Duals
from ..engine.passes import Cache
from ..engine.shard import Shard
from ..engine.vectors import Plane
from ..errors import CheckpointError
from ..objective import dual, primal
from ..problem import Pack
from ..solvers.bundle import Bundle, Cuts, LineSearch
from ..solvers.cuts import CutMaker
from ..solvers.kernel_bundle import Point, SparseBundle, TableBundle
from ..solvers.n_slack import NSlackState
from ..solvers.one_slack import OneSlackState
from ..solvers.sampled_cuts import SampledState
from ..solvers.subgradient import SubgradientState
from ..solvers.task import Task
from ..solvers.working_sets import WorkingSets
from .state import check_scalar, is_tuple, walk

#: Relative tolerance for numbers that were summed in another order.
ROUNDING = 1e-6


def require(condition: Any, what: str) -> None:
    """Raise a ValueError unless the condition holds."""
    if not condition:
        raise ValueError(what)


def close(a: Any, b: Any, scale: Any = 0.0) -> bool:
    """Whether numbers are equal up to rounding, relative to the largest of them and ``scale``."""
    a, b = np.asarray(a), np.asarray(b)
    size = max(np.abs(a).max(initial=0), np.abs(b).max(initial=0), np.max(scale, initial=0))
    return bool((np.abs(a - b) <= ROUNDING * (size + 1e-12)).all())


def check_run(task: Task, run: Any) -> None:
    """Check the state and the certificate of a restored run."""
    check_state(task, run.state)
    if isinstance(run.state, WorkingSets):
        check_w(task, run.state)
    numbers = all(isinstance(seconds, float) for seconds in task.shares.values())
    require(numbers, "the shares of the time are not numbers")
    check_history(run)
    check_certificate(task, run)


def check_state(task: Task, state: Any) -> None:
    """Check all parts of a solver's state for which there is a check."""
    for part in walk(state):
        for kind, check in CHECKS:
            if isinstance(part, kind):
                check(task, part)


def thaw_working_sets(task: Task, state: Any, kept: dict[str, Any], random: Any) -> None:
    """Fill the new state of a worker with what ``Worker.freeze`` returned."""
    try:
        for name, value in kept.items():
            fresh = getattr(state, name)
            if is_tuple(fresh):
                value = thaw_tuple(fresh, value)
            elif isinstance(fresh, np.ndarray):
                value = check_like(value, fresh, name, name in getattr(state, "grows", ()))
            elif not isinstance(fresh, dict):
                value = check_scalar(value, fresh, name)
            setattr(state, name, value)
        check_state(task, state)
        check_random(random)
        task.random.set_state(random)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise CheckpointError(f"the state of a shard is damaged or was altered: {error}") from error


def thaw_tuple(fresh: Any, fields: dict[str, Any]) -> Any:
    """A NamedTuple whose arrays and numbers have the types and shapes of a new one."""
    grows = getattr(fresh, "grows", ())
    require(set(fields) == set(fresh._fields), f"other fields than {fresh._fields}")

    def checked(name: str, value: Any) -> Any:
        known = getattr(fresh, name)
        if isinstance(known, np.ndarray):
            return check_like(value, known, name, name in grows)
        return check_scalar(value, known, name)

    return type(fresh)(**{name: checked(name, value) for name, value in fields.items()})


def check_random(state: Any) -> None:
    """Check the position of the random generator, which NumPy does not do."""
    place = state["state"].get("pos", 0)
    require(0 <= place <= 624, f"the random generator is at position {place}")


def check_history(run: Any) -> None:
    """The history has one record per iteration, and the last one has the certificate."""
    numbers = [record.iteration for record in run.history]
    require(numbers == list(range(1, len(numbers) + 1)), "the history has other iterations")
    for record in run.history:
        require(record.n_oracle >= 0 and record.planes >= 0, "the history has negative counts")
        require(np.isfinite(record.time), "the history has times that are not finite")
    if run.history:
        last = run.history[-1]
        same = (last.primal, last.dual) == (run.best.primal, run.best.dual)
        require(same, "the history does not end with the certificate")


def check_certificate(task: Task, run: Any) -> None:
    """P of the best weights is not larger than the stored value; this needs an oracle pass."""
    best, shard = run.best, task.shard
    if best.w is None:
        require(np.isinf(best.primal), "there is a primal value without a point")
        return
    if isinstance(best.w, Plane):
        check_plane(best.w, shard.pack.dim)
    else:
        require(
            isinstance(best.w, np.ndarray)
            and best.w.dtype == np.float64
            and best.w.shape == (shard.pack.dim,)
            and np.isfinite(best.w).all(),
            "the best point is not a vector of weights",
        )
    if (
        best.newest or isinstance(best.w, Plane) or not isinstance(shard, Shard)
    ):  # the value is an estimate, or the examples are in other processes
        return
    require(best.dual <= best.primal or close(best.dual, best.primal), "dual exceeds primal")
    labels, n_oracle = shard.new_labels(), shard.n_oracle
    shard.oracle(best.w, task.mode, labels, shard.everyone)
    hinge = float(shard.pack.weight @ shard.collect(best.w, task.mode, labels)[2])
    shard.n_oracle = n_oracle
    value = primal(best.w, hinge, task.C)
    good = value <= best.primal or close(value, best.primal)
    require(good, f"its best point has the objective {value:.6g}, not {best.primal:.6g}")
    if isinstance(run.state, OneSlackState):
        require(close(run.state.best, best.w), "it has two best points")
        check_cut_values(run, task)


def check_labels(task: Task, labels: np.ndarray) -> None:
    """Check a flat label array with an output of each example."""
    valid = task.shard.problem.valid_labels(task.shard.pack, labels)
    require(valid.all(), "it has labels that the problem does not have (see label_bounds)")


def slot_places(pack: Pack, slots: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the labels of slot 0 in an array of ``slots`` outputs, and steps to the next."""
    lengths = np.diff(pack.offsets)
    start = np.repeat(pack.offsets[:-1], lengths)
    return np.arange(len(pack.truth)) + (slots - 1) * start, np.repeat(lengths, lengths)


def check_slots(task: Task, held: Duals | Cache, first: int) -> None:
    """Check counts, labels and losses of the stored outputs, from slot ``first`` on."""
    pack, shard = task.shard.pack, task.shard
    n, slots = pack.n, held.loss.shape[1]
    require(slots >= 1 and held.loss.shape == (n, slots), "losses of another number of examples")
    require(held.labels.shape == (slots * len(pack.truth),), "labels of another number of slots")
    require((held.count >= first).all() and (held.count <= slots).all(), "counts out of range")
    at, length = slot_places(pack, slots)
    zero = np.zeros(pack.dim)
    for r in range(first, int(held.count.max(initial=0))):
        used = np.flatnonzero(held.count > r)
        labels = held.labels[at + r * length]
        token = np.repeat(held.count > r, np.diff(pack.offsets))
        labels = np.where(token, labels, pack.truth)
        check_labels(task, labels)
        # At w = 0 the value of an output is its loss.
        loss = shard.collect(zero, task.mode, labels, used)[2]
        require(close(loss[used], held.loss[used, r]), "losses do not agree with the labels")


def check_duals(task: Task, duals: Duals) -> None:
    """Check working sets: alpha_i lies in the simplex, and arrays agree with the outputs."""
    n, slots = duals.loss.shape
    require(duals.alpha.shape == (n, slots), "alpha and loss differ in shape")
    kept = len(duals.gram)
    require(kept == len(task.shard.new_duals(1).gram), "Gram matrices of other examples")
    require(duals.gram.shape == (kept, slots, slots), "Gram matrices of another number of slots")
    check_slots(task, duals, first=1)
    known = duals.known
    require((known >= 1).all() and (known <= duals.count).all(), "known outputs out of range")
    free = np.arange(slots) >= duals.count[:, None]
    require((duals.alpha >= 0).all() and not duals.alpha[free].any(), "alpha out of range")
    require(close(duals.alpha.sum(axis=1), 1.0), "alpha does not sum to one")
    require(not duals.loss[:, 0].any(), "the truth has a loss")
    check_gram(duals)


def check_gram(duals: Duals) -> None:
    """Check inner products: |<a, b>| <= |a| |b|, and the plane of the true output is zero."""
    slots = np.arange(duals.loss.shape[1])
    for start in range(0, len(duals.gram), 256):  # in parts, to save memory
        inside = slots < duals.known[start : start + 256, None]
        gram = np.where(
            inside[:, :, None] & inside[:, None, :], duals.gram[start : start + 256], 0.0
        )
        squares = np.einsum("irr->ir", gram)
        require((squares >= 0).all() and not gram[:, 0].any(), "a Gram matrix is invalid")
        size = np.sqrt(squares)
        most = size[:, :, None] * size[:, None, :]
        require((np.abs(gram) <= (1 + 1e-4) * most).all(), "a Gram matrix is invalid")


def check_cache(task: Task, cache: Cache) -> None:
    """Check the cached outputs of each example."""
    require(cache.used.shape == cache.loss.shape, "caches differ in shape")
    check_slots(task, cache, first=0)


def check_working_sets(task: Task, state: WorkingSets) -> None:
    """Check labels and counters of the working sets."""
    check_labels(task, state.labels)
    clock = state.visits.clock
    require((clock >= 0).all() and clock[2] <= 16, "the clock of the average is wrong")
    if isinstance(state, NSlackState):
        wide = state.used.shape[1] <= state.duals.loss.shape[1]
        require(len(state.used) == task.shard.n and wide, "outputs of another number of slots")


def check_w(task: Task, state: WorkingSets) -> None:
    """w agrees with the dual variables; only for runs in one process, which have all of them."""
    w = np.zeros_like(state.w)
    task.shard.sum_duals(task.C, task.mode, state.duals, w)
    require(close(w, state.w), "w does not agree with the dual variables")


def check_plane(plane: Plane, dim: int) -> None:
    """Check a vector of length dim, dense or sparse."""
    where, value = plane
    require(isinstance(value, np.ndarray) and value.dtype == np.float64, "a plane has no values")
    require(value.ndim == 1 and np.isfinite(value).all(), "a plane is not finite")
    if where is None:
        require(len(value) == dim, "a plane has another length than w")
        return
    whole = isinstance(where, np.ndarray) and where.dtype in (np.int32, np.int64)
    require(whole, "the indices of a plane are not integers")
    require(where.shape == value.shape, "a plane's indices and values differ in number")
    inside = len(where) == 0 or (where.min() >= 0 and where.max() < dim)
    require(inside, "a plane has indices out of range")


def check_cuts(task: Task, model: Cuts) -> None:
    """Check cuts and the dual solution over them."""
    m, dim = len(model.planes), task.shard.pack.dim
    require(m >= 1, "the cut of the truth is missing")
    for plane in model.planes:
        require(isinstance(plane, Plane), "a cut is not a plane")
        check_plane(plane, dim)
    require(len(model.planes[0].value) == 0, "the cut of the truth is not zero")
    sizes = model.loss.shape, model.beta.shape, model.idle.shape, model.gram.shape
    require(sizes == ((m,), (m,), (m,), (m, m)), "the arrays of the cuts differ in size")
    require((model.beta >= 0).all() and close(model.beta.sum(), 1.0), "beta is not in the simplex")
    require(model.loss[0] == 0, "the truth has a loss")
    require(close(model.gram, model.gram.T), "the Gram matrix is not symmetric")
    value, square = model.N * float(model.beta @ model.loss), model.square()
    require(close(model.dual, value - 0.5 * square, value), "D does not agree with the cuts")


def check_bundle(task: Task, model: Bundle) -> None:
    """w and the Gram matrix agree with the cuts."""
    m, w = len(model.planes), np.zeros_like(model.w)
    require(model.N == task.N and model.number.shape == (m,), "the cuts belong to another run")
    for plane, beta in zip(model.planes, model.beta, strict=True):
        plane.add_to(w, model.N * beta)
    require(close(w, model.w), "w does not agree with the cuts")
    along = np.array([plane.dot(w) for plane in model.planes])
    squares = np.array([plane.norm2() for plane in model.planes])
    require(close(squares, np.diag(model.gram)), "the Gram matrix does not agree with the cuts")
    size = np.sqrt(squares.max() * float(w @ w))
    require(close(along, model.N * (model.gram @ model.beta), size), "the Gram matrix is wrong")


def check_cut_values(run: Any, task: Task) -> None:
    """No cut exceeds the model at the QP's solution by more than a first iteration can leave."""
    model = run.state.model
    if not isinstance(model, Bundle) or not run.history:
        return
    value = model.loss - model.N * (model.gram @ model.beta)
    first = max(record.primal for record in run.history if np.isfinite(record.primal))
    excess = float(value.max() - model.beta @ value)
    require(excess <= first / model.N + task.tol, "a cut is above the model")


def check_line_search(task: Task, model: LineSearch) -> None:
    """D agrees with w; the last cut, if there is one, is a plane."""
    require(model.N == task.N, "the cut belongs to another run")
    value, square = model.N * model.loss, float(model.w @ model.w)
    require(close(model.dual, value - 0.5 * square, value), "D does not agree with w")
    if model._new is not None:
        plane, loss = model._new
        require(isinstance(plane, Plane) and isinstance(loss, float), "a cut is not a plane")
        check_plane(plane, task.shard.pack.dim)


def check_cut_maker(task: Task, cuts: CutMaker) -> None:
    """The order of the examples is a permutation."""
    n = task.shard.n
    check_labels(task, cuts.labels)
    permuted = (np.sort(cuts.cycle) == np.arange(n)).all()
    require(permuted, "the order of the examples is not a permutation")
    require(1 <= cuts.batch <= n, "the batch is out of range")


def check_one_slack(task: Task, state: OneSlackState) -> None:
    """The next query point lies between the best weights and the solution of the QP."""
    way, done = state.model.w - state.best, state.query - state.best
    length = float(way @ way)
    part = float(way @ done) / length if length > 0 else 0.0
    size = np.abs([state.model.w, state.best]).max(initial=0)
    on_way = -ROUNDING <= part <= 1 + ROUNDING and close(done, part * way, size)
    require(on_way, "the next query point is not between the best point and the QP's solution")


def check_subgradient(task: Task, state: SubgradientState) -> None:
    """D agrees with the last w."""
    value = state.loss / max(state.t, 1)
    found = dual(state.w, value, task.C)
    require(close(found, state.dual, task.C * value), "D does not agree with w")


def check_point(task: Task, point: Point) -> None:
    """Check the coefficients of a kernel model."""
    dim = task.shard.pack.dim
    if isinstance(point.w, Plane):
        check_plane(point.w, dim)
    else:
        fits = isinstance(point.w, np.ndarray) and point.w.shape == (dim,)
        require(fits, "a point is not a vector of weights")


def check_table(task: Task, model: TableBundle) -> None:
    """Check the scores of all rows for each cut except that of the true outputs."""
    require(len(model.tables) == len(model.planes), "the tables do not agree with the cuts")
    for table in model.tables[1:]:
        fits = isinstance(table, np.ndarray) and table.shape == model.w.shape
        valid = fits and table.dtype.kind == "f" and np.isfinite(table).all()
        require(valid, "a table of scores is invalid")


def check_sparse_bundle(task: Task, model: SparseBundle) -> None:
    """Check the rows that cuts use."""
    check_plane(model.point, task.shard.pack.dim)
    used = model.used
    inside = len(used) == 0 or (used.min() >= 0 and used.max() < len(model.users))
    require(inside, "rows out of range")


CHECKS: tuple[tuple[type, Any], ...] = (
    (Duals, check_duals),
    (Cache, check_cache),
    (WorkingSets, check_working_sets),
    (Cuts, check_cuts),
    (Bundle, check_bundle),
    (TableBundle, check_table),
    (SparseBundle, check_sparse_bundle),
    (Point, check_point),
    (LineSearch, check_line_search),
    (CutMaker, check_cut_maker),
    (OneSlackState, check_one_slack),
    (SubgradientState, check_subgradient),
    (SampledState, lambda task, state: check_labels(task, state.labels)),
)
