"""``mm.Files``: training data in files that the workers read themselves."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..data.labels import as_label_array, encode_labels
from ..data.source import OpenSource, Source
from ..errors import DataError
from ..problem import CompiledProblem, Pack
from .file_progress import FileProgress
from .formats import (
    FORMATS,
    Layout,
    Plan,
    Survey,
    digest_of,
    extractor_of,
    find_survey,
    read_inputs,
    read_same,
    survey_file,
)
from .packed import examples_of, read_packed
from .packing import is_packed, write_packed
from .sources import find_paths

_SUFFIXES = {
    ".svmlight": "svmlight", ".svm": "svmlight", ".hmm": "hmm", ".conll": "conll", ".npz": "npz",
}  # fmt: skip


class Files(Source):
    """Data files, instead of ``X, Y`` in ``fit`` and ``mm.train``.

    Each file is read twice in the first run: once to collect labels and features, and once to pack
    its examples into arrays on disk. Later runs map these arrays into memory, and a run after an
    interrupted one packs only the files that are missing. With a backend its workers read the
    files; only labels, names of features and counts pass through the driver.

    Parameters
    ----------
    paths : str, path or list of these
        Files or patterns such as ``"data/part-*.txt"``, or addresses that fsspec knows, such as
        ``"s3://bucket/part-*.txt"``. A file is never split between shards: use a few files per
        shard, none larger than the memory of a worker.
    format : {"svmlight", "hmm", "conll", "npz"}, optional
        By default taken from the extension of the first file. An npz file holds ``X`` (or ``data``,
        ``indices``, ``indptr`` and ``shape`` of a CSR matrix) and ``y``; for chains ``offsets``,
        the first row of each sequence; and optionally ``weight``, the weights of the examples.
    label : int or None
        The column with the labels in CoNLL files. Files to be predicted may have no labels: None,
        or one column fewer than in training.
    template : str, optional
        Template for the features of CoNLL files, if the estimator has no template.
    cache : path, optional
        Directory for packed shards; by default that of the backend, or else ``maxmargin`` in the
        user's cache directory.

    Examples
    --------
    >>> mm.ChainSVC(template="default").fit(mm.Files("part-*.txt", "conll"))  # doctest: +SKIP
    """

    def __init__(
        self,
        paths: Any,
        format: str | None = None,
        *,
        label: int | None = -1,
        template: Any = None,
        cache: Any = None,
    ):
        several = paths if isinstance(paths, list | tuple) else [paths]
        self.paths = [os.fspath(path) for path in several]
        if not self.paths:
            raise DataError("Files needs at least one path")
        self.format = self._guess() if format is None else format
        if self.format not in FORMATS:
            raise DataError(f"format is one of {', '.join(FORMATS)}, got {self.format!r}")
        self.label = label
        self.template = template
        self.cache = None if cache is None else os.fspath(cache)

    def __repr__(self) -> str:
        return f"Files({self.paths!r}, {self.format!r})"

    def open(self, backend: Any = None, template: Any = None) -> FileData:
        """Collect labels and features of all files."""
        return FileData(self, backend, template)

    def layout(self, template: Any = None) -> Layout:
        """The format of the files, with the label column and the template."""
        template = self.template if template is None else template
        if template is not None and self.format == "conll":
            from ..features import Template

            template = Template(template).text
        return Layout(self.format, self.label, template)

    def _guess(self) -> str:
        endings = Path(self.paths[0]).suffixes
        for ending in reversed(endings):
            if ending in _SUFFIXES:
                return _SUFFIXES[ending]
        raise DataError(
            f"the format is not clear from the name: give format=, one of {', '.join(FORMATS)}",
            path=self.paths[0],
        )


class FileData(OpenSource):
    """Files whose labels and features are known, ready to be loaded as shards.

    Parameters
    ----------
    files : Files
    backend : Backend, optional
        Its workers read the files.
    template : optional
        Template for the features of CoNLL files.
    min_count : int
        Features of CoNLL files that occur in fewer tokens are left out.
    verbose : int
        1 shows on stderr how far reading has come.
    """

    def __init__(
        self,
        files: Files,
        backend: Any = None,
        template: Any = None,
        min_count: int = 1,
        verbose: int = 0,
    ):
        found = find_paths(files.paths)
        self.paths, self.sizes = [path for path, _ in found], [size for _, size in found]
        layout = files.layout(template)
        if min_count > 1 and layout.format != "conll":
            raise DataError(
                "min_count counts features with names, which only CoNLL files have: leave out rare "
                "columns yourself"
            )
        self.cache = files.cache or (None if backend is None else backend.cache) or default_cache()
        self.progress = FileProgress(self.sizes, verbose)
        jobs = [(path, layout, self.cache) for path in self.paths]
        # In this process one survey after the other: the names in all of them may be too many.
        surveys = self._survey(jobs) if backend is None else backend.map(survey_file, jobs)
        merged = agree(surveys, layout, self.paths, min_count)
        self.plan, self.counts, self.digests, self.n, self.columns = merged
        self.classes = as_classes(self.plan.classes)
        self.class_weight: np.ndarray | None = None

    def _survey(self, jobs: list[tuple[str, Layout, str]]) -> Iterator[Survey]:
        with self.progress.shown():
            for number, job in enumerate(jobs):
                survey, known = find_survey(*job)
                self.progress.add(number, known)
                yield survey

    def sources(self, problem: CompiledProblem, K: int) -> list[FileSource]:
        """K shards of similar size; fewer if there are fewer files."""
        targets = problem.encode_classes(len(self.classes))
        return [
            FileSource(
                problem, [self.paths[f] for f in part],
                [self.digests[f] for f in part], self.cache, targets, self.class_weight,
            )
            for part in balance(self.sizes, K)
        ]  # fmt: skip

    def pack(self, problem: CompiledProblem) -> Pack:
        """Load all files as one shard in this process."""
        return self.sources(problem, 1)[0].load(self.plan, self.progress)[1]


class FileSource(NamedTuple):
    """The files of one shard."""

    problem: CompiledProblem
    paths: list[str]
    digests: list[str]
    cache: str
    targets: np.ndarray
    class_weight: np.ndarray | None

    def load(
        self, shared: Plan, progress: FileProgress | None = None
    ) -> tuple[CompiledProblem, Pack]:
        """Map the packed shard into memory; pack it first if it is not in the cache."""
        plan = shared
        place = Path(self.cache) / f"shard-{digest_of([plan.key(), self.digests])}"
        if not is_packed(place):
            self._write(place, plan, progress or FileProgress([0] * len(self.paths), 0))
        part = read_packed(place, plan.n_features, len(plan.classes))
        weight = np.asarray(part.weight)
        if self.class_weight is not None:
            weight = weight * self.class_weight[part.codes]
        X, Y = examples_of(part)
        if part.offsets is not None and self.problem.n_outputs is not None:
            raise DataError("has offsets of sequences: use ChainSVC", path=self.paths[0])
        if part.offsets is None:
            Y = self.targets[part.codes]
        else:
            self.problem.check_truth(X, part.codes, as_classes(plan.classes))
        return self.problem, self.problem.pack(X, Y, weight)

    def _write(self, place: Path, plan: Plan, progress: FileProgress) -> None:
        extractor = extractor_of(plan)
        pairs = zip(self.paths, self.digests, strict=True)
        readers = [partial(read_same, path, digest, plan, extractor) for path, digest in pairs]
        with progress.shown():
            write_packed(place, readers, plan.n_features, progress.add)


class Agreement(NamedTuple):
    """The plan, the count of each label, the digest of each file and the number of examples.

    ``columns`` is the number of columns of CoNLL files without the labels.
    """

    plan: Plan
    counts: np.ndarray
    digests: list[str]
    n: int
    columns: int


def agree(
    surveys: Iterable[Survey], layout: Layout, paths: list[str], min_count: int = 1
) -> Agreement:
    """Numbers of labels and columns of features for all files."""
    labels, names = Counter[Any](), Counter[str]()
    digests: list[str] = []
    template, columns, n, n_features = None, 0, 0, 0
    for path, survey in zip(paths, surveys, strict=True):
        labels.update(dict(survey.labels))
        names.update(dict(zip(survey.names or (), survey.counts or (), strict=True)))
        if digests and survey.columns != columns:
            raise DataError(f"does not have the same number of columns as {paths[0]}", path=path)
        template, columns = survey.template, survey.columns
        digests.append(survey.digest)
        n, n_features = n + survey.n, max(n_features, survey.n_features)
    if n == 0 or (layout.format != "conll" and n_features == 0):
        what = "examples" if n == 0 else "features"
        raise DataError(f"there are no {what} to learn from in {', '.join(paths[:3])}")
    if not any(labels.values()):
        raise DataError("all weights in the files are zero: nothing to learn from")
    ordered = _columns(names, min_count) if layout.format == "conll" else None
    classes = encode_labels(as_label_array(list(labels)))[0].tolist()
    plan = Plan(layout, classes, n_features if ordered is None else len(ordered), ordered, template)
    counts = np.array([labels[label] for label in classes])
    return Agreement(plan, counts, digests, n, columns)


def _columns(counts: Counter[str], min_count: int) -> list[str]:
    """The names of features, the most frequent first, as in ``features.Extractor``."""
    names = [name for name, count in counts.items() if count >= min_count]
    if not names:
        raise DataError(f"no feature occurs min_count = {min_count} times; use a lower min_count")
    return sorted(names, key=lambda name: -counts[name])


def as_classes(labels: list[Any]) -> np.ndarray:
    """The labels as an array, like ``classes_`` of an estimator."""
    return encode_labels(as_label_array(labels))[0]


def predict_file(path: str, layout: Layout, estimator: Any) -> Any:
    """The predictions of an estimator for one file."""
    trained = estimator._data_format or {"least": getattr(estimator, "_n_columns", 1)}
    return estimator.predict(read_inputs(path, layout, estimator.n_features_in_, trained))


def balance(sizes: list[int], K: int) -> list[list[int]]:
    """Assign files to at most K shards: largest first, each to the smallest shard so far."""
    K = max(1, min(K, len(sizes)))
    parts: list[list[int]] = [[] for _ in range(K)]
    loads = [0] * K
    for f in sorted(range(len(sizes)), key=lambda f: -sizes[f]):
        k = loads.index(min(loads))
        parts[k].append(f)
        loads[k] += max(sizes[f], 1)
    return [sorted(part) for part in parts]


def default_cache() -> str:
    """The cache directory of the user."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "maxmargin")
