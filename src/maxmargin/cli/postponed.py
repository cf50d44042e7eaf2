"""Imports that are postponed until something is used of them, so that commands start faster.

scikit-learn imports scipy.stats and pandas at once, for functions that the commands hardly need:
half of the time in which ``maxmargin train`` starts.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from typing import Any

POSTPONED = frozenset({"scipy.stats", "pandas"})


class Postponed(MetaPathFinder):
    """Finds these modules as usual, but runs their code when an attribute is first used."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """The usual spec with a lazy loader."""
        spec = PathFinder.find_spec(fullname, path, target) if fullname in POSTPONED else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


def postpone_imports() -> None:
    """Postpone the imports of this process that are slow and rarely needed."""
    sys.meta_path.insert(0, Postponed())
