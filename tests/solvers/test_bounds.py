"""Oracles that are not exact but give upper bounds: what the certificate then proves."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.backends.local import InProcess
from maxmargin.engine.shard import Shard, predict_with_bounds
from maxmargin.errors import DataError, ProblemError
from maxmargin.report.certificate import certificate
from maxmargin.result import Status
from reference import enumerate_optimum, primal
from solver_tables import all_solvers
from weak_cycles import CompiledCycles, TightCycles, WeakCycles, cycles, planes_of

X, Y = cycles()
C, TOL = 0.5, 0.02
SOLVERS = {name: solver for name, solver in all_solvers().items() if solver.for_bounds}


def assert_proved(result, rescaling="margin", C=C, tol=TOL):
    """The true P(w) lies between the outputs found and the bounds, the optimum between D and P."""
    planes, target = planes_of(X, Y, rescaling), tol * C * len(X)
    true, optimum = primal(result.w, *planes, C=C), enumerate_optimum(*planes, C=C)
    rounding = 1e-9 * result.primal
    assert result.dual <= optimum.primal + rounding
    assert true <= result.primal + rounding
    assert result.primal - result.gap_inference <= true + max(target, 0) + rounding
    assert result.gap == pytest.approx(result.primal - result.dual)
    assert result.gap == result.gap_inference + result.gap_optimisation
    if result.status in (Status.CONVERGED, Status.INFERENCE_LIMITED):
        assert result.gap_optimisation <= target
        assert result.converged == (result.gap <= target)
    for record in result.history:
        assert record.dual <= optimum.primal + rounding <= record.primal + 2 * rounding


def test_all_solvers_know_bounds():
    assert set(SOLVERS) == {"sdm", "bcfw", "n-slack", "one-slack", "subgradient"}


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", SOLVERS)
def test_weak_oracle_with_bounds(name, rescaling):
    result = mm.train(
        WeakCycles(), X, Y, C=C, tol=TOL, solver=SOLVERS[name], rescaling=rescaling, max_iter=60
    )
    assert_proved(result, rescaling)
    assert result.gap_inference > 0
    if name != "subgradient":  # which is slow
        assert result.status is Status.INFERENCE_LIMITED


@pytest.mark.parametrize("name", SOLVERS)
def test_tight_bounds_converge(name):
    options = {"C": C, "tol": 0.1, "solver": SOLVERS[name], "max_iter": 300}
    result = mm.train(TightCycles(), X, Y, **options)
    assert result.converged and result.gap_inference <= 1e-9 * result.primal
    assert_proved(result, tol=0.1)
    loose = mm.train(TightCycles(slack=0.25), X, Y, **options)
    assert loose.gap_inference == pytest.approx(0.25 * C * len(X))
    assert loose.status is Status.INFERENCE_LIMITED and loose.as_asked
    exact = mm.train(TightCycles(slack=np.nan), X, Y, **options)
    assert exact.converged and exact.gap_inference == 0 == exact.history[-1].gap_inference


class LowBound(WeakCycles):
    """The bound of the third example is below the value of its output."""

    def bound(self, x, w, y_true, rescaling):
        best = super().bound(x, w, y_true, rescaling)
        return best - 10 if x is X[2] else best


@pytest.mark.parametrize("name", SOLVERS)
def test_a_bound_that_is_none_is_an_error_that_names_the_example(name):
    with pytest.raises(ProblemError, match=r"example 2 .*upper bound"):
        mm.train(LowBound(), X, Y, C=C, tol=TOL, solver=SOLVERS[name], max_iter=60)


@pytest.mark.parametrize("bound", [np.inf, -np.inf, "high"])
def test_bounds_are_finite_numbers(bound):
    class Strange(WeakCycles):
        def decode(self, x, w, y_true=None, rescaling="margin"):
            return mm.Bounded(y_true, bound)

    with pytest.raises(ProblemError, match=r"example [0-9] return.* the bound"):
        mm.train(Strange(), X, Y, solver="sdm")


def test_check_problem_tests_bounds():
    assert mm.check_problem(WeakCycles(), X, Y).examples == len(X)
    with pytest.raises(ProblemError, match="example 2 returned the upper bound"):
        mm.check_problem(LowBound(), X, Y)


@pytest.mark.parametrize("solver", [mm.OneSlack(m_cuts=2), mm.OneSlack(qp="line-search"), mm.SDM()])
def test_worker_processes_and_several_cuts_keep_bounds(solver):
    options = {"C": C, "tol": TOL, "solver": solver, "max_iter": 40}
    alone, shared = (mm.train(WeakCycles(), X, Y, n_jobs=n, **options) for n in (1, 2))
    assert_proved(alone)
    np.testing.assert_array_equal(alone.w, shared.w)
    assert (alone.primal, alone.gap_inference) == (shared.primal, shared.gap_inference)


@pytest.mark.parametrize("name", SOLVERS)
def test_bounds_of_several_shards_are_summed(name):
    options = {"C": C, "tol": TOL, "solver": SOLVERS[name], "max_iter": 40}
    result = mm.train(WeakCycles(), X, Y, backend=InProcess(num_shards=3), **options)
    assert_proved(result)
    assert result.gap_inference > 0


def test_a_solver_that_ignores_bounds_is_refused():
    class Ignorant(mm.Subgradient):
        name, for_bounds = "ignorant", False

        def step_once(self, task, state):
            task.shard.oracle(state.w, task.mode, task.shard.new_labels(), task.shard.everyone)
            return super().step_once(task, state)

    with pytest.raises(DataError, match="upper bounds, which the solver 'ignorant'"):
        mm.train(WeakCycles(), X, Y, solver=Ignorant())
    assert mm.train(TightCycles(slack=np.nan), X, Y, solver=Ignorant(), max_iter=3).primal > 0


def test_compiled_oracles_give_bounds():
    result = mm.train(CompiledCycles(), X, Y, C=C, tol=TOL, solver="sdm")
    assert_proved(result)
    assert result.status is Status.INFERENCE_LIMITED
    problem = CompiledCycles()
    labels, bounds = predict_with_bounds(problem, problem.pack(X), result.w)
    plain, outputs = WeakCycles(), problem.unpack(problem.pack(X), labels)
    for x, y, bound in zip(X, outputs, bounds, strict=True):
        best = max(plain.value(x, result.w, z) for z in plain.all_outputs(x))
        assert plain.value(x, result.w, y) <= best <= bound + 1e-12


def test_a_resumed_run_continues_with_its_messages(tmp_path):
    options = {"C": C, "tol": 1e-4, "solver": mm.SDM(inner=1)}
    first, second, path = CompiledCycles(), CompiledCycles(), tmp_path / "run.ck"
    whole = mm.train(first, X, Y, max_iter=9, **options)
    mm.train(CompiledCycles(), X, Y, max_iter=4, checkpoint=path, **options)
    resumed = mm.train(second, X, Y, max_iter=9, checkpoint=path, **options)
    np.testing.assert_array_equal(whole.w, resumed.w)
    np.testing.assert_array_equal(first.messages, second.messages)
    assert [r[2:] for r in whole.history] == [r[2:] for r in resumed.history]
    assert (whole.gap, whole.gap_inference) == (resumed.gap, resumed.gap_inference)


def test_messages_are_no_part_of_the_data():
    problem = CompiledCycles()
    shard = Shard(problem, problem.pack(X, Y))
    before = shard.fingerprint()
    shard.messages[:] = 1.0
    assert shard.fingerprint() == before


def test_exact_problems_have_no_inference_gap(tmp_path):
    model = mm.MulticlassSVC(C=0.1).fit(np.eye(3), [0, 1, 2])
    assert model.result_.gap_inference == 0
    assert model.result_.gap_optimisation == model.result_.gap
    assert "inference" not in certificate(model.result_) + repr(model.result_)


def test_the_certificate_in_words_and_in_model_files(tmp_path):
    model = mm.StructuredSVC(WeakCycles(), C=C, tol=TOL).fit(X, Y)
    result = model.result_
    text = certificate(result)
    assert text.startswith("Optimised as far as inference allows: the objective is")
    assert f"inference {result.gap_inference:.3g}" in text
    model.save(tmp_path / "weak.mm")
    loaded = mm.load(tmp_path / "weak.mm", problem=WeakCycles()).result_
    assert loaded.gap_inference == result.gap_inference
    assert loaded.history == result.history and loaded.status is result.status
    result.plot(tmp_path / "weak.html")
    assert "part of the gap that inference leaves" in (tmp_path / "weak.html").read_text()


def test_a_checkpoint_cannot_invent_an_inference_gap(tmp_path):
    class Liar(mm.SDM):
        def step_once(self, task, state):
            w, found, dual, upper = super().step_once(task, state)
            return w, 0.5 * (found + dual), dual, upper

    problem, path = TightCycles(slack=np.nan), tmp_path / "run.ck"
    options = {"C": C, "tol": 1e-9, "checkpoint": path}
    mm.train(problem, X, Y, solver=Liar(), max_iter=4, **options)
    with pytest.raises(mm.CheckpointError, match="exact oracle has left a gap"):
        mm.train(problem, X, Y, solver=Liar(), max_iter=8, **options)
