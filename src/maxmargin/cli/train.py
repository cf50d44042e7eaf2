"""``maxmargin train``: one sub-command per structure, with the options of that structure.

The sub-commands are made from the registry. Nothing slow is imported here, so that ``maxmargin
train --help`` answers at once.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer.main import get_command_from_info
from typer.models import CommandInfo

from ..errors import MaxMarginError
from ..registry import get_structure, structure_names
from ..structures.base import Structure
from ..structures.options import SOLVER_OPTIONS
from .arguments import Data, SeveralData
from .guard import check_inputs, warn
from .named import import_problem
from .plain import PlainCommand, PlainGroup

OutputOption = Annotated[Path, typer.Option("--output", "-o", help="The model file to write.")]
PlotOption = Annotated[
    Path | None, typer.Option(help="Write a convergence plot to this .png, .svg or .pdf file.")
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        help="Write a report to this .html file: certificate, convergence, errors, weights."
    ),
]
TestOption = Annotated[
    str | None, typer.Option(metavar="DATA", help="Test examples, evaluated in the report.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Print only warnings and errors.")]

#: Options of every sub-command, in addition to those of its structure.
COMMON: dict[str, tuple[Any, Any]] = {
    "plot": (PlotOption, None),
    "report": (ReportOption, None),
    "test": (TestOption, None),
    "quiet": (QuietOption, False),
}


class TrainGroup(PlainGroup):
    """The structures of the registry as sub-commands, which are made when they are needed."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The structures that can be trained from files, and how to name a user's own problem."""
        found = [s for name in structure_names() if (s := _structure(name)) is not None]
        return [s.name for s in found if not s.takes_problem] + [
            OWN for s in found if s.takes_problem
        ]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of one structure, or of a user's problem."""
        structure = _find(cmd_name)
        if structure is None:
            known = ", ".join(self.list_commands(ctx))
            raise typer.BadParameter(f"there is no structure {cmd_name!r}: use one of {known}", ctx)
        more = OWN_NOTES if structure.takes_problem else ""
        info = CommandInfo(
            name=cmd_name,
            cls=PlainCommand,
            callback=_callback(structure, cmd_name),
            help=f"Learn to predict {structure.summary}.\n\n{more}{NOTES}",
            short_help=structure.summary,
            context_settings={"help_option_names": ["-h", "--help"]},
        )
        return get_command_from_info(
            info, pretty_exceptions_short=True, rich_markup_mode="markdown"
        )


_LISTED = "\n".join(f"- **{solver}**: {names}" for solver, names in SOLVER_OPTIONS.items())

NOTES = f"""If a limit or Ctrl-C ends training early, the best model so far is written, a warning
says how far it can be from the optimum, and the exit code is 0.

Solvers and what **--solver-option** can set (paper=yes: the settings of the paper):

{_LISTED}"""


#: The name of a user's problem in the list of commands.
OWN = "module:Class"

OWN_NOTES = """The problem is a Problem or CompiledProblem, a class or an instance, in a module of
the current folder or an installed one. DATA is read by its method read_examples(path), which
returns (X, Y), or else it is an .npz file with arrays X and Y whose first axis is the examples.

"""


def _find(name: str) -> Structure | None:
    """The structure with this name; for ``module:Class`` that of users' problems."""
    if ":" not in name:
        found = _structure(name) if name in structure_names() else None
        return found if found is not None and not found.takes_problem else None
    known = (_structure(each) for each in structure_names())
    return next((s for s in known if s is not None and s.takes_problem), None)


def _structure(name: str) -> Structure | None:
    """The structure if it can be trained from files; None otherwise, or if it is broken."""
    try:
        structure = get_structure(name)
    except MaxMarginError as error:
        warn(f"{error}; it is skipped")
        return None
    return structure if structure.trains_from_files else None


def _callback(structure: Structure, command: str) -> Any:
    """A function whose parameters are the options of a structure."""
    options = structure.options
    types = get_type_hints(options)
    own = {
        f.name: (Annotated[types[f.name], f.metadata["option"]], f.default)
        for f in fields(options)
        if "option" in f.metadata
    }

    def train(data: str | list[str], output: Path, **given: Any) -> None:
        test, paths = given["test"], data if isinstance(data, list) else [data]
        check_inputs(*paths, *([] if test is None else [test]))
        from .commands import train_model

        common = {name: given.pop(name) for name in COMMON}
        if structure.takes_problem:
            given["problem"] = import_problem(command)
        train_model(structure, paths, output, options(**given), **common)

    keyword, empty = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.empty
    data = SeveralData if "cache" in own else Data
    kinds = {"data": (data, empty), "output": (OutputOption, empty)} | own | COMMON
    train.__annotations__ = {name: kind for name, (kind, _) in kinds.items()}
    parameters = [
        inspect.Parameter(name, keyword, default=default, annotation=kind)
        for name, (kind, default) in kinds.items()
    ]
    train.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return train


def make_app() -> typer.Typer:
    """The group of sub-commands."""
    app = typer.Typer(
        cls=TrainGroup,
        no_args_is_help=True,
        rich_markup_mode="markdown",
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def train() -> None:
        """Train a model and write it to a file: **maxmargin train chain train.txt -o model.mm**."""

    return app
