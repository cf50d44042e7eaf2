"""What every structure must do, from the tiny examples that its description names.

A new structure, or a new solver, gets these tests without a line here.
"""

import copy
import json
import warnings
from functools import cache

import numpy as np
import pytest

import maxmargin as mm
from command_line import passed
from maxmargin.data.source import n_examples
from maxmargin.engine.bind import interpret
from maxmargin.engine.interpreted import in_python, is_built_in
from maxmargin.engine.shard import Shard
from maxmargin.problem import MARGIN, MODES, PREDICT
from maxmargin.registry import all_structures, summary
from maxmargin.result import Stop
from maxmargin.saving.container import read_container, write_container
from maxmargin.solvers import solver_names
from maxmargin.training import train_shard
from reference import assert_same_optimum, enumerate_optimum, enumerate_planes, primal
from speeds import SPEEDS, make_shard

C, TOL = 0.5, 0.02

STRUCTURES = {structure.name: structure for structure in all_structures()}
TINY = {
    f"{name}-{tiny.name}": tiny
    for name, structure in STRUCTURES.items()
    for tiny in structure.examples()
}
RESCALED = [(name, rescaling) for name, tiny in TINY.items() for rescaling in tiny.rescalings]
DECODED = [(name, mode) for name in TINY for mode in ("predict", *TINY[name].rescalings)]
FITTED = [name for name, tiny in TINY.items() if tiny.estimator is not None]
FILED = [name for name, tiny in TINY.items() if tiny.text]
SOLVERS = solver_names(for_kernels=False)
SOLVED = pytest.mark.parametrize(
    ("name", "rescaling", "solver"),
    [
        (name, rescaling, solver)
        for name, rescaling in RESCALED
        for solver, (cls, _) in SOLVERS.items()
        if not cls.few_outputs or TINY[name].problem.n_outputs is not None
    ],
)


def test_every_structure_has_tiny_examples():
    assert {name.partition("-")[0] for name in TINY} == set(STRUCTURES)
    assert {name.partition("-")[0] for name in FILED} == {
        name
        for name, structure in STRUCTURES.items()
        if structure.trains_from_files and not structure.takes_problem
    }


def value(tiny, w, x, truth, y, mode):
    """What decode maximises, from the definitions."""
    score = float(w @ tiny.features(x, y))
    if mode == PREDICT:
        return score
    margin, loss = float(w @ tiny.features(x, truth)) - score, float(tiny.loss(truth, y))
    return loss - margin if mode == MARGIN else loss * (1 - margin)


def weights(dim):
    """Zero, whole numbers that make ties, and others."""
    random = np.random.RandomState(0)
    return [np.zeros(dim), random.randint(-2, 3, dim).astype(float), *random.randn(3, dim)]


@SPEEDS
@pytest.mark.parametrize(("name", "mode"), DECODED)
def test_decode_finds_the_best_of_all_outputs(name, mode, compiled):
    tiny, mode = TINY[name], MODES.get(mode, PREDICT)
    problem = tiny.problem
    pack = problem.pack(tiny.X, tiny.Y)
    shard = make_shard(problem, pack, compiled)
    labels = shard.new_labels()
    for w in weights(pack.dim):
        shard.oracle(w, mode, labels, shard.everyone)
        found = problem.unpack(pack, labels)
        total = 0.0
        for x, truth, y in zip(tiny.X, tiny.Y, found, strict=True):
            best = max(value(tiny, w, x, truth, other, mode) for other in tiny.outputs(x))
            assert value(tiny, w, x, truth, y, mode) == pytest.approx(best, abs=1e-9)
            total += best
        if mode != PREDICT:
            g, loss, values = shard.collect(w, mode, labels)
            assert values.sum() == pytest.approx(total, abs=1e-9)
            assert loss - g @ w == pytest.approx(total, abs=1e-9)


@cache
def planes(name, rescaling):
    tiny = TINY[name]
    return enumerate_planes(tiny.features, tiny.loss, tiny.X, tiny.Y, tiny.outputs, rescaling)


