"""Training that is killed at random moments and resumed: bit for bit the undisturbed run."""

from __future__ import annotations

import pickle
import time
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import maxmargin as mm
from maxmargin.errors import MaxMarginError
from maxmargin.registry import all_structures

from ..children import end, fork, is_done
from ..problems import SOLVERS, trains
from ..trial import LEFT, WRONG, FoundError, Kind, Trial


class Case(NamedTuple):
    """A run: the structure's number, the tiny example's number, solver, rescaling."""

    structure: int
    example: int
    solver: str
    rescaling: str


@cache
def _tiny(structure: int, example: int) -> Any:
    return all_structures()[structure].examples()[example]


def prepare(folder: Path) -> list[Case]:
    """Every solver and variant with every tiny example; and kernels."""
    cases = [
        Case(s, e, solver, rescaling)
        for s, structure in enumerate(all_structures())
        for e, tiny in enumerate(structure.examples())
        for solver in SOLVERS
        for rescaling in tiny.rescalings
        if trains(SOLVERS[solver], tiny, rescaling)
    ]
    kernels = [Case(-1, -1, name, "margin") for name in KERNELS]
    for case in kernels:
        run(case, folder / "warm-up.ck", 2, resume=False)
    return cases + kernels


KERNELS = {
    "kernel, exact": {"kernel": "rbf"},
    "kernel, basis": {"kernel": "rbf", "n_basis": 6},
    "kernel, sampled": {"kernel": "rbf", "solver": "sampled-linear"},
    "kernel, n-slack": {"kernel": "poly", "solver": "n-slack"},
}


def run(case: Case, path: Path, max_iter: int = 40, resume: bool = True) -> Any:
    """A run with a checkpoint after every iteration."""
    checkpoint = mm.Checkpoint(path, every=0, resume=resume)
    if case.structure < 0:
        X, y = mm.datasets.make_multiclass(40, 3, 3)
        options = {"C": 2.0, "tol": 1e-5, "max_iter": max_iter, **KERNELS[case.solver]}
        return mm.MulticlassSVC(checkpoint=checkpoint, **options).fit(X, y).result_
    tiny = _tiny(case.structure, case.example)
    return mm.train(
        tiny.problem, tiny.X, tiny.Y, C=0.5, solver=SOLVERS[case.solver], tol=1e-7,
        rescaling=case.rescaling, max_iter=max_iter, checkpoint=checkpoint, resume=resume,
    )  # fmt: skip


def facts(result: Any) -> tuple[Any, ...]:
    """All of a result but its times."""
    history = [(r.iteration, *r[2:]) for r in result.history]
    numbers = (result.primal, result.dual, result.status.name, result.n_oracle, result.n_iter)
    return (result.w.tobytes(), *numbers, history)


def trial(trial: Trial) -> None:
    """Kill a run several times, let it end, and compare."""
    random, case = trial.random, trial.random.choice(trial.ready)
    whole, path, answer = (trial.folder / name for name in ("whole.ck", "run.ck", "answer"))
    begin = time.monotonic()
    try:
        expected = facts(run(case, whole))
    except MaxMarginError:
        return trial.count("refused")  # not every loss has several outputs
    alone = time.monotonic() - begin

    def train() -> None:
        answer.write_bytes(pickle.dumps(facts(run(case, path))))

    for life in range(random.randint(1, 8) + 1):
        pid = fork(train)
        if life < 8:
            time.sleep(random.uniform(0.0, 0.7) * alone)
        killed = not is_done(pid)
        if end(pid, kill=killed and life < 8):
            trial.count("kills")
        else:
            break
    else:
        end(fork(train))
    check(expected, pickle.loads(answer.read_bytes()), case)
    left = {p.name for p in trial.folder.iterdir()} - {"whole.ck", "run.ck", "answer"}
    if left:
        raise FoundError(LEFT, f"{case}: {sorted(left)}")


def check(expected: tuple[Any, ...], found: tuple[Any, ...], case: Case) -> None:
    """Raise unless both runs are the same to the last bit."""
    if expected == found:
        return
    a, b = (np.frombuffer(facts[0]) for facts in (expected, found))
    far = np.abs(a - b).max() if a.shape == b.shape else "the lengths"
    raise FoundError(WRONG, f"{case}: w differs by {far}; {expected[1:6]}, then {found[1:6]}")


KIND = Kind(
    "killed while training",
    "runs of every solver and structure with a checkpoint after every iteration, killed (-9) "
    "several times at random moments and resumed; the result is bit for bit that of a run left "
    "alone",
    trial, share=2.0, prepare=prepare, batch=40, seconds=20.0,
)  # fmt: skip
