"""Grammars, CKY and its oracles, against enumeration of all trees."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin as mm
from cfg_reference import Treebank, over, random_tree, random_treebank
from maxmargin.data.brackets import as_tree
from maxmargin.data.trees import Tree
from maxmargin.engine.bind import interpret
from maxmargin.engine.shard import Shard
from maxmargin.problem import MARGIN, PREDICT, SLACK, Functions
from maxmargin.structures.cfg.binary_rules import binarise, unbinarise
from maxmargin.structures.cfg.grammar import Grammar
from maxmargin.structures.cfg.problem import CFG
from speeds import SPEEDS

SEEDS = st.integers(0, 10**6)
SIZES = st.lists(st.integers(1, 5), min_size=1, max_size=4)
CASES = st.builds(
    random_treebank,
    SEEDS,
    SIZES,
    loss=st.sampled_from(["bracket", "zero-one", "f1"]),
    features=st.sampled_from(["rules", "rich"]),
    input=st.sampled_from(["words", "tags", "tagged"]),
    vertical=st.just(1),
)
MODES = pytest.mark.parametrize(
    "mode", [PREDICT, MARGIN, SLACK], ids=["predict", "margin", "slack"]
)


@settings(max_examples=200)
@given(seed=SEEDS, n=st.integers(1, 12), h=st.sampled_from([None, 0, 1, 2]), v=st.integers(1, 2))
def test_binarising_is_reversible(seed, n, h, v):
    tree = random_tree(np.random.RandomState(seed), n)
    nodes = binarise(tree, h, v)
    assert len(nodes) == 2 * n - 1
    assert unbinarise(nodes, tree.leaves()) == tree
    grammar = Grammar.read([tree], h, v)
    assert grammar.decode(grammar.encode(tree), tree.leaves()) == tree


def test_what_binarising_makes():
    tree = as_tree("(TOP (S (NP (D the) (J big) (N dog)) (VP (V barks))))")
    spans = [(node.start, node.end, node.chain, node.symbol) for node in binarise(tree)]
    assert [span[:2] for span in spans] == [(0, 4), (0, 3), (0, 1), (1, 3), (1, 2), (2, 3), (3, 4)]
    assert [phrase.label for phrase in spans[0][2]] == ["TOP"]
    assert [symbol.label for symbol in spans[3][3].rest] == ["J", "N"]
    assert [phrase.label for phrase in spans[6][2]] == ["VP"]


def test_horizontal_markovisation_makes_new_rules():
    trees = ["(S (a x) (b y) (c z))", "(S (d y) (b y) (c z) (a x))"]
    new = ["a", "b", "c", "a"]
    for horizontal, whole in ((None, False), (1, True)):
        problem = CFG.read(None, trees, horizontal=horizontal, input="tags")
        pack = problem.pack([new])
        labels = np.empty(len(pack.truth), np.int32)
        Shard(problem, pack).oracle(np.zeros(pack.dim), PREDICT, labels, np.array([0]))
        (tree,) = problem.unpack(pack, labels)
        assert (str(tree) == "(S (a a) (b b) (c c) (a a))") == whole


@SPEEDS
@MODES
@settings(max_examples=25)
@given(case=CASES, seed=SEEDS, scale=st.sampled_from([0.0, 0.1, 1.0]))
def test_decode_finds_the_best_tree(case, seed, mode, compiled, scale):
    check_decode(case, seed, mode, compiled, scale)


@MODES
@pytest.mark.parametrize("loss", ["bracket", "f1"])
def test_memory_for_partial_trees_grows_until_it_is_enough(loss, mode, monkeypatch):
    monkeypatch.setattr("maxmargin.structures.cfg.counted.FIRST_SIZE", 1)
    for seed in range(3):
        case = random_treebank(seed, (4, 5), loss=loss)
        for scale in (0.05, 0.5):
            check_decode(case, seed, mode, compiled=False, scale=scale)


def check_decode(case: Treebank, seed, mode, compiled, scale=1.0):
    problem = case.problem
    pack = problem.pack(case.X, case.trees)
    loops = None if compiled else interpret(problem.functions_for(mode))
    shard = Shard(problem, pack, loops=loops)
    w = scale * np.random.RandomState(seed).randn(pack.dim)
    labels = np.full(len(pack.truth), -1, np.int32)
    shard.oracle(w, mode, labels, shard.everyone)
    for i, tree in enumerate(problem.unpack(pack, labels)):
        outputs = case.outputs(case.trees[i])
        if len(outputs) >= 500:
            continue
        assert tree in outputs
        values = [case.value(w, case.trees[i], other, mode) for other in outputs]
        found = case.value(w, case.trees[i], tree, mode)
        assert found == pytest.approx(max(values), abs=1e-9)


@settings(max_examples=25)
@given(case=CASES, seed=SEEDS)
def test_loss_and_features_are_those_of_the_definitions(case, seed):
    """Interpreted; the loops that they are compiled into are tested with the solvers."""
    problem, random = case.problem, np.random.RandomState(seed)
    loss, delta = problem.functions.loss.py_func, problem.functions.delta.py_func
    pack = problem.pack(case.X, case.trees)
    for i, true in enumerate(case.trees):
        outputs = case.outputs(true)
        for _ in range(3):
            y, z = (outputs[random.randint(len(outputs))] for _ in range(2))
            a, b = (problem._encode(i, over(t, case.trees[i].leaves())) for t in (y, z))
            assert loss(pack.data, i, a) == pytest.approx(case.loss(true, y), abs=1e-12)
            idx, val = np.empty(pack.width, np.uint64), np.empty(pack.width)
            nnz = delta(pack.data, i, a, b, idx, val)
            dense = np.zeros(pack.dim)
            np.add.at(dense, idx[:nnz].astype(int), val[:nnz])
            words = true.tags() if case.input == "tags" else true.leaves()
            expected = case.features(over(y, words)) - case.features(over(z, words))
            np.testing.assert_array_equal(dense, expected)


@pytest.mark.parametrize("loss", ["bracket", "zero-one", "f1"])
@pytest.mark.parametrize("features", ["rules", "rich"])
def test_check_problem_finds_no_mistake(loss, features):
    case = random_treebank(3, (1, 3, 5, 4), loss=loss, features=features)
    kernels = case.problem.functions
    # As plain Python: check_problem would compile each kernel for a call of its own.
    plain = (getattr(kernels, name).py_func for name in ("decode", "loss", "delta", "m_best"))
    decode, loss_of, delta, m_best = plain
    case.problem.functions = Functions(decode, loss_of, delta, m_best=m_best)
    checked = mm.check_problem(case.problem, case.X, case.trees, n_probes=6)
    assert checked.refused == ()


def test_f1_without_constituents():
    """Trees of one word may have none: then F1 is right, unless the other tree has some."""
    trees = [as_tree("(x X)"), as_tree("(A (x X))"), as_tree("(B (A (x X)))")]
    problem = CFG.read(None, trees, loss="f1")
    pack = problem.pack([tree.leaves() for tree in trees], trees)
    loss = problem.functions.loss.py_func
    codes = [problem._encode(0, tree) for tree in trees]
    found = [[loss(pack.data, i, code) for code in codes] for i in range(3)]
    np.testing.assert_allclose(found, [[0, 1, 1], [1, 0, 1 / 3], [1, 1 / 3, 0]])
    for mode in (MARGIN, SLACK):
        check_decode(Treebank(trees, {"loss": "f1"}), 0, mode, compiled=False)


def test_trees_outside_the_grammar_are_named():
    problem = CFG.read(None, ["(S (a x) (b y))"])
    for tree, what in (
        ("(S (b y) (a x))", "S -> b a"),
        ("(T (a x) (b y))", "root T"),
        ("(S (c x) (b y))", "S -> c b"),
        ("(S (S (a x) (b y)))", "S -> S"),
    ):
        with pytest.raises(mm.DataError, match=f"tree 0.*{what}"):
            problem.pack(None, [tree])


def test_a_long_sentence_and_its_memory():
    trees = ["(S (x X) (y Y))", "(S (S (x X) (y Y)) (S (y Y) (x X)))", "(S (x X) (S (x X) (y Y)))"]
    problem = CFG.read(None, trees)
    pack = problem.pack([["X", "Y"] * 40])
    assert pack.work < 2e6
    labels = np.empty(len(pack.truth), np.int32)
    Shard(problem, pack).oracle(np.zeros(pack.dim), PREDICT, labels, np.array([0]))
    (tree,) = problem.unpack(pack, labels)
    assert tree is not None and tree.leaves() == ["X", "Y"] * 40


def test_shared_subtrees_are_no_problem():
    word = Tree("x", ["X"])
    tree = Tree("S", [word, Tree("S", [word, word]), word])
    assert unbinarise(binarise(tree), tree.leaves()) == tree