@cache
def optimum(name, rescaling):
    return enumerate_optimum(*planes(name, rescaling), C, tol=1e-6)


@SOLVED
def test_every_solver_reaches_the_optimum(name, rescaling, solver):
    """Within its tolerance, with a true certificate."""
    tiny, best = TINY[name], optimum(name, rescaling)
    cls, options = SOLVERS[solver]
    result = mm.train(
        tiny.problem, tiny.X, tiny.Y, C=C, solver=cls(**options), tol=TOL, rescaling=rescaling,
        max_iter=100_000,
    )  # fmt: skip
    assert result.converged
    assert result.primal == pytest.approx(primal(result.w, *planes(name, rescaling), C))
    assert result.dual <= best.primal + 1e-9 and result.primal >= best.dual - 1e-9
    assert result.primal <= best.primal + TOL * C * len(tiny.Y)


@SOLVED
def test_interpreted_and_compiled_runs_agree(name, rescaling, solver):
    tiny = TINY[name]
    cls, options = SOLVERS[solver]
    pack, stop = tiny.problem.pack(tiny.X, tiny.Y), Stop(TOL, 100_000)
    a, b = (
        train_shard(Shard(tiny.problem, pack, loops=loops), C, cls(**options), stop, rescaling)
        for loops in (None, interpret(tiny.problem.functions))
    )
    assert_same_optimum(a, b)


@pytest.mark.parametrize("name", TINY)
def test_no_mistake_is_found(name):
    """Built-in functions in plain Python: numba would compile them for this test only."""
    tiny = TINY[name]
    problem = copy.copy(tiny.problem)
    if is_built_in(problem.functions):
        problem.functions = plain = in_python(problem.functions)
        problem.functions_for = lambda mode: plain
    checked = mm.check_problem(problem, tiny.X, tiny.Y)
    assert checked.comparisons > 0 and set(checked.rescalings) == set(tiny.rescalings)


@pytest.mark.parametrize("name", TINY)
def test_a_rescaling_without_an_oracle_is_refused(name):
    tiny = TINY[name]
    for rescaling in set(MODES) - set(tiny.rescalings):
        with pytest.raises(mm.MaxMarginError):
            mm.train(tiny.problem, tiny.X, tiny.Y, rescaling=rescaling)


@cache
def fitted(name):
    """A copy of the estimator, trained."""
    tiny = TINY[name]
    return copy.deepcopy(tiny.estimator).fit(*tiny.data or (tiny.X, tiny.Y))


def inputs(name):
    tiny = TINY[name]
    return (tiny.data or (tiny.X, tiny.Y))[0]


def outputs(estimator, X):
    """Predictions that can be compared."""
    return [y.tolist() if isinstance(y, np.ndarray) else y for y in estimator.predict(X)]


def load(path, estimator):
    """A model; the code of a user's own problem is not in the file."""
    own = estimator.get_params(deep=False).get("problem")
    return mm.load(path) if own is None else mm.load(path, problem=own)


@pytest.mark.parametrize("name", FITTED)
def test_models_come_back(name, tmp_path):
    estimator, X = fitted(name), inputs(name)
    estimator.save(tmp_path / "model.mm")
    again = load(tmp_path / "model.mm", estimator)
    assert type(again) is type(estimator)
    assert outputs(again, X) == outputs(estimator, X)
    assert np.array_equal(again.result_.w, estimator.result_.w)
    again.save(tmp_path / "again.mm")
    assert (tmp_path / "again.mm").read_bytes() == (tmp_path / "model.mm").read_bytes()
    content = summary(tmp_path / "model.mm")
    assert content["structure"] == estimator.structure.name
    assert content["result"].primal == estimator.result_.primal


@pytest.mark.parametrize("name", FITTED)
def test_reports_are_written(name, tmp_path):
    estimator, tiny = fitted(name), TINY[name]
    X, Y = tiny.data or (tiny.X, tiny.Y)
    estimator.report(tmp_path / "report.html", X, Y, test=(X, Y))
    assert type(estimator).__name__ in (tmp_path / "report.html").read_text(encoding="utf8")


