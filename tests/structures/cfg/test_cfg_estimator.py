"""CFGSVC: every solver reaches the optimum, models come back from files, odd input is no crash."""

import numpy as np
import pytest

import maxmargin as mm
from cfg_reference import random_treebank
from maxmargin.data.brackets import as_tree
from maxmargin.data.trees import Tree
from reference import enumerate_optimum
from solver_tables import all_solvers

TREES = [
    "(TOP (S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat)))))",
    "(TOP (S (NP (D a) (J big) (N cat)) (VP (V sleeps))))",
    "(TOP (NP (NP (D the) (N dog)) (PP (P in) (NP (D a) (N park)))))",
    "(TOP (S (NP (N John)) (VP (V sees) (NP (D the) (N cat)) (PP (P in) (NP (D the) (N park))))))",
    "(TOP (NP (N parks)))",
]
SOLVERS = all_solvers() | {"one-slack, cached": mm.OneSlack(cache=5)}


def planes(case, slack):
    """Every plane and its loss, from the definitions."""
    rows, losses = [], []
    for tree in case.trees:
        outputs = case.outputs(tree)
        loss = np.array([case.loss(tree, other) for other in outputs])
        psi = np.array([case.features(tree) - case.features(other) for other in outputs])
        rows.append(loss[:, None] * psi if slack else psi)
        losses.append(loss)
    return rows, losses


CASES = {
    "bracket": ({"loss": "bracket"}, "margin"),
    "bracket, rich": ({"loss": "bracket", "features": "rich", "input": "tagged"}, "margin"),
    "zero-one": ({"loss": "zero-one"}, "margin"),
    "zero-one, slack": ({"loss": "zero-one"}, "slack"),
    "f1": ({"loss": "f1"}, "margin"),
}


# The tests of all structures have the F1 loss too.
SLOW = {"f1": pytest.mark.slow}


@pytest.mark.parametrize("name", [pytest.param(name, marks=SLOW.get(name, ())) for name in CASES])
def test_every_solver_reaches_the_optimum(name):
    options, rescaling = CASES[name]
    # With rich features the enumeration of longer sentences takes most of a minute.
    lengths = (3, 4, 4) if "rich" in name else (3, 4, 4, 5)
    case = random_treebank(11, lengths, **options)
    C, n, tol = 0.3, len(lengths), 0.02
    best = enumerate_optimum(*planes(case, rescaling == "slack"), C, tol=1e-4)
    for solver in SOLVERS.values():
        rough = isinstance(solver, mm.Subgradient)
        clf = mm.CFGSVC(
            C=C, solver=solver, tol=0.2 if rough else tol, rescaling=rescaling, **options
        )
        clf.fit(case.X, case.trees)
        result = clf.result_
        assert result.status.name == "CONVERGED"
        assert result.dual <= best.primal + 1e-9 and result.primal >= best.dual - 1e-9
        assert result.primal - best.primal <= (0.2 if rough else tol) * C * n + 1e-4 * best.primal


@pytest.mark.parametrize("features", ["rules", "rich"])
@pytest.mark.parametrize("input", ["words", "tags", "tagged"])
def test_training_trees_are_learned(features, input):
    clf = mm.CFGSVC(C=10.0, features=features, input=input).fit(None, TREES)
    assert clf.score(None, TREES) == 1.0
    tree = as_tree(TREES[3])
    x = {"words": tree.leaves(), "tags": tree.tags(), "tagged": tree.pos()}[input]
    (found,) = clf.predict([x])
    assert found.spans() == tree.spans() and found.tags() == tree.tags()
    ((best, *others),) = clf.predict_m_best([x], m=3)
    assert best[0] == found and all(best[1] >= score for _, score in others)


@pytest.fixture(scope="module")
def parser():
    return mm.CFGSVC(C=10.0).fit(None, TREES)


def test_unknown_words_have_the_tags_of_their_class(parser):
    (tree,) = parser.predict(["the zork sees a blipping gnu"])
    assert tree.leaves() == ["the", "zork", "sees", "a", "blipping", "gnu"]
    assert tree.label == "TOP" and tree.tags()[:4] == ["D", "N", "V", "D"]


def test_a_sentence_outside_the_grammar_is_covered_by_fragments(parser):
    trees = parser.predict(["the the", "in", "sees sees the dog", "the dog sees a cat in in"])
    assert [str(tree) for tree in trees[:2]] == ["(TOP (D the) (D the))", "(TOP (P in))"]
    assert str(trees[2]).endswith("(NP (D the) (N dog))))") and len(trees[2].leaves()) == 4
    assert trees[3].label == "TOP" and len(trees[3].leaves()) == 7
    for tree, (best, *_) in zip(
        trees, parser.predict_m_best([t.leaves() for t in trees]), strict=True
    ):
        assert best[0] == tree and np.isfinite(best[1])


def test_sentences_of_no_word_and_of_one(parser):
    assert parser.predict(["", [], "parks"]) == [None, None, as_tree(TREES[4])]
    assert parser.predict([]) == []
    assert parser.predict_m_best([""]) == [[]]


def test_unknown_tags_are_free():
    clf = mm.CFGSVC(C=10.0, input="tagged").fit(None, TREES)
    ((word, _), *rest) = as_tree(TREES[0]).pos()
    (tree,) = clf.predict([[(word, "??"), *rest]])
    assert tree == as_tree(TREES[0])


