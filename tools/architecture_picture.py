"""Draws ``docs/architecture.svg`` from the layers in ``pyproject.toml``: the picture is the rule.

``python tools/architecture_picture.py`` after a room or a layer has changed; a test compares.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "architecture.svg"

#: What each room is for, in a few words.
ROOMS = {
    "__main__": "python -m maxmargin",
    "cli": "the commands",
    "svm_struct": "SVM-struct's programs",
    "demo": "maxmargin demo",
    "integrations": "spaCy",
    "registry": "finds structures: folders and entry points; mm.load",
    "structures": "one folder per structure: binary, multiclass, chain, cfg, own, yours",
    "estimators": "the scikit-learn shell",
    "report": "pages, pictures, tables",
    "kernels": "rbf and others",
    "backends": "Ray, mm.Files",
    "outputs": "m-best, explain",
    "checks": "check_problem",
    "features": "templates",
    "io": "data files",
    "metrics": "evaluation",
    "training": "mm.train",
    "saving": ".mm files, checkpoints",
    "solvers": "one file per method; the training loop",
    "problem": "the contract",
    "result": "the certificate",
    "engine": "compiled passes over examples",
    "datasets": "small data sets: mm.datasets",
    "data": "labels, sequences, trees, checked arrays",
    "errors": "",
    "objective": "P, D, gap",
    "progress": "",
}

#: Colours of the layers: what users touch, what trains, what is compiled, what is below.
STYLE = """
.page{fill:#fff}.name{fill:#111;font-weight:600;font-size:14px}.say{fill:#444;font-size:11.5px}
.use{fill:#eef4fa;stroke:#0072b2}.train{fill:#fdf3ea;stroke:#d55e00}
.fast{fill:#eef8f3;stroke:#009e73}.low{fill:#f5f5f5;stroke:#888}.arrow{stroke:#555;fill:none}
@media (prefers-color-scheme:dark){.page{fill:#131416}.name{fill:#f2f2f2}.say{fill:#bdbdbd}
.use{fill:#10222f;stroke:#56b4e9}.train{fill:#2b1b10;stroke:#e69f00}
.fast{fill:#0e261e;stroke:#2fbf95}.low{fill:#202124;stroke:#8a8a8a}.arrow{stroke:#a8a8a8}}
"""
KIND = {
    "training": "train", "saving": "train", "solvers": "train",
    "problem": "fast", "result": "fast", "engine": "fast",
    "datasets": "low", "data": "low", "errors": "low", "objective": "low", "progress": "low",
}  # fmt: skip

WIDTH, HEIGHT, GAP, EDGE = 960, 46, 8, 40


def layers() -> list[list[str]]:
    """The rooms of each layer, high to low."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        contracts = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    found = next(c["layers"] for c in contracts if c["type"] == "layers")
    return [[room.strip() for room in layer.split(":")] for layer in found]


def picture() -> str:
    """The SVG."""
    rows, boxes = layers(), []
    for number, rooms in enumerate(rows):
        y = 30 + number * (HEIGHT + 14)
        width = (WIDTH - 2 * EDGE - GAP * (len(rooms) - 1)) / len(rooms)
        for place, room in enumerate(rooms):
            boxes.append(_box(room, EDGE + place * (width + GAP), y, width))
    height = 30 + len(rows) * (HEIGHT + 14) + 20
    arrow = (
        f'<path class="arrow" d="M20 40V{height - 40}m-5-9 5 9 5-9"/>'
        f'<text class="say" x="{EDGE}" y="18">A room imports only rooms of the same layer and of '
        "layers below it.</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        "font-family=\"system-ui,'DejaVu Sans',sans-serif\">"
        f"<title>The layers of maxmargin, high to low</title><style>{STYLE}</style>"
        f'<rect class="page" width="{WIDTH}" height="{height}"/>{arrow}{"".join(boxes)}</svg>\n'
    )


def _box(room: str, x: float, y: float, width: float) -> str:
    middle, kind = x + width / 2, KIND.get(room, "use")
    say = ROOMS[room]
    name_y = y + (20 if say else 28)
    text = f'<text class="name" x="{middle:.1f}" y="{name_y}" text-anchor="middle">{room}</text>'
    if say:
        text += (
            f'<text class="say" x="{middle:.1f}" y="{y + 36}" text-anchor="middle">'
            f"{escape(say)}</text>"
        )
    place = f'x="{x:.1f}" y="{y}" width="{width:.1f}" height="{HEIGHT}"'
    return f'<rect class="{kind}" {place} rx="6"/>{text}'


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
