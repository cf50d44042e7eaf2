"""Commands in this process, and what tests ask of their outcome."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from maxmargin.cli.app import app


def run(*arguments: Any, **options: Any) -> Any:
    """The outcome of ``maxmargin ARGUMENTS``."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def passed(*arguments: Any, **options: Any) -> Any:
    """The outcome of a command that succeeds."""
    outcome = run(*arguments, **options)
    assert outcome.exit_code == 0, (arguments, outcome.output, outcome.exception)
    return outcome


def error_of(outcome: Any, code: int = 1) -> str:
    """The one line of an error."""
    assert outcome.exit_code == code, outcome.output
    assert outcome.exception is None or isinstance(outcome.exception, SystemExit)
    lines = outcome.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: "), outcome.stderr
    return lines[0]
