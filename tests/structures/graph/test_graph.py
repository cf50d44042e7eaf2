"""Graphs against enumeration, and against the structures that are special cases of them."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import LinearConstraint, minimize

import maxmargin as mm
from maxmargin.data.graph_lists import stack_graphs
from maxmargin.structures.graph.pairs import KINDS
from maxmargin.structures.graph.problem import GraphProblem
from maxmargin.structures.graph.tiny import features
from reference import enumerate_planes, primal

C = 0.5
TIGHT = dict(tol=1e-9, max_iter=100_000)


def random_graph(random, n=4, d=2, e=2, cycle=True):
    """A random graph with edge features >= 0; with a cycle of all nodes if asked for."""
    edges = [(v, v + 1) for v in range(n - 1)] + ([(n - 1, 0)] if cycle and n > 2 else [])
    return mm.Graph(random.randn(n, d), edges, random.rand(len(edges), e))


def random_examples(K, sizes=(4, 3, 2), **options):
    random = np.random.RandomState(K)
    X = [random_graph(random, n, **options) for n in sizes]
    return X, [random.randint(0, K, len(x)) for x in X]


def outputs(K):
    return lambda x: list(itertools.product(range(K), repeat=len(x)))


def planes_of(X, Y, K, pairwise):
    def loss(truth, y):
        return float(np.sum(np.asarray(truth) != np.asarray(y)))

    return enumerate_planes(lambda x, y: features(x, y, K, pairwise), loss, X, Y, outputs(K))


def solve_qp(planes, losses, positive):
    """min P(w) with w_j >= 0 for the chosen weights, as a smooth QP with one slack per example."""
    d, n = planes[0].shape[1], len(planes)
    rows, bounds = [], []
    for i, (A, loss) in enumerate(zip(planes, losses, strict=True)):
        rows.append(np.hstack([A, np.tile(np.eye(n)[i], (len(A), 1))]))
        bounds.append(loss)
    low = np.where(np.r_[positive, np.ones(n, bool)], 0.0, -np.inf)
    found = minimize(
        lambda z: 0.5 * z[:d] @ z[:d] + C * z[d:].sum(),
        np.r_[np.zeros(d), [loss.max() for loss in losses]],
        jac=lambda z: np.r_[z[:d], np.full(n, C)],
        bounds=[(b, None) for b in low],
        constraints=LinearConstraint(np.vstack(rows), np.concatenate(bounds), np.inf),
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return found.fun


@pytest.mark.parametrize("pairwise", KINDS)
def test_the_optimum_lies_within_the_certificate(pairwise):
    K = 2 if pairwise == "associative" else 3
    X, Y = random_examples(K, (3, 3, 2))
    planes, losses = planes_of(X, Y, K, pairwise)
    positive = np.zeros(planes[0].shape[1], bool)
    if pairwise == "associative":
        positive[2 * K :] = True
    best = solve_qp(planes, losses, positive)
    clf = mm.GraphSVC(C=C, pairwise=pairwise, tol=1e-4).fit(X, Y)
    result = clf.result_
    assert result.as_asked
    assert (result.w[positive] >= 0).all()
    # P from bounds is above the true P, which is above its minimum; D is below it.
    true = primal(result.w, planes, losses, C)
    assert result.dual <= best + 1e-6
    assert best - 1e-6 <= true <= result.primal + 1e-9
    assert true <= best + result.gap + 1e-6


def test_single_nodes_are_multiclass():
    random = np.random.RandomState(0)
    X, y = random.randn(12, 3), random.randint(0, 3, 12)
    graphs = [mm.Graph(x[None]) for x in X]
    a = mm.GraphSVC(C=C, **TIGHT).fit(graphs, [[k] for k in y])
    b = mm.MulticlassSVC(C=C, **TIGHT).fit(X, y)
    assert a.inference_ == "forest"
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-7)
    assert np.allclose(a.coef_, b.coef_, atol=1e-3)
    assert not a.pairwise_.any()
    assert [p.item() for p in a.predict(graphs)] == b.predict(X).tolist()


def test_chains_are_chains():
    random = np.random.RandomState(1)
    X = [random.randn(n, 3) for n in (4, 3, 1, 5)]
    Y = [random.choice(list("abc"), len(x)).tolist() for x in X]
    graphs = [mm.Graph(x, [(v, v + 1) for v in range(len(x) - 1)]) for x in X]
    a = mm.GraphSVC(C=C, **TIGHT).fit(graphs, Y)
    b = mm.ChainSVC(C=C, **TIGHT).fit(X, Y)
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-8)
    assert np.allclose(a.result_.w, b.result_.w, atol=1e-4)
    assert [p.tolist() for p in a.predict(graphs)] == b.predict(X)


def test_bounds_of_predictions_hold():
    K = 3
    X, Y = random_examples(K, (5, 4, 3, 1))
    clf = mm.GraphSVC(C=1.0, tol=0.1).fit(X, Y)
    assert clf.inference_ == "combined"
    found, score, bound = clf.predict(X, return_bound=True)
    w = clf.result_.w
    for x, y, mine, limit in zip(X, found, score, bound, strict=True):
        values = [w @ features(x, z, K, "full") for z in outputs(K)(x)]
        assert w @ features(x, y, K, "full") == pytest.approx(mine, abs=1e-9)
        assert mine <= max(values) + 1e-9 <= limit + 2e-9


def test_a_cut_is_exact():
    """Two labels that attract each other: no labels have a higher score."""
    X, Y = random_examples(2, (6, 5))
    clf = mm.GraphSVC(C=1.0, pairwise="associative").fit(X, Y)
    assert clf.inference_ == "min-cut"
    assert (clf.pairwise_ >= 0).all()
    assert clf.result_.gap_inference == 0
    for x, y in zip(X, clf.predict(X), strict=True):
        values = [clf.result_.w @ features(x, z, 2, "associative") for z in outputs(2)(x)]
        assert clf.result_.w @ features(x, y, 2, "associative") == pytest.approx(max(values))


def test_edges_given_twice_count_twice():
    random = np.random.RandomState(2)
    nodes, Y = random.randn(3, 2), [[0, 1, 1]]
    doubled = mm.Graph(nodes, [(0, 1), (1, 0), (1, 2), (1, 2)])
    once = mm.Graph(nodes, [(0, 1), (1, 2)], [[2.0], [2.0]])
    a, b = (mm.GraphSVC(C=C, pairwise="symmetric", **TIGHT).fit([g], Y) for g in (doubled, once))
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-7)
    assert np.allclose(a.pairwise_, b.pairwise_, atol=1e-3)


def test_nodes_without_labels_are_left_out():
    random = np.random.RandomState(3)
    nodes = random.randn(5, 2)
    known = mm.Graph(nodes[[0, 1, 4]], [(0, 1)])
    some = mm.Graph(nodes, [(0, 1), (1, 2), (3, 4), (2, 4)])
    a = mm.GraphSVC(C=C, **TIGHT).fit([some], [["x", "y", None, None, "x"]])
    b = mm.GraphSVC(C=C, **TIGHT).fit([known], [["x", "y", "x"]])
    c = mm.GraphSVC(C=C, void="?", **TIGHT).fit([some], [np.array(["x", "y", "?", "?", "x"])])
    for other in (b, c):
        assert a.result_.primal == pytest.approx(other.result_.primal, rel=1e-7)
    assert len(a.predict([some])[0]) == 5
    assert a.score([some], [[*a.predict([some])[0][:4].tolist(), None]]) == 1.0


def test_weights_of_nodes_and_classes():
    """Both multiply the loss: what it costs to predict a wrong label everywhere."""
    graph = mm.Graph(np.zeros((3, 1)), [(0, 1)], node_weight=[1.0, 2.0, 0.5])
    clf = mm.GraphSVC(class_weight={"a": 3.0}).fit([graph], [["a", "b", "a"]])
    problem = clf._problem(stack_graphs([graph]))
    pack = problem.pack([graph], [np.array([0, 1, 0])])
    assert problem.functions.loss(pack.data, 0, np.array([1, 0, 1], np.int16)) == 3 + 2 + 1.5
    again = mm.GraphSVC().fit([graph], [["a", "b", "a"]], node_weight=[[0.0, 0.0, 0.0]])
    assert again.result_.primal == 0


def test_sparse_features_are_the_same():
    X, Y = random_examples(3)
    sparse = [(sp.csr_array(x.nodes), x.edges, sp.csr_array(x.edge_features)) for x in X]
    a, b = (mm.GraphSVC(C=C, tol=1e-4).fit(some, Y) for some in (X, sparse))
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-9)


def test_empty_graphs_and_no_edges_at_all():
    X = [mm.Graph([[1.0], [-1.0]]), mm.Graph(np.zeros((0, 1))), ([[2.0]], [])]
    clf = mm.GraphSVC(C=10.0).fit(X, [[1, 0], [], [1]])
    assert [p.tolist() for p in clf.predict(X)] == [[1, 0], [], [1]]
    assert clf.predict([]) == []
    assert clf.score(X, [[1, 0], [], [1]]) == 1.0


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([([[1.0]], [(0, 1)])], [[0]], "graph 0: edge 0 joins the nodes 0 and 1, but .* 1 nodes"),
        ([([[1.0], [2.0]], [(1, 1)])], [[0, 1]], "graph 0: edge 0 joins node 1 to itself"),
        ([([[1.0], [np.nan]], [])], [[0, 1]], "graph 0: feature 0 of node 1 is nan"),
        ([([[1.0], [2.0]], [(0, 1)], [[np.inf]])], [[0, 1]], "graph 0: feature 0 of edge 0 is inf"),
        ([([[1.0], [2.0]], [(0, 1)], [[1.0], [2.0]])], [[0, 1]], "1 edges and 2 rows"),
        ([([[1.0], [2.0]], [(0.0, 1.0)])], [[0, 1]], "counted by integers"),
        ([([[1.0], [2.0]], [(0, 1)])], [[0]], "graph 0 has 2 nodes and 1 labels"),
        ([([[1.0], [2.0]], [(0, 1)])], [[0, np.nan]], "graph 0: the label of node 1 is NaN"),
        ([([[1.0], [2.0]], [(0, 1)])], [[0, 0]], "all nodes have the same label"),
        ([([[1.0], [2.0]], [(0, 1)])], [[None, None]], "no node has a label"),
        ([([[1.0]], []), ([[1.0, 2.0]], [])], [[0], [1]], "graph 1 has nodes of 2 features"),
        ([([[1.0], [2.0]], [(0, 1)], [[1.0]]), ([[1.0], [2.0]], [(0, 1)])], [[0, 1], [0, 1]],
         "graph 1 has no edge_features"),
        (np.eye(2), [[0], [1]], "not a list of graphs"),
    ],
)  # fmt: skip
def test_bad_input_is_named(X, Y, message):
    with pytest.raises(mm.DataError, match=message):
        mm.GraphSVC().fit(X, Y)


def test_parameters_that_are_refused():
    X, Y = random_examples(3)
    negative = [mm.Graph(x.nodes, x.edges, -x.edge_features) for x in X]
    with pytest.raises(mm.DataError, match=r"graph 0: edge 0 .*associative"):
        mm.GraphSVC(pairwise="associative").fit(negative, Y)
    with pytest.raises(mm.DataError, match="pairwise must be one of"):
        mm.GraphSVC(pairwise="other").fit(X, Y)
    with pytest.raises(mm.DataError, match="has an oracle for graphs without cycles only"):
        mm.GraphSVC(loss="zero-one").fit(X, Y)
    with pytest.raises(mm.DataError, match="slack rescaling has no oracle"):
        mm.GraphSVC(rescaling="slack").fit(X, Y)
    with pytest.raises(mm.DataError, match="graph 0 has a cycle"):
        mm.GraphSVC(inference="forest").fit(X, Y)
    with pytest.raises(mm.MaxMarginError, match="inference"):
        mm.GraphSVC(inference="other").fit(X, Y)
    clf = mm.GraphSVC().fit(X, Y)
    with pytest.raises(mm.DataError, match=r"edges of X have 1 features, but .* 2"):
        clf.predict([mm.Graph(x.nodes, x.edges) for x in X])


def test_models_with_cycles_come_back(tmp_path):
    X, Y = random_examples(3)
    clf = mm.GraphSVC(C=C, class_weight="balanced", tol=0.1).fit(X, Y)
    clf.save(tmp_path / "model.mm")
    again = mm.load(tmp_path / "model.mm")
    assert np.array_equal(again.pairwise_, clf.pairwise_)
    assert again.inference_ == clf.inference_
    for a, b in zip(again.predict(X, True), clf.predict(X, True), strict=True):
        assert all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def test_attributes_can_be_changed_after_fit():
    X, Y = random_examples(2, cycle=False)
    clf = mm.GraphSVC(C=C, pairwise="symmetric").fit(X, Y)
    clf.coef_, clf.pairwise_ = np.array([[0.0, 0.0], [5.0, 0.0]]), np.zeros_like(clf.pairwise_)
    for x, y in zip(X, clf.predict(X), strict=True):
        assert y.tolist() == (x.nodes[:, 0] > 0).astype(int).tolist()


def test_cross_validation_and_more_examples():
    X, _ = random_examples(2, (3, 3, 3, 3), cycle=False)
    Y = [[0, 1, 1], [1, 0, 0], [0, 0, 1], [1, 1, 0]]
    best = mm.GraphSVCCV(Cs=[0.1, 1.0], cv=2).fit(X, Y)
    assert best.scores_.shape == (2, 2)
    a = mm.GraphSVC(C=C, **TIGHT).partial_fit(X[:2], Y[:2]).partial_fit(X[2:], Y[2:])
    b = mm.GraphSVC(C=C, **TIGHT).fit(X, Y)
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-7)


def test_problems_are_checked():
    X, Y = random_examples(3, (3, 2), cycle=True)
    assert mm.check_problem(GraphProblem(3), X, Y, rescaling="margin").comparisons > 0


def test_reports_draw_graphs_with_positions(tmp_path):
    X, Y = random_examples(2, (3, 2), cycle=False)
    placed = [mm.Graph(x.nodes, x.edges, x.edge_features, positions=x.nodes) for x in X]
    clf = mm.GraphSVC(C=C).fit(placed, Y)
    clf.report(tmp_path / "report.html", placed, Y)
    page = (tmp_path / "report.html").read_text(encoding="utf8")
    assert page.count("<circle cx=") == 2 * 5 and page.count("<line x1=") == 3  # discs in rings
    clf.report(tmp_path / "report.html", X, Y)
    assert "<circle cx=" not in (tmp_path / "report.html").read_text(encoding="utf8")
