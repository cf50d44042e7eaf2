"""Arguments and options that several commands have.

Nothing heavy is imported here: ``maxmargin --help`` must answer at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file of examples, in a format of the structure; plain or gzip; - is standard "
        "input.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A file written by train.")]
