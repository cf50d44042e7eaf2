"""What shards cost SDM: passes, exchanges and bytes, for each number of shards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.backends.local import InProcess
from maxmargin.backends.rounds import EARLY_PASSES

from ..framework.display import Column, count
from ..framework.figures import clean, style
from ..framework.registry import Verdict, experiment
from ..framework.runs import run_values, train_chain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..framework.session import Group, Session

SHARDS = (1, 2, 4, 8, 16)

#: The largest allowed ratio of the passes of JUDGED shards and of one.
JUDGED, ALLOWED = 8, 1.6

#: The method before (CoCoA+ with sigma' = K and four exchanges per pass), on the same sentences:
#: D after 12 and 24 iterations with K = 2. It was measured once, and is quoted here.
BEFORE = "CoCoA+ before, quoted: K = 2 had D = 273.9 and 281.0 after 12 and 24 passes"


@experiment(
    "shards",
    title="SDM over shards: passes to tol = 0.01, by the number of shards",
    claim="8 shards need at most 1.6 times the passes (with the oracle) of one to tol = 0.01, with "
    "at most one exchange per pass after the first three passes.",
    data=("conll2000",),
)
def run(session: Session) -> Verdict:
    """Shards in this process, for each number of them."""
    groups = {K: measure(session, K) for K in SHARDS}
    columns = [
        Column("shards", "shards", count),
        Column("iterations", "passes", count, "converged"),
        Column("exchanges", "exchanges", count),
        Column("early", "in 3 passes", count),
        Column("messages", "messages", count),
        Column("received", "MB up", number),
        Column("sent", "MB down", number),
        Column("dual_12", "D after 12", number),
        Column("dual", "D", number),
    ]
    session.table(groups.values(), columns, f"chunking, 2,000 sentences, C = 0.1\n{BEFORE}")
    session.draw(lambda figure: paint(figure, groups))
    return judge(groups)


def number(value: float) -> str:
    """With one decimal."""
    return f"{value:,.1f}"


def measure(session: Session, K: int) -> Group:
    """One training run on K shards in this process."""
    n, tol = (100, 0.1) if session.quick else (2000, 0.01)

    def once(seed: int) -> dict[str, Any]:
        notes: dict[int, tuple[int, int, int, int, int, float]] = {}

        def note(record: Any, state: Any) -> None:
            traffic = state.exchanges, state.messages, state.told, state.received, state.sent
            notes[record.iteration] = (*traffic, record.dual)

        result = train_chain(
            session.tagged("chunking", n), C=0.1, tol=tol, solver="sdm", max_iter=100,
            random_state=seed, backend=InProcess(K), callbacks=[note],
        )  # fmt: skip
        early = notes[min(EARLY_PASSES, len(notes))]
        exchanges, messages, told, received, sent, _ = notes[len(notes)]
        return {
            **run_values(result),
            "exchanges": exchanges,
            "early": early[0],
            "messages": messages,
            "received": (received + K * told) / 1e6,
            "sent": (sent + told) / 1e6,
            "dual_12": notes[min(12, len(notes))][-1],
        }

    return session.measure({"shards": K, "n": n, "tol": tol}, once)


def judge(groups: dict[int, Group]) -> Verdict:
    """The ratio of passes; after the first one, there is one exchange of all changes per pass."""
    alone = groups[1].median("iterations")
    ratios = {K: group.median("iterations") / alone for K, group in groups.items()}
    done = all(group.every("converged") for group in groups.values())
    passed = done and ratios[JUDGED] <= ALLOWED
    words = ", ".join(f"{K}: {r:.2f}" for K, r in ratios.items())
    messages = groups[JUDGED].median("messages")
    return Verdict(
        passed,
        f"passes against one shard: {words}; with {JUDGED} shards also {messages:,.0f} messages of "
        "80 kB, which are not counted as exchanges",
    )


def paint(figure: Figure, groups: dict[int, Group]) -> None:
    """Passes by the number of shards."""
    axes = figure.subplots()
    passes = [groups[K].median("iterations") for K in SHARDS]
    axes.plot(SHARDS, passes, marker="o", color=style(0)["color"])
    axes.axhline(ALLOWED * passes[0], color="#555555", linewidth=1, linestyle="--")
    axes.set_xscale("log", base=2)
    axes.set_xticks(SHARDS, [str(K) for K in SHARDS])
    axes.set_ylim(0)
    clean(axes, "passes that call the oracle; dashed: 1.6 times those of one shard", "shards", "")
