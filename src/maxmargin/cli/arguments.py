"""Arguments and options that several commands have.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

#: Heading of the options for sequences.
CHAINS = "Options for chains"

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="Examples in svmlight format, for chains in CoNLL's or SVM-HMM's, for grammars trees "
        "in brackets; plain or gzip; - is standard input.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by train.")]


def refuse(given: dict[str, Any], why: str) -> None:
    """An error for the first of these options that was given, that is, not None."""
    for name, value in given.items():
        if value is not None:
            raise typer.BadParameter(why, param_hint=name)
