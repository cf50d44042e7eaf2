"""CRFsuite, the program that the chains are compared with."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .sequences import UNKNOWN, Tagged, sentences

if TYPE_CHECKING:
    from .session import Group, Session

MODULE = "pycrfsuite"

PERCEPTRON = "averaged perceptron"

#: Algorithm and parameters of each program.
PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    PERCEPTRON: ("ap", {"max_iterations": 20}),
    "passive aggressive": ("pa", {"max_iterations": 20}),
    "l2sgd, c2 = 1": ("l2sgd", {"c2": 1.0, "max_iterations": 20}),
    "lbfgs, c2 = 1": ("lbfgs", {"c2": 1.0, "max_iterations": 100}),
}

#: Seconds of the averaged perceptron for chunking on the machine of the recorded times.
PERCEPTRON_SECONDS = 9.1


def run_peer(data: Tagged, program: str) -> dict[str, Any]:
    """Train and test; the time is that of training alone, without passing the data to it."""
    trainer = _trainer(data, *PEERS[program])
    with tempfile.TemporaryDirectory() as directory:
        model = str(Path(directory) / "model")
        start = time.perf_counter()
        trainer.train(model)
        took = time.perf_counter() - start
        del trainer
        return {"time": took, "accuracy": _test(data, model)}


def tagging_time(data: Tagged, program: str) -> float:
    """CPU seconds of CRFsuite's tagger on the test sentences, which it is given as lists."""
    import pycrfsuite

    trainer, X = _trainer(data, *PEERS[program]), list(sentences(data.X_test))
    with tempfile.TemporaryDirectory() as directory:
        model = str(Path(directory) / "model")
        trainer.train(model)
        del trainer
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        start = time.process_time()
        for x in X:
            tagger.tag(x)
        took = time.process_time() - start
        tagger.close()
    return took


def train_crf(data: Tagged, model: str) -> None:
    """Train a CRF by L-BFGS and write it to the file ``model``."""
    _trainer(data, *PEERS["lbfgs, c2 = 1"]).train(model)


def run_sgd(data: Tagged, iterations: int) -> dict[str, Any]:
    """Stochastic gradient descent with its test accuracy after each iteration.

    The test sentences are CRFsuite's holdout set. Its log has the seconds of each iteration and
    of what comes before the first one, without the tests.
    """
    trainer = _trainer(data, "l2sgd", {"c2": 1.0, "max_iterations": iterations})
    # CRFsuite would predict an unknown label too, so a known one takes its place.
    for x, y in _labelled(data, data.X_test, np.maximum(data.truth, 0)):
        trainer.append(x, y, 1)
    with tempfile.TemporaryDirectory() as directory:
        model = str(Path(directory) / "model")
        trainer.train(model, holdout=1)
        accuracy = _test(data, model)
    log = "".join(trainer.logparser.log).split("***** Epoch #1 *****")[0]
    seconds = sum(map(float, re.findall(r"Seconds required: ([\d.]+)", log)))
    points = []
    for found in trainer.logparser.iterations:
        seconds += found["time"]
        points.append([seconds, float(found["item_accuracy"])])
    return {"time": seconds, "accuracy": accuracy, "curve": points}


def _trainer(data: Tagged, algorithm: str, parameters: dict[str, Any]) -> Any:
    """A trainer that has the training data."""
    import pycrfsuite

    trainer = pycrfsuite.Trainer(algorithm=algorithm, params=parameters, verbose=False)
    for x, y in _labelled(data, data.X, np.concatenate(data.Y)):
        trainer.append(x, y)
    return trainer


def _labelled(data: Tagged, X: Any, codes: np.ndarray) -> Iterable[tuple[list[Any], list[str]]]:
    names = [data.labels[k] for k in codes.tolist()]
    ends = X.offsets.tolist()
    for i, x in enumerate(sentences(X)):
        yield x, names[ends[i] : ends[i + 1]]


def _test(data: Tagged, model: str) -> float:
    """The fraction of the test tokens whose label is right."""
    import pycrfsuite

    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    number = {label: k for k, label in enumerate(data.labels)}
    found = [number.get(tag, UNKNOWN - 1) for x in sentences(data.X_test) for tag in tagger.tag(x)]
    tagger.close()
    return float((np.array(found) == data.truth).mean())


def measure_perceptron(session: Session, n: int | None) -> Group:
    """The averaged perceptron on the chunking task, as a measure of this machine's speed."""
    return session.measure(
        {"program": PERCEPTRON, "task": "chunking", "n": n},
        lambda seed: run_peer(session.tagged("chunking", n), PERCEPTRON),
    )


def converter(perceptron: Group) -> Callable[[float], float]:
    """Convert seconds of the machine where a program was measured to seconds of this one."""
    factor = perceptron.median("time") / PERCEPTRON_SECONDS
    return lambda seconds: factor * seconds
