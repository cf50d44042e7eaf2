"""What files may contain: weights, no labels, odd names; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.backends import files as files_module


def npz(folder, name="data.npz", **arrays):
    np.savez(folder / name, **arrays)
    return mm.Files(folder / name, cache=folder / "cache")


def two_classes(n=40):
    random = np.random.RandomState(0)
    X = random.randn(n, 3)
    return X, (X[:, 0] + random.randn(n) > 0.5).astype(int)


def test_kernels_need_the_examples_in_memory(tmp_path):
    X, y = two_classes()
    files = npz(tmp_path, X=X, y=y)
    for make in (mm.BinarySVC, mm.MulticlassSVC, mm.ChainSVC):
        with pytest.raises(mm.DataError, match="kernel= needs the examples in memory"):
            make(kernel="rbf").fit(files)


def test_nothing_is_left_of_an_earlier_kernel(tmp_path):
    X, y = two_classes()
    clf = mm.BinarySVC(kernel="rbf", tol=1e-4).fit(X, 1 - y)
    clf.set_params(kernel=None).fit(npz(tmp_path, X=X, y=y))
    alone = mm.BinarySVC(tol=1e-4).fit(X, y)
    assert not hasattr(clf, "dual_coef_")
    np.testing.assert_allclose(clf.decision_function(X), alone.decision_function(X), atol=1e-9)
    sequences = npz(tmp_path, "chain.npz", X=X, y=y, offsets=[0, 20, 40])
    chain = mm.ChainSVC(kernel="rbf").fit([X[:20], X[20:]], [1 - y[:20], 1 - y[20:]])
    chain.set_params(kernel=None).fit(sequences)
    assert not hasattr(chain, "dual_coef_")


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 1: 0.5}])
def test_balanced_classes_count_the_weights_of_files(tmp_path, class_weight):
    X, y = two_classes()
    weight = 1 + 3 * y + np.arange(40) % 2
    options = {"tol": 1e-5, "class_weight": class_weight}
    expected = mm.BinarySVC(**options).fit(X, y, weight).result_
    found = mm.BinarySVC(**options).fit(npz(tmp_path, X=X, y=y, weight=weight)).result_
    assert found.dual <= expected.primal + 1e-9
    assert expected.dual <= found.primal + 1e-9


def test_what_cannot_be_learned_from_is_named(tmp_path):
    X, y = two_classes()
    for arrays, message in (
        ({"X": X, "y": y, "weight": np.zeros(40)}, "all weights in the files are zero"),
        ({"X": X, "y": y, "weight": (y == 0) * 1.0}, "only one class"),
        ({"X": X[:0], "y": y[:0]}, "no examples"),
        ({"X": X[:, :0], "y": y}, "no features"),
        ({"X": X, "y": y, "offsets": [0, 20, 40]}, "use ChainSVC"),
    ):
        with pytest.raises(mm.DataError, match=message):
            mm.BinarySVC().fit(npz(tmp_path, **arrays))
    sequences = npz(tmp_path, X=X, y=y, offsets=[0, 20, 40], weight=np.zeros(2))
    with pytest.raises(mm.DataError, match="all weights are zero"):
        mm.ChainSVC().fit(sequences)


def test_a_name_like_a_pattern_is_the_file(tmp_path):
    (tmp_path / "w[12].conll").write_text("a D\nb N\n\nb N\na D\n")
    (tmp_path / "w1.conll").write_text("a X\nb Y\n")
    files = mm.Files(tmp_path / "w[12].conll", cache=tmp_path / "cache")
    clf = mm.ChainSVC(template="default").fit(files)
    assert clf.classes_.tolist() == ["D", "N"]
    both = mm.Files(tmp_path / "w[1[]*.conll", cache=tmp_path / "cache")
    assert len(mm.ChainSVC(template="default").fit(both).classes_) == 4


def test_files_without_labels_can_be_predicted(tmp_path):
    texts = {
        "last": "the D\ndog N\n\na D\ncat N\n", "first": "D the\nN dog\n\nD a\nN cat\n",
        "none": "the\ndog\n\na\ncat\n", "wide": "the x y\n",
    }  # fmt: skip
    files = {}
    for name, text in texts.items():
        (tmp_path / f"{name}.conll").write_text(text)
        files[name] = tmp_path / f"{name}.conll"
    cache, expected = tmp_path / "cache", [["D", "N"], ["D", "N"]]
    last = mm.ChainSVC(template="default").fit(mm.Files(files["last"], cache=cache))
    first = mm.ChainSVC(template="default").fit(mm.Files(files["first"], label=0, cache=cache))
    first.save(tmp_path / "first.mm")
    for clf, labelled in (
        (last, "last"),
        (first, "first"),
        (mm.load(tmp_path / "first.mm"), "first"),
    ):
        assert clf.predict(mm.Files(files[labelled])) == expected
        assert clf.predict(mm.Files(files["none"])) == expected
        assert clf.predict(mm.Files(files["none"], label=None)) == expected
        with pytest.raises(mm.DataError, match="has 3 columns: the model was trained on 1"):
            clf.predict(mm.Files(files["wide"]))
    memory = mm.ChainSVC(template="default").fit(*mm.io.read_conll(files["last"]))
    for name in ("last", "none"):
        assert memory.predict(mm.Files(files[name])) == expected
    with pytest.raises(mm.DataError, match="training needs labels"):
        mm.ChainSVC(template="default").fit(mm.Files(files["last"], label=None, cache=cache))
    X, y = two_classes()
    clf = mm.BinarySVC().fit(X, y)
    np.testing.assert_array_equal(clf.predict(npz(tmp_path, X=X)), clf.predict(X))


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    """Nothing of it stays in the cache, under the name of the content that was there before."""
    path, cache = tmp_path / "r.conll", tmp_path / "cache"
    path.write_text("the D\ndog N\n")
    files = mm.Files(path, cache=cache)
    find_survey = files_module.find_survey

    def change(*arguments):
        found = find_survey(*arguments)
        path.write_text("the N\ndog X\n")
        return found

    monkeypatch.setattr(files_module, "find_survey", change)
    with pytest.raises(mm.DataError, match="changed while it was read"):
        mm.ChainSVC(template="default").fit(files)
    monkeypatch.undo()
    path.write_text("the D\ndog N\n")
    assert mm.ChainSVC(template="default").fit(files).predict(files) == [["D", "N"]]
