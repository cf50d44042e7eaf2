"""The exceptions that maxmargin raises on purpose."""

from __future__ import annotations


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

    Examples
    --------
    >>> print(DataError("feature index 'x3' is not an integer", path="train.txt", line=17))
    train.txt, line 17: feature index 'x3' is not an integer
    """

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        place = [] if path is None else [path]
        if line is not None:
            place.append(f"line {line}")
        # The full text is the only argument: unpickling calls DataError(text) and then restores
        # the attributes, so the place is not written twice.
        super().__init__(f"{', '.join(place)}: {message}" if place else message)
        self.path = path
        self.line = line


class ModelFileError(MaxMarginError):
    """A model cannot be written to a file, or a file is not an intact maxmargin model."""


class CheckpointError(MaxMarginError):
    """A checkpoint cannot be written, is damaged, or belongs to another run."""


class ProblemError(MaxMarginError, ValueError):
    """A problem object written by the user misbehaves."""
