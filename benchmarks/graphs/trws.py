"""Bounds and values of TRW-S, alone and combined with moves, against time on the snakes."""

from __future__ import annotations

import time
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..framework.data import find_file
from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, log_scale, style
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

DECODERS = ("trws", "combined")

#: Numbers of sweeps; "combined" also takes as many moves.
SWEEPS = (1, 3, 10, 30, 100, 300)

C, GRAPHS = 0.1, 50


@experiment(
    "graphs-trws",
    title=f"Loss-augmented inference on {GRAPHS} snakes, 11 labels: bounds and values against time",
    claim="Bounds fall with the number of sweeps and are never below a value that was found; with "
    "the 3 sweeps of training the combined decoder finds more than TRW-S with 300, in less time.",
    data=("snakes",),
)
def run(session: Session) -> Verdict:
    """Every decoder with every number of sweeps."""
    sweeps = SWEEPS[:3] if session.quick else SWEEPS
    groups = session.measure_in_turn(
        [task(session, decoder, k) for decoder in DECODERS for k in sweeps]
    )
    columns = [
        Column("decoder", "decoder"),
        Column("sweeps", "sweeps", count),
        Column("time", "s", seconds),
        Column("value", "value", one_digit),
        Column("bound", "bound", one_digit),
    ]
    session.table(groups, columns, "sums over the graphs; CPU seconds on one core")
    session.draw(lambda figure: paint(figure, groups), width=8, height=3.8)
    return judge(groups)


def task(session: Session, decoder: str, sweeps: int) -> Any:
    """A decoder with a number of sweeps, from the beginning."""

    def once(_: int) -> dict[str, Any]:
        n = 5 if session.quick else GRAPHS
        return decode_all(models(session.directory, n), decoder, sweeps)

    return {"decoder": decoder, "sweeps": sweeps}, once


def decode_all(graphs: list[tuple[Any, ...]], kind: str, sweeps: int) -> dict[str, float]:
    """CPU seconds of a decoder without checks and plans, and the sums of its values and bounds."""
    from maxmargin.inference import decoder, message_size, plan_graph, work_size

    took, value, bound, solve = 0.0, 0.0, 0.0, decoder(kind)
    for first, (unary, edges, pair) in enumerate([graphs[0], *graphs]):
        (n, K), m = unary.shape, len(edges)
        y, messages = np.zeros(n, np.int32), np.zeros(message_size(kind, n, m, K))
        plan, work = plan_graph(n, edges), np.zeros(work_size(kind, n, m, K))
        start = time.process_time()
        found = solve(plan, K, unary.ravel(), pair.ravel(), y, messages, work, sweeps)
        if first > 0:  # the first call may compile
            took += time.process_time() - start
            bound += found
            value += unary[np.arange(n), y].sum()
            value += pair[np.arange(m), y[edges[:, 0]], y[edges[:, 1]]].sum()
    return {"time": took, "value": float(value), "bound": float(bound)}


@lru_cache(maxsize=1)
def models(directory: Path | None, n: int) -> list[tuple[Any, ...]]:
    """Scores (unary, edges, pair) of n snakes, at the weights of 5 iterations, with the loss."""
    import maxmargin as mm

    graphs, labels = read_snakes(directory)
    clf = mm.GraphSVC(C=C, max_iter=5, random_state=0).fit(graphs, labels)
    found = []
    for (nodes, edges, features), truth in zip(graphs[:n], labels[:n], strict=True):
        unary = nodes @ clf.coef_.T + 1.0
        unary[np.arange(len(nodes)), np.searchsorted(clf.classes_, truth)] -= 1.0
        found.append((unary, edges, np.tensordot(features, clf.pairwise_, 1)))
    return found


def read_snakes(directory: Path | None) -> tuple[list[tuple[np.ndarray, ...]], list[np.ndarray]]:
    """The training graphs (nodes, edges, edge features) and their labels.

    A node has the colours of its 3 x 3 cells; an edge has those of both ends, by direction.
    """
    with np.load(find_file("snakes", directory), allow_pickle=False) as file:
        X, Y, shapes = file["X_train"], file["Y_train"], file["shape_train"].astype(int)
    graphs, labels, at = [], [], 0
    for h, w in shapes.tolist():
        graphs.append(snake_graph(X[at : at + h * w].reshape(h, w, 3) > 0))
        labels.append(Y[at : at + h * w].astype(int))
        at += h * w
    return graphs, labels


def snake_graph(image: np.ndarray) -> tuple[np.ndarray, ...]:
    """Nodes, edges and edge features of an image whose colours are three bits."""
    h, w, _ = image.shape
    padded = np.full((h + 2, w + 2), -1)
    padded[1:-1, 1:-1] = image @ np.array([1, 2, 4])
    around = np.stack([padded[a : a + h, b : b + w] for a in range(3) for b in range(3)], axis=2)
    nodes = (around[..., None] == np.arange(1, 7)).reshape(h * w, -1).astype(float)
    cells = np.arange(h * w).reshape(h, w)
    right = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], axis=1)
    down = np.stack([cells[:-1].ravel(), cells[1:].ravel()], axis=1)
    ends = [nodes[edges].reshape(len(edges), -1) for edges in (right, down)]
    features = np.zeros((len(right) + len(down), 2, ends[0].shape[1]))
    features[: len(right), 0], features[len(right) :, 1] = ends
    return nodes, np.concatenate([right, down]), features.reshape(len(features), -1)


def judge(groups: list[Group]) -> Verdict:
    """Whether bounds fall and hold, and how far values and bounds are apart."""
    best = max(g.median("value") for g in groups)
    by = {(g.config["decoder"], g.config["sweeps"]): g for g in groups}
    sweeps = sorted({k for _, k in by})
    room = 1e-9 * abs(best)
    falls = all(
        by[d, b].median("bound") <= by[d, a].median("bound") + room
        for d in DECODERS
        for a, b in pairwise(sweeps)
    )
    holds = all(g.median("bound") >= best - room for g in groups)
    short, long = by["combined", 3], by["trws", sweeps[-1]]
    better = short.median("value") > long.median("value")
    faster = short.median("time") < long.median("time")
    lines = [
        f"{g.config['decoder']}, {g.config['sweeps']} sweeps: value "
        f"{one_digit(g.median('value'))}, bound {one_digit(g.median('bound'))}, "
        f"{seconds(g.median('time'))} s"
        for g in (short, long)
    ]
    return Verdict(falls and holds and better and faster, "\n".join(lines))


def one_digit(value: float) -> str:
    """For example 1,234.5."""
    return f"{value:,.1f}"


def paint(figure: Figure, groups: list[Group]) -> None:
    """Values and bounds of both decoders against time."""
    axes = figure.subplots()
    clean(axes, "sums over the graphs", "CPU seconds", "")
    for k, decoder in enumerate(DECODERS):
        mine = [g for g in groups if g.config["decoder"] == decoder]
        times = [g.median("time") for g in mine]
        axes.plot(times, [g.median("bound") for g in mine], label=f"{decoder}, bound",
                  **style(k, linestyle="--"))  # fmt: skip
        axes.plot(times, [g.median("value") for g in mine], label=f"{decoder}, value", **style(k))
    log_scale(axes, "x")
    legend(figure, axes, 4)
