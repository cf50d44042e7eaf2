"""The relaxed problem of graphs against all half-integral points, HiGHS and the exact problem."""

import itertools

import numpy as np
import pytest

import maxmargin as mm
from command_line import passed
from maxmargin.engine.shard import Shard
from maxmargin.inference.maximise import merge_tables
from maxmargin.inference.slow import relaxation
from maxmargin.io.graphs import graph_arrays
from maxmargin.io.npz import npz_bytes
from maxmargin.problem import MARGIN
from maxmargin.report.certificate import certificate
from maxmargin.structures.graph.problem import GraphProblem
from maxmargin.structures.graph.relaxed import RelaxedGraphProblem
from reference import enumerate_optimum, primal


def rings(K, sizes=(3, 3, 4), seed=0):
    """Rings whose neighbours have different labels as far as possible; features hardly help."""
    random = np.random.RandomState(seed)
    X, Y = [], []
    for n in sizes:
        edges = [(v, (v + 1) % n) for v in range(n)] + [(1, 0)]
        X.append(mm.Graph(random.randn(n, 2), edges, random.rand(len(edges), 1) + 0.5))
        Y.append(np.arange(n) % K)
    return X, Y


def half_points(x):
    """All points with states 0, 1/2, 1 of two labels: shares of nodes and of each pair of nodes."""
    n, pairs = len(x), sorted({(min(e), max(e)) for e in x.edges.tolist()})
    for state in itertools.product((0.0, 0.5, 1.0), repeat=n):
        halves = [p for p in pairs if state[p[0]] == state[p[1]] == 0.5]
        for equal in itertools.product((0.0, 0.5), repeat=len(halves)):
            both = {p: state[p[0]] * state[p[1]] for p in pairs} | dict(
                zip(halves, equal, strict=True)
            )
            yield np.array(state), both


def point_features(x, point):
    """phi of a point, linear in its shares (full pairs)."""
    state, both = point
    nodes = x.nodes.T @ np.column_stack([1 - state, state])
    weights = np.zeros((x.edge_features.shape[1], 2, 2))
    for (a, b), f in zip(x.edges.tolist(), x.edge_features, strict=True):
        t, p, q = both[min(a, b), max(a, b)], state[a], state[b]
        weights += f[:, None, None] * np.array([[1 - p - q + t, q - t], [p - t, t]])
    return np.concatenate([nodes.ravel(), weights.ravel()])


def labels_as_point(x, y):
    y = np.asarray(y, float)
    return y, {(min(a, b), max(a, b)): y[a] * y[b] for a, b in x.edges.tolist()}


def half_planes(X, Y):
    planes, losses = [], []
    for x, y in zip(X, Y, strict=True):
        truth, points = point_features(x, labels_as_point(x, y)), list(half_points(x))
        planes.append(np.array([truth - point_features(x, point) for point in points]))
        losses.append(np.array([np.abs(point[0] - y).sum() for point in points]))
    return planes, losses


def test_two_labels_reach_the_optimum_over_all_half_integral_points():
    C, (X, Y) = 5.0, rings(2)
    planes, losses = half_planes(X, Y)
    clf = mm.GraphSVC(C=C, relax=True, tol=1e-6, max_iter=50_000).fit(X, Y)
    result = clf.result_
    assert result.converged
    assert result.gap_inference == 0
    assert primal(result.w, planes, losses, C) == pytest.approx(result.primal, rel=1e-9)
    best = enumerate_optimum(planes, losses, C)
    assert result.dual <= best.primal + 1e-9
    assert best.dual <= result.primal + 1e-9
    exact = mm.GraphSVC(C=C, tol=1e-6, max_iter=50_000).fit(X, Y).result_
    assert exact.dual < result.dual - 0.01  # halves do matter here


@pytest.mark.parametrize("K", [2, 3])
def test_points_have_the_labels_of_their_types(K):
    """Nodes of type 1 have label 1 only, those of type 0 the other ones."""
    X, Y = rings(K, (4, 5, 4), 1)
    X = [
        mm.Graph(x.nodes, x.edges, x.edge_features, types=y % 2) for x, y in zip(X, Y, strict=True)
    ]
    own = np.arange(K) % 2 == np.array([[0], [1]])
    problem = RelaxedGraphProblem(K, type_classes=own)
    pack = problem.pack(X, Y)
    shard, w = Shard(problem, pack), np.random.RandomState(0).randn(pack.dim)
    labels, bound = pack.truth.copy(), shard.new_bounds()
    for _ in range(5):
        shard.oracle(w, MARGIN, labels, shard.everyone, bound)
    assert problem.valid_labels(pack, labels).all()
    if K == 2:
        assert (labels == pack.truth).all()  # each node has one label
        return
    value = shard.collect(w, MARGIN, labels)[2]
    np.testing.assert_allclose(bound, value, atol=1e-4)  # so that no point is better
    wrong = RelaxedGraphProblem(K).pack(X, [np.ones(len(x), int) for x in X]).truth
    assert not problem.valid_labels(pack, wrong).any()


