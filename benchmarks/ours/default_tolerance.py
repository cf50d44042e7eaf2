"""What tol and C buy: scores of held-out training examples and CPU seconds, for the defaults.

A run with the smallest tol passes all larger ones on its way, so that one run per C is enough: the
solver keeps the best certified weights when the gap first falls below each tol. Test examples are
not used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..framework.corpora import CORPORA, read_corpus, score
from ..framework.data import load
from ..framework.display import Column, percent2, seconds
from ..framework.milestones import Milestones
from ..framework.registry import Verdict, experiment
from ..framework.sequences import OCR
from ..framework.treebank import load_treebank

if TYPE_CHECKING:
    from ..framework.session import Group, Session

TOLS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)

#: The one of these next to the default, which for chains and trees depends on their length: for
#: sentences it is about 0.2, for the letters of words 0.08.
NEXT_TO_DEFAULT = {"chain": 0.2, "cfg": 0.1, "multiclass": 0.01, "binary": 0.01}

TEXTS = {"20 newsgroups": "news20", "Reuters R8": "reuters_r8", "RCV1": "rcv1_ccat_small"}
TREES = {"WSJ trees": "wsj_cfg", "GUM trees": "gum_cfg"}

#: The structure of each task.
TASKS = dict.fromkeys(CORPORA, "chain")
TASKS |= {name: "binary" if name == "RCV1" else "multiclass" for name in TEXTS}
TASKS |= dict.fromkeys(TREES, "cfg")

SEQUENCES = (0.03, 0.1, 0.3, 1.0)
CS = {"chain": SEQUENCES, "cfg": SEQUENCES, "multiclass": (0.1, 0.3, 1.0, 3.0, 10.0)}
CS["binary"] = CS["multiclass"]

#: At most this many examples to train on and half as many for the score; and in a quick run.
SIZE, QUICK = 4_000, 200

#: A difference of scores that counts as none: 0.15 points, less than the folds differ.
NOTHING = 0.0015


@experiment(
    "default-tolerance",
    title="How the score of held-out training examples and the time move with tol and C",
    claim="With the default C, the default tol costs on average at most 0.15 points of F1 or "
    "accuracy compared with tol = 0.01, for each structure, and at most 0.6 of the CPU time for "
    "chains; no other C of the grid is better by more than 0.15 points on average.",
    data=(*(corpus.data for corpus in CORPORA.values()), *TEXTS.values(), *TREES.values()),
)
def run(session: Session) -> Verdict:
    """One run per task, C and fold; the time is that of the solver."""
    groups = [measure(session, task, C) for task in TASKS for C in CS[TASKS[task]]]
    for key, title, text in (("score", "score", percent2), ("cpu", "CPU seconds", seconds)):
        columns = [Column("task", "task"), Column("C", "C")]
        columns += [Column(f"{key} {tol}", f"{tol:g}", text) for tol in TOLS]
        session.table(groups, columns, f"{title} by tol, training examples held out")
    return judge(groups)


class Held(NamedTuple):
    """A task: train with a C and a solver, and the score of a model on the examples held out."""

    fit: Callable[[float, Any], Any]
    score: Callable[[Any], float]


def measure(session: Session, task: str, C: float) -> Group:
    """Scores and CPU seconds at each tol of one run; the seed chooses the fold."""
    size = QUICK if session.quick else SIZE

    def once(seed: int) -> dict[str, Any]:
        held, solver = hold_out(session, task, size, seed), Milestones(tols=TOLS)
        model = held.fit(C, solver)
        values: dict[str, Any] = {}
        for tol, (took, w) in solver.found.items():
            _set_weights(model, w)
            values |= {f"cpu {tol}": took, f"score {tol}": held.score(model)}
        return values

    return session.measure({"structure": TASKS[task], "task": task, "C": C, "n": size}, once, 2)


def hold_out(session: Session, task: str, size: int, seed: int) -> Held:
    """Two random parts of the training examples."""
    import maxmargin as mm

    if task in CORPORA:
        tokens, _ = read_corpus(task, session.directory)
        first, rest = (tokens.part(part) for part in parts(len(tokens.Y), size, seed))
        template = None if task == OCR else "default"
        return Held(
            lambda C, solver: mm.ChainSVC(C, tol=TOLS[-1], solver=solver, template=template).fit(
                first.X, first.Y
            ),
            lambda model: score(task, rest.Y, model.predict(rest.X)),
        )
    if task in TREES:
        trees = load_treebank(TREES[task], session.directory).trees
        grown, others = ([trees[i] for i in part] for part in parts(len(trees), size, seed))
        words = [tree.leaves() for tree in others]
        return Held(
            lambda C, solver: mm.CFGSVC(C, tol=TOLS[-1], solver=solver).fit(None, grown),
            lambda model: mm.metrics.bracket_f1(others, model.predict(words)),
        )
    data = load(TEXTS[task], session.directory, None)
    cls = mm.BinarySVC if TASKS[task] == "binary" else mm.MulticlassSVC
    one, two = parts(data.n, size, seed)
    return Held(
        lambda C, solver: cls(C, tol=TOLS[-1], solver=solver).fit(data.X[one], data.y[one]),
        lambda model: model.score(data.X[two], data.y[two]),
    )


def parts(n: int, size: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Examples to train on, and half as many others."""
    size = min(size, 2 * n // 3)
    order = np.random.default_rng(seed).permutation(n)
    return np.sort(order[:size]), np.sort(order[size : size + size // 2])


def _set_weights(model: Any, w: np.ndarray) -> None:
    if hasattr(model, "_set_weights"):
        model._set_weights(w)
    else:
        model.coef_ = w


def judge(groups: list[Group]) -> Verdict:
    """The average loss of score by the default tol, and by other values of C."""
    import maxmargin as mm

    defaults = {"chain": mm.ChainSVC(), "multiclass": mm.MulticlassSVC()}
    defaults |= {"binary": mm.BinarySVC(), "cfg": mm.CFGSVC()}
    lines, good = [], True
    for structure, model in defaults.items():
        mine = [g for g in groups if g.config["structure"] == structure]
        chosen = [g for g in mine if g.config["C"] == model.C]
        tol = NEXT_TO_DEFAULT[structure]
        loss = average(chosen, f"score {TOLS[-1]}") - average(chosen, f"score {tol}")
        share = average(chosen, f"cpu {tol}") / average(chosen, f"cpu {TOLS[-1]}")
        by_C = {
            C: average([g for g in mine if g.config["C"] == C], f"score {tol}")
            for C in CS[structure]
        }
        best = max(by_C, key=lambda C: by_C[C])
        lines.append(
            f"{structure}, C = {model.C:g}, tol = {tol:g}: {100 * loss:+.2f} points lost "
            f"to tol = {TOLS[-1]:g}, {share:.2f} of its time; best C: {best:g}, "
            f"{100 * (by_C[best] - by_C[model.C]):+.2f} points"
        )
        good &= loss <= NOTHING and by_C[best] - by_C[model.C] <= NOTHING
        good &= structure != "chain" or share <= 0.6
    return Verdict(good, "\n".join(lines))


def average(groups: list[Group], key: str) -> float:
    """The mean of medians."""
    return float(np.mean([group.median(key) for group in groups]))
