"""SVM-struct's programs, as commands of the same names and as subcommands of ``maxmargin``.

Nothing slow is imported here; ``learn.py`` and ``classify.py`` do the work.
"""

from __future__ import annotations

import typer

PROGRAMS = {
    "svm_hmm_learn": "Train a chain with SVM-HMM's options and files.",
    "svm_hmm_classify": "Tag sequences with a model of SVM-HMM.",
    "svm_multiclass_learn": "Train a classifier with SVM-multiclass's options and files.",
    "svm_multiclass_classify": "Classify with a model of SVM-multiclass.",
}

#: All arguments are passed on unchanged, because SVM-struct's options differ from ours, even -h.
_RAW = {
    "ignore_unknown_options": True,
    "allow_extra_args": True,
    "allow_interspersed_args": False,
    "help_option_names": [],
}


def register(app: typer.Typer) -> None:
    """Add the programs to the commands of ``app``."""
    for name, text in PROGRAMS.items():
        app.command(
            name,
            help=f"{text} **-?** lists the options.",
            context_settings=_RAW,
            add_help_option=False,
            rich_help_panel="Commands of SVM-struct",
        )(_command(name))


def _command(name: str):
    def command(context: typer.Context) -> None:
        run(name, context.args)

    return command


def run(program: str, arguments: list[str]) -> None:
    """Run one of the `PROGRAMS`; a wrong command line ends with exit code 2."""
    from ..cli.guard import say
    from .options import HelpRequested, UsageError, parse_classify, parse_learn

    try:
        if program.endswith("_learn"):
            learn_options = parse_learn(program, arguments)
            from .learn import learn

            learn(program, learn_options)
        else:
            classify_options = parse_classify(program, arguments)
            from .classify import classify

            classify(program, classify_options)
    except HelpRequested as request:
        print(request)
    except UsageError as error:
        say("error", f"{program}: {error}", "bold red")
        raise typer.Exit(2) from None
