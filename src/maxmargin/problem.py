"""The interface of a problem: what solvers need to know about a structure.

There are two ways to define a structure.

``Problem``
    Three plain Python methods: ``features``, ``loss``, ``decode``. Outputs are any objects.
``CompiledProblem``
    The same three as functions over arrays (compiled by numba, or plain Python), for full speed.
    The built-in problems are written this way.

Both use the same passes over the examples (``engine/passes.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

PREDICT, MARGIN, SLACK = 0, 1, 2
MODES = {"margin": MARGIN, "slack": SLACK}


@dataclass(frozen=True)
class Functions:
    """The functions of a problem; outputs are slices of a flat label array.

    Attributes
    ----------
    decode : ``decode(data, w, i, mode, y, work)``
        Writes the best output of example i into the label slice ``y``. It maximises
        ``<w, phi_i(y)>`` if mode is PREDICT, ``loss_i(y) - <w, psi_i(y)>`` if it is MARGIN, and
        ``loss_i(y) * (1 - <w, psi_i(y)>)`` if it is SLACK. It returns nothing: value and plane are
        computed from ``delta`` and ``loss``, so that an oracle cannot contradict its features.
        ``work`` is scratch memory, a float64 array with as many entries as the problem's ``work``
        returns (by default ``Pack.work``), because allocating memory in every call would cost
        more than a small oracle. See ``bounded`` for what it may return.
    loss : ``loss(data, i, y) -> float``
        The loss of output y of example i: >= 0, and 0 at the truth.
    delta : ``delta(data, i, y, z, idx, val) -> int``
        Writes the non-zeros of ``phi_i(y) - phi_i(z)`` and returns their number; an index may
        occur more than once.
    score, margin : ``score(data, w, i, work)``, ``margin(data, i, y, z, work) -> float``, optional
        A faster way to compute ``<w, phi_i(y) - phi_i(z)>`` than with ``delta``. ``score`` writes
        the scores of example i to ``work``, as ``decode`` must do too, and ``margin`` computes
        the product from them.
    m_best : ``m_best(data, w, i, mode, diversity, m, Y, value, work) -> int``, optional
        Writes up to m different outputs of example i to Y, where output r begins at r times the
        length of an output, and ``<w, phi_i(y)>`` of each to ``value``; returns their number. The
        first output is that of ``decode``. If ``diversity`` is 0, they are the m outputs with the
        highest value in this mode. Otherwise each next output maximises this value plus
        ``diversity`` times the number of labels in which it differs from each earlier output (for
        outputs without comparable labels: minus ``diversity`` times the number of parts it shares
        with them). ``work`` has as many entries as the problem's ``m_best_work`` returns. In
        training only the first output must be exact.
    bounded : bool
        Whether ``decode`` returns an upper bound on the maximum that it was asked for, because its
        output need not be the best one. The bound is a float64 in the same terms: in training
        modes relative to the truth, whose value is 0, and in PREDICT that of ``<w, phi_i(y)>``.
        NaN says that the output of this call is a best one.
    """

    decode: Callable[..., Any]
    loss: Callable[..., float]
    delta: Callable[..., int]
    score: Callable[..., None] | None = None
    margin: Callable[..., float] | None = None
    m_best: Callable[..., int] | None = None
    bounded: bool = False


class Bounded(NamedTuple):
    """What ``Problem.decode`` returns if its output need not be the best one.

    Attributes
    ----------
    y : object
        The output.
    bound : float
        An upper bound on what ``decode`` maximises, over all outputs.
    """

    y: Any
    bound: float


def frozen(values: Any, dtype: Any) -> np.ndarray:
    """A read-only, contiguous copy of an array, for the fields of a ``Pack`` and its ``data``.

    numba compiles a function again for each type of its arguments, and a read-only array has
    another type than a writeable one. If all arrays of a ``Pack`` are made by this function, code
    is compiled once, and no function can change the examples by mistake.

    Parameters
    ----------
    values : array_like
        The numbers.
    dtype : numpy type
        Such as ``np.float64``; the same for every call of ``pack``.

    Returns
    -------
    array of this type

    Examples
    --------
    >>> frozen([1, 2, 3], np.float64).flags.writeable
    False
    """
    array = np.array(values, dtype, order="C")
    array.flags.writeable = False
    return array


class Pack(NamedTuple):
    """Examples as arrays, in the form that compiled passes read.

    Attributes
    ----------
    data : NamedTuple of read-only arrays
        What the functions of the problem need; any object for a plain Python problem. A field
        with the name ``messages`` is a writable array for what ``decode`` keeps of an example from
        call to call, such as messages to start from. It may hold anything finite: those of other
        weights, or of another mode. Each example uses its own part of it.
    offsets : int64 array (n + 1,)
        The labels of example i are ``labels[offsets[i]:offsets[i + 1]]`` of a flat label array.
    truth : label array (offsets[n],)
        The true outputs; not set if the examples are for prediction only.
    dim : int
        Length of w.
    width : int
        Maximum number of non-zeros that ``delta`` writes.
    weight : float64 array (n,)
        The weight of each example in the objective.
    work : int
        Size of the scratch memory of ``decode``, in floats.
    low, high : int
        The lowest and the highest label that ``decode`` may write; labels outside raise an error.
        Set from the problem's ``label_bounds``.
    """

    data: Any
    offsets: np.ndarray
    truth: np.ndarray
    dim: int
    width: int
    weight: np.ndarray
    work: int = 0
    low: int = -(2**63)
    high: int = 2**63 - 1

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.offsets) - 1


class CompiledProblem:
    """A structure defined by functions over packed arrays.

    Subclasses set ``functions`` and define ``pack`` and ``unpack``.
    """

    functions: Functions

    #: Default number of outputs per example that the one-slack solver caches; 0 if looking them
    #: up costs as much as the oracle.
    cache: int = 0

    #: The problem whose optimum the dual bounds (``Result.bounds``), if it is not the exact one.
    bounds: str = ""

    #: Maximum number of outputs of an example, if it is small.
    n_outputs: int | None = None

    def encode_classes(self, n_classes: int) -> np.ndarray:
        """The labels of classes 0, 1, ... in ``pack``, if an example has a single label."""
        return np.arange(n_classes)

    def check_truth(self, X: Any, codes: np.ndarray, classes: np.ndarray) -> None:
        """Raise a DataError if the problem cannot predict the true class numbers ``codes``."""

    def pack(self, X: Any, Y: Any | None = None, sample_weight: np.ndarray | None = None) -> Pack:
        """The examples as arrays; without ``Y`` they can only be used for prediction."""
        raise NotImplementedError

    def positive(self, pack: Pack) -> Any:
        """The indices of the weights that must be >= 0, or a bool array (dim,); None for none."""
        return None

    def functions_for(self, mode: int) -> Functions:
        """The functions for one mode; a ``decode`` for this mode only compiles faster."""
        return self.functions

    def work(self, pack: Pack, mode: int) -> int:
        """Scratch memory of ``decode`` in floats; raise an error if a mode is not supported."""
        return pack.work

    def m_best_work(self, pack: Pack, mode: int, m: int) -> int:
        """Scratch memory of the function ``m_best``, in floats."""
        return self.work(pack, mode)

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of the best outputs (n,), if there is no ``m_best``; 0 if unknown."""
        return np.zeros(pack.n)

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i), a dense array (dim,), for combining diverse cuts."""
        raise NotImplementedError(f"{type(self).__name__} has no truth_features(pack)")

    def operations(self, pack: Pack) -> float | None:
        """Approximate number of operations of an oracle pass over all examples; None if unknown."""
        return None

    def plane_square(self, pack: Pack) -> float | None:
        """Average squared norm of the plane of an output with one error; None if unknown."""
        return None

    def effort(self, pack: Pack) -> np.ndarray:
        """Approximate work per example (n,), in any unit; threads share it evenly."""
        return np.diff(pack.offsets).astype(np.float64) + 1.0

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The lowest and the highest label that an output can have.

        Labels from a checkpoint are checked against them before they are used as indices. The
        default is the range of the true labels; override it if other labels can be decoded.
        """
        if len(pack.truth) == 0:
            return 0, 0
        return int(pack.truth.min()), int(pack.truth.max())

    def valid_labels(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Bool array: which entries of a flat label array are valid labels."""
        if labels.dtype == object:
            return np.ones(len(labels), bool)
        low, high = self.label_bounds(pack)
        return (labels >= low) & (labels <= high)

    def unpack(self, pack: Pack, labels: np.ndarray) -> Sequence[Any] | np.ndarray:
        """The outputs in the form that users know, from a flat label array."""
        raise NotImplementedError


class Problem:
    """A structure in plain Python: define three methods and train with any solver.

    ``n_features`` is the length of w. It is inferred if ``features`` returns dense vectors; for
    sparse vectors set it, as a class attribute or in ``__init__``. ``positive`` are the indices of
    the weights that must be >= 0, or a bool array.

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> class Sign(mm.Problem):
    ...     def features(self, x, y):
    ...         return 0.5 * y * x
    ...     def loss(self, y_true, y):
    ...         return float(y != y_true)
    ...     def decode(self, x, w, y_true=None, rescaling="margin"):
    ...         def value(y):
    ...             return w @ self.features(x, y) + (0 if y_true is None else self.loss(y_true, y))
    ...         return max((-1, 1), key=value)
    >>> X, Y = np.array([[1.0, 2.0], [-1.0, 0.5]]), [1, -1]
    >>> result = mm.train(Sign(), X, Y, C=10.0)
    >>> result.status.name
    'CONVERGED'
    """

    n_features: int | None = None
    positive: Any = None

    def features(self, x: Any, y: Any) -> Any:
        """phi(x, y): a dense vector, a pair (indices, values), a scipy sparse row or a dict."""
        raise NotImplementedError("a Problem needs features(self, x, y)")

    def loss(self, y_true: Any, y: Any) -> float:
        """The loss of predicting ``y``: >= 0, and 0 if ``y`` is ``y_true``."""
        raise NotImplementedError("a Problem needs loss(self, y_true, y)")

    def decode(self, x: Any, w: np.ndarray, y_true: Any = None, rescaling: str = "margin") -> Any:
        """The output with the highest score, or the loss-augmented one if ``y_true`` is given.

        Maximise ``<w, phi(x, y)>`` if ``y_true`` is None. Otherwise maximise
        ``loss(y_true, y) + <w, phi(x, y)>`` if ``rescaling`` is "margin", and
        ``loss(y_true, y) * (1 - <w, phi(x, y_true) - phi(x, y)>)`` if it is "slack", or raise
        ``NotImplementedError`` if the structure has no oracle for this rescaling.

        If the best output cannot be found for certain, return ``mm.Bounded(y, bound)``, with an
        upper bound on the value of all outputs.
        """
        raise NotImplementedError("a Problem needs decode(self, x, w, y_true=None, rescaling=...)")

    #: An optional method
    #: ``decode_m_best(self, x, w, m, diversity=0.0, y_true=None, rescaling="margin")``.
    #: It returns a list of up to m different outputs, best first; the first is that of ``decode``.
    #: Each next output maximises the same value plus ``diversity`` times its differences from the
    #: outputs before it. Without this method they are found approximately, with ``decode``.
    decode_m_best: Callable[..., Sequence[Any]] | None = None
