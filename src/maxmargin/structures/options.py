"""The options of ``maxmargin train`` that all or several structures share.

The options of a structure are a frozen dataclass, a subclass of ``TrainOptions``. Each field is an
option of ``maxmargin train NAME``, with its help text in the annotation. This module imports
nothing that is slow to import, so that ``maxmargin train --help`` is fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

KERNELS = "Options for kernels"


class Rescaling(StrEnum):
    """How the loss enters the objective."""

    margin = "margin"
    slack = "slack"


class ClassWeight(StrEnum):
    """How classes are weighted."""

    balanced = "balanced"


class KernelName(StrEnum):
    """The kernels that can be used on the command line."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"
    sigmoid = "sigmoid"


@dataclass(frozen=True)
class TrainOptions:
    """The options of all structures."""

    C: Annotated[float, typer.Option("--C", "-C", help="Weight of the sum of losses.")] = 1.0
    solver: Annotated[
        str, typer.Option(help="A solver by name, such as one-slack; auto chooses.")
    ] = "auto"
    tol: Annotated[
        float,
        typer.Option(help="Stop when the average loss is proved to be this close to its optimum."),
    ] = 1e-2
    rescaling: Annotated[
        Rescaling, typer.Option(help="How the loss enters: as a margin or as a slope.")
    ] = Rescaling.margin
    max_iter: Annotated[int, typer.Option(help="Limit on iterations.")] = 10_000
    max_time: Annotated[float | None, typer.Option(help="Limit on seconds in the solver.")] = None
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Threads, -1 for all cores; the model is the same.")
    ] = 1
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the random choices.")] = 0
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="Save training to this file now and then, so that it can be resumed."),
    ] = None
    every: Annotated[str, typer.Option(help="How often to save it: 30s, 5min, 1h.")] = "5min"
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint if it exists.")
    ] = False

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return {
            "C": self.C, "solver": self.solver, "tol": self.tol,
            "rescaling": self.rescaling.value, "max_iter": self.max_iter,
            "max_time": self.max_time, "n_jobs": self.jobs, "random_state": self.seed,
            "checkpoint": self._checkpoint(),
        }  # fmt: skip

    def check(self) -> None:
        """Refuse what can be refused before the data are read."""
        from ..errors import MaxMarginError
        from ..objective import check_factor
        from ..solvers import get_solver
        from ..training import check_stop

        check_factor("C", self.C)
        check_stop(self.tol, self.max_iter, self.max_time)
        get_solver(self.solver)  # only to check the name early
        if self.resume and self.checkpoint is None:
            raise MaxMarginError("--resume continues from a checkpoint: give --checkpoint FILE")

    def _checkpoint(self) -> Any:
        from ..saving.checkpoint import Checkpoint

        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, self.every, self.resume)


@dataclass(frozen=True)
class KernelOptions(TrainOptions):
    """Options of structures that can be trained with a kernel."""

    class_weight: Annotated[
        ClassWeight | None, typer.Option(help="Weight classes by the inverse of their frequency.")
    ] = None
    kernel: Annotated[
        KernelName, typer.Option(rich_help_panel=KERNELS, help="The kernel of the features.")
    ] = KernelName.linear
    gamma: Annotated[
        str,
        typer.Option(
            rich_help_panel=KERNELS,
            help="Its gamma: a number, scale (1 / (features * variance)) or auto (1 / features).",
        ),
    ] = "scale"
    degree: Annotated[int, typer.Option(rich_help_panel=KERNELS, help="The degree of poly.")] = 3
    coef0: Annotated[
        float, typer.Option(rich_help_panel=KERNELS, help="The constant of poly and sigmoid.")
    ] = 0.0
    n_basis: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=KERNELS,
            show_default="all of few, auto for many examples",
            help="Train on this number of basis functions; auto chooses the number.",
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        linear = self.kernel is KernelName.linear
        return super().parameters() | {
            "class_weight": self.class_weight and self.class_weight.value,
            "kernel": None if linear else self.kernel.value,
            "gamma": self._gamma(), "degree": self.degree, "coef0": self.coef0,
            "n_basis": self._basis(),
        }  # fmt: skip

    def check(self) -> None:
        """Refuse what can be refused before the data are read."""
        from ..errors import MaxMarginError
        from ..kernels.functions import check_kernel

        super().check()
        given = self.parameters()
        check_kernel(*(given[name] for name in ("kernel", "gamma", "degree", "coef0")))
        if given["kernel"] is None and given["n_basis"] is not None:
            raise typer.BadParameter("basis functions need --kernel", param_hint="--n-basis")
        sampled = self.solver.startswith("sampled")
        if sampled and given["kernel"] is None:
            raise MaxMarginError("sampled cuts need a kernel: give --kernel, or another --solver")
        if sampled and given["n_basis"] is not None:
            raise MaxMarginError("sampled cuts use no basis functions: omit --n-basis")

    def _gamma(self) -> float | str:
        if self.gamma in ("scale", "auto"):
            return self.gamma
        try:
            return float(self.gamma)
        except ValueError:
            raise typer.BadParameter(
                f"{self.gamma!r} is neither a number nor scale or auto", param_hint="--gamma"
            ) from None

    def _basis(self) -> int | str | None:
        if self.n_basis is None or self.n_basis == "auto":
            return self.n_basis
        if not self.n_basis.isdecimal() or int(self.n_basis) < 1:
            raise typer.BadParameter(
                f"{self.n_basis!r} is neither a number >= 1 nor auto", param_hint="--n-basis"
            )
        return int(self.n_basis)


@dataclass(frozen=True)
class RowOptions(KernelOptions):
    """Options of structures whose examples are rows of a matrix."""

    intercept: Annotated[bool, typer.Option("--intercept", help="Add a constant feature.")] = False

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return super().parameters() | {"fit_intercept": self.intercept}
