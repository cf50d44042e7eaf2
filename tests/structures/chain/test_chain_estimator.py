"""ChainSVC: forms of input, labels, weights, masks, and everything around a fit."""

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score

import maxmargin as mm
from reference import chain_features, chain_loss, chain_outputs
from solver_tables import all_solvers
from tests.data.test_transitions import allows

EXACT = {"C": 1.0, "tol": 1e-6, "solver": mm.OneSlack()}
WORDS = [["the", "dog", "barks"], ["a", "cat"], ["the", "cat", "sees", "a", "dog"], ["dog"]]
TAGS = [["D", "N", "V"], ["D", "N"], ["D", "N", "V", "D", "N"], ["N"]]
CHUNKS = [["B-NP", "I-NP", "O"], ["B-NP", "I-NP"], ["B-NP", "I-NP", "O", "B-NP", "I-NP"], ["O"]]


def one_hot(vocabulary, sequences=WORDS):
    """A row for each word, with a 1 at its place of the vocabulary."""
    return [np.array([[float(word == v) for v in vocabulary] for word in s]) for s in sequences]


def named(sequences=WORDS):
    return [[[word] for word in sequence] for sequence in sequences]


def random_data(seed, n=12, d=3, K=3):
    random = np.random.RandomState(seed)
    lengths = random.randint(1, 5, n)
    X = [random.randn(L, d) for L in lengths]
    return X, [random.randint(0, K, L).tolist() for L in lengths]


def weights(clf):
    return np.concatenate([clf.coef_.ravel(), clf.transition_.ravel(), clf.start_, clf.stop_])


def test_all_forms_of_input_give_the_same_model():
    reference = mm.ChainSVC(**EXACT).fit(named(), TAGS)
    rows = one_hot(reference.feature_names_)
    matrix, offsets = np.concatenate(rows), np.cumsum([0, *map(len, WORDS)])
    forms = {
        "dense": rows,
        "csr": [sp.csr_matrix(x) for x in rows],
        "csr arrays": [sp.csr_array(x) for x in rows],
        "lists of numbers": [x.tolist() for x in rows],
        "float32": [x.astype(np.float32) for x in rows],
        "sequences": mm.Sequences(matrix, offsets),
        "sparse sequences": mm.Sequences(sp.csr_matrix(matrix), offsets),
        "dicts": [[{word: 1} for word in s] for s in WORDS],
        "tuples": [[(word,) for word in s] for s in WORDS],
    }
    for name, X in forms.items():
        clf = mm.ChainSVC(**EXACT).fit(X, TAGS)
        assert clf.classes_.tolist() == ["D", "N", "V"]
        np.testing.assert_allclose(weights(clf), weights(reference), atol=1e-9, err_msg=name)
        assert clf.predict(X) == reference.predict(named()), name
        assert clf.score(X, TAGS) == reference.score(named(), TAGS)


def test_a_template_makes_the_features():
    rows = [[[word] for word in s] for s in WORDS]
    clf = mm.ChainSVC(template="word[0]", **EXACT).fit(rows, TAGS)
    reference = mm.ChainSVC(**EXACT).fit(named(), TAGS)
    assert clf.result_.primal == pytest.approx(reference.result_.primal, rel=1e-5)
    assert len(clf.feature_names_) == len(reference.feature_names_)
    assert clf.predict(rows) == reference.predict(named())
    assert clf.predict([[["the"], ["wolf"]]]) == reference.predict([[["the"], ["wolf"]]])


def test_the_objective_is_that_of_the_definition():
    X, Y = random_data(0)
    clf = mm.ChainSVC(start_stop=True, **EXACT).fit(X, Y)
    np.testing.assert_array_equal(clf._w(), clf.result_.w)
    assert clf.coef_.shape == (3, 3) and clf.transition_.shape == (3, 3)
    worst = clf.suspects(X, Y, n=len(X))
    slack = sum(each["slack"] for each in worst)
    P = 0.5 * (weights(clf) ** 2).sum() + clf.C * slack
    assert clf.result_.primal == pytest.approx(P)


