"""The spaCy component against spaCy's own tagger, trained on the same sentences."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from maxmargin.io import read_conll

from ..framework.display import Column, count, percent2, seconds
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

#: Training sentences, and passes over them of spaCy's tagger, whose accuracy is then constant.
N, EPOCHS = 4_000, 8
QUICK = (200, 1)

#: The column of the fine-grained tags.
TAG = 2


@experiment(
    "spacy-tagger",
    title="UD English GUM, fine-grained tags: the spaCy component and spaCy's own tagger",
    claim="The component tags at least as many test tokens right as spaCy's tagger without "
    "pretrained vectors, after less CPU time.",
    data=("ud_gum",),
    peers=("spacy",),
)
def run(session: Session) -> Verdict:
    """Both from a blank pipeline, on one core, with the tokens of the treebank."""
    n, epochs = QUICK if session.quick else (N, EPOCHS)
    ours = measure(session, "maxmargin_tagger", n, 0)
    own = [measure(session, "tagger", n, k) for k in sorted({1, (epochs + 1) // 2, epochs})]
    columns = [
        Column("component", "component"),
        Column("epochs", "epochs", count),
        Column("cpu", "CPU s", seconds),
        Column("accuracy", "test tokens right", percent2),
    ]
    session.table([ours, *own], columns, f"n = {n:,}, one core")
    right, others = ours.median("accuracy"), max(g.median("accuracy") for g in own)
    spent, other = ours.median("cpu"), own[-1].median("cpu")
    return Verdict(
        right >= others and spent < other,
        f"{percent2(right)} after {seconds(spent)} s, spaCy's own {percent2(others)}, all "
        f"{epochs} epochs take {seconds(other)} s of CPU",
    )


def measure(session: Session, component: str, n: int, epochs: int) -> Group:
    """CPU seconds of training and the accuracy of a pipeline of one component."""
    folder = session.directory / "ud_gum"
    return session.measure(
        {"component": component, "n": n, "epochs": epochs},
        lambda seed: train(folder, component, n, epochs, seed),
        repeats=1,
    )


def train(folder: Any, component: str, n: int, epochs: int, seed: int) -> dict[str, Any]:
    """Train a blank pipeline and tag the test sentences."""
    import spacy
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe(component)

    def examples(name: str, most: int | None) -> list[Example]:
        X, Y = read_conll(folder / name, label=TAG)
        words = [[token[0] for token in tokens] for tokens in X][:most]
        pairs = zip(words, Y[:most], strict=True)
        return [
            Example(Doc(nlp.vocab, words=w), Doc(nlp.vocab, words=w, tags=list(y)))
            for w, y in pairs
        ]

    known = examples("train.txt.gz", n)
    begin = time.process_time()
    optimizer = nlp.initialize(lambda: known)
    order = random.Random(seed)
    for _ in range(epochs):
        order.shuffle(known)
        for batch in minibatch(known, size=32):
            nlp.update(batch, sgd=optimizer, drop=0.1)
    cpu = time.process_time() - begin
    accuracy = nlp.evaluate(examples("test.txt.gz", None))["tag_acc"]
    return {"component": component, "epochs": epochs, "cpu": cpu, "accuracy": accuracy}
