"""``maxmargin compile``: fill the folder of compiled code ahead of time, by tiny trainings."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..errors import DataError

#: Methods that together call all loops; only BCFW compiles a step of another kind.
SOLVERS = ("sdm", "one-slack")


def compile_structures(names: Iterable[str]) -> None:
    """Compile what training and prediction of these structures call; all of them by default."""
    names = list(names) or list(STRUCTURES)
    for name in names:
        if name not in STRUCTURES:
            raise DataError(f"structures are {', '.join(STRUCTURES)}, got {name!r}")
    for name in names:
        for solver in SOLVERS:
            STRUCTURES[name](solver)
        print(f"{name}: compiled")


def _fit_binary(solver: str) -> None:
    from ..estimators import BinarySVC

    X = np.eye(4)
    BinarySVC(solver=solver).fit(X, [0, 1, 0, 1]).predict(X)


def _fit_multiclass(solver: str) -> None:
    from ..estimators import MulticlassSVC

    X = np.eye(4)
    MulticlassSVC(solver=solver).fit(X, [0, 1, 2, 3]).predict(X)


def _fit_chain(solver: str) -> None:
    from ..estimators import ChainSVC

    X = [np.eye(4)]
    ChainSVC(solver=solver).fit(X, [[0, 1, 0, 1]]).predict(X)


def _fit_cfg(solver: str) -> None:
    from ..data.trees import Tree
    from ..estimators import CFGSVC

    tree = Tree("S", [Tree("N", ["dogs"]), Tree("V", ["bark"])])
    CFGSVC(solver=solver).fit(None, [tree, tree]).predict([["dogs", "bark"]])


STRUCTURES: dict[str, Callable[[str], None]] = {
    "binary": _fit_binary, "multiclass": _fit_multiclass, "chain": _fit_chain, "cfg": _fit_cfg,
}  # fmt: skip
