"""Draws ``docs/chunking.svg`` from the table of ``docs/benchmarks.md``: they cannot disagree.

``python tools/chunking_picture.py`` after the table was measured again; a test compares.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "chunking.svg"
PAGE = ROOT / "docs" / "benchmarks.md"

STYLE = """
.chunking{font-family:system-ui,"DejaVu Sans",Helvetica,Arial,sans-serif}
.chunking{font-size:14px;fill:#1f2328}
.chunking .title{font-size:16px;font-weight:600}
.chunking .axis{fill:#5b6570;font-size:13px}
.chunking .end{text-anchor:end}.chunking .middle{text-anchor:middle}
.chunking .ours{fill:#0072b2;font-weight:600}
.chunking .grid{stroke:#d5dbe1;fill:none}.chunking .frame{stroke:#5b6570;fill:none}
.chunking .line{stroke:#0072b2;stroke-width:2px}
.chunking .peer{fill:#c04f00}.chunking .dot{fill:#0072b2}
@media (prefers-color-scheme:dark){
.chunking{fill:#e6edf3}.chunking .axis{fill:#9aa4ae}.chunking .ours{fill:#5fb6ee}
.chunking .grid{stroke:#2c353f}.chunking .frame{stroke:#9aa4ae}
.chunking .line{stroke:#5fb6ee}.chunking .peer{fill:#ff9a5c}.chunking .dot{fill:#5fb6ee}
}
"""

WIDTH, HEIGHT = 880, 400

#: Edges of the plot in pixels.
LEFT, RIGHT, TOP, BOTTOM = 76, 860, 62, 330

#: Ranges of the axes: seconds on a logarithmic scale, percent from below the worst value.
SECONDS, PERCENT = (0.5, 300.0), (95.77, 96.14)

#: Where the name of a program stands: offset from its point, and the alignment.
NEXT_TO = (12, 5, "")
NAMES = {
    "l2sgd": (0, 24, "middle"),
    "lbfgs": (0, -14, "middle"),
    "SVM-HMM": (0, 26, "middle"),
}

ROW = re.compile(r"^\| \**([^|]+?)\** \| \**([\d. /]+?)\** \| ([\d.]+) % \|$", re.MULTILINE)


def read_rows() -> list[tuple[str, float, float]]:
    """Program, seconds and percent of each row; of several times the first, as its accuracy is."""
    section = PAGE.read_text(encoding="utf-8").split("## Tagging")[1].split("\n## ")[0]
    return [
        (name, float(seconds.split("/")[0]), float(percent))
        for name, seconds, percent in ROW.findall(section)
    ]


def place(seconds: float, percent: float) -> tuple[float, float]:
    """Pixels of a point."""
    along = math.log(seconds / SECONDS[0]) / math.log(SECONDS[1] / SECONDS[0])
    up = (percent - PERCENT[0]) / (PERCENT[1] - PERCENT[0])
    return round(LEFT + along * (RIGHT - LEFT), 1), round(BOTTOM - up * (BOTTOM - TOP), 1)


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """One line of text."""
    return f'<text x="{x}" y="{y}" class="{kind}">{escape(words)}</text>'


def axes() -> list[str]:
    """Grid and ticks; the vertical axis is broken at its lower end, because it is cut there."""
    out = []
    for tick in (1, 3, 10, 30, 100, 300):
        x, _ = place(tick, PERCENT[0])
        out += [f'<path class="grid" d="M{x} {TOP}V{BOTTOM}"/>']
        out += [text(x, BOTTOM + 20, str(tick), "axis middle")]
    for tick in (95.8, 95.9, 96.0, 96.1):
        _, y = place(1, tick)
        out += [f'<path class="grid" d="M{LEFT} {y}H{RIGHT}"/>']
        out += [text(LEFT - 10, y + 5, f"{tick:.1f} %", "axis end")]
    cut = f"M{LEFT - 7} {BOTTOM + 1}l14 -6M{LEFT - 7} {BOTTOM - 5}l14 -6"
    ends = f"M{RIGHT} {BOTTOM}H{LEFT}v-2M{LEFT} {BOTTOM - 8}V{TOP}"
    out += [f'<path class="frame" d="{ends}{cut}"/>']
    out += [
        text((LEFT + RIGHT) / 2, BOTTOM + 44, "seconds of training, on one core", "axis middle")
    ]
    note = "test tokens right; the axis is cut: it does not begin at 0"
    return [*out, text(LEFT - 66, TOP - 14, note, "axis")]


def points(rows: list[tuple[str, float, float]]) -> list[str]:
    """Each program at its point, with its name; a line connects our points."""
    out, ours = [], []
    for name, seconds, percent in rows:
        x, y = place(seconds, percent)
        mine = name.startswith("maxmargin")
        ours += [f"{x} {y}"] if mine else []
        shape = f'<circle class="dot" cx="{x}" cy="{y}" r="6"/>'
        peer = f'<path class="peer" d="M{x} {y - 6.5}l6.5 6.5l-6.5 6.5l-6.5 -6.5z"/>'
        out += [shape if mine else peer]
        dx, dy, kind = next((at for part, at in NAMES.items() if part in name), NEXT_TO)
        words = name.split(",")[0] + " (time converted)" if "SVM-HMM" in name else name
        out += [text(round(x + dx, 1), round(y + dy, 1), words, f"ours {kind}" if mine else kind)]
    return [f'<path class="line" d="M{"L".join(ours)}"/>', *out]


def draw() -> str:
    """The picture as SVG, for light and dark pages."""
    title = "CoNLL-2000 chunking: training time and test accuracy"
    inside = [text(LEFT - 66, 24, title, "title"), *axes(), *points(read_rows())]
    size = f'viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="chunking" {size} role="img">'
    return "\n".join([f"{head}<title>{title}</title><style>{STYLE}</style>", *inside, "</svg>\n"])


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