def test_unary_chains_of_any_length():
    trees = ["(A (B (C (A (x X)))))", "(A (B (x X) (y Y)))", "(A (C (B (A (x X) (y Y)))))"]
    clf = mm.CFGSVC(C=100.0, loss="zero-one").fit(None, trees[1:])
    found = clf.predict_m_best(["X Y"], m=10)[0]
    # A chain from A to A, the one of B, and neither: the grammar has no bare B or A at the root.
    assert {str(tree) for tree, _ in found} == {*trees[1:], "(A (x X) (y Y))"}
    assert mm.CFGSVC(C=10.0).fit(None, trees).score(None, trees[:1]) == 1.0


@pytest.mark.parametrize("options", [{}, {"features": "rich", "horizontal": 1, "vertical": 2},
                                     {"input": "tagged", "features": "rich"}])  # fmt: skip
def test_models_come_back_from_files(options, tmp_path):
    clf = mm.CFGSVC(C=1.0, **options).fit(None, TREES)
    clf.save(tmp_path / "parser.mm")
    again = mm.load(tmp_path / "parser.mm")
    assert again.get_params() == clf.get_params()
    np.testing.assert_array_equal(again.coef_, clf.coef_)
    X = [as_tree(tree).pos() for tree in TREES]
    if clf.input == "words":
        X = [*([word for word, _ in x] for x in X), "the zork", "in in"]
    assert again.predict(X) == clf.predict(X)
    assert again.predict_m_best(X, 4) == clf.predict_m_best(X, 4)
    assert again.result_.gap == clf.result_.gap
    again.save(tmp_path / "again.mm")
    assert (tmp_path / "again.mm").read_bytes() == (tmp_path / "parser.mm").read_bytes()


def test_a_damaged_grammar_is_refused(parser, tmp_path):
    from maxmargin.io import read_container, write_container

    parser.save(tmp_path / "parser.mm")
    meta, arrays = read_container(tmp_path / "parser.mm")
    for name in ("rules", "chains", "parts", "tags", "owners"):
        bad = dict(arrays)
        bad[name] = np.full_like(arrays[name], 10_000)
        write_container(tmp_path / "bad.mm", meta, bad)
        with pytest.raises(mm.ModelFileError, match=r"bad\.mm"):
            mm.load(tmp_path / "bad.mm")


def test_trees_of_nltk_come_and_go(tmp_path):
    nltk = pytest.importorskip("nltk")
    trees = [nltk.Tree.fromstring(tree) for tree in TREES]
    clf = mm.CFGSVC(C=10.0).fit(None, trees)
    assert clf.predict([trees[0].leaves()]) == [trees[0]]
    clf.save(tmp_path / "parser.mm")
    assert isinstance(mm.load(tmp_path / "parser.mm").predict(["parks"])[0], nltk.Tree)
    assert clf.score(None, trees) == 1.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"loss": "hamming"}, "bracket"),
        ({"features": "all"}, "rich"),
        ({"input": "lemmas"}, "tagged"),
        ({"vertical": 3}, "vertical"),
        ({"horizontal": -1}, "horizontal"),
        ({"loss": "f1", "solver": mm.OneSlack(m_cuts=2)}, "m_cuts"),
        ({"rescaling": "slack", "solver": mm.OneSlack(m_cuts=2)}, "m_cuts"),
    ],
)
def test_bad_options_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        mm.CFGSVC(**change).fit(None, TREES)


def test_input_that_does_not_fit_is_named(parser):
    with pytest.raises(mm.DataError, match="token 1 of sentence 0 is 'cat'"):
        mm.CFGSVC().fit(["the cat"], ["(S (D the) (N dog))"])
    with pytest.raises(mm.DataError, match="sentence 0 has 1 tokens and its tree 2"):
        mm.CFGSVC().fit(["the"], ["(S (D the) (N dog))"])
    with pytest.raises(mm.DataError, match="tree 1 of Y"):
        mm.CFGSVC().fit(None, [TREES[0], "(S (D the)"])
    with pytest.raises(mm.DataError, match="token 0 of sentence 0 is 3"):
        parser.predict([[3]])
    with pytest.raises(mm.DataError, match="pair"):
        mm.CFGSVC(input="tagged").fit(["the dog"], ["(S (D the) (N dog))"])
    with pytest.raises(mm.DataError, match="one string"):
        parser.predict("the dog")


def test_weights_of_examples(parser):
    weights = np.array([1.0, 0.0, 2.0, 1.0, 1.0])
    clf = mm.CFGSVC(C=1.0).fit(None, TREES, sample_weight=weights)
    assert clf.result_.converged
    assert isinstance(clf.predict(["the dog sleeps"])[0], Tree)


def test_a_beam_leaves_out_what_scores_low():
    clf = mm.CFGSVC(C=10.0).fit(None, TREES)
    X = [as_tree(tree).leaves() for tree in TREES] + ["the big zork sees in", "in in"]
    exact = clf.predict_m_best(X, 1)
    expected = clf.predict(X)
    assert clf.set_params(beam=1e6).predict(X) == expected
    for beam in (1e-9, 0.1, 1.0):
        found = clf.set_params(beam=beam).predict_m_best(X, 1)
        for ((tree, score),), ((best, most),) in zip(found, exact, strict=True):
            assert tree.leaves() == best.leaves()
            outside = len(tree.children) > 1  # fragments: their score is that of their parts
            assert outside or score <= most + 1e-9
    with pytest.raises(ValueError, match="beam"):
        clf.set_params(beam=-1.0).predict(X)
