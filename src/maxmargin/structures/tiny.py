"""``Tiny``: a problem so small that tests solve it by enumeration.

The ``examples`` part of a structure returns some of them. From these the tests check what every
structure must do: decode exactly, be trained to the optimum by every solver, be saved and loaded,
and be used on the command line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..problem import CompiledProblem


@dataclass(frozen=True)
class Tiny:
    """A tiny problem with its definitions in plain Python.

    Attributes
    ----------
    name : str
        Tells the examples of one structure apart.
    problem : CompiledProblem
    X, Y : inputs and true outputs, as ``problem.pack`` takes them
    outputs : ``outputs(x) -> sequence``
        All outputs of an input, as ``problem.unpack`` returns them.
    features : ``features(x, y) -> array (dim,)``
        phi(x, y) from its definition, not from the problem's functions.
    loss : ``loss(y_true, y) -> float``
    rescalings : tuple of str
        Those that have an oracle.
    estimator : estimator or None
        Not fitted.
    data : (X, Y) or None
        What the estimator is fitted to, if it is not ``X`` and ``Y``.
    text : str or bytes
        A file of training examples for ``maxmargin train``; empty if files are not offered.
    command : tuple of str
        More options of ``maxmargin train``.
    """

    name: str
    problem: CompiledProblem
    X: Any
    Y: Any
    outputs: Callable[[Any], Sequence[Any]]
    features: Callable[[Any, Any], Any]
    loss: Callable[[Any, Any], float]
    rescalings: tuple[str, ...] = ("margin", "slack")
    estimator: Any = None
    data: tuple[Any, Any] | None = None
    text: str | bytes = ""
    command: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return self.name


def svmlight_text(X: Any, y: Any) -> str:
    """The lines of an svmlight file: a label, then ``feature:value`` from feature 1 on."""
    rows = zip(X.tolist(), y.tolist(), strict=True)
    return "".join(
        f"{label} {' '.join(f'{j}:{value}' for j, value in enumerate(row, 1))}\n"
        for row, label in rows
    )
