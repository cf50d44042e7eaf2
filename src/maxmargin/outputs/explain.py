"""The largest weights of a fitted model by name, and the examples that fit it worst."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..data.frames import data_frame
from ..data.printable import printable
from ..errors import DataError, MaxMarginError
from ..problem import MODES, CompiledProblem, Pack


class Weight(NamedTuple):
    """A weight and the name of its feature or transition."""

    name: str
    weight: float


@dataclass(frozen=True)
class Weights:
    """The largest weights of one label or of the transitions, the largest first.

    Attributes
    ----------
    title : str
        The label whose score they change, or "transitions".
    positive, negative : list of Weight
        At most n of each sign; weights that are zero are left out.
    """

    title: str
    positive: list[Weight]
    negative: list[Weight]

    def to_dict(self) -> dict[str, Any]:
        """The weights as JSON types."""
        sides = {"positive": self.positive, "negative": self.negative}
        return {"title": self.title} | {k: [list(e) for e in v] for k, v in sides.items()}


#: Headings of the two columns.
_POSITIVE, _NEGATIVE = "positive weights", "negative weights"


@dataclass(frozen=True)
class Explanation:
    """The largest weights of a model; ``print`` shows them as a table.

    Attributes
    ----------
    labels : list of Weights
        The features with the largest weights of each label. With two classes there is one entry,
        for the second class; its negative weights favour the first class.
    transitions : Weights or None
        Pairs of neighbouring labels with the largest weights, for a model of sequences; also
        first and last labels, if the model has weights for them.
    """

    labels: list[Weights]
    transitions: Weights | None

    def to_dict(self) -> dict[str, Any]:
        """The weights as JSON types."""
        return {
            "labels": [weights.to_dict() for weights in self.labels],
            "transitions": None if self.transitions is None else self.transitions.to_dict(),
        }

    def to_frame(self) -> Any:
        """A data frame with the columns label, feature and weight, one row per weight."""
        parts = [*self.labels, *([] if self.transitions is None else [self.transitions])]
        return data_frame(
            (
                {"label": part.title, "feature": name, "weight": weight}
                for part in parts
                for name, weight in (*part.positive, *part.negative)
            ),
            ("label", "feature", "weight"),
        )

    def __str__(self) -> str:
        parts = [*self.labels, *([] if self.transitions is None else [self.transitions])]
        entries = [entry for part in parts for entry in part.positive]
        width = max([len(_POSITIVE), *(10 + len(entry.name) for entry in entries)])
        return "\n\n".join(_table(part, min(width, 50)) for part in parts)


def explain(clf: Any, n: int = 10) -> Explanation:
    """The n largest positive and negative weights of each label, and of the transitions.

    Parameters
    ----------
    clf : BinarySVC, MulticlassSVC, ChainSVC or StructuredSVC
        Fitted, with the attribute ``coef_``.
    n : int
        Number of weights of each sign.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> X, y = np.array([[2.0, 0.0], [0.0, 1.0]]), ["left", "right"]
    >>> print(explain(mm.MulticlassSVC(C=10.0, tol=1e-6).fit(X, y)))
    left
      positive weights     negative weights
       +0.2500  feature 0   -0.5000  feature 1
    <BLANKLINE>
    right
      positive weights     negative weights
       +0.5000  feature 1   -0.2500  feature 0
    """
    if not hasattr(clf, "coef_"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(clf)
        raise MaxMarginError(f"{type(clf).__name__} has no weights of features (no coef_)")
    if n < 1:
        raise DataError(f"n is the number of weights to show, at least 1; got {n!r}")
    coef = np.atleast_2d(clf.coef_)
    names = _feature_names(clf)
    labels = [
        largest_weights(title, row, names, n)
        for title, row in zip(_titles(clf, len(coef)), coef, strict=True)
    ]
    return Explanation(labels, _transitions(clf, n) if hasattr(clf, "transition_") else None)


def largest(values: np.ndarray, n: int) -> np.ndarray:
    """Indices of the n largest positive values, the largest first; ties in order of index."""
    threshold = 0.0
    if n < len(values):
        # Selection takes linear time, which matters for millions of values.
        threshold = values[np.argpartition(values, -n)[-n]]
    chosen = np.flatnonzero((values >= threshold) & (values > 0))
    return chosen[np.argsort(-values[chosen], kind="stable")[:n]]


def _titles(clf: Any, n_rows: int) -> list[str]:
    """The title of each row of ``coef_``."""
    classes = [str(label) for label in list(getattr(clf, "classes_", ()))]
    if n_rows == 1:
        return [f"{classes[1]} (not {classes[0]})"] if len(classes) == 2 else ["weights"]
    return classes


def _feature_names(clf: Any) -> Sequence[str] | None:
    for attribute in ("feature_names_", "feature_names_in_"):
        names = getattr(clf, attribute, None)
        if names is not None:
            return names
    return None


def largest_weights(title: str, values: np.ndarray, names: Sequence[str] | None, n: int) -> Weights:
    """The n largest and the n smallest of some weights, by name."""

    def pick(chosen: np.ndarray) -> list[Weight]:
        return [
            Weight(f"feature {j}" if names is None else str(names[j]), float(values[j]))
            for j in chosen
        ]

    return Weights(title, pick(largest(values, n)), pick(largest(-values, n)))


def _transitions(clf: Any, n: int) -> Weights:
    """The largest weights of transitions, first and last labels, without forbidden ones."""
    labels = [str(label) for label in list(clf.classes_)]
    K = len(labels)
    start, stop = (np.asarray(getattr(clf, name, np.zeros(K))) for name in ("start_", "stop_"))
    values = np.concatenate([np.ravel(clf.transition_), start, stop])
    names = [f"{a} -> {b}" for a in labels for b in labels]
    names += [f"(start) -> {b}" for b in labels] + [f"{a} -> (stop)" for a in labels]
    return largest_weights("transitions", np.where(np.isfinite(values), values, 0.0), names, n)


def _table(weights: Weights, width: int) -> str:
    """Two columns: positive and negative weights."""
    left = [_POSITIVE, *map(_cell, weights.positive)]
    right = [_NEGATIVE, *map(_cell, weights.negative)]
    height = max(len(left), len(right))
    left, right = (column + [""] * (height - len(column)) for column in (left, right))
    lines = [f"  {a:<{width}}  {b}".rstrip() for a, b in zip(left, right, strict=True)]
    return "\n".join([printable(weights.title), *lines])


def _cell(entry: Weight) -> str:
    name = entry.name if len(entry.name) <= 40 else entry.name[:37] + "..."
    return f"{entry.weight:+8.4f}  {printable(name)}"


@dataclass(frozen=True)
class Suspect:
    """An example that fits the model badly: a difficult one, or one whose label is wrong.

    Attributes
    ----------
    index : int
        The number of the example.
    slack : float
        Its hinge loss H_i(w).
    loss : float
        The loss of ``worst``.
    truth, worst : label arrays
        The given labels, and those of the output that violates the margin most.
    """

    index: int
    slack: float
    loss: float
    truth: np.ndarray
    worst: np.ndarray


class Suspects(list[dict[str, Any]]):
    """Examples that fit a model badly, the worst first; a list of dicts.

    Each has ``index``, ``slack`` (its hinge loss), ``loss``, the given output ``truth`` and
    ``worst``, the output that violates the margin most.
    """

    def to_frame(self) -> Any:
        """A data frame with one row per example."""
        return data_frame(self, ("index", "slack", "loss", "truth", "worst"))


def find_suspects(
    problem: CompiledProblem, pack: Pack, w: np.ndarray, rescaling: str, n: int
) -> Suspects:
    """The n examples with the largest slack, with their outputs as the problem unpacks them."""
    found = largest_slacks(problem, pack, w, rescaling, n)
    worst = pack.truth.copy()
    for s in found:
        worst[pack.offsets[s.index] : pack.offsets[s.index + 1]] = s.worst
    truths, worsts = problem.unpack(pack, pack.truth), problem.unpack(pack, worst)
    return Suspects(
        {"index": s.index, "slack": s.slack, "loss": s.loss,
         "truth": _plain(truths[s.index]), "worst": _plain(worsts[s.index])}
        for s in found
    )  # fmt: skip


def _plain(output: Any) -> Any:
    """An output with numpy's numbers and arrays as plain ones."""
    return output.tolist() if isinstance(output, np.ndarray | np.generic) else output


