"""Errors of commands as one line on stderr, and checks of output paths before work begins."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer

from ..errors import CheckpointError, MaxMarginError
from .plain import PlainGroup

#: The conventional exit code of a program that was ended by Ctrl-C.
INTERRUPTED = 130


class GuardedGroup(PlainGroup):
    """Commands that print expected errors as one line on stderr, without a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _one_line_errors():
            outcome = super().invoke(ctx)
            sys.stdout.flush()  # otherwise a full disk is noticed only after the exit code is set
            return outcome


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except CheckpointError as error:
        _fail(error.advise("--restart") if error.can_restart else str(error))
    except MaxMarginError as error:
        _fail(str(error))
    except BrokenPipeError:
        # Python flushes stdout again when it exits, which would raise another error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail("standard output was closed before everything was written")
    except OSError as error:
        place = "output" if error.filename is None else os.fsdecode(error.filename)
        _fail(f"{place}: {error.strerror or error}")
    except MemoryError as error:
        _fail(f"not enough memory: {str(error) or 'the data or the model is too large'}")
    except KeyboardInterrupt:
        _fail("interrupted, nothing was written", INTERRUPTED)


def _fail(message: str, code: int = 1) -> NoReturn:
    say("error", message, "bold red")
    raise typer.Exit(code)


def warn(message: str) -> None:
    """Print a warning on stderr."""
    say("warning", message, "bold yellow")


def say(kind: str, message: str, style: str) -> None:
    """Print ``kind: message`` on stderr."""
    from rich.console import Console
    from rich.text import Text

    from ..data.printable import printable

    line = Text.assemble((f"{kind}: ", style), printable(message, keep="\n"))
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def check_inputs(*paths: str | Path) -> None:
    """Raise an error now if one of the files to read is missing or not permitted.

    Commands call it before they import anything slow. Pipes are not opened: opening one twice
    would lose its content. Some structures read folders; the readers of others refuse them.
    """
    for path in map(str, paths):
        if path == "-":
            continue
        try:
            mode = os.stat(path).st_mode
            if not (stat.S_ISFIFO(mode) or stat.S_ISDIR(mode)):
                open(path, "rb").close()
        except OSError as error:
            raise MaxMarginError(f"{path}: cannot be read: {error.strerror or error}") from error


def check_output(path: Path, source: str | None = None) -> None:
    """Raise an error now if ``path`` could not be written after training.

    Parameters
    ----------
    path : Path
    source : str, optional
        The input file, which the output must not replace.
    """
    if str(path) == "-":
        raise MaxMarginError("this output cannot be written to standard output: name a file")
    if path.is_dir():
        raise MaxMarginError(f"{path}: is a directory: name a file in it")
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise MaxMarginError(f"{path}: is also the input file: name another output file")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written to directly
    folder = path.resolve().parent
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise MaxMarginError(f"{path}: cannot write to {folder}: {error.strerror}") from error
