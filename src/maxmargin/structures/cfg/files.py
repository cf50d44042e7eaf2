"""Files of trees and sentences on the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from ...errors import DataError
from ...io import read_sentences, read_trees, write_trees
from ...io.brackets import tree_lines
from ...io.sources import display_name, open_source
from ...saving.atomic import write_lines_atomic
from ..files import DataFiles, Examples, Wish
from .estimator import CFGSVC
from .fitted import as_inputs, with_words
from .options import CFGOptions
from .show import check_svg, draw_trees, write_svg

#: The beginning of a file of trees: a bracket, optionally a label, and another bracket.
_TREE = re.compile(rb"(\xef\xbb\xbf)?\s*\(\s*[^\s()]*\s*\(")
_PEEK = 4096


class CFGFiles(DataFiles):
    """Files of bracketed trees, and files of plain sentences to parse."""

    offers = frozenset({"--draw", "--svg", "--probabilities"})

    def read(self, path: str, options: CFGOptions) -> Examples:
        """Trees to train on, without traces."""
        sentences, trees = read_trees(path, functions=options.functions)
        size = f"{len(trees):,} trees, {sum(map(len, sentences)):,} words"
        form = {"format": "trees", "functions": options.functions}
        return Examples(None, trees, path, size, form=form)

    def read_new(self, path: str, estimator: CFGSVC, wish: Wish | None = None) -> Examples:
        """Sentences in the form of the training data, also from a file of trees."""
        with open_source(path) as stream:
            if not _is_tree(stream):
                sentences = read_sentences(stream, tagged=estimator.input == "tagged")
                return Examples(sentences, None, path, f"{len(sentences):,} sentences")
            _, trees = read_trees(stream)
        X, trees = as_inputs(None, trees, estimator.input)
        return Examples(X, trees, path, f"{len(trees):,} trees")

    def read_labelled(self, path: str, estimator: CFGSVC) -> Examples:
        """Sentences with their true trees."""
        examples = self.read_new(path, estimator)
        if examples.Y is None:
            raise DataError(
                "contains no trees to compare with; use 'maxmargin predict' to parse sentences",
                display_name(path),
            )
        if estimator.input == "tags":  # the words of predicted trees are tags
            trees = [with_words(tree, tree.tags()) for tree in examples.Y]
            return replace(examples, Y=trees)
        return examples

    def lines(self, outputs: Any) -> Iterable[str]:
        """One tree per line."""
        return tree_lines(outputs)

    def predict(self, estimator: CFGSVC, path: str, out: str, wish: Wish) -> None:
        """Write one tree per line, or drawings instead of lines to standard output.

        With ``--probabilities`` a line begins with the probability that the whole tree is right.
        """
        if wish.svg is not None:
            check_svg(wish.svg)
        X = self.read_new(path, estimator).X
        trees = estimator.predict(X)
        if wish.svg is not None:
            write_svg(wish.svg, ((f"{i}", tree, None) for i, tree in enumerate(trees, 1)))
        if not wish.draw or out != "-":
            if wish.probabilities:
                pairs = zip(estimator.probability(X), self.lines(trees), strict=True)
                write_lines_atomic(out, (f"{p:.6f}\t{line}" for p, line in pairs))
            else:
                write_trees(out, trees)
        if wish.draw:
            draw_trees(trees)


def _is_tree(stream: Any) -> bool:
    """Whether a file begins like a tree; nothing is read from the stream."""
    return _TREE.match(stream.peek(_PEEK)[:_PEEK]) is not None
