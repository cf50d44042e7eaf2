"""Adapter from a user's plain Python problem to ``CompiledProblem``; passes run interpreted.

Outputs are objects. What the user's methods return is checked here; errors name the example.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import ProblemError
from ..problem import MARGIN, PREDICT, Bounded, CompiledProblem, Functions, Pack, Problem
from .linalg import read_only

#: Maximum number of entries of feature vectors in memory (64 MB).
REMEMBERED = 1 << 23


class Memory:
    """A cache of feature vectors by example and output.

    Solvers use the same few outputs of an example again and again, and a user's ``features`` may be
    slow.
    """

    def __init__(self, limit: int = REMEMBERED) -> None:
        self.limit = limit
        self.known: dict[tuple[int, int], tuple[Any, Any]] = {}
        self.size = 0

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process starts empty, because ids differ there."""
        return Memory, (self.limit,)

    def recall(self, i: int, y: Any) -> Any:
        """The vector of this output object, or None."""
        found = self.known.get((i, id(y)))
        return found[1] if found is not None and found[0] is y else None

    def remember(self, i: int, y: Any, vector: tuple[np.ndarray, np.ndarray]) -> None:
        """Store the vector, together with y, so that no other object gets the id of y."""
        if self.size + len(vector[0]) > self.limit:
            self.known.clear()
            self.size = 0
        if len(vector[0]) <= self.limit:
            self.size += len(vector[0])
            self.known[i, id(y)] = y, vector


class PythonData(NamedTuple):
    """The user's problem and examples, phi_i(y_i), and a cache of differences of features."""

    problem: Any
    X: Sequence[Any]
    Y: np.ndarray
    truth_features: list[Any]
    dim: int
    memory: Memory


def decode(data, w, i, mode, y, work):
    """The user's decode; it gets a read-only view of w, which belongs to the solver."""
    w = w.view()
    w.flags.writeable = False
    if mode == PREDICT:
        return split_bound(data.problem.decode(data.X[i], w), y, i, 0.0)
    rescaling = "margin" if mode == MARGIN else "slack"
    try:
        found = data.problem.decode(data.X[i], w, data.Y[i], rescaling)
    except NotImplementedError as error:
        reason = str(error) or "its decode raised NotImplementedError"
        raise ProblemError(
            f"{type(data.problem).__name__} has no oracle for rescaling={rescaling!r}: {reason}"
        ) from error
    truth = mode == MARGIN and isinstance(found, Bounded)
    return split_bound(found, y, i, dot(data.truth_features[i], w) if truth else 0.0)


def split_bound(found, y, i, truth):
    """Write the output to y; returns its upper bound minus ``truth``, or None for a best output."""
    if not isinstance(found, Bounded):
        y[0] = found
        return None
    y[0] = found.y
    try:
        bound = float(found.bound)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"decode of example {i} returned the bound {short(found.bound)}: it must be a number"
        ) from error
    return bound - truth


def loss(data, i, y):
    """The user's loss, a finite number >= 0."""
    value = float(data.problem.loss(data.Y[i], y[0]))
    if not value >= 0 or value == np.inf:
        raise ProblemError(
            f"loss(y_true, y) is {value} at example {i} with y = {short(y[0])}: a loss must be a "
            "finite number >= 0 (mm.check_problem finds such errors)"
        )
    return value


def delta(data, i, y, z, idx, val):
    """phi(x, y) - phi(x, z) from the user's features."""
    if y[0] is z[0]:
        return 0
    found = data.memory.recall(i, z[0]) if y[0] is data.Y[i] else None
    if found is None:
        found = difference(phi(data, i, y[0]), phi(data, i, z[0]))
        if y[0] is data.Y[i]:
            data.memory.remember(i, z[0], found)
    where, values = found
    idx[: len(where)] = where
    val[: len(where)] = values
    return len(where)


def m_best(data, w, i, mode, diversity, m, Y, value, work):
    """The user's decode_m_best, and the scores of its outputs."""
    w = w.view()
    w.flags.writeable = False
    augmented = ()
    if mode != PREDICT:
        augmented = (data.Y[i], "margin" if mode == MARGIN else "slack")
    found = list(data.problem.decode_m_best(data.X[i], w, m, diversity, *augmented))
    if not 1 <= len(found) <= m:
        raise ProblemError(
            f"decode_m_best returned {len(found)} outputs for example {i}: it must return between "
            f"1 and m = {m} outputs"
        )
    for r, y in enumerate(found):
        Y[r] = y
        if mode == PREDICT:
            value[r] = dot(read_features(data.problem, data.X[i], y, i, len(w)), w)
    return len(found)


def dot(features: Any, w: np.ndarray) -> float:
    """<w, phi> of features as ``read_features`` returns them."""
    if isinstance(features, np.ndarray):
        return float(features @ w)
    return float(features[1] @ w[features[0]])


def phi(data, i, y):
    """Checked features of example i with output y."""
    if y is data.Y[i]:
        return data.truth_features[i]
    return read_features(data.problem, data.X[i], y, i, data.dim)


