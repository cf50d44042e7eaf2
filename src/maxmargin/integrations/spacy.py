"""Pipeline components for spaCy: a tagger and an entity recogniser, each a ``ChainSVC``.

spaCy finds them by name: ``nlp.add_pipe("maxmargin_tagger")``, ``nlp.add_pipe("maxmargin_ner")``.
``nlp.initialize`` trains them to the certified optimum of all examples at once, so that there is
nothing left for ``nlp.update`` to do. Models are saved as ``.mm`` files, without pickle.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from spacy.language import Language  # pyright: ignore[reportMissingImports]
from spacy.pipeline import Pipe  # pyright: ignore[reportMissingImports]
from spacy.scorer import Scorer, get_ner_prf  # pyright: ignore[reportMissingImports]
from spacy.tokens import Doc, Span  # pyright: ignore[reportMissingImports]
from spacy.util import minibatch  # pyright: ignore[reportMissingImports]

from ..errors import DataError, MaxMarginError
from ..registry import load
from ..structures.chain.estimator import ChainSVC

#: Name of the model file in the folder of a component.
MODEL = "model.mm"

#: Settings of both components, as ``nlp.add_pipe(name, config={"C": 0.3})`` takes them.
CONFIG = {"C": 0.1, "tol": 0.2, "template": "default", "solver": "auto", "n_jobs": 1}


class _Chain(Pipe):
    """A component that predicts one label per token.

    Sentences are the sequences where a document has sentence boundaries; otherwise the whole
    document is one.

    Parameters
    ----------
    vocab : spacy.vocab.Vocab
    name : str
        The name of the component in the pipeline.
    C, tol, template, solver, n_jobs
        As for ``mm.ChainSVC``; the only column of the template is the text of the token.

    Attributes
    ----------
    estimator : ChainSVC or None
        The model; None before training. ``estimator.result_`` is its certificate.
    """

    transitions: str | None = None

    def __init__(self, vocab: Any, name: str, **parameters: Any):
        self.vocab = vocab
        self.name = name
        self.parameters = parameters
        self.estimator: ChainSVC | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of tokens that can be predicted."""
        return () if self.estimator is None else tuple(self.estimator.classes_.tolist())

    def initialize(
        self, get_examples: Callable[[], Iterable[Any]], *, nlp: Any = None, labels: Any = None
    ) -> None:
        """Train on the reference documents of examples; ``nlp.initialize`` calls this.

        Sentences with a token that has no annotation are left out.
        """
        sentences = [s for example in get_examples() for s in split(example.reference)]
        tagged = [(s, self._read(s)) for s in sentences if len(s)]
        known = [(s, found) for s, found in tagged if found is not None]
        if not known:
            raise DataError(
                f"{self.name}: no sentence of the {len(sentences):,} is annotated completely: set "
                f"{self.needs} of every token of the examples"
            )
        clf = ChainSVC(transitions=self.transitions, **self.parameters)
        self.estimator = clf.fit([rows(s) for s, _ in known], [found for _, found in known])

    def __call__(self, doc: Doc) -> Doc:
        """Annotate a document."""
        return next(self.pipe([doc]))

    def pipe(self, stream: Iterable[Doc], *, batch_size: int = 128) -> Iterator[Doc]:
        """Annotate documents, many at a time."""
        for docs in minibatch(stream, size=batch_size):
            docs = list(docs)
            spans = [[s for s in split(doc) if len(s)] for doc in docs]
            found = iter(self._fitted().predict([rows(s) for group in spans for s in group]))
            for doc, group in zip(docs, spans, strict=True):
                self._write(doc, [label for _ in group for label in next(found)])
                yield doc

    def to_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> None:
        """Write the model into a folder, if there is one."""
        Path(path).mkdir(parents=True, exist_ok=True)
        if self.estimator is not None:
            self.estimator.save(Path(path) / MODEL)

    def from_disk(self, path: Any, *, exclude: Iterable[str] = ()) -> _Chain:
        """Read the model from a folder; a folder without one is of a component not yet trained."""
        file = Path(path) / MODEL
        self.estimator = self._checked(load(file)) if file.exists() else None
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """The content of the model file; empty before training."""
        with tempfile.TemporaryDirectory() as folder:
            self.to_disk(folder)
            file = Path(folder) / MODEL
            return file.read_bytes() if file.exists() else b""

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> _Chain:
        """Read the model from what ``to_bytes`` returned."""
        with tempfile.TemporaryDirectory() as folder:
            if data:
                (Path(folder) / MODEL).write_bytes(data)
            return self.from_disk(folder)

    def _checked(self, estimator: Any) -> ChainSVC:
        if not isinstance(estimator, ChainSVC) or estimator.transitions != self.transitions:
            raise MaxMarginError(f"{self.name}: the file is the model of another component")
        return estimator

    def _fitted(self) -> ChainSVC:
        if self.estimator is None:
            raise MaxMarginError(
                f"{self.name} is not trained: call nlp.initialize(lambda: examples), or load a "
                "pipeline with spacy.load"
            )
        return self.estimator

    #: What the examples must hold, for messages.
    needs = ""

    def _read(self, sentence: Any) -> list[str] | None:
        """The true labels of a sentence; None if some are missing."""
        raise NotImplementedError

    def _write(self, doc: Doc, labels: list[str]) -> None:
        """Set the predicted labels of a document."""
        raise NotImplementedError