@pytest.mark.parametrize("pairwise", ["full", "symmetric", "potts"])
def test_more_labels_agree_with_highs(pairwise):
    C, (X, Y) = 5.0, rings(3, (4, 5, 4), 1)
    clf = mm.GraphSVC(C=C, relax=True, pairwise=pairwise, tol=1e-4).fit(X, Y)
    result = clf.result_
    assert result.converged
    total = 0.5 * result.w @ result.w
    for x, y in zip(X, Y, strict=True):
        unary, pair = x.nodes @ clf.coef_.T, np.tensordot(x.edge_features, clf.pairwise_, 1)
        truth = unary[np.arange(len(x)), y].sum() + sum(
            table[y[a], y[b]] for (a, b), table in zip(x.edges.tolist(), pair, strict=True)
        )
        costs = 1.0 - np.eye(3)[y]
        merged = merge_tables(x.edges, pair)  # edges between the same nodes share their counts
        total += C * (relaxation(unary + costs, *merged)[0] - truth)
    assert result.dual - 1e-6 <= total <= result.primal + 1e-6


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("pairwise", ["full", "symmetric", "potts"])
def test_whole_points_have_the_planes_of_their_labels(K, pairwise):
    """Also with edges that are given twice, in both directions."""
    X, Y = rings(K, (4, 3))
    random = np.random.RandomState(3)
    other = [random.randint(0, K, len(x)) for x in X]
    exact, relaxed = GraphProblem(K, pairwise), RelaxedGraphProblem(K, pairwise)
    points = relaxed.pack(X, other).truth
    w = random.randn(exact.dim(2, 1))
    a = Shard(exact, exact.pack(X, Y)).collect(w, MARGIN, np.concatenate(other).astype(np.int16))
    b = Shard(relaxed, relaxed.pack(X, Y)).collect(w, MARGIN, points.copy())
    assert b[1] == a[1]
    np.testing.assert_allclose(b[0], a[0], atol=1e-12)
    np.testing.assert_allclose(b[2], a[2], atol=1e-12)
    pack = relaxed.pack(X, Y)
    np.testing.assert_allclose(
        relaxed.first_scores(pack, w, points),
        exact.first_scores(exact.pack(X, Y), w, np.concatenate(other)),
    )


@pytest.mark.parametrize("K", [2, 3])
def test_points_that_are_not_consistent_are_refused(K):
    X, Y = rings(K, (4, 3))
    problem = RelaxedGraphProblem(K)
    pack = problem.pack(X, Y)
    assert problem.valid_labels(pack, pack.truth).all()
    broken = pack.truth.copy()
    broken[pack.offsets[1] - 1] = problem.units - broken[pack.offsets[1] - 1]
    valid = problem.valid_labels(pack, broken)
    assert not valid[: pack.offsets[1]].any()
    assert valid[pack.offsets[1] :].all()


@pytest.mark.slow
def test_check_problem_finds_nothing():
    X, Y = rings(2, (4, 3))
    assert "no mistake" in str(mm.check_problem(RelaxedGraphProblem(2), X, Y))


def test_a_run_continues_from_a_checkpoint(tmp_path):
    X, Y = rings(3, (4, 5, 4), 1)
    options = dict(C=5.0, relax=True, checkpoint=tmp_path / "run.ckpt")
    with pytest.warns(Warning, match="max_iter"):
        first = mm.GraphSVC(max_iter=3, **options).fit(X, Y).result_
    again = mm.GraphSVC(**options).fit(X, Y).result_
    assert again.converged
    assert again.dual >= first.dual
    assert again.history[0] == first.history[0]


def test_models_and_certificates_say_that_they_are_relaxed(tmp_path):
    X, Y = rings(2)
    clf = mm.GraphSVC(C=1.0, relax=True).fit(X, Y)
    assert clf.inference_ == "roof-dual"
    assert "above the optimum of the relaxed problem; its objective is an upper bound" in (
        certificate(clf.result_)
    )
    assert clf.result_.audit().gap == clf.result_.gap
    clf.save(tmp_path / "model.mm")
    loaded = mm.load(tmp_path / "model.mm")
    assert loaded.relax is True
    assert loaded.result_.bounds == "of the relaxed problem"
    for a, b in zip(clf.predict(X), loaded.predict(X), strict=True):
        assert a.tolist() == b.tolist()


def test_the_command_line_relaxes(tmp_path):
    X, Y = rings(2)
    data, model = tmp_path / "graphs.npz", tmp_path / "model.mm"
    data.write_bytes(npz_bytes(graph_arrays(X, Y)))
    assert (
        "relaxed problem"
        in passed("train", "graph", data, "-o", model, "--relax", "-C", "1").output
    )
    assert mm.load(model).relax is True


def test_graphs_without_cycles_and_without_nodes():
    """The relaxation of a forest is tight."""
    X = [mm.Graph(np.eye(3), [(0, 1), (1, 2)]), mm.Graph(np.zeros((0, 3))), mm.Graph(np.eye(3))]
    Y = [["a", "b", "c"], [], ["c", "a", "b"]]
    a, b = (mm.GraphSVC(C=1.0, relax=relax, tol=1e-6).fit(X, Y).result_ for relax in (True, False))
    assert a.primal == pytest.approx(b.primal, rel=1e-4)