@pytest.mark.parametrize(
    "labels",
    [
        [0, 1, 2],
        [2.5, -1.0, 7.0],
        [("noun", 1), ("verb", 2), ("x",)],
        ["a", 1, ("b", 2)],
        [True, False, 2],
        [frozenset({1}), frozenset({2}), frozenset({1, 2})],
        ["N", "NN", "NNP"],
    ],
    ids=["int", "float", "tuple", "mixed", "bool", "frozenset", "str"],
)
def test_labels_of_any_hashable_type(labels):
    X, codes = random_data(1)
    Y = [[labels[k] for k in y] for y in codes]
    clf = mm.ChainSVC(C=100.0, tol=0.1).fit(X, Y)
    assert len(clf.classes_) == 3
    assert all(tag in labels for tags in clf.predict(X) for tag in tags)
    plain = mm.ChainSVC(C=100.0, tol=0.1).fit(X, codes)
    # The order of the classes may differ, the values may not.
    assert clf.result_.primal == pytest.approx(plain.result_.primal, rel=0.1)
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(X) == clf.predict(X)


def test_labels_as_arrays():
    X, Y = random_data(1)
    clf = mm.ChainSVC(**EXACT).fit(X, [np.array(y) for y in Y])
    np.testing.assert_array_equal(weights(clf), weights(mm.ChainSVC(**EXACT).fit(X, Y)))
    assert type(clf.predict(X)[0][0]) is int
    assert clf.score(X, [np.array(y) for y in Y]) == clf.score(X, Y)


def test_class_weight_is_a_cost_of_the_true_label():
    X, Y = random_data(2)
    weight = {0: 3.0, 1: 1.0, 5: 9.0}  # 2 has none: 1; 5 does not occur
    clf = mm.ChainSVC(class_weight=weight, **EXACT).fit(X, Y)
    cost = np.array([[0, 3, 3], [1, 0, 1], [1, 1, 0]])
    by_cost = mm.ChainSVC(loss=cost, **EXACT).fit(X, Y)
    np.testing.assert_allclose(weights(clf), weights(by_cost), atol=1e-9)
    assert clf.result_.primal != pytest.approx(mm.ChainSVC(**EXACT).fit(X, Y).result_.primal)


def test_balanced_class_weight():
    X, Y = random_data(3)
    counts = np.bincount(np.concatenate(Y), minlength=3)
    weight = dict(enumerate(counts.sum() / (3 * counts)))
    runs = [mm.ChainSVC(class_weight=w, **EXACT).fit(X, Y) for w in ("balanced", weight)]
    np.testing.assert_allclose(weights(runs[0]), weights(runs[1]), atol=1e-9)


def test_suspects_of_data_without_one_of_the_labels():
    X, Y = random_data(3)
    clf = mm.ChainSVC(class_weight="balanced", **EXACT).fit(X, Y)
    everyone = {each["index"]: each["slack"] for each in clf.suspects(X, Y, n=len(X))}
    i = next(i for i, y in enumerate(Y) if len(set(y)) < 3 and i in everyone)
    (alone,) = clf.suspects([X[i]], [Y[i]])
    assert alone["slack"] == pytest.approx(everyone[i])


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_whole_class_weights_work_with_slack_rescaling(rescaling):
    X, Y = random_data(4)
    clf = mm.ChainSVC(class_weight={0: 2}, rescaling=rescaling, **EXACT).fit(X, Y)
    assert clf.result_.converged


def test_slack_rescaling_refuses_fractions():
    X, Y = random_data(4)
    for options in ({"class_weight": {0: 0.5}}, {"loss": 0.5 * (1 - np.eye(3))}):
        with pytest.raises(mm.DataError, match="whole numbers"):
            mm.ChainSVC(rescaling="slack", **options).fit(X, Y)
    with pytest.raises(mm.DataError, match="whole numbers"):
        mm.ChainSVC(rescaling="slack").fit(X, Y, token_weight=[[0.5] * len(y) for y in Y])


def test_class_weight_has_no_meaning_for_the_zero_one_loss():
    X, Y = random_data(4)
    with pytest.raises(mm.DataError, match="class_weight"):
        mm.ChainSVC(loss="zero-one", class_weight="balanced").fit(X, Y)


