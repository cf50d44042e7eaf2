"""When more machines pay: measured computing and bytes of SDM, and a modelled network."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from maxmargin.backends.combine import Exchange
from maxmargin.backends.links import HEADS
from maxmargin.backends.local import InProcess
from maxmargin.engine.exchange import merge_changes
from maxmargin.engine.vectors import Vector

from ..framework.display import Column, count, seconds
from ..framework.figures import clean, legend, style
from ..framework.registry import Verdict, experiment
from ..framework.runs import train_chain
from ..framework.session import Group

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Session

#: Sentences of the measured runs, their shards, and the iterations that are measured.
SIZES, SHARDS, ITERATIONS = (500, 1000, 2000), 8, 6

#: The simulated corpus in tokens, and numbers of workers of one thread each.
TOKENS, WORKERS = 1e8, (1, 8, 64, 512)

#: The network: bytes per second of one machine, seconds for a call of an actor, and for a message
#: from one worker to another.
NETWORK, LATENCY, HOP = 1.25e9, 0.005, 0.0002

#: Bytes of an entry: a place and a value.
ENTRY = 12

#: Entries of each list with which the sums are measured, the length of w, and the part of the
#: entries that are the same in all lists.
ENTRIES, LENGTH, SAME = 200_000, 10_000_000, 1 / 3

#: How many times more passes are needed each time the number of workers doubles.
MORE_PASSES = 1.15

#: Least speed-up with 8 and with 64 workers that is claimed.
CLAIMED = {8: 4.0, 64: 12.0}


@experiment(
    "cluster-simulation",
    title="SDM on 10^8 tokens, simulated: time against workers",
    claim="On a network of 10 Gbit/s, 8 workers are at least 4 times as fast as one and 64 at "
    "least 12 times.",
    data=("conll2000",),
)
def run(session: Session) -> Verdict:
    """Measure on small corpora, extrapolate by power laws, and add up."""
    measured = [measure(session, n) for n in SIZES]
    sums = {lists: measure_sums(session, lists) for lists in sorted({heads(K) for K in WORKERS})}
    rows = [simulate(measured, sums, K) for K in WORKERS]
    columns = [
        Column("workers", "workers", count),
        Column("computing", "computing", seconds),
        Column("folding", "workers add up", seconds),
        Column("receiving", "to the driver", seconds),
        Column("summing", "driver sums", seconds),
        Column("sending", "to the workers", seconds),
        Column("waiting", "latency", seconds),
        Column("total", "all", seconds),
    ]
    groups = [Group({"workers": row["workers"]}, [row]) for row in rows]
    session.table(groups, columns, "seconds per iteration of SDM, all passes and exchanges")
    session.draw(lambda figure: paint(figure, rows))
    return judge(rows)


def measure(session: Session, n: int) -> Group:
    """Seconds of the processor per token of a local run; bytes per exchange of a run on shards."""
    n = n // 20 if session.quick else n

    def once(seed: int) -> dict[str, Any]:
        data, notes = session.tagged("chunking", n), []

        def note(record: Any, state: Any) -> None:
            notes.append((state.exchanges, state.received, state.sent, state.messages, state.told))

        options = {"C": 0.1, "tol": 1e-9, "solver": "sdm", "max_iter": ITERATIONS}
        start = time.process_time()
        train_chain(data, random_state=seed, **options)
        busy = time.process_time() - start
        train_chain(data, random_state=seed, backend=InProcess(SHARDS), callbacks=[note], **options)
        # After the first three passes.
        exchanges, received, sent, messages, told = np.array(notes[-1]) - notes[2]
        tokens = sum(len(y) for y in data.Y)
        return {
            "tokens": tokens,
            "per_token": busy / ITERATIONS / tokens,
            "exchanges": float(exchanges) / (ITERATIONS - 3),
            "up": float(received) / exchanges / SHARDS,
            "down": float(sent) / exchanges,
            "messages": float(messages) / (ITERATIONS - 3),
            "told": float(told) / max(messages, 1),
        }

    return session.measure({"n": n, "shards": SHARDS, "iterations": ITERATIONS}, once)


def heads(K: int) -> int:
    """The number of lists that the driver receives."""
    return min(K, HEADS)


def measure_sums(session: Session, lists: int) -> Group:
    """Seconds per entry of the driver's sum of ``lists`` lists, and of merging two in a worker."""

    def once(seed: int) -> dict[str, Any]:
        random = np.random.RandomState(seed)
        same = random.permutation(LENGTH)[: int(SAME * ENTRIES)]
        changes = []
        for _ in range(lists):
            where = np.unique(np.append(same, random.randint(LENGTH, size=ENTRIES - len(same))))
            changes.append(Vector(where.astype(np.int32), random.randn(len(where))))
        w, exchange = np.zeros(LENGTH), Exchange(LENGTH, lists)
        first, second = changes[0], changes[-1]
        both, total = np.empty(2 * ENTRIES, np.int32), np.empty(2 * ENTRIES)
        took = []
        for _ in range(2):  # the first time it is compiled
            start = time.perf_counter()
            exchange.combine(w, changes, np.ones(lists))
            middle = time.perf_counter()
            merge_changes(*first.listed(), *second.listed(), both, total)
            took = [middle - start, time.perf_counter() - middle]
        return {
            "entry": took[0] / sum(len(change.value) for change in changes),
            "merge": took[1] / (len(first.value) + len(second.value)),
        }

    return session.measure({"lists": lists, "entries": ENTRIES}, once)


