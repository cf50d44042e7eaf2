"""The gallery of the documentation: every example is run, and its pictures are shown.

Each script and notebook in ``examples`` is run in a separate directory. The page of a script shows
its source, what it printed and the pictures it wrote; the page of a notebook shows its cells with
their outputs. ``docs/conf.py`` calls this before it builds.
"""

from __future__ import annotations

import ast
import json
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
GALLERY = ROOT / "docs" / "gallery"

#: Not in the gallery, because it measures times.
NOT_RUN = {"matching_speed.py"}

#: Lines and columns of a card whose example draws no picture: it shows the first lines printed.
LINES, COLUMNS = 10, 58

TEXT_STYLE = (
    "text{font:13px ui-monospace,'DejaVu Sans Mono',monospace;fill:#1f2328;white-space:pre}"
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}}"
)


class Example(NamedTuple):
    """An example: its file, the line on its card, and the name of its page."""

    path: Path
    title: str

    @property
    def name(self) -> str:
        """The name of the page, without ending."""
        return self.path.stem


def find_examples() -> list[Example]:
    """Scripts and notebooks with the first line of their words."""
    paths = [*EXAMPLES.glob("*.ipynb"), *EXAMPLES.glob("*.py")]
    kept = sorted((path for path in paths if path.name not in NOT_RUN), key=lambda path: path.stem)
    return [Example(path, words(path)[0]) for path in kept]


def words(path: Path) -> tuple[str, str]:
    """Title and description: of the docstring, or of the first cell."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        text = "".join(json.loads(text)["cells"][0]["source"]).removeprefix("# ")
    else:
        text = ast.get_docstring(ast.parse(text)) or path.stem
    title, _, rest = text.partition("\n")
    return title.rstrip("."), rest.strip()


def make_gallery(keep: bool = False) -> None:
    """Run the examples and write their pages; with ``keep`` only those that are missing."""
    if not keep:
        shutil.rmtree(GALLERY, ignore_errors=True)
    GALLERY.mkdir(exist_ok=True)
    examples = find_examples()
    for example in examples:
        page = GALLERY / f"{example.name}.md"
        if not (keep and page.exists()):
            make = notebook_page if example.path.suffix == ".ipynb" else script_page
            page.write_text(make(example.path, GALLERY), encoding="utf-8")
    names = "\n".join(example.name for example in examples)
    contents = f"```{{toctree}}\n:hidden:\n\n{names}\n```\n"
    head = "# Gallery\n\nEvery example was run when these pages were made.\n\n"
    cards = "\n".join(card(example, GALLERY) for example in examples)
    grid = f"````{{container}} gallery\n{cards}````\n\n"
    (GALLERY / "index.md").write_text(f"{head}{grid}{contents}", encoding="utf-8")


def run_example(path: Path, folder: Path) -> str:
    """Run one example in a folder; what it printed."""
    done = subprocess.run(
        [sys.executable, str(path)], cwd=folder, capture_output=True, text=True, timeout=600
    )
    if done.returncode:
        raise SystemExit(f"{path.name} failed:\n{done.stderr}")
    return done.stdout


def script_page(path: Path, out: Path) -> str:
    """The page of a script, whose pictures go to ``out``."""
    title, rest = words(path)
    with tempfile.TemporaryDirectory() as folder:
        printed = run_example(path, Path(folder)).rstrip()
        pictures = sorted(Path(folder).glob("*.png"))
        for picture in pictures:
            shutil.copy(picture, out / f"{path.stem}-{picture.name}")
    if not pictures:
        (out / f"{path.stem}-printed.svg").write_text(text_picture(printed), encoding="utf-8")
    shown = "\n\n".join(f"![{title}]({path.stem}-{picture.name})" for picture in pictures)
    source = path.read_text(encoding="utf-8").rstrip()
    return (
        f"# {title}\n\n{rest}\n\n{shown}\n\n"
        f"## What it prints\n\n```text\n{printed}\n```\n\n"
        f"## The example\n\n`examples/{path.name}`\n\n```python\n{source}\n```\n"
    )


def notebook_page(path: Path, out: Path) -> str:
    """The page of a notebook: its cells and their outputs, and the notebook as it was run."""
    from notebook import as_markdown, run_notebook

    content = json.loads(path.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        content = run_notebook(content, Path(folder), path.name)
    (out / path.name).write_text(json.dumps(content, indent=1), encoding="utf-8")
    link = f"Download this notebook, with its outputs: {{download}}`{path.name}`\n"
    return f"{as_markdown(content, path.stem, out)}\n{link}"


def text_picture(printed: str) -> str:
    """The first lines of a text as SVG, for light and dark pages."""
    wrapped = [textwrap.wrap(line, COLUMNS, drop_whitespace=False) for line in printed.split("\n")]
    lines = [part for parts in wrapped for part in parts or [""]][:LINES]
    shown = "".join(
        f'<text x="14" y="{30 + 21 * number}" xml:space="preserve">{escape(line)}</text>'
        for number, line in enumerate(lines)
    )
    size = f'viewBox="0 0 480 {40 + 21 * len(lines)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{TEXT_STYLE}</style>{shown}</svg>'
    )


def card(example: Example, out: Path) -> str:
    """The entry of an example in the list: its first picture, and one line."""
    pictures = sorted([*out.glob(f"{example.name}-*.png"), *out.glob(f"{example.name}-*.svg")])
    image = f"[![]({pictures[0].name})]({example.name}.md)\n\n" if pictures else ""
    return f"```{{container}} entry\n{image}[{example.title}]({example.name}.md)\n```\n"
