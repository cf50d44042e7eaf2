"""For all tests of the command line."""

import pytest


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    """Tables are not folded."""
    monkeypatch.setenv("COLUMNS", "100")
