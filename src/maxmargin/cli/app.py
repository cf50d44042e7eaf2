"""The commands and their options; what they do is in ``commands`` and ``demo``.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from . import cfg_app, chain_app, kernel_options, svm_struct
from .chain_app import CHAINS, Json, Model
from .guard import GuardedGroup, checkpoint_option

app = typer.Typer(
    cls=GuardedGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Examples in svmlight format, for chains in CoNLL's or SVM-HMM's, for grammars trees "
        "in brackets; plain or gzip; - is standard input.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"maxmargin {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Max-margin training with a certificate: structural SVMs on the command line.

    Start with **maxmargin demo**, which needs no data.

    Exit codes: 0 success, 1 error, 2 wrong usage, 130 stopped by Ctrl-C with nothing
    written.
    """


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Where the picture of the convergence goes.")
    ] = Path("maxmargin-demo.png"),
    report: Annotated[Path, typer.Option(help="Where the report goes.")] = Path(
        "maxmargin-demo.html"
    ),
) -> None:
    """Train on handwritten digits, explain the result, and draw a picture and a report of it."""
    from .demo import run

    run(out, report)


@app.command()
def train(
    structure: Annotated[Structure, typer.Argument(help="What is predicted.")],
    data: Data,
    model: Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")],
    C: Annotated[
        float | None,
        typer.Option(
            "--C",
            "-C",
            help="Weight of the sum of the losses.",
            show_default="1; for chains and trees 0.1",
        ),
    ] = None,
    solver: Annotated[
        str, typer.Option(help="A solver by name, such as one-slack; auto chooses.")
    ] = "auto",
    tol: Annotated[
        float,
        typer.Option(help="Stop when the average loss is proved to be so close to its optimum."),
    ] = 1e-2,
    rescaling: Annotated[
        Rescaling, typer.Option(help="How the loss enters: as a margin or as a slope.")
    ] = Rescaling.margin,
    class_weight: Annotated[
        ClassWeight | None, typer.Option(help="Weight classes against their frequencies.")
    ] = None,
    intercept: Annotated[
        bool, typer.Option("--intercept", help="Add a constant feature; not for chains.")
    ] = False,
    max_iter: Annotated[int, typer.Option(help="Limit of iterations.")] = 10_000,
    max_time: Annotated[float | None, typer.Option(help="Limit of seconds in the solver.")] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Threads, -1 for all cores; the model is the same.")
    ] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the random choices.")] = 0,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A file in which training is saved, against its loss.")
    ] = None,
    every: Annotated[str, typer.Option(help="How often it is saved: 30s, 5min, 1h.")] = "5min",
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the checkpoint if it is there.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the convergence: a .png, .svg or .pdf file.")
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a report: certificate, curves, errors, weights; a .html file."),
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other examples to evaluate on, for the report."),
    ] = None,
    quiet: Quiet = False,
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
    parameters = {
        "C": C,
        "solver": solver,
        "tol": tol,
        "rescaling": rescaling.value,
        "class_weight": class_weight.value if class_weight else None,
        "max_iter": max_iter,
        "max_time": max_time,
        "n_jobs": jobs,
        "random_state": seed,
        "checkpoint": checkpoint_option(checkpoint, every, resume),
        "verbose": int(not quiet),
    }
    kernels = kernel_options.read(kernel, gamma, degree, coef0, n_basis)
    if structure is Structure.cfg:
        chains = {
            "--format": form, "--template": template, "--label": label,
            "--transitions": transitions, "--start-stop": start_stop or None,
            "--intercept": intercept or None, "--class-weight": parameters.pop("class_weight"),
            "--kernel": kernels["kernel"],
        }  # fmt: skip
        own = cfg_app.structure_options(
            C, loss, features, given, functions, horizontal, refused=chains
        )
    else:
        parameters |= kernels
        cfg_app.refuse(structure.value, features, given, functions, horizontal)
        own = chain_app.structure_options(
            structure.value, C, intercept, form, template, label, transitions, start_stop, loss
        )
    source = own.pop("source")
    train_model(
        structure.value, data, model, parameters | own, plot, quiet, report=report, test=test,
        **source,
    )  # fmt: skip


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str, typer.Option("--output", "-o", help="Where the labels go; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool,
        typer.Option(
            "--scores", help="Add the score of each class (one score for two); not for chains."
        ),
    ] = False,
    unlabelled: Annotated[
        bool,
        typer.Option("--no-labels", rich_help_panel=CHAINS, help="No column of DATA holds labels."),
    ] = False,
    m_best: Annotated[
        int | None,
        typer.Option(
            "--m-best", metavar="M", help="Write the M best outputs of each example with scores."
        ),
    ] = None,
    diversity: Annotated[
        float | None,
        typer.Option(
            show_default="0",
            help="With --m-best: reward for each label, or penalty for each constituent that is "
            "that of an output before.",
        ),
    ] = None,
    draw: cfg_app.DrawOption = False,
    svg: cfg_app.SvgOption = None,
) -> None:
    """Predict one label a line, in the order of DATA.

    The targets in DATA are ignored, and so are features that training has not seen.

    For CoNLL files the output is the columns of DATA, then the predicted label, with a blank line
    between sequences: if the true label is the last column, conlleval reads it. DATA may lack the
    column of the labels: a file with one column fewer than the training file has none.

    For a parser DATA are plain sentences, one a line with blanks between words (word/TAG if it was
    trained with --input tagged), or trees, whose words are parsed. The output is one tree a line.

    With **--m-best M** a line has up to M pairs of a label and its score, best first. For chains
    each sequence is written up to M times, as CRF++ does: a line **# RANK SCORE**, from rank 0 on,
    its lines with the labels of this rank, and a blank line. For a parser a line is a score and a
    tree, and a blank line ends each sentence.
    """
    from .commands import predict_labels, predict_several

    if m_best is None:
        if diversity is not None:
            raise typer.BadParameter("is for --m-best", param_hint="--diversity")
        predict_labels(model, data, out, scores, unlabelled, draw, svg)
        return
    if scores:
        raise typer.BadParameter("--m-best writes scores anyway", param_hint="--scores")
    if draw or svg is not None:
        raise typer.BadParameter("draws the best tree: no --m-best", param_hint="--draw/--svg")
    predict_several(model, data, out, unlabelled, m_best, diversity)