def read_features(problem: Any, x: Any, y: Any, i: int, dim: int | None) -> Any:
    """The checked result of ``features``: a dense float vector or a pair (indices, values)."""
    raw = problem.features(x, y)
    where = f"features(x, y) of example {i} with y = {short(y)}"
    if hasattr(raw, "tocoo"):  # tested before dict, because scipy's dok rows are dicts
        matrix = raw.tocoo()
        if matrix.ndim == 2 and matrix.shape[0] != 1:
            raise ProblemError(f"{where} has shape {matrix.shape}: return one row")
        if dim is not None and matrix.shape[-1] != dim:
            raise ProblemError(f"{where} has length {matrix.shape[-1]}, others have {dim}")
        raw = (matrix.coords[-1], matrix.data)
    elif isinstance(raw, dict):
        raw = (list(raw.keys()), list(raw.values()))
    if isinstance(raw, tuple) and len(raw) == 2 and np.ndim(raw[0]) == 1:
        return check_sparse(raw, where, dim)
    try:
        dense = np.asarray(raw, np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"{where} is {short(raw)}: return a dense vector, a pair (indices, values), a sparse "
            "row or a dict"
        ) from error
    if dense.ndim != 1 or (dim is not None and len(dense) != dim):
        raise ProblemError(f"{where} has shape {dense.shape}, expected ({dim or 'n_features'},)")
    if not np.isfinite(dense).all():
        raise ProblemError(
            f"{where} holds NaN or infinity at {np.flatnonzero(~np.isfinite(dense))[0]}"
        )
    return dense


def check_sparse(
    raw: tuple[Any, Any], where: str, dim: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Sparse features as arrays of indices and values, checked to be in range and finite."""
    if np.size(raw[0]) and np.asarray(raw[0]).dtype.kind not in "iu":
        raise ProblemError(f"{where}: sparse features have integer indices and float values")
    try:
        indices, values = np.asarray(raw[0], np.int64), np.asarray(raw[1], np.float64)
    except (TypeError, ValueError) as error:
        raise ProblemError(
            f"{where}: sparse features have integer indices and float values"
        ) from error
    if indices.shape != values.shape:
        raise ProblemError(f"{where} has {len(indices)} indices and {len(values)} values")
    if dim is None:
        raise ProblemError(f"{where} is sparse: set n_features, the length of w, on the problem")
    outside = (indices < 0) | (indices >= dim)
    if outside.any():
        raise ProblemError(f"{where} has index {indices[outside][0]}, outside 0..{dim - 1}")
    if not np.isfinite(values).all():
        raise ProblemError(f"{where} holds NaN or infinity")
    return indices, values


def difference(a: Any, b: Any) -> tuple[np.ndarray, np.ndarray]:
    """Indices and values of a - b, where each index occurs once."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        where = np.flatnonzero(a != b)
        return where, (a - b)[where]
    (ia, va), (ib, vb) = (
        (np.flatnonzero(v), v[v != 0]) if isinstance(v, np.ndarray) else v for v in (a, b)
    )
    where, inverse = np.unique(np.concatenate([ia, ib]), return_inverse=True)
    values = np.bincount(inverse, np.concatenate([va, -vb]), len(where))
    return where[values != 0], values[values != 0]


def short(value: Any) -> str:
    """The repr of a value, at most 80 characters."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


class PythonProblem(CompiledProblem):
    """A user's ``Problem`` in the form that solvers use."""

    functions = Functions(decode, loss, delta, bounded=True)
    cache = 5

    def __init__(self, problem: Problem):
        self.problem = problem
        if callable(getattr(problem, "decode_m_best", None)):
            self.functions = Functions(decode, loss, delta, m_best=m_best, bounded=True)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Examples with their inputs and outputs as objects; computes the features of the truth."""
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        dim = getattr(self.problem, "n_features", None)
        truth = np.empty(n, object)
        features: list[Any] = []
        if Y is not None:
            for i in range(n):
                truth[i] = Y[i]
                features.append(read_features(self.problem, X[i], Y[i], i, dim))
                if dim is None:
                    dim = len(features[0])
        data = PythonData(self.problem, X, truth, features, dim or 0, Memory())
        return Pack(
            data=data,
            offsets=read_only(np.arange(n + 1), np.int64),
            truth=truth,
            dim=dim or 0,
            width=dim or 0,
            weight=read_only(np.ones(n) if sample_weight is None else sample_weight, np.float64),
        )

    def positive(self, pack: Pack) -> Any:
        """The weights that must be >= 0, as the user's problem says."""
        return getattr(self.problem, "positive", None)

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of the outputs y."""
        X, size = pack.data.X, len(w)
        read = (read_features(self.problem, X[i], y, i, size) for i, y in enumerate(labels))
        return np.array([dot(features, w) for features in read])

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        total = np.zeros(pack.dim)
        for weight, features in zip(pack.weight, pack.data.truth_features, strict=True):
            if isinstance(features, np.ndarray):
                total += weight * features
            else:
                np.add.at(total, features[0], weight * features[1])
        return total

    def unpack(self, pack: Pack, labels: np.ndarray) -> list[Any]:
        """A list of outputs."""
        return list(labels)


def as_compiled_problem(problem: Any) -> CompiledProblem:
    """The problem in the form that solvers use: plain Python problems are wrapped."""
    if isinstance(problem, CompiledProblem):
        return problem
    missing = [name for name in ("features", "loss", "decode") if _unwritten(problem, name)]
    if missing or isinstance(problem, type):
        what = (
            "a class, not an instance"
            if isinstance(problem, type)
            else "without " + ", ".join(missing)
        )
        raise ProblemError(
            f"{problem!r} is {what}: a problem is an object with the methods features(x, y), "
            "loss(y_true, y) and decode(x, w, y_true=None, rescaling='margin')"
        )
    return PythonProblem(problem)


def _unwritten(problem: Any, name: str) -> bool:
    """Whether a method is missing or is that of the base class, which raises an error."""
    method = getattr(problem, name, None)
    return not callable(method) or getattr(method, "__func__", None) is getattr(Problem, name)
