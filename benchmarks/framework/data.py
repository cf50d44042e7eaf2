"""The data sets of the experiments: where they are found, and how they are read."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin.errors import MaxMarginError

#: The environment variable that names the data directory.
VARIABLE = "MAXMARGIN_DATA"

#: The files of a data set in its directory, if they are not the single file ``<name>.npz``.
FILES = {
    "adult": ("a8a.train.txt.gz", "a8a.test.txt.gz"),
    "bc2gm": ("train.tsv.gz", "split_7500_5000.npz"),
    "brown_pos": ("train.txt.gz", "test.txt.gz"),
    "checkers": ("checkers_20k.npz",),
    "conll2000": ("train.txt.gz", "test.txt.gz"),
    "gum_cfg": ("le15.unary.train.txt.gz", "le15.unary.test.txt.gz"),
    "jnlpba": ("Genia4ERtask1.iob2.gz", "Genia4EReval1.iob2.gz"),
    "multilabel": ("scene.npz", "yeast.npz", "emotions.npz", "bibtex.npz"),
    "rcv1_ccat_small": ("train.txt.gz", "test.txt.gz"),
    "reuters_r8": ("r8.npz",),
    "table_rows": ("fold1_train.npz", "fold1_test.npz"),
    "ud_gum": ("train.txt.gz", "test.txt.gz"),
    "wsj_cfg": ("le15.unary.train.txt.gz", "le15.unary.test.txt.gz"),
    "wsj_pos": ("train.txt.gz", "test.txt.gz"),
}


class Dataset(NamedTuple):
    """Training and test examples: X is CSR or dense float64, y holds class numbers from 0."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray

    @property
    def n(self) -> int:
        """Number of training examples."""
        return len(self.y)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return int(self.y.max()) + 1

    def first(self, n: int) -> Dataset:
        """The same with the first n training examples only."""
        return self._replace(X=self.X[:n], y=self.y[:n])


def data_directory(given: str | Path | None) -> Path | None:
    """The directory given, or else that of the environment variable."""
    chosen = given or os.environ.get(VARIABLE)
    return Path(chosen) if chosen else None


def find_files(name: str, directory: Path | None) -> list[Path]:
    """The files of a data set, or an error that says how to give them."""
    return [find_file(name, directory, file) for file in FILES.get(name, (f"{name}.npz",))]


def find_file(name: str, directory: Path | None, file: str | None = None) -> Path:
    """A file of a data set, ``name/name.npz`` by default, or an error that says how to give it."""
    wanted = f"{name}/{file or f'{name}.npz'}"
    if directory is None:
        raise MaxMarginError(
            f"the data set {name!r} is needed and no data directory is given: "
            f"use --data DIR or set {VARIABLE}; it must hold {wanted}"
        )
    path = directory / wanted
    if not path.is_file():
        raise MaxMarginError(
            f"the data set {name!r} is needed and {path} does not exist: "
            f"give the directory that holds {wanted} with --data DIR or {VARIABLE}"
        )
    return path


@lru_cache(maxsize=4)
def load(name: str, directory: Path | None, seed: int | None = 0) -> Dataset:
    """Read a data set, its training examples shuffled by ``seed``, or as in the file if None."""
    whole = _load_digits() if name == "digits" else LOADERS[name](*find_files(name, directory))
    if seed is None:
        return whole
    order = np.random.default_rng(seed).permutation(whole.n)
    return whole._replace(X=whole.X[order], y=whole.y[order])


def _load_digits() -> Dataset:
    """Scikit-learn's digits: no file is needed."""
    from maxmargin.datasets import load_digits_split

    X, X_test, y, y_test = load_digits_split()
    return Dataset(X, y, X_test, y_test)


def _load_covertype(path: Path) -> Dataset:
    """Numeric columns scaled to [0, 1] by the training part, the others one-hot; CSR."""
    from scipy import sparse

    with np.load(path, allow_pickle=False) as file:
        number = file["num"].astype(np.float64)
        kinds = [(file["wilderness"], 4), (file["soil"], 40)]
        y = file["y"].astype(np.int64) - 1
        test = np.unpackbits(file["test_mask_packed"])[: len(y)].astype(bool)
    low, high = number[~test].min(axis=0), number[~test].max(axis=0)
    number = (number - low) / np.where(high > low, high - low, 1.0)
    blocks = [sparse.csr_array(number)] + [_one_hot(kind, size) for kind, size in kinds]
    X: Any = sparse.hstack(blocks, format="csr")
    return Dataset(X[~test], y[~test], X[test], y[test])


def _one_hot(kind: np.ndarray, size: int) -> Any:
    from scipy import sparse

    n = len(kind)
    # scikit-learn's peers read 32-bit indices only.
    indptr = np.arange(n + 1, dtype=np.int32)
    return sparse.csr_array((np.ones(n), kind.astype(np.int32), indptr), (n, size))


def _load_counts(path: Path) -> Dataset:
    """Word counts as tf-idf with rows of length 1; CSR."""
    from scipy import sparse
    from sklearn.feature_extraction.text import TfidfTransformer

    with np.load(path, allow_pickle=False) as file:
        y, n = file["y"].astype(np.int64), int(file["n_train"])
        X = sparse.csr_array(
            (file["counts"].astype(np.float64), file["indices"].astype(np.int32), file["indptr"]),
            (len(y), int(file["n_features"])),
        )
    weighting = TfidfTransformer(sublinear_tf=True).fit(X[:n])
    return Dataset(weighting.transform(X[:n]), y[:n], weighting.transform(X[n:]), y[n:])


def _load_usps(path: Path) -> Dataset:
    with np.load(path, allow_pickle=False) as file:
        X, y, X_test, y_test = (
            file[key] for key in ("X_train", "y_train", "X_test", "y_test")
        )  # fmt: skip
    return Dataset(
        X.astype(np.float64), y.astype(np.int64), X_test.astype(np.float64), y_test.astype(np.int64)
    )


def _load_letter(path: Path) -> Dataset:
    """Sixteen integers from 0 to 15, scaled to [0, 1]."""
    with np.load(path, allow_pickle=False) as file:
        X, y, n = file["X"] / 15.0, file["y"].astype(np.int64), int(file["n_train"])
    return Dataset(X[:n], y[:n], X[n:], y[n:])


def _load_svmlight(train: Path, test: Path) -> Dataset:
    """Rows of svmlight files, the smaller label first; CSR."""
    from maxmargin.io import read_svmlight

    X, y = read_svmlight(train)
    X_test, y_test = read_svmlight(test, n_features=X.shape[1])
    classes, y = np.unique(y, return_inverse=True)
    return Dataset(X, y, X_test, np.searchsorted(classes, y_test))


LOADERS: dict[str, Callable[..., Dataset]] = {
    "adult": _load_svmlight,
    "covertype": _load_covertype,
    "letter": _load_letter,
    "news20": _load_counts,
    "rcv1_ccat_small": _load_svmlight,
    "reuters_r8": _load_counts,
    "usps": _load_usps,
}
