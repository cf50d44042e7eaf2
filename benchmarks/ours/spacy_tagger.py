"""The spaCy component against spaCy's own tagger, trained on the same sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from maxmargin.io import read_conll

from ..framework.display import Column, count, percent2, seconds
from ..framework.registry import Verdict, experiment
from ..framework.spacy_pipeline import train_pipeline

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

    def once(seed: int) -> dict[str, Any]:
        found = train_pipeline(
            component,
            lambda vocab: examples(vocab, folder / "train.txt.gz", n),
            lambda vocab: examples(vocab, folder / "test.txt.gz", None),
            epochs,
            seed,
        )
        accuracy = found["scores"]["tag_acc"]
        return {"component": component, "epochs": epochs, "cpu": found["cpu"], "accuracy": accuracy}

    config = {"component": component, "n": n, "epochs": epochs}
    return session.measure(config, once, repeats=1)


def examples(vocab: Any, path: Any, most: int | None) -> list[Any]:
    """Sentences with their tags, as spaCy's examples."""
    from spacy.tokens import Doc
    from spacy.training import Example

    X, Y = read_conll(path, label=TAG)
    words = [[token[0] for token in tokens] for tokens in X][:most]
    return [
        Example(Doc(vocab, words=w), Doc(vocab, words=w, tags=list(y)))
        for w, y in zip(words, Y[:most], strict=True)
    ]
