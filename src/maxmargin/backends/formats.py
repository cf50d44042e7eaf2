"""Reading a file of a data set: first its labels and features, later its examples."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import as_csr, check_finite_rows, check_offsets, check_weights
from ..data.labels import check_no_nan
from ..data.sequences import Sequences
from ..errors import DataError
from ..features import Extractor, Rows
from ..io.conll import read_conll
from ..io.hmm import read_hmm
from ..io.npz import read_arrays
from ..io.svmlight import read_examples
from .packed import Part, digest_of
from .packing import make_folder
from .sources import open_path, read_bytes_hash, state_of

FORMATS = ("svmlight", "hmm", "conll", "npz")

#: Of what a survey contains: one in the cache that has other contents is not found.
VERSION = 2


class Layout(NamedTuple):
    """What is needed to read a file in the first pass."""

    format: str
    label: int | None
    template: str | None


class Survey(NamedTuple):
    """What the first pass finds in a file.

    ``labels`` are pairs of a label and its count, or the sum of the weights of its examples;
    ``names`` and ``counts`` are those of the features, ``columns`` is the number of columns without
    that of the labels (CoNLL only).
    """

    digest: str
    n: int
    n_features: int
    labels: list[tuple[Any, float]]
    names: list[str] | None
    counts: list[int] | None
    template: str | None
    columns: int


class Plan(NamedTuple):
    """What all files have in common: the number of each label and the column of each feature."""

    layout: Layout
    classes: list[Any]
    n_features: int
    names: list[str] | None
    template: str | None

    def key(self) -> str:
        """A digest of the plan."""
        return digest_of([list(self.layout), repr(self.classes), self.n_features, self.names])


def survey_file(path: str, layout: Layout, cache: str | None) -> Survey:
    """The first pass over a file, or its result from the cache if the content is the same."""
    return find_survey(path, layout, cache)[0]


def find_survey(path: str, layout: Layout, cache: str | None) -> tuple[Survey, bool]:
    """The same, and whether it was in the cache."""
    digest = read_bytes_hash(path)
    if cache is None:
        return _survey(path, layout, digest), False
    place = Path(cache) / f"survey-{digest_of([VERSION, digest, *layout])}.json"
    found = _stored_survey(place)
    if found is not None:
        return found, True
    found = _survey(path, layout, digest)
    _store_survey(place, found)
    return found, False


def _stored_survey(place: Path) -> Survey | None:
    """The survey in the cache; None if it is not there, or not as it was written."""
    try:
        known = json.loads(place.read_text(encoding="ascii"))
        if known.pop("checksum") != digest_of(known):
            return None
        return Survey(**known | {"labels": [(a, b) for a, b in known["labels"]]})
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None


def _store_survey(place: Path, found: Survey) -> None:
    from ..saving.atomic import write_lines_atomic

    make_folder(place.parent)
    content = found._asdict()
    write_lines_atomic(place, [json.dumps(content | {"checksum": digest_of(content)})])


def _survey(path: str, layout: Layout, digest: str) -> Survey:
    names = counts = template = None
    columns = 0
    if layout.format == "conll":
        rows, tags = _read_rows(path, layout)
        if layout.template is None:
            raise DataError("CoNLL files need a template: ChainSVC(template='default')", path=path)
        extractor = Extractor(layout.template)
        X = extractor.fit_transform(rows)
        names, template = extractor.names_, extractor.template_.text
        counts = np.bincount(X.matrix.indices, minlength=len(names)).tolist()
        labels = Counter(tag for sequence in tags for tag in sequence)
        n, n_features, columns = len(X), len(names), len(rows.columns)
    else:
        matrix, y, offsets, weight = _read_numbers(path, layout, None)
        values, place = np.unique(y, return_inverse=True)
        number = np.bincount(place, weight if offsets is None else None, len(values))
        labels = dict(zip(values.tolist(), number.tolist(), strict=True))
        n = matrix.shape[0] if offsets is None else len(offsets) - 1
        n_features = matrix.shape[1]
    return Survey(digest, n, n_features, list(labels.items()), names, counts, template, columns)


def extractor_of(plan: Plan) -> Extractor | None:
    """What turns the rows of CoNLL files into features, one object for all files."""
    if plan.names is None or plan.template is None:
        return None
    return Extractor.from_names(plan.template, plan.names)


def read_same(path: str, digest: str, plan: Plan, extractor: Extractor | None) -> Part:
    """The examples of a file; a DataError if its content is not that of the first pass."""
    before = state_of(path)
    same = read_bytes_hash(path) == digest
    part = read_part(path, plan, extractor) if same else None
    if part is None or state_of(path) != before:
        raise DataError("was changed while it was read: run again", path=path)
    return part


def read_part(path: str, plan: Plan, extractor: Extractor | None) -> Part:
    """The examples of a file, with the columns and class numbers of the plan."""
    number = {label: k for k, label in enumerate(plan.classes)}
    if plan.layout.format == "conll":
        rows, tags = _read_rows(path, plan.layout)
        assert extractor is not None
        X = extractor.transform(rows)
        codes = [number[tag] for sequence in tags for tag in sequence]
        return Part(X.matrix, np.array(codes, np.int32), X.offsets, None)
    matrix, y, offsets, weight = _read_numbers(path, plan.layout, plan.n_features)
    codes = np.array([number[label] for label in y.tolist()], np.int32)
    return Part(matrix, codes, offsets, weight)


def read_inputs(path: str, layout: Layout, n_features: int, trained: dict[str, int]) -> Any:
    """X of a file to be predicted; labels are ignored.

    ``trained`` describes the CoNLL files of the training: ``columns``, their number without the
    labels, and ``label``, as far as these are known; otherwise ``least``, the columns that the
    template needs.
    """
    if layout.format == "conll":
        with open_path(path) as stream:
            table, _ = read_conll(stream, None)
        return _without_labels(table, layout.label, trained, path)
    matrix, _, offsets, _ = _read_numbers(path, layout, n_features, labels=False)
    return matrix if offsets is None else Sequences(matrix, offsets)


def _without_labels(table: Any, label: int | None, trained: dict[str, int], path: str) -> Any:
    """The columns without that of the labels, if the file has one."""
    n, columns = table.n_columns, trained.get("columns")
    if label is None or n == columns or n <= trained.get("least", 1):
        return table
    if columns is not None and n != columns + 1:
        raise DataError(
            f"has {n} columns: the model was trained on {columns}, and one with labels", path=path
        )
    label = trained.get("label", label)
    if not -n <= label < n:
        raise DataError(f"has {n} columns, and none with the number label={label}", path=path)
    kept = list(table.columns)
    kept.pop(label)
    return Rows(kept, table.offsets)


def _read_rows(path: str, layout: Layout) -> tuple[Any, list[list[str]]]:
    if layout.label is None:
        raise DataError("training needs labels: give label=, their column", path=path)
    with open_path(path) as stream:
        rows, tags = read_conll(stream, layout.label)
    assert tags is not None
    return rows, tags


def _read_numbers(
    path: str, layout: Layout, n_features: int | None, labels: bool = True
) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """``(matrix, labels, offsets, weight)`` of a file without names of features.

    With ``labels=False`` an npz file may have none.
    """
    with open_path(path) as stream:
        if layout.format == "svmlight":
            found = read_examples(stream, n_features, drop_unseen=n_features is not None)
            return found.X, found.y, None, found.cost
        if layout.format == "hmm":
            X, Y = read_hmm(stream, n_features, unknown=n_features is not None)
            return X.matrix, np.array([tag for tags in Y for tag in tags]), X.offsets, None
        return _read_npz(stream, path, n_features, labels)


def _read_npz(
    stream: Any, path: str, n_features: int | None, labels: bool
) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """Read X (or data, indices, indptr and shape of a CSR matrix), y, and offsets and weight."""
    import scipy.sparse as sp

    arrays = read_arrays(stream, path)
    try:
        matrix, y, offsets, weight = _check_npz(arrays, labels)
    except DataError as error:
        raise DataError(str(error), path=path) from error
    if n_features is not None and matrix.shape[1] != n_features:
        if matrix.shape[1] > n_features or not sp.issparse(matrix):
            raise DataError(f"has {matrix.shape[1]} features, expected {n_features}", path=path)
        matrix = sp.csr_matrix(
            (matrix.data, matrix.indices, matrix.indptr), (matrix.shape[0], n_features)
        )
    return matrix, y, offsets, weight


def _check_npz(
    arrays: dict[str, np.ndarray], labels: bool
) -> tuple[Any, np.ndarray, np.ndarray | None, np.ndarray | None]:
    """``(matrix, labels, offsets, weight)``, checked as in ``fit``."""
    if "X" in arrays:
        matrix: Any = arrays["X"]
        if matrix.ndim != 2:
            raise DataError(f"X has shape {matrix.shape}: it must have two dimensions")
    elif {"data", "indices", "indptr", "shape"} <= set(arrays):
        matrix = as_csr(arrays["data"], arrays["indices"], arrays["indptr"], arrays["shape"])
    else:
        raise DataError(
            "has neither X nor the arrays data, indices, indptr and shape of a CSR matrix"
        )
    check_finite_rows(matrix)
    rows = matrix.shape[0]
    y = arrays.get("y") if labels else np.zeros(rows)
    if y is None or y.shape != (rows,):
        raise DataError(f"needs labels y, one for each of its {rows} rows")
    if y.dtype.kind not in "biufU":
        raise DataError(f"labels y must be numbers or strings, got {y.dtype}")
    check_no_nan(y)
    offsets, weight = arrays.get("offsets"), arrays.get("weight")
    if offsets is not None:
        offsets = check_offsets(offsets, rows)
    if weight is not None:
        weight = check_weights(weight, rows if offsets is None else len(offsets) - 1, "weight")
    return matrix, y, offsets, weight
