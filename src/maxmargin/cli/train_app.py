"""The command ``train`` and the options that all structures share; its work is in ``commands``.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from ..structures.cfg import options as cfg_app
from ..structures.chain import options as chain_app
from . import kernel_options
from .arguments import Data, refuse
from .guard import checkpoint_option


class Structure(StrEnum):
    """What is predicted."""

    binary = "binary"
    multiclass = "multiclass"
    chain = "chain"
    cfg = "cfg"


class Rescaling(StrEnum):
    """How the loss enters the objective."""

    margin = "margin"
    slack = "slack"


class ClassWeight(StrEnum):
    """How classes are weighted."""

    balanced = "balanced"


StructureArgument = Annotated[Structure, typer.Argument(help="What is predicted.")]
OutputOption = Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")]
COption = Annotated[
    float | None,
    typer.Option(
        "--C",
        "-C",
        help="Weight of the sum of the losses.",
        show_default="1; for chains and trees 0.1",
    ),
]
SolverOption = Annotated[
    str, typer.Option(help="A solver by name, such as one-slack; auto chooses.")
]
TolOption = Annotated[
    float,
    typer.Option(help="Stop when the average loss is proved to be so close to its optimum."),
]
RescalingOption = Annotated[
    Rescaling, typer.Option(help="How the loss enters: as a margin or as a slope.")
]
ClassWeightOption = Annotated[
    ClassWeight | None, typer.Option(help="Weight classes against their frequencies.")
]
InterceptOption = Annotated[
    bool, typer.Option("--intercept", help="Add a constant feature; not for chains.")
]
MaxIterOption = Annotated[int, typer.Option(help="Limit of iterations.")]
MaxTimeOption = Annotated[float | None, typer.Option(help="Limit of seconds in the solver.")]
JobsOption = Annotated[
    int, typer.Option("--jobs", "-j", help="Threads, -1 for all cores; the model is the same.")
]
SeedOption = Annotated[int, typer.Option(help="Seed of the random choices.")]
CheckpointOption = Annotated[
    Path | None, typer.Option(help="A file in which training is saved, against its loss.")
]
EveryOption = Annotated[str, typer.Option(help="How often it is saved: 30s, 5min, 1h.")]
ResumeOption = Annotated[
    bool, typer.Option("--resume", help="Continue from the checkpoint if it is there.")
]
PlotOption = Annotated[
    Path | None, typer.Option(help="Draw the convergence: a .png, .svg or .pdf file.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(help="Write a report: certificate, curves, errors, weights; a .html file."),
]
TestOption = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="Other examples to evaluate on, for the report."),
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command()(train)


def train(
    structure: StructureArgument,
    data: Data,
    model: OutputOption,
    C: COption = None,
    solver: SolverOption = "auto",
    tol: TolOption = 1e-2,
    rescaling: RescalingOption = Rescaling.margin,
    class_weight: ClassWeightOption = None,
    intercept: InterceptOption = False,
    max_iter: MaxIterOption = 10_000,
    max_time: MaxTimeOption = None,
    jobs: JobsOption = 1,
    seed: SeedOption = 0,
    checkpoint: CheckpointOption = None,
    every: EveryOption = "5min",
    resume: ResumeOption = False,
    plot: PlotOption = None,
    report: ReportOption = None,
    test: TestOption = None,
    quiet: QuietOption = False,
    kernel: kernel_options.KernelOption = kernel_options.KernelName.linear,
    gamma: kernel_options.GammaOption = "scale",
    degree: kernel_options.DegreeOption = 3,
    coef0: kernel_options.Coef0Option = 0.0,
    n_basis: kernel_options.BasisOption = None,
    form: chain_app.FormatOption = None,
    template: chain_app.TemplateOption = None,
    label: chain_app.LabelOption = None,
    transitions: chain_app.TransitionsOption = None,
    start_stop: chain_app.StartStopOption = False,
    loss: chain_app.LossOption = None,
    features: cfg_app.FeaturesOption = None,
    given: cfg_app.InputOption = None,
    functions: cfg_app.FunctionsOption = False,
    horizontal: cfg_app.HorizontalOption = None,
) -> None:
    """Train a model and write it to a file.

    **train chain** labels the tokens of sequences, from columns of text (CoNLL) or from numbered
    features (SVM-HMM). **train cfg** makes a parser of trees in brackets.

    When a limit or Ctrl-C ends training early, the best model so far is written, with a warning
    that tells how far from the optimum it can be, and the exit code is 0. Lines with a
    **cost:** are weighted by it, except in chains.
    """
    from .commands import train_model

    if not 0 <= seed < 2**32:
        raise typer.BadParameter("a seed lies between 0 and 2^32 - 1", param_hint="--seed")
    common = {
        "solver": solver, "tol": tol, "rescaling": rescaling.value, "max_iter": max_iter,
        "max_time": max_time, "n_jobs": jobs, "random_state": seed,
        "checkpoint": checkpoint_option(checkpoint, every, resume), "verbose": int(not quiet),
    }  # fmt: skip
    of_features = kernel_options.read(kernel, gamma, degree, coef0, n_basis)
    of_features["class_weight"] = class_weight.value if class_weight else None
    chains = chain_app.ChainOptions(form, template, label, transitions, start_stop)
    trees = cfg_app.TreeOptions(features, given, functions, horizontal)
    own, source = structure_options(structure, C, loss, intercept, of_features, chains, trees)
    train_model(
        structure.value, data, model, common | own, plot, quiet, report=report, test=test, **source
    )


def structure_options(
    structure: Structure,
    C: float | None,
    loss: chain_app.Loss | None,
    intercept: bool,
    of_features: dict[str, Any],
    chains: chain_app.ChainOptions,
    trees: cfg_app.TreeOptions,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parameters that not all structures have, and how to read the data.

    ``of_features`` are parameters of kernels and classes, which parsers do not have.

    Raises
    ------
    typer.BadParameter
        If an option was given that the structure has no use for.
    """
    constant = {"--intercept": intercept or None}
    if structure is Structure.cfg:
        others = {
            **chains.given(), **constant,
            "--class-weight": of_features["class_weight"], "--kernel": of_features["kernel"],
        }  # fmt: skip
        refuse(others, "this option is not for 'train cfg'")
        return trees.parameters(C, loss)
    not_here = f"not for 'train {structure.value}'"
    refuse(trees.given(), f"this option is for 'train cfg', {not_here}")
    if structure is Structure.chain:
        own, source = chains.parameters(C, loss)
        refuse(constant, f"this option is for 'train binary' and 'train multiclass', {not_here}")
        return of_features | own, source
    refuse(chains.given() | {"--loss": loss}, f"this option is for 'train chain', {not_here}")
    return of_features | {"C": 1.0 if C is None else C, "fit_intercept": intercept}, {}
