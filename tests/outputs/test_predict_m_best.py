"""Several outputs for users: the estimators, the command line, and calibrated confidences."""

import itertools

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

import maxmargin as mm
from maxmargin.cli.app import app
from maxmargin.datasets import load_digits_split
from tests.solvers.test_solvers import PythonChain

WORDS = [["the", "dog", "barks"], ["a", "cat", "sleeps", "well"], ["dogs", "bark"]]
TAGS = [["D", "N", "V"], ["D", "N", "V", "A"], ["N", "V"]]
X_WORDS = [[[word] for word in words] for words in WORDS]


@pytest.fixture(scope="module")
def tagger():
    return mm.ChainSVC(C=1.0, start_stop=True).fit(X_WORDS, TAGS)


@pytest.fixture(scope="module")
def digits():
    X, X_test, y, y_test = load_digits_split()
    return mm.MulticlassSVC(C=0.1).fit(X[:700], y[:700]), X[700:], y[700:], X_test, y_test


def score_of(clf, words, tags):
    names = clf.feature_names_
    k = [clf.classes_.tolist().index(tag) for tag in tags]
    total = clf.start_[k[0]] + clf.stop_[k[-1]]
    total += sum(clf.coef_[b, names.index(word)] for b, word in zip(k, words, strict=True))
    return total + sum(clf.transition_[a, b] for a, b in itertools.pairwise(k))


@pytest.mark.parametrize("diversity", [0.0, 0.5])
def test_taggings_of_a_sentence(tagger, diversity):
    found = tagger.predict_m_best(X_WORDS, m=5, diversity=diversity)
    assert [one[0][0] for one in found] == tagger.predict(X_WORDS)
    for words, outputs in zip(WORDS, found, strict=True):
        assert len({tuple(tags) for tags, _ in outputs}) == 5
        for tags, score in outputs:
            assert score == pytest.approx(score_of(tagger, words, tags))
        everything = sorted(
            (
                score_of(tagger, words, tags)
                for tags in itertools.product("ADNV", repeat=len(words))
            ),
            reverse=True,
        )
        if diversity == 0:
            np.testing.assert_allclose([s for _, s in outputs], everything[:5], atol=1e-9)
        margin = tagger.confidence([[[word] for word in words]])[0]
        assert margin == pytest.approx(everything[0] - everything[1], abs=1e-9)


def test_diverse_taggings_differ_more(tagger):
    def differences(diversity):
        outputs = [tags for tags, _ in tagger.predict_m_best(X_WORDS[1:2], 5, diversity)[0]]
        return sum(a != b for y, z in itertools.combinations(outputs, 2)
                   for a, b in zip(y, z, strict=True))  # fmt: skip

    assert differences(5.0) > differences(0.0)


def test_empty_and_short_sequences(tagger):
    found = tagger.predict_m_best([[], [["dog"]]], m=9)
    assert found[0] == [([], 0.0)] and len(found[1]) == 4
    assert tagger.confidence([[], [["dog"]]])[0] == np.inf
    assert tagger.predict_m_best([]) == []


def test_classes(digits):
    clf, _, _, X, _ = digits
    scores = clf.decision_function(X)
    found = clf.predict_m_best(X, m=3)
    assert [one[0][0] for one in found] == clf.predict(X).tolist()
    np.testing.assert_allclose([[s for _, s in one] for one in found], -np.sort(-scores)[:, :3])
    top = np.sort(scores)
    np.testing.assert_allclose(clf.confidence(X), top[:, -1] - top[:, -2])
    assert len(clf.predict_m_best(X[:1], m=99)[0]) == 10


def test_two_classes():
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    names = np.array(["bad", "good"])[y]
    for kind in (mm.BinarySVC, mm.MulticlassSVC):
        clf = kind(C=0.1).fit(X, names)
        found = clf.predict_m_best(X)
        assert [one[0][0] for one in found] == clf.predict(X).tolist()
        assert all(len(one) == 2 for one in found)
        np.testing.assert_allclose(clf.confidence(X), np.abs(clf.decision_function(X)))


