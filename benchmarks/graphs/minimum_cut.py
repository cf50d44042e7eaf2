"""Minimum cuts of grids against PyMaxflow, another program with Boykov and Kolmogorov's method."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, ratio, seconds
from ..framework.registry import Verdict, experiment
from ..framework.session import side_by_side

if TYPE_CHECKING:
    from ..framework.session import Group, Session

OURS, PEER = "ours", "PyMaxflow"

#: Kind of cut: the sides of the grids.
SIDES = {"easy": (100, 300, 1000), "strong": (100, 300, 1000), "long paths": (100, 300, 1000)}

#: Long paths of the largest grid take minutes: they are measured once.
ONCE = ("long paths", 1000)

#: Small cuts are solved this many times in a measurement, which takes the median.
AGAIN = {100: 9, 300: 3, 1000: 1}

#: Slower than this, relative to PyMaxflow, is a miss.
SLOWEST = 1.0

#: A horizontal and a vertical neighbour, as PyMaxflow wants them.
RIGHT = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0]])
DOWN = RIGHT.T


@experiment(
    "graphs-minimum-cut",
    title="Minimum cuts of grids with 4 neighbours, from arrays of capacities to labels",
    claim="Both find cuts of the same capacity, and ours takes at most the time of PyMaxflow.",
    peers=("maxflow",),
)
def run(session: Session) -> Verdict:
    """Every kind and size of grid by both programs."""
    groups = [
        side_by_side(measure(session, kind, side), "program")
        for kind, sides in SIDES.items()
        for side in (sides[:1] if session.quick else sides)
    ]
    columns = [
        Column("kind", "cut"),
        Column("side", "side", count),
        Column(f"time {OURS}", "s", seconds),
        Column(f"time {PEER}", f"s, {PEER}", seconds),
    ]
    session.table(groups, columns, "CPU seconds on one core")
    return judge(groups)


def measure(session: Session, kind: str, side: int) -> list[Group]:
    """Both programs in turn on the same grids."""

    def task(program: str, solve: Callable[..., dict[str, float]]) -> Any:
        def once(seed: int) -> dict[str, Any]:
            capacities = grid(kind, side, seed)
            found = [solve(*capacities) for _ in range(AGAIN[side])]
            return {key: median(values[key] for values in found) for key in found[0]}

        return {"kind": kind, "side": side, "program": program}, once

    tasks = [task(OURS, cut), task(PEER, cut_by_peer)]
    if (kind, side) == ONCE:
        return [session.measure(*task, repeats=1) for task in tasks]
    return session.measure_in_turn(tasks)


def grid(kind: str, side: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gains of label 1 (side, side), and couplings with the neighbours to the right and below.

    Gains are normal with couplings 0.5 (easy) or 3 (strong); for long paths the sources are in the
    first column, the sinks in the last one, and couplings are uniform.
    """
    rng, shapes = np.random.default_rng(seed), ((side, side - 1), (side - 1, side))
    if kind == "long paths":
        gain = np.zeros((side, side))
        gain[:, 0], gain[:, -1] = 1e3, -1e3
        return gain, rng.random(shapes[0]), rng.random(shapes[1])
    coupling = {"easy": 0.5, "strong": 3.0}[kind]
    gain = rng.normal(size=(side, side))
    return gain, np.full(shapes[0], coupling), np.full(shapes[1], coupling)


def cut(gain: np.ndarray, right: np.ndarray, down: np.ndarray) -> dict[str, float]:
    """CPU seconds of our cut, checks of the arrays included, and the flow."""
    from maxmargin.inference import cut_grid

    cut_grid(np.zeros((1, 1)), np.zeros((1, 0)), np.zeros((0, 1)))  # compile
    start = time.process_time()
    _, value = cut_grid(gain, right, down)
    took = time.process_time() - start
    return {"time": took, "flow": float(np.maximum(gain, 0).sum() - value)}


def cut_by_peer(gain: np.ndarray, right: np.ndarray, down: np.ndarray) -> dict[str, float]:
    """CPU seconds of PyMaxflow by its functions for grids, and the flow.

    It wants capacities for all pixels, in which the last column or row is not used.
    """
    maxflow = import_module("maxflow")
    to_right, to_below = np.zeros_like(gain), np.zeros_like(gain)
    to_right[:, :-1], to_below[:-1] = right, down
    sink, source = np.maximum(-gain, 0), np.maximum(gain, 0)
    start = time.process_time()
    graph = maxflow.GraphFloat()
    nodes = graph.add_grid_nodes(gain.shape)
    graph.add_grid_edges(nodes, to_right, structure=RIGHT, symmetric=True)
    graph.add_grid_edges(nodes, to_below, structure=DOWN, symmetric=True)
    graph.add_grid_tedges(nodes, sink, source)
    flow = graph.maxflow()
    graph.get_grid_segments(nodes)
    return {"time": time.process_time() - start, "flow": float(flow)}


def judge(groups: list[Group]) -> Verdict:
    """The ratio of times of each grid, and whether the flows are equal up to rounding."""
    same = all(
        abs(v[f"flow {OURS}"] - v[f"flow {PEER}"]) <= 1e-9 * abs(v[f"flow {PEER}"])
        for g in groups
        for v in g.values
    )
    share = [g.median(f"time {OURS}") / g.median(f"time {PEER}") for g in groups]
    lines = [
        f"{g.config['kind']} {g.config['side']}: {ratio(s)} of {PEER}'s time"
        for g, s in zip(groups, share, strict=True)
    ]
    return Verdict(same and max(share) <= SLOWEST, "\n".join(lines))
