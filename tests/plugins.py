"""Makes plug-ins visible as an installed package would: by its metadata, on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"

#: What examples/toy_structure/pyproject.toml and the docstring of examples/toy_solver.py name.
TOY = {
    "maxmargin.structures": {"toy": "toy_structure:STRUCTURE"},
    "maxmargin.solvers": {"toy": "toy_solver:ToySolver"},
}
TOY_PATHS = (EXAMPLES, EXAMPLES / "toy_structure")


def write_metadata(folder: Path, groups: dict[str, dict[str, str]]) -> None:
    """What pip writes when it installs a package with these entry points."""
    info = folder / "plug_in-0.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: plug-in\nVersion: 0.1\n")
    lines = [
        line
        for group, points in groups.items()
        for line in (f"[{group}]", *(f"{name} = {target}" for name, target in points.items()))
    ]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def run_python(*arguments: Any, paths: tuple[Path, ...] = (), **options: Any) -> Any:
    """This Python in a process of its own, with more folders on the path."""
    places = [ROOT / "src", *paths, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, places)), "COLUMNS": "100", "NO_COLOR": "1",
    }  # fmt: skip
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        capture_output=True, text=True, env=environment, **options,
    )  # fmt: skip
