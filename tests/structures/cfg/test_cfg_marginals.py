"""Max-marginals of tags and constituents against enumeration, and their probabilities."""

import numpy as np
import pytest

import maxmargin as mm
from cfg_reference import over, random_treebank
from command_line import passed
from maxmargin.metrics.calibration import group
from maxmargin.structures.cfg.marginals import score_trees

GRAMMARS = [{}, {"features": "rich"}, {"input": "tagged"}, {"input": "tags"}]


@pytest.mark.parametrize("options", GRAMMARS, ids=["rules", "rich", "tagged", "tags"])
def test_max_marginals_against_enumeration(options):
    """Every constituent that any tree has, also those that the best tree does not have."""
    checked = 0
    for seed in range(6):
        bank = random_treebank(seed, (1, 2, 3, 4, 4), **options)
        pack = bank.problem.pack(bank.X)
        w = np.random.RandomState(seed).randn(pack.dim)
        outputs = [bank.outputs(tree) for tree in bank.trees]
        spans = [sorted({span for tree in trees for span in tree.spans()}) for trees in outputs]
        tags = bank.problem.grammar.tags
        for trees, constituents, found in zip(
            outputs, spans, score_trees(bank.problem, pack, w, spans), strict=True
        ):
            value = np.array([w @ bank.features(tree) for tree in trees])
            best = np.full(found.tags.shape, -np.inf)
            for tree, score in zip(trees, value, strict=True):
                for t, tag in enumerate(tree.tags()):
                    best[t, tags.index(tag)] = max(best[t, tags.index(tag)], score)
            np.testing.assert_allclose(found.tags, best, atol=1e-9)
            for constituent, margin in zip(constituents, found.margins, strict=True):
                has = np.array([constituent in tree.spans() for tree in trees])
                with_it, without = (value[each].max(initial=-np.inf) for each in (has, ~has))
                assert margin == pytest.approx(with_it - without, abs=1e-9)
                checked += np.isfinite(margin)
    assert checked > 20


PHRASES = [
    "(S (NP (D the) (N {0})) (VP (V sees) (NP (NP (D a) (N {1})) (PP (P with) (NP (N {2}))))))",
    "(S (NP (D the) (N {0})) (VP (V sees) (NP (D a) (N {1})) (PP (P with) (NP (N {2})))))",
]


def ambiguous(n, seed):
    """Trees whose attachment depends on the last noun, but not always."""
    random = np.random.RandomState(seed)
    nouns = ["dog", "cat", "bird", "fish"]
    trees = []
    for _ in range(n):
        a, b, c = random.choice(nouns, 3)
        attached = random.rand() < (0.85 if c in ("dog", "cat") else 0.2)
        trees.append(mm.as_tree(PHRASES[0 if attached else 1].format(a, b, c)))
    return trees


@pytest.fixture(scope="module")
def parser():
    clf = mm.CFGSVC(C=0.3, features="rich").fit(None, ambiguous(60, 0))
    return mm.calibrate(clf, None, ambiguous(300, 1)), ambiguous(300, 2)


def test_probabilities_of_constituents(parser):
    clf, trees = parser
    words = [tree.leaves() for tree in trees]
    found, predicted = clf.predict_marginals(words), clf.predict(words)
    p, right = [], []
    for each, tree, true in zip(found, predicted, trees, strict=True):
        assert set(each.constituents) == set(tree.spans())
        np.testing.assert_allclose(each.tags.sum(axis=1), 1.0)
        p += each.constituents.values()
        right += [c in true.spans() for c in each.constituents]
    p, right = np.array(p), np.array(right)
    curve = group(p, right, 5)
    assert curve.error < 0.05
    assert p[right].mean() > p[~right].mean()


def test_sentences_without_tree_or_words(parser):
    clf, _ = parser
    nothing, strange = clf.predict_marginals([[], ["sees", "the", "sees"]])
    assert nothing.tags.shape == (0, len(clf.grammar_.tags)) and nothing.constituents == {}
    assert strange.constituents == {}
    np.testing.assert_allclose(strange.tags.sum(axis=1), 1.0)


def test_given_tags_are_certain():
    trees = ambiguous(80, 3)
    clf = mm.CFGSVC(C=0.3, input="tagged", features="rich").fit(None, trees[:40])
    mm.calibrate(clf, None, trees[40:])
    (found,) = clf.predict_marginals([trees[0].pos()])
    assert (found.tags.max(axis=1) == 1).all()
    assert [clf.grammar_.tags[k] for k in found.tags.argmax(axis=1)] == trees[0].tags()


def test_trees_of_tags():
    trees = ambiguous(80, 3)
    clf = mm.CFGSVC(C=0.3, input="tags").fit(None, trees[:40])
    mm.calibrate(clf, None, trees[40:])
    found = clf.predict([tree.tags() for tree in trees[40:]])
    right = [over(a, a.tags()) == b for a, b in zip(trees[40:], found, strict=True)]
    # All sentences have the same tags, so their probability is the frequency.
    assert clf.probability([trees[0].tags()])[0] == pytest.approx(np.mean(right), abs=0.05)


def test_files_and_commands(parser, tmp_path):
    clf, trees = parser
    clf.save(tmp_path / "m.mm")
    words = [tree.leaves() for tree in trees[:5]]
    loaded = mm.load(tmp_path / "m.mm").predict_marginals(words)
    for a, b in zip(loaded, clf.predict_marginals(words), strict=True):
        assert a.constituents == b.constituents and np.array_equal(a.tags, b.tags)
    mm.io.write_trees(tmp_path / "t.mrg", trees)
    passed("calibrate", tmp_path / "m.mm", tmp_path / "t.mrg", "-o", tmp_path / "n.mm")
    passed("predict", tmp_path / "n.mm", tmp_path / "t.mrg", "--probabilities",
           "-o", tmp_path / "out")  # fmt: skip
    p, tree = (tmp_path / "out").read_text().splitlines()[0].split("\t")
    assert 0 < float(p) < 1 and mm.as_tree(tree) == clf.predict(words[:1])[0]