def altered_arrays(arrays):
    """The arrays of a model with one of them changed, in a number of ways."""
    for key, array in arrays.items():
        changes = {
            "shorter": array[:-1] if array.ndim else array[None],
            "longer": np.concatenate([array.ravel(), array.ravel(), array.ravel()[:1]]),
            "one more dimension": array[None],
            "empty": array.ravel()[:0],
            "other numbers": np.full_like(array, 7),
            "text": np.full(array.shape, "x"),
        }
        if array.dtype.kind == "f":
            changes["nan"] = np.full_like(array, np.nan)
        for how, changed in changes.items():
            if not np.array_equal(changed, array):
                yield f"{key}: {how}", {**arrays, key: changed}
        yield f"{key}: missing", {k: v for k, v in arrays.items() if k != key}


def altered_meta(meta):
    """The JSON of a model with one entry changed or missing, at any depth."""
    for key, entry in meta.items():
        yield f"{key}: missing", {k: v for k, v in meta.items() if k != key}
        for other in (None, [], {}, "x", -1, 1.5, True):
            if other != entry:
                yield f"{key}: {other!r}", {**meta, key: other}
        if isinstance(entry, dict):
            for what, inner in altered_meta(entry):
                yield f"{key}.{what}", {**meta, key: inner}


def widths(estimator):
    """What decides which inputs an estimator takes."""
    reader = getattr(estimator, "_reader", None)
    return (
        getattr(estimator, "n_features_in_", None), getattr(estimator, "input", None),
        getattr(estimator, "coef_", np.zeros(0)).shape, type(reader),
        getattr(getattr(reader, "template_", None), "text", None),
    )  # fmt: skip


@pytest.mark.parametrize("name", FITTED)
def test_altered_model_files_are_refused_or_work(name, tmp_path):
    """Whatever is in a file: a ModelFileError, or a model that predicts."""
    estimator, X, path = fitted(name), inputs(name), tmp_path / "model.mm"
    estimator.save(path)
    meta, arrays = read_container(path)
    cases = [(what, meta, other) for what, other in altered_arrays(arrays)]
    cases += [(what, other, arrays) for what, other in altered_meta(meta)]
    refused = 0
    for what, some_meta, some_arrays in cases:
        try:
            write_container(path, some_meta, some_arrays)
        except mm.ModelFileError:
            continue  # no file can hold it
        try:
            model = load(path, estimator)
        except mm.ModelFileError:
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"{what}: {error!r}") from error
        assert not what.endswith(": nan"), what
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                assert n_examples(model.predict(X)) == len(X), what
            except Exception as error:
                # A model without the right number of features takes other inputs.
                assert widths(model) != widths(estimator), (what, error)
    assert refused > len(cases) / 3


@pytest.mark.parametrize("name", FILED)
def test_the_command_line(name, tmp_path):
    structure, tiny = STRUCTURES[name.partition("-")[0]], TINY[name]
    data, model = tmp_path / "data.txt", tmp_path / "model.mm"
    data.write_bytes(tiny.text if isinstance(tiny.text, bytes) else tiny.text.encode())
    trained = passed("train", structure.name, data, "-o", model, *tiny.command).stdout
    assert structure.estimator_name in trained and "Converged" in trained
    printed = passed("predict", model, data).stdout
    assert printed.strip()
    passed("predict", model, data, "-o", tmp_path / "out.txt")
    assert (tmp_path / "out.txt").read_text() == printed
    assert passed("predict", model, data, "--m-best", "2").stdout.strip()
    assert passed("evaluate", model, data).stdout.strip()
    assert json.loads(passed("evaluate", model, data, "--json").stdout)
    assert structure.estimator_name in passed("info", model).stdout
    assert passed("explain", model).stdout.strip()
    estimator = mm.load(model)
    examples = structure.files.read_labelled(str(data), estimator)
    assert len(estimator.predict(examples.X)) == len(examples.Y)
