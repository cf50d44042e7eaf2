"""The options of kernels.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

PANEL = "Options for kernels"


class KernelName(StrEnum):
    """The kernels that a file of examples can be trained with."""

    linear = "linear"
    rbf = "rbf"
    poly = "poly"
    sigmoid = "sigmoid"


KernelOption = Annotated[
    KernelName, typer.Option(rich_help_panel=PANEL, help="The kernel of the features.")
]
GammaOption = Annotated[
    str,
    typer.Option(
        rich_help_panel=PANEL,
        help="Its gamma: a number, scale (1 / (features * variance)) or auto (1 / features).",
    ),
]
DegreeOption = Annotated[int, typer.Option(rich_help_panel=PANEL, help="The degree of poly.")]
Coef0Option = Annotated[
    float, typer.Option(rich_help_panel=PANEL, help="The constant of poly and sigmoid.")
]
BasisOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=PANEL,
        show_default="all of few, auto for many examples",
        help="Train on so many basis functions; auto finds the number.",
    ),
]


def read(
    kernel: KernelName, gamma: str, degree: int, coef0: float, n_basis: str | None
) -> dict[str, Any]:
    """The parameters of an estimator.

    Raises
    ------
    typer.BadParameter
        If a value is no number, or an option of kernels was given without one.
    """
    number: Any = gamma
    if gamma not in ("scale", "auto"):
        try:
            number = float(gamma)
        except ValueError:
            raise typer.BadParameter(
                f"{gamma!r} is neither a number nor scale or auto", param_hint="--gamma"
            ) from None
    basis: Any = n_basis
    if n_basis is not None and n_basis != "auto":
        if not n_basis.isdecimal() or int(n_basis) < 1:
            raise typer.BadParameter(
                f"{n_basis!r} is neither a number >= 1 nor auto", param_hint="--n-basis"
            )
        basis = int(n_basis)
    if kernel is KernelName.linear and basis is not None:
        raise typer.BadParameter("basis functions need a kernel: --kernel", param_hint="--n-basis")
    return {
        "kernel": None if kernel is KernelName.linear else kernel.value,
        "gamma": number, "degree": degree, "coef0": coef0, "n_basis": basis,
    }  # fmt: skip


def check_kernel_options(parameters: dict[str, Any]) -> None:
    """Refuse what can be refused before the data are read."""
    from ..errors import MaxMarginError
    from ..kernels.functions import check_kernel

    names = ("kernel", "gamma", "degree", "coef0")
    check_kernel(*(parameters[name] for name in names))
    sampled = str(parameters["solver"]).startswith("sampled")
    if sampled and parameters["kernel"] is None:
        raise MaxMarginError("sampled cuts are for kernels: give --kernel, or another --solver")
    if sampled and parameters["n_basis"] is not None:
        raise MaxMarginError("sampled cuts need no basis functions: leave --n-basis out")
