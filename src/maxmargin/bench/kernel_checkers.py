"""Checkers, Adult and Covertype with kernels beside libsvm: figures 1 to 3 of paper 001."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .display import percent2, ratio, seconds
from .figures import clean, legend, log_scale, style, unfinished
from .kernel_data import Task
from .kernel_runs import (
    BASIS,
    CONSTANT,
    LIBSVM,
    LINEAR,
    measure_libsvm,
    measure_ours,
    methods,
    show,
)
from .registry import Verdict, experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from .session import Group, Session

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)

#: libsvm is run up to these sizes; beyond they would take hours.
LIBSVM_SIZES = {"checkers": 100_000, "covertype": 60_000}


@experiment(
    "001-checkers",
    title="Checkers, rbf gamma = 10, C = 1: training as n grows (figures 1 to 3)",
    claim="At n = 100,000 the best method is at least 10 times faster than libsvm and the sampled "
    "ones are not slower, with test errors within 0.5 points of libsvm's; the time of the linear "
    "method grows linearly (exponent at most 1.2) and an iteration of the constant one not at all "
    "(exponent at most 0.3).",
    data=("checkers",),
)
def run_checkers(session: Session) -> Verdict:
    """Every size; libsvm up to 100,000."""
    sizes = SIZES[:2] if session.quick else SIZES
    curves = scale(session, "checkers", sizes)
    last = max(n for n in sizes if n <= LIBSVM_SIZES["checkers"])
    return judge(curves, last, faster=10.0, least=1.0, margin=0.005)


@experiment(
    "001-covertype-kernel",
    title="Covertype, class 1 against the rest, rbf gamma = 16, C = 1 (figures 1 to 3)",
    claim="On all 522,911 examples our methods end within 10 minutes, and at the largest size that "
    "libsvm was run at the best of them is at least 3 times faster.",
    data=("covertype",),
)
def run_covertype(session: Session) -> Verdict:
    """Every size up to all examples."""
    full = session.load("covertype").n
    sizes = (2_000, 5_000) if session.quick else (10_000, 30_000, 60_000, 200_000, full)
    curves = scale(session, "covertype", sizes, repeats=1)
    last = max(n for n in sizes if n <= LIBSVM_SIZES["covertype"])
    verdict = judge(curves, last, faster=3.0, least=0.0, margin=np.inf)
    ended = all(groups[-1].every("converged") for name, groups in curves.items() if name != LIBSVM)
    numbers = verdict.numbers + f"\nall methods ended on n = {sizes[-1]:,}: {ended}"
    return Verdict(verdict.passed and ended, numbers)


def scale(
    session: Session, name: str, sizes: tuple[int, ...], repeats: int | None = None
) -> dict[str, list[Group]]:
    """Every program at every size, with a table and a picture."""
    curves = {
        LIBSVM: [
            measure_libsvm(session, Task(name, n), repeats=1 if n >= 60_000 else 3)
            for n in sizes
            if n <= LIBSVM_SIZES[name]
        ]
    }
    for method, options in methods().items():
        curves[method] = [
            measure_ours(session, Task(name, n), method, options, repeats=repeats) for n in sizes
        ]
    show(session, [g for groups in curves.values() for g in groups], "one core")
    session.draw(lambda figure: paint(figure, curves), width=12)
    return curves


def exponent(groups: list[Group], key: str) -> float:
    """Slope of the logarithm of a value over that of n, by least squares."""
    n = [group.config["n"] for group in groups]
    return float(np.polyfit(np.log(n), np.log([g.median(key) for g in groups]), 1)[0])


def judge(
    curves: dict[str, list[Group]], n: int, faster: float, least: float, margin: float
) -> Verdict:
    """Times and errors at n, and how times grow."""
    at = {name: next(g for g in groups if g.config["n"] == n) for name, groups in curves.items()}
    peer, error = at[LIBSVM].median("time"), at[LIBSVM].median("error")
    speed = {name: peer / group.median("time") for name, group in at.items() if name != LIBSVM}
    errors = {name: at[name].median("error") for name in speed}
    linear, flat = (
        exponent(curves[LINEAR], "time"),
        exponent(curves[CONSTANT], "seconds_per_iteration"),
    )
    passed = (
        max(speed.values()) >= faster
        and min(speed[LINEAR], speed[CONSTANT]) >= least
        and max(errors.values()) <= error + margin
    )
    if margin < np.inf:
        passed = passed and linear <= 1.2 and flat <= 0.3
    lines = [
        f"{name}: {ratio(speed[name])} libsvm's speed, test error {percent2(errors[name])}"
        for name in speed
    ]
    lines.insert(0, f"n = {n:,}: libsvm {seconds(peer)} s, test error {percent2(error)}")
    lines.append(
        f"linear time ~ n^{linear:.2f}; an iteration of constant time ~ n^{flat:.2f}; "
        f"libsvm ~ n^{exponent(curves[LIBSVM], 'time'):.2f}"
        if len(curves[LIBSVM]) > 1
        else f"linear time ~ n^{linear:.2f}"
    )
    return Verdict(passed, "\n".join(lines))


def paint(figure: Figure, curves: dict[str, list[Group]]) -> None:
    """Time, training error and test error over n, as figures 1 to 3."""
    panels = figure.subplots(1, 3)
    titles = {
        "time": "Training time, one core",
        "train_error": "Training error",
        "error": "Test error",
    }
    for axes, (key, title) in zip(panels, titles.items(), strict=True):
        factor = 1.0 if key == "time" else 100.0
        for number, (name, groups) in enumerate(curves.items()):
            n = [group.config["n"] for group in groups]
            values = np.array([factor * np.array(g.numbers(key)).mean() for g in groups])
            spread = np.array([factor * np.array(g.numbers(key)).std() for g in groups])
            axes.errorbar(n, values, yerr=spread, capsize=2, label=name, **style(number))
            unfinished(axes, n, groups, values)
        log_scale(axes, "x")
        if key == "time":
            log_scale(axes, "y")
        clean(axes, title, "training examples n", "seconds" if key == "time" else "percent")
    legend(figure, panels[0], columns=len(curves))


@experiment(
    "001-adult",
    title="Adult a8a, rbf gamma = 0.05, C = 1, beside libsvm",
    claim="The best of our methods is at least 3 times faster than libsvm, and all have test "
    "errors within 0.3 points of libsvm's.",
    data=("adult",),
)
def run_adult(session: Session) -> Verdict:
    """All methods, and a few numbers of basis functions."""
    task = Task("adult", 3_000 if session.quick else None)
    peer = measure_libsvm(session, task, repeats=3)
    ours = [measure_ours(session, task, name, options) for name, options in methods().items()]
    few = [measure_ours(session, task, f"{k} functions", {"n_basis": k}) for k in (64, 256, 512)]
    n = {"n": task.n or 22_696}
    show(session, [g._replace(config=g.config | n) for g in (peer, *ours, *few)], "one core")
    speed = {g.config["program"]: peer.median("time") / g.median("time") for g in ours}
    errors = {g.config["program"]: g.median("error") for g in ours}
    worst = max(errors.values()) - peer.median("error")
    lines = [f"{name}: {ratio(speed[name])}, test error {percent2(errors[name])}" for name in speed]
    head = f"libsvm {seconds(peer.median('time'))} s, test error {percent2(peer.median('error'))}"
    best = max(speed[BASIS], speed[LINEAR], speed[CONSTANT])
    return Verdict(best >= 3 and worst <= 0.003, "\n".join([head, *lines]))
