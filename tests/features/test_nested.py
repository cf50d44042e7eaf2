"""Features with parts, as in CRFsuite, and features that are rare."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm

TEXT = st.text("ab:=", min_size=1, max_size=2)
VALUES = st.recursive(
    TEXT | st.booleans() | st.floats(0.5, 2) | st.lists(TEXT, unique=True)
    | st.sets(TEXT),
    lambda inner: st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.text("xyz", min_size=1, max_size=2), VALUES), max_size=4))
def test_parts_of_features_as_in_crfsuite(tokens):
    """The same features, up to the separator of names and strings; CRFsuite adds up nothing."""
    pycrfsuite = pytest.importorskip("pycrfsuite")
    expected = pycrfsuite.ItemSequence(tokens).items()
    vocabulary = mm.features.Vocabulary()
    matrix = vocabulary.fit_transform([tokens]).matrix
    for t, items in enumerate(expected):
        row = matrix[[t]].toarray()[0]
        names = {
            name.replace("=", ":") for name, v in zip(vocabulary.names_, row, strict=True) if v
        }
        assert names == {name.replace("=", ":") for name, value in items.items() if value}


def test_values_of_nested_features():
    token = {"w": "dog", "n": 2.5, "no": False, "next": {"w": "x", "deep": {"k": 1.5, "l": ["q"]}}}
    token |= {"tags": ["a", "b", "a"], "set": {"z", "y"}, "none": [], "empty": {}}
    vocabulary = mm.features.Vocabulary()
    row = vocabulary.fit_transform([[token]]).matrix.toarray()[0]
    assert dict(zip(vocabulary.names_, row.tolist(), strict=True)) == {
        "w=dog": 1.0, "n": 2.5, "next:w=x": 1.0, "next:deep:k": 1.5, "next:deep:l=q": 1.0,
        "tags=a": 1.0, "tags=b": 1.0, "set=y": 1.0, "set=z": 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ({"a": {"b": None}}, "sequence 0, token 1: feature 'a:b' has the value None"),
        ({"a": ["b", 3]}, "the list of feature 'a' contains 3"),
        ({"a": {"b": {1: 2}}}, "the name of a feature is a str, not 1"),
        ({"a": {"b": float("nan")}}, "feature 'a:b' has the value nan"),
    ],
)
def test_mistakes_in_nested_features(token, message):
    with pytest.raises(mm.DataError, match=message):
        mm.features.Vocabulary().fit_transform([[{"x": ["y"]}, token]])


def test_rare_features_are_left_out():
    X = [[{"a": "1", "b": 2.0}, {"a": "1"}], [{"a": "2", "b": 1.0}]]
    vocabulary = mm.features.Vocabulary(min_count=2)
    assert vocabulary.fit_transform(X).matrix.toarray().tolist() == [[1, 2], [1, 0], [0, 1]]
    assert vocabulary.names_ == ["a=1", "b"]
    with pytest.raises(mm.DataError, match="min_count = 9"):
        mm.features.Vocabulary(min_count=9).fit_transform(X)
    clf = mm.ChainSVC(min_count=2).fit(X, [["x", "y"], ["x"]])
    assert clf.feature_names_ == ["a=1", "b"]
    rows = [[("a",), ("b",)], [("a",), ("c",)]]
    Y = [["x", "y"], ["x", "y"]]
    clf = mm.ChainSVC(template="word[0]\n", min_count=2).fit(rows, Y)
    assert clf.feature_names_ == ["word[0]=a"]
    with pytest.raises(mm.DataError, match="rows of numbers"):
        mm.ChainSVC(min_count=2).fit([np.eye(2)], [["x", "y"]])
    with pytest.raises(mm.DataError, match="min_count must be"):
        mm.ChainSVC(min_count=0).fit(rows, Y)
