"""The HTML page of the demo: digits, coloured words and trees with predictions, certificates."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from ..data.tree_svg import draw_svg
from ..datasets import KEYPAD
from ..report.certificate import certificate
from ..report.page import Page, escape, table
from .pictures import favoured_pairs, image_address, keypad_svg
from .tasks import Codes, Sentences, figures, whole_right

#: Number of test codes and test sentences to show; the first ones, without selection.
CODES, SENTENCES = 12, 8

#: The meaning of the tags, in the order of the colours.
TAGS = {
    "NN": "noun", "VBD": "verb", "NNP": "name", "JJ": "adjective", "IN": "preposition",
    "WDT": "that", "DT": "determiner",
}  # fmt: skip

CODES_INTRO = """\
<p>Each digit of a code is above, below, left or right of the one before on the keypad of a
telephone. The images are scikit-learn's handwritten digits of 8 x 8 pixels; images of test codes do
not occur in training codes. The model knows nothing about keypads. It has a weight for each pair of
digits, which it learns together with the weights of the pixels.</p>"""

WORDS_INTRO = """\
<p>Generated sentences in which “saw”, “cut”, “felt”, “cast” and “set” are nouns or verbs, and some
nouns are invented. The only feature of a word is the word itself. The chain also has a weight for
each pair of neighbouring tags.</p>"""

TREES_INTRO = """\
<p>The grammar of the parser consists of the rules of the training trees. In this grammar every
sentence has a verb, which a chain cannot represent, so the parser also tags words better. Its
features are rules, and the spelling and the neighbours of words. A sentence that the parser gets
right and the model of single words gets wrong:</p>"""

EXAMPLE = """\
import numpy as np, maxmargin as mm

