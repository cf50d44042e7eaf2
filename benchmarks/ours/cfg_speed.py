"""How fast sentences are parsed, compared with NLTK's chart parser with the same grammar.

NLTK's ``ViterbiParser`` is the only parser found on PyPI that takes a grammar with probabilities
and still installs. disco-dop 0.5.2 (compiled) does not build for Python 3.11 and later; pcfg
generates sentences, cky is an empty package; bllipparser, benepar, supar and stanza have trained
models instead of a grammar, and depccg and lambeq models of another formalism.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, ratio
from ..framework.figures import COLORS, GREY, MARKERS, clean, legend, log_scale, style
from ..framework.registry import Verdict, experiment
from ..framework.treebank import Treebank, load_treebank, parse, read_problem, relative_frequencies

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from maxmargin.data.trees import Tree

    from ..framework.session import Group, Session

NLTK, OURS = "nltk ViterbiParser", "maxmargin"

#: Lengths of the sentences that both parse, and how many of each NLTK gets.
BOTH = (4, 6, 8, 10, 12, 15)
FEW = 3

#: Lengths for us alone, and the numbers of training trees that make a grammar.
LENGTHS = (5, 10, 15, 20, 25, 30, 35, 40)
SIZES = {"wsj_cfg": (300, 1000, None), "gum_cfg": (None,)}

#: Sentences of a length are parsed repeatedly for this many seconds.
ENOUGH = 0.5


@experiment(
    "joachims-2009-cfg-speed",
    title="Parsing with a treebank PCFG, one core",
    claim="At least 100 times as many sentences per second as NLTK's ViterbiParser with the same "
    "grammar and the same best trees; time grows like the cube of the length at most, and like "
    "the number of rules at most.",
    data=("wsj_cfg", "gum_cfg"),
    peers=("nltk",),
)
def run(session: Session) -> Verdict:
    """The comparison, then the growth with length and grammar."""
    both = {
        program: [measure_both(session, program, length) for length in _lengths(session, BOTH)]
        for program in (NLTK, OURS)
    }
    growth = {
        (data, n): [measure_length(session, data, n, m) for m in _lengths(session, LENGTHS)]
        for data, sizes in SIZES.items()
        for n in (sizes[:1] if session.quick else sizes)
        if not (session.quick and data == "gum_cfg")
    }
    columns = [
        Column("program", "program"),
        Column("data", "trees"),
        Column("rules", "rules", count),
        Column("length", "words", count),
        Column("speed", "sentences / s", lambda value: f"{value:,.3g}"),
        Column("time", "ms a sentence", lambda value: f"{1000 * value:.3g}"),
    ]
    session.table([g for groups in both.values() for g in groups], columns, "the same sentences")
    session.table([g for groups in growth.values() for g in groups], columns, "growth")
    session.draw(lambda figure: paint(figure, both, growth), width=10)
    return judge(both, growth)


def _lengths(session: Session, lengths: tuple[int, ...]) -> tuple[int, ...]:
    return lengths[:2] if session.quick else lengths


def measure_both(session: Session, program: str, length: int) -> Group:
    """Sentences of WSJ, unary chains collapsed so that both grammars are identical."""

    def once(seed: int) -> dict[str, Any]:
        bank = load_treebank("wsj_cfg", session.directory, None, 15, "collapsed")
        # Training sentences: NLTK refuses words that the grammar does not have.
        chosen = [tree for tree in bank.trees if len(tree.leaves()) == length]
        timed = _time_nltk if program == NLTK else _time_ours
        return timed(bank, chosen[seed * FEW : seed * FEW + FEW] or chosen[:FEW])

    config = {"program": program, "data": "wsj_cfg, collapsed", "length": length}
    return session.measure(config, once)


def measure_length(session: Session, data: str, n: int | None, length: int) -> Group:
    """Test sentences of about this length, with the grammar of n trees of up to 40 words."""

    def once(seed: int) -> dict[str, Any]:
        bank = load_treebank(data, session.directory, 0, 40)
        bank = Treebank(bank.trees[:n], bank.test)
        chosen = [tree for tree in bank.test if abs(len(tree.leaves()) - length) <= 1]
        return _time_ours(bank, chosen[:30])

    config = {"program": OURS, "data": data, "n": n, "length": length}
    return session.measure(config, once)


def _time_ours(bank: Treebank, trees: list[Tree]) -> dict[str, Any]:
    """Seconds per sentence, from words to trees, after compiling."""
    problem = read_problem(bank.trees)
    w = relative_frequencies(problem, bank.trees)
    found = parse(problem, w, trees)
    start, rounds = time.perf_counter(), 0
    while not rounds or time.perf_counter() - start < ENOUGH:
        parse(problem, w, trees)
        rounds += 1
    took = (time.perf_counter() - start) / (rounds * len(trees))
    weights = _log_probabilities(bank)
    return {
        "time": took,
        "speed": 1 / took,
        "rules": len(problem.grammar.features),
        "binary": problem.grammar.n_rules,
        "logprob": sum(_logprob(weights, tree) for tree in found if tree is not None),
    }


def _time_nltk(bank: Treebank, trees: list[Tree]) -> dict[str, Any]:
    from nltk import Nonterminal, ViterbiParser, induce_pcfg

    from maxmargin.data.trees import to_nltk

    productions = [p for tree in bank.trees for p in to_nltk(tree).productions()]
    grammar = induce_pcfg(Nonterminal("TOP"), productions)
    parser = ViterbiParser(grammar)
    start = time.perf_counter()
    found = [next(iter(parser.parse(tree.leaves()))) for tree in trees]
    took = (time.perf_counter() - start) / len(trees)
    rules = sum(not isinstance(p.rhs()[0], str) for p in grammar.productions())
    # Its logarithms are to base 2.
    logprob = float(np.log(2)) * sum(tree.logprob() for tree in found)
    return {"time": took, "speed": 1 / took, "rules": rules, "logprob": logprob}


def _log_probabilities(bank: Treebank) -> dict[Any, float]:
    """The probability of each rule of the trees, words included, counted without our grammar."""
    from collections import Counter

    rules = Counter(rule for tree in bank.trees for rule in _productions(tree))
    parents: Counter[Any] = Counter()
    for rule, n in rules.items():
        parents[rule[0]] += n
    return {rule: float(np.log(n / parents[rule[0]])) for rule, n in rules.items()}


def _productions(tree: Tree) -> list[Any]:
    """A label and what it is made of: a word, or labels as tuples."""
    return [
        (node.label, *(part if isinstance(part, str) else (part.label,) for part in node.children))
        for node in tree.subtrees()
    ]


def _logprob(weights: dict[Any, float], tree: Tree) -> float:
    """The log probability of a tree; rules that the trees do not have count as 0."""
    return sum(weights.get(rule, 0.0) for rule in _productions(tree))


def _power(points: list[tuple[float, float]]) -> float:
    """The exponent of y over x, by least squares in logarithms."""
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def judge(both: dict[str, list[Group]], growth: dict[Any, list[Group]]) -> Verdict:
    """Ratios to NLTK, equal best probabilities, and exponents of the growth."""
    times = [a.median("time") / b.median("time") for a, b in zip(*both.values(), strict=True)]
    same = all(
        abs(x - y) <= 1e-6 * abs(x)
        for a, b in zip(*both.values(), strict=True)
        for x, y in zip(a.numbers("logprob"), b.numbers("logprob"), strict=True)
    )
    parts = [
        f"{min(times):,.0f} to {max(times):,.0f} times as fast as NLTK; best trees of the same "
        f"probability: {'yes' if same else 'NO'}"
    ]
    cubic = True
    for (data, n), groups in growth.items():
        power = _power([(g.config["length"], g.median("time")) for g in groups])
        cubic &= power <= 3
        last = groups[-1]
        parts.append(
            f"{data}, {n or 'all'} trees, {last.median('binary'):,.0f} binary rules: time ~ "
            f"length^{power:.2f}, {last.median('speed'):,.0f} sentences / s of "
            f"{last.config['length']} words"
        )
    linear = True
    if len(growth) > 1:
        ends = [groups[-1] for groups in growth.values()]
        power = _power([(g.median("binary"), g.median("time")) for g in ends])
        linear = power <= 1
        parts.append(f"at the longest sentences time ~ rules^{power:.2f}")
    fastest = f"least ratio {ratio(min(times))}"
    return Verdict(same and min(times) >= 100 and cubic and linear, "\n".join([*parts, fastest]))


def paint(figure: Figure, both: dict[str, list[Group]], growth: dict[Any, list[Group]]) -> None:
    """Sentences per second of both, and our time as sentences and grammars grow."""
    left, right = figure.subplots(1, 2)
    for number, (program, groups) in enumerate(both.items()):
        look = {"color": (GREY, COLORS[0])[number], "marker": MARKERS[number], "linewidth": 1.7}
        x = [group.config["length"] for group in groups]
        left.plot(x, [group.median("speed") for group in groups], label=program, **look)
    for number, ((data, n), groups) in enumerate(growth.items(), 1):
        x = [group.config["length"] for group in groups]
        rules = f"{groups[-1].median('binary'):,.0f} binary rules"
        name = f"{data}, {n or 'all'} trees, {rules}"
        right.plot(x, [1000 * g.median("time") for g in groups], label=name, **style(number))
    log_scale(left, "y")
    log_scale(right, "x")
    log_scale(right, "y")
    clean(left, "The same grammar and sentences", "words", "sentences / s")
    clean(right, "Growth", "words", "ms a sentence")
    left.legend(frameon=False, fontsize=9)
    legend(figure, right, columns=2)