def test_token_weights_are_the_losses_of_tokens():
    X, Y = random_data(5)
    weight = [[float(t % 2) for t in range(len(y))] for y in Y]
    clf = mm.ChainSVC(**EXACT).fit(X, Y, token_weight=weight)
    matrix, offsets = np.concatenate(X), np.cumsum([0, *map(len, X)])
    packed = mm.Sequences(matrix, offsets, np.concatenate(weight))
    np.testing.assert_array_equal(weights(clf), weights(mm.ChainSVC(**EXACT).fit(packed, Y)))
    for each in clf.suspects(packed, Y, n=3):
        loss = chain_loss(each["truth"], each["worst"], 1 - np.eye(3), weight[each["index"]])
        assert each["loss"] == loss


def test_tokens_of_weight_zero_demand_no_margin():
    """Without any loss w = 0 is the best; and twice the weight is twice the loss."""
    X, Y = random_data(5)
    nothing = mm.ChainSVC(**EXACT).fit(X, Y, token_weight=[[0] * len(y) for y in Y])
    assert nothing.result_.primal == 0 and not weights(nothing).any()
    ones = mm.ChainSVC(**EXACT).fit(X, Y, token_weight=[[1] * len(y) for y in Y])
    plain = mm.ChainSVC(**EXACT).fit(X, Y)
    np.testing.assert_array_equal(weights(ones), weights(plain))
    twice = mm.ChainSVC(**EXACT).fit(X, Y, token_weight=[[2] * len(y) for y in Y])
    cost = mm.ChainSVC(loss=2 * (1 - np.eye(3)), **EXACT).fit(X, Y)
    np.testing.assert_allclose(weights(twice), weights(cost), atol=1e-9)


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_a_weight_of_two_is_the_example_twice(rescaling):
    X, Y = random_data(6)
    weight = np.array([1.0, 2.0, 0.0] * 4)
    weighted = mm.ChainSVC(rescaling=rescaling, **EXACT).fit(X, Y, sample_weight=weight)
    copies = np.repeat(np.arange(12), weight.astype(int))
    twice = mm.ChainSVC(rescaling=rescaling, **EXACT).fit(
        [X[i] for i in copies], [Y[i] for i in copies]
    )
    assert weighted.result_.primal == pytest.approx(twice.result_.primal, rel=1e-5)
    np.testing.assert_allclose(weights(weighted), weights(twice), atol=2e-2)


def masked_models():
    """Models with masks that their labels obey, and new data with wild scores."""
    labels = ["B-NP", "I-NP", "O"]
    pairs = [(a, b) for a in labels for b in labels if (a, b) != ("O", "I-NP")]
    array = np.array([[True, True, True], [True, True, True], [True, False, True]])
    return {"bio": "bio", "pairs": pairs, "array": array}


@pytest.mark.parametrize("form", ["bio", "pairs", "array"])
@pytest.mark.parametrize("solver", all_solvers())
def test_predictions_never_break_the_mask(solver, form):
    transitions = masked_models()[form]
    clf = mm.ChainSVC(C=0.1, tol=0.1, solver=solver, transitions=transitions)
    clf.fit(one_hot(["the", "dog", "sees", "a"]), CHUNKS)
    random, classes = np.random.RandomState(0), clf.classes_.tolist()
    mask = clf._problem().allowed
    clf.coef_ = 10 * random.randn(*clf.coef_.shape)
    clf.transition_ = random.randn(3, 3)
    for tags in clf.predict([random.randn(L, 4) for L in (1, 2, 5, 9) * 10]):
        assert allows(mask, classes, tags)
        assert ("O", "I-NP") not in itertools.pairwise(tags)


def test_bioes_predictions_are_well_formed():
    X = one_hot(["the", "dog", "sees", "a"])
    Y = [["B-X", "E-X", "O"], ["B-X", "E-X"], ["B-X", "I-X", "E-X", "S-Y", "O"], ["O"]]
    clf = mm.ChainSVC(tol=0.1, transitions="bioes").fit(X, Y)
    mask, random = clf._problem().allowed, np.random.RandomState(0)
    clf.coef_ = random.randn(*clf.coef_.shape)
    for tags in clf.predict([10 * random.randn(L, 4) for L in (1, 2, 5, 9) * 10]):
        assert allows(mask, clf.classes_.tolist(), tags)


