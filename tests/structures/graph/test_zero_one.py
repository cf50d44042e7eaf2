"""The 0/1 loss of whole graphs: the best wrong labelling, against enumeration."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.problem import MARGIN
from maxmargin.structures.graph.tiny import features
from maxmargin.structures.graph.zero_one import ZeroOneGraphProblem
from reference import enumerate_optimum, enumerate_planes, primal
from speeds import SPEEDS, make_shard
from tests.structures.graph.test_graph import C, outputs, random_examples, random_graph


def differs(truth, y):
    return float(tuple(truth) != tuple(y))


@SPEEDS
def test_decode_finds_the_best_wrong_labelling(compiled):
    """Also where the truth is the best one, and in a forest of several trees."""
    random, K = np.random.RandomState(0), 3
    X, Y = random_examples(K, (4, 3, 1, 2), cycle=False)
    X[0] = mm.Graph(X[0].nodes, X[0].edges[[0, 2]], X[0].edge_features[[0, 2]])
    problem = ZeroOneGraphProblem(K)
    w = 0.1 * random.randn(problem.dim(2, 2))  # no score is better by more than the loss
    best = [max(outputs(K)(x), key=lambda y, x=x: w @ features(x, y, K, "full")) for x in X]
    for truth in (Y, [np.array(y) for y in best]):
        pack = problem.pack(X, truth)
        shard = make_shard(problem, pack, compiled)
        labels = shard.new_labels()
        shard.oracle(w, MARGIN, labels, shard.everyone)
        for x, t, y in zip(X, truth, problem.unpack(pack, labels), strict=True):
            others = [z for z in outputs(K)(x) if z != tuple(t.tolist())]
            highest = max(w @ features(x, z, K, "full") for z in others)
            assert tuple(y) != tuple(t)
            assert w @ features(x, y, K, "full") == pytest.approx(highest)


@SPEEDS
def test_the_truth_may_be_better_by_more_than_its_loss(compiled):
    X, Y = random_examples(2, (2,), cycle=False)
    problem = ZeroOneGraphProblem(2)
    w = np.random.RandomState(0).randn(problem.dim(2, 2))
    Y = [np.array(max(outputs(2)(X[0]), key=lambda y: w @ features(X[0], y, 2, "full")))]
    shard = make_shard(problem, problem.pack(X, Y), compiled)
    labels = shard.new_labels()
    shard.oracle(1e6 * w, MARGIN, labels, shard.everyone)
    assert labels.tolist() == Y[0].tolist()


@pytest.mark.parametrize("separable", [False, True])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_reaches_the_optimum(rescaling, separable):
    X, Y = random_examples(2, (3, 2, 3), cycle=False)
    if separable:  # so that the truth is best by more than 1 for some weights on the way
        Y = [(x.nodes[:, 0] > 0).astype(int) for x in X]
    planes = enumerate_planes(lambda x, y: features(x, y, 2, "full"), differs, X, Y, outputs(2))
    best = enumerate_optimum(*planes, C)
    clf = mm.GraphSVC(C=C, tol=1e-6, loss="zero-one", rescaling=rescaling).fit(X, Y)
    assert clf.result_.converged
    assert clf.result_.primal == pytest.approx(best.primal, abs=1e-5)
    assert clf.result_.primal == pytest.approx(primal(clf._w(), *planes, C))


def test_types_have_their_own_labels_only(tmp_path):
    random = np.random.RandomState(1)
    X = [
        mm.Graph(random.randn(3, 2), [(0, 1), (1, 2)], types=["word", "line", "word"])
        for _ in range(8)
    ]
    Y = [[random.choice(["a", "b"]), random.choice(["x", "y"]), "a"] for _ in X]
    clf = mm.GraphSVC(C=1.0, loss="zero-one").fit(X, Y)
    assert all({y[0], y[2]} <= {"a", "b"} and y[1] in ("x", "y") for y in clf.predict(X))
    clf.save(tmp_path / "m.mm")
    for a, b in zip(mm.load(tmp_path / "m.mm").predict(X), clf.predict(X), strict=True):
        assert a.tolist() == b.tolist()


def test_what_has_no_oracle_is_refused():
    X, Y = random_examples(2, (3, 2), cycle=False)
    ring = random_graph(np.random.RandomState(0))
    with pytest.raises(mm.DataError, match="'zero-one' has an oracle for graphs without cycles"):
        mm.GraphSVC(loss="zero-one").fit([ring], [[0, 1, 0, 1]])
    with pytest.raises(mm.DataError, match="without relax"):
        mm.GraphSVC(loss="zero-one", relax=True).fit(X, Y)
    with pytest.raises(mm.DataError, match="class_weight multiplies the loss of nodes"):
        mm.GraphSVC(loss="zero-one", class_weight="balanced").fit(X, Y)
    with pytest.raises(mm.DataError, match="weights of nodes have no meaning"):
        mm.GraphSVC(loss="zero-one").fit(X, Y, node_weight=[np.full(len(x), 2.0) for x in X])
    with pytest.raises(mm.DataError, match="loss must be 'hamming', 'zero-one' or a cost matrix"):
        mm.GraphSVC(loss="0/1").fit(X, Y)
