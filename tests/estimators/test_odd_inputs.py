"""Things that are not lists of examples: an error of ours in place of one from deep inside."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm

GRAPH = mm.Graph(np.eye(3), np.array([[0, 1], [1, 2]]))
GOOD = {
    "rows": (mm.ChainSVC, {}, [np.eye(3), np.eye(3)[:2]], [list("aba"), list("ab")]),
    "names": (mm.ChainSVC, {}, [[["a"], ["b"]], [["a"]]], [["x", "y"], ["x"]]),
    "template": (mm.ChainSVC, {"template": "default"}, [[("a", "D"), ("b", "N")]], [["x", "y"]]),
    "parser": (mm.CFGSVC, {}, [["the", "dog"]], ["(S (D the) (N dog))"]),
    "tagged": (mm.CFGSVC, {"input": "tagged"}, [[("the", "D"), ("dog", "N")]],
               ["(S (D the) (N dog))"]),
    "graph": (mm.GraphSVC, {}, [GRAPH], [[0, 1, 0]]),
    "grid": (mm.GridSVC, {}, [np.eye(4).reshape(4, 2, 2)], [np.eye(4)[:, :2].astype(int)]),
}  # fmt: skip

ODD = {
    "number": 5, "None": None, "object": object(), "numpy number": np.float64(3), "text": "abc",
    "numbers": [5], "Nones": [None], "texts": ["abc"], "bytes": [b"x"], "dict": {"a": 1},
    "dicts": [{"a": 1}], "deep number": [[5]], "deep None": [[None]], "deep empty": [[[]]],
    "four axes": [np.zeros((2, 2, 2, 2))], "uneven": [(np.eye(2), np.eye(2), np.eye(2), 3)],
}  # fmt: skip


@pytest.mark.parametrize("structure", GOOD)
def test_odd_inputs_are_refused_or_understood(structure):
    cls, options, X, Y = GOOD[structure]
    trained = cls(**options).fit(X, Y)
    for name, odd in ODD.items():
        for call in (
            lambda odd=odd: trained.predict(odd),
            lambda odd=odd: trained.score(odd, odd),
            lambda odd=odd: cls(**options).fit(odd, Y),
            lambda odd=odd: cls(**options).fit(X, odd),
        ):
            try:
                call()
            except mm.MaxMarginError as error:
                assert str(error), name


def test_the_message_names_the_sequence():
    clf = mm.ChainSVC().fit([[["a"]], [["b"]]], [["x"], ["y"]])
    with pytest.raises(mm.DataError, match="sequence 1 is 5, which is not a list"):
        clf.predict([[["a"]], 5])
    with pytest.raises(mm.DataError, match="expected a list of examples"):
        clf.predict(5)
