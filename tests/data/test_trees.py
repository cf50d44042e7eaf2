"""Trees: what they say of themselves, the bracketed files, and their pictures."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from rich.cells import cell_len

import maxmargin as mm
from maxmargin import Tree
from maxmargin.data.tree_svg import draw_many, draw_svg
from maxmargin.data.tree_text import draw_outline, draw_text, lay_out
from maxmargin.structures.cfg.show import write_svg
from random_trees import SHE, trees

PENN = """
( (S
    (NP-SBJ-1 (DT The) (NN dog) )
    (VP (VBD was)
      (VP (VBN chased)
        (NP (-NONE- *-1) )
        (PP-LOC=2 (-NONE- *T*)
           (NP (-NONE- 0)))))
    (. .) ))
( (FRAG (PRN (-LRB- -LRB-) (NP (NP|X (CD 3))) (-RRB- -RRB-))))
"""


def recursive_spans(node, start=0):
    """(spans, end) as the definition says."""
    if node.preterminal:
        return [], start + 1
    found, end = [], start
    for part in node.children:
        below, end = recursive_spans(part, end)
        found += below
    return [(node.label, start, end), *found], end


@settings(max_examples=60)
@given(trees())
def test_methods_agree_with_their_definitions(tree):
    assert sorted(tree.spans()) == sorted(recursive_spans(tree)[0])
    assert tree.pos() == list(zip(tree.leaves(), tree.tags(), strict=True))
    assert len(tree.preterminals()) == len(tree.leaves())


@settings(max_examples=60)
@given(trees(), trees())
def test_equal_trees_are_those_that_look_equal(a, b):
    assert (a == b) == (repr_recursive(a) == repr_recursive(b))
    assert a != b or hash(a) == hash(b)
    assert pickle.loads(pickle.dumps(a)) == a == copy.deepcopy(a)
    assert a != "(NN a)"


def repr_recursive(node):
    return (node.label, [c if isinstance(c, str) else repr_recursive(c) for c in node.children])


@settings(max_examples=60)
@given(trees(words=["a", "dog", "é", "50\\/50"]))
def test_text_is_read_back(tree):
    assert mm.as_tree(str(tree)) == tree
    assert mm.io.parse_trees(f"{tree}\n\n{tree} {tree}") == [tree] * 3


@settings(max_examples=60)
@given(trees())
def test_nltk_trees_go_through(tree):
    nltk = pytest.importorskip("nltk")
    there = mm.to_nltk(tree)
    assert isinstance(there, nltk.Tree) and there.leaves() == tree.leaves()
    assert mm.as_tree(there) == tree


def test_brackets_in_words_are_escaped():
    tree = Tree("S", [Tree("-LRB-", ["("]), Tree("UH", [":)"])])
    assert str(tree) == "(S (-LRB- -LRB-) (UH :-RRB-))"
    assert mm.as_tree(str(tree)).leaves() == ["-LRB-", ":-RRB-"]


def test_deep_trees_need_no_recursion():
    tree = Tree("NN", ["x"])
    for _ in range(20_000):
        tree = Tree("A", [tree, Tree("B", ["b"])])
    assert mm.as_tree(str(tree)) == tree == pickle.loads(pickle.dumps(tree))
    assert len(tree.spans()) == 20_000 and len({tree, tree}) == 1
    assert mm.io.clean(tree) == tree


def test_deep_trees_are_drawn():
    tree = Tree("NN", ["x"])
    for _ in range(1100):  # more than Python's limit of recursion
        tree = Tree("A", [tree, Tree("B", ["b"])])
    assert draw_outline(tree).count("\n") == 2200 - 2
    assert len(lay_out(tree, len, 3)) == 3301 - 1100


def test_trees_do_not_change():
    with pytest.raises(AttributeError, match="cannot be changed"):
        mm.as_tree(SHE).label = "X"


@pytest.mark.parametrize("children", [[], ["a", "b"], ["a", Tree("NN", ["b"])], [3], [None]])
def test_wrong_children_are_refused(children):
    with pytest.raises(mm.DataError):
        Tree("NP", children)


@pytest.mark.parametrize("thing", [3, None, ["a"], SHE + SHE, "", "dog"])
def test_other_things_are_no_trees(thing):
    with pytest.raises(mm.DataError):
        mm.as_tree(thing)


# Files ------------------------------------------------------------------------------------------


def test_penn_files(tmp_path):
    path = tmp_path / "wsj.mrg"
    path.write_text(PENN)
    X, Y = mm.io.read_trees(path)
    assert list(map(str, Y)) == [
        "(TOP (S (NP (DT The) (NN dog)) (VP (VBD was) (VP (VBN chased))) (. .)))",
        "(TOP (FRAG (PRN (-LRB- -LRB-) (NP (CD 3)) (-RRB- -RRB-))))",
    ]
    assert X == [["The", "dog", "was", "chased", "."], ["-LRB-", "3", "-RRB-"]]
    X, Y = mm.io.read_trees(path, traces=True)
    assert X[0] == ["The", "dog", "was", "chased", "*-1", "*T*", "0", "."]
    assert "(PP (-NONE- *T*) (NP (-NONE- 0)))" in str(Y[0])
    X, Y = mm.io.read_trees(path, functions=True)
    assert "(NP-SBJ-1 (DT The)" in str(Y[0]) and "(NP (NP|X (CD 3)))" in str(Y[1])
    X, Y = mm.io.read_trees(path, traces=True, functions=True)
    assert mm.io.parse_trees(PENN) == Y


@settings(max_examples=60)
@given(trees())
def test_cleaning_a_tree_is_reading_it_clean(tree):
    tree = mm.as_tree(str(tree))
    for traces in (False, True):
        for functions in (False, True):
            expected = mm.io.parse_trees(str(tree), None, traces, functions)
            cleaned = mm.io.clean(tree, traces, functions)
            assert ([] if cleaned is None else [cleaned]) == expected
            if not traces:
                assert all(tree.tags().count("-NONE-") == 0 for tree in expected)


def test_gzip_streams_and_bom(tmp_path):
    path = tmp_path / "trees.gz"
    path.write_bytes(gzip.compress(b"\xef\xbb\xbf" + SHE.encode()))
    assert mm.io.read_trees(path)[1] == [mm.as_tree(SHE)]
    assert mm.io.read_trees(io.BytesIO(SHE.encode()))[0] == [["She", "eats", "fish"]]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (f"{SHE}\n(S (NP (NN dog))\n{SHE}\n", 2, "never closed"),
        (f"{SHE}\n\n(S (NN dog)))\n", 3, "closes nothing"),
        (f"{SHE}\n(S (NP (DT the", 2, "'(DT the' is never closed; a ')' is missing"),
        (f"{SHE}\n(S (NP\n(DT the (NN dog))", 3, "'(DT the' is never closed; a ')' is missing"),
        (f"{SHE}\n(S (NP the (NN dog)))", 2, "'the' has no tag"),
        (f"{SHE}\n(S (NP the dog))", 2, "'the' has no tag"),
        (f"{SHE} dog", 1, "'dog' has no tag"),
        (f"{SHE}\n(S ( dog))", 2, "(dog) is empty"),
        (f"{SHE}\n(S ((NN dog)))", 2, "no label"),
        (f"{SHE}\n(S (NP))", 2, "(NP) is empty"),
        (f"{SHE}\n(())", 2, "is empty"),
        ("\n", None, "contains no trees"),
        ("(S (-NONE- *))", None, "contains no trees"),
    ],
)
def test_errors_name_file_line_and_remedy(tmp_path, text, line, words):
    path = tmp_path / "bad.mrg"
    path.write_text(text)
    with pytest.raises(mm.DataError) as caught:
        mm.io.read_trees(path)
    assert (caught.value.path, caught.value.line) == (str(path), line)
    assert words in str(caught.value)


def test_wrong_encodings_and_files(tmp_path):
    path = tmp_path / "latin"
    path.write_bytes(SHE.encode() + b"\n(NN caf\xe9)")
    with pytest.raises(mm.DataError, match="line 2: is not UTF-8"):
        mm.io.read_trees(path)
    with pytest.raises(mm.DataError, match="cannot be read"):
        mm.io.read_trees(tmp_path / "missing")


def test_sentences(tmp_path):
    path = tmp_path / "plain.txt"
    path.write_text("She eats (raw\u00a0) fish .\n\n  One  more \r\n")
    assert mm.io.read_sentences(path) == [
        ["She", "eats", "-LRB-raw\u00a0-RRB-", "fish", "."], ["One", "more"],
    ]  # fmt: skip
    path.write_text(" \n")
    with pytest.raises(mm.DataError, match="contains no sentences"):
        mm.io.read_sentences(path)


@settings(max_examples=60)
@given(trees())
def test_written_files_are_read_back(tree):
    lines = list(mm.io.tree_lines([tree, str(tree), mm.as_tree(str(tree))]))
    assert lines == [str(tree)] * 3


def test_writing_is_complete_or_not_at_all(tmp_path):
    path = tmp_path / "out.mrg"
    mm.io.write_trees(path, [SHE])
    for wrong in (Tree("NN", ["a b"]), Tree("N P", ["a"]), Tree("", ["a"]), Tree("N(", ["a"])):
        with pytest.raises(mm.DataError, match=r"tree 1: the (word|label)"):
            mm.io.write_trees(path, [SHE, wrong])
    assert path.read_text() == SHE + "\n"


# Pictures ---------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(trees())
def test_text_pictures_show_every_word_in_its_order(tree):
    rows = draw_text(tree, None).split("\n")
    assert "".join(rows[-1].split()) == "".join(tree.leaves())
    assert "".join(rows[-2].split()) == "".join(tree.tags())
    for label, _, _ in tree.spans():
        assert any(label in row for row in rows)
    places = lay_out(tree, lambda text: cell_len(text) | 1, 3)
    assert max(map(cell_len, rows)) <= places[0].width


@settings(max_examples=60)
@given(trees())
def test_lines_of_text_pictures_meet(tree):
    """Every line character that reaches up or down is met by a character there."""
    rows = draw_text(tree, None).split("\n")
    cells = [[c for char in row for c in (char, *[""] * (cell_len(char) - 1))] for row in rows]
    for r, row in enumerate(cells):
        for column, character in enumerate(row):
            above = cells[r - 1][column : column + 1] if r else []
            below = cells[r + 1][column : column + 1] if r + 1 < len(cells) else []
            if character and character in "│┼┴":
                assert above != [" "] and above, "\n".join(rows)
            if character and character in "│┼┬┌┐":
                assert below != [" "] and below, "\n".join(rows)


def test_long_sentences_become_outlines():
    assert (
        draw_text(SHE, 5)
        == draw_outline(SHE)
        == ("TOP ─ S\n├─ NP  She/PRP\n└─ VP\n   ├─ eats/VBZ\n   └─ NP  fish/NN")
    )


@settings(max_examples=60)
@given(trees())
def test_outlines_have_every_word(tree):
    text = draw_outline(tree)
    for word, tag in tree.pos():
        assert f"{word}/{tag}" in text


@settings(max_examples=60)
@given(trees())
def test_svg_is_xml_with_every_label(tree):
    root = ET.fromstring(draw_svg(tree))
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    expected = [node.label for node in tree.subtrees()] + tree.leaves()
    assert sorted(texts) == sorted(expected)
    width, height = (float(root.attrib[name]) for name in ("width", "height"))
    for element in root.iter("{http://www.w3.org/2000/svg}text"):
        assert 0 < float(element.attrib["x"]) < width
        assert 0 < float(element.attrib["y"]) < height


def test_svg_marks_what_is_wrong(tmp_path):
    found = SHE.replace("(NP (NN", "(PP (NN")
    picture = draw_many([("one & two", found, SHE)])
    assert picture.count('class="phrase wrong"') == 1 and "one &amp; two" in picture
    assert 'wrong"' not in draw_svg(SHE, SHE)
    assert "prefers-color-scheme:dark" in picture
    write_svg(tmp_path / "tree.svg", [("", SHE, None)])
    ET.parse(tmp_path / "tree.svg")
    assert mm.as_tree(SHE)._repr_svg_() == draw_svg(SHE)
    assert mm.as_tree(SHE).draw() == draw_text(SHE)
