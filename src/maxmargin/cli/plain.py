"""Commands whose help and usage errors read the same with every version of typer.

Some versions print the type of a flag (``--quiet <bool>``) and the messages of the validation
library they use.
"""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

#: Messages for a value that the validation library refuses, by the beginning of its error type.
_MESSAGES = {
    "int": "{value!r} is not an integer",
    "float": "{value!r} is not a number",
    "greater_than_equal": "{value} is less than {ge}",
    "less_than_equal": "{value} is greater than {le}",
    "value_error": "{error}",
}


class _AsGiven:
    """The values of flags, which need no conversion."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value."""
        return value


class _Plain:
    """What commands and groups of commands share."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Arguments and options; flags are shown without a type.

        Flags are not converted, because the validation library takes longer to import than the
        help of a sub-command takes to print.
        """
        parameters = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
                if hasattr(parameter, "_runtime_param"):
                    parameter._runtime_param = _AsGiven()
        return parameters

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The parts of the usage line: ``DATA``, not ``{DATA}``, for a required argument."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]  # type: ignore[misc]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments; an invalid value is described in plain words."""
        try:
            return super().parse_args(ctx, args)  # type: ignore[misc]
        except typer.BadParameter as error:
            if hasattr(error.__cause__, "errors"):
                error.message = _describe(error.__cause__.errors()[0])  # type: ignore[union-attr]
            raise


def _describe(error: dict[str, Any]) -> str:
    """The message for an error of the validation library."""
    for kind, message in _MESSAGES.items():
        if error["type"].startswith(kind):
            return message.format(value=error["input"], **error.get("ctx", {}))
    return f"{error['input']!r} is not a valid value"


class PlainCommand(_Plain, TyperCommand):
    """A command."""


class PlainGroup(_Plain, TyperGroup):
    """A group of commands."""
