"""Resume from checkpoints whose arrays or numbers were altered; called by test_altered_checkpoints.

python alter_checkpoints.py FOLDER PROBLEM

A line of the output is a solver, an array, an alteration and what came of it: "refused", "honest"
(a run whose certificate is true) or what is wrong.
"""

import sys
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import maxmargin as mm
from maxmargin.engine.shard import Shard
from maxmargin.errors import CheckpointError
from maxmargin.saving.container import read_container, write_container
from maxmargin.structures.chain.problem import Chain
from maxmargin.structures.multiclass.problem import Multiclass
from solver_tables import all_solvers

SOLVERS = all_solvers() | {
    "one-slack": mm.OneSlack(cache=3),
    "line-search": mm.OneSlack(qp="line-search"),
}
C, TOL, MAX_ITER = 0.5, 1e-2, 60


def put(value, dtype=None):
    return lambda a: np.full_like(a, value) if dtype is None else a.astype(dtype)


def one(value):
    """A single number in the middle."""

    def alter(a):
        a = a.copy()
        a.reshape(-1)[a.size // 2 :][:1] = value
        return a

    return alter


#: What is done to an array; those that NumPy cannot do are left out.
ALTERATIONS = {
    "all -1": put(-1), "one -1": one(-1), "all 7": put(7), "one 7": one(7),
    "all 2**30": put(2**30), "one 2**30": one(2**30), "all nan": put(np.nan),
    "one nan": one(np.nan), "one inf": one(np.inf),
    "as int64": put(0, np.int64), "as float32": put(0, np.float32), "as bool": put(0, bool),
    "transposed": lambda a: a.T, "fortran": np.asfortranarray, "flat": np.ravel,
    "shorter": lambda a: a[:-1], "longer": lambda a: np.concatenate([a, a]),
    "empty": lambda a: a[:0], "scalar": lambda a: np.zeros((), a.dtype),
}  # fmt: skip


def examples(kind):
    random = np.random.RandomState(3)
    if kind == "multiclass":
        return Multiclass(3), random.randn(15, 4), random.randint(0, 3, 15)
    if kind == "wide chain":  # planes long enough for Gram matrices that are kept
        X = [sp.csr_matrix(random.randn(length, 12)) for length in (4, 2, 5, 3, 1)]
    else:
        X = [random.randn(length, 3) for length in (4, 2, 5, 3, 1, 2)]
    return Chain(3), X, [random.randint(0, 3, x.shape[0]) for x in X]


def judge(problem, X, Y, result, optimum):
    """Whether a certificate is true."""
    shard = Shard(problem, problem.pack(X, Y))
    labels = shard.new_labels()
    shard.oracle(result.w, 1, labels, shard.everyone)
    P = 0.5 * result.w @ result.w + C * shard.collect(result.w, 1, labels)[2].sum()
    if not abs(P - result.primal) <= 1e-6 * max(P, 1):
        return f"WRONG: P(w) is {P}, not {result.primal}"
    if not result.dual <= optimum + 1e-6:
        return f"WRONG: dual {result.dual} above {optimum}"
    if result.converged and not result.primal <= optimum + 2 * TOL * C * len(X):
        return f"WRONG: converged at {result.primal}, not at {optimum}"
    return f"honest {result.status.name}"


def altered(entries):
    """Each array with each alteration that changes it: its name, the alteration, the arrays."""
    for number, array in entries.items():
        for what, alter in ALTERATIONS.items():
            try:
                with np.errstate(all="ignore"):
                    other = alter(array)
            except (ValueError, OverflowError, TypeError):
                continue
            same = other.dtype == array.dtype and other.shape == array.shape
            order = other.flags.f_contiguous == array.flags.f_contiguous
            if not (same and order and np.array_equal(other, array)):
                yield number, what, entries | {number: other}


def with_another_number(value, new):
    """Each copy of a JSON value in which one number is another one."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from (value | {name: other} for other in with_another_number(part, new))
    elif isinstance(value, list):
        for k, part in enumerate(value):
            others = with_another_number(part, new)
            yield from ([*value[:k], other, *value[k + 1 :]] for other in others)
    elif isinstance(value, int | float) and not isinstance(value, bool) and value != new:
        yield new


def main(folder, kind):
    problem, X, Y = examples(kind)
    optimum = mm.train(problem, X, Y, C=C, solver="one-slack", tol=1e-8).primal
    for name, solver in SOLVERS.items():
        path = folder / f"{name}.ck"
        run = partial(mm.train, problem, X, Y, C=C, solver=solver, tol=TOL, checkpoint=path)
        run(max_iter=4)
        meta, entries = read_container(path)
        cases = [(number, what, meta, arrays) for number, what, arrays in altered(entries)]
        for new in (0, 2**31):
            others = with_another_number(meta, new)
            cases += [("JSON", f"a number {new}", other, entries) for other in others]
        for number, what, other, arrays in cases:
            print(name, number, what, sep="\t", end="\t", flush=True)
            write_container(path, other, arrays)
            try:
                found = judge(problem, X, Y, run(resume=True, max_iter=MAX_ITER), optimum)
            except CheckpointError as error:
                found = f"refused: {error}".replace("\n", " ")
            except Exception as error:
                found = f"RAW {error!r}".replace("\n", " ")
            print(found, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
