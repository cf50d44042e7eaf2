"""The commands and their options; what they do is in ``commands`` and ``demo``.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..svm_struct import programs
from . import train
from .arguments import Data, Json, Model
from .guard import GuardedGroup

app = typer.Typer(
    cls=GuardedGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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
        Path | None,
        typer.Option("--out", "-o", help="Draw the convergence in this picture as well."),
    ] = None,
    report: Annotated[Path, typer.Option(help="Where the page goes.")] = Path(
        "maxmargin-demo.html"
    ),
) -> None:
    """Show why structure matters: read codes, tag words and parse sentences, and write a page."""
    from .demo import run

    run(out, report)


@app.command("compile")
def compile_ahead(
    structures: Annotated[
        list[str] | None,
        typer.Argument(help="Names of structures, such as chain; all by default."),
    ] = None,
) -> None:
    """Compile ahead of time what training and prediction call: for container images."""
    from .compile import compile_structures

    compile_structures(structures or [])


app.add_typer(train.make_app(), name="train")


@app.command()
def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str, typer.Option("--output", "-o", help="Where the labels go; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add the score of each class (one score for two)."),
    ] = False,
    unlabelled: Annotated[
        bool,
        typer.Option("--no-labels", help="For chains: no column of DATA holds labels."),
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
    draw: Annotated[
        bool, typer.Option("--draw", help="For parsers: draw the trees on standard output.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="For parsers: draw the trees into this .svg file.")
    ] = None,
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
    from ..structures.files import Wish
    from .commands import predict as write_predictions

    if m_best is None and diversity is not None:
        raise typer.BadParameter("is for --m-best", param_hint="--diversity")
    if m_best is not None and scores:
        raise typer.BadParameter("--m-best writes scores anyway", param_hint="--scores")
    if m_best is not None and (draw or svg is not None):
        raise typer.BadParameter("draws the best tree: no --m-best", param_hint="--draw/--svg")
    wish = Wish(scores, unlabelled, draw, svg)
    write_predictions(model, data, out, wish, m_best, diversity)


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


@app.command()
def explain(
    model: Model,
    n: Annotated[int, typer.Option("-n", min=1, help="Weights of each sign.")] = 10,
    as_json: Json = False,
) -> None:
    """Show the largest weights of each label, by the names of their features.

    Features without names are numbered as in the files, from 1 on.
    """
    from .commands import explain_model

    explain_model(model, n, as_json)


@app.command()
def suspects(
    model: Model,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="Sequences with labels; - is standard input.")
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="How many sequences.")] = 20,
    as_json: Json = False,
) -> None:
    """Show the sequences whose labels disagree most with the model: where to look for mistakes.

    The slack of a sequence is what it adds to the training loss. The labels of the file are shown
    next to those that the model prefers most, given what each error costs.
    """
    from .commands import show_suspects

    show_suspects(model, data, n, as_json)


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
    repeats: Annotated[
        int | None,
        typer.Option(help="Measurements of each setting: 3 by default, 1 with --quick."),
    ] = None,
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
    from .benchmarks import find_benchmarks

    benchmarks = find_benchmarks()

    if listed:
        benchmarks.show_list()
    else:
        code = benchmarks.run_benchmarks(
            names or [], data=data, out=out, quick=quick, repeats=repeats, fresh=fresh,
            report=report,
        )  # fmt: skip
        raise typer.Exit(code)


programs.register(app)


def main() -> None:
    """The entry point."""
    app()
