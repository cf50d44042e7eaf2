"""Who imports whom, beyond what import-linter's layers say: imports inside functions count too."""

import re
import runpy
from functools import cache
from pathlib import Path

import grimp
import pytest

from maxmargin.registry import _found

#: The files of a structure's folder that may know the estimator, the command line and the report.
HIGH = ("estimator", "files", "options", "show", "model", "tiny")

#: Structures that may import another one: an image is a graph, and has its weights and decoders.
BUILT_ON = {"grid": "graph"}

BUILT_IN = sorted(name for name, where in _found().items() if isinstance(where, str))


@cache
def graph():
    return grimp.build_graph("maxmargin", exclude_type_checking_imports=True)


def folder(name):
    return f"maxmargin.structures.{name}"


def inside(module, package):
    return module == package or module.startswith(f"{package}.")


def imported_by(module):
    return graph().find_modules_directly_imported_by(module)


def modules(package):
    return sorted(module for module in graph().modules if inside(module, package))


def test_there_are_structures():
    assert {"binary", "cfg", "chain", "multiclass", "own"} <= set(BUILT_IN)
    assert all(len(modules(folder(name))) > 2 for name in BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_no_structure_imports_another_one(name):
    others = [folder(other) for other in BUILT_IN if other not in (name, BUILT_ON.get(name))]
    for module in modules(folder(name)):
        for target in imported_by(module):
            assert not any(inside(target, other) for other in others), f"{module} -> {target}"


@pytest.mark.parametrize("room", ["registry", "cli", "report", "saving", "estimators", "engine"])
def test_only_structures_know_structures_by_name(room):
    """The registry imports folders by their names in the file system; the others ask it."""
    for module in modules(f"maxmargin.{room}"):
        for target in imported_by(module):
            match = re.match(r"maxmargin\.structures\.(\w+)", target)
            assert match is None or match[1] not in BUILT_IN, f"{module} -> {target}"


@pytest.mark.parametrize("name", BUILT_IN)
def test_problems_do_not_know_what_is_built_on_them(name):
    """The problem of a structure, and what it reaches in the folder, import none of the HIGH."""
    home = folder(name)
    reached, waiting = set(), [f"{home}.problem"] if f"{home}.problem" in graph().modules else []
    while waiting:
        module = waiting.pop()
        if module in reached:
            continue
        reached.add(module)
        for target in imported_by(module):
            assert target not in {f"{home}.{high}" for high in HIGH}, f"{module} -> {target}"
            waiting += [target] if inside(target, home) and target != home else []
    assert name in ("own", *BUILT_ON) or reached


def test_the_picture_shows_the_layers_of_the_contract():
    path = Path(__file__).parents[1] / "tools" / "architecture_picture.py"
    drawn = runpy.run_path(str(path))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["picture"]()
