"""The demo: the grammars of its data, its figures, and the page that shows predictions."""

import re
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

import maxmargin as mm
from browser import Browser, find_browser
from maxmargin.data.brackets import as_tree
from maxmargin.datasets import KEYPAD, make_codes, make_trees
from maxmargin.demo.page import demo_page
from maxmargin.demo.pictures import digits_as_text, favoured_pairs, keypad_svg, png
from maxmargin.demo.tasks import Codes, Sentences, figures, part_right, read_codes, whole_right
from maxmargin.demo.terminal import code_text, words_text
from maxmargin.result import Result, Status

# Data


def test_keypad_is_that_of_a_telephone():
    assert KEYPAD[0] == (8,) and KEYPAD[1] == (2, 4) and KEYPAD[5] == (2, 4, 6, 8)
    assert all(a in KEYPAD[b] for a, near in KEYPAD.items() for b in near)
    assert sum(map(len, KEYPAD.values())) == 2 * 13  # 6 across, 6 down, and the one to 0


def test_codes_follow_the_keypad_and_show_their_digits():
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    digit_of = {row.tobytes(): digit for row, digit in zip(images / 16, digits, strict=True)}
    X_train, X_test, Y_train, Y_test = make_codes(40, 60, length=6, seed=3)
    assert (len(X_train), len(X_test), len(Y_train), len(Y_test)) == (40, 60, 40, 60)
    for x, code in zip(X_train + X_test, Y_train + Y_test, strict=True):
        assert x.shape == (6, 64) and len(code) == 6
        assert all(b in KEYPAD[a] for a, b in pairwise(code))
        assert [digit_of[row.tobytes()] for row in x] == code


def test_no_image_is_in_training_and_test_codes():
    X_train, X_test, _, _ = make_codes(200, 200)
    train, test = ({row.tobytes() for x in X for row in x} for X in (X_train, X_test))
    assert not train & test


def test_a_seed_gives_the_same_codes():
    first, again, other = make_codes(5, 5), make_codes(5, 5), make_codes(5, 5, seed=1)
    np.testing.assert_array_equal(first[0], again[0])
    assert first[2:] == again[2:] and first[2:] != other[2:]


def test_trees_attach_phrases_by_their_preposition():
    tags = {}
    for tree in make_trees(300):
        for word, tag in tree.pos():
            tags.setdefault(word, Counter())[tag] += 1
        for node in tree.subtrees():
            for part in () if node.preterminal else node.children:
                if part.label == "PP":
                    of_noun = part.leaves()[0] in ("of", "near", "behind")
                    assert node.label == ("NP" if of_noun else "VP")
    for word in ("saw", "cut", "felt", "cast", "set"):
        assert set(tags[word]) == {"NN", "VBD"}
    assert list(map(str, make_trees(5, 1))) == list(map(str, make_trees(5, 1)))
    assert list(map(str, make_trees(5, 1))) != list(map(str, make_trees(5, 2)))


# Figures


def test_shares_that_are_right():
    truth, found = [[1, 2], [3, 4]], [[1, 2], [3, 5]]
    assert part_right(truth, found) == 75 and whole_right(truth, found) == 50


def test_the_chain_learns_the_keypad():
    codes = read_codes(300, 100)
    pairs = favoured_pairs(codes.model.transition_)
    # More than any rounding could change: nearly all favoured pairs are neighbours.
    assert sum(b in KEYPAD[a] for a, b in pairs) >= 0.9 * len(pairs) >= 20
    assert whole_right(codes.truth, codes.chain) > whole_right(codes.truth, codes.alone) + 10


# What is shown, without training


def made_result():
    return Result(np.zeros(1), 2.0, 1.9, 0.1, Status.CONVERGED, n_iter=1, n_oracle=3, time=0.1)


@pytest.fixture
def codes():
    _, X_test, _, Y_test = make_codes(1, 3)
    alone = [list(code) for code in Y_test]
    alone[1][2] = (alone[1][2] + 1) % 10
    weights = np.zeros((10, 10))
    weights[1, 2], weights[2, 1], weights[1, 9] = 0.5, 0.2, 0.1
    model = SimpleNamespace(transition_=weights, result_=made_result())
    return Codes(X_test, Y_test, alone, Y_test, model, 1)


