"""Passes at both speeds: compiled, the very code that training uses, and in plain Python."""

from __future__ import annotations

from typing import Any

import pytest

from maxmargin.engine.bind import interpret
from maxmargin.engine.shard import Shard

SPEEDS = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "interpreted"])


def make_shard(problem: Any, pack: Any, compiled: bool, n_jobs: int = 1) -> Shard:
    """Examples whose passes are compiled or interpreted."""
    return Shard(problem, pack, n_jobs, loops=None if compiled else interpret(problem.functions))
