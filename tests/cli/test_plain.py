"""Help and usage errors: flags look like flags, and messages are those of this program."""

from __future__ import annotations

import re

import pytest
import typer

from command_line import run
from maxmargin.cli.app import app

FOREIGN = re.compile(r"pydantic|Input should|Value error|<bool>|\{[A-Z]+\}|BOOLEAN")


def _commands(group, *path):
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        yield (*path, name), command
        if hasattr(command, "list_commands"):
            yield from _commands(command, *path, name)


#: All commands with their own options; SVM-struct's programs parse theirs themselves.
COMMANDS = {
    path: command
    for path, command in _commands(typer.main.get_command(app))
    if not path[0].startswith("svm_")
}


def _arguments(command):
    return [p for p in command.params if p.param_type_name == "argument" and p.required]


def test_there_are_commands():
    assert {("predict",), ("train", "chain"), ("train", "cfg")} <= set(COMMANDS)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_shows_flags_without_a_type(path):
    outcome = run(*path, "--help")
    assert outcome.exit_code == 0
    assert not FOREIGN.search(outcome.stdout)
    assert re.search(r"--help +-h +Show this message", outcome.stdout)


@pytest.mark.parametrize("path", [path for path, c in COMMANDS.items() if _arguments(c)])
def test_no_wrong_value_is_answered_in_foreign_words(path):
    command = COMMANDS[path]
    missing = ["missing"] * len(_arguments(command))
    for option in command.params:
        if option.param_type_name != "option" or option.is_flag:
            continue
        for value in ("-7", "1e999", "no such value"):
            outcome = run(*path, *missing, option.opts[0], value)
            assert outcome.exit_code in (1, 2), (option.opts, value)
            assert not FOREIGN.search(outcome.output), (option.opts, value, outcome.output)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-C", "x"], "Invalid value for '--C' / '-C': 'x' is not a number"),
        (["--max-iter", "1.5"], "Invalid value for '--max-iter': '1.5' is not"),
        (["--seed", "-1"], "Invalid value for '--seed': -1 is"),
        (["--rescaling", "big"], "'big' is not one of 'margin', 'slack'"),
        (["--quiet=maybe"], "Option '--quiet' does not take a value"),
    ],
)
def test_wrong_values(arguments, message):
    outcome = run("train", "chain", "missing", "-o", "m", *arguments)
    assert outcome.exit_code == 2
    assert message in outcome.stderr
