"""What the commands do with trees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ...cli.guard import check_output
from ...data.trees import Tree
from ...errors import DataError, MaxMarginError
from ...estimators import CFGSVC
from ...io import read_sentences, read_trees, write_lines_atomic, write_trees
from ...io.brackets import tree_lines
from ...io.sources import display_name, open_source
from ...metrics import BracketEvaluation
from .estimator import as_inputs, with_words
from .show import draw_trees

#: How a file of trees begins: a bracket, perhaps a label, and another bracket.
_TREE = re.compile(rb"(\xef\xbb\xbf)?\s*\(\s*[^\s()]*\s*\(")
_PEEK = 4096


def check_cfg(parameters: dict[str, Any]) -> None:
    """Refuse what can be refused before the data are read."""
    if parameters["rescaling"] == "slack" and parameters["loss"] == "bracket":
        raise MaxMarginError(
            "--rescaling slack has no oracle for the bracket loss: use --loss zero-one"
        )


def read_cfg_data(data: str, functions: bool) -> tuple[list[Tree], str]:
    """Trees to train on, without traces, and what to say of their number."""
    sentences, trees = read_trees(data, functions=functions)
    return trees, f"{len(trees):,} trees, {sum(map(len, sentences)):,} words"


def fit_cfg(trees: list[Tree], parameters: dict[str, Any], functions: bool) -> CFGSVC:
    """Train a parser."""
    estimator = CFGSVC(**parameters).fit(None, trees)
    estimator._data_format = {"format": "trees", "functions": functions}
    return estimator


def check_drawing(
    estimator: Any, model: Path, data: str, draw: bool = False, svg: Path | None = None
) -> None:
    """Refuse pictures of what is no tree, and those that could not be written."""
    if not isinstance(estimator, CFGSVC) and (draw or svg is not None):
        raise MaxMarginError(
            f"{model}: is a {type(estimator).__name__}, and --draw and --svg draw trees"
        )
    if svg is not None:
        if svg.suffix.lower() != ".svg":
            raise MaxMarginError(f"{svg}: trees are drawn as SVG: name a file that ends in .svg")
        check_output(svg, data)


def predict_cfg(estimator: CFGSVC, data: str, out: str, draw: bool, svg: Path | None) -> None:
    """Write one tree a line; drawings take the place of lines on standard output."""
    X = _read_sentences(estimator, data)
    trees = estimator.predict(X)
    if svg is not None:
        from ...data.tree_svg import write_svg

        write_svg(svg, ((f"{i}", tree, None) for i, tree in enumerate(trees, 1)))
    if not draw or out != "-":
        write_trees(out, trees)
    if draw:
        draw_trees(trees)


def predict_cfg_m_best(estimator: CFGSVC, data: str, out: str, m: int, diversity: float) -> None:
    """Write the trees of each sentence one a line, its score before it, and a blank line."""
    found = estimator.predict_m_best(_read_sentences(estimator, data), m, diversity)
    write_lines_atomic(out, _ranked_lines(found))


def _ranked_lines(found: list[list[tuple[Any, float]]]) -> Iterator[str]:
    for outputs in found:
        for (_, score), line in zip(outputs, tree_lines(tree for tree, _ in outputs), strict=True):
            yield f"{score}\t{line}"
        yield ""


def _read_sentences(estimator: CFGSVC, data: str) -> list[Any]:
    """Sentences as the parser was trained on them, also from a file of trees."""
    with open_source(data) as stream:
        if not _TREE.match(stream.peek(_PEEK)[:_PEEK]):  # type: ignore[attr-defined]
            return read_sentences(stream, tagged=estimator.input == "tagged")
        _, trees = read_trees(stream)
    return as_inputs(None, trees, estimator.input)[0]


class Parsed(NamedTuple):
    """True trees, predicted ones and what they agree in."""

    truth: list[Tree]
    found: list[Any]
    evaluation: BracketEvaluation


def evaluate_cfg(estimator: CFGSVC, data: str) -> Parsed:
    """Parse the sentences of a file of trees and count."""
    with open_source(data) as stream:
        if not _TREE.match(stream.peek(_PEEK)[:_PEEK]):  # type: ignore[attr-defined]
            raise DataError(
                "holds no trees to compare with; 'maxmargin predict' parses sentences",
                display_name(data),
            )
        _, trees = read_trees(stream)
    X, trees = as_inputs(None, trees, estimator.input)
    if estimator.input == "tags":  # the words of predicted trees are tags
        trees = [with_words(tree, tree.tags()) for tree in trees]
    found = estimator.predict(X)
    return Parsed(trees, found, BracketEvaluation.of(trees, found))
