"""``CFG``: the problem of parsing, which packs trees and sentences for ``functions.py``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.trees import Tree
from ...engine.linalg import read_only
from ...errors import DataError, ProblemError
from ...objective import check_positive
from ...problem import MARGIN, PREDICT, CompiledProblem, Functions, Pack
from .cky import LONGEST, lay_out, span_of, write_node
from .cky_kbest import forest_work
from .counted import COUNTED_FUNCTIONS, F1, F1_PREDICTION
from .functions import BRACKET, BRACKET_FUNCTIONS, FUNCTIONS, ZERO_ONE, CFGData, sum_truths
from .grammar import FEATURE_AT, LABEL_AT, Grammar, flat, ints, section
from .input import FEATURES, INPUTS, LOSSES, Sentence, read_examples, read_sentences
from .lexicon import Lexicon, find_rows

#: The number of each loss in compiled functions.
NUMBER_OF: dict[str, int] = dict(zip(LOSSES, (BRACKET, ZERO_ONE, F1), strict=True))

#: The functions of each loss, for all modes.
FUNCTIONS_OF = {"bracket": COUNTED_FUNCTIONS, "zero-one": FUNCTIONS, "f1": COUNTED_FUNCTIONS}

#: Upper limits of the classes of widths; wider spans are another class.
WIDTHS = (1, 2, 3, 4, 5, 7, 10, 15, 25)


class CFG(CompiledProblem):
    """Trees over sentences, with a given grammar.

    Parameters
    ----------
    grammar : Grammar
    lexicon : Lexicon
    loss : {"bracket", "zero-one", "f1"}
    beam : float, optional
        In prediction, prune constituents whose score is lower than the best one over the same
        words by more than this.
    """

    cache = 10

    def __init__(
        self,
        grammar: Grammar,
        lexicon: Lexicon,
        loss: str = "bracket",
        beam: float | None = None,
    ):
        if loss not in LOSSES:
            raise DataError(f"loss must be 'bracket', 'zero-one' or 'f1', got {loss!r}")
        self.functions = FUNCTIONS_OF[loss]
        self.grammar, self.lexicon, self.loss = grammar, lexicon, loss
        self.beam = np.inf if beam is None else check_positive("beam", beam)
        self._words: list[str] = []
        self._word_number: dict[str, int] = {}

    @classmethod
    def read(
        cls, X: Any, Y: Any, *, loss: str = "bracket", features: str = "rules",
        input: str = "words", horizontal: int | None = None, vertical: int = 1, rare: int = 1,
    ) -> CFG:  # fmt: skip
        """The problem with the grammar and features of training data; X may be None."""
        if input not in INPUTS:
            raise DataError(f"input must be 'words', 'tags' or 'tagged', got {input!r}")
        if features not in FEATURES:
            raise DataError(f"features must be 'rules' or 'rich', got {features!r}")
        if vertical not in (1, 2) or not (horizontal is None or horizontal >= 0):
            raise DataError(
                "vertical must be 1 or 2, and horizontal None or an integer >= 0, got "
                f"{vertical!r} and {horizontal!r}"
            )
        sentences, trees = read_examples(X, Y, input)
        grammar = Grammar.read(trees, horizontal, vertical)
        number = {tag: k for k, tag in enumerate(grammar.tags)}
        gold = [[number[tag] for tag in tree.tags()] for tree in trees]
        lexicon = Lexicon.read(sentences, gold, grammar.tags, input, features == "rich", rare)
        return cls(grammar, lexicon, loss)

    @property
    def base(self) -> np.ndarray:
        """The positions in w of the kinds of features after the first, and the length of w."""
        K, NL, n = len(self.grammar.tags), len(self.grammar.labels), self.lexicon.n_groups
        sizes = [len(self.grammar.features), len(self.lexicon.words) * K]
        if self.lexicon.rich:
            sizes += [
                len(self.lexicon.edges) * 2 * NL,
                (len(WIDTHS) + 1) * NL,
                n * n * NL,
                n * n * NL,
            ]
        else:
            sizes += [0, 0, 0, 0]
        return np.cumsum(sizes)

    def pack(self, X: Any, Y: Any = None, sample_weight: np.ndarray | None = None) -> Pack:
        """Pack sentences X and true trees Y; the grammar must contain the rules of Y."""
        if Y is None:
            sentences, codes = read_sentences(X, self.lexicon.input), None
        else:
            sentences, trees = read_examples(X, Y, self.lexicon.input)
            codes = [self._encode(i, tree) for i, tree in enumerate(trees)]
        lengths = np.array([len(sentence.words) for sentence in sentences], np.int64)
        if lengths.max(initial=0) > LONGEST:
            raise DataError(f"sentence {lengths.argmax()} has more than {LONGEST} tokens")
        offsets = read_only(np.concatenate([[0], np.cumsum(lengths)]), np.int64)
        at = np.concatenate([[0], np.cumsum(np.maximum(6 * lengths - 3, 0))])
        truth = np.zeros(at[-1], np.int32) if codes is None else np.concatenate(codes)
        at, truth = read_only(at, np.int64), read_only(truth, np.int32)
        data = self._data(sentences, offsets, at, truth)
        weight = np.ones(len(lengths)) if sample_weight is None else sample_weight
        return Pack(
            data=data, offsets=at, truth=truth, dim=int(self.base[-1]), width=self._width(data),
            weight=read_only(weight, np.float64), work=self._work(data),
        )  # fmt: skip

    def functions_for(self, mode: int) -> Functions:
        """The functions for one mode, without a second tree or counts if these are not needed."""
        if self.functions is not FUNCTIONS_OF[self.loss] or not self._simple(mode):
            return self.functions
        return F1_PREDICTION if self.loss == "f1" else BRACKET_FUNCTIONS

    def _simple(self, mode: int) -> bool:
        """Whether the best tree of one chart is the answer."""
        return mode == PREDICT or (mode == MARGIN and self.loss == "bracket")

    def _data(
        self, sentences: list[Sentence], offsets: np.ndarray, at: np.ndarray, truth: np.ndarray
    ) -> CFGData:
        lexicon = self.lexicon
        allowed = [tags for sentence in sentences for tags in lexicon.allowed(sentence)]
        words = find_rows(lexicon.words, map(lexicon.word_names, sentences))
        edges = find_rows(lexicon.edges, map(lexicon.edge_names, sentences))
        feature_at = np.concatenate([words[1], words[1][-1] + edges[1][1:]])
        number = self._word_number
        tokens = [number.setdefault(word, len(number)) for s in sentences for word in s.words]
        self._words = list(number)
        return CFGData(
            self._table(), read_only(np.concatenate([words[0], edges[0]]), np.uint32),
            read_only(feature_at, np.int64), offsets, *flat(allowed),
            ints([group for sentence in sentences for group in lexicon.groups(sentence)]),
            at, truth, ints(tokens), NUMBER_OF[self.loss], int(lexicon.rich), float(self.beam),
        )  # fmt: skip

    def _table(self) -> np.ndarray:
        base = self.base
        if base[-1] > np.iinfo(np.int32).max:
            raise DataError(
                f"{base[-1]} weights are too many: use features='rules', or fewer trees"
            )
        widths = np.searchsorted(WIDTHS, np.arange(WIDTHS[-1] + 2))
        return self.grammar.table(self.lexicon.n_groups, widths.tolist(), base.tolist())

    def _encode(self, i: int, tree: Tree) -> np.ndarray:
        try:
            codes = self.grammar.encode(tree)
        except KeyError as error:
            raise DataError(
                f"tree {i} is outside the grammar: the training trees do not have {error.args[0]}"
            ) from None
        y = np.empty(3 * len(codes), np.int32)
        for n, code in enumerate(codes):
            write_node(y, n, *code)
        return y

    def _width(self, data: CFGData) -> int:
        """Maximum number of features in the difference of two trees of a sentence."""
        G, n = data.table, len(data.offsets) - 1
        lengths, total = np.diff(data.offsets), data.offsets[-1]
        per_node = 2 * np.diff(section(G, FEATURE_AT)).max(initial=0)  # a rule and a chain
        if data.rich:
            labels = 1 + np.diff(section(G, LABEL_AT)).max(initial=0)
            edge = np.diff(data.feature_at[total : total + n + 1 + total]).max(initial=0)
            per_node += labels * (2 * int(edge) + 3)
        words = np.diff(data.feature_at[data.offsets])
        return int((2 * (2 * lengths * per_node + words)).max(initial=0)) + 1

    def _work(self, data: CFGData) -> int:
        longest = int(np.diff(data.offsets).max(initial=0))
        return int(sum(lay_out(data.table, longest, np.zeros(18, np.int64))))

    def m_best_work(self, pack: Pack, mode: int, m: int) -> int:
        """Scratch memory of ``m_best`` in floats: a chart, and a forest of the next trees."""
        if not self._simple(mode) and self.loss != "zero-one":
            raise ProblemError(
                "several trees per iteration (m_cuts) are supported for the zero-one loss, and for "
                "the bracket loss with margin rescaling: the oracles of the F1 loss and of slack "
                "rescaling find one tree"
            ) from NotImplementedError("several trees")
        longest = int(np.diff(pack.data.offsets).max(initial=0))
        return self.work(pack, mode) + forest_work(longest, m + 1)

    def truth_features(self, pack: Pack) -> np.ndarray:
        """sum_i weight_i phi_i(y_i)."""
        total, idx, val = np.zeros(pack.dim), np.empty(pack.width, np.uint64), np.empty(pack.width)
        sum_truths(pack, total, (idx, val))
        return total

    def operations(self, pack: Pack) -> float:
        """One eighth of the rules at every split of every span, as measured on news text."""
        lengths = np.diff(pack.data.offsets).astype(float)
        return float((lengths**3 / 6).sum() * self.grammar.n_rules / 8)

    def valid_labels(self, pack: Pack, labels: np.ndarray) -> np.ndarray:
        """Whether nodes have valid rules, chains and spans of their sentence, in order.

        It does not check whether they form a tree, only that compiled functions can use them as
        indices.
        """
        lengths = np.diff(pack.data.offsets)
        nodes = np.maximum(2 * lengths - 1, 0)
        key, rule, chain = labels.reshape(-1, 3).astype(np.int64).T
        start, end = span_of(key)
        R, n_tags = self.grammar.n_rules, len(self.grammar.tags)
        valid = (key >= 0) & (start < end) & (end <= np.repeat(lengths, nodes))
        valid &= (rule >= 0) & (rule <= R + n_tags)
        valid &= (rule < R) | (rule == R + n_tags) | (end == start + 1)  # a tag has one word
        valid &= (chain >= 0) & (chain < 2 * len(self.grammar.chains))
        sentence = np.repeat(np.arange(pack.n), nodes)
        valid[1:] &= (np.diff(key) > 0) | (np.diff(sentence) > 0)
        return np.repeat(valid, 3)

    def unpack(self, pack: Pack, labels: np.ndarray) -> list[Tree | None]:
        """The trees; None for a sentence without words."""
        return [
            self.unpack_one(pack, i, labels[pack.offsets[i] : pack.offsets[i + 1]])
            if pack.offsets[i] < pack.offsets[i + 1]
            else None
            for i in range(pack.n)
        ]

    def unpack_one(self, pack: Pack, i: int, y: np.ndarray) -> Tree:
        """A tree of sentence i."""
        data = pack.data
        tokens = data.token[data.offsets[i] : data.offsets[i + 1]].tolist()
        nodes = [(*span_of(key), rule, chain) for key, rule, chain in y.reshape(-1, 3).tolist()]
        return self.grammar.decode(nodes, [self._words[token] for token in tokens])
