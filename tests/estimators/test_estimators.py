"""scikit-learn's own checks, and what its users do with estimators."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import maxmargin as mm


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:400] / 16, y[:400]


@pytest.fixture(scope="module")
def two_classes(digits):
    X, y = digits
    return X, np.where(y < 5, "low", "high")


def expected_failures(estimator):
    """Checks whose data are not for this estimator."""
    found = {}
    if not estimator.fit_intercept:
        found["check_class_weight_classifiers"] = "its data need an intercept"
    if isinstance(estimator, mm.BinarySVC) and sklearn.__version__.startswith("1.6."):
        for layout in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{layout}_data"] = (
                "in 1.6 it takes the first label for a class, before and after a shuffle"
            )
    return found


@pytest.mark.filterwarnings("ignore")  # the checks fit on tiny and odd data
@parametrize_with_checks(
    [
        Estimator(fit_intercept=intercept)
        for Estimator in (mm.BinarySVC, mm.MulticlassSVC)
        for intercept in (False, True)
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learn_checks(estimator, check):
    if "sample_weight_equivalence" in check.func.__name__:
        # It compares two runs to 7 digits: each has to be at the optimum, not near it.
        estimator.set_params(solver="one-slack", tol=1e-12)
    check(estimator)


def liblinear_objective(X, y, C, multi_class="ovr"):
    """liblinear's weights, and the objective they have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer = LinearSVC(
            C=C, loss="hinge", multi_class=multi_class, fit_intercept=False, tol=1e-8,
            max_iter=200_000,
        ).fit(X, y)  # fmt: skip
    scores = X @ peer.coef_.T
    if multi_class == "ovr":
        sign = np.where(y == peer.classes_[1], 1, -1)
        hinge = np.maximum(0, 1 - sign * scores[:, 0]).sum()
    else:
        truth = np.searchsorted(peer.classes_, y)
        own = scores[np.arange(len(y)), truth]
        augmented = scores + 1
        augmented[np.arange(len(y)), truth] = own
        hinge = (augmented.max(axis=1) - own).sum()
    return 0.5 * (peer.coef_**2).sum() + C * hinge


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_binary_objective_matches_liblinear(two_classes, C):
    X, y = two_classes
    clf = mm.BinarySVC(C=C, tol=1e-6).fit(X, y)
    assert clf.result_.primal <= liblinear_objective(X, y, C) * (1 + 1e-5)


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_multiclass_objective_matches_liblinear(digits, C):
    X, y = digits
    clf = mm.MulticlassSVC(C=C, tol=1e-7).fit(X, y)
    assert clf.result_.primal <= liblinear_objective(X, y, C, "crammer_singer") * (1 + 1e-5)


@pytest.mark.parametrize("Estimator", [mm.BinarySVC, mm.MulticlassSVC])
def test_dense_sparse_and_precisions_agree(two_classes, Estimator):
    X, y = two_classes
    models = [
        Estimator(C=0.1, tol=1e-5, fit_intercept=True).fit(data, y)
        for data in (X, X.astype("f4"), sp.csr_matrix(X), sp.csr_array(X.astype("f4")))
    ]
    for model in models[1:]:
        assert model.result_.primal == pytest.approx(models[0].result_.primal, rel=1e-4)
        assert (model.predict(X) == models[0].predict(X)).mean() > 0.99


def test_multiclass_with_two_classes_is_the_binary_problem(two_classes):
    """Weights (u, -u) for two classes cost |u|^2: C is twice the binary one's."""
    X, y = two_classes
    two = mm.MulticlassSVC(C=0.1, tol=1e-6).fit(X, y)
    one = mm.BinarySVC(C=0.2, tol=1e-6).fit(X, y)
    assert 2 * two.result_.primal == pytest.approx(one.result_.primal, rel=1e-4)


def test_weights_repeat_examples(digits):
    X, y = digits
    repeats = np.random.RandomState(0).randint(0, 4, len(y))
    weighted = mm.MulticlassSVC(C=0.1, tol=1e-5).fit(X, y, sample_weight=repeats)
    repeated = mm.MulticlassSVC(C=0.1, tol=1e-5).fit(
        np.repeat(X, repeats, 0), np.repeat(y, repeats)
    )
    assert weighted.result_.primal == pytest.approx(repeated.result_.primal, rel=1e-4)


