"""A model file with altered content and right checksums is refused, or the model works."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest

import maxmargin as mm
from command_line import passed
from maxmargin.io import read_container, write_container
from maxmargin.registry import summary
from plugins import ROOT, run_python
from tests.saving.alter_models import FROZEN, MODELS, alter
from tests.saving.judge_models import cases

NAN, INF = float("nan"), float("inf")


def test_no_altered_model_crashes_or_hangs():
    """In another process, with limits on memory and time."""
    script = Path(__file__).with_name("judge_models.py")
    done = run_python(script, "suite", "60", paths=(ROOT / "tests", ROOT))
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert len(lines) == 60
    assert not [line for line in lines if not line[2].startswith(("refused", "works"))]
    assert {line[2].partition(":")[0] for line in lines} == {"refused", "works"}


def test_alterations_are_reproducible_and_differ():
    content = (FROZEN / "models" / "chain.mm").read_bytes()
    first, again, other = (alter(content, Random(seed)) for seed in (1, 1, 2))
    assert first == again != other


def frozen(name, tmp_path, change):
    """The frozen model of this name after ``change(meta, arrays)``."""
    meta, arrays = read_container(FROZEN / "models" / f"{name}.mm")
    change(meta, arrays)
    write_container(tmp_path / "m.mm", meta, arrays)
    return tmp_path / "m.mm"


def refused(path, message, describes=False):
    """Loading fails with this message, and so does the description unless it does not need it."""
    with pytest.raises(mm.ModelFileError, match=message) as caught:
        mm.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    if describes:
        return
    with pytest.raises(mm.ModelFileError, match=message):
        summary(path)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("multiclass", "C", "x"), ("multiclass", "C", {"float": "inf"}), ("chain", "C", -1.0),
        ("cfg", "tol", 0), ("binary", "tol", [1e-3]), ("chain", "max_iter", 0),
        ("chain", "max_iter", 1.5), ("binary", "max_time", -1), ("chain", "n_jobs", 10**6),
        ("chain", "n_jobs", 1.5), ("cfg", "n_jobs", "x"), ("kernel-exact", "n_jobs", [1]),
        ("multiclass", "n_jobs", True), ("binary", "random_state", -1),
        ("binary", "random_state", "x"), ("chain", "warm_start", "yes"), ("cfg", "verbose", "x"),
        ("chain", "rescaling", "other"), ("multiclass", "solver", "best"),
        ("multiclass", "solver", 3), ("multiclass-intercept", "fit_intercept", 2),
        ("multiclass-intercept", "intercept_scaling", 0), ("binary", "class_weight", "heavy"),
        ("binary", "kernel", "cubic"), ("kernel-exact", "gamma", -1.0),
        ("kernel-exact", "degree", 0), ("kernel-exact", "coef0", "x"),
        ("kernel-basis", "n_basis", -3), ("chain", "start_stop", "x"), ("chain", "template", 3),
        ("cfg", "features", "poor"), ("cfg", "input", "letters"), ("cfg", "loss", "other"),
        ("cfg", "horizontal", -1), ("cfg", "vertical", 3), ("cfg", "rare", "x"),
        ("cfg", "beam", 0), ("chain", "backend", "ray"), ("chain", "checkpoint", "x.ck"),
    ],
)  # fmt: skip
def test_parameters_are_checked(name, key, value, tmp_path):
    path = frozen(name, tmp_path, lambda m, a: m["parameters"].update({key: {"value": value}}))
    refused(path, key)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("multiclass", "loss", "hamming"), ("multiclass", "loss", [[0.0, 1.0], [1.0, 0.0]]),
        ("chain", "loss", "other"), ("chain", "loss", [[0.0, -1.0], [1.0, 0.0]]),
        ("chain", "transitions", "bio"), ("chain", "transitions", 3),
    ],
)  # fmt: skip
def test_parameters_are_compared_with_the_labels(name, key, value, tmp_path):
    path = frozen(name, tmp_path, lambda m, a: m["parameters"].update({key: {"value": value}}))
    refused(path, "is damaged or was altered", describes=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("primal", "x"), ("gap", None), ("dual", [1]), ("n_iter", 1.5), ("n_iter", -1),
        ("n_oracle", "x"), ("time", {"float": "inf"}), ("time", -1), ("compile_time", "x"),
        ("status", "DONE"), ("status", 3), ("solver", 3), ("bounds", []), ("target", "x"),
        ("shares", {"qp": "x"}), ("shares", []), ("n_iter", 10**30),
    ],
)  # fmt: skip
def test_results_are_checked(key, value, tmp_path):
    refused(
        frozen("chain", tmp_path, lambda m, a: m["result"].update({key: value})), "is damaged or"
    )


@pytest.mark.parametrize(
    "history",
    [np.zeros((3, 6)), np.zeros(7), np.full((2, 7), NAN), np.zeros((2, 7), int), -np.ones((1, 7))],
    ids=["columns", "flat", "nan", "int", "negative"],
)
def test_the_history_is_checked(history, tmp_path):
    refused(frozen("binary", tmp_path, lambda m, a: a.update(history=history)), "history")


@pytest.mark.parametrize(
    "labels",
    [
        {"array": "<i8", "values": [1, 1, 2]}, {"array": "|O", "values": [[1], [2], [3]]}, [1, 2],
        {"array": "<U1", "values": []}, None, 3,
    ],
    ids=str,
)  # fmt: skip
def test_classes_are_checked(labels, tmp_path):
    path = frozen("multiclass", tmp_path, lambda m, a: m["fitted"].update(classes_=labels))
    refused(path, "is damaged or")


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e308])
@pytest.mark.parametrize("name", MODELS)
def test_weights_are_finite(name, value, tmp_path):
    """Whatever the structure calls them."""
    arrays = read_container(FROZEN / "models" / f"{name}.mm")[1]
    floats = [key for key, array in arrays.items() if array.dtype.kind == "f" and array.size]
    assert len(floats) > 1
    for key in set(floats) - {"history", "parameter.loss"}:

        def change(meta, arrays, key=key):
            arrays[key].flat[-1] = value

        path = frozen(name, tmp_path, change)
        with pytest.raises(mm.ModelFileError, match="finite"):
            mm.load(path, problem=cases.PROBLEMS.get(name))


@pytest.mark.parametrize("name", ["chain-rbf", "cfg", "multiclass"])
def test_missing_parameters_have_their_defaults(name, tmp_path):
    """A file of a version that did not have them yet."""
    path = frozen(name, tmp_path, lambda m, a: m["parameters"].clear())
    model = mm.load(path)
    assert model.get_params() == type(model)().get_params()
    assert passed("info", path).stdout


def test_a_parser_of_nltk_trees_needs_nltk(tmp_path, monkeypatch):
    path = frozen("cfg", tmp_path, lambda m, a: m["cfg"].update(nltk=True))
    monkeypatch.setattr("maxmargin.structures.cfg.model.find_spec", lambda name: None)
    refused(path, "install nltk", describes=True)
    assert mm.load(FROZEN / "models" / "cfg.mm")


@pytest.mark.parametrize("reader", [3, [], {}, ["names"]], ids=str)
def test_the_form_of_tokens_is_checked(reader, tmp_path):
    path = frozen("chain", tmp_path, lambda m, a: m["chain"].update(reader=reader))
    refused(path, "form of tokens")


def test_info_without_the_number_of_features(tmp_path):
    path = frozen("binary", tmp_path, lambda m, a: m["fitted"].pop("n_features_in_"))
    refused(path, "n_features_in_", describes=True)
    assert "BinarySVC" in passed("info", path).stdout


def test_a_kernel_whose_values_overflow_is_refused(tmp_path):
    path = frozen("kernel-exact", tmp_path, lambda m, a: m["kernel"].update(gamma=1e308))
    refused(path, "gamma", describes=True)
    path = frozen("kernel-multiclass", tmp_path, lambda m, a: m["kernel"].update(degree=10**6))
    refused(path, "beyond the range", describes=True)


def test_a_compiled_problem_gets_no_weights_of_another_length(tmp_path):
    """Compiled code would read outside of the array."""
    from maxmargin.engine.shard import predict_labels
    from maxmargin.structures.multiclass.problem import Multiclass

    problem = Multiclass(3)
    pack = problem.pack(np.zeros((2, 4)))
    with pytest.raises(mm.DataError, match=r"shape \(5,\), and these inputs need \(12,\)"):
        predict_labels(problem, pack, np.zeros(5))


def test_parameters_of_all_valid_types_are_stored(tmp_path):
    """What ``fit`` accepts, ``save`` and ``load`` accept too."""
    X, y = np.eye(4), [0, 0, 1, 1]
    given = {
        "C": np.float32(0.5), "tol": np.float64(0.1), "max_iter": 100.0, "max_time": 5,
        "n_jobs": None, "random_state": np.int64(3), "verbose": True, "warm_start": np.bool_(False),
        "fit_intercept": np.bool_(True), "intercept_scaling": 2, "class_weight": {0: 2, 1: 0.5},
        "solver": mm.OneSlack(cache=2), "gamma": np.float64(0.5), "degree": 2.0, "coef0": 1,
    }  # fmt: skip
    model = mm.BinarySVC(**given).fit(X, y)
    again = mm.load(save(model, tmp_path))
    assert {name: again.get_params()[name] for name in given} == given
    for seed in (None, [1, 2, 3]):
        assert mm.load(save(model.set_params(random_state=seed), tmp_path)).random_state == seed


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path):
    X, y = np.eye(4), [0, 0, 1, 1]
    model = mm.BinarySVC().fit(X, y)
    for name, value in (("n_jobs", "x"), ("C", -1), ("fit_intercept", 7)):
        other = mm.load(save(model, tmp_path)).set_params(**{name: value})
        with pytest.raises(mm.ModelFileError, match=name):
            other.save(tmp_path / "other.mm")
    assert not (tmp_path / "other.mm").exists()


def save(model, tmp_path):
    model.save(tmp_path / "m.mm")
    return tmp_path / "m.mm"


def test_a_small_file_cannot_ask_for_much_memory(tmp_path):
    """Through mm.load, with the message that says how to raise the limit."""
    huge = {"array": "<U67108864", "values": ["a"]}
    path = frozen("binary", tmp_path, lambda m, a: m["fitted"].update(x=[huge] * 20))
    with pytest.raises(mm.ModelFileError, match=r"mm.load\(path, max_bytes=...\)"):
        mm.load(path)
    assert json.dumps([huge] * 20).__len__() < 1000
    with pytest.raises(mm.ModelFileError, match="limit for this file is 100"):
        mm.load(FROZEN / "models" / "binary.mm", max_bytes=100)
