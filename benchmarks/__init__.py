"""The experiments: what the papers claim and what we claim, measured on this machine.

``run_benchmarks`` runs them, ``show_list`` says what there is. Importing this package loads
nothing heavy.
"""

from __future__ import annotations

from .framework.registry import Experiment, list_experiments
from .framework.runner import run_benchmarks, show_list

__all__ = ["Experiment", "list_experiments", "run_benchmarks", "show_list"]
