"""Metrics of sequences, against seqeval and the output of the CoNLL script, and their picture."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics import accuracy_score
from seqeval.metrics.sequence_labeling import get_entities, precision_recall_fscore_support

import maxmargin as mm
from maxmargin.metrics import (
    entities,
    entity_f1,
    evaluate_sequences,
    sequence_accuracy,
    token_accuracy,
)
from maxmargin.report.confusion import plot_confusion

TAGS = ["O", *(f"{tag}-{kind}" for tag in "BIES" for kind in ("A", "B", "C-D"))]
BARE = [*TAGS, "B", "I", "E", "S"]


def pairs(tags):
    """Sequences with as many predictions, many of them right."""
    token = st.sampled_from(tags)
    pair = st.one_of(token.map(lambda t: (t, t)), st.tuples(token, token))
    return st.lists(st.lists(pair, min_size=1, max_size=8), min_size=1, max_size=6)


def unzip(sequences):
    return tuple([[pair[side] for pair in sequence] for sequence in sequences] for side in (0, 1))


# Entities


@given(pairs(TAGS))
def test_entities_are_those_of_seqeval(sequences):
    truth, predicted = unzip(sequences)
    mine = evaluate_sequences(truth, predicted)
    if mine.entities is None:
        assert all(tag == "O" for sequence in truth + predicted for tag in sequence)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        overall = precision_recall_fscore_support(truth, predicted, average="micro")
        by_type = precision_recall_fscore_support(truth, predicted, average=None)
    assert (mine.precision, mine.recall, mine.f1) == pytest.approx(overall[:3])
    assert mine.entities.overall.support[0] == overall[3]
    counts = mine.entities
    for ours, theirs in zip(
        (counts.precision, counts.recall, counts.f1, counts.support), by_type, strict=True
    ):
        assert ours == pytest.approx(theirs)
    assert mine.accuracy == pytest.approx(accuracy_score(truth, predicted))


@given(st.lists(st.sampled_from(BARE), max_size=12))
def test_places_are_those_of_seqeval(tags):
    assert entities(tags) == [(kind, start, last + 1) for kind, start, last in get_entities(tags)]


#: IOB2 and IOB1 mixed, a type that is only predicted and one that is only true.
TRUTH = """\
B-NP I-NP O B-VP I-VP B-NP B-NP I-NP O
I-NP I-NP B-NP O I-VP I-PP
O O
B-PP I-NP I-NP B-VP O B-ADJP"""
PREDICTED = """\
B-NP I-NP O B-VP O B-NP I-NP I-NP O
I-NP I-NP B-NP O I-VP I-VP
O B-UCP
B-PP B-NP I-NP B-VP O O"""

#: What the Perl script prints for them.
CONLLEVAL = """\
processed 23 tokens with 12 phrases; found: 10 phrases; correct: 6.
accuracy:  73.91%; precision:  60.00%; recall:  50.00%; FB1:  54.55
             ADJP: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
               NP: precision:  80.00%; recall:  66.67%; FB1:  72.73  5
               PP: precision: 100.00%; recall:  50.00%; FB1:  66.67  1
              UCP: precision:   0.00%; recall:   0.00%; FB1:   0.00  1
               VP: precision:  33.33%; recall:  33.33%; FB1:  33.33  3
