"""Covertype: time until liblinear's primal is reached."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, ratio, seconds
from ..framework.figures import GREY, clean, legend, log_scale, style
from ..framework.memory import peak_growth
from ..framework.registry import Verdict, experiment
from ..framework.runs import (
    accuracy,
    curve,
    hinge_primal,
    run_values,
    stop_at,
    time_to,
    train_multiclass,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

NAME = "joachims-2009-covertype-liblinear"
C = 1.0
LIBLINEAR = "liblinear"

#: Relative distances above liblinear's primal whose times are measured.
MARGINS = {"reach": 0.0, "reach_01": 1e-3, "reach_1": 1e-2}


def solvers() -> dict[str, Any]:
    """The runs that are set against liblinear."""
    from maxmargin import OneSlack

    return {
        "default": "auto",
        "SDM": "sdm",
        "one-slack as printed": OneSlack(step=1.0, cache=0),
        "one-slack, short steps": OneSlack(step=0.1, cache=0),
    }


@experiment(
    NAME,
    title="Covertype, 7 classes, C = 1: seconds until liblinear's primal is reached",
    claim="The default solver reaches liblinear's Crammer-Singer primal at least 5 times faster "
    "than liblinear, and its memory grows by less than 3 times the size of the data.",
    data=("covertype",),
)
def run(session: Session) -> Verdict:
    """liblinear first; then each solver until its primal is as low, or for ``cap`` seconds."""
    n, cap = (10_000, 4.0) if session.quick else (session.load("covertype").n, 120.0)
    peer = session.measure(
        {"program": LIBLINEAR, "n": n}, lambda seed: run_liblinear(session, n, seed)
    )
    targets = peer.numbers("primal")
    ours = [
        session.measure(
            {"program": name, "n": n, "cap": cap},
            lambda seed, solver=solver: run_solver(session, n, seed, solver, targets[seed], cap),
        )
        for name, solver in solvers().items()
    ]
    memory = session.measure(
        {"program": "memory", "n": n},
        lambda seed: peak_growth(session.directory, n, seed, max_time=10.0),
    )
    show(session, peer, ours, memory)
    session.draw(lambda figure: paint(figure, peer, ours))
    return judge(peer, ours[0], memory)


def run_liblinear(session: Session, n: int, seed: int) -> dict[str, Any]:
    """LinearSVC as its users call it for this problem."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import LinearSVC

    data = session.load("covertype", seed).first(n)
    peer = LinearSVC(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=1e-2, max_iter=100,
        random_state=seed,
    )  # fmt: skip
    with warnings.catch_warnings():
        # It stops at its tolerance: for this loss liblinear does not obey max_iter, and scikit-
        # learn warns only because more passes were made than max_iter says.
        warnings.simplefilter("ignore", ConvergenceWarning)
        start = time.perf_counter()
        peer.fit(data.X, data.y)
        took = time.perf_counter() - start
    primal = hinge_primal(peer.coef_, data.X, data.y, C)
    return {
        "time": took, "primal": primal, "accuracy": accuracy(peer.coef_, data),
        **dict.fromkeys(MARGINS, took),
    }  # fmt: skip


def run_solver(
    session: Session, n: int, seed: int, solver: Any, target: float, cap: float
) -> dict[str, Any]:
    """Train until the primal is as low as ``target``."""
    data = session.load("covertype", seed).first(n)
    result = train_multiclass(
        data, C=C, solver=solver, tol=1e-7, max_time=cap, random_state=seed,
        callbacks=[stop_at(target)],
    )  # fmt: skip
    coef = result.w.reshape(-1, data.classes).T
    return {
        **run_values(result),
        **{key: time_to(result, target * (1 + part)) for key, part in MARGINS.items()},
        "accuracy": accuracy(coef, data),
        "above": result.primal / target - 1,
        "curve": curve(result),
    }


def show(session: Session, peer: Group, ours: list[Group], memory: Group) -> None:
    """Times and accuracies, then the memory of the default run."""
    columns = [
        Column("program", "program"),
        Column("reach_1", "s to +1 %", seconds),
        Column("reach_01", "s to +0.1 %", seconds),
        Column("reach", "s to the primal", seconds),
        Column("primal", "last primal", count),
        Column("accuracy", "test accuracy", lambda value: f"{100 * value:.2f} %"),
        Column("compile_time", "compile s", lambda value: f"{value:.1f}"),
    ]
    n, cap = ours[0].config["n"], ours[0].config["cap"]
    session.table(
        [peer, *ours], columns, f"n = {n:,}, one core; ours stop at {cap:.0f} s if not there before"
    )
    columns = [
        Column("data_mb", "data MB", count),
        Column("growth_mb", "peak beyond libraries and data, MB", count),
        Column("multiple", "peak / data", ratio),
    ]
    session.table([memory], columns, "memory of the default solver")


def judge(peer: Group, default: Group, memory: Group) -> Verdict:
    """Ratios of median times, for the primal itself and for the two margins."""
    took, multiple = peer.median("time"), memory.median("multiple")
    speed = {key: took / default.median(key) for key in MARGINS}
    words = {"reach_1": "to within 1 %", "reach_01": "to within 0.1 %", "reach": "to its primal"}
    ratios = ", ".join(
        f"{word} {ratio(speed[key]) if speed[key] else 'not reached'}"
        for key, word in words.items()
    )
    numbers = (
        f"liblinear took {seconds(took)} s; its time / ours: {ratios}\n"
        f"at the end our primal was {100 * default.median('above'):+.3f} % from liblinear's; "
        f"memory grew by {ratio(multiple)} the data"
    )
    return Verdict(speed["reach"] >= 5 and multiple < 3, numbers)


def paint(figure: Figure, peer: Group, ours: list[Group]) -> None:
    """How far above liblinear's primal each run is, over time; the first repeat of each."""
    axes = figure.subplots()
    target, took, floor = peer.values[0]["primal"], peer.values[0]["time"], 1e-4
    for number, group in enumerate(ours):
        values, look = group.values[0], style(number, markersize=3)
        points = [(t + values["prepare_time"], p / target - 1) for t, p in values["curve"]]
        points = [(x, y) for x, y in points if y > floor]
        if values["reach"] is not None:
            points.append((values["reach"], floor))
            star = look | {"marker": "*", "markersize": 13, "linestyle": "none"}
            axes.plot(*points[-1], clip_on=False, zorder=5, **star)
        axes.plot(*zip(*points, strict=True), label=group.config["program"], **look)
    label = f"{LIBLINEAR} ends (stars: its primal reached)"
    axes.axvline(took, color=GREY, linestyle="--", label=label)
    axes.set_yscale("log")
    axes.set_ylim(bottom=floor)
    axes.set_yticks([1e-4, 1e-3, 1e-2, 1e-1, 1], ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"])
    log_scale(axes, "x")
    clean(
        axes, f"n = {peer.config['n']:,}, one core",
        "seconds (packing included, compiling not)", "primal above liblinear's",
    )  # fmt: skip
    legend(figure, axes, columns=4)
