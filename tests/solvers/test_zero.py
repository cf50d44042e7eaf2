"""w = 0 is a point of every run: nothing worse is returned, and the message says if it suffices."""

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.engine.shard import Shard
from maxmargin.problem import MARGIN, SLACK
from maxmargin.report.certificate import certificate
from maxmargin.saving.checkpoint import Checkpoint
from maxmargin.saving.container import read_container, write_container
from maxmargin.solvers.task import Task
from maxmargin.structures.multiclass.problem import Multiclass
from maxmargin.training import train
from solver_tables import all_variants

VARIANTS = all_variants()
SOLVERS = pytest.mark.parametrize("solver", VARIANTS.values(), ids=VARIANTS)


def noisy(scale, n=60):
    random = np.random.RandomState(0)
    return scale * random.randn(n, 4), random.randint(0, 3, n)


@SOLVERS
@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"max_iter": 3}, {"max_time": 1e-9}], ids=str)
def test_a_limit_returns_nothing_worse_than_zero(solver, limit):
    X, y = noisy(scale=1e3)
    for C in (1e-4, 1.0, 1e4):
        result = train(Multiclass(3), X, y, C=C, solver=solver, tol=1e-6, **limit)
        assert result.dual <= result.primal <= C * len(y)


@SOLVERS
def test_a_warm_start_returns_nothing_worse_than_zero(solver):
    X, y = noisy(scale=1e3)
    first = train(Multiclass(3), X, y, C=1e3, solver=solver, tol=1e-2, max_iter=5, keep=True)
    result = train(
        Multiclass(3), X, y, C=1e-6, solver=solver, tol=1e-6, max_iter=1, start=first.state
    )
    assert result.dual <= result.primal <= 1e-6 * len(y)


@SOLVERS
def test_features_that_are_zero(solver):
    result = train(Multiclass(3), np.zeros((4, 3)), np.array([0, 1, 2, 0]), solver=solver, tol=1e-6)
    assert result.converged and result.trivial
    assert result.primal == pytest.approx(4) and result.dual == pytest.approx(4)


@SOLVERS
def test_the_message_says_that_c_is_too_small(solver):
    X, y = noisy(scale=1.0)
    result = train(Multiclass(3), X, y, C=1e-7, solver=solver, tol=1e-3)
    assert result.converged and result.trivial
    assert "w = 0 is within tol as well: raise C" in certificate(result)


@SOLVERS
def test_a_model_that_has_learnt_needs_no_pass_at_zero(solver):
    random = np.random.RandomState(1)
    y = random.randint(0, 3, 60)
    X = 2 * np.eye(3)[y] + 0.2 * random.randn(60, 3)
    result = train(Multiclass(3), X, y, C=1.0, solver=solver, tol=2e-2)
    assert result.status is mm.Status.CONVERGED
    assert result.n_oracle <= result.history[-1].n_oracle + 16  # of 60 examples


def test_a_checkpoint_with_a_wrong_objective_of_zero_is_refused(tmp_path):
    X, y = noisy(scale=1.0)
    path = tmp_path / "run.ck"
    options = {"solver": "one-slack", "tol": 1e-4, "checkpoint": Checkpoint(path, every=0)}
    train(Multiclass(3), X, y, max_iter=3, **options)
    meta, arrays = read_container(path)
    stored = meta["run"]["best"]["object"]
    assert float.fromhex(stored["at_zero"]["float"]) == len(y)
    stored["at_zero"] = {"float": (59.0).hex()}
    write_container(path, meta, arrays)
    with pytest.raises(mm.CheckpointError, match="w = 0 has the objective 60"):
        train(Multiclass(3), X, y, **options)


@pytest.mark.parametrize("solver", [mm.SDM(), mm.NSlack(), mm.BCFW()])
@pytest.mark.parametrize("mode", [MARGIN, SLACK])
def test_known_outputs_bound_the_sum_at_zero(solver, mode):
    X, y = noisy(scale=1.0)
    problem = Multiclass(3)
    shard = Shard(problem, problem.pack(X, y, np.linspace(0.1, 2.0, len(y))))
    task = Task(shard, 1.0, mode, 1e-3, np.random.RandomState(0))
    state = solver.init(task)
    assert solver.least_at_zero(task, state) == 0.0  # only the truth is known
    for _ in range(3):
        solver.step_once(task, state)
    exact = shard.hinge(np.zeros(shard.pack.dim), mode).found
    assert 0.0 < solver.least_at_zero(task, state) <= exact + 1e-9
    state.duals.loss[:, -1] = 1e9  # what is left in slots that are not used does not count
    state.duals.count[:] = np.minimum(state.duals.count, state.duals.loss.shape[1] - 1)
    assert solver.least_at_zero(task, state) <= exact + 1e-9
