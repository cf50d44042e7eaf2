"""Table 3 and figure 1: SDM against stochastic gradient descent for CRFs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..framework.display import Column, percent2, ratio, seconds
from ..framework.figures import GREY, clean, legend, log_scale, style
from ..framework.peers import MODULE, run_sgd
from ..framework.registry import Verdict, experiment
from ..framework.runs import TokenAccuracy, Watch, run_values, train_chain
from ..framework.session import Group
from .sdm_tables import DATA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..framework.session import Session

C = 0.1
ITERATIONS = 50

SGD, SDM = "CRFsuite l2sgd", "SDM"

#: The tasks, with the paper's seconds (SDM, SGD).
TASKS = {
    "POS 7200": (65, 1928),
    "WSJ POS": (207, 7656),
    "BioNLP": (67, 700),
    "BioCreative": (31, 79),
    "chunking": (65, 865),
}


@experiment(
    "sdm-2011-table3-sgd",
    title="SDM (C = 0.1) against SGD for CRFs (Balamurugan et al. 2011, table 3 and figure 1)",
    claim="SDM reaches the final test accuracy of stochastic gradient descent (CRFsuite's l2sgd, "
    "50 iterations) faster than that takes on every task, on most of them at least 10 times.",
    data=DATA,
    peers=(MODULE,),
)
def run(session: Session) -> Verdict:
    """SGD first, once; then SDM until its averaged w has the same test accuracy."""
    grid = {task: measure_pair(session, task) for task in TASKS}
    show(session, grid)
    session.draw(lambda figure: paint(figure, grid), width=12, height=6.6)
    return judge(grid)


def measure_pair(session: Session, task: str) -> list[Group]:
    """Both programs on one task."""
    n, cap = (150, 5.0) if session.quick else (session.tagged(task).n, 120.0)
    iterations = 10 if session.quick else ITERATIONS
    sgd = session.measure(
        {"task": task, "n": n, "program": SGD, "iterations": iterations},
        lambda seed: run_sgd(session.tagged(task, n), iterations),
        repeats=1,
    )
    wanted = sgd.median("accuracy")
    sdm = session.measure(
        {"task": task, "n": n, "program": SDM, "C": C, "cap": cap},
        lambda seed: run_sdm(session, task, n, wanted, cap, seed),
    )
    return [sgd, sdm]


def run_sdm(
    session: Session, task: str, n: int, wanted: float, cap: float, seed: int
) -> dict[str, Any]:
    """Test after every iteration until the accuracy is reached.

    Training then continues for three times as long, for the picture.
    """
    data = session.tagged(task, n)
    reached: list[float] = []

    def done(record: Any, accuracy: float | None) -> bool:
        if accuracy is not None and accuracy >= wanted and not reached:
            reached.append(record.time)
        return bool(reached) and record.time > 4 * reached[0]

    watch = Watch(TokenAccuracy(data), lambda state: state.average, done, growth=1.0)
    result = train_chain(
        data, C=C, solver="sdm", tol=1e-4, max_time=cap, random_state=seed, callbacks=[watch]
    )
    return {
        **run_values(result),
        "reach": reached[0] if reached else None,
        "best": max(accuracy for _, _, accuracy in watch.points),
        "points": [[time, accuracy] for time, _, accuracy in watch.points],
    }


def show(session: Session, grid: dict[str, list[Group]]) -> None:
    """Seconds of both and their ratio, next to the paper's."""
    columns = [
        Column("task", "task"),
        Column("accuracy", "test accuracy", percent2),
        Column("sgd", "SGD s", seconds),
        Column("reach", "SDM s", seconds),
        Column("ratio", "ratio", ratio),
        Column("paper", "paper s"),
        Column("paper_ratio", "ratio"),
    ]
    n = ", ".join(f"{task} {groups[0].config['n']:,}" for task, groups in grid.items())
    session.table(
        [together(task, *groups) for task, groups in grid.items()], columns,
        f"SGD for {grid['chunking'][0].config['iterations']} iterations, measured once, and the "
        f"seconds until SDM tests as well; one core\nn: {n}",
    )  # fmt: skip


def together(task: str, sgd: Group, sdm: Group) -> Group:
    """One row of the table."""
    ours, theirs = TASKS[task]
    took, accuracy = sgd.median("time"), sgd.median("accuracy")
    config = {
        "task": task,
        "accuracy": accuracy,
        "sgd": took,
        "ratio": took / sdm.median("reach"),
        "paper": f"{theirs} / {ours}",
        "paper_ratio": ratio(theirs / ours),
    }
    return Group(config, sdm.values)


def judge(grid: dict[str, list[Group]]) -> Verdict:
    """The ratio of every pair."""
    rows = {task: together(task, *groups) for task, groups in grid.items()}
    ratios = {task: row.config["ratio"] for task, row in rows.items()}
    tenfold = sum(value >= 10 for value in ratios.values())
    lines = [
        f"SDM is faster on {sum(value > 1 for value in ratios.values())} of {len(ratios)}, at "
        f"least 10 times on {tenfold}"
    ]
    lines += [
        f"{task}: SGD's {percent2(row.config['accuracy'])} was not reached, best "
        f"{percent2(row.median('best'))}"
        for task, row in rows.items()
        if not ratios[task]
    ]
    return Verdict(min(ratios.values()) > 1 and 2 * tenfold > len(ratios), "\n".join(lines))


def paint(figure: Figure, grid: dict[str, list[Group]]) -> None:
    """Test accuracy over time, a panel for each task."""
    panels = figure.subplots(2, 3).ravel()
    for axes in panels[len(grid) :]:
        axes.remove()
    for place, (task, groups) in enumerate(grid.items()):
        _panel(panels[place], task, *groups)
        panels[place].set_ylabel("test tokens right, %" if place % 3 == 0 else "", fontsize=9.5)
    legend(figure, panels[0], columns=3)


def _panel(axes: Axes, task: str, sgd: Group, sdm: Group) -> None:
    final = 100 * sgd.median("accuracy")
    axes.axhline(final, color=GREY, linestyle="--", linewidth=1, label="SGD at its end")
    for number, (group, key) in enumerate(((sdm, "points"), (sgd, "curve"))):
        points = [(time, 100 * accuracy) for time, accuracy in group.values[0][key]]
        label = group.config["program"]
        axes.plot(*zip(*points, strict=True), label=label, **style(number, markersize=3))
    axes.set_ylim(bottom=max(axes.get_ylim()[0], final - 12))
    log_scale(axes, "x")
    clean(axes, f"{task}, n = {sgd.config['n']:,}", "seconds", "")
