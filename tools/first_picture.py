"""Draws docs/codes.svg, the first picture of the README, from what the demo's models predict.

python tools/first_picture.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from maxmargin.demo.pictures import SIDE, keypad_svg
from maxmargin.demo.tasks import Codes, read_codes, whole_right

OUT = Path(__file__).resolve().parent.parent / "docs" / "codes.svg"

WIDTH, HEIGHT = 880, 330

#: Size of a pixel of a digit, and the distance from one digit to the next.
PIXEL, STEP = 4, 35

STYLE = """
.codes{font-family:system-ui,"DejaVu Sans",Helvetica,Arial,sans-serif;font-size:15px;fill:#1f2328}
.codes .name{font-size:13px;fill:#5b6570}
.codes .digit{text-anchor:middle}
.codes .wrong{fill:#a33b00;font-weight:700}
.codes .box{fill:#fbeadf;stroke:#a33b00}
.codes .alone{fill:#d98a52}
.codes .chain{fill:#0072b2}
.codes .big{font-size:17px;font-weight:700}
.codes .keypad circle{fill:#fff;stroke:#5b6570;stroke-width:1.5px}
.codes .keypad text{text-anchor:middle;font-size:17px;font-weight:600}
.codes .keypad line{stroke:#0072b2;stroke-linecap:round;opacity:.75}
.codes .keypad line.far{stroke:#c04f00;stroke-dasharray:5 7}
@media (prefers-color-scheme:dark){
.codes{fill:#e6edf3}
.codes .name{fill:#9aa4ae}
.codes .wrong{fill:#ffab7a}
.codes .box{fill:#3a2114;stroke:#ffab7a}
.codes .chain{fill:#5fb6ee}
.codes .keypad circle{fill:#11161c;stroke:#9aa4ae}
.codes .keypad line{stroke:#5fb6ee}
}
"""


def draw(codes: Codes) -> str:
    """Four test codes that the classifier of single digits gets wrong, keypad and accuracies."""
    wrong = [i for i, truth in enumerate(codes.truth) if codes.alone[i] != truth][:4]
    parts = [_code(codes, i, 360 * (n % 2), 8 + 112 * (n // 2)) for n, i in enumerate(wrong)]
    keypad = keypad_svg(codes.model.transition_)
    parts.append(keypad.replace("<svg ", '<svg x="716" y="0" ', 1))
    parts.append('<text class="name" x="799" y="240" text-anchor="middle">learned pairs</text>')
    parts.append(_bar("each digit alone", "alone", whole_right(codes.truth, codes.alone), 262))
    parts.append(_bar("as a chain", "chain", whole_right(codes.truth, codes.chain), 292))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="codes" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}"><style>{STYLE}</style>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _code(codes: Codes, i: int, x: float, y: float) -> str:
    """The images of a code with both predictions below."""
    parts = []
    for place, image in enumerate(codes.images[i]):
        parts.append(_image(image, x + 56 + STEP * place, y))
    for row, (name, found) in enumerate((("alone", codes.alone[i]), ("chain", codes.chain[i]))):
        base = y + 54 + 25 * row
        parts.append(f'<text class="name" x="{x}" y="{base}">{name}</text>')
        for place, (digit, right) in enumerate(zip(found, codes.truth[i], strict=True)):
            middle = x + 56 + STEP * place + SIDE * PIXEL / 2
            kind = "digit" if digit == right else "digit wrong"
            if digit != right:
                parts.append(
                    f'<rect class="box" x="{middle - 13}" y="{base - 16}" width="26" height="22" '
                    'rx="4"/>'
                )
            parts.append(f'<text class="{kind}" x="{middle}" y="{base}">{digit}</text>')
    return "".join(parts)


def _image(pixels: np.ndarray, x: float, y: float, shades: int = 6) -> str:
    """A digit as one path for each shade: pictures inside an SVG are not shown everywhere."""
    shade = np.round(pixels.reshape(SIDE, SIDE) * shades).astype(int)
    paths = []
    for value in range(1, shades + 1):
        squares = "".join(f"M{c} {r}h1v1h-1z" for r, c in np.argwhere(shade == value))
        if squares:
            paths.append(f'<path d="{squares}" fill-opacity="{value / shades:.2f}"/>')
    return f'<g transform="translate({x} {y}) scale({PIXEL})">{"".join(paths)}</g>'


def _bar(name: str, kind: str, percent: float, y: float) -> str:
    length = 5.2 * percent
    return (
        f'<text x="0" y="{y + 16}">{name}</text>'
        f'<rect class="{kind}" x="136" y="{y}" width="{length:.1f}" height="22" rx="4"/>'
        f'<text class="big" x="{146 + length:.1f}" y="{y + 17}">'
        f"{percent:.0f} % of whole codes right</text>"
    )


if __name__ == "__main__":
    OUT.write_text(draw(read_codes()), encoding="utf-8")
    print(f"wrote {OUT}")
