"""The exceptions that maxmargin raises on purpose."""

from __future__ import annotations

import re
from typing import Any


class MaxMarginError(Exception):
    """Base class: catch it to catch every error that maxmargin raises on purpose."""


class DataError(MaxMarginError, ValueError):
    """The data given by the user cannot be used.

    Parameters
    ----------
    message : str
        What is wrong, and what to do about it.
    path : str, optional
        The file that holds the data.
    line : int, optional
        The line of the file, counted from 1.
    sequence, token : int, optional
        Numbers of the sequence and of its token that the message names, counted from 0; -1 is the
        last token.
    label : optional
        A label that is wrong wherever it occurs.

    Examples
    --------
    >>> print(DataError("feature index 'x3' is not an integer", path="train.txt", line=17))
    train.txt, line 17: feature index 'x3' is not an integer
    """

    def __init__(
        self,
        message: str,
        path: str | None = None,
        line: int | None = None,
        *,
        sequence: int | None = None,
        token: int | None = None,
        label: Any = None,
    ) -> None:
        self.message, self.sequence, self.token, self.label = message, sequence, token, label
        place = [] if path is None else [path]
        if line is not None:
            place.append(f"line {line}")
        # The full text is the only argument, because unpickling calls DataError(text) and then
        # restores the attributes; otherwise the place would appear twice.
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.path = path
        self.line = line

    def counted_from_one(self) -> str:
        """The message with sequence and token counted from 1, as in a file."""
        message = self.message
        for what, number in (("sequence", self.sequence), ("token", self.token)):
            if number is not None:
                message = re.sub(rf"\b{what} {number}\b", f"{what} {number + 1}", message)
        return message


class ModelFileError(MaxMarginError):
    """A model cannot be written to a file, or a file is not a valid maxmargin model."""


class CheckpointError(MaxMarginError):
    """A checkpoint cannot be written, is damaged, or belongs to another run.

    Parameters
    ----------
    reason : str
        What is wrong.
    can_restart : bool
        Whether another file or a new start would help; the message then says how.
    """

    def __init__(self, reason: str, can_restart: bool = False) -> None:
        self.reason, self.can_restart = reason, can_restart
        super().__init__(self.advise("resume=False") if can_restart else reason)

    def advise(self, restart: str) -> str:
        """The message, with ``restart`` as the way to overwrite the file."""
        return f"{self.reason}; use another file, or start again with {restart}"

    def __reduce__(self) -> Any:
        return type(self), (self.reason, self.can_restart)


class ProblemError(MaxMarginError, ValueError):
    """A problem object written by the user has an error."""
