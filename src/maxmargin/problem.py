"""The contract of a problem: what the solvers ask of a structure.

There are two ways to bring a structure of your own.

``Problem``
    Three plain Python methods: ``features``, ``loss``, ``decode``. Labels are any objects.
``CompiledProblem``
    The same three as kernels over arrays (numba functions, or plain Python ones), for full speed.
    The built-in problems are written this way.

The inner loops are the same source for both (``loops.py``).
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
    """The three functions of a problem, over label slices.

    Attributes
    ----------
    decode : ``decode(data, w, i, mode, y, work)``
        Writes the best output of example i into the label slice ``y``: of ``<w, phi_i(y)>`` when
        mode is PREDICT, of ``loss_i(y) - <w, psi_i(y)>`` (MARGIN) or
        ``loss_i(y) * (1 - <w, psi_i(y)>)`` (SLACK). It returns nothing: the value and the plane
        are recomputed from delta and loss, so an oracle cannot contradict its own features.
        ``work`` is a float64 array for its own use, of ``Pack.work`` entries or as many as the
        problem's ``work`` says: to allocate memory in every call would cost more than a small
        oracle.
    loss : ``loss(data, i, y) -> float``
    delta : ``delta(data, i, y, z, idx, val) -> int``
        Writes the non-zeros of ``phi_i(y) - phi_i(z)`` and returns how many; an index may repeat.
    score, margin : ``score(data, w, i, work)``, ``margin(data, i, y, z, work) -> float``, optional
        Where it is faster than to write features and multiply: ``score`` leaves the scores of
        example i in ``work``, as ``decode`` does on its way, and ``margin`` is
        ``<w, phi_i(y) - phi_i(z)>`` from what either of them left there.
    m_best : ``m_best(data, w, i, mode, diversity, m, Y, value, work) -> int``, optional
        Writes up to m different outputs of example i into Y, whose slot r begins at r times the
        length of an output, and ``<w, phi_i(y)>`` of each into ``value``; returns how many there
        are. The first is that of ``decode``. With ``diversity`` 0 they are the m best of the mode's
        value; otherwise each is the best new one of that value plus ``diversity`` times the number
        of labels in which it differs from each one before it (where outputs have no labels to be
        compared one by one, minus what they share with it). ``work`` has as many entries as the
        problem's ``m_best_work`` says. Only the first must be exact when training.
    """

    decode: Callable[..., None]
    loss: Callable[..., float]
    delta: Callable[..., int]
    score: Callable[..., None] | None = None
    margin: Callable[..., float] | None = None
    m_best: Callable[..., int] | None = None


class Pack(NamedTuple):
    """Examples in the form that the loops read: numba sees it as a struct of arrays.

    Attributes
    ----------
    data : a NamedTuple of read-only arrays (anything at all for a Python problem)
    offsets : int64 array (n + 1,)
        The labels of example i are ``labels[offsets[i]:offsets[i + 1]]`` of any flat label array.
    truth : label array (offsets[n],)
        The true outputs; unset labels when the examples are there for prediction only.
    dim : int
        Length of w.
    width : int
        The most non-zeros that ``delta`` writes.
    weight : float64 array (n,)
        The weight of each example in the objective.
    work : int
        How many floats ``decode`` needs as its working memory.
    """

    data: Any
    offsets: np.ndarray
    truth: np.ndarray
    dim: int
    width: int
    weight: np.ndarray
    work: int = 0

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.offsets) - 1


class CompiledProblem:
    """A structure given by kernels over packed arrays.

    Subclasses set ``kernels`` and write ``pack`` and ``unpack``.
    """

    functions: Functions

    #: How many outputs the one-slack solver keeps for each example by default: 0 where looking
    #: them up costs as much as the oracle itself.
    cache: int = 0

    #: The most outputs an example can have, where that is a small number.
    n_outputs: int | None = None

    def encode_classes(self, n_classes: int) -> np.ndarray:
        """The labels that stand for classes 0, 1, ... in ``pack``, where an example has one."""
        return np.arange(n_classes)

    def check_truth(self, X: Any, codes: np.ndarray, classes: np.ndarray) -> None:
        """Refuse true outputs that the problem cannot predict; ``codes`` are numbers of classes."""

    def pack(self, X: Any, Y: Any | None = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Arrays for the loops; without ``Y`` the examples can only be predicted."""
        raise NotImplementedError

    def functions_for(self, mode: int) -> Functions:
        """The kernels for one mode: a ``decode`` that knows this mode only compiles faster."""
        return self.functions

    def work(self, pack: Pack, mode: int) -> int:
        """How many floats ``decode`` needs; a mode without an oracle is refused here."""
        return pack.work

    def m_best_work(self, pack: Pack, mode: int, m: int) -> int:
        """How many floats the kernel ``m_best`` needs."""
        return self.work(pack, mode)

    def first_scores(self, pack: Pack, w: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """``<w, phi_i(y)>`` of the best labels, if there is no ``m_best``; 0 where nobody knows."""
        return np.zeros(pack.n)

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i), a dense vector: one way of combining diverse cuts needs it."""
        raise NotImplementedError(f"{type(self).__name__} has no truth_features(pack)")

    def operations(self, pack: Pack) -> float | None:
        """About how many operations a pass of the oracle takes; None where that is unknown."""
        return None

    def effort(self, pack: Pack) -> np.ndarray:
        """About how much work each example is (n,), in any unit: threads share it evenly."""
        return np.diff(pack.offsets).astype(np.float64) + 1.0

    def label_bounds(self, pack: Pack) -> tuple[int, int]:
        """The lowest and the highest label that an output can have.

        Labels of a checkpoint outside of it are refused, before kernels take them for indices. By
        default those of the true outputs: say more where others can be decoded.
        """
        if len(pack.truth) == 0:
            return 0, 0
        return int(pack.truth.min()), int(pack.truth.max())

    def valid_labels(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Which entries of a flat label array the kernels can take (bool, as long as it)."""
        if labels.dtype == object:
            return np.ones(len(labels), bool)
        low, high = self.label_bounds(pack)
        return (labels >= low) & (labels <= high)

    def unpack(self, pack: Pack, labels: np.ndarray) -> Sequence[Any] | np.ndarray:
        """The outputs, as users know them, of a flat label array."""
        raise NotImplementedError


