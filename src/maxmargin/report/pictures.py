"""Pictures of labelled images and graphs for reports: PNG and SVG inside of the page."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from .page import escape, name_html

#: Colours of labels, repeated if there are more labels (Tableau 10, then Tableau 20).
PALETTE = (
    "4e79a7", "f28e2b", "59a14f", "e15759", "b07aa1", "edc948", "76b7b2", "ff9da7", "9c755f",
    "bab0ac", "a0cbe8", "ffbe7d", "8cd17d", "b6992d", "499894", "79706e", "d37295", "fabfd2",
    "d4a6c8", "d7b5a6",
)  # fmt: skip

#: The width of a picture on the page, in pixels.
WIDTH = 180

#: Graphs of more nodes are drawn with smaller ones.
MOST_LARGE = 60


def label_colors(codes: np.ndarray) -> np.ndarray:
    """Colours with opacity (..., 4) of class numbers; -1 shows the background of the page."""
    table = np.array([[int(c[k : k + 2], 16) for k in (0, 2, 4)] for c in PALETTE], np.uint8)
    colors = np.full((*codes.shape, 4), 255, np.uint8)
    colors[..., :3] = table[codes % len(PALETTE)]
    colors[codes < 0] = 0
    return colors


def image_colors(image: np.ndarray) -> np.ndarray:
    """RGB colours (h, w, 3) of the first channels of an image, from its darkest to its lightest."""
    shown = image[:, :, :3] if image.shape[2] >= 3 else image[:, :, :1]
    shown = np.broadcast_to(shown, (*image.shape[:2], 3)).astype(np.float64)
    low, high = (shown.min(), shown.max()) if shown.size else (0.0, 1.0)
    return (255 * (shown - low) / (high - low or 1.0)).astype(np.uint8)


def png(colors: np.ndarray) -> bytes:
    """Colours (h, w, 3) or, with opacity, (h, w, 4) of type uint8 as a PNG file."""
    h, w, channels = colors.shape
    lines = np.zeros((h, channels * w + 1), np.uint8)  # each line begins with its filter, 0: none
    lines[:, 1:] = colors.reshape(h, -1)
    header = struct.pack(">IIBBBBB", w, h, 8, 2 if channels == 3 else 6, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )


def picture_html(colors: np.ndarray, title: str) -> str:
    """An image with a title below it."""
    data = base64.b64encode(png(colors)).decode()
    return (
        '<figure style="display:inline-block;margin:4px">'
        f'<img width="{WIDTH}" alt="{escape(title)}"'
        ' style="image-rendering:pixelated;outline:1px solid rgb(128 128 128 / 40%)"'
        f' src="data:image/png;base64,{data}">'
        f"<figcaption>{escape(title)}</figcaption></figure>"
    )


def legend_html(labels: Sequence[Any]) -> str:
    """The colours of the labels."""
    return "<p>" + " ".join(
        f'<span style="color:#{PALETTE[k % len(PALETTE)]}">&#9632;</span> {name_html(label)}'
        for k, label in enumerate(labels)
    ) + "</p>"  # fmt: skip


def graph_html(
    positions: np.ndarray, edges: np.ndarray, truth: np.ndarray, found: np.ndarray
) -> str:
    """A graph drawn by positions: nodes have their true colour, and a ring of the predicted one."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    scale = (2 * WIDTH - 20) / max(float((high - low).max()), 1e-12)
    places = 10 + (positions - low) * scale
    width, height = (2 * 10 + (high - low) * scale).round(1).tolist()
    ring, disc = (7, 4) if len(places) <= MOST_LARGE else (5, 3)
    lines = "".join(
        f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>'
        for a, b in places[edges]
    )
    nodes = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{_color(code)}"/>'
        for (x, y), t, f in zip(places, truth, found, strict=True)
        for r, code in ((ring, f), (disc, t))
    )
    return (
        f'<svg width="{width}" height="{height}"><g stroke="currentColor" opacity=".4">{lines}</g>'
        f"{nodes}</svg>"
    )


def _color(code: int) -> str:
    return "#fff" if code < 0 else f"#{PALETTE[code % len(PALETTE)]}"
