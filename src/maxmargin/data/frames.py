"""Results as data frames, where pandas is installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from ..errors import MaxMarginError


def data_frame(rows: Iterable[dict[str, Any]], columns: Sequence[str] | None = None) -> Any:
    """A ``pandas.DataFrame`` with one row per dict.

    Raises
    ------
    MaxMarginError
        If pandas is not installed, which nothing else needs.
    """
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise MaxMarginError(
            "to_frame() needs pandas: install it with 'pip install pandas'"
        ) from error
    return pandas.DataFrame(list(rows), columns=None if columns is None else list(columns))
