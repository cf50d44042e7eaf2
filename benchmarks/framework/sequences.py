"""The sequences of the experiments: tagging tasks, their features and their labels."""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.data.sequences import Sequences
from maxmargin.errors import MaxMarginError

from .data import find_files

if TYPE_CHECKING:
    from maxmargin.features import Rows

#: The label of test tokens whose true label does not occur in training: always counted wrong.
UNKNOWN = -1


class Tagged(NamedTuple):
    """Training and test sequences.

    ``Y`` holds the label numbers of each training sequence, from 0; ``truth`` those of all test
    tokens, `UNKNOWN` for labels that do not occur in training. ``extract_time`` is the time of
    feature extraction in seconds.
    """

    X: Sequences
    Y: list[np.ndarray]
    X_test: Sequences
    truth: np.ndarray
    labels: list[str]
    extract_time: float

    @property
    def n(self) -> int:
        """Number of training sequences."""
        return len(self.Y)


class Source(NamedTuple):
    """A task: the directory of its files, the column of its labels, and its features.

    ``train`` and ``test`` are numbers of sentences, counted from the beginning of the file.
    """

    data: str
    column: int
    template: str
    train: int | None = None
    test: int | None = None


OCR = "OCR letters"

#: All affixes and the length of three words, as in the experiments of Joachims et al. (2009).
AFFIXES = """\
padding _B _E
prefix(word[-1..1])
suffix(word[-1..1])
length(word[-1..1])
"""

#: The tasks by name. The first POS task is the stand-in for the one of Balamurugan et al. (2011).
TASKS = {
    "chunking": Source("conll2000", 2, "chunking"),
    "POS": Source("conll2000", 1, AFFIXES),
    "POS 7200": Source("conll2000", 1, AFFIXES, 7200, 1681),
    "WSJ POS": Source("wsj_pos", 1, AFFIXES),
    "Brown POS": Source("brown_pos", 2, AFFIXES),
    "BioNLP": Source("jnlpba", 1, AFFIXES),
    "BioCreative": Source("bc2gm", 1, AFFIXES),
}


@lru_cache(maxsize=2)
def load_tagged(task: str, directory: Path | None, n: int | None = None) -> Tagged:
    """Read a task and extract its features.

    Parameters
    ----------
    task : str
        One of `TASKS`, or `OCR`.
    directory : path or None
        Where the data sets are.
    n : int, optional
        Take at most the first n training and the first n test sequences.
    """
    if task == OCR:
        return _load_letters(directory, n)
    if task not in TASKS:
        raise MaxMarginError(f"unknown task {task!r}; there are {', '.join([*TASKS, OCR])}")
    source = TASKS[task]
    (rows, tags), (rows_test, tags_test) = read_columns(source, directory)
    train, test = (_least(limit, n) for limit in (source.train, source.test))
    return _extract(source, rows[:train], tags[:train], rows_test[:test], tags_test[:test])


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def read_columns(source: Source, directory: Path | None) -> list[tuple[Rows, list[list[str]]]]:
    """Columns and labels of the training and of the test sentences."""
    first, second = find_files(source.data, directory)
    if second.suffix != ".npz":
        return [_read_file(path, source.column) for path in (first, second)]
    rows, tags = _read_file(first, source.column)  # both parts are drawn from one file
    with np.load(second, allow_pickle=False) as split:
        parts = [split[key] for key in ("train_idx", "test_idx")]
    return [(rows[part], [tags[i] for i in part.tolist()]) for part in parts]


def _read_file(path: Path, column: int) -> tuple[Rows, list[list[str]]]:
    from maxmargin.io import read_conll

    rows, tags = read_conll(path, label=column)
    assert tags is not None
    return rows, tags


def _extract(
    source: Source, rows: Any, tags: list[list[str]], rows_test: Any, tags_test: list[list[str]]
) -> Tagged:
    from maxmargin.features import Extractor

    start = time.perf_counter()
    extractor = Extractor(source.template)
    X, X_test = extractor.fit_transform(rows), extractor.transform(rows_test)
    took = time.perf_counter() - start
    labels = sorted({tag for sentence in tags for tag in sentence})
    Y = np.split(_numbers(tags, labels), X.offsets[1:-1])
    return Tagged(X, Y, X_test, _numbers(tags_test, labels), labels, took)


def _numbers(tags: Iterable[Iterable[str]], labels: list[str]) -> np.ndarray:
    number = {label: k for k, label in enumerate(labels)}
    return np.array([number.get(tag, UNKNOWN) for part in tags for tag in part], np.int16)


def _load_letters(directory: Path | None, n: int | None) -> Tagged:
    """Handwritten words, 128 pixels per letter; fold 0 is the test part."""
    (path,) = find_files("ocr_letters", directory)
    with np.load(path, allow_pickle=False) as file:
        pixels = np.unpackbits(file["pixels_packed"], axis=1).astype(np.float32)
        letters, test = file["labels"].astype(np.int16), file["fold"] == 0
        words = Sequences(pixels, file["word_offsets"])
    start = time.perf_counter()
    parts = [np.flatnonzero(~test)[:n], np.flatnonzero(test)[:n]]
    X, X_test = (words[part] for part in parts)
    took = time.perf_counter() - start
    spelt = np.split(letters, words.offsets[1:-1])
    Y = [spelt[i] for i in parts[0].tolist()]
    truth = np.concatenate([spelt[i] for i in parts[1].tolist()])
    return Tagged(X, Y, X_test, truth, [chr(ord("a") + k) for k in range(26)], took)


def sentences(X: Sequences) -> Iterable[list[list[str]]]:
    """The features of each token as names: the numbers of their columns as text."""
    names = [str(column) for column in range(X.n_features)]
    indices = X.matrix.indices
    for begin, end in pairwise(X.offsets):
        bounds = pairwise(X.matrix.indptr[begin : end + 1].tolist())
        yield [[names[j] for j in indices[lo:hi].tolist()] for lo, hi in bounds]
