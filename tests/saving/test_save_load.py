"""Estimators that come back from a file as they were."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import maxmargin as mm
from enumerated import Sign
from maxmargin.datasets import make_multiclass
from maxmargin.io import read_container, write_container
from maxmargin.registry import load, summary
from maxmargin.saving.models import save_model

WORDS = np.array(["blue", "green", "red"])
COST = 1.0 - np.eye(3)
COST[0, 2] = 2.0


class Other(Sign):
    pass


@pytest.fixture
def data():
    return make_multiclass(80, 5, 3)


@pytest.fixture
def structured():
    X, y = make_multiclass(40, 4, 2)
    return mm.StructuredSVC(Sign(), C=0.3, solver=mm.OneSlack(cache=3)).fit(X, 2 * y - 1), X, y


def tuples(y):
    labels = np.empty(len(y), object)
    labels[:] = [("class", int(label)) for label in y]
    return labels


def same_value(a, b):
    if isinstance(a, np.ndarray):
        return type(b) is np.ndarray and a.dtype == b.dtype and np.array_equal(a, b)
    return type(a) is type(b) and a == b


@pytest.mark.parametrize(
    ("estimator", "labels"),
    [
        (mm.MulticlassSVC(C=0.1), lambda y: y),
        (mm.MulticlassSVC(solver=mm.OneSlack(cache=10, step=0.5)), lambda y: WORDS[y]),
        (mm.MulticlassSVC(loss=COST, rescaling="slack"), tuples),
        (mm.MulticlassSVC(loss=COST.tolist(), class_weight="balanced"), lambda y: y.astype(float)),
        (mm.MulticlassSVC(class_weight={"blue": 2.0, "red": 0.5}), lambda y: WORDS[y]),
        (mm.MulticlassSVC(class_weight={0: 2, 1: 1.5}, fit_intercept=True), lambda y: y),
        (mm.MulticlassSVC(C=np.float64(0.2), max_iter=np.int64(500), n_jobs=None), lambda y: y),
        (mm.MulticlassSVC(random_state=None, max_time=60.0), lambda y: y > 0),
        (mm.BinarySVC(fit_intercept=True, intercept_scaling=3.0), lambda y: y > 0),
        (mm.BinarySVC(solver="one-slack", n_jobs=2), lambda y: WORDS[np.minimum(y, 1)]),
    ],
)
def test_linear_models_come_back_bit_for_bit(tmp_path, data, estimator, labels):
    X, y = data[0], labels(data[1])
    estimator.fit(X, y)
    estimator.save(tmp_path / "m.mm")
    again = mm.load(tmp_path / "m.mm")
    assert type(again) is type(estimator)
    before, after = estimator.get_params(), again.get_params()
    assert before.keys() == after.keys()
    assert all(same_value(before[key], after[key]) for key in before), (before, after)
    assert same_value(estimator.classes_, again.classes_)
    for sample in (X, X.astype(np.float32), csr_matrix(X)):
        assert same_value(estimator.decision_function(sample), again.decision_function(sample))
        assert same_value(estimator.predict(sample), again.predict(sample))
    if y.dtype.kind != "O":  # scikit-learn's accuracy refuses tuples
        assert estimator.score(X, y) == again.score(X, y)
    np.testing.assert_allclose(again.result_.w, estimator.result_.w, rtol=1e-15)


def test_the_result_comes_back(tmp_path, data):
    estimator = mm.MulticlassSVC(C=0.1).fit(*data)
    save_model(estimator, tmp_path / "m")
    before, after = estimator.result_, load(tmp_path / "m").result_
    assert repr(before) == repr(after)
    assert before.history == after.history
    assert [type(value) for value in before.history[0]] == [type(v) for v in after.history[0]]
    assert (before.status, before.shares) == (after.status, after.shares)
    assert after.plot().axes


def test_a_loaded_model_is_saved_again_and_trained_again(tmp_path, data):
    estimator = mm.MulticlassSVC(C=0.1).fit(*data)
    estimator.save(tmp_path / "a")
    again = load(tmp_path / "a")
    again.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert np.array_equal(again.fit(*data).coef_, estimator.coef_)


def test_feature_names_are_kept(tmp_path, data):
    estimator = mm.MulticlassSVC().fit(*data)
    estimator.feature_names_in_ = np.array(list("abcde"), object)
    estimator.save(tmp_path / "m")
    assert same_value(load(tmp_path / "m").feature_names_in_, estimator.feature_names_in_)


def test_a_structured_model_needs_its_problem(tmp_path, structured):
    estimator, X, y = structured
    estimator.save(tmp_path / "m")
    problem = Sign()
    again = mm.load(tmp_path / "m", problem=problem)
    assert again.problem is problem
    assert again.solver == mm.OneSlack(cache=3)
    assert list(again.predict(X)) == list(estimator.predict(X))
    assert again.score(X, 2 * y - 1) == estimator.score(X, 2 * y - 1)
    assert np.array_equal(again.result_.w, estimator.result_.w)
    with pytest.raises(mm.ModelFileError, match=r"problem=Sign\(\.\.\.\)"):
        mm.load(tmp_path / "m")
    with pytest.raises(mm.ModelFileError, match=r"of class Sign, got <.*Other"):
        mm.load(tmp_path / "m", problem=Other())
    with pytest.raises(mm.ModelFileError, match="got the class Sign"):
        mm.load(tmp_path / "m", problem=Sign)


def test_a_linear_model_takes_no_problem(tmp_path, data):
    mm.MulticlassSVC().fit(*data).save(tmp_path / "m")
    with pytest.raises(mm.ModelFileError, match="takes no problem"):
        mm.load(tmp_path / "m", problem=Sign())


def test_summary_needs_no_problem(tmp_path, structured):
    estimator, _, _ = structured
    estimator.save(tmp_path / "m")
    content = summary(tmp_path / "m")
    assert (content["estimator"], content["problem"]) == ("StructuredSVC", "Sign")
    assert content["parameters"]["solver"] == repr(mm.OneSlack(cache=3))
    assert content["n_weights"] == 4
    assert content["result"].gap == estimator.result_.gap


class MySlack(mm.OneSlack):
    pass


@dataclass(frozen=True)
class MyOwn(mm.Solver):
    """A solver from nothing, with an option; it borrows the steps of another one."""

    times: int = 2

    name = "my-own"

    def loops(self, task):
        return mm.SDM().loops(task)

    def init(self, task):
        return mm.SDM().init(task)

    def step_once(self, task, state):
        return mm.SDM().step_once(task, state)

    def planes(self, state):
        return 0


@pytest.mark.parametrize("solver", [MySlack(cache=2), MyOwn(times=3)], ids=["subclass", "own"])
def test_a_model_of_a_users_own_solver_is_saved_with_its_description(tmp_path, data, solver):
    X, y = data
    estimator = mm.MulticlassSVC(solver=solver).fit(X, y)
    estimator.save(tmp_path / "m")
    again = mm.load(tmp_path / "m")
    np.testing.assert_array_equal(again.predict(X), estimator.predict(X))
    assert again.result_.solver == solver.name
    assert again.solver.startswith(f"{type(solver).__name__}(")
    assert "cache=2" in again.solver or "times=3" in again.solver
    with pytest.raises(mm.DataError, match="given as an object"):
        again.fit(X, y)
    np.testing.assert_array_equal(again.set_params(solver=solver).fit(X, y).coef_, estimator.coef_)


@pytest.mark.parametrize(
    "parameters",
    [
        {"random_state": np.random.RandomState(0)},
        {"class_weight": {0: lambda: 1}},
        {"tol": float("nan")},
        {"loss": np.array([[object()]])},
    ],
)
def test_what_cannot_be_stored_is_refused_before_writing(tmp_path, data, parameters):
    estimator = mm.MulticlassSVC().fit(*data)
    estimator.set_params(**parameters)
    with pytest.raises(mm.ModelFileError, match="|".join(parameters)):
        estimator.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("field", "value"), [("primal", np.nan), ("n_iter", -1), ("time", np.inf), ("solver", 3)]
)
def test_a_result_that_could_not_be_read_is_not_written(tmp_path, data, field, value):
    estimator = mm.MulticlassSVC().fit(*data)
    estimator.result_ = replace(estimator.result_, **{field: value})
    with pytest.raises(mm.ModelFileError, match="cannot be stored"):
        estimator.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_a_subclass_is_not_stored_as_its_base(tmp_path, data):
    class Mine(mm.MulticlassSVC):
        pass

    with pytest.raises(mm.ModelFileError, match="a Mine cannot be stored"):
        Mine().fit(*data).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_labels_that_cannot_be_stored_are_refused(tmp_path, data):
    labels = np.empty(len(data[1]), object)
    labels[:] = [frozenset([int(label)]) for label in data[1]]
    estimator = mm.MulticlassSVC().fit(data[0], labels)
    with pytest.raises(mm.ModelFileError, match="frozenset"):
        estimator.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


def test_saving_needs_training(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        mm.MulticlassSVC().save(tmp_path / "m")


def _content(tmp_path, data):
    mm.MulticlassSVC(solver=mm.OneSlack(cache=1)).fit(*data).save(tmp_path / "m")
    return read_container(tmp_path / "m")


@pytest.mark.parametrize("name", ["Pipeline", "os.system", "__class__", 3, None, ["BinarySVC"]])
def test_an_unknown_estimator_is_refused(tmp_path, data, name):
    meta, arrays = _content(tmp_path, data)
    write_container(tmp_path / "m", {**meta, "estimator": name}, arrays)
    for read in (load, summary):
        with pytest.raises(mm.ModelFileError, match="does not know"):
            read(tmp_path / "m")


def _changes():
    """Ways to spoil the meta of a model: each names a place and a value."""
    for place in (("parameters",), ("fitted",), ("result",), ("result", "status")):
        for value in (None, 3, [], "x"):
            yield place, value
    yield ("fitted", "classes_"), {"array": "<i8", "values": [0, 1]}
    yield ("fitted", "n_features_in_"), 4
    yield ("fitted", "classes_"), {"array": "evil", "values": [0, 1, 2]}
    yield ("parameters", "solver"), {"solver": "os.system", "options": {"command": "true"}}
    yield ("parameters", "solver"), {"solver": "OneSlack", "options": {"cache": -1}}
    yield ("parameters", "solver"), {"solver": "OneSlack", "options": {"unknown": 1}}
    yield ("parameters", "C"), {"array": "missing"}
    yield ("parameters", "C"), {"what": 1}
    yield ("parameters", "unknown"), {"value": 1}


@pytest.mark.parametrize(("place", "value"), list(_changes()))
def test_a_consistent_file_with_wrong_content_is_refused(tmp_path, data, place, value):
    meta, arrays = _content(tmp_path, data)
    spoilt = copy.deepcopy(meta)
    inner = spoilt
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    write_container(tmp_path / "m", spoilt, arrays)
    with pytest.raises(mm.ModelFileError, match=str(tmp_path / "m")):
        load(tmp_path / "m")


@pytest.mark.parametrize("name", ["coef_", "intercept_", "history"])
def test_a_missing_or_misshapen_array_is_refused(tmp_path, data, name):
    meta, arrays = _content(tmp_path, data)
    for wrong in ({}, {name: np.zeros((2, 2))}):
        rest = {key: value for key, value in arrays.items() if key != name}
        write_container(tmp_path / "m", meta, {**rest, **wrong})
        with pytest.raises(mm.ModelFileError):
            load(tmp_path / "m")


# Sequences

TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
STRANGE = "a|b\\c \n\x00ü漢\U0001f600\ud800"
COLUMNS = [
    [("the", "DT"), ("dog", "NN"), ("ü\U0001f600", "VB")],
    [("a", "DT"), ("cat", "NN")],
    [("dogs", "NN"), ("bark", "VB")],
]
MATRICES = [np.eye(4)[[0, 1, 2]], np.eye(4)[[0, 3]], np.eye(4)[[1, 2]]]
DICTS = [[{"w": w, "n": i + 0.5, STRANGE: True} for i, (w, _) in enumerate(x)] for x in COLUMNS]
PAIRS = [(None, "D"), (None, "N"), ("D", "N"), ("N", "V"), ("V", None), ("N", None)]


def chain_inputs():
    """Parameters, training input and new input."""
    new = [[("the", "DT"), ("cat", "NN"), ("unseen", "VB")], [], [("bark", "VB")]]
    yield {"template": "chunking"}, COLUMNS, new
    yield {"template": "default", "transitions": PAIRS}, COLUMNS, new
    yield {"template": "word[0]\nextra[-1]\n", "transitions": set(PAIRS)}, COLUMNS, new
    yield {"template": "word[0]", "start_stop": True}, [[w for w, _ in x] for x in COLUMNS], [["a"]]
    yield {}, [[list(token) for token in x] for x in COLUMNS], [[["the", "new"], []], []]
    yield {"transitions": tuple(PAIRS)}, DICTS, [[{"w": "dog"}, {STRANGE: 3, "n": 1}, {}]]
    mask = np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], bool)
    yield {"transitions": mask, "start_stop": True}, MATRICES, [np.ones((3, 4))]
    yield {"solver": mm.SDM(inner=3)}, [csr_matrix(x) for x in MATRICES], [csr_matrix((2, 4))]
    yield {"loss": 2 * COST, "class_weight": {"D": 2.0}}, MATRICES, [np.ones((1, 4))]
    yield (
        {"loss": "zero-one", "rescaling": "slack"},
        mm.Sequences(np.ones((7, 2)), [0, 3, 5, 7]),
        [],
    )


def same_chain(a, b, *inputs):
    for name in ("coef_", "transition_", "start_", "stop_", "classes_"):
        assert same_value(getattr(a, name), getattr(b, name)), name
    assert a.feature_names_ == b.feature_names_
    for X in inputs:
        assert a.predict(X) == b.predict(X)
        if len(X):
            assert type(b.predict(X)[0]) is list


@pytest.mark.parametrize(("parameters", "X", "new"), list(chain_inputs()))
def test_chains_come_back_bit_for_bit(tmp_path, parameters, X, new):
    estimator = mm.ChainSVC(C=1.0, **parameters).fit(X, TAGS)
    estimator.save(tmp_path / "m")
    again = mm.load(tmp_path / "m")
    same_chain(estimator, again, X, new)
    before, after = estimator.get_params(), again.get_params()
    assert all(same_value(before[key], after[key]) for key in before), (before, after)
    assert again.result_.history == estimator.result_.history
    assert again._w() is again.result_.w  # predicting copies no weights
    again.save(tmp_path / "b")
    assert (tmp_path / "m").read_bytes() == (tmp_path / "b").read_bytes()
    same_chain(again.fit(X, TAGS), estimator)
    assert summary(tmp_path / "m")["estimator"] == "ChainSVC"


@pytest.mark.parametrize("labels", [[1, 2], [("B", 1), ("I", 2)], [True, False], [0.5, "x"]])
def test_labels_of_chains(tmp_path, labels):
    Y = [[labels[t % 2] for t in range(len(x))] for x in COLUMNS]
    estimator = mm.ChainSVC(C=1.0).fit(DICTS, Y)
    estimator.save(tmp_path / "m")
    same_chain(estimator, mm.load(tmp_path / "m"), DICTS)


def test_a_template_file_is_not_needed_again(tmp_path):
    path = tmp_path / "template"
    path.write_text("word[-1..1]\nextra[0]")
    for given in (str(path), path, mm.features.Template(path)):
        path.write_text("word[-1..1]\nextra[0]")
        estimator = mm.ChainSVC(C=1.0, template=given).fit(COLUMNS, TAGS)
        path.write_text("word[0]")
        estimator.save(tmp_path / "m")
        path.unlink()
        again = mm.load(tmp_path / "m")
        same_chain(estimator, again, COLUMNS)
        same_chain(again.fit(COLUMNS, TAGS), estimator, COLUMNS)


def test_weights_that_were_set_by_hand_are_used_and_kept(tmp_path):
    estimator = mm.ChainSVC(C=1.0).fit(MATRICES, TAGS)
    estimator.coef_ = np.zeros((3, 4))
    estimator.transition_ = -np.zeros((3, 3))
    estimator.transition_[:, 2] = 1.0
    assert estimator.predict([np.ones((2, 4))])[0][1] == "V"
    estimator.save(tmp_path / "m")
    again = mm.load(tmp_path / "m")
    same_chain(estimator, again, MATRICES)
    assert np.signbit(again.transition_[0, 0])
    estimator.coef_[0] = 10.0
    assert estimator.predict([np.ones((2, 4))]) == [["D", "D"]]
    twin = copy.deepcopy(again)
    twin.coef_[0] = 10.0
    assert twin.predict([np.ones((2, 4))]) == [["D", "D"]] != again.predict([np.ones((2, 4))])


def test_zero_weights_take_no_room(tmp_path):
    X = [[[f"name {i}"] for i in range(2000)]]
    estimator = mm.ChainSVC(max_iter=1, solver="one-slack")
    with pytest.warns(UserWarning):
        estimator.fit(X, [[i % 50 for i in range(2000)]])
    estimator.coef_ = np.zeros_like(estimator.coef_)
    estimator.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 100_000 < estimator.coef_.nbytes
    same_chain(estimator, mm.load(tmp_path / "m"), X)


def _chain_content(tmp_path):
    # Zeros by hand, so that weights are stored with their places.
    estimator = mm.ChainSVC(template="chunking", start_stop=True).fit(COLUMNS, TAGS)
    estimator.coef_ = np.zeros_like(estimator.coef_)
    estimator.save(tmp_path / "m")
    return read_container(tmp_path / "m")


def _spoilt_chains():
    """Arrays to replace (None takes one away), and places of the meta with other values."""
    for name in ("weights", "weights.at", "names", "names.lengths", "history"):
        yield {name: None}, {}
        yield {name: np.zeros((2, 2))}, {}
        yield {name: np.array(["x"])}, {}
    yield {"weights.at": np.array([0, 10**9], np.uint32), "weights": np.zeros(2)}, {}
    yield {"weights.at": np.array([1, 0], np.uint32), "weights": np.zeros(2)}, {}
    yield {"weights.at": np.zeros(0, np.uint32), "weights": np.zeros(0)}, {}
    yield {"names": np.full(10, 255, np.uint8)}, {}
    yield {}, {"reader": "pickle"}
    yield {}, {"reader": "names", "template": 3, "data": 3}
    yield {}, {"template": None}
    yield {}, {"template": "open('/etc/passwd')"}
    yield {}, {"data": {"format": "conll", "columns": 2, "label": 99}}
    yield {}, {"data": ["conll"]}


@pytest.mark.parametrize(("arrays", "chain"), list(_spoilt_chains()))
def test_a_damaged_chain_is_refused(tmp_path, arrays, chain):
    meta, found = _chain_content(tmp_path)
    found = {name: a for name, a in (found | arrays).items() if a is not None}
    write_container(tmp_path / "m", {**meta, "chain": meta["chain"] | chain}, found)
    with pytest.raises(mm.ModelFileError, match=str(tmp_path / "m")):
        load(tmp_path / "m")


def test_more_ways_to_damage_a_chain(tmp_path):
    meta, arrays = _chain_content(tmp_path)
    twice = arrays["names.lengths"].copy()
    for change in (
        {"fitted": meta["fitted"] | {"n_features_in_": 10**12}},
        {"fitted": meta["fitted"] | {"n_features_in_": -1}},
        {"fitted": meta["fitted"] | {"n_features_in_": 2.5}},
        {"fitted": meta["fitted"] | {"classes_": {"array": "<U1", "values": ["D", "N"]}}},
        {"parameters": meta["parameters"] | {"transitions": {"value": "magic"}}},
        {"parameters": meta["parameters"] | {"start_stop": {"value": False}}},
        {"chain": None},
        {"chain": {}},
    ):
        write_container(tmp_path / "m", meta | change, arrays)
        with pytest.raises(mm.ModelFileError, match=str(tmp_path / "m")):
            load(tmp_path / "m")
    names = np.frombuffer(b"a" * len(twice), np.uint8)
    repeated = {"names": names, "names.lengths": np.ones(len(twice), np.uint32)}
    write_container(tmp_path / "m", meta, arrays | repeated)
    with pytest.raises(mm.ModelFileError, match="not all different"):
        load(tmp_path / "m")
    for cut in (100, 1000):
        content = (tmp_path / "m").read_bytes()
        (tmp_path / "m").write_bytes(content[:-cut])
        with pytest.raises(mm.ModelFileError):
            load(tmp_path / "m")


def test_imported_chains_are_saved(tmp_path):
    estimator = mm.ChainSVC(C=1.0).fit(MATRICES, [[1, 2, 3], [1, 2], [2, 3]])
    mm.io.save_svm_struct(estimator, tmp_path / "svm")
    imported = mm.io.load_svm_struct(tmp_path / "svm")
    imported.save(tmp_path / "m")
    same_chain(imported, mm.load(tmp_path / "m"), MATRICES)