@pytest.fixture
def sentences():
    truth = [
        as_tree("(S (NP (DT the) (JJ old) (NN saw)) (VP (VBD saw) (NP (DT a) (JJ <b>) (NN cat))))"),
        as_tree("(S (NP (NNP Anna)) (VP (VBD saw) (PP (IN near) (NP (NNP Hiro)))))"),
    ]
    wrong = as_tree("(S (NP (NNP Anna)) (VP (VBD saw) (IN near) (NP (NNP Hiro))))")
    tags = [tree.tags() for tree in truth]
    alone = [[*tags[0][:3], "NN", *tags[0][4:]], tags[1]]
    chain = [tags[0], ["NNP", "NN", "IN", "NNP"]]
    model = SimpleNamespace(result_=made_result())
    return Sentences(truth, alone, chain, [truth[0], wrong], model, model, 1)


def test_table(codes, sentences):
    rows = {name: values for name, *values in figures(codes, sentences)}
    assert rows["digits"] == [f"{100 * 23 / 24:.1f} %", "100.0 %", ""]
    assert rows["whole codes"] == ["66.7 %", "100.0 %", ""]
    assert rows["tags of whole sentences"] == ["50.0 %", "50.0 %", "100.0 %"]
    assert rows["whole trees"] == ["", "", "50.0 %"]


def test_page_marks_errors(codes, sentences):
    html = demo_page(codes, sentences).html()
    body = html[html.index("<body>") :]
    cards = re.findall(r'<div class="code">.*?</div></div>', body)
    assert [card.count("wrong") for card in cards] == [0, 1, 0]
    assert body.count('class="word error"') == 1  # the chain's error
    assert body.count('<small class="wrong">NN</small>') == 1  # what the word alone gets
    assert "&lt;b&gt;" in body and "><b></b>" not in body and "<b></text>" not in body
    assert body.count('<svg xmlns="http://www.w3.org/2000/svg" class="mm-tree"') == 3
    assert body.count('class="phrase wrong"') == 1  # the phrase that the parser missed
    assert "3 of the 100 pairs have a positive weight, and 2 of these" in body


def test_terminal_marks_errors_without_colours(codes, sentences):
    wrong = codes.alone[1][2]
    text = code_text(codes).plain
    assert text.count("(") == 1 and f"({wrong})" in text.splitlines()[4]
    assert len({len(line) for line in text.splitlines()}) == 1  # digits stand below their images
    assert max(map(len, text.splitlines())) <= 80
    alone, chain = words_text(sentences).plain.splitlines()[1:3]
    assert "(NN)" in alone and "(" not in chain
    assert alone.index("(NN)") + 1 == chain.index("VBD")


def test_png_holds_the_pixels(tmp_path):
    from matplotlib.image import imread

    pixels = np.random.default_rng(0).integers(0, 17, (8, 8)) / 16
    (tmp_path / "digit.png").write_bytes(png(pixels))
    np.testing.assert_allclose(1 - imread(tmp_path / "digit.png"), pixels, atol=0.5 / 255 + 1e-6)


def test_digits_as_text():
    image = np.zeros((2, 8, 8))
    image[0, :2, 3] = 1  # two pixels are one full character
    image[1, 7, 0] = 1  # one of two is half of one
    lines = digits_as_text(image.reshape(2, 64)).split("\n")
    assert [len(line) for line in lines] == [16] * 4
    assert lines[0][3] == "█" and lines[3][8] == "▒"
    assert sum(character != " " for line in lines for character in line) == 2


def test_keypad_shows_pairs_that_are_not_neighbours():
    weights = -np.ones((10, 10))
    weights[4, 5] = weights[0, 3] = 1.0
    drawn = keypad_svg(weights)
    assert drawn.count("<line") == 2 and drawn.count('class="far"') == 1
    assert favoured_pairs(weights) == [(0, 3), (4, 5)]


def test_page_in_chromium(codes, sentences, tmp_path):
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium here: the page is not opened (apt-get install chromium)")
    path = tmp_path / "demo.html"
    demo_page(codes, sentences).write(path)
    loaded = "[...document.images].every(image => image.complete && image.naturalWidth === 8)"
    with Browser(program) as browser:
        for width, dark in ((1100, False), (390, True)):
            browser.screen(width, 900, dark, mobile=width < 500)
            browser.open(path)
            assert browser.evaluate("document.images.length") == 24
            assert browser.evaluate(loaded)
            assert browser.evaluate("document.documentElement.scrollWidth") <= width
            assert browser.errors() == []


def test_data_are_public():
    assert {"KEYPAD", "make_codes", "make_trees"} <= set(mm.datasets.__all__)
