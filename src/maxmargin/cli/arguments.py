"""Arguments and options that several commands share.

Nothing slow is imported here, so that ``maxmargin --help`` answers at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file of examples, in a format of the structure, plain or gzipped; - is standard "
        "input.",
    ),
]
SeveralData = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help="Files of examples, in a format of the structure, plain or gzipped; - is standard "
        "input. Several files need --cache.",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        "-j",
        show_default="as in training",
        help="Number of threads, -1 for all cores; predictions do not depend on it.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
ProblemOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODULE:CLASS",
        help="For a model of your own problem, whose code is not in the file: the problem it was "
        "trained with.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by train.")]