def test_a_users_structure():
    random = np.random.RandomState(0)
    X = [random.randn(3, 2) for _ in range(6)]
    Y = [tuple(random.randint(0, 3, 3).tolist()) for _ in X]
    clf = mm.StructuredSVC(PythonChain(3), C=0.1).fit(X, Y)
    found = clf.predict_m_best(X, 3, diversity=1.0)
    assert [one[0][0] for one in found] == clf.predict(X)
    for x, outputs in zip(X, found, strict=True):
        assert len({y for y, _ in outputs}) == 3
        for y, score in outputs:
            assert score == pytest.approx(clf.coef_ @ PythonChain(3).features(x, y))
    assert (clf.confidence(X) >= 0).all()


@pytest.mark.parametrize("arguments", [{"m": 0}, {"diversity": -1.0}, {"diversity": np.nan}])
def test_bad_requests(tagger, arguments):
    with pytest.raises(mm.DataError, match=next(iter(arguments))):
        tagger.predict_m_best(X_WORDS, **arguments)


# Calibration.


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_probabilities_of_classes(digits, method):
    clf, X_held, y_held, X, y = digits
    calibrated = mm.calibrate(clf, X_held, y_held, method=method)
    p, right = calibrated.probability(X), clf.predict(X) == y
    assert ((p >= 0) & (p <= 1)).all()
    assert p.mean() == pytest.approx(right.mean(), abs=0.04)
    order = np.argsort(clf.confidence(X))
    assert (np.diff(p[order]) >= -1e-12).all()  # more confident, more probable
    constant = ((right.mean() - right) ** 2).mean()
    assert ((p - right) ** 2).mean() < 0.8 * constant  # Brier score
    assert calibrated is clf and clf.calibration_.method == method


def test_probabilities_of_sequences():
    """Noisy chains: what is said to be right with probability p is right about so often."""
    random = np.random.RandomState(0)
    means = random.randn(3, 4)
    X, Y = [], []
    for _ in range(900):
        y = random.randint(0, 3, 4)
        X.append(means[y] + 0.8 * random.randn(4, 4))
        Y.append(y.tolist())
    clf = mm.ChainSVC(C=0.1).fit(X[:200], Y[:200])
    calibrated = mm.calibrate(clf, X[200:550], Y[200:550])
    p = calibrated.probability(X[550:])
    right = np.array([a == b for a, b in zip(clf.predict(X[550:]), Y[550:], strict=True)])
    for low, high in ((0.0, 0.4), (0.4, 0.7), (0.7, 1.0)):
        some = (low <= p) & (p < high)
        assert some.sum() > 20
        assert right[some].mean() == pytest.approx(p[some].mean(), abs=0.15)
    assert calibrated.calibration_.curves["output"](np.array([np.inf])) == 1.0


def test_the_sigmoid_is_that_of_scikit_learn():
    """Platt's curve, compared with CalibratedClassifierCV on a fitted binary classifier."""
    from sklearn.calibration import _SigmoidCalibration

    from maxmargin.outputs.calibration import fit_sigmoid

    random = np.random.RandomState(1)
    margin = random.exponential(1.0, 300)
    right = random.rand(300) < 1 / (1 + np.exp(0.5 - 2 * margin))
    peer = _SigmoidCalibration().fit(margin, right)
    mine = fit_sigmoid(margin, right)
    np.testing.assert_allclose(mine(margin), peer.predict(margin), atol=1e-3)


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_scikit_learns_own_calibration_works(digits, method):
    _, X, y, X_test, y_test = digits
    multi = CalibratedClassifierCV(mm.MulticlassSVC(C=0.1), method=method, cv=3).fit(X, y)
    p = multi.predict_proba(X_test)
    assert p.shape == (len(X_test), 10) and np.allclose(p.sum(axis=1), 1)
    assert multi.score(X_test, y_test) > 0.9
    two = CalibratedClassifierCV(mm.BinarySVC(C=0.1), method=method, cv=3).fit(X, y > 4)
    assert two.predict_proba(X_test).shape == (len(X_test), 2)


def test_calibration_needs_right_and_wrong_outputs(tagger, digits):
    clf, X, y, _, _ = digits
    with pytest.raises(mm.DataError, match="no held-out output is wrong"):
        mm.calibrate(tagger, X_WORDS, TAGS)
    with pytest.raises(mm.DataError, match="no held-out output is right"):
        mm.calibrate(clf, X[:20], [-1] * 20)
    with pytest.raises(mm.DataError, match="method"):
        mm.calibrate(clf, X, y, method="best")
    with pytest.raises(mm.DataError, match="lengths"):
        mm.calibrate(clf, X, y[:-1])


