"""What the documentation needs beyond mkdocs: executed examples, and mathematics without scripts.

The gallery is made of the files in ``examples``: each is run in a directory of its own, and a page
shows its text, what it printed and the pictures it wrote. Formulas become MathML, which browsers
draw by themselves: nothing is loaded.
"""

from __future__ import annotations

import ast
import html
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
GALLERY = ROOT / "docs" / "gallery"

#: Run by hand: it measures.
NOT_RUN = {"matching_speed.py"}


def on_pre_build(config: Any) -> None:
    """Run the examples and write the gallery; with MAXMARGIN_GALLERY=no only what is missing."""
    keep = os.environ.get("MAXMARGIN_GALLERY") == "no"
    if not keep:
        shutil.rmtree(GALLERY, ignore_errors=True)
    GALLERY.mkdir(exist_ok=True)
    cards = []
    for path in sorted(EXAMPLES.glob("*.py")):
        if path.name in NOT_RUN:
            continue
        page = GALLERY / f"{path.stem}.md"
        if not (keep and page.exists()):
            page.write_text(make_page(path, GALLERY), encoding="utf-8")
        cards.append(card(path, GALLERY))
    head = "# Gallery\n\nEvery example was run when these pages were made.\n\n"
    (GALLERY / "index.md").write_text(head + "\n".join(cards), encoding="utf-8")


def on_page_content(content: str, **_: Any) -> str:
    """Formulas as MathML."""
    from latex2mathml.converter import convert

    def inline(match: re.Match[str]) -> str:
        return convert(html.unescape(match.group(1)))

    def block(match: re.Match[str]) -> str:
        return convert(html.unescape(match.group(1)), display="block")

    content = re.sub(r'<div class="arithmatex">\\\[(.*?)\\\]</div>', block, content, flags=re.S)
    return re.sub(r'<span class="arithmatex">\\\((.*?)\\\)</span>', inline, content, flags=re.S)


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
    with tempfile.TemporaryDirectory() as folder:
        printed = run_example(path, Path(folder))
        pictures = sorted(Path(folder).glob("*.png"))
        for picture in pictures:
            shutil.copy(picture, out / f"{path.stem}-{picture.name}")
    shown = "\n\n".join(f"![{title}]({path.stem}-{picture.name})" for picture in pictures)
    words = rest[0].strip() if rest else ""
    return (
        f"# {title}\n\n{words}\n\n{shown}\n\n## What it prints\n\n```text\n{printed.rstrip()}\n```\n\n"
        f"## The example\n\n`examples/{path.name}`\n\n```python\n{source.rstrip()}\n```\n"
    )


def card(path: Path, out: Path) -> str:
    """The entry of an example in the list: its title and its first picture."""
    title = (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split("\n")[0]
    picture = next(iter(sorted(out.glob(f"{path.stem}-*.png"))), None)
    image = f"[![]({picture.name}){{ width=420 }}]({path.stem}.md)\n" if picture else ""
    return f"## [{title}]({path.stem}.md)\n\n{image}"
