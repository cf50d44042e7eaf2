"""maxmargin, CRFsuite and scikit-learn behind one interface, for ``compare.py``."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import maxmargin as mm

#: Sequences with a feature per token and position, and their labels.
WORDS = [[f"w{(3 * i + j) % 17}" for j in range(8)] for i in range(30)]
LABELS = [["ABC"[(len(word) + ord(word[-1])) % 3] for word in x] for x in WORDS]


class Program:
    """What is asked of each program; methods that are left out are not offered by it."""

    name = ""
    distribution = ""
    csr = True

    @property
    def version(self) -> str:
        """The version that is installed."""
        return version(self.distribution)

    def save(self, path: Path, variant: int = 0) -> None:
        """Write a trained model; another one for another ``variant``."""
        raise NotImplementedError

    def predict(self, path: Path) -> Any:
        """Load a model and predict."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> None:
        """Train, and predict, with rows that may hold anything."""
        raise NotImplementedError

    def fit_nan(self) -> None:
        """Train with a NaN among the values of the features."""
        X, y = mm.datasets.make_multiclass(30, 5, 3)
        X[3, 2] = np.nan
        self.fit(X, y)


class MaxMargin(Program):
    """The package itself."""

    name, distribution = "maxmargin", "maxmargin"

    def __init__(self) -> None:
        X = [[{"w": word, "n": float(j)} for j, word in enumerate(x)] for x in WORDS]
        self.X = X
        self.models = [mm.ChainSVC(C=C).fit(X, LABELS) for C in (0.1, 1.0)]

    def save(self, path: Path, variant: int = 0) -> None:
        """As a .mm file."""
        self.models[variant].save(path)

    def predict(self, path: Path) -> Any:
        """Tag the sequences."""
        return mm.load(path).predict(self.X)

    def fit(self, X: Any, y: Any) -> None:
        """Linear multi-class."""
        mm.MulticlassSVC().fit(X, y).predict(X)


class CRFsuite(Program):
    """python-crfsuite."""

    name, distribution, csr = "CRFsuite", "python-crfsuite", False

    def __init__(self) -> None:
        self.X = [[{word: 1.0, "n": float(j)} for j, word in enumerate(x)] for x in WORDS]

    def _trainer(self, c2: float) -> Any:
        import pycrfsuite

        trainer = pycrfsuite.Trainer(verbose=False)
        trainer.set_params({"c2": c2, "max_iterations": 10})
        return trainer

    def save(self, path: Path, variant: int = 0) -> None:
        """Its trainer writes the model at the end of training."""
        trainer = self._trainer((0.1, 1.0)[variant])
        for x, y in zip(self.X, LABELS, strict=True):
            trainer.append(x, y)
        trainer.train(str(path))

    def predict(self, path: Path) -> Any:
        """Tag the sequences."""
        import pycrfsuite

        tagger = pycrfsuite.Tagger()
        tagger.open(str(path))
        return [tagger.tag(x) for x in self.X]

    def fit_nan(self) -> None:
        """A NaN among the values of the features."""
        trainer = self._trainer(1.0)
        for x, y in zip(self.X, LABELS, strict=True):
            trainer.append([token | {"n": np.nan} for token in x], y)
        trainer.train("/dev/null")


class ScikitLearn(Program):
    """scikit-learn's LinearSVC, saved by joblib as its documentation says."""

    name, distribution = "scikit-learn", "scikit-learn"

    def __init__(self) -> None:
        from sklearn.svm import LinearSVC

        self.X, y = mm.datasets.make_multiclass(60, 20, 4)
        self.models = [LinearSVC(C=C).fit(self.X, y) for C in (0.1, 1.0)]

    def save(self, path: Path, variant: int = 0) -> None:
        """As a pickle."""
        import joblib

        joblib.dump(self.models[variant], path)

    def predict(self, path: Path) -> Any:
        """Classify the rows."""
        import joblib

        return joblib.load(path).predict(self.X).tolist()

    def fit(self, X: Any, y: Any) -> None:
        """Linear multi-class."""
        from sklearn.svm import LinearSVC

        LinearSVC().fit(X, y).predict(X)
