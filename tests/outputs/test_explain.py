"""The largest weights by name, and the examples with the largest slack."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import maxmargin as mm
from enumerated import Sign
from maxmargin.datasets import make_multiclass
from maxmargin.engine.python import as_compiled_problem
from maxmargin.outputs.explain import explain, largest, largest_slacks
from maxmargin.structures.multiclass.problem import Multiclass


def tagger(**changes):
    """The fitted attributes of a model of sequences."""
    fitted = {
        "classes_": np.array(["B-NP", "I-NP", "O"]),
        "coef_": np.array([[0.5, -1.0, 0.0, 2.0], [0.0, 0.0, 0.0, 0.0], [-0.5, 1.0, 0.0, -2.0]]),
        "transition_": np.array([[-1.0, 3.0, 0.5], [0.0, 1.5, 0.0], [0.25, -np.inf, 0.0]]),
        "start_": np.array([0.0, -2.0, 0.0]),
        "stop_": np.array([0.0, 0.0, 0.75]),
        "feature_names_": ["word=the", "word=of", "word=x", "bias"],
    }
    return SimpleNamespace(**{**fitted, **changes})


# Weights


def test_weights_of_a_tagger():
    explanation = explain(tagger(), n=2)
    first, second, _ = explanation.labels
    assert first.title == "B-NP"
    assert first.positive == [("bias", 2.0), ("word=the", 0.5)]
    assert first.negative == [("word=of", -1.0)]
    assert (second.positive, second.negative) == ([], [])
    assert explanation.transitions is not None
    assert explanation.transitions.positive == [("B-NP -> I-NP", 3.0), ("I-NP -> I-NP", 1.5)]
    assert explanation.transitions.negative == [("(start) -> I-NP", -2.0), ("B-NP -> B-NP", -1.0)]


def test_last_labels_are_transitions_too():
    transitions = explain(tagger(), n=3).transitions
    assert transitions is not None and ("O -> (stop)", 0.75) in transitions.positive


def test_names_are_made_up_where_there_are_none():
    explanation = explain(tagger(feature_names_=None), n=1)
    assert explanation.labels[0].positive == [("feature 3", 2.0)]


def test_the_table_is_aligned_and_the_dict_is_json():
    explanation = explain(tagger(), n=3)
    blocks = str(explanation).split("\n\n")
    assert [block.splitlines()[0] for block in blocks] == ["B-NP", "I-NP", "O", "transitions"]
    columns = {line.index("-") for line in blocks[0].splitlines()[2:3]}
    assert columns == {blocks[0].splitlines()[1].index("negative weights") + 1}
    read = json.loads(json.dumps(explanation.to_dict()))
    assert read["labels"][0]["positive"][0] == ["bias", 2.0]
    assert read["transitions"]["title"] == "transitions"


@pytest.mark.parametrize("k", [2, 3])
def test_weights_of_classifiers(k):
    X, y = make_multiclass(60, 8, k)
    binary = k == 2
    clf = (mm.BinarySVC() if binary else mm.MulticlassSVC()).fit(X, y)
    explanation = explain(clf, n=3)
    assert len(explanation.labels) == len(clf.coef_)
    assert explanation.transitions is None
    for row, weights in zip(clf.coef_, explanation.labels, strict=True):
        assert [w for _, w in weights.positive] == sorted(row[row > 0], reverse=True)[:3]
        assert [w for _, w in weights.negative] == sorted(row[row < 0])[:3]
    if binary:
        a, b = clf.classes_
        assert explanation.labels[0].title == f"{b} (not {a})"


def test_names_of_columns_are_used():
    clf = mm.BinarySVC().fit(np.array([[1.0, 0.0], [0.0, 1.0]]), ["a", "b"])
    clf.feature_names_in_ = np.array(["height", "width"], object)
    assert explain(clf).labels[0].positive[0].name == "width"


def test_what_cannot_be_explained():
    with pytest.raises(NotFittedError):
        explain(mm.BinarySVC())
    with pytest.raises(mm.DataError, match="at least 1"):
        explain(tagger(), n=0)


@given(st.lists(st.integers(-3, 3), max_size=30), st.integers(1, 12))
def test_largest_is_the_start_of_a_full_sort(values, n):
    array = np.array(values, float)
    expected = sorted((j for j, v in enumerate(values) if v > 0), key=lambda j: (-values[j], j))[:n]
    assert largest(array, n).tolist() == expected


# Slacks


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_slacks_by_definition(rescaling):
    random = np.random.RandomState(0)
    K, n, d = 4, 30, 5
    X, y = random.randn(n, d), random.randint(K, size=n)
    cost = random.uniform(0.5, 2.0, (K, K)) * (1 - np.eye(K))
    problem = Multiclass(K, cost)
    pack = problem.pack(X, y, np.where(np.arange(n) < 10, 0.0, 3.0))
    W = 0.5 * random.randn(d, K)
    scores = X @ W
    margin = scores[np.arange(n), y][:, None] - scores
    values = cost[y] - margin if rescaling == "margin" else cost[y] * (1 - margin)
    values[np.arange(n), y] = 0.0
    slack, worst = values.max(axis=1), values.argmax(axis=1)
    order = [i for i in np.argsort(-slack, kind="stable") if slack[i] > 0]
    suspects = largest_slacks(problem, pack, W.ravel(), rescaling, n=n)
    assert [s.index for s in suspects] == order
    for s in suspects:
        i = s.index
        assert s.slack == pytest.approx(slack[i])
        assert s.loss == pytest.approx(cost[y[i], worst[i]])
        assert (s.truth.tolist(), s.worst.tolist()) == ([y[i]], [worst[i]])
    assert [s.index for s in largest_slacks(problem, pack, W.ravel(), rescaling, n=3)] == order[:3]


def test_wrong_labels_are_suspected():
    X, y = make_multiclass(300, 10, 3, noise=0.0)
    wrong = [17, 99, 250]
    y = y.copy()
    y[wrong] = (y[wrong] + 1) % 3
    clf = mm.MulticlassSVC(C=0.1).fit(X, y)
    problem = Multiclass(3)
    pack = problem.pack(X, y.astype(np.int32))
    suspects = largest_slacks(problem, pack, clf.result_.w, n=10)
    assert set(wrong) <= {s.index for s in suspects}


def test_slacks_of_a_python_problem():
    problem = as_compiled_problem(Sign())
    pack = problem.pack(np.array([[1.0], [-3.0], [0.25]]), [1, 1, 1])
    first, second = largest_slacks(problem, pack, np.array([1.0]))
    assert (first.index, first.slack, first.loss, list(first.worst)) == (1, 4.0, 1.0, [-1])
    assert (second.index, second.slack) == (2, 0.75)
    with pytest.raises(mm.DataError, match="rescaling"):
        largest_slacks(problem, pack, np.array([1.0]), "none")
