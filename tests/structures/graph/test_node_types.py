"""Nodes of several types, with different features, labels and weights of pairs."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

import maxmargin as mm
from maxmargin.inference import maximise
from maxmargin.inference.choose import DECODERS
from maxmargin.inference.slow import local_polytope
from maxmargin.structures.graph.node_types import copy_scores, labels_instead, use_own_labels
from small_graphs import decode, models

C = 0.5
TIGHT = dict(tol=1e-9, max_iter=100_000)


def with_types(model, allowed):
    """The model with copied scores, and the data that ``use_own_labels`` needs."""
    n, K = model.unary.shape
    data = SimpleNamespace(
        instead=labels_instead(allowed), cost=np.zeros((K, K)), starts=np.array([[0], [n]])
    )
    copy = model._replace(unary=model.unary.copy(), pair=model.pair.copy())
    copy_scores(data, 0, model.edges.ravel(), copy.unary.reshape(-1), copy.pair.reshape(-1))
    return copy, data


@given(models(labels=(2, 4), nodes=5), st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=150)
def test_every_decoder_keeps_to_the_labels_of_each_node(model, seed, two):
    """Enumeration over the labels that the nodes have: exact ones are exact, bounds hold."""
    n, K = model.unary.shape
    if two and K != 2:
        model = model._replace(unary=model.unary[:, :2], pair=model.pair[:, :2, :2].copy())
        K = 2
    rng = np.random.default_rng(seed)
    allowed = rng.random((n, K)) < 0.6
    allowed[np.arange(n), rng.integers(K, size=n)] = True
    copy, data = with_types(model, allowed)
    outputs, values = model.values()
    best = values[allowed[np.arange(n), outputs].all(axis=1)].max()
    attractive = model._replace(pair=np.abs(model.pair) * np.eye(K))
    for kind in DECODERS:
        mine, most = copy, best
        if kind == "forest":
            mine, most = copy._replace(edges=copy.edges[:1], pair=copy.pair[:1]), None
        if kind in ("min-cut", "branch", "roof-dual") and K != 2:
            continue
        if kind == "min-cut":
            mine, most = with_types(attractive, allowed)[0], None
        y, bound = decode(kind, mine, effort=5)
        use_own_labels(data, 0, y)
        assert allowed[np.arange(n), y].all()
        if most is None:
            assert mine.value(y) == mine.maximum()
        else:
            assert model.value(y) <= best <= bound + 1e-9


@given(models(labels=(2, 3), nodes=4), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_a_copied_label_changes_neither_maximum_nor_relaxation(model, seed):
    """Compared with HiGHS, where variables of labels that a node cannot have are left out."""
    n, K = model.unary.shape
    rng = np.random.default_rng(seed)
    allowed = rng.random((n, K)) < 0.6
    allowed[np.arange(n), rng.integers(K, size=n)] = True
    copy, data = with_types(model, allowed)
    scores, A, b = local_polytope(model.unary, model.edges, model.pair)
    pairs = [np.outer(allowed[v], allowed[w]).ravel() for v, w in model.edges]
    keep = np.concatenate([allowed.ravel(), *pairs])
    best = -linprog(-scores[keep], A_eq=A[:, keep], b_eq=b, bounds=(0, None)).fun
    assert maximise(copy.unary, copy.edges, copy.pair, "lp")[1] == pytest.approx(best)
    y, _ = maximise(copy.unary, copy.edges, copy.pair, "exact")
    use_own_labels(data, 0, y)
    outputs, values = model.values()
    possible = allowed[np.arange(n), outputs].all(axis=1)
    assert model.value(y) == pytest.approx(values[possible].max())


def pages(n=12, seed=0):
    """Words of 3 features in lines of 2: words are "name" or "number", lines "row" or "head"."""
    random, X, Y = np.random.RandomState(seed), [], []
    for _ in range(n):
        head = random.rand(2) < 0.5
        line = np.repeat([0, 1], 2)
        number = np.where(head[line], random.rand(4) < 0.1, random.rand(4) < 0.9)
        words = np.column_stack([number, ~number, np.ones(4)]) + random.randn(4, 3)
        lines = np.column_stack([head, np.ones(2)]) + random.randn(2, 2)
        X.append(
            mm.Graph.of_types(
                {"word": words, "line": lines},
                {
                    ("word", "line"): np.column_stack([np.arange(4), line]),
                    ("line", "line"): [[0, 1]],
                },
                {("word", "line"): random.rand(4, 2)},
            )
        )
        Y.append(np.r_[np.where(number, "number", "name"), np.where(head, "head", "row")])
    return X, Y


@pytest.fixture(scope="module")
def fitted():
    X, Y = pages()
    return mm.GraphSVC(C=C, tol=1e-3).fit(X, Y), X, Y


def test_trees_are_trained_alike_with_relax(fitted):
    """The relaxation of a tree is tight."""
    clf, X, Y = fitted
    relaxed = mm.GraphSVC(C=C, tol=1e-3, relax=True).fit(X, Y)
    assert relaxed.result_.converged
    assert relaxed.result_.dual <= clf.result_.primal + 1e-9
    assert clf.result_.dual <= relaxed.result_.primal + 1e-9


def test_a_type_has_only_its_labels_and_weights(fitted):
    clf, X, _ = fitted
    assert clf.types_.tolist() == ["line", "word"]
    assert clf.classes_.tolist() == ["head", "name", "number", "row"]
    assert clf.type_classes_.tolist() == [[True, False, False, True], [False, True, True, False]]
    for x, y in zip(X, clf.predict(X), strict=True):
        assert set(y[x.types == "word"]) <= {"name", "number"}
        assert set(y[x.types == "line"]) <= {"head", "row"}
    weights = clf.coef_.reshape(4, 2, 3)
    assert not weights[[1, 2], 0].any() and not weights[[0, 3], 1].any()
    assert not weights[:, 0, 2].any()  # a line has two features
    pairs = clf.pairwise_.reshape(2, 2, 2, 4, 4)
    assert pairs[0, 0, 0].any() and pairs[1, 0].any()
    assert not pairs[0, 1].any() and not pairs[1, 1].any() and not pairs[0, 0, 1].any()
    shown = clf.explain().to_frame()["feature"].tolist()
    assert "word: feature 0" in shown and "name -> head, word to line, edge feature 0" in shown


def test_types_are_separate_problems_without_edges_between_them():
    """The optimum is the sum of those of the types."""
    random = np.random.RandomState(1)
    A, B = ([random.randn(3, d) for _ in range(4)] for d in (2, 3))
    edges, labels = [[0, 1], [1, 2]], random.randint(0, 2, (4, 3))
    labels[0] = [0, 1, 1]
    X = [
        mm.Graph.of_types({"a": a, "b": b}, {("a", "a"): edges, ("b", "b"): edges})
        for a, b in zip(A, B, strict=True)
    ]
    both = mm.GraphSVC(C=C, **TIGHT).fit(X, np.hstack([labels, labels]))
    each = [
        mm.GraphSVC(C=C, **TIGHT).fit([mm.Graph(x, edges) for x in part], labels) for part in (A, B)
    ]
    total = sum(clf.result_.primal for clf in each)
    assert both.result_.primal == pytest.approx(total, rel=1e-7)
    assert np.allclose(both.coef_[:, :2], each[0].coef_, atol=1e-3)
    assert np.allclose(both.coef_[:, 3:], each[1].coef_, atol=1e-3)


def test_one_type_is_no_type():
    X, Y = pages(6)
    plain = [mm.Graph(x.nodes, x.edges, x.edge_features) for x in X]
    typed = [mm.Graph(x.nodes, x.edges, x.edge_features, types=[7] * len(x)) for x in X]
    a, b = (mm.GraphSVC(C=C, tol=1e-6).fit(some, Y) for some in (plain, typed))
    assert a.result_.primal == pytest.approx(b.result_.primal, rel=1e-4)
    assert a.coef_.shape == b.coef_.shape and a.pairwise_.shape == b.pairwise_.shape


def test_sparse_features_and_missing_types_are_the_same(fitted):
    clf, X, _ = fitted
    sparse = [
        mm.Graph(sp.csr_array(x.nodes), x.edges, sp.csr_array(x.edge_features), types=x.types)
        for x in X
    ]
    for a, b in zip(clf.predict(sparse), clf.predict(X), strict=True):
        assert a.tolist() == b.tolist()
    lines = mm.Graph.of_types({"line": [[1.0, 1.0], [0.0, 1.0]]}, {("line", "line"): [[0, 1]]})
    assert set(clf.predict([lines])[0]) <= {"head", "row"}
    assert [len(y) for y in clf.predict([X[0], lines])] == [6, 2]


def test_files_of_models_and_graphs(fitted, tmp_path):
    clf, X, Y = fitted
    clf.save(tmp_path / "model.mm")
    again = mm.load(tmp_path / "model.mm")
    assert again.types_.tolist() == clf.types_.tolist()
    assert np.array_equal(again.type_classes_, clf.type_classes_)
    assert str(again.explain()) == str(clf.explain())
    mm.io.write_graphs(tmp_path / "pages.npz", X, Y)
    read, labels = mm.io.read_graphs(tmp_path / "pages.npz")
    assert again.score(read, labels) == clf.score(X, Y)
    assert read[3].types.tolist() == X[3].types.tolist()
    assert again.predict(list(read[[2, 0]]))[1].tolist() == clf.predict(X)[0].tolist()


def test_nodes_without_labels_and_more_examples():
    X, Y = pages(8)
    some = [y.astype(object) for y in Y]
    some[0][:2] = None
    clf = mm.GraphSVC(C=C).fit(X[:6], some[:6]).partial_fit(X[6:], some[6:])
    assert len(clf.predict(X)) == 8
    assert mm.GraphSVCCV(Cs=[0.1, 1.0], cv=2).fit(X, Y).score(X, Y) > 0.5
    assert len(clf.suspects(X, Y, 3)) <= 3


NODES = {"a": [[1.0]], "b": [[1.0, 2.0]]}


@pytest.mark.parametrize(
    ("nodes", "edges", "features", "message"),
    [
        ([[1.0]], {}, None, "nodes must be a dict by types"),
        (NODES, [[0, 0]], None, "edges must be a dict by pairs of types"),
        (NODES, {"a": [[0, 0]]}, None, "key 'a': it must be a pair of the types"),
        (NODES, {("a", "c"): [[0, 0]]}, None, "must be a pair of the types"),
        (NODES, {("a", "b"): [[0, 1]]}, None, "edge 0 .* the node 1 of type 'b', but there are 1"),
        (NODES, {("a", "b"): [[0.0, 0.0]]}, None, "two integers per edge"),
        (NODES, {("a", "b"): [[0, 0]]}, {("b", "a"): [[1.0]]}, "no such pair of types"),
        (NODES, {("a", "b"): [[0, 0]]}, {("a", "b"): [[1.0], [2.0]]}, "1 edges .* and 2 rows"),
        ({"a": [1.0]}, {}, None, "have shape"),
        ({"a": [[np.nan]]}, {}, None, "feature 0 of node 0 is nan"),
    ],
)
def test_bad_graphs_are_named(nodes, edges, features, message):
    with pytest.raises(mm.DataError, match=message):
        mm.Graph.of_types(nodes, edges, features)


def test_bad_types_are_named(fitted):
    clf, X, Y = fitted
    with pytest.raises(mm.DataError, match="one type for each of the 2 nodes"):
        mm.Graph([[1.0], [2.0]], types=["a"])
    with pytest.raises(mm.DataError, match="type of node 1 is None"):
        mm.Graph([[1.0], [2.0]], types=["a", None])
    plain = [mm.Graph(x.nodes, x.edges, x.edge_features) for x in X]
    with pytest.raises(mm.DataError, match="graph 1 has no types"):
        mm.GraphSVC().fit([X[0], plain[1]], Y[:2])
    with pytest.raises(mm.DataError, match="model was trained with types"):
        clf.predict(plain)
    other = mm.Graph(X[0].nodes, X[0].edges, X[0].edge_features, types=["word"] * 5 + ["page"])
    with pytest.raises(mm.DataError, match="graph 0: node 5 has the type 'page'"):
        clf.predict([other])
    wrong = [np.roll(y, 3) for y in Y]
    with pytest.raises(mm.DataError, match="graph 0: no node of the type of node"):
        clf.suspects(X, wrong)


@pytest.mark.parametrize(("labels", "inference"), [("xyz", "combined"), ("xyx", "min-cut")])
def test_predictions_in_graphs_with_cycles_against_enumeration(labels, inference):
    """Nodes of type a have the first two labels, those of type b the last two."""
    random = np.random.RandomState(2)
    edges, types = [(0, 1), (1, 2), (2, 3), (3, 0)], np.array(["a", "b", "a", "b"])
    own = {"a": labels[:2], "b": labels[1:]}
    Y = [[own[t][k] for t, k in zip(types, random.randint(0, 2, 4), strict=True)] for _ in range(8)]
    X = [mm.Graph(random.randn(4, 2), edges, types=types) for _ in Y]
    pairwise = "full" if inference == "combined" else "associative"
    clf = mm.GraphSVC(C=1.0, tol=0.1, pairwise=pairwise).fit(X, Y)
    assert clf.inference_ == inference
    number = {label: k for k, label in enumerate(clf.classes_.tolist())}
    for x, y, score, bound in zip(X, *clf.predict(X, return_bound=True), strict=True):
        values = {}
        for output in itertools.product(*(own[t] for t in types)):
            codes, kinds = [number[label] for label in output], (types == "b").astype(int)
            value = sum(
                clf.coef_[k, 2 * t : 2 * t + 2] @ f
                for k, t, f in zip(codes, kinds, x.nodes, strict=True)
            )
            for a, b in edges:
                value += clf.pairwise_[2 * kinds[a] + kinds[b], codes[a], codes[b]]
            values[output] = value
        assert values[tuple(y.tolist())] == pytest.approx(score, abs=1e-9)
        assert score <= max(values.values()) + 1e-9 <= bound + 2e-9
        assert inference == "combined" or score == pytest.approx(max(values.values()), abs=1e-9)
