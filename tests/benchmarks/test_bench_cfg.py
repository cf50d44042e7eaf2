"""The experiments with parsing, from end to end on a treebank of a few trees."""

from __future__ import annotations

import gzip
import math
from collections import Counter
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import run_benchmarks
from benchmarks.framework.treebank import (
    load_treebank,
    parse,
    read_problem,
    relative_frequencies,
    within_grammar,
)
from benchmarks.joachims_2009.slacks import CACHED, load_trees, train_once
from maxmargin import Tree

NOUNS, VERBS = ("dog", "cat", "mat"), ("sees", "likes")


def phrase(noun, big):
    adjective = [Tree("JJ", ["big"])] if big else []
    return Tree("NP", [Tree("DT", ["the"]), *adjective, Tree("NN", [noun])])


def make_trees():
    """Sentences of 5 to 7 words and some of 4, with an ambiguous word."""
    for number, (a, b, verb, big) in enumerate(product(NOUNS, NOUNS, VERBS, (False, True))):
        verb_phrase = Tree("VP", [Tree("VBZ", [verb]), phrase(b, big)])
        if number % 5 == 0:
            verb_phrase = Tree("VP", [Tree("NN", ["mat"]), Tree("NP", [Tree("NN", [b])])])
        yield Tree("TOP", [Tree("S", [phrase(a, number % 3 == 0), verb_phrase])])


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "180")


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    trees = list(make_trees())
    for name in ("wsj_cfg", "gum_cfg"):
        (folder / name).mkdir()
        for form in ("le15.unary", "le15.collapsed", "le40.unary"):
            for part, chosen in (("train", trees[:30]), ("test", trees[30:])):
                content = "\n".join(map(str, chosen)).encode()
                path = folder / name / f"{form}.{part}.txt.gz"
                path.write_bytes(gzip.compress(content))
    return folder


def log_probability(trees, tree):
    """Of a tree by the relative frequencies of all rules, counted the plain way."""

    def rules(node):
        below = [] if node.preterminal else [r for c in node.children for r in rules(c)]
        children = tuple(c if isinstance(c, str) else f"<{c.label}>" for c in node.children)
        return [(node.label, children), *below]

    counts = Counter(rule for t in trees for rule in rules(t))
    labels = Counter(rule[0] for t in trees for rule in rules(t))
    return sum(math.log(counts[rule] / labels[rule[0]]) for rule in rules(tree))


def test_a_treebank_is_read_and_shuffled(directory):
    bank = load_treebank("wsj_cfg", directory)
    assert (len(bank.trees), len(bank.test)) == (30, 6)
    mixed = load_treebank("wsj_cfg", directory, 1).trees
    assert mixed != bank.trees and sorted(map(str, mixed)) == sorted(map(str, bank.trees))
    assert bank.first(3).trees == bank.trees[:3]


def test_relative_frequencies_make_a_pcfg(directory):
    bank = load_treebank("wsj_cfg", directory)
    problem = read_problem(bank.trees)
    w = relative_frequencies(problem, bank.trees)
    pack = problem.pack([tree.leaves() for tree in bank.trees], bank.trees)
    found = parse(problem, w, bank.trees)
    assert pack.dim == len(w)
    for tree, best in zip(bank.trees, found, strict=True):
        assert log_probability(bank.trees, best) >= log_probability(bank.trees, tree) - 1e-9
    # The frequent word "mat" is a verb where no other reading is there.
    assert sum(tree == best for tree, best in zip(bank.trees, found, strict=True)) >= 28
    assert all(within_grammar(problem, bank.trees))
    strange = Tree("TOP", [Tree("NP", [Tree("NN", ["dog"]), Tree("NN", ["cat"])])])
    assert within_grammar(problem, [strange]) == [False]


def test_parsing_is_an_application_of_the_comparison_of_slacks(directory):
    examples = load_trees(SimpleNamespace(directory=directory, quick=False), 20, 0)
    assert len(examples.X) == len(examples.Y) == 20 and examples.problem.loss == "zero-one"
    dim = int(examples.problem.base[-1])
    run = train_once(examples, CACHED, 10.0, 1e-3, 60.0, 0)
    assert run["converged"] and run["accuracy"] == examples.test(np.zeros(dim)) == 1.0


@pytest.mark.parametrize("name", ["joachims-2009-cfg-solvers", "joachims-2009-cfg-cache"])
def test_solvers_from_end_to_end(directory, tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr("benchmarks.joachims_2009.cfg.QUICK", 12)
    run_benchmarks([name], data=directory, out=tmp_path, quick=True, repeats=1)
    shown = " ".join(capsys.readouterr().out.split())
    assert "1-slack, f = 10" in shown and "n-slack" in shown
    if name == "joachims-2009-cfg-solvers":
        assert "not all converged" not in shown and "by all certificates" in shown


def test_speed_from_end_to_end(directory, tmp_path, capsys, monkeypatch):
    pytest.importorskip("nltk")
    for name, value in {"BOTH": (5, 6), "LENGTHS": (5, 6), "ENOUGH": 0.01}.items():
        monkeypatch.setattr(f"benchmarks.ours.cfg_speed.{name}", value)
    run_benchmarks(["joachims-2009-cfg-speed"], data=directory, out=tmp_path, quick=True, repeats=1)
    shown = " ".join(capsys.readouterr().out.split())
    assert "best trees of the same probability: yes" in shown


def test_accuracy_from_end_to_end(directory, tmp_path, capsys):
    run_benchmarks(
        ["joachims-2009-cfg-accuracy"], data=directory, out=tmp_path, quick=True, repeats=1
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "wsj_cfg from tagged: F1 100.00 % with rich features" in shown
    assert "100.0 % of the test trees have only rules of training trees" in shown


def test_scaling_from_end_to_end(directory, tmp_path, capsys, monkeypatch):
    for module in ("cfg", "cfg_scaling"):
        monkeypatch.setattr(f"benchmarks.joachims_2009.{module}.QUICK", 24)
    run_benchmarks(
        ["joachims-2009-cfg-scaling"], data=directory, out=tmp_path, quick=True, repeats=1
    )
    shown = " ".join(capsys.readouterr().out.split())
    assert "gum_cfg, 1-slack: n 20 to 24: rules" in shown
    assert (tmp_path / "joachims-2009-cfg-scaling-quick.png").stat().st_size > 1000