class Problem:
    """A structure in plain Python: write three methods and train with any solver.

    ``n_features`` is the length of w. It is found from ``features`` when that returns dense
    vectors; with sparse ones set it, as a class attribute or in ``__init__``.

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

    def features(self, x: Any, y: Any) -> Any:
        """phi(x, y): a dense vector, a pair (indices, values), a scipy sparse row or a dict."""
        raise NotImplementedError("a Problem needs features(self, x, y)")

    def loss(self, y_true: Any, y: Any) -> float:
        """How wrong ``y`` is: 0 at ``y_true``, never negative."""
        raise NotImplementedError("a Problem needs loss(self, y_true, y)")

    def decode(self, x: Any, w: np.ndarray, y_true: Any = None, rescaling: str = "margin") -> Any:
        """The best output of x, augmented by the loss when ``y_true`` is given.

        Maximise ``<w, phi(x, y)>``; with ``y_true`` and ``rescaling="margin"`` maximise
        ``loss(y_true, y) + <w, phi(x, y)>``; with "slack" maximise
        ``loss(y_true, y) * (1 - <w, phi(x, y_true) - phi(x, y)>)``, or raise
        ``NotImplementedError`` when the structure has no oracle for it.
        """
        raise NotImplementedError("a Problem needs decode(self, x, w, y_true=None, rescaling=...)")

    #: Optional: ``decode_m_best(self, x, w, m, diversity=0.0, y_true=None, rescaling="margin")``
    #: returns a list of up to m different outputs, best first, the first being that of ``decode``.
    #: Each next one maximises the same value plus ``diversity`` times its differences from those
    #: before it. Without this method ``m_best.py`` finds some through ``decode``, approximately.
    decode_m_best: Callable[..., Sequence[Any]] | None = None