class Tagger(_Chain):
    """Predicts ``token.tag_``, the fine-grained part of speech."""

    needs = "token.tag_"

    def score(self, examples: Iterable[Any], **kwargs: Any) -> dict[str, Any]:
        """The accuracy, ``tag_acc``."""
        return Scorer.score_token_attr(examples, "tag", **kwargs)

    def _read(self, sentence: Any) -> list[str] | None:
        tags = [token.tag_ for token in sentence]
        return tags if all(tags) else None

    def _write(self, doc: Doc, labels: list[str]) -> None:
        for token, label in zip(doc, labels, strict=True):
            token.tag_ = label


class EntityRecognizer(_Chain):
    """Predicts ``doc.ents``, as labels that begin (B) or continue (I) an entity."""

    transitions = "bio"
    needs = "doc.ents, by Doc(..., ents=...)"

    @property
    def labels(self) -> tuple[str, ...]:
        """The types of entities."""
        return tuple(sorted({name[2:] for name in super().labels if name != "O"}))

    def score(self, examples: Iterable[Any], **kwargs: Any) -> dict[str, Any]:
        """Precision, recall and F1 of entities, all together and per type."""
        return get_ner_prf(examples, **kwargs)

    def _read(self, sentence: Any) -> list[str] | None:
        if any(not token.ent_iob for token in sentence):
            return None
        return [
            f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in sentence
        ]

    def _write(self, doc: Doc, labels: list[str]) -> None:
        starts = [i for i, label in enumerate(labels) if label.startswith("B-")]
        doc.set_ents([Span(doc, i, _end(labels, i), labels[i][2:]) for i in starts])


def rows(sentence: Any) -> list[tuple[str]]:
    """The tokens as rows of one column."""
    return [(token.text,) for token in sentence]


def split(doc: Doc) -> list[Any]:
    """The sentences of a document, or the document if it has no sentence boundaries."""
    return list(doc.sents) if doc.has_annotation("SENT_START") else [doc]


def _end(labels: list[str], start: int) -> int:
    """The first token after the entity that begins at ``start``."""
    inside = f"I-{labels[start][2:]}"
    end = start + 1
    while end < len(labels) and labels[end] == inside:
        end += 1
    return end


@Language.factory(
    "maxmargin_tagger", assigns=["token.tag"], default_config=CONFIG,
    default_score_weights={"tag_acc": 1.0},
)  # fmt: skip
def make_tagger(
    nlp: Any, name: str, C: float, tol: float, template: str, solver: str, n_jobs: int
) -> Tagger:
    """A tagger for ``nlp.add_pipe``."""
    return Tagger(nlp.vocab, name, C=C, tol=tol, template=template, solver=solver, n_jobs=n_jobs)


@Language.factory(
    "maxmargin_ner", assigns=["doc.ents", "token.ent_iob", "token.ent_type"],
    default_config=CONFIG, default_score_weights={"ents_f": 1.0},
)  # fmt: skip
def make_ner(
    nlp: Any, name: str, C: float, tol: float, template: str, solver: str, n_jobs: int
) -> EntityRecognizer:
    """An entity recogniser for ``nlp.add_pipe``."""
    parameters = {"C": C, "tol": tol, "template": template, "solver": solver, "n_jobs": n_jobs}
    return EntityRecognizer(nlp.vocab, name, **parameters)
