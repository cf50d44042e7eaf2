"""The commands and their options, apart from those of ``train`` and of ``models``.

Nothing slow is imported here, so that ``maxmargin --help`` answers at once.
"""

from __future__ import annotations

import gc
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..svm_struct import programs
from . import models, train
from .guard import GuardedGroup
from .plain import PlainCommand
from .postponed import postpone_imports

app = typer.Typer(
    cls=GuardedGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

command = partial(app.command, cls=PlainCommand)


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


@command()
def demo(
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write a convergence plot to this file.")
    ] = None,
    report: Annotated[Path, typer.Option(help="The HTML page to write.")] = Path(
        "maxmargin-demo.html"
    ),
) -> None:
    """Train on built-in examples, compare with unstructured models, and write an HTML page."""
    from .demo import run

    run(out, report)


@command("compile")
def compile_ahead(
    structures: Annotated[
        list[str] | None, typer.Argument(help="Names of structures, such as chain; all by default.")
    ] = None,
) -> None:
    """Compile the code of training and prediction ahead of time, such as for a container image."""
    from .compile import compile_structures

    compile_structures(structures or [])


app.add_typer(train.make_app(), name="train")


for each in models.COMMANDS:
    command()(each)


@command()
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME", help="Experiments, or prefixes of their names; default: all."
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments.")] = False,
    data: Annotated[
        Path | None, typer.Option(envvar="MAXMARGIN_DATA", help="The directory of the data sets.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Smaller data, fewer settings.")] = False,
    repeats: Annotated[
        int | None,
        typer.Option(help="Number of measurements per setting; default: 3, with --quick 1."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The directory for results and figures.")
    ] = Path("bench-results"),
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Repeat measurements that are already stored.")
    ] = False,
    report: Annotated[
        Path | None, typer.Option(help="Write verdicts, tables and curves to one .html file.")
    ] = None,
) -> None:
    """Run the benchmarks: maxmargin and other programs, measured in the same run.

    Measurements are stored, so that an interrupted run can be continued. The exit code is 1 if a
    claim does not hold.
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
    """The entry point.

    Python looks for unused objects after every 700 new ones, again and again among those of the
    imported modules. Looking less often saves 0.1 s of a short run.
    """
    gc.set_threshold(50_000, 20, 50)
    postpone_imports()
    app()
