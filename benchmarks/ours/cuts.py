"""Minimum cuts of grids against PyMaxflow, another program with Boykov and Kolmogorov's method."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.display import Column, count, ratio, seconds
from ..framework.registry import Verdict, experiment
from ..framework.session import side_by_side

if TYPE_CHECKING:
    from ..framework.session import Group, Session

OURS, PEER = "ours", "PyMaxflow"

#: Kind of cut: the sides of the grids. Long paths of the largest grid take both several minutes.
SIDES = {"easy": (100, 300, 1000), "strong": (100, 300, 1000), "long paths": (100, 300)}

#: Slower than this, relative to PyMaxflow, is a miss.
SLOWEST = 1.0


@experiment(
    "min-cut",
    title="Minimum cuts of grids with 4 neighbours, building the network included",
    claim="Both find the same cuts, and ours takes at most the time of PyMaxflow.",
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
        Column(f"plan {OURS}", "s, plan", seconds),
    ]
    session.table(groups, columns, "CPU seconds on one core")
    return judge(groups)


def measure(session: Session, kind: str, side: int) -> list[Group]:
    """Both programs in turn on the same grids."""

    def task(program: str, solve: Callable[..., dict[str, float]]) -> Any:
        def once(seed: int) -> dict[str, Any]:
            return solve(*grid(kind, side, seed))

        return {"kind": kind, "side": side, "program": program}, once

    return session.measure_in_turn([task(OURS, cut), task(PEER, cut_by_peer)])


def grid(kind: str, side: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Edges (m, 2), gains of label 1 (n,) and couplings (m,) of a grid.

    Gains are normal with couplings 0.5 (easy) or 3 (strong); for long paths the sources are in the
    first column, the sinks in the last one, and couplings are uniform.
    """
    rng, cells = np.random.default_rng(seed), np.arange(side * side).reshape(side, side)
    pairs = [(cells[:, :-1], cells[:, 1:]), (cells[:-1], cells[1:])]
    edges = np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in pairs])
    if kind == "long paths":
        gain = np.zeros((side, side))
        gain[:, 0], gain[:, -1] = 1e3, -1e3
        return edges, gain.ravel(), rng.random(len(edges))
    return edges, rng.normal(size=side * side), np.full(len(edges), {"easy": 0.5}.get(kind, 3.0))


def cut(edges: np.ndarray, gain: np.ndarray, coupling: np.ndarray) -> dict[str, float]:
    """CPU seconds of our cut, from scores to labels, and the flow.

    The plan of a graph is made and the scratch allocated once, for all cuts of this graph.
    """
    from maxmargin.inference import decoder, plan_graph, work_size

    n, m = len(gain), len(edges)
    unary, pair = np.zeros((n, 2)), np.zeros((m, 2, 2))
    unary[:, 1] = gain
    pair[:, 0, 1] = pair[:, 1, 0] = -coupling
    solve = decoder("min-cut")
    warm = np.zeros(2, np.int32), np.zeros(0), np.empty(work_size("min-cut", 2, 1, 2)), 1
    solve(plan_graph(2, np.array([[0, 1]])), 2, np.zeros(4), np.zeros(4), *warm)  # compile
    start = time.process_time()
    plan = plan_graph(n, edges)
    planned = time.process_time() - start
    y, work = np.full(n, 0, np.int32), np.full(work_size("min-cut", n, m, 2), 0.0)
    start = time.process_time()
    value = solve(plan, 2, unary.ravel(), pair.ravel(), y, np.zeros(0), work, 1)
    took = time.process_time() - start
    return {"time": took, "plan": planned, "flow": float(np.maximum(gain, 0).sum() - value)}


def cut_by_peer(edges: np.ndarray, gain: np.ndarray, coupling: np.ndarray) -> dict[str, float]:
    """CPU seconds of PyMaxflow, from edges and capacities to labels, and the flow."""
    maxflow = import_module("maxflow")
    nodes, (first, second) = np.arange(len(gain)), edges.T.copy()
    sink, source = np.maximum(-gain, 0), np.maximum(gain, 0)
    start = time.process_time()
    graph = maxflow.GraphFloat(len(gain), len(edges))
    graph.add_nodes(len(gain))
    graph.add_edges(first, second, coupling, coupling)
    graph.add_grid_tedges(nodes, sink, source)
    flow = graph.maxflow()
    graph.get_grid_segments(nodes)
    return {"time": time.process_time() - start, "plan": 0.0, "flow": float(flow)}


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
