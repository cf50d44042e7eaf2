"""The options of the commands that take a model file; their code is in ``commands`` and ``show``.

Nothing slow is imported here, so that ``maxmargin --help`` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .arguments import Data, Jobs, Json, Model, ProblemOption
from .guard import check_inputs


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        str, typer.Option("--output", "-o", help="The file to write; - is standard output.")
    ] = "-",
    scores: Annotated[
        bool,
        typer.Option("--scores", help="Add the score of each class (one score for two classes)."),
    ] = False,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities",
            help="Add probabilities: of each class, of each label of a token, of a whole tree. "
            "Needs a model that 'maxmargin calibrate' wrote.",
        ),
    ] = False,
    unlabelled: Annotated[
        bool, typer.Option("--no-labels", help="For chains: DATA has no column of labels.")
    ] = False,
    raw: Annotated[
        bool,
        typer.Option("--raw", help="For chains: DATA contains plain sentences, one per line."),
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            show_default="spaces",
            help="With --raw: how lines are split. spaces; words, which also separates "
            "punctuation; or a function from a line to its words, as module:function.",
        ),
    ] = None,
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
            help="With --m-best: reward for each label that differs from an earlier output; for "
            "parsers: penalty for each constituent that an earlier tree has.",
        ),
    ] = None,
    draw: Annotated[
        bool, typer.Option("--draw", help="For parsers: draw the trees on standard output.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option("--svg", help="For parsers: draw the trees to this .svg file.")
    ] = None,
    jobs: Jobs = None,
    problem: ProblemOption = None,
) -> None:
    """Predict one label per line, in the order of DATA.

    The targets in DATA are ignored, and so are features that are not in the training data.

    For CoNLL files the output has the columns of DATA followed by the predicted label, with a
    blank line between sequences; conlleval can read it if the true label is the last column. DATA
    may have no column of labels: this is assumed if it has one column fewer than the training
    file.

    For a parser DATA contains plain sentences, one per line with blanks between words (word/TAG if
    it was trained with --input tagged), or trees, whose words are parsed. The output has one tree
    per line.

    With **--probabilities** a label is followed by the probabilities of all classes, for chains
    as **label:probability**. A line with a tree begins with the probability that
    the whole tree is right.

    With **--m-best M** a line has up to M pairs of a label and its score, best first. For chains
    each sequence is written up to M times, as CRF++ does: a line **# RANK SCORE** (ranks start at
    0), the tokens with the labels of this rank, and a blank line. For a parser a line has a score
    and a tree, and a blank line ends each sentence.
    """
    if m_best is None and diversity is not None:
        raise typer.BadParameter("needs --m-best", param_hint="--diversity")
    if m_best is not None and scores:
        raise typer.BadParameter("--m-best always writes scores", param_hint="--scores")
    if m_best is not None and (draw or svg is not None):
        raise typer.BadParameter(
            "draws the best tree only: leave out --m-best", param_hint="--draw/--svg"
        )
    if probabilities and (scores or m_best is not None):
        raise typer.BadParameter(
            "--scores and --m-best write scores: give one of them", param_hint="--probabilities"
        )
    check_inputs(model, data)
    from ..structures.files import Wish
    from .commands import find_tokenizer
    from .commands import predict as write_predictions

    if tokenizer is not None and not raw:
        raise typer.BadParameter("needs --raw", param_hint="--tokenizer")
    split = find_tokenizer(tokenizer or "spaces") if raw else None
    wish = Wish(scores, unlabelled, draw, svg, split, probabilities)
    write_predictions(model, data, out, wish, m_best, diversity, problem, jobs)


def calibrate(
    model: Model,
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="Examples that MODEL was not trained on; - is standard input."
        ),
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help="The calibrated model to write.")],
    method: Annotated[
        Literal["sigmoid", "isotonic"],
        typer.Option(
            help="A logistic curve, or a step function, which needs about a thousand examples."
        ),
    ] = "sigmoid",
) -> None:
    """Fit probabilities to the predictions of a model on held-out DATA.

    The model that is written makes the same predictions. **predict --probabilities** needs it.
    """
    check_inputs(model, data)
    from .commands import calibrate_model

    calibrate_model(model, data, out, method)


def prune(
    model: Model,
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The training data; - is standard input.")
    ],
    out: Annotated[Path, typer.Option("--output", "-o", help="The smaller model to write.")],
    below: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Remove weights smaller than this fraction of the largest."
        ),
    ] = 0.01,
) -> None:
    """Remove small weights of a tagger or parser, and say what this costs.

    The objective is computed again on the training data, so that the certificate of the new model
    is that of its own weights.
    """
    check_inputs(model, data)
    from .commands import prune_model

    prune_model(model, data, out, below)


def evaluate(
    model: Model,
    data: Data,
    as_json: Json = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the confusion matrix to this .png, .svg or .pdf file; for a parser draw "
            "the trees with most errors to this .svg file."
        ),
    ] = None,
    jobs: Jobs = None,
    problem: ProblemOption = None,
) -> None:
    """Compare predictions with the targets in DATA.

    Labels that are not in the training data count as errors. For tags such as B-NP, entities are
    counted as by conlleval; constituents of trees are counted as by evalb.
    """
    check_inputs(model, data)
    from .commands import evaluate_model

    evaluate_model(model, data, as_json, plot, problem, jobs)


def info(model: Model, as_json: Json = False) -> None:
    """Show the content of a model file, how it was trained, and its certificate."""
    check_inputs(model)
    from .show import show_model

    show_model(model, as_json)


def explain(
    model: Model,
    n: Annotated[
        int, typer.Option("-n", min=1, help="Number of positive and of negative weights per label.")
    ] = 10,
    as_json: Json = False,
    problem: ProblemOption = None,
) -> None:
    """Show the largest positive and negative weights of each label, with the feature names.

    Features without names are numbered as in data files, starting from 1.
    """
    check_inputs(model)
    from .commands import explain_model

    explain_model(model, n, as_json, problem)


def suspects(
    model: Model,
    data: Annotated[
        str,
        typer.Argument(metavar="DATA", help="Examples with true outputs; - is standard input."),
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="Number of examples.")] = 20,
    as_json: Json = False,
    problem: ProblemOption = None,
) -> None:
    """Show the examples whose outputs disagree most with the model, to find labelling errors.

    They are sorted by slack, the hinge loss of an example. The output in the file is shown next
    to the one that violates the margin most.
    """
    check_inputs(model, data)
    from .commands import show_suspects

    show_suspects(model, data, n, as_json, problem)


#: In the order of the help.
COMMANDS = (predict, calibrate, prune, evaluate, info, explain, suspects)
