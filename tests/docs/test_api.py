"""The API page has no blank entries: every parameter and attribute says what it is."""

import importlib
import inspect
import re
from itertools import pairwise
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "api.md"
NAMES = re.findall(r":: (maxmargin[\w.]+)(?:\n   :members:(.*))?", PAGE.read_text(encoding="utf8"))

#: Headings of sections whose entries are names, with a type and a description.
SECTIONS = ("Parameters", "Attributes")

HEADING = re.compile(r"^(\w+)\n-+$", re.MULTILINE)


def find(name):
    """An object by its name."""
    module, _, last = name.rpartition(".")
    return getattr(importlib.import_module(module), last)


def documented():
    """Each object of the page, and the members that it lists."""
    for name, members in NAMES:
        target = find(name)
        yield name, target
        for member in filter(None, (part.strip() for part in members.split(","))):
            yield f"{name}.{member}", getattr(target, member)


def entries(text):
    """Heading and description of each entry of the sections of a docstring."""
    parts = HEADING.split(inspect.cleandoc(text))
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        if title in SECTIONS:
            lines = [line for line in body.split("\n") if line.strip()]
            for line, following in pairwise([*lines, ""]):
                if not line.startswith(" "):
                    yield line, following.strip() if following.startswith(" ") else ""


DOCUMENTED = list(documented())


@pytest.mark.parametrize(("name", "target"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_no_entry_is_blank(name, target):
    text = target.__doc__
    assert text, f"{name} has no docstring"
    for heading, description in entries(text):
        assert description, f"{name}: {heading!r} says nothing"
        assert heading.count("(") == heading.count(")"), f"{name}: {heading!r}"


def test_the_page_lists_names():
    assert len(NAMES) > 40
