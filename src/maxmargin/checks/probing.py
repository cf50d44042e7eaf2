"""How ``check_problem`` tests a problem: examples, their known outputs, and weights to try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ..engine.guard import check_returned
from ..engine.python import PythonData, short
from ..errors import ProblemError
from ..problem import MARGIN, PREDICT, SLACK, CompiledProblem, Pack

#: Maximum number of outputs taken from a problem's ``outputs(x)`` for one example.
MAX_OUTPUTS = 1000

#: Weights to try, as (noise, pull): zero; random from small to large; the true output has the
#: highest score, by more or by less than the losses; the newest known output has it.
KINDS = ((0, 0), (0.1, 0), (1, 0), (10, 0), (0.01, 2), (1e-4, 0.02), (0.01, -2))

CALLS = {
    PREDICT: "decode(x, w)",
    MARGIN: "decode(x, w, y_true, 'margin')",
    SLACK: "decode(x, w, y_true, 'slack')",
}


#: Indices and values of a sparse vector; an index may occur more than once.
Sparse = tuple[np.ndarray, np.ndarray]

#: Relative tolerance for comparing sums: an oracle may compute in single precision.
RTOL = 1e-5


class Known(NamedTuple):
    """A known output: its labels, loss, psi = phi(y_true) - phi(y), and where it comes from."""

    y: np.ndarray
    loss: float
    psi: Sparse
    origin: str

    def value(self, w: np.ndarray, mode: int) -> tuple[float, float]:
        """What decode maximises, relative to the truth's score, and the sum of absolute terms."""
        idx, val = self.psi
        terms = val * w[idx]
        score, size = 0.0 - float(terms.sum()), float(np.abs(terms).sum())
        if mode == PREDICT:
            return score, size
        if mode == MARGIN:
            return self.loss + score, self.loss + size
        return self.loss * (1 + score), self.loss * (1 + size)

    def __str__(self) -> str:
        return show(self.y)


class Trial(NamedTuple):
    """Weights, and for each mode the answer of decode and its upper bound, -inf if it gave none."""

    w: np.ndarray
    answers: dict[int, Known]
    bounds: dict[int, float]


class Example:
    """An example that is tested: its functions, checked at each call, and its known outputs."""

    def __init__(self, problem: CompiledProblem, pack: Pack, i: int):
        self.problem, self.functions, self.pack, self.i = problem, problem.functions, pack, i
        self.place = slice(pack.offsets[i], pack.offsets[i + 1])
        self.known: dict[Any, Known] = {}
        self.bound = -np.inf  # that of the last decode, relative to the truth's score
        self.truth = self.learn(pack.truth[self.place].copy(), "the true output")
        if self.truth.loss != 0:
            raise ProblemError(
                f"the loss of example {i} is {self.truth.loss:g} at its true output {self.truth}: "
                "loss(y_true, y_true) must be 0"
            )
        if isinstance(pack.data, PythonData):
            pack.data.memory.limit = 0  # call features each time instead of using cached values
            self._learn_listed(pack.data)

    def decode(self, w: np.ndarray, mode: int, pack: Pack | None = None) -> Known:
        """The answer of decode, after checking that it has not changed its arguments."""
        data, shown, y = (pack or self.pack).data, w.copy(), self.truth.y.copy()
        # In training the scratch memory contains what the previous example left there.
        work = np.full(self.problem.work(self.pack, mode), np.nan)
        watched = watch(data, self.i)
        before = fingerprint(watched)
        with naming(f"{CALLS[mode]} of example {self.i}"):
            found = self.functions.decode(data, shown, self.i, mode, y, work)
        if not np.array_equal(w, shown):
            raise ProblemError(f"{CALLS[mode]} of example {self.i} changes w: work on a copy")
        if fingerprint(watched) != before:
            raise ProblemError(
                f"{CALLS[mode]} of example {self.i} changes its input (x, y_true or the packed "
                "data): work on a copy"
            )
        self.bound = self._relative(found, w, mode)
        return self.learn(y, "returned by decode at other weights or in another mode")

    def _relative(self, found: Any, w: np.ndarray, mode: int) -> float:
        """The bound that decode returned, minus the truth's score in PREDICT; -inf for none.

        The score of the truth is known only to problems with ``first_scores``.
        """
        if not self.functions.bounded or (found is None and isinstance(self.pack.data, PythonData)):
            return -np.inf
        bound = check_returned(found, self.i)
        if mode != PREDICT or bound == -np.inf:
            return bound
        if type(self.problem).first_scores is CompiledProblem.first_scores:
            return np.inf
        return bound - float(self.problem.first_scores(self.pack, w, self.pack.truth)[self.i])

    def learn(self, y: np.ndarray, origin: str) -> Known:
        """The known output that equals y; y is added if it is new."""
        key, loss = fingerprint(y), self.loss(y)
        if key not in self.known:
            truth = self.truth.y if self.known else y
            self.known[key] = Known(y, loss, self.delta(truth, y), origin)
        known = self.known[key]
        if known.loss != loss:
            raise ProblemError(
                f"the loss of example {self.i} is {loss:g} with y = {show(y)}, and {known.loss:g} "
                f"with the equal y = {known} ({known.origin}): compare outputs by their content, "
                "and let decode return outputs of the same type as those in Y"
            )
        return known

    def loss(self, y: np.ndarray) -> float:
        """The loss of y, checked to be finite and not negative."""
        with naming(f"loss of example {self.i} with y = {show(y)}"):
            loss = float(self.functions.loss(self.pack.data, self.i, y))
        if not 0 <= loss < np.inf:
            raise ProblemError(
                f"the loss of example {self.i} is {loss:g} with y = {show(y)}: a loss must be a "
                "finite number >= 0"
            )
        return loss

    def delta(self, y: np.ndarray, z: np.ndarray) -> Sparse:
        """The sparse vector phi(y) - phi(z), checked to be in range and finite."""
        width, dim = self.pack.width, self.pack.dim
        # Compiled functions do not check bounds: with extra room an overflow can be reported.
        idx, val = np.zeros(2 * width + 64, np.uint64), np.zeros(2 * width + 64)
        where = f"example {self.i} with y = {show(y)}, z = {show(z)}"
        of = "features" if isinstance(self.pack.data, PythonData) else "delta"
        with naming(f"{of} of {where}"):
            nnz = int(self.functions.delta(self.pack.data, self.i, y, z, idx, val))
        if not 0 <= nnz <= width:
            raise ProblemError(f"delta of {where} writes {nnz} entries, but pack.width is {width}")
        idx, val = idx[:nnz].view(np.int64), val[:nnz]
        outside = (idx < 0) | (idx >= dim)
        if outside.any():
            raise ProblemError(
                f"delta of {where} writes index {idx[outside][0]}, outside 0..{dim - 1}"
            )
        if not np.isfinite(val).all():
            raise ProblemError(f"delta of {where} has NaN or infinite values")
        return idx, val

    def _learn_listed(self, data: PythonData) -> None:
        """Add the outputs that the problem lists, or else labels of other examples.

        Structured outputs of other examples are not tried, because they may not be possible here.
        """
        if hasattr(data.problem, "outputs"):
            for y in islice(data.problem.outputs(data.X[self.i]), MAX_OUTPUTS):
                self.learn(one_label(y), "listed by outputs(x)")
            return
        for y in class_labels(data.Y):
            try:
                self.learn(
                    one_label(y),
                    "a label of other examples; if it is not possible for this x, list the "
                    "possible outputs in a method outputs(x)",
                )
            except ProblemError as error:
                if error.__cause__ is None:
                    raise