# The command line.


def invoke(*arguments, code=0):
    done = CliRunner().invoke(app, list(map(str, arguments)))
    assert done.exit_code == code, done.output
    return done


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("m-best")
    lines = [f"{w} {t}" for words, tags in zip(WORDS, TAGS, strict=True)
             for w, t in [*zip(words, tags, strict=True), ("", "")]]  # fmt: skip
    (path / "data.txt").write_text("\n".join(line.strip() for line in lines))
    invoke("train", "chain", path / "data.txt", "-o", path / "tagger.mm", "-q")
    rows = ["1 1:1", "2 2:1", "3 3:1", "1 1:2", "2 2:2 3:1"]
    (path / "rows.txt").write_text("\n".join(rows) + "\n")
    invoke("train", "multiclass", path / "rows.txt", "-o", path / "classes.mm", "-q")
    return path


def test_sequences_are_written_once_for_each_output(folder):
    text = invoke("predict", folder / "tagger.mm", folder / "data.txt", "--m-best", 3).stdout
    blocks = [block.splitlines() for block in text.strip("\n").split("\n\n")]
    assert [block[0].split()[:2] for block in blocks] == [["#", str(r)] for r in (0, 1, 2)] * 3
    clf = mm.load(folder / "tagger.mm")
    X, _ = mm.io.read_conll(folder / "data.txt")
    expected = [pair for one in clf.predict_m_best(X, 3) for pair in one]
    assert [block[1].split()[0] for block in blocks] == ["the"] * 3 + ["a"] * 3 + ["dogs"] * 3
    for block, (tags, score) in zip(blocks, expected, strict=True):
        assert float(block[0].split()[2]) == score
        assert [line.split()[-1] for line in block[1:]] == tags
    best = invoke("predict", folder / "tagger.mm", folder / "data.txt").stdout
    first = [line for block in blocks[::3] for line in block[1:]]
    assert first == [line for line in best.splitlines() if line]


def test_diversity_on_the_command_line(folder):
    out = folder / "out.txt"
    invoke("predict", folder / "tagger.mm", folder / "data.txt", "--m-best", 2, "--diversity", 9,
           "-o", out)  # fmt: skip
    blocks = [block.splitlines() for block in out.read_text().strip("\n").split("\n\n")]
    for one, other in zip(blocks[::2], blocks[1::2], strict=True):
        assert all(a != b for a, b in zip(one[1:], other[1:], strict=True))


def test_numbered_features(folder, tmp_path):
    data = "1 qid:1 1:1\n2 qid:1 2:1\n1 qid:2 1:1\n"
    (tmp_path / "hmm.txt").write_text(data)
    invoke("train", "chain", tmp_path / "hmm.txt", "-o", tmp_path / "m", "-q")
    lines = invoke("predict", tmp_path / "m", tmp_path / "hmm.txt", "--m-best", 2).stdout
    assert [line if line in ("", "1", "2") else line[:4] for line in lines.splitlines()][:4] == [
        "# 0 ", "1", "2", "",
    ]  # fmt: skip


def test_classes_are_written_as_pairs(folder):
    lines = invoke("predict", folder / "classes.mm", folder / "rows.txt", "--m-best", 2).stdout
    clf = mm.load(folder / "classes.mm")
    for line, truth in zip(lines.splitlines(), "12312", strict=True):
        label, score, other, less = line.split("\t")
        assert label == truth and other != label and float(score) >= float(less)
    assert clf.classes_.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--m-best", 0], 1, "m must be a number"),
        (["--m-best", 2, "--scores"], 2, "writes scores"),
        (["--diversity", 1], 2, "needs --m-best"),
        (["--m-best", 2, "--diversity", -1], 1, "diversity must be"),
        (["--m-best", 2, "--diversity", 1], 1, "is not available for multiclass"),
    ],
)
def test_wrong_options(folder, options, code, message):
    done = invoke("predict", folder / "classes.mm", folder / "rows.txt", *options, code=code)
    assert message in " ".join(done.output.split()) and "Traceback" not in done.output
