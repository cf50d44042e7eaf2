"""Tagged corpora as a user has them: columns, the labels of one of them, and a score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .data import FILES, find_file
from .sequences import OCR, load_tagged

if TYPE_CHECKING:
    from maxmargin.data.sequences import Sequences
    from maxmargin.features import Rows


class Corpus(NamedTuple):
    """The directory of a corpus, its files to train on and to test with, and its columns.

    ``columns`` are those of the features, ``label`` is that of the labels. ``chunks`` is true if
    the score is the F1 of chunks, otherwise it is the fraction of the tokens that are right.
    """

    data: str
    label: int = 1
    columns: tuple[int, ...] = (0,)
    chunks: bool = False
    files: tuple[str, str] | None = None


#: Six corpora, and a third one for parts of speech. The letters have pixels instead of columns.
CORPORA = {
    "JNLPBA": Corpus("jnlpba", chunks=True),
    "BC2GM": Corpus("bc2gm", chunks=True, files=("train.tsv.gz", "test.tsv.gz")),
    "WSJ POS": Corpus("wsj_pos"),
    "Brown POS": Corpus("brown_pos", label=2),
    "chunking": Corpus("conll2000", label=2, columns=(0, 1), chunks=True),
    OCR: Corpus("ocr_letters"),
    "GUM POS": Corpus("ud_gum", label=2),
}

#: The corpora of the comparisons.
SIX = tuple(CORPORA)[:6]

#: Labels by sequence: texts, or numbers from 1 of the letters.
Tags = list[list[Any]]


class Tokens(NamedTuple):
    """Sequences with their labels."""

    X: Rows | Sequences
    Y: Tags

    def part(self, chosen: np.ndarray) -> Tokens:
        """Some of the sequences."""
        return Tokens(self.X[chosen], [self.Y[i] for i in chosen.tolist()])


@lru_cache(maxsize=2)
def read_corpus(name: str, directory: Path | None) -> tuple[Tokens, Tokens]:
    """The sequences to train on and those to test with."""
    if name == OCR:
        return _letters(directory)
    corpus = CORPORA[name]
    files = corpus.files or FILES[corpus.data]
    first, second = (_read(find_file(corpus.data, directory, file), corpus) for file in files)
    return first, second


def _read(path: Path, corpus: Corpus) -> Tokens:
    from maxmargin.features import Rows
    from maxmargin.io import read_conll

    table, _ = read_conll(path, label=None)
    _, tags = read_conll(path, label=corpus.label)
    assert tags is not None
    return Tokens(Rows([table.columns[k] for k in corpus.columns], table.offsets), tags)


def _letters(directory: Path | None) -> tuple[Tokens, Tokens]:
    data = load_tagged(OCR, directory)
    parts = ((data.X, np.concatenate(data.Y)), (data.X_test, data.truth))
    first, second = (
        Tokens(X, [part.tolist() for part in np.split(codes + 1, X.offsets[1:-1])])
        for X, codes in parts
    )
    return first, second


def score(name: str, truth: Tags, predicted: Sequence[Sequence[Any]]) -> float:
    """F1 of chunks or the fraction of the tokens that are right, as the corpus is judged."""
    from maxmargin.metrics import entity_f1, token_accuracy

    judge = entity_f1 if CORPORA[name].chunks else token_accuracy
    return judge(truth, predicted)


def write_corpus(tokens: Tokens, path: Path) -> None:
    """Write the file that a user would have: CoNLL columns, or features as SVM-HMM reads them."""
    from maxmargin.features import Rows
    from maxmargin.io import hmm_lines, write_conll, write_lines_atomic

    if isinstance(tokens.X, Rows):
        write_conll(path, tokens.X, tokens.Y)
    else:
        write_lines_atomic(path, hmm_lines(tokens.X, tokens.Y))
