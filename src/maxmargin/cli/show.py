"""What ``train`` and ``info`` print.

scikit-learn is not imported here, because it takes longer than all else that ``info`` does.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from rich.text import Text

from ..data.printable import printable
from ..progress import duration
from ..registry import get_structure, summary
from ..report.certificate import certificate
from ..report.console import Console, pairs_table, print_json, result_rows
from ..result import Result

#: List at most this many labels by name.
LISTED_CLASSES = 12

#: Longer parameters are truncated, in characters.
_LONGEST = 60


def print_training(estimator: Any, size: str, written: list[str], seconds: float) -> None:
    """Print the summary of ``train``; ``size`` describes the data, ``seconds`` is the time."""
    console = Console()
    content = estimator.structure.show.describe(estimator)
    console.print(f"[bold]{type(estimator).__name__}[/bold] on {size}, {content}")
    console.print(pairs_table(result_rows(estimator.result_)))
    console.print(Text(printable(certificate(estimator.result_))))
    wrote = f"Wrote {' and '.join(written)} after {duration(seconds)}."
    console.print(Text(printable(wrote), style="green"))


def show_model(model: Path, as_json: bool) -> None:
    """Print the content of a model file."""
    content = summary(model)
    if as_json:
        print_json(info_json(content))
    else:
        print_info(str(model), content)


def print_info(path: str, content: dict[str, Any]) -> None:
    """Print the description of a model file."""
    structure = get_structure(content["structure"])
    parameters = ", ".join(f"{key}={_brief(value)}" for key, value in content["parameters"].items())
    rows = [("file", f"{path} ({os.path.getsize(path):,} bytes)"), ("model", content["estimator"])]
    if content["problem"]:
        rows.append(("problem", f"{content['problem']} (the file does not contain its code)"))
    rows.append(("parameters", parameters))
    if content["classes"] is not None:
        rows.append((structure.show.class_word, _listed(content["classes"])))
    if content["n_features"] is not None:
        rows.append(("features", f"{content['n_features']:,}"))
    rows += structure.show.info(content)
    if "kernel" in content:
        rows.append(("kernel", content["kernel"]["text"]))
        rows.append(("support vectors", f"{content['kernel']['support']:,}"))
    else:
        which = " that are not zero" if structure.model.counts_nonzeros else ""
        rows.append(("weights", f"{content['n_weights']:,}{which}"))
    if content["calibration"] is not None:
        found = content["calibration"]
        rows.append(("calibration", f"{found['method']}, {found['n']:,} held-out examples"))
    console = Console()
    console.print(pairs_table([*rows, *result_rows(content["result"])]))
    console.print(Text(printable(certificate(content["result"]))))


def _brief(value: Any) -> str:
    """A parameter as text; long ones, such as a template or a cost matrix, are truncated."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _listed(labels: list[Any]) -> str:
    shown = ", ".join(map(str, labels[:LISTED_CLASSES]))
    more = ", ..." if len(labels) > LISTED_CLASSES else ""
    return f"{len(labels):,} ({shown}{more})"


def info_json(content: dict[str, Any]) -> dict[str, Any]:
    """The description of a model file as JSON types."""
    result: Result = content["result"]
    numbers = (
        "primal",
        "dual",
        "gap",
        "n_iter",
        "n_oracle",
        "time",
        "prepare_time",
        "compile_time",
    )
    return {
        **content,
        "result": {
            "status": result.status.name.lower(),
            "message": result.status.value,
            "bounds": result.bounds,
            **{name: getattr(result, name) for name in numbers},
        },
    }