"""


def words(text):
    return [line.split() for line in text.splitlines()]


def test_the_text_is_what_conlleval_prints():
    evaluation = evaluate_sequences(words(TRUTH), words(PREDICTED))
    assert str(evaluation) == CONLLEVAL + "sequences: 4; without error: 0 (0.00%)"


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("I-A I-A B-A I-A", [("A", 0, 2), ("A", 2, 4)]),  # IOB1
        ("B-A E-A B-A I-A E-A S-A", [("A", 0, 2), ("A", 2, 5), ("A", 5, 6)]),
        ("B-A I-B O-A I-A", [("A", 0, 1), ("B", 1, 2), ("A", 3, 4)]),
        ("[-A [-A . ]-B", [("A", 0, 1), ("A", 1, 2), ("B", 3, 4)]),
        ("M-A M-A M-B", [("A", 0, 2), ("B", 2, 3)]),  # unknown tags go by their types
        ("B-A-x I-A-x I-A-y", [("A-x", 0, 2), ("A-y", 2, 3)]),
        ("", []),
    ],
)
def test_entities_of(tags, expected):
    assert entities(tags.split()) == expected


def test_entities_end_with_their_sequence():
    evaluation = evaluate_sequences([["I-A"], ["I-A"], [], ["I-A"]], [["I-A"], ["O"], [], ["O"]])
    assert evaluation.entities is not None
    assert evaluation.entities.support.tolist() == [3]
    assert evaluation.entities.correct.tolist() == [1]


@pytest.mark.parametrize("labels", [["NN", "VB", "O"], [1, 2, 3], [("B-NP",), None, "B-NP"]])
def test_no_entities_without_chunk_tags(labels):
    evaluation = evaluate_sequences([labels], [labels[::-1]])
    assert evaluation.entities is None
    assert evaluation.precision is evaluation.recall is evaluation.f1 is None
    assert "accuracy:  33.33%" in str(evaluation)
    assert json.loads(json.dumps(evaluation.to_dict()))["entities"] is None
    with pytest.raises(mm.DataError, match="no label is a chunk tag"):
        entity_f1([labels], [labels])


# Tokens and sequences


@given(pairs(["NN", "VB", "DT"]))
def test_tokens_and_sequences_by_definition(sequences):
    truth, predicted = unzip(sequences)
    evaluation = evaluate_sequences(truth, predicted, classes=["NN", "VB", "XX"])
    flat = [pair for sequence in sequences for pair in sequence]
    exact = [t == p for t, p in zip(truth, predicted, strict=True)]
    assert evaluation.accuracy == token_accuracy(truth, predicted)
    assert evaluation.accuracy == pytest.approx(np.mean([t == p for t, p in flat]))
    assert evaluation.sequence_accuracy == sequence_accuracy(truth, predicted)
    assert evaluation.sequence_accuracy == pytest.approx(np.mean(exact))
    assert evaluation.n_unseen == sum(t == "DT" for t, _ in flat)
    assert evaluation.labels[:3] == ["NN", "VB", "XX"]
    for i, t in enumerate(evaluation.labels):
        for j, p in enumerate(evaluation.labels):
            assert evaluation.confusion[i, j] == flat.count((t, p))
    errors = evaluation.errors()
    assert sum(n for _, _, n in errors) == evaluation.n_tokens - evaluation.n_correct
    assert [n for _, _, n in errors] == sorted((n for _, _, n in errors), reverse=True)
    assert evaluation.errors(1) == errors[:1]


def test_scores_of_labels():
    evaluation = evaluate_sequences([[1, 1, 2]], [[1, 2, 2]], classes=np.array([0, 1, 2]))
    assert evaluation.tokens.precision.tolist() == [0.0, 1.0, 0.5]
    assert evaluation.tokens.recall.tolist() == [0.0, 0.5, 1.0]
    assert evaluation.tokens.f1 == pytest.approx([0.0, 2 / 3, 2 / 3])
    row = "2         50.00%  100.00%    66.67        1"
    assert row in str(evaluation).splitlines()


def test_unknown_labels_are_counted_and_said():
    evaluation = evaluate_sequences([["a", "z"]], [["a", "a"]], classes=["a", "b"])
    assert (evaluation.labels, evaluation.n_known, evaluation.n_unseen) == (["a", "b", "z"], 2, 1)
    assert "does not know: 1" in str(evaluation)


def test_arrays_and_empty_input():
    arrays = [np.array(["B-A", "O"]), np.array(["I-A"], object)]
    assert evaluate_sequences(arrays, arrays).f1 == 1.0
    nothing = evaluate_sequences([], [])
    assert (nothing.accuracy, nothing.sequence_accuracy, nothing.n_tokens) == (0.0, 0.0, 0)
    assert "processed 0 tokens" in str(nothing)
    assert evaluate_sequences([[]], [[]]).sequence_accuracy == 1.0


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([["a"], ["a", "b"]], [["a"], ["a"]], "sequence 1 has 2 true labels and 1 predicted"),
        ([["a"]], [["a"], ["b"]], "1 true sequences and 2 predicted"),
        (["B-A", "O"], [["B-A"], ["O"]], "'B-A' is not a sequence"),
        ([1, 2], [1, 2], "1 is not a sequence"),
        ([[["a"]]], [[["a"]]], "hashable"),
    ],
)
def test_what_cannot_be_compared(truth, predicted, message):
    with pytest.raises(mm.DataError, match=message):
        evaluate_sequences(truth, predicted)


def test_to_dict_is_json():
    evaluation = evaluate_sequences(words(TRUTH), words(PREDICTED))
    read = json.loads(json.dumps(evaluation.to_dict()))
    assert read["entities"]["overall"]["f1"] == evaluation.f1
    assert read["n_tokens"] == 23
    assert [t["name"] for t in read["entities"]["types"]] == ["ADJP", "NP", "PP", "UCP", "VP"]


def test_the_counts_of_parts_add_up():
    random = np.random.RandomState(0)
    truth = [[TAGS[k] for k in random.randint(len(TAGS), size=24)] for _ in range(2000)]
    predicted = [[TAGS[k] for k in random.randint(len(TAGS), size=24)] for _ in range(2000)]
    whole = evaluate_sequences(truth, predicted)
    parts = [evaluate_sequences(truth[k::3], predicted[k::3]) for k in range(3)]
    for name in ("n_sequences", "n_exact"):
        assert getattr(whole, name) == sum(getattr(part, name) for part in parts)
    assert whole.confusion.trace() == sum(part.confusion.trace() for part in parts)


# The picture


@pytest.mark.parametrize("k", [1, 3, 22, 70])
def test_confusion_is_drawn(k, tmp_path):
    pytest.importorskip("matplotlib")
    labels = [f"{'$' if k == 3 else 'label'} {i} $" for i in range(k)]
    counts = np.random.RandomState(0).poisson(3.0, (k, k)) + 100 * np.eye(k, dtype=int)
    figure = plot_confusion(labels, counts, tmp_path / "c.png")
    assert (tmp_path / "c.png").stat().st_size > 5000
    drawn = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert drawn == labels[: len(drawn)] or k == 70
    assert len(drawn) == min(k, 50)
    assert ("20 rare labels not drawn" in figure.axes[0].get_title()) == (k == 70)
    assert f"{counts.sum():,} labels" in figure.axes[0].get_title()


def test_labels_that_never_occur_are_not_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    evaluation = evaluate_sequences([["a", "a", "b"]], [["a", "b", "b"]], classes=["a", "b", "c"])
    figure = evaluation.plot(tmp_path / "c.svg")
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["a  2", "b  1"]
    assert {text.get_text() for text in figure.axes[0].texts} == {"1"}
    figure = plot_confusion(["a", "b"], np.array([[1, 0], [0, 1], [2, 0]]))
    assert figure.axes[0].get_yticklabels()[-1].get_text() == "(unknown)  2"
    with pytest.raises(mm.DataError, match="nothing to draw"):
        plot_confusion(["a"], np.zeros((1, 1), int))
    with pytest.raises(mm.DataError, match="shape"):
        plot_confusion(["a"], np.zeros((3, 1), int))
    with pytest.raises(mm.MaxMarginError, match="a picture is one of"):
        evaluation.plot(tmp_path / "c.doc")


def test_entities_of_data_without_any_and_without_types():
    """As conlleval: no entities have an F1 of 0, and B, I and O need no type."""
    assert mm.metrics.entity_f1([["O", "O"]], [["O", "O"]]) == 0.0
    assert mm.metrics.entity_f1([["B", "I", "O"]], [["B", "I", "O"]]) == 1.0
    assert mm.metrics.entity_f1([["B", "I", "O"]], [["B", "O", "O"]]) == 0.0
    with pytest.raises(mm.DataError, match="chunk tag"):
        mm.metrics.entity_f1([["NN", "O"]], [["NN", "O"]])
