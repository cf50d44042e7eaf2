"""The solvers that tests go through, from the registry: a new one is tested without a line here."""

from __future__ import annotations

from typing import Any

from maxmargin.solvers import solver_names


def all_solvers() -> dict[str, Any]:
    """Every solver for problems without a kernel, with its options by default, by name."""
    return {name: cls(**options) for name, (cls, options) in solver_names(False).items()}
