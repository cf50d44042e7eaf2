"""Objects that a command names as ``module:name``, such as a user's problem or tokenizer."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

from ..errors import MaxMarginError


def import_problem(name: str) -> Any:
    """The user's problem ``module:Name``: an instance, or a class that needs no arguments."""
    found = import_object(name)
    if not isinstance(found, type):
        return found
    try:
        return found()
    except Exception as error:
        raise MaxMarginError(
            f"{name} cannot be made without arguments ({type(error).__name__}: {error}): assign an "
            "object to a name of the module, and give that name"
        ) from error


def import_object(name: str) -> Any:
    """The object ``name`` of a module, which is in the current folder or installed.

    Parameters
    ----------
    name : str
        ``"module:name"``, as in ``"matching:Matching"``; the module may be in a package.

    Raises
    ------
    MaxMarginError
        If the module cannot be imported, or has no such name.
    """
    module_name, colon, attribute = name.partition(":")
    if not (colon and module_name and attribute):
        raise MaxMarginError(f"{name!r} is not a name such as module:Name")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise MaxMarginError(f"{module_name} cannot be imported: {error}") from error
        raise MaxMarginError(
            f"there is no module {module_name}: it must be installed, or be the file "
            f"{module_name.replace('.', '/')}.py in the current folder"
        ) from error
    except Exception as error:
        raise MaxMarginError(f"{module_name} cannot be imported: {error!r}") from error
    try:
        return getattr(module, attribute)
    except AttributeError:
        raise MaxMarginError(f"the module {module_name} has no {attribute!r}") from None
