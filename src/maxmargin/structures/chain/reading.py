"""Read files of sequences: CoNLL columns, or features in the format of SVM-HMM."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO

import numpy as np

from ...errors import DataError, MaxMarginError
from ...features import Extractor, Rows
from ...features.coding import cut
from ...io import convert_tags, read_conll, read_hmm
from ...io.raw import Tokenizer, read_raw
from ...io.sources import display_name, line_blocks, open_source
from ..files import Examples
from .sentences import warn_of_columns, warn_of_labels, way_out

#: Patterns of first lines, to recognise the format of a file.
_HMM_LINE = re.compile(rb"\S+\s+qid:\d+(\s|$)")
_SVMLIGHT_LINE = re.compile(rb"\S+(\s+\d+:[-+.\deE]+)+\s*(#.*)?$")

_PEEK = 1 << 16


@dataclass(frozen=True)
class Tagged(Examples):
    """Sequences of a file: X are columns without the labels (Rows), or features (Sequences).

    Attributes
    ----------
    form : dict
        The format; for CoNLL also the number of other columns and the column of the labels.
    table : Rows or None
        All columns of a CoNLL file.
    """

    form: dict[str, Any] = field(default_factory=dict)
    table: Rows | None = None

    def with_labels(self, Y: list[list[Any]]) -> Tagged:
        """The same sequences with other labels."""
        return replace(self, Y=Y)


def tagged_of(X: Any, Y: Any, form: dict[str, Any], table: Rows | None, path: str) -> Tagged:
    """Sequences with a text that gives their number."""
    size = f"{len(X):,} sequences, {int(X.offsets[-1]):,} tokens"
    return Tagged(X, Y, path, size, form=form, table=table)


def read_training(data: str, form: str, label: int, scheme: str | None = None) -> Tagged:
    """Sequences with labels to train on.

    Parameters
    ----------
    data : str
    form : {"auto", "conll", "hmm"}
    label : int
        The column of the labels in a CoNLL file.
    scheme : {"iob1", "bio", "bioes"}, optional
        Convert chunk tags of a CoNLL file to this scheme.
    """
    with open_source(data) as stream:
        form = recognise(stream, data) if form == "auto" else form
        if form == "hmm":
            X, Y = read_hmm(stream)
            return tagged_of(X, Y, {"format": "hmm"}, None, data)
        table, _ = read_conll(stream, label=None)
    n = table.n_columns
    if n == 1:
        raise DataError(
            "has only one column: training needs a label for each word", display_name(data)
        )
    if not -n <= label < n:
        raise DataError(
            f"there is no column {label} for the labels: lines have {n} columns, numbered from 0 "
            f"to {n - 1}, or from -1 (the last) down to {-n}; correct --label",
            display_name(data),
        )
    X, Y = _take_labels(table, label)
    layout = {"format": "conll", "columns": n - 1, "label": label}
    if scheme is None:
        return tagged_of(X, Y, layout, table, data)
    tagged = tagged_of(X, Y, layout | {"scheme": scheme}, table, data)
    with located(tagged):
        return tagged.with_labels(convert_tags(Y, scheme))


def read_new(data: str, estimator: Any, unlabelled: bool = False) -> Tagged:
    """Sequences for a fitted ``ChainSVC``; `with_file_labels` adds labels in a column."""
    reader = estimator._reader
    if reader is not None and not isinstance(reader, Extractor):
        raise MaxMarginError(
            "the model was trained in Python on named features, which cannot be read from files: "
            "use maxmargin.load in Python"
        )
    wanted = "hmm" if reader is None else "conll"
    with open_source(data) as stream:
        found = recognise(stream, data, wanted)
        if found != wanted:
            shown = {"hmm": "'tag qid:1 3:0.5 ...' lines of SVM-HMM", "conll": "CoNLL columns"}
            raise DataError(
                f"looks like {shown[found]}, but the model was trained on {shown[wanted]}",
                display_name(data),
            )
        if wanted == "hmm":
            X, Y = read_hmm(stream, estimator.n_features_in_, unknown=True)
            known = not unlabelled and any(map(any, Y))
            return tagged_of(X, Y if known else None, {"format": "hmm"}, None, data)
        table, _ = read_conll(stream, label=None)
    assert reader is not None
    form = estimator._data_format or _guess_columns(table, reader)
    if unlabelled or table.n_columns == form["columns"]:
        warn_of_columns(table, reader, form, data)
        return tagged_of(table, None, form, table, data)
    if table.n_columns != form["columns"] + 1:
        raise _wrong_columns(table, form, data)
    columns = list(table.columns)
    warn_of_labels(set(columns.pop(form["label"]).values), estimator.classes_, form, data)
    return tagged_of(Rows(columns, table.offsets), None, form, table, data)


def with_file_labels(tagged: Tagged) -> Tagged:
    """The sequences that `read_new` has read, with the labels in their file, if it has any."""
    if tagged.table is None or tagged.table.n_columns == tagged.X.n_columns:
        return tagged
    _, Y = _take_labels(tagged.table, tagged.form["label"])
    tagged = tagged.with_labels(Y)
    if "scheme" not in tagged.form:
        return tagged
    with located(tagged):
        return tagged.with_labels(convert_tags(Y, tagged.form["scheme"]))


def read_sentences(data: str, estimator: Any, tokenize: Tokenizer) -> Tagged:
    """Plain sentences, one per line, for a ``ChainSVC`` that was trained on words alone."""
    reader = estimator._reader
    n = max(reader.template_.n_columns, 1) if isinstance(reader, Extractor) else 0
    form = estimator._data_format or {"format": "conll", "columns": n, "label": -1}
    if not isinstance(reader, Extractor) or form["columns"] != 1:
        trained = f"{form['columns']} columns" if isinstance(reader, Extractor) else "features"
        raise MaxMarginError(
            f"--raw reads words alone, but the model was trained on {trained}: write a file in "
            "the format of the training data"
        )
    table = Rows.of([[(word,) for word in words] for words in read_raw(data, tokenize)])
    return tagged_of(table, None, form, table, data)


def _guess_columns(table: Rows, reader: Extractor) -> dict[str, Any]:
    """The columns of a model that was not trained on a file; labels, if any, come last."""
    n = max(reader.template_.n_columns, 1)
    if table.n_columns > n:
        n = table.n_columns - 1
    return {"format": "conll", "columns": n, "label": -1}


def _wrong_columns(table: Rows, form: dict[str, Any], data: str) -> DataError:
    n = form["columns"]
    return DataError(
        f"number of columns: {table.n_columns}; the model was trained on {n + 1}, the label in "
        f"column {form['label'] % (n + 1)} (counted from 0), or {n} without labels; "
        f"correct the file; if its lines are plain sentences, {way_out(form)}",
        display_name(data),
    )


def _take_labels(table: Rows, label: int) -> tuple[Rows, list[list[str]]]:
    columns = list(table.columns)
    labels = columns.pop(label).strings()
    return Rows(columns, table.offsets), list(cut(labels, table.offsets))


def recognise(stream: Any, data: str, wanted: str | None = None) -> str:
    """The format, recognised from the first relevant line; nothing is read from the stream."""
    lines = (line.strip() for line in stream.peek(_PEEK)[:_PEEK].splitlines())
    line = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if _HMM_LINE.match(line):
        return "hmm"
    if not _SVMLIGHT_LINE.match(line):
        return "conll" if line else wanted or "conll"
    if wanted is None:
        raise DataError(
            "looks like svmlight without qid:, which marks where sequences begin: add it, or use "
            "'maxmargin train multiclass'; to read it anyway, give --format conll or hmm",
            display_name(data),
        )
    return wanted


def token_lines(tagged: Tagged) -> np.ndarray | None:
    """The line of each token, counted from 1; None if the file cannot be read again."""
    if not os.path.isfile(tagged.path):
        return None
    hmm = tagged.form["format"] == "hmm"
    with open_source(tagged.path) as stream:
        return np.fromiter(_numbers(stream, hmm), np.int64)


def _numbers(stream: BinaryIO, hmm: bool) -> Iterator[int]:
    """The numbers of lines with a token."""
    for first, lines in line_blocks(stream):
        for number, line in enumerate(lines, first):
            parts = (line.partition(b"#")[0] if hmm else line).split(None, 1)
            if parts and (hmm or parts[0] != b"-DOCSTART-"):
                yield number


@contextmanager
def located(tagged: Tagged) -> Iterator[None]:
    """Add file and line to errors that name a sequence, a token or a label."""
    try:
        yield
    except DataError as error:
        row = None if error.path is not None else _find_token(error, tagged)
        if row is None:
            raise
        lines = token_lines(tagged)
        line = None if lines is None else int(lines[row])
        raise DataError(error.counted_from_one(), display_name(tagged.path), line) from error


def _find_token(error: DataError, tagged: Tagged) -> int | None:
    """The token that an error is about, counted over all sequences."""
    assert tagged.Y is not None
    if error.label is not None:
        flat = (tag for tags in tagged.Y for tag in tags)
        return next((row for row, tag in enumerate(flat) if tag == error.label), None)
    if error.sequence is None:
        return None
    first, end = tagged.X.offsets[error.sequence : error.sequence + 2]
    return int((end if (error.token or 0) < 0 else first) + (error.token or 0))


def match_labels(Y: list[list[Any]], classes: np.ndarray) -> list[list[Any]]:
    """Labels of a file as labels of the model; unknown labels are not changed."""
    known = {str(label): label for label in classes.tolist()}
    return [[known.get(str(label), label) for label in labels] for labels in Y]
