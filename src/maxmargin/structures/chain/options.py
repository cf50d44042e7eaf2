"""The options of ``maxmargin train chain``.

This module imports nothing that is slow to import, so that ``maxmargin train chain --help`` is
fast.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

import typer

from ..options import KernelOptions

CHAINS = "Options for chains"


class Format(StrEnum):
    """Formats of files of sequences."""

    auto = "auto"
    conll = "conll"
    hmm = "hmm"


class Transitions(StrEnum):
    """Tagging schemes."""

    bio = "bio"
    bioes = "bioes"


class Loss(StrEnum):
    """Losses of sequences."""

    hamming = "hamming"
    zero_one = "zero-one"


@dataclass(frozen=True)
class ChainOptions(KernelOptions):
    """Options for sequences."""

    C: Annotated[float, typer.Option("--C", "-C", help="Weight of the sum of losses.")] = 0.1
    format: Annotated[
        Format,
        typer.Option(
            rich_help_panel=CHAINS,
            help="Columns (conll) or numbered features with qid: (hmm); auto looks at DATA.",
        ),
    ] = Format.auto
    template: Annotated[
        str | None,
        typer.Option(
            rich_help_panel=CHAINS,
            show_default="default",
            help="What makes features of columns: default, chunking, pos or a file.",
        ),
    ] = None
    label: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=CHAINS,
            show_default="-1",
            help="The column of the labels: 0 is the first, -1 the last.",
        ),
    ] = None
    transitions: Annotated[
        Transitions | None,
        typer.Option(rich_help_panel=CHAINS, help="Predict only what this scheme of tags allows."),
    ] = None
    start_stop: Annotated[
        bool,
        typer.Option(
            "--start-stop", rich_help_panel=CHAINS, help="Weights for first and last labels."
        ),
    ] = False
    loss: Annotated[
        Loss,
        typer.Option(
            rich_help_panel=CHAINS,
            help="Count wrong labels (hamming), or sequences with any error (zero-one).",
        ),
    ] = Loss.hamming

    def parameters(self) -> dict[str, Any]:
        """The parameters of a ``ChainSVC``."""
        return super().parameters() | {
            "template": self.template,
            "transitions": self.transitions and self.transitions.value,
            "start_stop": self.start_stop,
            "loss": self.loss.value,
        }

    def check(self) -> None:
        """Check the options, before the data are read."""
        from ...errors import MaxMarginError
        from ...features import Template

        super().check()
        if self.format is Format.hmm:
            self.check_for_hmm()
        if self.template is not None:
            Template(self.template)
        if self.class_weight is not None and self.loss is not Loss.hamming:
            raise MaxMarginError("--class-weight needs the loss of tokens: use --loss hamming")

    def check_for_hmm(self) -> None:
        """Raise an error for options about columns, which the file does not have."""
        from ...errors import MaxMarginError

        if self.template is not None:
            raise MaxMarginError(
                "--template makes features from columns, but SVM-HMM files already contain "
                "features: omit it"
            )
        if self.label is not None:
            raise MaxMarginError("--label is a column, but SVM-HMM files have no columns: omit it")
