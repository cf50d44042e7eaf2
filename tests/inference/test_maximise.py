"""The checked function, HiGHS, and the choice of a decoder."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maxmargin import errors
from maxmargin.inference import choose, decoder, is_exact, maximise, merge_edges, work_size
from maxmargin.inference.choose import DECODERS, SLOW
from maxmargin.inference.slow import relaxation
from small_graphs import models

UNARY, EDGES, PAIR = np.zeros((3, 2)), np.array([[0, 1], [1, 2]]), np.zeros((2, 2, 2))


@given(models(nodes=4, labels=(3, 3)), st.data())
@settings(max_examples=300)
def test_duplicate_edges_are_added(model, data):
    """Some edges are given twice, the second time in the other direction."""
    twice = np.array(data.draw(st.lists(st.booleans(), min_size=6, max_size=6)))
    twice = twice[: len(model.edges)]
    edges = np.concatenate([model.edges, model.edges[twice][:, ::-1]])
    pair = np.concatenate([model.pair, model.pair[twice].swapaxes(1, 2)])
    doubled = model._replace(edges=edges, pair=pair)
    labels, bound = maximise(*doubled)
    assert doubled.value(labels) <= doubled.maximum() <= bound + 1e-9
    assert len(merge_edges(edges)[0]) == len(model.edges)


@given(models(nodes=5, labels=(1, 3)))
@settings(max_examples=60)
def test_exact_and_lp(model):
    labels, bound = maximise(*model, inference="exact")
    assert model.value(labels) == model.maximum()
    np.testing.assert_allclose(bound, model.maximum(), atol=1e-6)
    labels, relaxed = maximise(*model, inference="lp")
    assert model.value(labels) <= bound <= relaxed + 1e-6
    _, dual = maximise(*model, inference="trws")
    assert relaxed <= dual + 1e-4  # above the optimum by the tolerance at most


def test_the_relaxation_of_a_frustrated_triangle():
    differ = 1.0 - np.eye(2)
    bound, nodes = relaxation(
        np.zeros((3, 2)), np.array([[0, 1], [1, 2], [0, 2]]), np.array([differ] * 3)
    )
    np.testing.assert_allclose(bound, 3.0)
    np.testing.assert_allclose(nodes, 0.5)


@pytest.mark.parametrize("inference", ["auto", *DECODERS, *SLOW])
def test_graphs_without_edges_and_without_nodes(inference):
    attractive = np.array([[0.0, 1.0], [2.0, 0.0]])
    labels, bound = maximise(attractive, [], [], inference)
    assert (labels.tolist(), bound) == ([1, 0], 3.0)
    labels, bound = maximise(np.zeros((0, 2)), [], [], inference)
    assert (len(labels), bound) == (0, 0.0)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((UNARY[0], EDGES, PAIR), r"unary has shape \(2,\)"),
        ((UNARY[:, :0], EDGES, PAIR), "with a label"),
        ((UNARY, EDGES * 1.0, PAIR), "edges is an array of float64"),
        ((UNARY, EDGES.ravel(), PAIR), "two nodes"),
        ((UNARY, EDGES + 1, PAIR), r"edge 1 is \[2, 3\]: the nodes are 0 to 2"),
        ((UNARY, EDGES - 1, PAIR), r"edge 0 is \[-1, 0\]"),
        ((UNARY, EDGES * 0, PAIR), "edge 0 joins node 0 to itself"),
        ((UNARY, EDGES, PAIR[:1]), r"2 edges and 2 labels need \(2, 2, 2\)"),
        ((UNARY + np.nan, EDGES, PAIR), r"unary\[0, 0\] is nan"),
        ((UNARY, EDGES, PAIR - np.inf), r"pair\[0, 0, 0\] is -inf"),
        ((UNARY.astype(str), EDGES, PAIR), "unary is an array of <U"),
    ],
)
def test_wrong_arrays_are_named(arrays, message):
    with pytest.raises(errors.DataError, match=message):
        maximise(*arrays)


def test_effort_is_at_least_one():
    with pytest.raises(errors.DataError, match="effort is 0"):
        maximise(UNARY, EDGES, PAIR, effort=0)


@pytest.mark.parametrize(
    ("K", "forest", "attractive", "kind"),
    [
        (3, True, False, "forest"),
        (2, True, True, "forest"),
        (2, False, True, "min-cut"),
        (2, False, False, "roof-dual"),
        (3, False, False, "combined"),
        (1, False, False, "combined"),
    ],
)
def test_auto_looks_at_counts_and_signs(K, forest, attractive, kind):
    assert choose("auto", K, forest, attractive) == kind
    assert choose(kind, K, forest, attractive) == kind
    assert is_exact(kind) == (kind in ("forest", "min-cut"))


def test_auto_visits_all_labellings_of_few_nodes():
    assert choose("auto", 2, forest=False, attractive=False, nodes=20) == "branch"
    assert choose("auto", 2, forest=False, attractive=False, nodes=21) == "roof-dual"
    assert is_exact("branch")


@pytest.mark.parametrize(
    ("inference", "K", "message"),
    [
        ("qpbo", 2, "inference='qpbo' is not known: choose auto, forest"),
        ("forest", 2, "needs graphs without cycles"),
        ("min-cut", 2, "attractive"),
        ("roof-dual", 3, "needs 2 labels, not 3"),
        ("branch", 2, "at most 20 nodes"),
    ],
)
def test_decoders_that_do_not_fit_are_refused(inference, K, message):
    with pytest.raises(errors.ProblemError, match=message):
        choose(inference, K, forest=False, attractive=False)


def test_slow_decoders_are_not_compiled():
    for kind in SLOW:
        with pytest.raises(errors.ProblemError, match="is not compiled"):
            decoder(kind)
        with pytest.raises(errors.ProblemError, match="is not compiled"):
            work_size(kind, 1, 1, 1)