X_train, X_test, Y_train, Y_test = mm.datasets.make_codes()
chain = mm.ChainSVC(C=0.1).fit(X_train, Y_train)
print(np.mean([found == code for found, code in zip(chain.predict(X_test), Y_test)]))
print(chain.result_)"""


def write_page(path: str | Path, codes: Codes, sentences: Sentences) -> None:
    """Write the page as one HTML file that needs no network."""
    demo_page(codes, sentences).write(path)


def demo_page(codes: Codes, sentences: Sentences) -> Page:
    """The content of the page."""
    lead = (
        '<p class="lead">A digit is easier to recognise together with its neighbours, and a word '
        "is easier to tag together with its sentence. A structural SVM learns to predict all "
        "parts of an output together.</p>"
    )
    style = files("maxmargin.demo").joinpath("page.css").read_text(encoding="utf-8")
    page = Page("Why structure matters", lead, style)
    page.section("The figures", _cards(codes, sentences), _figures(codes, sentences))
    page.section("Codes on a keypad", CODES_INTRO, _keypad(codes), _code_cards(codes))
    page.section("Words in colour", _words(sentences))
    page.section("Trees", _trees(sentences))
    page.section("The certificate", _certificates(codes, sentences))
    page.section("The same in Python", f"<pre><code>{escape(EXAMPLE)}</code></pre>")
    return page


def _cards(codes: Codes, sentences: Sentences) -> str:
    tags = sentences.tags
    pairs = [
        ("whole codes correct, each digit alone", whole_right(codes.truth, codes.alone)),
        ("whole codes correct, as a chain", whole_right(codes.truth, codes.chain)),
        ("whole sentences correct, each word alone", whole_right(tags, sentences.alone)),
        ("whole sentences correct, as a chain", whole_right(tags, sentences.chain)),
    ]
    cards = (f'<div class="card"><b>{n:.1f} %</b><span>{name}</span></div>' for name, n in pairs)
    return f'<div class="cards">{"".join(cards)}</div>'


def _figures(codes: Codes, sentences: Sentences) -> str:
    head = ["correct", "alone", "chain", "tree"]
    words = (
        "Each part alone: scikit-learn's LinearSVC; chain: ChainSVC; tree: CFGSVC. "
        "All models are trained on the same images or sentences: "
        f"{codes.n_train:,} codes and {sentences.n_train:,} sentences. "
        f"The test data are {len(codes.truth):,} other codes and {len(sentences.truth):,} other "
        "sentences."
    )
    rows = figures(codes, sentences)
    return table(head, rows, [False, True, True, True]) + f'<p class="small muted">{words}</p>'


def _keypad(codes: Codes) -> str:
    pairs = favoured_pairs(codes.model.transition_)
    near = sum(b in KEYPAD[a] for a, b in pairs)
    total = sum(map(len, KEYPAD.values()))
    if near == len(pairs) == total:
        found = f"the pairs with a positive weight are exactly the {total} neighbours on a keypad"
    else:
        found = (
            f"{len(pairs)} of the 100 pairs have a positive weight, and {near} of these are among "
            f"the {total} neighbours on a keypad (the others are dashed lines)"
        )
    words = f"The learned weights: {found}. A wider line is a larger weight."
    drawn = keypad_svg(codes.model.transition_)
    return f'<figure class="learnt">{drawn}<figcaption>{words}</figcaption></figure>'


def _code_cards(codes: Codes) -> str:
    wrong = '<span class="read wrong">7</span>'
    cards = [
        f'<div class="code">{_code_row("", _images(codes, i))}'
        f"{_code_row('alone', _reading(codes.alone[i], codes.truth[i]))}"
        f"{_code_row('chain', _reading(codes.chain[i], codes.truth[i]))}</div>"
        for i in range(min(CODES, len(codes.truth)))
    ]
    return (
        f"<p>The first {len(cards)} test codes. Errors are marked like this: {wrong}</p>"
        f'<div class="codes">{"".join(cards)}</div>'
    )


def _code_row(name: str, cells: list[str]) -> str:
    return f'<div class="row"><small>{name}</small>{"".join(cells)}</div>'


def _images(codes: Codes, i: int) -> list[str]:
    pairs = zip(codes.images[i], codes.truth[i], strict=True)
    return [f'<img alt="{digit}" src="{image_address(image)}">' for image, digit in pairs]


def _reading(found: list[int], truth: list[int]) -> list[str]:
    return [
        f'<span class="read{"" if a == b else " wrong"}">{a}</span>'
        for a, b in zip(found, truth, strict=True)
    ]


def _words(sentences: Sentences) -> str:
    legend = "".join(
        f'<span class="word">{_tagged(name, tag)}</span>' for tag, name in TAGS.items()
    )
    shown = []
    for i in range(min(SENTENCES, len(sentences.truth))):
        parts = zip(sentences.truth[i].pos(), sentences.chain[i], sentences.alone[i], strict=True)
        shown.append(f'<p class="words">{"".join(_word(*part) for part in parts)}</p>')
    words = (
        f"The first {len(shown)} test sentences, coloured by the tags of the chain. A wrong tag "
        "by the model of single words is shown below its word; a box marks an error of the chain."
    )
    return f'{WORDS_INTRO}<p class="words legend">{legend}</p><p>{words}</p>{"".join(shown)}'


def _word(pair: tuple[str, str], chain: str, alone: str) -> str:
    word, truth = pair
    note = f'<small class="wrong">{escape(alone)}</small>' if alone != truth else ""
    kind = "word" if chain == truth else "word error"
    return f'<span class="{kind}">{_tagged(word, chain)}{note}</span>'


def _tagged(word: str, tag: str) -> str:
    color = list(TAGS).index(tag)
    return f'<b style="--k:var(--c{color})" title="{escape(tag)}">{escape(word)}</b>'


def _trees(sentences: Sentences) -> str:
    right = shown_sentence(sentences)
    parts = [TREES_INTRO, f'<div class="scroll">{draw_svg(sentences.parsed[right])}</div>']
    wrong = next((i for i, tree in enumerate(sentences.parsed) if tree != sentences.truth[i]), None)
    if wrong is not None:
        parsed, truth = sentences.parsed[wrong], sentences.truth[wrong]
        parts.append(
            "<p>The first test sentence whose tree is wrong: the predicted tree and the true "
            "tree. Constituents that only one of them has are highlighted:</p>"
            f'<div class="split"><div class="scroll">{draw_svg(parsed, truth)}</div>'
            f'<div class="scroll">{draw_svg(truth, parsed)}</div></div>'
        )
    return "".join(parts)


def shown_sentence(sentences: Sentences) -> int:
    """The first sentence of 7 to 9 words that the parser gets right and single words wrong."""
    found = (
        i
        for i, tree in enumerate(sentences.truth)
        if 7 <= len(tree.leaves()) <= 9
        and sentences.alone[i] != tree.tags()
        and sentences.parsed[i] == tree
    )
    return next(found, 0)


def _certificates(codes: Codes, sentences: Sentences) -> str:
    models: list[tuple[str, Any]] = [
        ("codes", codes.model), ("tags", sentences.tagger), ("trees", sentences.parser),
    ]  # fmt: skip
    rows = [[name, escape(certificate(model.result_))] for name, model in models]
    words = (
        "<p>Training minimises a convex function of the weights. The dual gives a lower bound on "
        "this function, so each model has a bound on its distance from the optimum.</p>"
    )
    return words + table(["", ""], rows, [False, False])