@app.command()
def evaluate(
    model: Model,
    data: Data,
    as_json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw which label is taken for which: a .png, .svg or .pdf file; of a parser the "
            "trees with most errors: a .svg file."
        ),
    ] = None,
) -> None:
    """Compare predictions with the targets in DATA.

    Labels that training has not seen count as errors. For tags such as B-NP, entities are counted
    as conlleval does; constituents of trees as evalb does.
    """
    from .commands import evaluate_model

    evaluate_model(model, data, as_json, plot)


@app.command()
def info(model: Model, as_json: Json = False) -> None:
    """Show what a model is, how it was trained, and its certificate."""
    from .commands import show_model

    show_model(model, as_json)


chain_app.register(app)


@app.command()
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Experiments, or beginnings such as 002; all by default."
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say what there is.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(envvar="MAXMARGIN_DATA", help="The directory of the data sets."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller data, fewer settings.")] = False,
    repeats: Annotated[int, typer.Option(help="Measurements of each setting.")] = 3,
    out: Annotated[Path, typer.Option("--out", "-o", help="Where results and pictures go.")] = Path(
        "bench-results"
    ),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Measure again what has been measured already.")
    ] = False,
    report: Annotated[
        Path | None,
        typer.Option(help="Write verdicts, tables and curves to one .html file."),
    ] = None,
) -> None:
    """Run the experiments, with other programs beside us in the same run.

    Measurements are kept, so that a run that was stopped goes on where it stopped. The exit code
    is 1 when a claim does not hold.
    """
    from ..bench import run_benchmarks, show_list

    if listed:
        show_list()
    else:
        code = run_benchmarks(
            names or [], data=data, out=out, quick=quick, repeats=repeats, fresh=fresh,
            report=report,
        )  # fmt: skip
        raise typer.Exit(code)


svm_struct.register(app)


def main() -> None:
    """The entry point."""
    app()