def test_class_weight_multiplies_c(two_classes):
    X, y = two_classes
    by_class = mm.BinarySVC(C=0.1, tol=1e-5, class_weight={"low": 3.0}).fit(X, y)
    by_hand = mm.BinarySVC(C=0.1, tol=1e-5).fit(X, y, sample_weight=np.where(y == "low", 3.0, 1.0))
    np.testing.assert_allclose(by_class.coef_, by_hand.coef_, atol=1e-12)
    balanced = mm.BinarySVC(C=0.1, class_weight="balanced").fit(X, y)
    assert balanced.result_.converged


def test_fit_intercept_is_true_or_false():
    X, y = mm.datasets.make_multiclass(20, 3, 2)
    expected = mm.BinarySVC(fit_intercept=True).fit(X, y)
    found = mm.BinarySVC(fit_intercept=2.5).fit(X, y)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)


def test_intercept_is_a_constant_feature(two_classes):
    X, y = two_classes
    inside = mm.BinarySVC(C=0.1, tol=1e-6, fit_intercept=True, intercept_scaling=2.0).fit(X, y)
    outside = mm.BinarySVC(C=0.1, tol=1e-6).fit(np.hstack([X, np.full((len(X), 1), 2.0)]), y)
    assert inside.result_.primal == pytest.approx(outside.result_.primal, rel=1e-9)
    np.testing.assert_allclose(inside.intercept_, 2 * outside.coef_[:, -1])


def test_cost_matrix_shapes_the_errors(digits):
    X, y = digits
    cost = 1.0 - np.eye(10)
    cost[:, 0] *= 50  # saying 0 is expensive
    shy = mm.MulticlassSVC(C=0.001, tol=1e-3, loss=cost).fit(X, y)
    plain = mm.MulticlassSVC(C=0.001, tol=1e-3).fit(X, y)
    assert (shy.predict(X) == 0).sum() < (plain.predict(X) == 0).sum()


@pytest.mark.parametrize(
    "labels",
    [
        ["cat", "dog", "cow"],
        [("NP", 1), ("VP", 2), ("PP", 3)],
        [1, "one", (1,)],
        [frozenset("a"), frozenset("c"), frozenset()],
        [True, "maybe", 0.5],
    ],
    ids=str,
)
def test_labels_of_any_hashable_type(labels):
    random = np.random.RandomState(0)
    codes = random.randint(0, 3, 90)
    X = np.eye(3)[codes] + 0.1 * random.randn(90, 3)
    clf = mm.MulticlassSVC().fit(X, [labels[k] for k in codes])
    predicted = clf.predict(X)
    assert [labels[k] for k in codes] == list(predicted)
    assert set(clf.classes_) == set(labels)


