"""The same bad inputs for maxmargin, CRFsuite and scikit-learn: python -m tools.soak.compare.

What is found goes to ``comparison.json``, from which ``page.py`` writes the documentation. Delete
the file to ask again.
"""

from __future__ import annotations

import json
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import scipy.sparse as sp

import maxmargin as mm

from .alter import alter_bytes
from .children import end, fork
from .programs import CRFsuite, MaxMargin, Program, ScikitLearn
from .trial import Kind, Trial
from .worker import run_trials

COMPARISON = Path(__file__).with_name("comparison.json")
SEED = 0

ERROR, SAME, OTHER = "an error", "the same predictions", "other predictions"
ACCEPTED, WHOLE, LOST = "accepted", "the old or the new model", "no model that can be read"


def compare(program: Program, path: Path) -> Callable[[Trial, bytes], None]:
    """Write bytes to a file, load it as a model, and compare its predictions."""
    program.save(path)
    expected = program.predict(path)

    def check(trial: Trial, content: bytes) -> None:
        place = trial.folder / path.name
        place.write_bytes(content)
        try:
            found = program.predict(place)
        except Exception:
            trial.count(ERROR)
        else:
            trial.count(SAME if found == expected else OTHER)

    return check


def truncated(program: Program, folder: Path) -> Callable[[Trial], None]:
    """Model files cut off at a random byte."""
    check = compare(program, folder / "model")
    content = (folder / "model").read_bytes()
    return lambda trial: check(trial, content[: trial.random.randrange(len(content))])


def altered(program: Program, folder: Path) -> Callable[[Trial], None]:
    """Model files with a few altered bytes."""
    check = compare(program, folder / "model")
    content = (folder / "model").read_bytes()
    return lambda trial: check(trial, alter_bytes(trial.random, content))


def not_a_number(program: Program, folder: Path) -> Callable[[Trial], None]:
    """NaN among the values of the features."""
    return lambda trial: _attempt(trial, program.fit_nan)


def out_of_range(program: Program, folder: Path) -> Callable[[Trial], None]:
    """A CSR matrix with one index that is out of range."""
    X, y = mm.datasets.make_multiclass(60, 20, 4)

    def trial(trial: Trial) -> None:
        M = sp.csr_matrix(X)
        M.indices[trial.random.randrange(len(M.indices))] = trial.random.choice(
            (-1, 20, 1000, 10**6, 2**30)
        )
        _attempt(trial, lambda: program.fit(M, y))

    return trial


def killed(program: Program, folder: Path) -> Callable[[Trial], None]:
    """A process that is killed while it saves over an older model."""
    expected = []
    for variant in (0, 1):
        program.save(folder / "model", variant)
        expected.append(program.predict(folder / "model"))

    def trial(trial: Trial) -> None:
        path = trial.folder / "model"
        program.save(path, 0)

        def save() -> None:
            for k in range(10_000):
                program.save(path, 1 - k % 2)

        pid = fork(save)
        time.sleep(trial.random.uniform(0.0, 0.1))
        end(pid, kill=True)
        try:
            whole = program.predict(path) in expected
        except Exception:
            whole = False
        trial.count(WHOLE if whole else LOST)

    return trial


def _attempt(trial: Trial, call: Callable[[], Any]) -> None:
    try:
        call()
    except Exception:
        trial.count(ERROR)
    else:
        trial.count(ACCEPTED)


#: What is done, and how often.
INPUTS: dict[str, tuple[Any, int]] = {
    "a model file, cut off at a random byte": (truncated, 500),
    "a model file with a few altered bytes": (altered, 500),
    "NaN among the values of the features, in training": (not_a_number, 10),
    "a CSR matrix with an index out of range, in training": (out_of_range, 50),
    "killed (-9) while saving over an older model": (killed, 100),
}


def ask(program: Program, make: Any, n: int, folder: Path) -> dict[str, int]:
    """How often what happened, crashes and hangs among it."""
    kind = Kind(f"{program.name} {make.__name__}", "", make(program, folder))
    found: Counter[str] = Counter()
    for outcome in run_trials(kind, None, SEED, range(n), folder):
        found.update(outcome.counts)
        if outcome.failure:
            found[outcome.failure] += 1
    return dict(found)


def main() -> None:
    """Ask all, and write the file after each answer; what it has of these versions is kept."""
    warnings.simplefilter("ignore")
    programs = [MaxMargin(), CRFsuite(), ScikitLearn()]
    versions = {program.name: program.version for program in programs}
    known = json.loads(COMPARISON.read_text()) if COMPARISON.exists() else {}
    table = known["inputs"] if known.get("versions") == versions else {}
    for what, (make, n) in INPUTS.items():
        answers = table.setdefault(what, {})
        for program in programs:
            if program.name in answers or (make is out_of_range and not program.csr):
                continue
            with tempfile.TemporaryDirectory(prefix="soak-") as folder:
                answers[program.name] = ask(program, make, n, Path(folder))
            print(f"{what}, {program.name}: {answers[program.name]}", flush=True)
            COMPARISON.write_text(json.dumps({"versions": versions, "inputs": table}, indent=1))


if __name__ == "__main__":
    main()
