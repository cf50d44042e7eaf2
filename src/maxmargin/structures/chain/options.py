"""The options of chains, and the commands that look into a model.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import typer

from ...cli.arguments import CHAINS, Json, Model


class Format(StrEnum):
    """How sequences are written."""

    auto = "auto"
    conll = "conll"
    hmm = "hmm"


class Transitions(StrEnum):
    """Schemes of tags."""

    bio = "bio"
    bioes = "bioes"


class Loss(StrEnum):
    """What an error in a sequence or a tree costs."""

    hamming = "hamming"
    bracket = "bracket"
    zero_one = "zero-one"


FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        rich_help_panel=CHAINS,
        show_default="auto",
        help="Columns (conll) or numbered features with qid: (hmm); auto looks at DATA.",
    ),
]
TemplateOption = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=CHAINS,
        show_default="default",
        help="What makes features of columns: default, chunking, pos or a file.",
    ),
]
LabelOption = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=CHAINS,
        show_default="-1",
        help="The column of the labels: 0 is the first, -1 the last.",
    ),
]
TransitionsOption = Annotated[
    Transitions | None,
    typer.Option(rich_help_panel=CHAINS, help="Predict only what this scheme of tags allows."),
]
StartStopOption = Annotated[
    bool,
    typer.Option("--start-stop", rich_help_panel=CHAINS, help="Weights for first and last labels."),
]
LossOption = Annotated[
    Loss | None,
    typer.Option(
        rich_help_panel=CHAINS,
        show_default="hamming; for trees bracket",
        help="Count wrong labels (hamming), wrong constituents (bracket, for trees), or outputs "
        "with any error.",
    ),
]


class ChainOptions(NamedTuple):
    """The options that only chains have, as they were given."""

    form: Format | None
    template: str | None
    label: int | None
    transitions: Transitions | None
    start_stop: bool

    def given(self) -> dict[str, Any]:
        """By their names; None for those that were not given."""
        return {
            "--format": self.form,
            "--template": self.template,
            "--label": self.label,
            "--transitions": self.transitions,
            "--start-stop": self.start_stop or None,
        }

    def parameters(
        self, C: float | None, loss: Loss | None
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters of a chain, and how to read the data."""
        if loss is Loss.bracket:
            raise typer.BadParameter("constituents are for 'train cfg'", param_hint="--loss")
        own = {
            "C": 0.1 if C is None else C,
            "template": self.template,
            "transitions": self.transitions and self.transitions.value,
            "start_stop": self.start_stop,
            "loss": (loss or Loss.hamming).value,
        }
        return own, {"form": (self.form or Format.auto).value, "label": self.label}


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command()(explain)
    app.command()(suspects)


def explain(
    model: Model,
    n: Annotated[int, typer.Option("-n", min=1, help="Weights of each sign.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the largest weights of each label, by the names of their features.

    Features without names are numbered as in the files, from 1 on.
    """
    from ...cli.commands import explain_model

    explain_model(model, n, as_json)


def suspects(
    model: Model,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Sequences with labels; - is standard input.")
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="How many sequences.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the sequences whose labels disagree most with the model: where to look for mistakes.

    The slack of a sequence is what it adds to the training loss. Shown are the labels of the file
    beside those that the model prefers most, given what each error costs.
    """
    from ...cli.commands import show_suspects

    show_suspects(model, data, n, as_json)
