"""Runs a Jupyter notebook without Jupyter, and writes its cells and outputs as Markdown.

The cells run in one separate Python process, one after the other, as plain Python: magic commands
are not supported. The value of a cell's last expression is its result, and is shown as a picture if
it can draw itself (``_repr_svg_``, or matplotlib's ``savefig``), as a table (``_repr_html_``), or
as text.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any


def run_notebook(content: dict[str, Any], folder: Path, name: str) -> dict[str, Any]:
    """The notebook with the outputs of its cells, which were run in this folder."""
    done = subprocess.run(
        [sys.executable, __file__, name], input=json.dumps(content), cwd=folder,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def run_cells(content: dict[str, Any], name: str) -> None:
    """Run all cells in one namespace, and store their outputs."""
    names: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(code, 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = run_cell("".join(cell["source"]), f"{name}, cell {number}", names)
        cell["execution_count"], cell["outputs"] = number, []
        if printed.getvalue():
            lines = printed.getvalue().splitlines(keepends=True)
            cell["outputs"] += [{"output_type": "stream", "name": "stdout", "text": lines}]
        if value is not None:
            result = {"output_type": "execute_result", "execution_count": number, "metadata": {}}
            cell["outputs"] += [result | {"data": represent(value)}]


def run_cell(source: str, name: str, names: dict[str, Any]) -> Any:
    """Run one cell; the value of its last expression, or None."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), name, "eval"), names)


def represent(value: Any) -> dict[str, str]:
    """A value by kinds of content, as notebooks store it."""
    if hasattr(value, "savefig"):
        file = io.BytesIO()
        value.savefig(file, format="png", dpi=120, bbox_inches="tight")
        return {"image/png": base64.b64encode(file.getvalue()).decode()}
    if hasattr(value, "_repr_svg_"):
        return {"image/svg+xml": value._repr_svg_(), "text/plain": repr(value)}
    if hasattr(value, "_repr_html_"):
        return {"text/html": value._repr_html_(), "text/plain": repr(value)}
    return {"text/plain": repr(value)}


def as_markdown(content: dict[str, Any], stem: str, out: Path) -> str:
    """The cells and their outputs; pictures are written to ``out``."""
    parts = []
    for number, cell in enumerate(content["cells"]):
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_output(output, f"{stem}-{number:02d}", out) for output in cell["outputs"]]
    return "\n\n".join(parts) + "\n"


def _output(output: dict[str, Any], name: str, out: Path) -> str:
    """One output of a cell as Markdown."""
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text']).rstrip()}\n```"
    data = output["data"]
    if "image/png" in data:
        (out / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![The picture that this cell draws]({name}.png)"
    if "image/svg+xml" in data:
        (out / f"{name}.svg").write_text(data["image/svg+xml"], encoding="utf-8")
        return f"![The picture that this cell draws]({name}.svg)"
    if "text/html" in data:
        return f"```{{raw}} html\n{data['text/html']}\n```"
    return f"```text\n{data['text/plain']}\n```"


if __name__ == "__main__":
    notebook = json.load(sys.stdin)
    run_cells(notebook, sys.argv[1])
    json.dump(notebook, sys.stdout)
