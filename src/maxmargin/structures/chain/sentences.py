"""Recognise plain sentences that are given to a tagger as if they were lines of columns."""

from __future__ import annotations

import warnings
from typing import Any

from ...features import Extractor, Rows
from ...io.sources import display_name

#: Look for unknown columns in files of at most this many lines. Sentences that all have the same
#: number of words are few.
_FEW = 100


def warn_of_labels(labels: set[str], classes: Any, form: dict[str, Any], data: str) -> None:
    """Warn if no label of a file is a label of the model."""
    n = form["columns"] + 1
    if labels.isdisjoint(map(str, classes.tolist())):
        reason = f"column {form['label'] % n} (counted from 0) contains no label of the model"
        _warn(reason, labels, n, form, data)


def warn_of_columns(table: Rows, reader: Extractor, form: dict[str, Any], data: str) -> None:
    """Warn if the last column of a small file without labels has no value known from training."""
    n, columns = table.n_columns, reader.template_.columns
    if not 1 < n <= len(columns) or int(table.offsets[-1]) > _FEW:
        return
    feature = f"{columns[n - 1]}[0]="
    known = {name.removeprefix(feature) for name in reader.names_ if name.startswith(feature)}
    values = set(table.columns[-1].strings())
    if known and known.isdisjoint(values):
        reason = f"no value of column {n - 1} (counted from 0) occurs in the training data"
        _warn(reason, values, n, form, data)


def _warn(reason: str, values: set[str], n: int, form: dict[str, Any], data: str) -> None:
    warnings.warn(
        f"{display_name(data)}: {reason}, but for example {min(values)!r}; each line is read as "
        f"one token with {n} columns. If its lines are plain sentences, {way_out(form)}",
        stacklevel=4,
    )


def way_out(form: dict[str, Any]) -> str:
    """How a model of these columns can tag plain sentences."""
    if form["columns"] == 1:
        return "use maxmargin predict --raw"
    return f"write one token per line with its {form['columns']} columns"
