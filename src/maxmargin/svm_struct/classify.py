"""``svm_hmm_classify`` and ``svm_multiclass_classify``, with the output of the originals."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ..cli.guard import check_output
from ..data.sequences import Sequences
from ..errors import ModelFileError
from ..io import write_lines_atomic
from ..io.hmm import integer_labels, read_hmm
from ..io.svm_struct import HMM, MULTICLASS, StructModel, read_svm_struct
from ..io.svmlight import read_examples
from .models import chain_weights
from .options import ClassifyOptions

#: Number of rows whose scores are in memory at the same time.
BLOCK = 10_000


def classify(program: str, options: ClassifyOptions) -> None:
    """Predict, write the predictions and print the same lines as SVM-struct."""
    hmm = program == "svm_hmm_classify"
    if options.output != "-":
        for source in (options.data, options.model):
            check_output(Path(options.output), source)
    say = print if options.verbosity > 0 else _nothing
    model = read_svm_struct(options.model)
    wanted = HMM if hmm else MULTICLASS
    if model.program != wanted:
        raise ModelFileError(
            f"{options.model}: this is a model of {model.program}, not of {wanted}"
        )
    say("Reading model...done.", flush=True)
    (_classify_hmm if hmm else _classify_multiclass)(model, options, say)


def _nothing(*text: str, flush: bool = False) -> None:
    """Print nothing, for ``-v 0``."""


def _classify_hmm(model: StructModel, options: ClassifyOptions, say: Any) -> None:
    from ..engine.shard import predict_labels
    from ..structures.chain.problem import Chain

    X, Y = read_hmm(options.data, unknown=True)
    tags = np.concatenate([np.array(sequence) for sequence in Y])
    n, tokens = len(X), len(tags)
    say(
        f"Reading test examples... {n} examples, {tokens} tokens, {X.n_features} features, "
        f"{tags.max()} classes... done.",
        flush=True,
    )
    K, d = model.emission.shape
    problem, w = Chain(K), chain_weights(model)
    X = Sequences(_with_columns(X.matrix, d), X.offsets)
    predict_labels(
        problem, problem.pack(X[:1]), w
    )  # loads the compiled code before the clock starts
    start = time.process_time()
    predicted = predict_labels(problem, problem.pack(X), w) + 1
    say(_runtime(start))
    write_lines_atomic(options.output, map(str, predicted.tolist()))
    wrong = np.add.reduceat((predicted != tags).astype(np.int64), X.offsets[:-1])
    loss = wrong if model.loss == 1 else (wrong > 0)
    _say_errors(loss.mean(), int((wrong == 0).sum()), n, say)
    say(f"Average loss per token: {wrong.sum() / tokens:.4f}")


def _classify_multiclass(model: StructModel, options: ClassifyOptions, say: Any) -> None:
    examples = read_examples(options.data)
    y = integer_labels(examples, options.data, "class", lowest=0)
    n = len(y)
    say(f"Reading test examples... ({n} examples) done.", flush=True)
    start = time.process_time()
    X = _with_columns(examples.X, model.emission.shape[1])
    predicted = np.concatenate([scores.argmax(axis=1) for scores in _scores(X, model)]) + 1
    say(_runtime(start))
    write_lines_atomic(options.output, _score_lines(X, model))
    if (y == 0).any():
        return  # the class of some examples is not known
    loss = (predicted - y) ** 2 if model.loss == 1 else 100 * (predicted != y)
    _say_errors(loss.mean(), int((predicted == y).sum()), n, say)


def _with_columns(matrix: Any, d: int) -> Any:
    """The matrix with d columns; features not seen in training are dropped."""
    if matrix.shape[1] > d:
        return matrix[:, :d]
    # resize works in place and only changes the shape here, so no entries are lost.
    matrix.resize(matrix.shape[0], d)
    return matrix


def _scores(X: Any, model: StructModel) -> Iterator[np.ndarray]:
    """Scores (rows, K) of one block of rows after the other."""
    for start in range(0, X.shape[0], BLOCK):
        yield X[start : start + BLOCK] @ model.emission.T


def _score_lines(X: Any, model: StructModel) -> Iterator[str]:
    """Lines ``class score score ...``; the lowest class wins ties."""
    for scores in _scores(X, model):
        for best, row in zip(scores.argmax(axis=1).tolist(), scores.tolist(), strict=True):
            yield f"{best + 1} {' '.join([f'{score:.6f}' for score in row])}"


def _runtime(start: float) -> str:
    return (
        "Classifying test examples...done\n"
        f"Runtime (without IO) in cpu-seconds: {time.process_time() - start:.2f}"
    )


def _say_errors(average: float, correct: int, n: int, say: Any) -> None:
    say(f"Average loss on test set: {average:.4f}")
    say(
        f"Zero/one-error on test set: {100 * (n - correct) / n:.2f}% "
        f"({correct} correct, {n - correct} incorrect, {n} total)"
    )
