"""Several trees of a sentence, the best ones and diverse ones, against enumeration of all trees."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import maxmargin as mm
from cfg_reference import random_treebank
from maxmargin.data.brackets import as_tree
from maxmargin.problem import MARGIN, PREDICT, SLACK
from maxmargin.training import train
from tests.outputs.test_m_best import ask as ask_labels
from tests.structures.cfg.test_cfg import CASES, SEEDS, SIZES

MODES = st.sampled_from([PREDICT, MARGIN, SLACK])
DIVERSITY = st.sampled_from([0.0, 0.3, 2.0])


def ask(problem, pack, w, m, *args, **options):
    """For each sentence its trees with their scores."""
    found, score = ask_labels(problem, pack, w, m, *args, **options)
    return [
        [
            (problem.unpack_one(pack, i, np.array(row, pack.truth.dtype)), value)
            for row, value in zip(rows, score[i].tolist(), strict=False)
        ]
        for i, rows in enumerate(found)
    ]


def weights(seed, dim):
    """Random weights; for some seeds whole numbers, so that many trees are worth the same."""
    random = np.random.RandomState(seed)
    return random.randn(dim) if seed % 3 else random.randint(-1, 2, dim).astype(float)


def few_outputs(case, true):
    outputs = case.outputs(true)
    assume(len(outputs) < 500)
    return outputs


@settings(max_examples=40)
@given(case=CASES, seed=SEEDS, k=st.integers(1, 12), fast=st.booleans())
def test_the_k_best_trees(case, seed, k, fast):
    problem = case.problem
    pack = problem.pack(case.X)
    w = weights(seed, pack.dim)
    for true, found in zip(case.trees, ask(problem, pack, w, k, fast=fast), strict=True):
        outputs = few_outputs(case, true)
        values = sorted((w @ case.features(tree) for tree in outputs), reverse=True)[:k]
        np.testing.assert_allclose([score for _, score in found], values, atol=1e-9)
        trees = [tree for tree, _ in found]
        assert len(set(trees)) == len(trees) and set(trees) <= set(outputs)
        np.testing.assert_allclose([w @ case.features(tree) for tree in trees], values, atol=1e-9)


@settings(max_examples=40)
@given(case=CASES, seed=SEEDS, mode=MODES, m=st.integers(1, 6), diversity=DIVERSITY,
       fast=st.booleans())  # fmt: skip
def test_diverse_trees(case, seed, mode, m, diversity, fast):
    """Each tree is the best of those that were new, and its augmented value is exact."""
    problem = case.problem
    if (problem.loss, mode) in {("f1", MARGIN), ("f1", SLACK), ("bracket", SLACK)}:
        with pytest.raises(mm.ProblemError, match="m_cuts"):
            problem.m_best_work(problem.pack(case.X, case.trees), mode, m)
        return
    pack = problem.pack(case.X, case.trees)
    w = weights(seed, pack.dim)
    for true, found in zip(
        case.trees, ask(problem, pack, w, m, mode, diversity, fast), strict=True
    ):
        outputs, trees = few_outputs(case, true), [tree for tree, _ in found]
        np.testing.assert_allclose(
            [score for _, score in found], [w @ case.features(tree) for tree in trees], atol=1e-9
        )
        check_greedy(case, w, true, trees, outputs, mode, diversity)
        wanted = outputs
        if mode != PREDICT and problem.loss == "zero-one" and case.loss(true, trees[0]):
            wanted = [tree for tree in outputs if case.loss(true, tree)]
        assert len(trees) == min(m, len(wanted))


def check_greedy(case, w, true, trees, outputs, mode, diversity):
    left = list(outputs)
    for r, tree in enumerate(trees):

        def worth(other, before=trees[:r]):
            shared = sum(len(set(other.spans()) & set(z.spans())) for z in before)
            return case.value(w, true, other, mode) - diversity * shared

        if r == 1 and mode != PREDICT and case.problem.loss == "zero-one":
            left = [other for other in left if case.loss(true, other)]  # it is no cut
        assert tree in left
        assert worth(tree) == pytest.approx(max(map(worth, left)), abs=1e-9)
        left.remove(tree)


@settings(max_examples=25)
@given(
    seed=SEEDS, sizes=SIZES, h=st.sampled_from([None, 0, 1, 2]), v=st.integers(1, 2),
    features=st.sampled_from(["rules", "rich"]),
)  # fmt: skip
def test_markovised_grammars_give_trees_with_the_scores_of_their_features(
    seed, sizes, h, v, features
):
    """Scores fall, no tree comes twice, and each is worth what its features say."""
    case = random_treebank(seed, sizes, horizontal=h, vertical=v, features=features)
    problem = case.problem
    pack = problem.pack(case.X, case.trees)
    w = weights(seed, pack.dim)
    for i, found in enumerate(ask(problem, pack, w, 20)):
        trees, scores = zip(*found, strict=True)
        assert len(set(trees)) == len(trees)
        np.testing.assert_allclose(scores, sorted(scores, reverse=True), atol=1e-9)
        np.testing.assert_allclose(scores, [w @ case.features(tree) for tree in trees], atol=1e-9)
        if len(trees) < 20:  # these are all
            assert case.trees[i] in trees
        assert max(scores) >= w @ case.features(case.trees[i]) - 1e-9


def test_many_trees_of_a_longer_sentence():
    """Lists longer than any other test needs: all 1430 ways to bracket nine words, in order."""
    case = random_treebank(0, ())
    case.trees = [as_tree("(S (S (x X) (x X)) (S (x X) (S (x X) (x X))))"),
                  as_tree("(S (S (S (x X) (x X)) (x X)) (x X))")]  # fmt: skip
    case.options = {"features": "rich"}
    problem = case.problem
    pack = problem.pack([["X"] * 9])
    w = np.random.RandomState(1).randn(pack.dim)
    for v in (w, 0 * w):
        (found,) = ask(problem, pack, v, 2000)
        trees, scores = zip(*found, strict=True)
        assert len(set(trees)) == len(trees) == 1430
        np.testing.assert_allclose(scores, sorted(scores, reverse=True), atol=1e-9)
    for diversity in (0.5, 50.0):
        (few,) = ask(problem, pack, w, 4, diversity=diversity)
        assert len({tree for tree, _ in few}) == 4


def test_the_sum_of_true_features():
    for features in ("rules", "rich"):
        case = random_treebank(4, (1, 3, 5, 2), features=features)
        weight = np.array([1.0, 2.0, 0.5, 3.0])
        total = case.problem.truth_features(case.problem.pack(case.X, case.trees, weight))
        expected = sum(c * case.features(t) for c, t in zip(weight, case.trees, strict=True))
        np.testing.assert_allclose(total, expected, atol=1e-12)


SOLVERS = {
    "greedy": mm.OneSlack(cache=0, m_cuts=3),
    "greedy, cached": mm.OneSlack(cache=5, m_cuts=3),
    "diverse": mm.OneSlack(cache=0, m_cuts=3, diversity=0.5),
    "ordering": mm.OneSlack(cache=0, m_cuts=3, combine="ordering", diversity="auto"),
    "ilp": mm.OneSlack(cache=0, m_cuts=3, combine="ilp", reuse_map=True, diversity=0.3),
    "relaxed": mm.OneSlack(cache=0, m_cuts=3, combine="relaxed", reuse_map=True, diversity=0.3),
    "none": mm.OneSlack(cache=5, m_cuts=3, combine="none"),
}


@pytest.mark.parametrize(
    ("loss", "rescaling"), [("bracket", "margin"), ("zero-one", "margin"), ("zero-one", "slack")]
)
def test_several_cuts_reach_the_same_optimum(loss, rescaling):
    case = random_treebank(7, (3, 5, 4, 2, 5, 4, 3, 5), loss=loss)
    n, C, tol = len(case.trees), 0.5, 1e-5

    def run(solver, **options):
        result = train(case.problem, case.X, case.trees, C=C, tol=tol, rescaling=rescaling,
                       solver=solver, **options)  # fmt: skip
        assert result.status.name == "CONVERGED" and result.gap <= tol * C * n
        return result

    plain = run(mm.OneSlack(cache=0))
    for solver in SOLVERS.values():
        result = run(solver)
        assert result.dual <= plain.primal + 1e-9 and plain.dual <= result.primal + 1e-9
    one, two = (run(SOLVERS["diverse"], n_jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.w, two.w)
