"""How the tests are divided between the processes of ``pytest -n``, and Hypothesis' settings."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes depends on the machine, and the first one may compile.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

#: Files whose tests are divided by the first part of their parameters, the name of a structure.
DIVIDED = "test_every_structure.py"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: Any, log: Any) -> Any:
    """Each process takes a file at a time: tests of one file need the same compiled code.

    The tests of every structure are one file, which would be the longest by far. They are taken a
    structure at a time.
    """
    from xdist.scheduler import LoadFileScheduling

    class ByFileOrStructure(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            name = re.search(r"\[(\w+)-", nodeid) if file.endswith(DIVIDED) else None
            return file if name is None else f"{file} {name[1]}"

    return ByFileOrStructure(config, log) if config.getvalue("dist") == "loadfile" else None
