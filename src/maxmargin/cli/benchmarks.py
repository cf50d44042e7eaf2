"""Finds the benchmarks, which are in the repository but not in the installed package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import MaxMarginError


def find_benchmarks() -> Any:
    """The package ``benchmarks`` of the current folder, or of the clone that contains maxmargin.

    Raises
    ------
    MaxMarginError
        If it is in neither place.
    """
    for folder in (Path.cwd(), Path(__file__).parents[3]):
        if (folder / "benchmarks" / "framework").is_dir():
            sys.path.insert(0, str(folder))
            return import_module("benchmarks")
    raise MaxMarginError(
        "the benchmarks are not part of the installed package: run this command in a clone of the "
        "repository, which has them in the folder 'benchmarks'"
    )
