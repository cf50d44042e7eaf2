"""The spaCy components: trained, saved and loaded in blank pipelines."""

import importlib.metadata
import random

import pytest

import maxmargin as mm

spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install '.[spacy]'")

from spacy.tokens import Doc, Span  # noqa: E402
from spacy.training import Example  # noqa: E402

from maxmargin.integrations.spacy import split  # noqa: E402

WORDS = {"D": ["the", "a"], "N": ["dog", "cat", "child"], "V": ["sees", "barks"], "P": ["Anna"]}


def sentence(random_state):
    """Words and tags of a sentence such as "the dog sees Anna"."""
    tags = ["D", "N", "V", *random_state.choice([["P"], ["D", "N"], []])]
    return [random_state.choice(WORDS[tag]) for tag in tags], tags


def documents(nlp, n=40, seed=0):
    """Documents of two sentences, tagged; names and "the dog" are entities."""
    out = []
    random_state = random.Random(seed)
    for _ in range(n):
        (first, tags), (second, more) = sentence(random_state), sentence(random_state)
        words, starts = first + second, [True] + [False] * (len(first) - 1)
        starts += [True] + [False] * (len(second) - 1)
        doc = Doc(nlp.vocab, words=words, tags=tags + more, sent_starts=starts)
        people = [Span(doc, t.i, t.i + 1, "PERSON") for t in doc if t.text == "Anna"]
        dogs = [
            Span(doc, t.i, t.i + 2, "DOG") for t in doc[:-1] if doc[t.i : t.i + 2].text == "the dog"
        ]
        doc.set_ents(people + dogs)
        out.append(doc)
    return out


def plain(nlp, doc):
    """The words and sentences of a document without its annotation."""
    starts = [bool(token.is_sent_start) for token in doc]
    return Doc(nlp.vocab, words=[token.text for token in doc], sent_starts=starts)


def trained(name, docs_of=documents, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe(name, config={"tol": 0.001, **config})
    examples = [Example(plain(nlp, doc), doc) for doc in docs_of(nlp)]
    nlp.initialize(lambda: examples)
    return nlp, examples


@pytest.fixture(scope="module")
def tagger():
    return trained("maxmargin_tagger")


@pytest.fixture(scope="module")
def ner():
    return trained("maxmargin_ner", C=1.0)


def test_the_tagger_is_a_chain_svc_trained_on_the_sentences(tagger):
    nlp, examples = tagger
    component = nlp.get_pipe("maxmargin_tagger")
    assert component.labels == ("D", "N", "P", "V")
    assert component.estimator.result_.converged
    sentences = [s for example in examples for s in example.reference.sents]
    X, Y = [[[t.text] for t in s] for s in sentences], [[t.tag_ for t in s] for s in sentences]
    alone = mm.ChainSVC(C=0.1, tol=0.001, template="default").fit(X, Y)
    assert component.estimator.result_.primal == alone.result_.primal
    new = documents(nlp, 20, seed=1)
    docs = list(nlp.pipe([plain(nlp, doc) for doc in new], batch_size=7))
    for doc in docs:
        parts = alone.predict([[[t.text] for t in s] for s in doc.sents])
        assert [t.tag_ for t in doc] == [tag for part in parts for tag in part]
    pairs = zip(docs, new, strict=True)
    assert nlp.evaluate([Example(plain(nlp, a), b) for a, b in pairs])["tag_acc"] == 1.0


def test_entities_are_found_in_new_documents(ner):
    nlp, _ = ner
    assert nlp.get_pipe("maxmargin_ner").labels == ("DOG", "PERSON")
    doc = nlp(Doc(nlp.vocab, words=["Anna", "sees", "Anna", *2 * ["the", "dog"]]))
    found = [(ent.text, ent.label_) for ent in doc.ents]
    assert found == [("Anna", "PERSON")] * 2 + [("the dog", "DOG")] * 2
    new = documents(nlp, 20, seed=1)
    scores = nlp.evaluate([Example(plain(nlp, doc), doc) for doc in new])
    assert scores["ents_f"] == 1.0 and set(scores["ents_per_type"]) == {"DOG", "PERSON"}


@pytest.mark.parametrize("kind", ["tagger", "ner"])
def test_saved_pipelines_predict_the_same(kind, request, tmp_path):
    nlp, examples = request.getfixturevalue(kind)
    nlp.to_disk(tmp_path / "pipeline")
    files = [file.name for file in (tmp_path / "pipeline").rglob("*") if file.is_file()]
    assert "model.mm" in files and not any(name.endswith((".pkl", ".pickle")) for name in files)
    again = spacy.load(tmp_path / "pipeline")
    copied = spacy.blank("en")
    copied.add_pipe(f"maxmargin_{kind}")
    copied.from_bytes(nlp.to_bytes())
    for example in examples[:5]:
        expected = nlp(plain(nlp, example.reference))
        for other in (again, copied):
            doc = other(plain(other, example.reference))
            assert [t.tag_ for t in doc] == [t.tag_ for t in expected]
            assert [(e.text, e.label_) for e in doc.ents] == [
                (e.text, e.label_) for e in expected.ents
            ]


def test_an_untrained_component_says_what_to_do(tmp_path):
    nlp = spacy.blank("en")
    nlp.add_pipe("maxmargin_tagger")
    nlp.to_disk(tmp_path / "empty")
    for pipeline in (nlp, spacy.load(tmp_path / "empty")):
        with pytest.raises(mm.MaxMarginError, match=r"maxmargin_tagger is not trained: call nlp"):
            pipeline("the dog")


def test_a_model_of_another_component_is_refused(tagger, tmp_path):
    nlp, _ = tagger
    nlp.get_pipe("maxmargin_tagger").to_disk(tmp_path)
    other = spacy.blank("en").add_pipe("maxmargin_ner")
    with pytest.raises(mm.MaxMarginError, match="the model of another component"):
        other.from_disk(tmp_path)


@pytest.mark.parametrize(("name", "needs"), [("tagger", "token.tag_"), ("ner", "doc.ents")])
def test_examples_without_annotation_are_an_error(name, needs):
    def untagged(nlp):
        return [Doc(nlp.vocab, words=["the", "dog"])]

    with pytest.raises(mm.DataError, match=f"annotated completely: set {needs}"):
        trained(f"maxmargin_{name}", untagged)


def test_sentences_with_missing_tags_are_left_out(tagger):
    """The model is the same as without them."""

    def with_holes(nlp):
        holes = [Doc(nlp.vocab, words=["strange", "dog"], tags=["", "N"])]
        return [*documents(nlp), *holes]

    nlp, _ = trained("maxmargin_tagger", with_holes)
    both = [nlp.get_pipe("maxmargin_tagger"), tagger[0].get_pipe("maxmargin_tagger")]
    assert both[0].estimator.result_.primal == both[1].estimator.result_.primal


def test_documents_without_sentences_and_without_words(tagger):
    nlp, _ = tagger
    doc = Doc(nlp.vocab, words=["the", "dog", "barks"])
    assert split(doc) == [doc]
    assert [t.tag_ for t in nlp(doc)] == ["D", "N", "V"]
    assert len(nlp("")) == 0


def test_spacy_finds_the_components_by_name():
    """Without an import, in an installation whose entry points are those of pyproject.toml."""
    names = {point.name for point in importlib.metadata.entry_points(group="spacy_factories")}
    if "maxmargin_tagger" not in names:
        pytest.skip("maxmargin was installed without its entry points: install it again")
    assert {"maxmargin_tagger", "maxmargin_ner"} <= names
