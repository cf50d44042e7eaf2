"""Files of sequences on the command line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import DataError, MaxMarginError
from ...features.coding import Codes
from ...features.rows import Column, Rows
from ...io import conll_lines
from ...io.sources import display_name
from ...saving.atomic import write_lines_atomic
from ..files import DataFiles, Examples, Wish
from .estimator import ChainSVC
from .options import ChainOptions
from .packed_files import PackedExamples, pack_training
from .reading import (
    Tagged,
    located,
    match_labels,
    read_new,
    read_sentences,
    read_training,
    with_file_labels,
)

#: Warn if there are more labels than this: the column of the labels is probably wrong.
_MANY_LABELS = 1000


class ChainFiles(DataFiles):
    """Files with CoNLL columns, or with features in the format of SVM-HMM."""

    offers = frozenset({"--no-labels", "--probabilities", "--raw"})

    def read(self, path: str, options: ChainOptions) -> Tagged:
        """Sequences to train on."""
        label = -1 if options.label is None else options.label
        tagged = read_training(path, options.format, label, options.scheme)
        if tagged.form["format"] == "hmm":
            options.check_for_hmm()
        _check_labels(tagged)
        return tagged

    def read_all(
        self, paths: list[str], options: ChainOptions, verbose: int = 0
    ) -> Tagged | PackedExamples:
        """Sequences in memory, or packed in a cache on disk."""
        if options.cache is not None:
            examples = pack_training(paths, options, verbose)
            _check_classes(set(examples.X.plan.classes), examples)
            return examples
        if len(paths) > 1:
            raise MaxMarginError(
                "several files are packed into arrays on disk before training: give a directory "
                "for them as --cache"
            )
        return self.read(paths[0], options)

    def estimator(self, examples: Any, options: ChainOptions) -> ChainSVC:
        """A tagger; for columns it has the default template, unless one is given."""
        parameters = options.parameters()
        if examples.form["format"] == "conll" and parameters["template"] is None:
            parameters["template"] = "default"
        return ChainSVC(**parameters)

    def fit(self, estimator: ChainSVC, examples: Any) -> None:
        """Train; errors in data that were read into memory name the line."""
        if examples.Y is None:
            super().fit(estimator, examples)
            return
        with located(examples):
            super().fit(estimator, examples)

    def read_new(self, path: str, estimator: ChainSVC, wish: Wish | None = None) -> Tagged:
        """Sequences for a fitted tagger."""
        if wish is not None and wish.raw is not None:
            return read_sentences(path, estimator, wish.raw)
        return read_new(path, estimator, wish is not None and wish.no_labels)

    def read_labelled(self, path: str, estimator: ChainSVC) -> Tagged:
        """Sequences with labels, as objects of the types that the model has."""
        tagged = with_file_labels(read_new(path, estimator))
        if tagged.Y is None:
            reason = "all tags are 0"
            if tagged.table is not None:
                reason = f"its {tagged.table.n_columns} columns do not include the label"
            raise DataError(
                f"has no labels to compare with: {reason}; 'maxmargin predict' labels it",
                display_name(path),
            )
        return tagged.with_labels(match_labels(tagged.Y, estimator.classes_))

    def predict(self, estimator: ChainSVC, path: str, out: str, wish: Wish) -> None:
        """Write the columns followed by the predicted label, or one label per line.

        With ``--probabilities`` each label is followed by ``label:probability`` of all labels.
        """
        tagged = self.read_new(path, estimator, wish)
        codes, _ = estimator._predict_codes(tagged.X)
        columns = [Column(list(map(str, estimator.classes_.tolist())), codes)]
        if wish.probabilities:
            columns += _probabilities(estimator, tagged.X)
        if tagged.table is None:
            tokens = zip(*(column.strings() for column in columns), strict=True)
            write_lines_atomic(out, map(" ".join, tokens))
        else:
            table = Rows([*tagged.table.columns, *columns], tagged.table.offsets)
            write_lines_atomic(out, conll_lines(table))

    def ranked_lines(
        self, examples: Examples, found: list[list[tuple[Any, float]]]
    ) -> Iterator[str]:
        """Each sequence once per output, after a line with rank and score."""
        table = examples.table if isinstance(examples, Tagged) else None
        rows: Any = [[()] * len(one[0][0]) for one in found] if table is None else table
        for tokens, outputs in zip(rows, found, strict=True):
            for rank, (labels, score) in enumerate(outputs):
                yield f"# {rank} {score}"
                for token, label in zip(tokens, labels, strict=True):
                    yield " ".join((*token, str(label)))
                yield ""


def _probabilities(estimator: ChainSVC, X: Any) -> list[Column]:
    """A column ``label:probability`` for each label of the model."""
    found = np.concatenate(estimator.predict_marginals(X))
    columns = []
    for k, label in enumerate(estimator.classes_.tolist()):
        index = Codes()
        codes = index.encode((f"{label}:{p:.6f}" for p in found[:, k].tolist()), len(found))
        columns.append(Column(list(index), codes))
    return columns


def _check_labels(tagged: Tagged) -> None:
    assert tagged.Y is not None
    _check_classes({label for labels in tagged.Y for label in labels}, tagged)


def _check_classes(labels: set[Any], tagged: Any) -> None:
    """Raise an error for a single label, and warn of very many."""
    where = f"column {tagged.form['label']}" if "label" in tagged.form else "the file"
    name = display_name(tagged.path)
    if len(labels) == 1:
        hint = "; is --label right?" if "label" in tagged.form else ""
        raise DataError(
            f"all tokens have the label {labels.pop()!r} in {where}: two are needed{hint}", name
        )
    if len(labels) > _MANY_LABELS:
        warnings.warn(
            f"{name}: there are {len(labels):,} different labels in {where}, each with separate "
            "weights; if this is not the column of the labels, give --label",
            stacklevel=2,
        )