def largest_slacks(
    problem: CompiledProblem,
    pack: Pack,
    w: np.ndarray,
    rescaling: str = "margin",
    n: int = 20,
    n_jobs: int = 1,
) -> list[Suspect]:
    """The n examples with the largest slack, the largest first, without those of slack zero.

    Parameters
    ----------
    problem : CompiledProblem
    pack : Pack
        Examples with their true outputs.
    w : array (dim,)
    rescaling : {"margin", "slack"}
    n : int
    n_jobs : int
        Threads for the oracle.
    """
    from ..engine.linalg import read_only  # slow to import, and not needed for weights
    from ..engine.shard import Shard
    from ..training import check_rescaling

    mode = MODES[check_rescaling(rescaling)]
    # With weights of 1, ``collect`` on a single example returns the loss of that example.
    pack = pack._replace(weight=read_only(np.ones(pack.n), np.float64))
    shard = Shard(problem, pack, n_jobs)
    shard.warm_up(mode, ("decode", "collect"))
    labels, w = shard.new_labels(), shard.weights(w)
    shard.oracle(w, mode, labels, shard.everyone)
    g, _, value = shard.collect(w, mode, labels)

    def suspect(i: int) -> Suspect:
        alone, where = shard.everyone[i : i + 1], slice(pack.offsets[i], pack.offsets[i + 1])
        slack = float(value[i])
        loss = shard.loops.collect(pack, w, mode, alone, labels, g, value, shard.scratch)
        return Suspect(i, slack, float(loss), pack.truth[where], labels[where].copy())

    return [suspect(int(i)) for i in largest(value, n)]
