"""Templates, the extractor and the vocabulary, beside extraction token by token."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin.errors import DataError
from maxmargin.features import Extractor, Rows, Template, Vocabulary
from maxmargin.features.functions import short_shape, word_class

quick = settings(max_examples=100)

# ---- a slow and obvious extraction ---------------------------------------------------------------

FUNCTIONS = {
    "": lambda v: [v],
    "lower({})": lambda v: [v.lower()],
    "length({})": lambda v: [str(len(v))],
    "prefix({},2)": lambda v: [v[:2]],
    "suffix({},1..3)": lambda v: {v[-1:], v[-2:], v[-3:]},
    "prefix({})": lambda v: {v[:n] for n in range(1, max(len(v), 1) + 1)},
    "suffix(lower({}),2)": lambda v: [v.lower()[-2:]],
    "length(prefix({}))": lambda v: {str(n) for n in range(bool(v), len(v) + 1)},
}
terms = st.tuples(st.integers(0, 1), st.integers(-3, 3), st.sampled_from(sorted(FUNCTIONS)))
patterns = st.lists(terms, max_size=3)  # none: the bias
templates = st.lists(patterns, min_size=1, max_size=4)
paddings = st.sampled_from([None, ("_B", "_E"), ("a", "a")])
words = st.text("aB1|\\=-", max_size=4) | st.sampled_from(["<-1>", "<+1>", "_B"])
corpora = st.lists(st.lists(st.tuples(words, words), max_size=4), min_size=1, max_size=4).filter(
    any
)


def term_text(term):
    column, offset, function = term
    text = f"{('word', 'pos')[column]}[{offset}]"
    return function.format(text) if function else text


def template_text(template, padding):
    lines = [] if padding is None else [f"padding {padding[0]} {padding[1]}"]
    return "\n".join(lines + [" | ".join(map(term_text, p)) or "bias" for p in template]) + "\n"


def term_values(sequence, i, term, padding):
    column, offset, function = term
    at = i + offset
    if 0 <= at < len(sequence):
        return FUNCTIONS[function](sequence[at][column])
    if padding is not None:
        return FUNCTIONS[function](padding[0] if at < 0 else padding[1])
    return [f"<-{-at}>" if at < 0 else f"<+{at - len(sequence) + 1}>"]


def token_features(sequence, i, template, padding):
    features = set()
    for pattern in template:
        if not pattern:
            features.add("bias")
            continue
        values = [[]]
        for term in pattern:
            own = term_values(sequence, i, term, padding)
            values = [[*before, value] for before in values for value in own]
        if len(pattern) > 1:
            values = [[v.replace("\\", "\\\\").replace("|", "\\|") for v in vs] for vs in values]
        head = "|".join(map(term_text, pattern))
        features.update(f"{head}={'|'.join(vs)}" for vs in values)
    return features


def features_of(corpus, template, padding):
    return [token_features(s, i, template, padding) for s in corpus for i in range(len(s))]


def as_sets(X, names):
    matrix = X.matrix
    assert matrix.format == "csr" and matrix.indices.dtype == np.int32
    assert (matrix.data == 1).all()
    rows = np.split(matrix.indices, matrix.indptr[1:-1])
    assert len(rows) == matrix.shape[0] or matrix.shape[0] == 0
    assert all((np.diff(row) > 0).all() for row in rows)
    return [{names[column] for column in row} for row in rows][: matrix.shape[0]]


# ---- the extractor -------------------------------------------------------------------------------


@quick
@given(corpora, corpora, templates, paddings, st.integers(1, 2))
def test_extracts_what_the_slow_way_extracts(corpus, other, template, padding, min_count):
    expected = features_of(corpus, template, padding)
    counts = Counter(name for features in expected for name in features)
    kept = {name for name in counts if counts[name] >= min_count}
    extractor = Extractor(template_text(template, padding), min_count=min_count)
    if not kept:
        with pytest.raises(DataError, match="no feature occurs min_count = 2 times"):
            extractor.fit_transform(corpus)
        return
    X = extractor.fit_transform(corpus)
    assert sorted(extractor.names_) == sorted(kept)
    assert as_sets(X, extractor.names_) == [features & kept for features in expected]
    ordered = [counts[name] for name in extractor.names_]
    assert ordered == sorted(ordered, reverse=True)
    assert X.lengths.tolist() == list(map(len, corpus))

    again = Extractor.from_names(extractor.template_.text, extractor.names_)
    for fitted in (extractor, again):
        Z = fitted.transform(other)
        assert Z.matrix.shape[1] == len(kept)
        unseen_left_out = [f & kept for f in features_of(other, template, padding)]
        assert as_sets(Z, extractor.names_) == unseen_left_out


def features_at(template, sequence, i):
    extractor = Extractor(template)
    return as_sets(extractor.fit_transform([sequence]), extractor.names_)[i]


def test_names_and_padding_by_distance():
    assert features_at("word[-2]", ["a", "b", "c"], 0) == {"word[-2]=<-2>"}
    assert features_at("word[-2]", ["a", "b", "c"], 1) == {"word[-2]=<-1>"}
    assert features_at("word[+2]", ["a", "b", "c"], 2) == {"word[2]=<+2>"}
    assert features_at("word[-1] | word", ["of", "the"], 1) == {"word[-1]|word[0]=of|the"}
    assert features_at("shape(word[-1])", ["a"], 0) == {"shape(word[-1])=<-1>"}
    assert features_at("padding _B _E\nshape(word[-1..1])", ["a"], 0) == {
        "shape(word[-1])=_X",
        "shape(word[0])=x",
        "shape(word[1])=_X",
    }
    assert features_at("prefix(word, 2..9)", ["abcd"], 0) == {
        f"prefix(word[0],2..9)={affix}" for affix in ("ab", "abc", "abcd")
    }


def test_conjunctions_of_many_terms_do_not_overflow():
    # 62 words and two symbols outside: the first of 12 terms counts 64**11, 0 as an int64.
    sequence = [word for i in range(61) for word in (f"w{i}", "the")]
    extractor = Extractor(" | ".join(["word[-1]"] + ["word"] * 11))
    X = extractor.fit_transform([sequence])
    assert X.matrix.shape == (122, 122)


def test_default_takes_all_columns():
    tokens = [("The", "DT", "x"), ("dog", "NN", "y")]
    for width, there, absent in [
        (1, "word[-1]=", "pos"),
        (2, "pos[-1]|", "col2"),
        (3, "col2[1]=", "col3"),
    ]:
        extractor = Extractor("default")
        extractor.fit_transform([[token[:width] for token in tokens]])
        assert any(name.startswith(there) for name in extractor.names_)
        assert not any(absent in name for name in extractor.names_)
    with pytest.raises(DataError, match="needs 3 columns, the tokens have 2"):
        extractor.transform([[("a", "b")]])


def test_the_reach_of_a_template_is_searched_once(monkeypatch):
    """It looks at all patterns: once per column, many columns would take quadratic time."""
    searched = []
    reach = Template.reach.fget
    counting = property(lambda template: searched.append(1) or reach(template))
    monkeypatch.setattr(Template, "reach", counting)
    rows = [[[f"{i} {j}" for j in range(30)] for i in range(3)]]
    assert Extractor("default").fit_transform(rows).matrix.shape[0] == 3
    assert len(searched) == 1


@pytest.mark.parametrize(("name", "width", "n"), [("chunking", 2, 19), ("pos", 1, 23)])
def test_built_in_templates(name, width, n):
    rows = [[("abc", "X", "Y")[:width]] * 5]
    X = Extractor(name).fit_transform(rows)
    assert np.diff(X.matrix.indptr)[2] == n


def test_rows_and_parts_of_rows_are_extracted_like_lists():
    corpus = [[("a", "X"), ("b", "Y")], [("c", "X")], [("d", "Z"), ("a", "Z")]]
    rows = Rows.of(corpus)
    for part in (slice(1, 3), slice(None, None, -1)):
        left, right = Extractor("chunking"), Extractor("chunking")
        X, Z = left.fit_transform(rows[part]), right.fit_transform(corpus[part])
        assert sorted(left.names_) == sorted(right.names_)
        assert as_sets(X, left.names_) == as_sets(Z, right.names_)


def test_no_tokens():
    extractor = Extractor("word")
    with pytest.raises(DataError, match="fit_transform first"):
        extractor.transform([["a"]])
    with pytest.raises(DataError, match="no tokens"):
        extractor.fit_transform([[]])
    extractor.fit_transform([["a"]])
    X = extractor.transform([])
    assert len(X) == 0 and X.matrix.shape == (0, 1)


# ---- templates -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("word[0]\n\nwrod[1]\n", "line 3: term 'wrod[1]': no column 'wrod'"),
        ("word[0] | foo(word)\n", "line 1: term 'foo(word)': no function 'foo'"),
        ("word[0] | | pos\n", "line 1: a term is missing next to a '|'"),
        ("word[1\n", "term 'word[1': expected ']', found the end"),
        ("word[1] pos\n", "term 'word[1] pos': unexpected 'pos'"),
        ("word[x]\n", "expected an offset from -99 to 99, found 'x'"),
        ("word[100]\n", "expected an offset from -99 to 99, found '100'"),
        ("word[2..-2]\n", "the range 2..-2 is empty"),
        ("word[-1..1] | pos\n", "term 'word[-1..1]': a range of offsets cannot be combined"),
        ("shape(word, 2)\n", "shape takes only a column"),
        ("prefix(word, 0)\n", "expected a length from 1 to 999, found '0'"),
        ("prefix()\n", "no column ')'"),
        ("word | bias\n", "term 'bias': the bias must be alone"),
        ("# nothing\n", "template: no patterns"),
        ("padding _B\nword\n", "line 1: padding must be followed by two words"),
        ("padding a b\npadding a b\nword\n", "line 2: there is a padding line already"),
        ("columns word 2x\nword\n", "line 1: '2x' is not a name"),
        ("columns a a\na\n", "line 1: columns must be followed by"),
        ("columns form shape\nform\n", "the name 'shape' is reserved"),
        ("columns form tag\nword\n", "no column 'word'; the columns are form, tag, col0"),
        ("my_template.txt", "nor is it a file, or one of default, chunking, pos"),
    ],
)
def test_errors_name_the_line_and_the_term(text, message):
    with pytest.raises(DataError) as caught:
        Template(text)
    assert message in str(caught.value)


def test_sources(tmp_path, monkeypatch):
    text = "# mine\ncolumns form tag\nform[-1] | tag  # both\nform[-1]|tag[0]\ncol2\n"
    path = tmp_path / "mine"
    path.write_text(text)
    monkeypatch.chdir(tmp_path)
    for source in (text, path, "mine", Template(text)):
        template = Template(source)
        assert template.text == text
        assert template.names == ["form[-1]|tag[0]", "col2[0]"]
        assert template.n_columns == 3
    path.write_text("word\nword[\n")
    with pytest.raises(DataError, match=r"mine, line 2: term 'word\['"):
        Template(path)
    path.write_bytes(b"word\n# \xff\n")
    with pytest.raises(DataError, match="mine, line 2: is not UTF-8"):
        Template(path)
    with pytest.raises(DataError, match="cannot be read"):
        Template(tmp_path / "other")
    with pytest.raises(DataError, match="not 7"):
        Template(7)


def test_expanding_keeps_directives():
    template = Template("columns form tag\npadding a b\nextra[-1] | form\nbias\n").expand(3)
    assert template.names == ["tag[-1]|form[0]", "col2[-1]|form[0]", "bias"]
    assert template.padding == ("a", "b")
    assert template.columns == ("form", "tag")


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("1990", "digits"), ("1,000.5", "number"), ("--", "punct"), ("co-op", "lower"),
        ("I", "capital"), ("U.S.", "capital"), ("IBM", "upper"), ("Smith", "initial"),
        ("McDonald", "mixed"), ("3rd", "alnum"), ("", "punct"), ("犬", "lower"),
    ],
)  # fmt: skip
def test_classes_of_words(word, expected):
    assert word_class(word) == expected


def test_shapes():
    assert features_at("shape(word)", ["Ab-犬犬9"], 0) == {"shape(word[0])=Xx-aad"}
    assert short_shape("AAbb--犬犬99") == "Xx-ad"
    assert short_shape("") == ""


# ---- the vocabulary ------------------------------------------------------------------------------

values = st.booleans() | st.integers(-3, 3) | st.floats(-4, 4) | st.sampled_from(["a", "b", "a=b"])
dicts = st.dictionaries(st.sampled_from(["f", "g", "f=a", "h"]), values, max_size=4)


def numbers_of(token):
    numbers: Counter[str] = Counter()
    for name, value in token.items():
        if isinstance(value, str):
            numbers[f"{name}={value}"] += 1.0
        elif value:
            numbers[name] += float(value)
    return dict(numbers)


@quick
@given(st.lists(st.lists(dicts, max_size=3), max_size=3), st.lists(st.lists(dicts, max_size=3)))
def test_dicts_become_the_rows_they_say(X, other):
    vocabulary = Vocabulary()
    made = vocabulary.fit_transform(X)
    names = vocabulary.names_
    expected = [numbers_of(token) for sequence in X for token in sequence]
    assert set(names) == {name for token in expected for name in token}
    assert len(set(names)) == len(names)
    for data, sequences in [(X, made), (other, Vocabulary(names).transform(other))]:
        tokens = [numbers_of(token) for sequence in data for token in sequence]
        dense = [[token.get(name, 0.0) for name in names] for token in tokens]
        np.testing.assert_array_equal(
            sequences.matrix.toarray(), np.reshape(dense, (len(tokens), len(names)))
        )
        assert sequences.lengths.tolist() == list(map(len, data))


def test_lists_of_names_are_ones_and_the_most_frequent_comes_first():
    vocabulary = Vocabulary()
    X = vocabulary.fit_transform([[["b", "a", "a"], ("c", "a")], [[], ["c", "a"]]])
    assert vocabulary.names_ == ["a", "c", "b"]
    np.testing.assert_array_equal(X.matrix.toarray(), [[1, 0, 1], [1, 1, 0], [0, 0, 0], [1, 1, 0]])
    unseen = vocabulary.transform([[["z", "c"]]])
    np.testing.assert_array_equal(unseen.matrix.toarray(), [[0, 1, 0]])


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, np.float32("nan"), None, b"x", 1j, Decimal(1), 10**400]
)
def test_values_that_are_no_numbers_are_named(value):
    X = [[{"a": 1}], [{"a": np.bool_(True)}, {"b": "x", "a": value}]]
    with pytest.raises(DataError, match=r"sequence 1, token 1: feature 'a' has the value"):
        Vocabulary().fit_transform(X)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["word", "word"]], "sequence 0, token 0 is of type str"),
        ([[{"a": 1}], [["a"]]], "sequence 1, token 0 is of type list"),
        ([[["a"], {"a": 1}]], "sequence 0, token 1 is of type dict"),
        ([[["a"]], [["a", 7]]], "sequence 1, token 0: the name of a feature is a str, not 7"),
        ([[{7: 1}]], "sequence 0, token 0: the name of a feature is a str, not 7"),
        ([[{"a"}]], "sequence 0, token 0 is of type set"),
    ],
)
def test_tokens_of_other_kinds_are_named(X, message):
    with pytest.raises(DataError, match=message):
        Vocabulary().fit_transform(X)


def test_a_vocabulary_without_names_or_with_equal_ones():
    with pytest.raises(DataError, match="fit_transform first"):
        Vocabulary().transform([])
    with pytest.raises(DataError, match="not all different"):
        Vocabulary(["a", "a"]).transform([])


def test_names_are_made_when_they_are_used():
    """They take more memory than the solver's own arrays; copies and models have them too."""
    rows = [[("a", "D"), ("dog", "N")], [("a", "D"), ("cat", "N")]]
    extractor = Extractor("word[-1] | word[0]\ncol1[0]")
    first = extractor.fit_transform(rows)
    assert "vocabulary_" not in vars(extractor)
    copied = pickle.loads(pickle.dumps(extractor))
    other = Extractor.from_names(extractor.template_.text, extractor.names_)
    assert copied.names_ == other.names_ == extractor.names_
    assert len(extractor.names_) == first.matrix.shape[1]
    for one in (extractor, copied, other):
        assert (one.transform(rows).matrix != first.matrix).nnz == 0
    extractor.fit_transform(rows[:1])  # other names
    assert len(extractor.names_) == 4
    clf = mm.ChainSVC(template="default").fit(rows, [["x", "y"], ["x", "y"]])
    assert "feature_names_" not in vars(clf)
    assert clf.feature_names_ == clf._reader.names_
    with pytest.raises(AttributeError):
        _ = mm.ChainSVC().feature_names_


