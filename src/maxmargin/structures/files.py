"""``DataFiles``: how the command line reads the examples of a structure and writes predictions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

from ..errors import MaxMarginError
from ..saving.atomic import write_lines_atomic


@dataclass(frozen=True)
class Examples:
    """The examples of a file.

    Attributes
    ----------
    X : inputs, in the form that the estimator reads
    Y : true outputs, or None if the file has none
    path : str
    size : str
        Their number as text: "120 trees, 2,400 words".
    weight : array (n,) or None
        Weights of the examples.
    form : dict or None
        The format of the file as JSON, kept in the model to read other files of this format.
    """

    X: Any
    Y: Any
    path: str
    size: str
    weight: Any = None
    form: Any = None


@dataclass(frozen=True)
class Wish:
    """The options of ``maxmargin predict``.

    Attributes
    ----------
    scores : bool
        Write the score of each class.
    no_labels : bool
        The file has no labels.
    draw : bool
        Draw outputs to standard output.
    svg : path or None
        Draw outputs to this file.
    raw : callable or None
        The file contains plain sentences, one per line, which this function splits into words.
    probabilities : bool
        Write the probabilities of a calibrated model.
    """

    scores: bool = False
    no_labels: bool = False
    draw: bool = False
    svg: Any = None
    raw: Any = None
    probabilities: bool = False

    def given(self) -> list[str]:
        """The options that were given, as on the command line."""
        return [_option(f.name) for f in fields(self) if getattr(self, f.name)]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class DataFiles:
    """Reads examples and writes predictions.

    A structure overrides ``read`` and, if its outputs are not plain values, ``lines``; the other
    methods have defaults that use these.

    Parameters
    ----------
    structure : Structure
    """

    #: The supported options of ``predict``: "--scores", "--no-labels", "--draw", ...
    offers: frozenset[str] = frozenset()

    def __init__(self, structure: Any):
        self.structure = structure

    def read(self, path: str, options: Any) -> Examples:
        """Examples to train on; ``options`` are those of ``maxmargin train NAME``."""
        raise MaxMarginError(f"training from files is not available for {self.structure.name}")

    def read_all(self, paths: list[str], options: Any, verbose: int = 0) -> Examples:
        """Examples of one or more files to train on; 1 as ``verbose`` shows progress."""
        if len(paths) > 1:
            raise MaxMarginError("several files cannot be trained on: join them into one")
        return self.read(paths[0], options)

    def estimator(self, examples: Examples, options: Any) -> Any:
        """An estimator for these examples, with the parameters that the options give."""
        return self.structure.estimator(**options.parameters())

    def fit(self, estimator: Any, examples: Examples) -> None:
        """Train the estimator on the examples."""
        if examples.weight is None:
            estimator.fit(examples.X, examples.Y)
        else:
            estimator.fit(examples.X, examples.Y, sample_weight=examples.weight)
        estimator._data_format = examples.form

    def read_new(self, path: str, estimator: Any, wish: Wish | None = None) -> Examples:
        """Examples for a fitted estimator; ``wish`` holds the options of ``predict``."""
        return self.read(path, self.structure.options())

    def read_labelled(self, path: str, estimator: Any) -> Examples:
        """Examples with true outputs for a fitted estimator."""
        examples = self.read_new(path, estimator)
        if examples.Y is None:
            raise MaxMarginError(f"{path}: has no true outputs to compare with")
        return examples

    def lines(self, outputs: Any) -> Iterable[str]:
        """Predictions as lines of text."""
        return map(str, outputs)

    def predict(self, estimator: Any, path: str, out: str, wish: Wish) -> None:
        """Write predictions to ``out`` ("-" is standard output)."""
        examples = self.read_new(path, estimator, wish)
        write_lines_atomic(out, self.lines(estimator.predict(examples.X)))

    def predict_m_best(
        self, estimator: Any, path: str, out: str, wish: Wish, m: int, diversity: float | None
    ) -> None:
        """Write up to m outputs per example with their scores, followed by a blank line."""
        examples = self.read_new(path, estimator, wish)
        found = estimator.predict_m_best(examples.X, m, diversity or 0.0)
        write_lines_atomic(out, self.ranked_lines(examples, found))

    def ranked_lines(
        self, examples: Examples, found: list[list[tuple[Any, float]]]
    ) -> Iterator[str]:
        """The lines of ``predict_m_best``, each with a score and an output."""
        for outputs in found:
            lines = self.lines([output for output, _ in outputs])
            for (_, score), line in zip(outputs, lines, strict=True):
                yield f"{score}\t{line}"
            yield ""
