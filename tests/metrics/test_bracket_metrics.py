"""Trees evaluated by evalb's rules: cases by hand, and a counter written another way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import maxmargin as mm
from maxmargin import Tree
from maxmargin.metrics import BracketEvaluation, bracket_f1
from random_trees import SHE, pairs

PUNCTUATION = {",", ":", "``", "''", "."}


def reference(true, found, punctuation, particles):
    """Evalb as one reads its manual: mark words, list brackets, pair them off one by one."""
    ignored = {"-NONE-"} if punctuation else {"-NONE-"} | PUNCTUATION
    tags = list(zip(true.tags(), found.tags(), strict=True))
    counted = [i for i, (a, b) in enumerate(tags) if not (a in ignored and b in ignored)]

    def brackets(tree):
        listed, position = [], 0

        def visit(node):
            nonlocal position
            if isinstance(node.children[0], str):
                position += 1
                return {position - 1}
            words = set().union(*[visit(child) for child in node.children])
            label = node.label.split("-")[0].split("=")[0]
            words &= set(counted)
            if words and label not in ("TOP", "ROOT", "S1"):
                listed.append((label, frozenset(words)))
            return words

        # Words are collected below a node before the ignored ones are taken out again.
        visit(tree)
        return listed

    def same(a, b):
        alike = {"ADVP", "PRT"}
        return a == b or (not particles and {a, b} == alike)

    truth, given, correct = brackets(true), brackets(found), 0
    left = list(given)
    for label, words in truth:
        for other in left:
            if other[1] == words and same(label, other[0]):
                left.remove(other)
                correct += 1
                break
    crossing = sum(any(w & v and w - v and v - w for _, v in truth) for _, w in given)
    right = sum(tags[i][0] == tags[i][1] for i in counted)
    return [correct, len(given), len(truth), crossing, right, len(counted), 0]


@settings(max_examples=60)
@given(pairs())
def test_counts_are_those_of_the_reference(pair):
    for punctuation in (False, True):
        for particles in (False, True):
            options = {"punctuation": punctuation, "particles": particles}
            evaluation = BracketEvaluation.of([pair[0]], [pair[1]], **options)
            assert evaluation.trees.tolist() == [reference(*pair, **options)]
            totals = evaluation.totals
            for name in ("correct", "found", "support"):
                assert getattr(evaluation.labels, name).sum() == totals[name]


@settings(max_examples=60)
@given(pairs())
def test_the_truth_itself_is_perfect(pair):
    tree = pair[0]
    evaluation = BracketEvaluation.of([tree], [tree])
    assert evaluation.exact_match == 1 and evaluation.crossing == 0
    if evaluation.totals["support"]:
        assert evaluation.precision == evaluation.recall == evaluation.f1 == 1
    if evaluation.totals["words"]:
        assert evaluation.tagging_accuracy == 1


def test_an_example_by_hand():
    """S, NP, VP and two NP are true; found are S, NP, VP, a wrong NP over 'fish today' and NP."""
    true = "(TOP (S (NP-SBJ (PRP She)) (VP (VBZ eats) (NP (NN fish)) (NP (NN today))) (. .)))"
    found = "(ROOT (S (NP (PRP She)) (VP (VBZ eats) (NP (NP (NN fish)) (RB today)) (. .))))"
    evaluation = BracketEvaluation.of([true], [found])
    # The full stop is not counted, so that VP (1, 4) is right although it takes it in.
    assert evaluation.trees.tolist() == [[4, 5, 5, 0, 3, 4, 0]]
    assert evaluation.f1 == evaluation.precision == evaluation.recall == 0.8
    counted = BracketEvaluation.of([true], [found], punctuation=True)
    assert counted.trees.tolist() == [[3, 5, 5, 0, 4, 5, 0]]


def test_crossing_brackets_by_hand():
    true = "(S (A (X a) (X b)) (B (X c) (X d)))"
    found = "(S (X a) (B (X b) (A (X c))) (B (X d)))"
    evaluation = BracketEvaluation.of([true] * 2, [found, true])
    # (1, 3) crosses A (0, 2) and B (2, 4), and counts once.
    assert evaluation.trees[:, 3].tolist() == [1, 0]
    assert evaluation.crossing == 0.5
    assert evaluation.crossing_at_most(0) == 0.5 and evaluation.crossing_at_most(1) == 1


def test_particles_equal_adverbs():
    true, found = "(S (PRT (RP up)))", "(S (ADVP (RP up)))"
    assert bracket_f1([true], [found]) == 1
    assert BracketEvaluation.of([true], [found], particles=True).f1 == 0.5
    assert BracketEvaluation.of([true], [found]).labels.names == ["ADVP", "S"]


def test_equal_brackets_count_as_often_as_they_are():
    true, found = "(NP (NP (NN a)))", "(NP (NP (NP (NN a))))"
    assert BracketEvaluation.of([true], [found]).trees.tolist() == [[2, 3, 2, 0, 1, 1, 0]]


def test_a_sentence_without_a_tree_is_missed():
    evaluation = BracketEvaluation.of([SHE, SHE], [None, SHE])
    assert evaluation.trees[0].tolist() == [0, 0, 4, 0, 0, 3, 1]
    assert (evaluation.precision, evaluation.recall) == (1, 0.5)
    assert evaluation.exact_match == evaluation.tagging_accuracy == 0.5
    assert "without a tree         50.00 %  1 sentences" in str(evaluation)
    # A tree without a bracket that counts is missed as well.
    assert BracketEvaluation.of(["(TOP (NN a))"], [None]).exact_match == 0


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(mm.DataError, match="1 true trees and 2 predicted"):
        bracket_f1([SHE], [SHE, SHE])
    with pytest.raises(mm.DataError, match="tree 1: the words differ: word 2 is 'fish'"):
        bracket_f1([SHE, SHE], [SHE, SHE.replace("fish", "meat")])
    with pytest.raises(mm.DataError, match="has 3 words, the predicted one 2"):
        bracket_f1([SHE], ["(S (NP (PRP She)) (VP (VBZ eats)))"])


def test_the_interval_is_that_of_a_plain_bootstrap():
    rng = np.random.default_rng(1)
    found = [SHE if good else SHE.replace("NP", "PP") for good in rng.random(60) < 0.7]
    evaluation = BracketEvaluation.of([SHE] * 60, found)
    low, high = evaluation.interval(0.9, n=4000)
    sums = []
    for _ in range(4000):
        rows = evaluation.trees[rng.integers(0, 60, 60)].sum(axis=0)
        sums.append(2 * rows[0] / (rows[1] + rows[2]))
    expected = np.quantile(sums, [0.05, 0.95])
    assert np.allclose([low, high], expected, atol=0.01)
    assert low < evaluation.f1 < high
    assert evaluation.difference(evaluation) == (0, 0)
    low, high = BracketEvaluation.of([SHE] * 60, [SHE] * 60).difference(evaluation, 0.9, 4000)
    assert np.allclose([1 - high, 1 - low], expected, atol=0.01)
    assert evaluation.interval(seed=3) == evaluation.interval(seed=3)


def test_numbers_for_programs_and_people():
    evaluation = BracketEvaluation.of([SHE], [SHE.replace("(NP (NN", "(PP (NN")])
    content = evaluation.to_dict()
    assert content["f1"] == 0.75 and content["brackets"]["support"] == 4
    assert {row["name"]: row["correct"] for row in content["labels"]} == {
        "NP": 1, "S": 1, "VP": 1, "PP": 0,
    }  # fmt: skip
    assert "bracketing F1          75.00 %" in str(evaluation)
    assert len(evaluation) == 1 and isinstance(mm.as_tree(SHE), Tree)


def test_no_trees_have_no_interval():
    with pytest.raises(mm.DataError, match="no trees"):
        mm.metrics.BracketEvaluation.of([], []).interval()
