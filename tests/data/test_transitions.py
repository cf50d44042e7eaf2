"""Masks of a chain: what the schemes allow, and true labels that break them."""

import itertools

import numpy as np
import pytest

from maxmargin import DataError, Sequences
from maxmargin.data.transitions import allowed_transitions, check_gold


def allows(mask, classes, tags):
    """Whether the mask allows a sequence of labels."""
    K, codes = len(classes), [classes.index(tag) for tag in tags]
    inner = all(mask[a, b] for a, b in itertools.pairwise(codes))
    return bool(mask[K, codes[0]] and mask[K + 1, codes[-1]] and inner)


def follows_scheme(tags, scheme):
    """Whether segments are well formed, read with a small automaton."""
    kind = None  # of the segment that is open
    for tag in tags:
        prefix, _, this = tag.partition("-")
        if prefix in ("I", "E", "L"):
            if this != kind:
                return False
        elif kind is not None and scheme == "bioes":
            return False
        kind = this if prefix in ("B", "I") else None
    return kind is None or scheme == "bio"


@pytest.mark.parametrize(
    ("scheme", "classes"),
    [
        ("bio", ["B-X", "B-Y", "I-X", "I-Y", "O"]),
        ("bioes", ["B-X", "B-Y", "E-X", "I-X", "E-Y", "O", "S-X"]),
        ("bioes", ["B-X", "I-X", "L-X", "O", "U-X", "U-Y"]),
    ],
    ids=["bio", "bioes", "bilou"],
)
def test_schemes_allow_well_formed_segments_only(scheme, classes):
    mask = allowed_transitions(scheme, np.array(classes))
    assert mask.shape == (len(classes) + 2, len(classes))
    for L in (1, 2, 3, 4):
        for tags in itertools.product(classes, repeat=L):
            assert allows(mask, classes, tags) == follows_scheme(tags, scheme), tags


def test_tags_without_a_type():
    mask = allowed_transitions("bio", np.array(["B", "I", "O"]))
    np.testing.assert_array_equal(mask[:, 1], [True, True, False, False, True])


@pytest.mark.parametrize("label", ["X", "BX", "E-X", "o", 3], ids=str)
def test_labels_outside_a_scheme_are_refused(label):
    classes = np.array(["B-X", label], object)
    with pytest.raises(DataError, match="is not a BIO tag"):
        allowed_transitions("bio", classes)


def test_pairs_of_labels():
    classes = np.array(["a", "b", "c"])
    pairs = [("a", "b"), ("b", "c"), (None, "a"), ("z", "a"), ("c", None), ("b", None)]
    expected = np.zeros((5, 3), bool)
    expected[[0, 1, 3, 4, 4], [1, 2, 0, 2, 1]] = True
    np.testing.assert_array_equal(allowed_transitions(pairs, classes), expected)
    np.testing.assert_array_equal(allowed_transitions(set(pairs), classes), expected)


def test_pairs_that_say_nothing_of_the_ends_allow_all():
    mask = allowed_transitions([("a", "a")], np.array(["a", "b"]))
    np.testing.assert_array_equal(mask, [[1, 0], [0, 0], [1, 1], [1, 1]])


def test_pairs_of_labels_that_are_tuples():
    classes = np.empty(2, object)
    classes[:] = [(1, 2), (3, 4)]
    mask = allowed_transitions([((1, 2), (3, 4))], classes)
    np.testing.assert_array_equal(mask[:2], [[False, True], [False, False]])


def test_arrays():
    mask = np.array([[True, False], [True, True]])
    classes = np.array([0, 1])
    np.testing.assert_array_equal(allowed_transitions(mask, classes)[:2], mask)
    assert allowed_transitions(mask, classes)[2:].all()
    whole = np.vstack([mask, [[True, False], [False, True]]])
    np.testing.assert_array_equal(allowed_transitions(whole, classes), whole)
    assert allowed_transitions(None, classes).all()


@pytest.mark.parametrize(
    ("transitions", "message"),
    [
        ("iob", "transitions must be 'bio'"),
        (7, "transitions must be 'bio'"),
        ([("a", "b", "c")], "transitions must be 'bio'"),
        (np.ones((3, 3), bool), "shape"),
    ],
    ids=["name", "number", "triples", "shape"],
)
def test_what_is_no_mask_is_refused(transitions, message):
    with pytest.raises(DataError, match=message):
        allowed_transitions(transitions, np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        (["B-X", "O", "I-X"], r"sequence 2 go from 'O' to 'I-X' at token 2"),
        (["I-X", "I-X"], r"sequence 2 begin with 'I-X'"),
        (["O", "B-X"], r"sequence 2 end with 'B-X'"),
    ],
    ids=["inside", "first", "last"],
)
def test_true_labels_that_are_forbidden_are_named(tags, message):
    classes = np.array(["B-X", "I-X", "O"])
    allowed = allowed_transitions("bio", classes)
    allowed[4, 0] = False  # no segment may begin at the last token
    Y = [["O"], [], tags, ["O", "O"]]
    flat = [tag for sequence in Y for tag in sequence]
    codes = np.searchsorted(classes, flat)
    offsets = np.cumsum([0, *map(len, Y)])
    with pytest.raises(DataError, match=message):
        check_gold(allowed, Sequences(np.zeros((len(flat), 1)), offsets), codes, classes)


def test_neighbours_in_different_sequences_are_no_transition():
    classes = np.array(["a", "b"])
    allowed = allowed_transitions([("a", "a"), ("b", "b")], classes)
    X = Sequences(np.zeros((4, 1)), [0, 0, 2, 4, 4])
    check_gold(allowed, X, np.array([0, 0, 1, 1]), classes)