def power_law(measured: list[Group], name: str, scale: float = 1.0) -> Any:
    """Bytes as a function of tokens: a line through the logarithms."""
    x = np.log([group.median("tokens") * scale for group in measured])
    slope, start = np.polyfit(x, np.log([group.median(name) for group in measured]), 1)
    return lambda tokens: math.exp(start + slope * math.log(tokens))


def simulate(measured: list[Group], sums: dict[int, Group], K: int) -> dict[str, Any]:
    """The seconds of one iteration on K workers, times the passes that K shards need more."""
    more, lists = MORE_PASSES ** math.log2(K), heads(K)
    last = measured[-1]
    computing = last.median("per_token") * TOKENS / K
    exchanges = last.median("exchanges") if K > 1 else 0.0
    messages, told = (last.median("messages") if K > 1 else 0.0), last.median("told")
    changed = power_law(measured, "up", 1 / SHARDS)  # bytes, by the tokens of those who changed
    down = min(power_law(measured, "down")(TOKENS), K * changed(TOKENS / K))
    up = changed(TOKENS / lists)
    levels, hops = max(math.ceil(math.log2((K + 1) / (HEADS + 1))), 0), math.ceil(math.log2(K))
    folded = 0.0  # below the heads, a worker receives two lists and merges them, level by level
    for level in range(levels):
        size = 2 * changed(TOKENS / K * (2 ** (level + 1) - 1))
        folded += size / NETWORK + 1.5 * size / ENTRY * sums[lists].median("merge")
    parts = {
        "computing": computing,
        "folding": exchanges * folded,
        "receiving": exchanges * lists * up / NETWORK,
        "summing": exchanges * lists * up / ENTRY * sums[lists].median("entry"),
        # The object store copies from machine to machine, in a tree.
        "sending": hops * exchanges * down / NETWORK,
        "waiting": exchanges * 3 * LATENCY + messages * 2 * hops * (HOP + told / NETWORK),
    }
    parts = {name: more * value for name, value in parts.items()}
    return {"workers": K, **parts, "total": sum(parts.values())}


def judge(rows: list[dict[str, Any]]) -> Verdict:
    """Speed-ups against one worker."""
    gains = {row["workers"]: rows[0]["total"] / row["total"] for row in rows}
    passed = all(gains[K] >= least for K, least in CLAIMED.items())
    return Verdict(
        passed, "faster than one worker: " + ", ".join(f"{K}: {g:.1f}" for K, g in gains.items())
    )


def paint(figure: Figure, rows: list[dict[str, Any]]) -> None:
    """Time against workers, with its parts."""
    axes = figure.subplots()
    names = ("total", "computing", "folding", "receiving", "summing", "sending", "waiting")
    for number, name in enumerate(names):
        points = [(row["workers"], row[name]) for row in rows if row[name] > 0]
        axes.plot(*zip(*points, strict=True), marker="o", label=name, color=style(number)["color"])
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(WORKERS, [str(K) for K in WORKERS])
    clean(axes, "seconds per iteration, 10^8 tokens; lower is better", "workers", "seconds")
    legend(figure, axes, columns=3)