def probe(example: Example, modes: list[int], n_probes: int, rng: Any) -> list[Trial]:
    """Call decode at weights of all kinds in turn."""
    trials = []
    for p in range(n_probes):
        w = probe_weights(example, rng, *KINDS[p % len(KINDS)])
        answers, bounds = {}, {}
        for mode in modes:
            answers[mode] = example.decode(w, mode)
            bounds[mode] = example.bound
        trials.append(Trial(w, answers, bounds))
    return trials


def probe_weights(example: Example, rng: Any, noise: float, pull: float = 0) -> np.ndarray:
    """Random weights, plus a pull that separates the scores of known outputs.

    They are scaled by the known planes: with noise or pull 1, scores are about as large as losses.
    """
    planes = [known.psi for known in example.known.values() if known.psi[1].any()]
    radius = max((float(np.linalg.norm(val)) for _, val in planes), default=1.0)
    size = max(known.loss for known in example.known.values()) or 1.0
    w = rng.standard_normal(example.pack.dim) * (noise * size / radius)
    if pull:
        for idx, val in planes if pull > 0 else planes[-1:]:
            np.add.at(w, idx, pull * size / float(val @ val) * val)
    return w


def class_labels(Y: np.ndarray) -> list[Any]:
    """The true outputs that several examples have, if outputs are numbers or strings."""
    if not all(isinstance(y, int | str | np.generic) for y in Y):
        return []
    return [y for y, count in Counter(Y).most_common(MAX_OUTPUTS) if count > 1]


def one_label(y: Any) -> np.ndarray:
    """The label slice of a Python problem."""
    labels = np.empty(1, object)
    labels[0] = y
    return labels


def watch(data: Any, i: int) -> Any:
    """What decode must not change: its example, or the packed arrays that are writable."""
    if isinstance(data, PythonData):
        return [data.X[i], data.Y[i]]
    if hasattr(data, "messages"):  # these may change
        data = data._replace(messages=None)
    if isinstance(data, tuple | list):
        return [watch(part, i) for part in data]
    return data if isinstance(data, np.ndarray) and data.flags.writeable else None


def fingerprint(value: Any) -> Any:
    """A hashable value that is equal for equal contents; unknown objects count as themselves."""
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.shape, value.tobytes()
    if isinstance(value, list | tuple | np.ndarray):
        return tuple(fingerprint(part) for part in value)
    if isinstance(value, dict):
        return tuple((key, fingerprint(part)) for key, part in value.items())
    if isinstance(value, set):
        return frozenset(value)
    if hasattr(value, "tocsr"):
        matrix = value.tocsr()
        return fingerprint([matrix.data, matrix.indices, matrix.indptr])
    try:
        hash(value)
    except TypeError:
        return id(value)
    return value


def show(y: np.ndarray) -> str:
    """Labels as text for messages; for a plain Python problem the output object."""
    labels = y.tolist()
    return short(labels[0] if len(labels) == 1 else labels)


#: Called with the name of each call of the user's code.
on_call: Callable[[str], None] | None = None


@contextmanager
def naming(what: str) -> Iterator[None]:
    """Turn an exception in the user's code into a ProblemError that names the call."""
    if on_call is not None:
        on_call(what)
    try:
        yield
    except (ProblemError, NotImplementedError):
        raise
    except Exception as error:
        raise ProblemError(f"{what} raised {type(error).__name__}: {error}") from error


def vanishes(*vectors: Sparse) -> bool:
    """Whether the sum of sparse vectors is 0, up to rounding errors."""
    idx, val = (np.concatenate(parts) for parts in zip(*vectors, strict=True))
    total = np.bincount(np.unique(idx, return_inverse=True)[1], val)
    return bool(np.abs(total).max(initial=0.0) <= RTOL * np.abs(val).max(initial=0.0))


def minus(vector: Sparse) -> Sparse:
    """The sparse vector with its sign changed."""
    return vector[0], -vector[1]
