"""The command line for trees, from the files to what people read."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ET

import pytest

import maxmargin as mm
from command_line import error_of, passed, run

TREES = [
    "( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (DT a) (NN cat)))))",
    "( (S (NP-SBJ (DT a) (NN cat)) (VP (VBZ sleeps) (NP (-NONE- *)))))",
    "( (S (NP-SBJ (NP (DT the) (NN cat)) (PP (IN on) (NP (DT a) (NN mat))))\n"
    "   (VP (VBZ sleeps))))",
    "( (S (NP-SBJ (DT the) (NN mat)) (VP (VBZ sees) (NP (DT the) (NN dog)) (-LRB- -LRB-))))",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A treebank, sentences, and a parser trained on the one."""
    folder = tmp_path_factory.mktemp("cfg")
    trees = folder / "train.mrg.gz"
    trees.write_bytes(gzip.compress("\n".join(TREES).encode()))
    (folder / "plain.txt").write_text("the cat sees a mat\n\nthe dog sleeps\n")
    passed("train", "cfg", trees, "-o", folder / "model.mm", "--C", "10", "--quiet")
    return folder


def test_the_model_is_that_of_the_estimator(files):
    X, Y = mm.io.read_trees(files / "train.mrg.gz")
    assert [len(x) for x in X] == [5, 3, 6, 6]
    model = mm.load(files / "model.mm")
    same = mm.CFGSVC(C=10, features="rich").fit(X, Y)
    assert model.predict(X) == same.predict(X) == Y
    assert model.get_params()["features"] == "rich"


@pytest.mark.parametrize("diversity", [None, 0.5])
def test_several_trees_of_each_sentence(files, tmp_path, diversity):
    out, options = tmp_path / "out.txt", () if diversity is None else ("--diversity", diversity)
    plain = tmp_path / "plain.txt"
    plain.write_text("the cat on a mat on a mat sleeps\nthe dog sleeps\n")
    passed("predict", files / "model.mm", plain, "-o", out, "--m-best", 3, *options)
    model = mm.load(files / "model.mm")
    found = model.predict_m_best(mm.io.read_sentences(plain), 3, diversity or 0.0)
    assert [len(outputs) for outputs in found] == [2, 1]  # what the second mat belongs to
    blocks = out.read_text().strip("\n").split("\n\n")
    assert len(blocks) == len(found) == 2
    for block, outputs in zip(blocks, found, strict=True):
        expected = [f"{score}\t{tree}" for tree, score in outputs]
        assert block.splitlines() == expected


def test_sentences_in_trees_out(files, tmp_path):
    out = tmp_path / "out.mrg"
    passed("predict", files / "model.mm", files / "plain.txt", "-o", out)
    _, found = mm.io.read_trees(out)
    assert [tree.leaves() for tree in found] == [
        ["the", "cat", "sees", "a", "mat"], ["the", "dog", "sleeps"],
    ]  # fmt: skip
    assert str(found[1]) == "(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sleeps))))"
    shown = passed("predict", files / "model.mm", "-", input="the dog sleeps\n").stdout
    assert shown == f"{found[1]}\n"
    brackets = passed("predict", files / "model.mm", "-", input="the dog sees a cat (\n").stdout
    assert "(-LRB- -LRB-)" in brackets


def test_trees_are_parsed_as_their_words(files):
    shown = passed("predict", files / "model.mm", files / "train.mrg.gz").stdout
    _, trees = mm.io.read_trees(files / "train.mrg.gz")
    assert shown.splitlines() == list(map(str, trees))


def test_drawings(files, tmp_path):
    shown = passed("predict", files / "model.mm", "-", "--draw", input="the dog sleeps\n").stdout
    tree = mm.as_tree("(TOP (S (NP (DT the) (NN dog)) (VP (VBZ sleeps))))")
    assert shown == tree.draw() + "\n"
    out, svg = tmp_path / "out.mrg", tmp_path / "out.svg"
    outcome = passed(
        "predict", files / "model.mm", "-", "--draw", "-o", out, "--svg", svg,
        input="the dog sleeps\nthe dog sleeps\n",
    )  # fmt: skip
    assert outcome.stdout == f"{tree.draw()}\n\n{tree.draw()}\n"
    assert out.read_text() == f"{tree}\n{tree}\n"
    texts = [element.text for element in ET.parse(svg).iter() if element.tag.endswith("text")]
    assert texts.count("dog") == 2


def test_evaluation(files, tmp_path):
    test = tmp_path / "test.mrg"
    wrong = "(S (NP (DT the) (NN dog)) (VP (VBZ sees) (PP (DT a) (NN cat))))"
    test.write_text("\n".join([*TREES, wrong]))
    picture = tmp_path / "worst.svg"
    shown = passed("evaluate", files / "model.mm", test, "--plot", picture).stdout
    content = json.loads(passed("evaluate", files / "model.mm", test, "--json").stdout)
    X, Y = mm.io.read_trees(test)
    expected = mm.metrics.BracketEvaluation.of(Y, mm.load(files / "model.mm").predict(X))
    assert content == expected.to_dict()
    assert content["brackets"]["support"] - content["brackets"]["correct"] == 1
    assert str(expected) in shown and "PP " in shown
    assert 'class="phrase wrong"' in picture.read_text()


