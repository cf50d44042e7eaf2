"""SDM against the recorded results of SVM-HMM, the papers' 1-slack program, on our features.

Our own 1-slack runs may be slower or faster than that program, so a ratio to them alone would say
little about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..framework.display import Column, ratio, seconds
from ..framework.peers import converter, measure_perceptron
from ..framework.runs import run_values, stop_at_dual, time_to_dual, train_chain
from ..framework.sequences import OCR

if TYPE_CHECKING:
    from ..framework.session import Group, Session

C = 0.1
CAP = 120.0

#: Sentences of the averaged perceptron's task.
CHUNKING = 8_936


class Run(NamedTuple):
    """A run of SVM-HMM V3.10: its option -e, its sequences, seconds and last dual value."""

    e: float
    n: int
    seconds: float
    dual: float


RUNS = {
    "chunking": Run(0.1, 8_936, 171.9, 1084.79),
    "POS": Run(0.5, 8_936, 277.4, 507.05),
    OCR: Run(0.1, 6_251, 24.3, 1916.36),
}


def measure(session: Session) -> list[Group]:
    """SDM until its dual value is SVM-HMM's; also shown as a table."""
    convert = converter(measure_perceptron(session, CHUNKING))
    groups = []
    for task, run in RUNS.items():
        group = session.measure(
            {"task": task, "n": run.n, "C": C, "program": "SDM", "dual": run.dual, "cap": CAP},
            lambda seed, task=task, run=run: _train(session, task, run, seed),
        )
        took = convert(run.seconds)
        more = {"e": run.e, "svm_hmm": took, "ratio": took / group.median("reach")}
        groups.append(group._replace(config=group.config | more))
    columns = [
        Column("task", "task"),
        Column("e", "-e", lambda value: f"{value:g}"),
        Column("dual", "dual", lambda value: f"{value:,.2f}"),
        Column("svm_hmm", "SVM-HMM s", seconds),
        Column("reach", "SDM s", seconds),
        Column("ratio", "ratio", ratio),
    ]
    session.table(groups, columns, "to the last dual value of SVM-HMM V3.10, its time converted")
    return groups


def _train(session: Session, task: str, run: Run, seed: int) -> dict[str, Any]:
    result = train_chain(
        session.tagged(task, run.n), C=C, solver="sdm", tol=1e-7, max_time=CAP,
        random_state=seed, callbacks=[stop_at_dual(run.dual)],
    )  # fmt: skip
    return run_values(result) | {"reach": time_to_dual(result, run.dual)}


def say(groups: list[Group]) -> list[str]:
    """A line for the verdict."""
    ratios = [f"{g.config['task']} {ratio(g.config['ratio'])}" for g in groups]
    return [f"time of SVM-HMM, converted / SDM: {', '.join(ratios)}"] if ratios else []
