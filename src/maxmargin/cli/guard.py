"""What keeps the commands civil: one line for an error, and outputs checked before work begins."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from ..errors import MaxMarginError

#: What the shell expects of a program that Ctrl-C ended.
INTERRUPTED = 130


class GuardedGroup(TyperGroup):
    """Commands whose expected errors end in one line on stderr and an exit code, no traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _one_line_errors():
            outcome = super().invoke(ctx)
            sys.stdout.flush()  # or a full disk is noticed only after the exit code is decided
            return outcome


@contextmanager
def _one_line_errors() -> Iterator[None]:
    try:
        yield
    except MaxMarginError as error:
        _fail(str(error))
    except BrokenPipeError:
        # Python flushes stdout once more at its end, and would complain there.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        _fail("standard output was closed before everything was written")
    except OSError as error:
        place = "output" if error.filename is None else os.fsdecode(error.filename)
        _fail(f"{place}: {error.strerror or error}")
    except MemoryError as error:
        _fail(f"not enough memory: {str(error) or 'the data or the model are too large'}")
    except KeyboardInterrupt:
        _fail("interrupted, nothing was written", INTERRUPTED)


def _fail(message: str, code: int = 1) -> NoReturn:
    say("error", message, "bold red")
    raise typer.Exit(code)


def warn(message: str) -> None:
    """One yellow line on stderr."""
    say("warning", message, "bold yellow")


def say(kind: str, message: str, style: str) -> None:
    """``kind: message`` on stderr."""
    from rich.console import Console
    from rich.text import Text

    line = Text.assemble((f"{kind}: ", style), message)
    Console(stderr=True, highlight=False).print(line, soft_wrap=True)


def check_output(path: Path, source: str | None = None) -> None:
    """Raise now what would stop the writing of ``path`` after hours of training.

    Parameters
    ----------
    path : Path
    source : str, optional
        The file that is read: the output may not replace it.
    """
    if str(path) == "-":
        raise MaxMarginError("this file cannot be written to standard output: name a file")
    if path.is_dir():
        raise MaxMarginError(f"{path}: is a directory: name a file in it")
    if source is not None and path.exists() and Path(source).exists() and path.samefile(source):
        raise MaxMarginError(f"{path}: is the file that is read: name another file to write")
    if path.exists() and not path.is_file():
        return  # a device or a pipe is written in place
    folder = path.resolve().parent
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise MaxMarginError(f"{path}: cannot write to {folder}: {error.strerror}") from error


def checkpoint_option(path: Path | None, every: str, resume: bool) -> Any:
    """The options of a checkpoint as one object; refused where they do not fit together."""
    from ..saving.checkpoint import Checkpoint

    if path is None:
        if resume:
            raise MaxMarginError("--resume continues from a checkpoint: give --checkpoint FILE")
        return None
    check_output(path)
    return Checkpoint(path, every, resume)