@pytest.mark.parametrize("given", ["tags", "tagged"])
def test_tags_may_be_given(files, tmp_path, given):
    model = tmp_path / "tags.mm"
    train = files / "train.mrg.gz"
    passed("train", "cfg", train, "-o", model, "--input", given, "--features", "rules", "-q")
    line = {"tags": "DT NN VBZ\n", "tagged": "the/DT 1\\/2/NN zzz/VBZ\n"}[given]
    found = mm.as_tree(passed("predict", model, "-", input=line).stdout)
    assert found.tags() == ["DT", "NN", "VBZ"]
    content = json.loads(passed("evaluate", model, train, "--json").stdout)
    assert content["tagging_accuracy"] == 1
    if given == "tagged":
        message = error_of(run("predict", model, "-", input="a/DT cat/NN\nthe dog\n"))
        assert "line 2: 'the' is not a word with its tag" in message


def test_function_tags_are_kept_on_request(files, tmp_path):
    model = tmp_path / "functions.mm"
    passed("train", "cfg", files / "train.mrg.gz", "-o", model, "--functions", "-q", "-C", "10")
    assert "(NP-SBJ (DT the)" in passed("predict", model, "-", input="the dog sleeps\n").stdout
    # evalb cuts labels, so that the evaluation has no need to know.
    content = json.loads(passed("evaluate", model, files / "train.mrg.gz", "--json").stdout)
    assert content["f1"] == 1
    assert "with function tags" in passed("info", model).stdout


def test_a_sentence_outside_the_grammar_has_a_tree(files):
    shown = passed("predict", files / "model.mm", "-", input="sees sees the the\n").stdout
    assert mm.as_tree(shown).leaves() == ["sees", "sees", "the", "the"]


def test_info_and_explain(files):
    shown = passed("info", files / "model.mm").stdout
    for text in ("CFGSVC", "trees in brackets, without function tags", "S TOP"):
        assert text in shown
    content = json.loads(passed("info", files / "model.mm", "--json").stdout)
    assert content["cfg"]["labels"] == ["NP", "PP", "S", "TOP", "VP"]
    content = json.loads(passed("explain", files / "model.mm", "-n", "3", "--json").stdout)
    model = mm.load(files / "model.mm")
    weights = model.coef_[: len(model.grammar_.features)]
    assert [rule["weight"] for rule in content["largest"]] == sorted(weights)[:-4:-1]
    assert "NP -> DT NN" in passed("explain", files / "model.mm", "-n", "30").stdout


@pytest.mark.parametrize(
    ("loss", "rescaling"), [("zero-one", "slack"), ("f1", "margin"), ("bracket", "slack")]
)
def test_training_says_what_it_did(files, tmp_path, loss, rescaling):
    outcome = passed(
        "train", "cfg", files / "train.mrg.gz", "-o", tmp_path / "m.mm", "--loss", loss,
        "--horizontal", "1", "--solver", "one-slack", "--rescaling", rescaling,
    )  # fmt: skip
    assert mm.load(tmp_path / "m.mm").loss == loss
    assert "CFGSVC on 4 trees, 20 words" in outcome.stdout
    assert "Converged" in outcome.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--loss", "hamming"), "bracket"),
        (("--template", "pos"), "No such option"),
        (("--intercept",), "No such option"),
        (("--class-weight", "balanced"), "No such option"),
        (("--horizontal", "-1"), "horizontal"),
    ],
)
def test_options_of_others_are_refused(files, tmp_path, arguments, words):
    outcome = run("train", "cfg", files / "train.mrg.gz", "-o", tmp_path / "m.mm", *arguments)
    assert outcome.exit_code == 2 and words in outcome.stderr
    assert not (tmp_path / "m.mm").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--features", "rich"), ("--input", "tags"), ("--functions",), ("--horizontal", "1")],
)
def test_others_refuse_options_of_parsers(tmp_path, arguments):
    outcome = run("train", "chain", "x", "-o", tmp_path / "m.mm", *arguments)
    assert outcome.exit_code == 2 and "No such option" in outcome.stderr
    outcome = run("train", "chain", "x", "-o", tmp_path / "m.mm", "--loss", "bracket")
    assert outcome.exit_code == 2 and "hamming" in outcome.stderr


def test_mistakes_end_in_one_line(files, tmp_path):
    bad = tmp_path / "bad.mrg"
    bad.write_text(TREES[0] + "\n(S (NP the (NN dog)))\n")
    model, plain, out = files / "model.mm", files / "plain.txt", tmp_path / "m.mm"
    message = error_of(run("train", "cfg", bad, "-o", out))
    assert f"{bad}, line 2: the word 'the'" in message
    assert not out.exists()
    assert "contains no trees" in error_of(run("evaluate", model, plain))
    assert "--scores" in error_of(run("predict", model, plain, "--scores"))
    assert "--no-labels is not available" in error_of(run("predict", model, plain, "--no-labels"))
    assert "ends in .svg" in error_of(run("predict", model, plain, "--svg", tmp_path / "a.png"))
    assert "contains no sentences" in error_of(run("predict", model, "-", input="\n"))
    assert "contains no trees" in error_of(run("suspects", model, plain))


def test_drawings_are_for_parsers(tmp_path):
    data = tmp_path / "data.svm"
    data.write_text("1 1:1\n-1 2:1\n")
    passed("train", "binary", data, "-o", tmp_path / "m.mm", "-q")
    assert "--draw is not available for binary" in error_of(
        run("predict", tmp_path / "m.mm", data, "--draw")
    )