def test_true_labels_that_the_mask_forbids_are_refused():
    Y = [CHUNKS[0], CHUNKS[1], ["B-NP", "O", "I-NP", "O", "O"], CHUNKS[3]]
    with pytest.raises(mm.DataError, match=r"sequence 2 go from 'O' to 'I-NP' at token 2"):
        mm.ChainSVC(transitions="bio").fit(named(), Y)


@pytest.mark.parametrize(
    ("X", "Y", "options", "message"),
    [
        ([], [], {}, "empty"),
        ([[], []], [[], []], {}, "no sequence has a token"),
        ([np.ones((2, 3))], [[0, 1], [0]], {}, "1 examples and Y has 2"),
        ([np.ones((2, 3))], [[0]], {}, "sequence 0 has 2 tokens and 1 labels"),
        ([np.ones((2, 3))], ["ab"], {}, "sequence 0 are 'ab'"),
        ([np.ones((2, 3)), np.ones((1, 4))], [[0, 1], [0]], {}, "4 features"),
        ([np.array([[1.0], [np.nan]])], [[0, 1]], {}, "token 1 of sequence 0 is nan"),
        ([[["a"], "b"]], [[0, 1]], {}, "type str"),
        ([["a", "b"]], [[0, 1]], {}, "the string 'a'"),
        ([np.ones((2, 1))], [[0, np.nan]], {}, "NaN"),
        ([np.ones((2, 1))], [["a", None]], {}, "None"),
        ([np.ones((2, 1))], [[0, 1]], {"loss": "f1"}, "hamming"),
        ([np.ones((2, 1))], [[0, 1]], {"loss": np.zeros((3, 3))}, "cost matrix"),
        ([np.ones((2, 1))], [[0, 1]], {"rescaling": "both"}, "rescaling"),
        ([np.ones((2, 1))], [[0, 1]], {"C": 0}, "C must be"),
        ([np.ones((2, 1))], [[0, 1]], {"class_weight": {1: -1}}, "class_weight of 1"),
        ([np.ones((2, 1))], [[0, 1]], {"transitions": "iobes"}, "transitions"),
    ],
    ids=[
        "nothing", "no tokens", "fewer sequences", "fewer labels", "string", "features", "nan",
        "token", "words", "nan label", "no label", "loss", "cost", "rescaling", "C",
        "class weight", "mask",
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(X, Y, options, message):
    with pytest.raises(mm.DataError, match=message):
        mm.ChainSVC(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("Y", "message"),
    [([0, 1], "sequence 0"), ([None, None], "sequence 0"), ([[[1], [2]], [[1]]], "hashable")],
    ids=["numbers", "nothing", "lists"],
)
def test_labels_that_are_no_sequences_are_refused(Y, message):
    with pytest.raises(mm.DataError, match=message):
        mm.ChainSVC().fit([np.ones((2, 3)), np.ones((1, 3))], Y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([[1, 1]], "token_weight has 1 sequences, X has 2"),
        ([[1, 1], [1, 1]], "sequence 1 has 1 tokens and 2 token weights"),
        ([[1, -1], [1]], "token 1 of sequence 0 is -1"),
    ],
    ids=["sequences", "tokens", "negative"],
)
def test_bad_token_weights_are_refused(weight, message):
    with pytest.raises(mm.DataError, match=message):
        mm.ChainSVC().fit([np.ones((2, 3)), np.ones((1, 3))], [[0, 1], [0]], token_weight=weight)


def test_predictions_of_little():
    clf = mm.ChainSVC().fit(named(), TAGS)
    assert clf.predict([]) == []
    assert clf.predict([[]]) == [[]]
    assert clf.predict([[], [["dog"]], []])[::2] == [[], []]
    assert len(clf.predict([[["unseen"], []]])[0]) == 2
    rows = mm.ChainSVC().fit(one_hot(["dog", "a"]), TAGS)
    assert rows.predict([]) == [] and rows.predict([np.zeros((0, 2))]) == [[]]
    with pytest.raises(mm.DataError, match="X has 3 features, but the model was trained with 2"):
        rows.predict([np.ones((1, 3))])
    with pytest.raises(NotFittedError):
        mm.ChainSVC().predict(named())


def test_unseen_features_change_nothing():
    clf = mm.ChainSVC(C=10.0).fit(named(), TAGS)
    more = [[[*token, "unseen"] for token in sequence] for sequence in named()]
    assert clf.predict(more) == clf.predict(named()) == TAGS


def test_small_token_weights_count_with_the_zero_one_loss():
    X, Y = random_data(12)
    half = mm.ChainSVC(loss="zero-one", **EXACT).fit(X, Y, token_weight=[[0.5] * len(y) for y in Y])
    plain = mm.ChainSVC(loss="zero-one", **EXACT).fit(X, Y)
    assert half.result_.primal == pytest.approx(plain.result_.primal, rel=1e-5)


def test_one_label_and_one_example():
    one = mm.ChainSVC().fit(named(), [["x"] * len(s) for s in WORDS])
    assert one.predict(named()) == [["x"] * len(s) for s in WORDS]
    assert one.result_.primal == 0
    single = mm.ChainSVC(C=10.0).fit(named()[:1], TAGS[:1])
    assert single.predict(named()[:1]) == TAGS[:1]


def test_empty_sequences_in_the_training_data_do_not_matter():
    X, Y = named(), TAGS
    plain = mm.ChainSVC(**EXACT).fit(X, Y)
    padded = mm.ChainSVC(**EXACT).fit([[], *X, []], [[], *Y, []])
    np.testing.assert_allclose(weights(padded), weights(plain), atol=1e-3)
    assert padded.predict([[], *X]) == [[], *plain.predict(X)]


def test_a_long_sequence():
    random = np.random.RandomState(0)
    Y = [random.randint(0, 3, 1000).tolist()]
    X = [np.eye(3)[Y[0]]]
    for solver in ("one-slack", "sdm", "bcfw", "n-slack"):
        clf = mm.ChainSVC(C=1.0, tol=1.0, solver=solver).fit(X, Y)
        assert clf.predict(X) == Y


def test_score_is_the_part_of_right_tokens():
    clf = mm.ChainSVC(C=10.0).fit(named(), TAGS)
    wrong = [["V", "N", "V"], ["D", "D"], TAGS[2], ["unseen"]]
    assert clf.score(named(), TAGS) == 1.0
    assert clf.score(named(), wrong) == pytest.approx(8 / 11)
    assert clf.score(named(), wrong, sample_weight=[0, 2, 0, 1]) == pytest.approx(2 / 5)
    with pytest.raises(mm.DataError, match="sequence 1"):
        clf.score(named(), [TAGS[0], ["D"], *TAGS[2:]])


def test_suspects_are_wrong_labels():
    wrong = [*TAGS, ["N", "D"]]
    words = [*named(), [["the"], ["dog"]]]
    clf = mm.ChainSVC(C=0.5, tol=1e-4).fit(words, wrong)
    found = clf.suspects(words, wrong, n=2)
    assert found[0]["index"] == 4
    assert found[0]["truth"] == ["N", "D"] and found[0]["worst"] == ["D", "N"]
    assert found[0]["loss"] == 2 and found[0]["slack"] >= found[-1]["slack"] > 0
    with pytest.raises(mm.DataError, match="label 'X' of token 0 of sequence 0 did not occur"):
        clf.suspects([[["dog"]]], [["X"]])


def test_suspects_may_have_labels_that_the_mask_forbids():
    """Wrong labels are what is looked for; their slack is over the outputs that may occur."""
    X, Y = one_hot(["the", "dog", "sees"]), CHUNKS
    clf = mm.ChainSVC(C=1.0, transitions="bio", rescaling="slack", tol=1e-3).fit(X, Y)
    truth = (1, 1, 2)  # I-NP may not come first
    (found,) = clf.suspects(X[:1], [clf.classes_[list(truth)]])

    def value(y):
        psi = chain_features(X[0], truth, 3) - chain_features(X[0], y, 3)
        return chain_loss(truth, y, 1 - np.eye(3)) * (1 - clf._w() @ psi)

    best = max(map(value, chain_outputs(3, 3, clf._problem().allowed)))
    assert found["slack"] == pytest.approx(best)


def test_explanations_name_features_and_transitions():
    clf = mm.ChainSVC(C=10.0, start_stop=True).fit(named(), TAGS)
    shown = clf.explain(3)
    by_title = {part.title: [entry.name for entry in part.positive] for part in shown.labels}
    assert set(by_title["D"]) == {"the", "a"}
    assert "dog" in by_title["N"] and "barks" in by_title["V"]
    assert "D -> N" in [entry.name for entry in shown.transitions.positive]
    assert "V" in str(shown)


def test_model_selection_with_lists_of_sequences():
    X, Y = random_data(7)
    search = GridSearchCV(mm.ChainSVC(tol=0.1), {"C": [0.01, 1.0]}, cv=3, error_score="raise")
    search.fit(X, Y)
    assert len(search.predict(X)) == len(X)
    offsets = np.cumsum([0, *map(len, X)])
    for data in (X, mm.Sequences(np.concatenate(X), offsets)):
        scores = cross_val_score(mm.ChainSVC(tol=0.1), data, Y, cv=3, error_score="raise")
        assert scores.shape == (3,) and (scores > 0).all()
    sparse = cross_val_score(mm.ChainSVC(tol=0.1), [sp.csr_matrix(x) for x in X], Y, cv=3)
    np.testing.assert_allclose(scores, sparse, atol=0.1)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"class_weight": "balanced"},
        {"class_weight": {"V": 2.0}},
        {"transitions": [(a, b) for a in "DNV" for b in "DNV"]},
    ],
    ids=["plain", "balanced", "weights", "pairs"],
)
def test_folds_that_miss_a_label(options):
    X, Y = named() + named()[1:2] * 2, TAGS + TAGS[1:2] * 2
    Y[0] = ["D", "N", "N"]  # V is in sequence 2 only
    clf = mm.ChainSVC(tol=0.1, **options)
    scores = cross_val_score(clf, X, Y, cv=6, error_score="raise")
    assert scores.shape == (6,) and np.isfinite(scores).all()


