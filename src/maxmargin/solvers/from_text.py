"""Solvers from text: ``--solver one-slack --solver-option cache=10`` on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

from ..errors import DataError
from . import solver_names
from .base import Solver

#: The option that stands for the settings of a solver's paper, where it has some.
PAPER = "paper"

_FLAGS = {"yes": True, "true": True, "no": False, "false": False}
_WORDS = {int: "an integer", float: "a number", bool: "yes or no", NoneType: "none", str: "a word"}


def make_solver(name: str, settings: Sequence[str]) -> Solver:
    """A solver from its name and options such as ``"cache=10"``.

    Parameters
    ----------
    name : str
        A name of ``solver_names``. "auto" has no options.
    settings : sequence of str
        ``"option=value"``; the later one counts if an option is given twice.

    Raises
    ------
    DataError
        If the solver or the option does not exist, or the value has a wrong type or range.

    Examples
    --------
    >>> make_solver("n-slack", ["batch=20", "shrink=yes"])
    NSlack(batch=20, shrink=True)
    """
    known = solver_names()
    if name == "auto":
        raise DataError(
            "--solver-option needs a solver, because options differ between solvers: give "
            f"--solver, one of {', '.join(known)}"
        )
    if name not in known:
        raise DataError(f"solver {name!r} is not one of {', '.join(known)}")
    cls, variant = known[name]
    types = option_types(cls)
    given = dict(_parse(name, setting, types) for setting in settings)
    paper: Any = getattr(cls, "from_paper", None)
    solver: Any = paper() if given.pop(PAPER, False) else cls(**variant)
    return replace(solver, **given)


def option_types(cls: Any) -> dict[str, Any]:
    """The options of a solver by name, with their types."""
    hints = get_type_hints(cls)
    found = {f.name: hints[f.name] for f in fields(cls)}
    return found | ({PAPER: bool} if hasattr(cls, "from_paper") else {})


def _parse(solver: str, setting: str, types: dict[str, Any]) -> tuple[str, Any]:
    name, equals, text = setting.partition("=")
    name = name.strip().replace("-", "_")
    if not equals:
        raise DataError(f"--solver-option {setting}: write it as name=value, as in cache=10")
    if name not in types:
        known = f"use one of {', '.join(types)}" if types else "it has none"
        raise DataError(f"{solver} has no option {name!r}: {known}")
    kinds = _kinds(types[name])
    for kind in kinds:
        try:
            return name, _convert(text.strip(), kind)
        except ValueError:
            continue
    wanted = " or ".join(_WORDS.get(kind, "two numbers, as in 1,2") for kind in kinds)
    raise DataError(f"--solver-option {setting}: {text!r} is not {wanted}")


def _kinds(hint: Any) -> list[Any]:
    """The types that a value may have, words last, because every text is a word."""
    kinds = list(get_args(hint)) if isinstance(hint, UnionType) else [hint]
    return sorted(kinds, key=lambda kind: kind is str)


def _convert(text: str, kind: Any) -> Any:
    """The text as a value of this type; a ValueError if it is none."""
    if kind is NoneType:
        if text.lower() != "none":
            raise ValueError
        return None
    if kind is bool:
        if text.lower() not in _FLAGS:
            raise ValueError
        return _FLAGS[text.lower()]
    if get_origin(kind) is tuple:
        parts, kinds = text.split(","), get_args(kind)
        return tuple(_convert(part, one) for part, one in zip(parts, kinds, strict=True))
    return kind(text)
