"""Chunking (CoNLL 2000) against CRFsuite, and against what SVM-HMM achieved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..framework.display import Column, count, percent2, seconds
from ..framework.figures import GREY, clean, legend, log_scale, style
from ..framework.memory import peak_of_chain
from ..framework.peers import MODULE, PEERS, PERCEPTRON, converter, measure_perceptron, run_peer
from ..framework.registry import Verdict, experiment
from ..framework.targets import OURS, cap, measure_to, show_runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

TASK = "chunking"

#: C n = 893.6 of all 8,936 sentences.
C = 0.1

#: The primal values at which SVM-HMM ended with -e 0.5 and -e 0.1, of all sentences.
TARGETS = (1390.0, 1171.4)
N = 8_936

#: SVM-HMM V3.10: seconds to the two values, test accuracy of the first, peak memory.
SVM_HMM = {"seconds": (90.8, 171.9), "accuracy": 0.9593, "memory_mb": 786.0}

#: The fraction of the averaged perceptron's time in which each value must be reached.
PARTS = (0.2, 0.5)

#: Number of sentences of a quick run, and a factor of its primal values: those of all sentences in
#: proportion are multiplied by it, because few sentences are harder to fit.
QUICK, EASIER = 500, 1.5


@experiment(
    "sdm-2011-chunking-crfsuite",
    title="Chunking (CoNLL 2000), C n = 893.6: training time and test accuracy",
    claim="The default solver certifies SVM-HMM's primal values 1390.0 and 1171.4 in at most 0.2 "
    "and 0.5 of the time of CRFsuite's averaged perceptron, with a test accuracy not below the "
    "peers' nor SVM-HMM's 95.93 %, in a process that needs less than SVM-HMM's 786 MB.",
    data=("conll2000",),
    peers=(MODULE,),
)
def run(session: Session) -> Verdict:
    """The other programs first, then each solver to each of the two primal values."""
    n = QUICK if session.quick else N
    peers = [measure_peer(session, program, n) for program in PEERS]
    goals = [target(number, n) for number in range(len(TARGETS))]
    ours = [measure_to(session, TASK, n, C, s, goal) for s in OURS for goal in goals]
    memory = session.measure(
        {"program": "memory", "n": n},
        lambda seed: peak_of_chain(TASK, session.directory, n, C, goals[0], "auto", cap(session)),
        repeats=1,
    )
    show_runs(session, peers, ours, f"n = {n:,}, one core; l2sgd and lbfgs measured once")
    show_memory(session, memory)
    session.draw(lambda figure: paint(figure, peers, ours))
    return judge(peers, ours, memory)


def target(number: int, n: int) -> float:
    """The primal value of this number for n sentences."""
    return TARGETS[number] if n == N else round(EASIER * TARGETS[number] * n / N, 1)


def measure_peer(session: Session, program: str, n: int) -> Group:
    """CRFsuite: its two fast algorithms as often as our own runs, the two slow ones once."""
    if program == PERCEPTRON:
        return measure_perceptron(session, n)
    slow = PEERS[program][0] in ("l2sgd", "lbfgs")
    return session.measure(
        {"program": program, "task": TASK, "n": n},
        lambda seed: run_peer(session.tagged(TASK, n), program),
        repeats=1 if slow else None,
    )


def show_memory(session: Session, memory: Group) -> None:
    """The peak of a process."""
    columns = [
        Column("loaded_mb", "peak before training, MB", count),
        Column("peak_mb", "peak at the end, MB", count),
    ]
    session.table([memory], columns, "memory of a whole process with the default solver")


def judge(peers: list[Group], ours: list[Group], memory: Group) -> Verdict:
    """Parts of the averaged perceptron's time, accuracies, and the peak of memory."""
    perceptron = peers[0].median("time")
    parts = [group.median("reach") / perceptron for group in ours]
    best_peer = max(group.median("accuracy") for group in peers)
    right = [group.median("accuracy") for group in ours]
    peak, converted = memory.median("peak_mb"), converter(peers[0])
    lines = [
        f"{group.config['program']} to {group.config['target']:,.1f}: "
        + (f"{part:.2f} of the averaged perceptron's time" if math.isfinite(part) else "never")
        + f", test accuracy {percent2(accuracy)}"
        for group, part, accuracy in zip(ours, parts, right, strict=True)
    ]
    hmm = " and ".join(seconds(converted(took)) for took in SVM_HMM["seconds"])
    lines.append(
        f"averaged perceptron {seconds(perceptron)} s; best peer {percent2(best_peer)}; SVM-HMM "
        f"took {hmm} s, converted; peak {count(peak)} MB"
    )
    passed = all(part <= most for part, most in zip(parts, PARTS, strict=False))
    passed &= min(right[:2]) >= max(best_peer, SVM_HMM["accuracy"])
    return Verdict(passed and peak < SVM_HMM["memory_mb"], "\n".join(lines))


def paint(figure: Figure, peers: list[Group], ours: list[Group]) -> None:
    """Test accuracy over training time: a point for each peer, two for each solver."""
    axes = figure.subplots()
    curves = [(g.config["program"], "time", [g]) for g in peers]
    curves += [(name, "reach", [g for g in ours if g.config["program"] == name])
               for name in OURS.values()]  # fmt: skip
    for number, (name, key, groups) in enumerate(curves):
        points = [(g.median(key), 100 * g.median("accuracy")) for g in groups]
        reached = [point for point in points if math.isfinite(point[0])]
        label = f"CRFsuite {name}" if key == "time" else f"maxmargin, {name}"
        if len(reached) < len(points):
            label += f" (reached {len(reached)} of {len(points)})"
        look = style(number, markersize=9, linestyle="none" if key == "time" else "-")
        axes.plot([x for x, _ in reached], [y for _, y in reached], label=label, **look)
    if peers[0].config["n"] == N:
        took = converter(peers[0])(SVM_HMM["seconds"][0])
        label = "SVM-HMM -e 0.5, time converted"
        axes.plot(took, 100 * SVM_HMM["accuracy"], "*", color=GREY, markersize=13, label=label)
    log_scale(axes, "x")
    clean(
        axes, f"n = {peers[0].config['n']:,}, one core; ours to the two primal values of SVM-HMM",
        "seconds (features, packing and compiling apart)", "test tokens right, % (the axis is cut)",
    )  # fmt: skip
    legend(figure, axes, columns=4)
