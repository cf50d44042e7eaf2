"""Sign constraints: every solver reaches the optimum of an independent solver of the primal."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize

import maxmargin as mm
from maxmargin.backends.local import InProcess
from maxmargin.engine.arrays import PassOptions
from maxmargin.engine.shard import Shard
from maxmargin.engine.vectors import Vector
from maxmargin.errors import DataError, ProblemError
from maxmargin.problem import MODES
from maxmargin.solvers import Task
from maxmargin.solvers import working_sets as sets
from maxmargin.solvers.signed_bundle import SignedBundle, solve_signed_qp
from maxmargin.structures.multiclass.problem import Multiclass
from reference import multiclass_planes, primal
from solver_tables import all_solvers
from weak_cycles import DIM, D, K, WeakCycles, cycles

CHOSEN = [0, 3, 5, 7, 8]
COST = 1.0 - np.eye(3)
C = 0.7
SOLVERS = {name: solver for name, solver in all_solvers().items() if solver.for_signs}
SOLVERS |= {
    "one-slack, cache": mm.OneSlack(cache=3),
    "one-slack, full steps": mm.OneSlack(step=1.0),
    "one-slack, 2 cuts": mm.OneSlack(m_cuts=2),
    "n-slack, shrinking": mm.NSlack(shrink=True),
    "sdm, last w only": mm.SDM(average=False),
}


class Limited(Multiclass):
    """Some weights must not be negative."""

    def positive(self, pack):
        return CHOSEN


def data(n=15, seed=0):
    random = np.random.RandomState(seed)
    return random.randn(n, 3), random.randint(0, 3, n)


def reference(planes, losses, positive, C=C):
    """min 1/2 |w|^2 + C sum xi over w_j >= 0 and xi_i >= loss - <w, plane>, by SLSQP."""
    dim, n = planes[0].shape[1], len(planes)
    rows = np.concatenate([np.hstack([A, np.eye(n)[[i] * len(A)]]) for i, A in enumerate(planes)])
    bounds = [(0 if j in positive else None, None) for j in range(dim)] + [(None, None)] * n
    found = minimize(
        lambda z: 0.5 * z[:dim] @ z[:dim] + C * z[dim:].sum(),
        np.concatenate([np.zeros(dim), [loss.max() for loss in losses]]),
        jac=lambda z: np.concatenate([z[:dim], np.full(n, C)]),
        bounds=bounds,
        constraints=LinearConstraint(rows, lb=np.concatenate(losses)),
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.success
    return found.x[:dim], found.fun


@pytest.mark.parametrize("rescaling", ["margin", "slack"])
@pytest.mark.parametrize("name", SOLVERS)
def test_the_optimum_with_constraints(name, rescaling):
    X, y = data()
    planes, losses = multiclass_planes(X, y, COST, rescaling == "slack")
    w, optimum = reference(planes, losses, CHOSEN)
    free = reference(planes, losses, [])[1]
    assert optimum > free + 1e-3  # the constraints matter
    tol = 0.02 if name == "subgradient" else 1e-4
    result = mm.train(
        Limited(3), X, y, C=C, tol=tol, solver=SOLVERS[name], rescaling=rescaling, max_iter=3000
    )
    assert result.converged and (result.w[CHOSEN] >= 0).all()
    assert result.primal == pytest.approx(primal(result.w, planes, losses, C), rel=1e-9)
    assert result.dual <= optimum * (1 + 1e-6) and optimum <= result.primal * (1 + 1e-6)
    assert np.linalg.norm(result.w - w) <= np.sqrt(2 * result.gap) + 1e-3


@pytest.mark.parametrize("frank_wolfe", [None, True])
def test_every_visit_raises_the_dual(frank_wolfe):
    X, y = data(n=10, seed=3)
    problem = Limited(3)
    shard = Shard(problem, problem.pack(X, y))
    task = Task(shard, 5.0, MODES["margin"], 1e-6, np.random.RandomState(0))
    task.frank_wolfe = frank_wolfe
    state = sets.begin(task, power=1.0)
    before = 0.0
    for visit in range(200):
        order = np.array([visit % 10])
        sets.complete(sets.sweep(task, state, order, PassOptions(True, frank_wolfe=frank_wolfe)))
        now = sets.dual_value(task, state)
        assert now >= before - 1e-12
        before = now
    assert (state.visits.below[CHOSEN] < 0).any()
    kept, below = state.w.copy(), state.visits.below.copy()
    sets.recompute_w(task, state)
    np.testing.assert_allclose(state.w, kept, atol=1e-12)
    np.testing.assert_allclose(state.visits.below, below, atol=1e-12)
    assert (sets.average(state)[CHOSEN] >= 0).all()


def test_the_qp_with_constraints():
    random = np.random.RandomState(5)
    for _ in range(200):
        m, dim, N = random.randint(2, 25), random.randint(2, 30), 10.0 ** random.randint(-1, 4)
        planes, loss = random.randn(m, dim) + random.randn(dim), random.rand(m)
        planes[0], loss[0] = 0.0, 0.0
        positive = random.permutation(dim)[: random.randint(1, dim + 1)]
        start = np.eye(m)[0]
        beta = solve_signed_qp(planes @ planes.T, planes[:, positive], loss, N, start, 1e-8)
        w = N * beta @ planes
        w[positive] = np.maximum(w[positive], 0)
        value = loss - planes @ w
        assert beta.min() >= 0 and beta.sum() == pytest.approx(1.0)
        assert value.max() - value @ beta <= 1.001e-8


def test_constraints_of_a_python_problem():
    X, Y = cycles()
    edges = np.arange(DIM) >= D * K

    class Attractive(WeakCycles):
        positive = edges

    free = mm.train(WeakCycles(), X, Y, C=1.0, solver="sdm")
    result = mm.train(Attractive(), X, Y, C=1.0, solver="sdm")
    assert free.w[edges].min() < 0 <= result.w[edges].min()
    assert result.dual <= result.primal


@pytest.mark.parametrize("positive", [[99], [-1], [0.5], [[0]], [True, False]])
def test_wrong_indices_are_named(positive):
    class Wrong(WeakCycles):
        pass

    Wrong.positive = positive
    with pytest.raises(ProblemError, match="positive"):
        mm.train(Wrong(), *cycles())


def test_solvers_without_constraints_are_refused():
    X, y = data()
    with pytest.raises(DataError, match="qp='exact'"):
        mm.train(Limited(3), X, y, solver=mm.OneSlack(qp="line-search"))
    with pytest.raises(DataError, match="leave out backend"):
        mm.train(Limited(3), X, y, backend=InProcess(num_shards=2))

    class Other(mm.Subgradient):
        for_signs = False

    with pytest.raises(DataError, match="'sdm', 'bcfw'"):
        mm.train(Limited(3), X, y, solver=Other())


@pytest.mark.parametrize("name", ["sdm", "bcfw", "one-slack", "subgradient"])
def test_checkpoints_and_warm_starts_keep_constraints(name, tmp_path):
    X, y = data()
    options = {"tol": 1e-6, "solver": SOLVERS[name]}
    whole = mm.train(Limited(3), X, y, C=C, max_iter=12, **options)
    path = tmp_path / "run.ck"
    mm.train(Limited(3), X, y, C=C, max_iter=5, checkpoint=path, **options)
    resumed = mm.train(Limited(3), X, y, C=C, max_iter=12, checkpoint=path, **options)
    np.testing.assert_array_equal(whole.w, resumed.w)
    options["tol"] = 0.02
    first = mm.train(Limited(3), X, y, C=C, keep=True, **options)
    again = mm.train(Limited(3), X, y, C=2 * C, start=first.state, **options)
    fresh = mm.train(Limited(3), X, y, C=2 * C, **options)
    assert max(again.dual, fresh.dual) <= min(again.primal, fresh.primal) * (1 + 1e-9)


def test_a_bundle_with_constraints_survives_the_removal_of_cuts():
    random = np.random.RandomState(2)
    model = SignedBundle(4, 3.0, np.array([1, 2]))
    for _ in range(70):
        model.add(Vector(None, random.randn(4)), float(random.rand()))
        model.solve(1e-9)
        assert model.dual == pytest.approx(
            model.N * float(model.beta @ model.loss) - 0.5 * model.square(), rel=1e-9
        )
        assert len(model.columns) == len(model.planes) and (model.w[[1, 2]] >= 0).all()
    assert len(model) < 70
