"""The content of a model file of a ``CFGSVC``: grammar, lexicon, names of features, weights.

The grammar is stored as numbered symbols, rules and chains, from which it is built again, so that
every number in a file is checked before compiled code uses it.
"""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import ModelFileError
from ...features import Vocabulary
from ...features.vocabulary import check_distinct_names
from ...objective import check_positive
from ...saving.contents import check_choice, check_whole
from ...saving.parts import Arrays, ModelParts
from ...saving.sparse import (
    WEIGHTS,
    decode_names,
    decode_weights,
    encode_names,
    encode_weights,
    finite,
)
from .binary_rules import Part, Phrase, Symbol, Tag
from .input import FEATURES, INPUTS, LOSSES
from .lexicon import Lexicon


class CFGParts(ModelParts):
    """The parts of a ``CFGSVC``."""

    counts_nonzeros = True

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also the parameters of grammar and lexicon."""
        super().check_parameters(parameters)
        for name, choices in (("loss", LOSSES), ("features", FEATURES), ("input", INPUTS)):
            check_choice(name, parameters[name], tuple(choices))
        check_whole("horizontal", parameters["horizontal"], 0, optional=True)
        check_whole("vertical", parameters["vertical"], 1, 2)
        check_whole("rare", parameters["rare"], 0)
        if parameters["beam"] is not None:
            check_positive("beam", parameters["beam"])

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """Grammar, lexicon and weights."""
        return {"cfg": encode_cfg(estimator, arrays)}

    def decode(self, estimator: Any, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """Set grammar, lexicon and weights of the estimator; returns w."""
        return decode_cfg(estimator, meta["cfg"], arrays)

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The stored weights: all non-zeros and some zeros."""
        return finite(arrays, WEIGHTS)

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The size of the grammar."""
        return {"cfg": cfg_summary(meta["cfg"], arrays)}


def encode_cfg(estimator: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Put everything with many numbers into ``arrays``; returns everything else."""
    grammar, lexicon = estimator.grammar_, estimator.lexicon_
    number = grammar.number
    parts = [symbol for symbol in grammar.symbols if isinstance(symbol, Part)]
    owners = [-1 if part.owner is None else number[part.owner] for part in parts]
    arrays["owners"] = np.array(owners, np.int32)
    _encode_lists("parts", [[number[s] for s in part.rest] for part in parts], arrays)
    arrays["rules"] = np.array(grammar.rules, np.int32).reshape(-1, 3)
    _encode_lists("chains", grammar.chains[1:], arrays)
    words = list(lexicon.counts)
    encode_names(words, arrays, "words")
    arrays["counts"] = np.array([lexicon.counts[word] for word in words], np.int64)
    _encode_lists("tags", [lexicon.tags[word] for word in words], arrays)
    encode_names(lexicon.words.names_, arrays, "names")
    encode_names(lexicon.edges.names_, arrays, "edges")
    encode_weights(estimator.coef_, arrays)
    return {
        "phrases": [list(phrase) for phrase in grammar.phrases],
        "tags": list(grammar.tags),
        "roots": list(grammar.roots),
        "nltk": bool(estimator._nltk),
        "data": estimator._data_format,
    }


