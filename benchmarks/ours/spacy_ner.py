"""The spaCy component against spaCy's own entity recogniser, trained on the same sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..framework.display import Column, count, percent2, seconds
from ..framework.registry import Verdict, experiment
from ..framework.sequences import TASKS, read_columns
from ..framework.spacy_pipeline import train_pipeline

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: Training and test sentences, and passes of spaCy's recogniser over the training sentences.
N, N_TEST, EPOCHS = 1_000, 1_000, 8
QUICK = (150, 100, 1)
NAMES = {"BioNLP": "JNLPBA", "BioCreative": "BC2GM"}


@experiment(
    "spacy-ner",
    title="JNLPBA and BC2GM, entities: the spaCy component and spaCy's own recogniser",
    claim="On both sets the component's F1 of entities is at least that of spaCy's ner without "
    "pretrained vectors, after less CPU time.",
    data=("jnlpba", "bc2gm"),
    peers=("spacy",),
)
def run(session: Session) -> Verdict:
    """Both from a blank pipeline, on one core, with the tokens of the files."""
    n, n_test, epochs = QUICK if session.quick else (N, N_TEST, EPOCHS)
    groups, passed, words = [], True, []
    for task in NAMES:
        ours = measure(session, task, "maxmargin_ner", n, n_test, 0)
        own = measure(session, task, "ner", n, n_test, epochs)
        groups += [ours, own]
        f1, cpu = ours.median("f1"), ours.median("cpu")
        passed = passed and f1 >= own.median("f1") and cpu < own.median("cpu")
        words.append(
            f"{NAMES[task]}: F1 {percent2(f1)} after {seconds(cpu)} s of CPU, spaCy's own "
            f"{percent2(own.median('f1'))} after {seconds(own.median('cpu'))} s"
        )
    columns = [
        Column("task", "task"),
        Column("component", "component"),
        Column("epochs", "epochs", count),
        Column("cpu", "CPU s", seconds),
        Column("precision", "precision", percent2),
        Column("recall", "recall", percent2),
        Column("f1", "F1", percent2),
    ]
    session.table(groups, columns, f"n = {n:,}, {n_test:,} test sentences, one core")
    return Verdict(passed, "; ".join(words))


def measure(session: Session, task: str, component: str, n: int, n_test: int, epochs: int) -> Group:
    """CPU seconds of training and the scores of a pipeline of one component."""

    def once(seed: int) -> dict[str, Any]:
        known, test = read_columns(TASKS[task], session.directory)
        found = train_pipeline(
            component,
            lambda vocab: examples(vocab, *known, n),
            lambda vocab: examples(vocab, *test, n_test),
            epochs,
            seed,
        )
        scores = {name: found["scores"][f"ents_{name[0]}"] for name in ("precision", "recall")}
        return scores | {"cpu": found["cpu"], "f1": found["scores"]["ents_f"]}

    config = {"task": task, "component": component, "n": n, "n_test": n_test, "epochs": epochs}
    return session.measure(config, once, repeats=1)


def examples(vocab: Any, rows: Any, tags: list[list[str]], most: int) -> list[Any]:
    """The first sentences with their entities, as spaCy's examples."""
    from spacy.tokens import Doc
    from spacy.training import Example

    words = [[token[0] for token in tokens] for tokens in rows[:most]]
    return [
        Example(Doc(vocab, words=w), Doc(vocab, words=w, ents=list(y)))
        for w, y in zip(words, tags[:most], strict=True)
    ]