def test_threads_change_nothing(monkeypatch):
    """Several blocks of tokens, by one and by three threads."""
    random = np.random.RandomState(0)
    monkeypatch.setattr("maxmargin.features.windows.BLOCK", 1 << 13)
    rows = [[(f"w{i}", f"t{i % 7}") for i in random.randint(0, 999, 60)] for _ in range(700)]
    one, three = Extractor("chunking"), Extractor("chunking")
    first, second = one.fit_transform(rows), three.fit_transform(rows, n_jobs=3)
    assert one.names_ == three.names_
    other = [[(f"w{i}", "t1") for i in random.randint(0, 1999, 60)] for _ in range(400)]
    for a, b in ((first, second), (one.transform(other), three.transform(other, n_jobs=3))):
        assert a.matrix.shape[0] > 2 * (1 << 13)
        np.testing.assert_array_equal(a.matrix.indices, b.matrix.indices)
        np.testing.assert_array_equal(a.matrix.indptr, b.matrix.indptr)


def test_threads_make_the_names_at_once():
    random = np.random.RandomState(0)
    rows = [[(f"w{i}", f"t{i % 7}") for i in random.randint(0, 999, 20)] for _ in range(100)]
    for _ in range(5):
        extractor = Extractor("chunking")
        extractor.fit_transform(rows)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _, one=extractor: one.names_, range(8)))
        assert all(names == found[0] for names in found)
