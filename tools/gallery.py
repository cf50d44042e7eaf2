"""The gallery of the documentation: every example is run, and its pictures are shown.

Each file in ``examples`` is run in a separate directory, and its page shows the source, what it
printed and the pictures it wrote. ``docs/conf.py`` calls this before it builds.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
GALLERY = ROOT / "docs" / "gallery"

#: Not in the gallery, because it measures times.
NOT_RUN = {"matching_speed.py"}


def make_gallery(keep: bool = False) -> None:
    """Run the examples and write their pages; with ``keep`` only those that are missing."""
    if not keep:
        shutil.rmtree(GALLERY, ignore_errors=True)
    GALLERY.mkdir(exist_ok=True)
    paths = [path for path in sorted(EXAMPLES.glob("*.py")) if path.name not in NOT_RUN]
    for path in paths:
        page = GALLERY / f"{path.stem}.md"
        if not (keep and page.exists()):
            page.write_text(make_page(path, GALLERY), encoding="utf-8")
    names = "\n".join(path.stem for path in paths)
    contents = f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    head = "# Gallery\n\nEvery example was run when these pages were made.\n\n"
    cards = "\n".join(card(path, GALLERY) for path in paths)
    (GALLERY / "index.md").write_text(f"{head}{cards}\n{contents}", encoding="utf-8")


def run_example(path: Path, folder: Path) -> str:
    """Run one example in a folder; what it printed."""
    done = subprocess.run(
        [sys.executable, str(path)], cwd=folder, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise SystemExit(f"{path.name} failed:\n{done.stderr}")
    return done.stdout


def make_page(path: Path, out: Path) -> str:
    """The page of one example, whose pictures go to ``out``."""
    source = path.read_text(encoding="utf-8")
    title, *rest = (ast.get_docstring(ast.parse(source)) or path.stem).split("\n", 1)
    title = title.rstrip(".")
    with tempfile.TemporaryDirectory() as folder:
        printed = run_example(path, Path(folder))
        pictures = sorted(Path(folder).glob("*.png"))
        for picture in pictures:
            shutil.copy(picture, out / f"{path.stem}-{picture.name}")
    shown = "\n\n".join(f"![{title}]({path.stem}-{picture.name})" for picture in pictures)
    words = rest[0].strip() if rest else ""
    return (
        f"# {title}\n\n{words}\n\n{shown}\n\n"
        f"## What it prints\n\n```text\n{printed.rstrip()}\n```\n\n"
        f"## The example\n\n`examples/{path.name}`\n\n```python\n{source.rstrip()}\n```\n"
    )


def card(path: Path, out: Path) -> str:
    """The entry of an example in the list: its title and its first picture."""
    title = (
        (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "")
        .split("\n")[0]
        .rstrip(".")
    )
    picture = next(iter(sorted(out.glob(f"{path.stem}-*.png"))), None)
    image = f"[![{title}]({picture.name})]({path.stem}.md)\n" if picture else ""
    return f"## {title}\n\n{image}\n[`{path.name}`]({path.stem}.md)\n"