def test_clone_and_pickle():
    clf = mm.ChainSVC(C=2.0, transitions="bio", start_stop=True, class_weight={"O": 2})
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    clf.fit(named(), CHUNKS)
    again = pickle.loads(pickle.dumps(clf))
    assert again.predict(named()) == clf.predict(named())
    np.testing.assert_array_equal(weights(again), weights(clf))
    assert again.result_.primal == clf.result_.primal


def test_all_solvers_find_the_same_model():
    X, Y = random_data(8)
    best = mm.ChainSVC(**EXACT).fit(X, Y).result_.primal
    for solver in ("auto", *all_solvers(), mm.SDM(inner=2)):
        clf = mm.ChainSVC(C=1.0, tol=0.02, solver=solver).fit(X, Y)
        assert best * (1 - 1e-6) <= clf.result_.primal <= best + 0.02 * len(X)
        assert clf.n_iter_ == clf.result_.n_iter


def test_threads_change_nothing():
    X, Y = random_data(9, n=40)
    runs = [mm.ChainSVC(tol=1e-3, n_jobs=n_jobs).fit(X, Y) for n_jobs in (1, 2, None)]
    for clf in runs[1:]:
        np.testing.assert_array_equal(weights(clf), weights(runs[0]))
        assert clf.predict(X) == runs[0].predict(X)


def test_a_limit_is_a_warning():
    X, Y = random_data(10)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        clf = mm.ChainSVC(C=10.0, tol=1e-9, max_iter=2).fit(X, Y)
    assert len(clf.predict(X)) == len(X)


def test_a_second_fit_forgets_the_first():
    clf = mm.ChainSVC(**EXACT).fit(named(), TAGS)
    X, Y = random_data(11)
    clf.fit(X, Y)
    assert clf.feature_names_ is None
    np.testing.assert_array_equal(weights(clf), weights(mm.ChainSVC(**EXACT).fit(X, Y)))


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 0.04),
        ({"loss": "zero-one"}, 0.01),
        ({"loss": [[0.0, 3.0], [1.0, 0.0]]}, 0.12),
        ({"tol": 0.5}, 0.5),
    ],
)
def test_default_tol_is_a_hundredth_of_the_largest_loss(parameters, expected):
    X = [np.eye(2)[[0, 1]], np.eye(2)[[0, 1, 1, 0, 0, 1]]]
    Y = [["a", "b"], list("abbaab")]
    clf = mm.ChainSVC(**parameters).fit(X, Y)
    assert clf.tol_ == pytest.approx(expected)
    assert clf.result_.target == pytest.approx(expected * clf.C * 2)
