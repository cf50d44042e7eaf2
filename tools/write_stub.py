"""Write ``src/maxmargin/__init__.pyi``: the public names below, and those of the registries.

Run ``python tools/write_stub.py`` after adding a structure or a solver; a test checks the file.
"""

from __future__ import annotations

from pathlib import Path

#: Public names that do not belong to a structure or a solver, by module.
NAMES = {
    ".": ("datasets", "features", "io", "kernels", "metrics"),
    ".backends.files": ("Files",),
    ".backends.ray": ("Ray",),
    ".checks.check": ("check_problem",),
    ".data.sequences": ("Sequences",),
    ".data.brackets": ("as_tree",),
    ".data.graphs": ("Graph",),
    ".data.trees": ("Tree", "to_nltk"),
    ".errors": ("CheckpointError", "DataError", "MaxMarginError", "ModelFileError", "ProblemError"),
    ".estimators.cv": ("PathCV",),
    ".estimators.path": ("RegularizationPath", "regularization_path"),
    ".kernels": ("Basis",),
    ".outputs.calibration": ("calibrate",),
    ".problem": ("Bounded", "CompiledProblem", "Functions", "Pack", "Problem", "frozen"),
    ".registry": ("load",),
    ".result": ("Result", "Status"),
    ".saving.checkpoint": ("Checkpoint",),
    ".solvers.base": ("Solver",),
    ".training": ("train",),
}

STUB = Path(__file__).parents[1] / "src" / "maxmargin" / "__init__.pyi"


def stub_text() -> str:
    """The text of the stub."""
    from maxmargin.registry import get_structure, structure_names
    from maxmargin.solvers import solver_classes

    found = {module: list(names) for module, names in NAMES.items()}
    for name in structure_names():
        structure = get_structure(name)
        if structure.package == f"maxmargin.structures.{name}":
            module, _, estimator = structure.targets["estimator"].partition(":")
            home = f"{structure.package.removeprefix('maxmargin')}{module}"
            found[home] = [estimator, *structure.exports]
    for cls in solver_classes():
        if cls.__module__.startswith("maxmargin."):
            found.setdefault(cls.__module__.removeprefix("maxmargin"), []).append(cls.__name__)
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(found.items())
        for name in sorted(names)
    ]
    return "\n".join([*lines, "", "__version__: str", ""])


if __name__ == "__main__":
    STUB.write_text(stub_text(), encoding="utf-8")
