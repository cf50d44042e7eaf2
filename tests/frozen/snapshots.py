"""The public interface as data: names and signatures, and the options of every command."""

from __future__ import annotations

import inspect
import re
from enum import Enum
from string import ascii_lowercase
from typing import Any, Literal, get_args, get_origin

import typer
from typer.testing import CliRunner

import maxmargin as mm

MODULES = ("datasets", "features", "io", "kernels", "metrics")
PROGRAMS = (
    "svm_hmm_learn", "svm_hmm_classify", "svm_multiclass_learn", "svm_multiclass_classify",
)  # fmt: skip
#: Users construct these; their methods are between them and the training loop.
SOLVERS = ("BCFW", "NSlack", "Newton", "OneSlack", "SDM", "SampledCuts", "Subgradient")


def api() -> dict[str, Any]:
    """Signatures of all public names, by module and name; of classes also their methods."""
    found = {"maxmargin": _module(mm)}
    return found | {f"maxmargin.{name}": _module(getattr(mm, name)) for name in MODULES}


def _module(module: Any) -> dict[str, Any]:
    return {name: _describe(getattr(module, name)) for name in sorted(module.__all__)}


def _describe(thing: Any) -> Any:
    if inspect.ismodule(thing):
        return "module"
    if not callable(thing):
        return type(thing).__name__
    if not inspect.isclass(thing):
        return _signature(thing)
    if issubclass(thing, Enum):
        return [member.name for member in thing]
    found = {"bases": _public_bases(thing), "()": _signature(thing)}
    return found if thing.__name__ in SOLVERS else found | _members(thing)


def _public_bases(cls: type) -> list[str]:
    """Public classes it is a kind of: what ``isinstance`` and ``except`` rely on."""
    public = [base for base in cls.__mro__[1:-1] if not base.__name__.startswith("_")]
    ours = {getattr(mm, name) for name in mm.__all__ if inspect.isclass(getattr(mm, name))}
    return [b.__name__ for b in public if b in ours or b.__module__ == "builtins"]


def _members(cls: type) -> dict[str, Any]:
    """Public methods and properties that this package defines, inherited ones included."""
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if not base.__module__.startswith("maxmargin"):
            continue
        for name, value in vars(base).items():
            if name.startswith("_"):
                continue
            value = inspect.unwrap(getattr(value, "__func__", value))
            if inspect.isfunction(value):
                members[name] = _signature(value)
            elif inspect.isdatadescriptor(value):
                members[name] = "attribute"
    return dict(sorted(members.items()))


def _signature(thing: Any) -> list[str]:
    """Parameters as they are written, without annotations; no list of them for C functions."""
    try:
        parameters = inspect.signature(thing).parameters.values()
    except ValueError:
        return ["..."]
    shown, keywords = [], False
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            keywords = True
        elif p.kind is p.KEYWORD_ONLY and not keywords:
            shown.append("*")
            keywords = True
        # A class as a default is its name, wherever it is defined.
        text = str(p.replace(annotation=p.empty))
        shown.append(re.sub(r"<class '(?:\w+\.)*(\w+)'>", r"\1", text))
    return shown


def commands() -> dict[str, Any]:
    """Arguments and options of every command, and the options that SVM-struct's programs take."""
    from maxmargin.cli.app import app

    group = typer.main.get_command(app)
    found: dict[str, Any] = {"maxmargin": _parameters(group)}
    found |= _commands("maxmargin", group)
    return found | {name: _letters(app, name) for name in PROGRAMS}


def _commands(prefix: str, group: Any) -> dict[str, Any]:
    """The commands of a group, also those that it makes when they are asked for."""
    found: dict[str, Any] = {}
    for name in sorted(group.list_commands(None)):
        command = group.get_command(None, name)
        found[f"{prefix} {name}"] = _parameters(command)
        if hasattr(command, "list_commands"):
            found |= _commands(f"{prefix} {name}", command)
    return found


def _parameters(command: Any) -> list[dict[str, Any]]:
    return sorted((_parameter(p) for p in command.params), key=lambda p: (p["kind"], p["names"]))


def _parameter(p: Any) -> dict[str, Any]:
    found = {
        "kind": p.param_type_name,
        "names": [p.name] if p.param_type_name == "argument" else sorted(p.opts + p.secondary_opts),
        "required": p.required,
        "default": None if p.default is None else str(getattr(p.default, "value", p.default)),
        "several": p.nargs != 1 or bool(getattr(p, "multiple", False)),
        "flag": bool(getattr(p, "is_flag", False)),
    }
    choices = _choices(p)
    return found | {"choices": choices} if choices else found


def _choices(p: Any) -> list[str]:
    """The values of a literal; where typer keeps them depends on its version."""
    if hasattr(p, "type"):
        return [str(value) for value in p.type.__dict__.get("choices", ())]
    return _literals(p.type_descriptor.annotation)


def _literals(annotation: Any) -> list[str]:
    """The values of ``Literal[...]``, also as a part of ``Literal[...] | None``."""
    if get_origin(annotation) is Literal:
        return [str(value) for value in get_args(annotation)]
    return [value for part in get_args(annotation) for value in _literals(part)]


def _letters(app: Any, program: str) -> list[str]:
    """Options a program knows: without its value each is refused, but not as unknown."""

    def answer(option: str) -> str:
        return CliRunner().invoke(app, [program, option]).output.replace(option, "OPTION")

    unknown = {dashes: answer(f"{dashes}Z") for dashes in ("-", "--")}
    candidates = [("-", letter) for letter in (*ascii_lowercase, "#", "?")]
    candidates += [("--", letter) for letter in ascii_lowercase]
    return [dashes + c for dashes, c in candidates if answer(dashes + c) != unknown[dashes]]