def test_grid_search_pipeline_clone_and_pickle(digits):
    X, y = digits
    pipeline = make_pipeline(StandardScaler(), mm.MulticlassSVC())
    grid = {"multiclasssvc__C": [1e-3, 1e-1], "multiclasssvc__solver": [mm.OneSlack(step=1.0)]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8
    best = search.best_estimator_
    copy = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(copy.predict(X), best.predict(X))
    assert clone(best[-1]).get_params() == best[-1].get_params()
    assert cross_val_score(mm.MulticlassSVC(C=0.01), X, y, cv=2).min() > 0.8


def test_convergence_warning_names_the_gap(digits):
    X, y = digits
    with pytest.warns(ConvergenceWarning, match=r"max_iter .*gap \d"):
        clf = mm.MulticlassSVC(C=10.0, max_iter=2).fit(X, y)
    assert clf.result_.status is mm.Status.MAX_ITER
    assert clf.n_iter_ == 2


def test_threads_do_not_change_the_model(digits):
    X, y = digits
    one, two = (mm.MulticlassSVC(C=1.0, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict(X=[[np.nan, 1.0], [0.0, 1.0]]), "NaN"),
        (dict(X=[[np.inf, 1.0], [0.0, 1.0]]), "infinity"),
        (dict(X=np.empty((0, 2)), y=[]), "0 sample"),
        (dict(X=[1.0, 2.0]), "1D array"),
        (dict(y=[1, 1]), "one class"),
        (dict(y=[1, 2, 3]), "X has 2 examples and y has 3"),
        (dict(y=[1, None]), "label of example 1 is None"),
        (dict(y=[{1}, {2}]), "must be hashable"),
        (dict(y=[0.5, np.nan]), "NaN"),
        (dict(y=None), "y is None"),
        (dict(C=-1.0), "C must be a finite number > 0"),
        (dict(C=np.nan), "C must be"),
        (dict(C="big"), "C must be"),
        (dict(tol=0), "tol must be"),
        (dict(max_iter=0), "max_iter"),
        (dict(max_time=-1), "max_time"),
        (dict(rescaling="both"), "rescaling is"),
        (dict(rescaling=["slack"]), "rescaling is"),
        (dict(solver="simplex"), "solver 'simplex'"),
        (dict(solver=3), "solver must be a name"),
        (dict(class_weight={"cat": 2}), "class_weight has the label 'cat'"),
        (dict(sample_weight=[1.0]), r"sample_weight has shape \(1,\)"),
        (dict(sample_weight=[1.0, -1.0]), r"sample_weight\[1\] is -1.0"),
        (dict(sample_weight=[0.0, 0.0]), "zero"),
        (dict(sample_weight=[0.0, 1.0]), "one class"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.parametrize("Estimator", [mm.BinarySVC, mm.MulticlassSVC])
def test_bad_input_is_refused_with_its_cause(Estimator, change, message):
    change = dict(change)
    data = {"X": [[1.0, 2.0], [0.0, 1.0]], "y": ["a", "b"], "sample_weight": None}
    data.update({name: change.pop(name) for name in list(data) if name in change})
    with pytest.raises(ValueError, match=message):
        Estimator(**change).fit(data["X"], data["y"], data["sample_weight"])


@pytest.mark.parametrize(
    ("loss", "message"),
    [
        (np.ones((3, 3)), r"shape \(3, 3\), but 2 classes need"),
        (np.ones((2, 2)), r"cost\[0, 0\] is 1.0"),
        ([[0, -1], [1, 0]], r"cost\[0, 1\] is -1"),
        ([[0, np.nan], [1, 0]], r"cost\[0, 1\] is nan"),
        ("hamming", "'zero-one' or a cost matrix"),
    ],
)
def test_bad_costs_are_refused(loss, message):
    with pytest.raises(mm.DataError, match=message):
        mm.MulticlassSVC(loss=loss).fit([[0.0], [1.0]], [0, 1])


def test_more_than_two_classes_are_refused_by_binary():
    with pytest.raises(mm.DataError, match="3 classes, use MulticlassSVC"):
        mm.BinarySVC().fit(np.eye(3), [0, 1, 2])


@pytest.mark.parametrize(
    ("clf", "X", "y", "other_X", "other_y"),
    [
        (mm.MulticlassSVC(), np.eye(3), [0, 1, 2], np.eye(4), [0, 1, 2, 3]),
        (mm.MulticlassSVC(kernel="rbf"), np.eye(3), [0, 1, 2], np.eye(4), [0, 1, 2, 3]),
        (mm.ChainSVC(), [np.eye(3)], [list("aba")], [np.eye(4)], [list("abcd")]),
        (mm.MultilabelSVC(), np.eye(3), np.eye(3), np.eye(4), np.eye(4)),
    ],
    ids=["multiclass", "kernel", "chain", "multilabel"],
)
def test_a_fit_that_fails_leaves_the_model_as_it_was(clf, X, y, other_X, other_y):
    before = clf.fit(X, y).predict(X)
    with pytest.raises(mm.DataError, match="C must be"):
        clf.set_params(C=-1.0).fit(other_X, other_y)
    after = clf.predict(X)
    np.testing.assert_array_equal(np.array(after), np.array(before))
    assert clf.n_features_in_ == 3
    clf.set_params(C=1.0).partial_fit(X, y)
    assert clf.n_features_in_ == 3


def test_cross_validation_takes_what_fit_takes():
    """Series with another index, sparse label sets, and names of scikit-learn's scores."""
    import pandas as pd
    import scipy.sparse as sp

    random = np.random.RandomState(0)
    X, y = random.randn(30, 3), np.arange(30) % 3
    options = {"Cs": [0.1, 1.0], "cv": 3}
    expected = mm.MulticlassSVCCV(**options).fit(X, y).scores_
    moved = pd.Series(y, index=range(100, 130))
    np.testing.assert_array_equal(mm.MulticlassSVCCV(**options).fit(X, moved).scores_, expected)
    named = mm.MulticlassSVCCV(**options, scoring="accuracy").fit(X, y)
    np.testing.assert_allclose(named.scores_, expected)
    Y = (random.rand(30, 3) < 0.5).astype(int)
    sets = [mm.MultilabelSVCCV(**options).fit(X, each).scores_ for each in (Y, sp.csr_matrix(Y))]
    np.testing.assert_array_equal(*sets)
    with pytest.raises(mm.DataError, match="nonsense"):
        mm.MulticlassSVCCV(**options, scoring="nonsense").fit(X, y)
    with pytest.raises(mm.DataError, match="GridSearchCV"):
        mm.PathCV(mm.CFGSVC(), **options).fit([["a", "b"]] * 4, ["(S (N a) (N b))"] * 4)
