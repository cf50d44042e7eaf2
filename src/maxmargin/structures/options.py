"""The options of ``maxmargin train`` that all or several structures share.

The options of a structure are a frozen dataclass, a subclass of ``TrainOptions``. Each field is an
option of ``maxmargin train NAME``, made by ``option``. This module imports nothing that is slow to
import, so that ``maxmargin train --help`` is fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal

import typer


def option(default: Any, help: str, *names: str, **more: Any) -> Any:
    """A field that is an option, with its default and help text.

    Names are made from the field's name if none are given; for ``more`` see ``typer.Option``.
    """
    return field(default=default, metadata={"option": typer.Option(*names, help=help, **more)})


kernel_option = partial(option, rich_help_panel="Options for kernels")

C_HELP = "Weight of the sum of losses."
TOL_HELP = (
    "Stop when the objective per example is certified to be this close to its minimum, in units of "
    "loss."
)

#: The options of solvers, without importing them; a test compares them with the solvers.
SOLVER_OPTIONS = {
    "sdm": "first, inner, tau, average, change, paper",
    "one-slack": "cache, step, qp, share, select, m_cuts, combine, diversity, reuse_map",
    "n-slack": "batch, shrink",
    "bcfw": "inner, sampling, average",
    "subgradient": "batch",
    "sampled-linear": "kind, r, p, step, rates, tries, idle, max_bytes, cache_bytes, dtype",
}


@dataclass(frozen=True)
class TrainOptions:
    """The options of all structures."""

    C: float = option(1.0, C_HELP, "--C", "-C")
    solver: str = option("auto", "The solver, such as sdm or one-slack; auto chooses one.")
    solver_option: list[str] | None = option(  # noqa: RUF009
        None,
        "An option of the solver (see above), as in cache=10; can be repeated.",
        metavar="NAME=VALUE",
    )
    tol: float | None = option(1e-2, TOL_HELP)
    rescaling: Literal["margin", "slack"] = option(
        "margin", "margin: the loss is added to the margin; slack: it multiplies the slack."
    )
    max_iter: int = option(10_000, "Maximum number of iterations.")
    max_time: float | None = option(None, "Maximum time in the solver, in seconds.")
    jobs: int = option(
        1, "Number of threads, -1 for all cores; the model does not depend on it.", "--jobs", "-j"
    )
    deterministic: bool = option(
        True,
        "no: the threads of sdm, n-slack and bcfw change the weights at the same time, which is "
        "faster; two runs differ within the certificate.",
        "--deterministic/--no-deterministic",
    )
    seed: int = option(0, "Random seed.", min=0, max=2**32 - 1, metavar="<int>")
    checkpoint: Path | None = option(  # noqa: RUF009
        None, "Save training to this file regularly and at the end; continue from it if it exists."
    )
    every: str = option("5min", "How often to write the checkpoint: 30s, 5min, 1h.")
    resume: bool = option(
        False, "Stop with an error if there is no checkpoint to continue.", "--resume"
    )
    restart: bool = option(False, "Start again and overwrite the checkpoint.", "--restart")

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        same = self.given("C", "tol", "rescaling", "max_iter", "max_time", "deterministic")
        same["solver"] = self._solver()
        own = {"n_jobs": self.jobs, "random_state": self.seed, "checkpoint": self._checkpoint()}
        return same | own

    def given(self, *names: str) -> dict[str, Any]:
        """The options that are parameters of the estimator with the same name."""
        return {name: getattr(self, name) for name in names}

    def check(self) -> None:
        """Raise an error for options that cannot be used, before the data are read."""
        from ..errors import MaxMarginError
        from ..objective import check_factor
        from ..solvers import get_solver
        from ..training import check_stop

        check_factor("C", self.C)
        check_stop(1.0 if self.tol is None else self.tol, self.max_iter, self.max_time)
        get_solver(self._solver())  # only to check the name and options early
        for given, name in ((self.resume, "--resume"), (self.restart, "--restart")):
            if given and self.checkpoint is None:
                raise MaxMarginError(f"{name} needs a checkpoint: give --checkpoint FILE")
        if self.resume and self.restart:
            raise MaxMarginError("--resume and --restart exclude each other: give one of them")
        if self.resume and self.checkpoint is not None and not self.checkpoint.exists():
            raise MaxMarginError(f"{self.checkpoint}: there is no checkpoint to resume")

    def _solver(self) -> Any:
        """The name of the solver, or a solver with the options that were given."""
        if not self.solver_option:
            return self.solver
        from ..solvers.from_text import make_solver

        return make_solver(self.solver, self.solver_option)

    def _checkpoint(self) -> Any:
        from ..saving.checkpoint import Checkpoint

        if self.checkpoint is None:
            return None
        return Checkpoint(self.checkpoint, self.every, resume=not self.restart)


@dataclass(frozen=True)
class KernelOptions(TrainOptions):
    """Options of structures that can be trained with a kernel."""

    class_weight: Literal["balanced"] | None = option(
        None, "Weight classes inversely to their frequency."
    )
    kernel: Literal["linear", "rbf", "poly", "sigmoid"] = kernel_option("linear", "The kernel.")
    gamma: str = kernel_option(
        "scale",
        "Coefficient of the kernel: a number, scale (1 / (features * variance)) or auto (1 / "
        "features).",
    )
    degree: int = kernel_option(3, "Degree of the kernel poly.")
    coef0: float = kernel_option(0.0, "Constant term of the kernels poly and sigmoid.")
    n_basis: str | None = kernel_option(
        None,
        "Train on this number of basis functions; auto chooses the number.",
        show_default="all for few examples, auto for many",
    )

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        kernel = None if self.kernel == "linear" else self.kernel
        own = {"kernel": kernel, "gamma": self._gamma(), "n_basis": self._basis()}
        return super().parameters() | self.given("class_weight", "degree", "coef0") | own

    def check(self) -> None:
        """Raise an error for options that cannot be used, before the data are read."""
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

    intercept: bool = option(False, "Add a constant feature.", "--intercept")

    def parameters(self) -> dict[str, Any]:
        """The parameters of the estimator."""
        return super().parameters() | {"fit_intercept": self.intercept}