def decode_cfg(estimator: Any, meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> np.ndarray:
    """Set everything in the estimator except its parameters; returns w.

    Raises
    ------
    ValueError, KeyError or TypeError
        If something is missing or inconsistent.
    """
    from .grammar import Grammar  # slow to import, and not needed to describe a file

    symbols = _decode_symbols(meta, arrays)
    rules = arrays["rules"]
    if rules.ndim != 2 or rules.shape[1] != 3 or rules.dtype.kind != "i":
        raise ValueError("the rules are not an integer array of three columns")
    roots = meta["roots"]
    if not all(type(root) is int for root in roots):
        raise ValueError("the roots are not numbers of symbols")
    estimator.grammar_ = Grammar(
        symbols, rules.tolist(), _decode_lists("chains", arrays), roots,
        estimator.horizontal, estimator.vertical,
    )  # fmt: skip
    estimator.lexicon_ = _decode_lexicon(estimator, arrays)
    estimator._nltk = _decode_nltk(meta["nltk"])
    estimator._data_format = decode_data_format(meta)
    problem = estimator._problem()  # raises an error if parameters do not fit
    estimator.coef_ = decode_weights(arrays, int(problem.base[-1]))
    return estimator.coef_


def _decode_nltk(nltk: Any) -> bool:
    """Whether trees are returned as those of NLTK, which must be installed then."""
    if type(nltk) is not bool:
        raise ValueError(f"{nltk!r:.100} does not say whether trees are those of NLTK")
    if nltk and find_spec("nltk") is None:
        raise ModelFileError("was trained on trees of NLTK and returns such trees: install nltk")
    return nltk


def cfg_summary(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """What ``maxmargin info`` shows for parsers, in addition to what it shows for all models."""
    phrases = [label for label, _ in meta["phrases"]]
    return {
        "labels": sorted({str(label) for label in phrases}),
        "tags": [str(tag) for tag in meta["tags"]],
        "binary_rules": len(arrays["rules"]),
        "unary_chains": len(arrays["chains.lengths"]),
        "words": len(arrays["counts"]),
        "data": decode_data_format(meta),
    }


def decode_data_format(meta: dict[str, Any]) -> dict[str, Any] | None:
    """The checked format of the training files; None if there were no files."""
    match meta["data"]:
        case None:
            return None
        case {"format": "trees", "functions": bool(functions)}:
            return {"format": "trees", "functions": functions}
    raise ValueError(f"{meta['data']!r:.100} is not a data format")


def _decode_symbols(meta: dict[str, Any], arrays: dict[str, np.ndarray]) -> list[Symbol]:
    symbols: list[Any] = []
    for label, parent in meta["phrases"]:
        if not isinstance(label, str) or not (parent is None or isinstance(parent, str)):
            raise ValueError(f"{label!r} is not a constituent")
        symbols.append(Phrase(label, parent))
    for tag in meta["tags"]:
        if not isinstance(tag, str):
            raise ValueError(f"{tag!r} is not a tag")
        symbols.append(Tag(tag))
    n, known = len(meta["phrases"]), tuple(symbols)
    rests = _decode_lists("parts", arrays)
    for owner, rest in zip(arrays["owners"].tolist(), rests, strict=True):
        if not (-1 <= owner < n) or not all(0 <= s < len(known) for s in rest):
            raise ValueError("a part of a rule is wrong")
        symbols.append(Part(known[owner] if owner >= 0 else None, tuple(known[s] for s in rest)))
    return symbols


def _decode_lexicon(estimator: Any, arrays: dict[str, np.ndarray]) -> Lexicon:
    words, counts = decode_names(arrays, "words"), arrays["counts"].ravel().tolist()
    tags = _decode_lists("tags", arrays)
    names = estimator.grammar_.tags
    if not all(each and all(0 <= k < len(names) for k in each) for each in tags):
        raise ValueError("the tags of a word are wrong")
    if len(set(words)) < len(words) or not all(type(c) is int and c >= 0 for c in counts):
        raise ValueError("the words are wrong")
    lexicon = Lexicon(
        dict(zip(words, counts, strict=True)), dict(zip(words, tags, strict=True)), names,
        estimator.input, estimator.features == "rich", estimator.rare,
    )  # fmt: skip
    lexicon.words = Vocabulary(decode_names(arrays, "names"))
    lexicon.edges = Vocabulary(decode_names(arrays, "edges"))
    for vocabulary in (lexicon.words, lexicon.edges):
        check_distinct_names(vocabulary.names_)
    return lexicon


def _encode_lists(name: str, lists: Any, arrays: dict[str, np.ndarray]) -> None:
    """Store lists of numbers as one array and an array of their lengths."""
    arrays[name] = np.array([value for values in lists for value in values], np.int32)
    arrays[f"{name}.lengths"] = np.array([len(values) for values in lists], np.uint32)


def _decode_lists(name: str, arrays: dict[str, np.ndarray]) -> list[list[int]]:
    flat, lengths = arrays[name], arrays[f"{name}.lengths"]
    if flat.ndim != 1 or flat.dtype.kind != "i" or lengths.dtype.kind != "u" or lengths.ndim != 1:
        raise ValueError(f"the {name} are not arrays of integers")
    ends = [0, *np.cumsum(lengths, dtype=np.int64).tolist()]
    if ends[-1] != len(flat):
        raise ValueError(f"the {name} have other lengths than stored")
    values = flat.tolist()
    return [values[a:b] for a, b in pairwise(ends)]
