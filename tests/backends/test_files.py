"""Data that stay in their files: what is agreed, what is kept on disk, and what is refused."""

from __future__ import annotations

import io
import os
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

import maxmargin as mm
from maxmargin.backends import files as files_module
from maxmargin.backends.files import FileData, balance
from maxmargin.backends.local import InProcess
from maxmargin.backends.packed import Part, examples_of, read_packed
from maxmargin.backends.packing import write_packed
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.multiclass.problem import Multiclass

TOL = 1e-3


def rows(n=60, d=7, K=3, seed=0):
    random = np.random.RandomState(seed)
    X = np.round(random.randn(n, d), 3) * (random.rand(n, d) < 0.6)
    return X, np.argmax(X[:, :K] + 0.5 * random.randn(n, K), axis=1)


def svmlight_parts(folder, X, y, parts=3):
    for k in range(parts):
        path = folder / f"part-{k}.svm"
        dump_svmlight_file(X[k::parts], y[k::parts], str(path), zero_based=False)
    order = np.concatenate([np.arange(len(y))[k::parts] for k in range(parts)])
    return mm.Files(folder / "part-*.svm", cache=folder / "cache"), order


def sentences(n=40, seed=0):
    random = np.random.RandomState(seed)
    words = ["the", "a", "dog", "cat", "barks", "sleeps", "runs", "big"]
    X = [[(words[i], "PQ"[i % 2]) for i in random.randint(8, size=random.randint(1, 6))]
         for _ in range(n)]  # fmt: skip
    return X, [["ABC"[len(word) % 3] for word, _ in x] for x in X]


def conll_parts(folder, X, Y, parts=3):
    for k in range(parts):
        text = [
            "".join(f"{w} {p} {t}\n" for (w, p), t in zip(x, y, strict=True))
            for x, y in zip(X[k::parts], Y[k::parts], strict=True)
        ]
        (folder / f"part-{k}.conll").write_text("\n".join(text))
    return mm.Files(str(folder / "part-*.conll"), cache=folder / "cache")


@pytest.mark.parametrize("backend", [None, InProcess(1), InProcess(2), InProcess(9)])
def test_rows_in_files_give_the_optimum_of_rows_in_memory(tmp_path, backend):
    X, y = rows()
    files, order = svmlight_parts(tmp_path, X, y)
    expected = mm.MulticlassSVC(C=0.5, tol=TOL).fit(X, y)
    clf = mm.MulticlassSVC(C=0.5, tol=TOL, backend=backend).fit(files)
    assert clf.result_.converged
    allowed = TOL * 0.5 * len(y)
    assert abs(clf.result_.primal - expected.result_.primal) <= allowed
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.n_features_in_ == 7
    np.testing.assert_array_equal(clf.predict(files), clf.predict(X[order]))


def test_one_file_gives_the_very_iterates(tmp_path):
    X, y = rows()
    files, order = svmlight_parts(tmp_path, X, y, parts=2)
    memory = mm.MulticlassSVC(C=0.5, solver="sdm").fit(sp.csr_matrix(X[order]), y[order])
    disk = mm.MulticlassSVC(C=0.5, solver="sdm").fit(files)
    np.testing.assert_array_equal(memory.coef_, disk.coef_)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 2.0, 2: 0.5}])
def test_class_weights_are_those_of_all_files(tmp_path, class_weight):
    X, y = rows()
    files, _ = svmlight_parts(tmp_path, X, y)
    options = {"C": 0.5, "tol": 1e-5, "class_weight": class_weight, "solver": "sdm"}
    expected = mm.MulticlassSVC(**options).fit(X, y)
    found = mm.MulticlassSVC(**options, backend=InProcess(2)).fit(files)
    assert found.result_.primal == pytest.approx(expected.result_.primal, rel=1e-4)


def test_two_classes_and_costs(tmp_path):
    X, y = rows(K=2)
    weight = np.random.RandomState(1).uniform(0.5, 2.0, len(y)).round(2)
    lines = [
        f"{'+1' if t else '-1'} cost:{c} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x) if v)
        for x, t, c in zip(X, y, weight, strict=True)
    ]
    for k in range(2):
        (tmp_path / f"{k}.svm").write_text("\n".join(lines[k::2]) + "\n")
    files = mm.Files(tmp_path / "*.svm", cache=tmp_path)
    expected = mm.BinarySVC(C=0.5, tol=1e-5).fit(X, y, weight)
    found = mm.BinarySVC(C=0.5, tol=1e-5, backend=InProcess(2)).fit(files)
    assert found.result_.primal == pytest.approx(expected.result_.primal, rel=1e-4)
    assert mm.train(Binary(), files, C=0.5).converged


@pytest.mark.parametrize("backend", [None, InProcess(2)])
def test_sentences_in_files(tmp_path, backend):
    X, Y = sentences()
    files = conll_parts(tmp_path, X, Y)
    settings = {"C": 0.2, "tol": TOL, "template": "default", "start_stop": True}
    expected = mm.ChainSVC(**settings).fit(X, Y)
    clf = mm.ChainSVC(**settings, backend=backend).fit(files)
    assert set(clf.feature_names_) == set(expected.feature_names_)
    assert clf.classes_.tolist() == ["A", "B", "C"]
    assert abs(clf.result_.primal - expected.result_.primal) <= TOL * 0.2 * len(X)
    ordered = [x for k in range(3) for x in X[k::3]]
    assert clf.predict(files) == clf.predict(ordered)
    clf.save(tmp_path / "model.mm")
    assert mm.load(tmp_path / "model.mm").predict(ordered) == clf.predict(ordered)


def test_hmm_files_and_npz(tmp_path):
    random = np.random.RandomState(0)
    matrix = np.round(random.randn(30, 4), 2)
    y = 1 + np.argmax(matrix[:, :3], axis=1)
    offsets = np.array([0, 4, 9, 15, 21, 30])
    number = np.searchsorted(offsets, np.arange(30), side="right")
    lines = [
        f"{t} qid:{q} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x))
        for x, t, q in zip(matrix, y, number, strict=True)
    ]
    (tmp_path / "a.hmm").write_text("\n".join(lines) + "\n")
    np.savez(tmp_path / "b.npz", X=matrix, y=y, offsets=offsets)
    X = [matrix[a:b] for a, b in pairwise(offsets)]
    Y = [y[a:b].tolist() for a, b in pairwise(offsets)]
    expected = mm.ChainSVC(C=0.2, tol=1e-5).fit(X, Y)
    for name in ("a.hmm", "b.npz"):
        clf = mm.ChainSVC(C=0.2, tol=1e-5).fit(mm.Files(tmp_path / name, cache=tmp_path))
        assert clf.result_.primal == pytest.approx(expected.result_.primal, rel=1e-4)
        assert clf.classes_.tolist() == [1, 2, 3]
        assert clf.predict(mm.Files(tmp_path / name)) == clf.predict(X)


def test_a_restart_parses_nothing(tmp_path, monkeypatch):
    files, _ = svmlight_parts(tmp_path, *rows())
    first = mm.MulticlassSVC(C=0.5).fit(files)

    def refuse(*_):
        raise AssertionError("a file was parsed again")

    monkeypatch.setattr(files_module, "read_same", refuse)
    monkeypatch.setattr("maxmargin.backends.formats._survey", refuse)
    again = mm.MulticlassSVC(C=0.5).fit(files)
    np.testing.assert_array_equal(first.coef_, again.coef_)


def test_a_changed_file_is_read_again(tmp_path):
    X, y = rows()
    files, _ = svmlight_parts(tmp_path, X, y)
    first = mm.MulticlassSVC(C=0.5).fit(files)
    dump_svmlight_file(2 * X, y, str(tmp_path / "part-1.svm"), zero_based=False)
    assert mm.MulticlassSVC(C=0.5).fit(files).result_.primal != first.result_.primal


def test_packed_arrays_are_mapped_and_not_copied(tmp_path):
    files, _ = svmlight_parts(tmp_path, *rows())
    data = FileData(files)
    pack = data.pack(Multiclass(3))
    values = pack.data.rows.values
    while isinstance(values, np.ndarray) and not isinstance(values, np.memmap):
        values = values.base
    assert isinstance(values, np.memmap)


@settings(max_examples=25)
@given(
    sizes=st.lists(st.integers(0, 5), min_size=1, max_size=4),
    dense=st.booleans(),
    chains=st.booleans(),
    single=st.booleans(),
)
def test_packed_parts_come_back(tmp_path_factory, sizes, dense, chains, single):
    random = np.random.RandomState(sum(sizes))
    place = tmp_path_factory.mktemp("packed") / "shard"
    parts = []
    for n in sizes:
        matrix = (random.rand(n, 3) * (random.rand(n, 3) < 0.5)).astype(
            np.float32 if single else np.float64
        )
        offsets = np.array([0, n // 2, n]) if chains else None
        weight = random.rand(2 if chains else n)
        parts.append(
            Part(matrix if dense else sp.csr_matrix(matrix), np.arange(n) % 2, offsets, weight)
        )
    write_packed(place, [lambda part=part: part for part in parts], 3)
    found = read_packed(place, 3, 3)
    whole = np.concatenate([p.matrix if dense else p.matrix.toarray() for p in parts])
    np.testing.assert_array_equal(found.matrix if dense else found.matrix.toarray(), whole)
    np.testing.assert_array_equal(found.codes, np.concatenate([p.codes for p in parts]))
    np.testing.assert_array_equal(found.weight, np.concatenate([p.weight for p in parts]))
    if chains:
        X, Y = examples_of(found)
        assert len(X) == len(Y) == 2 * len(sizes)
    assert os.listdir(place.parent) == ["shard"]


def test_nothing_is_left_of_a_shard_that_could_not_be_packed(tmp_path):
    def good():
        return Part(np.ones((2, 2)), np.zeros(2, int), None, None)

    def broken():
        raise OSError("disk full")

    with pytest.raises(mm.MaxMarginError, match=r"shard: the cache .*disk full"):
        write_packed(tmp_path / "cache" / "shard", [good, broken], 2)
    assert os.listdir(tmp_path / "cache") == []
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(mm.MaxMarginError, match=r"file: the cache .* cannot be written"):
        mm.MulticlassSVC().fit(mm.Files(three(tmp_path), cache=tmp_path / "file"))


@pytest.mark.parametrize("damage", [b"", b"\xff", b"[]", b"{}", b'{"checksum": 1}', b"[" * 10**5])
def test_a_damaged_survey_is_made_again(tmp_path, damage):
    files, _ = svmlight_parts(tmp_path, *rows())
    first = mm.MulticlassSVC(C=0.5).fit(files)
    (place, *_) = Path(files.cache).glob("survey-*.json")
    whole = place.read_bytes()
    for content in (damage, whole.replace(b'"n_features": 7', b'"n_features": 3')):
        place.write_bytes(content)
        np.testing.assert_array_equal(mm.MulticlassSVC(C=0.5).fit(files).coef_, first.coef_)
        assert place.read_bytes() == whole


def test_an_altered_description_of_a_shard_is_refused(tmp_path):
    files = conll_parts(tmp_path, *sentences())
    first = mm.ChainSVC(template="default").fit(files)
    (place,) = Path(files.cache).glob("shard-*/codes.npy")
    np.save(place, np.load(place).astype(float))
    np.testing.assert_array_equal(mm.ChainSVC(template="default").fit(files).coef_, first.coef_)
    (place,) = Path(files.cache).glob("shard-*/meta.json")
    place.write_text(place.read_text().replace('"sequences": true', '"sequences": false'))
    with pytest.raises(mm.DataError, match=r"meta\.json was altered; delete this directory"):
        mm.ChainSVC(template="default").fit(files)


def test_headers_of_arrays_that_cannot_be_read_are_refused(tmp_path):
    """NumPy raises tokenize.TokenError for a bracket that is not closed."""
    npy = io.BytesIO()
    np.save(npy, np.eye(3))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", npy.getvalue().replace(b"(3, 3), }", b"(3, 3(, ("))
    with pytest.raises(mm.DataError, match=r"a\.npz: is not an npz file"):
        mm.MulticlassSVC().fit(mm.Files(tmp_path / "a.npz", cache=tmp_path))
    files = conll_parts(tmp_path, *sentences())
    mm.ChainSVC(template="default").fit(files)
    (place,) = Path(files.cache).glob("shard-*/codes.npy")
    content = place.read_bytes()
    for wrong in (b"',,4'", b"'<i4,"):  # a SyntaxError of NumPy
        place.write_bytes(content.replace(b"'<i4'", wrong))
        with pytest.raises(mm.DataError, match="delete this directory"):
            mm.ChainSVC(template="default").fit(files)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=20), st.integers(1, 6))
def test_shards_are_balanced(sizes, K):
    parts = balance(sizes, K)
    assert sorted(f for part in parts for f in part) == list(range(len(sizes)))
    assert all(parts)
    loads = [sum(max(sizes[f], 1) for f in part) for part in parts]
    assert max(loads) - min(loads) <= max(*sizes, 1)


def test_any_address_that_fsspec_knows(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    X, y = rows()
    svmlight_parts(tmp_path, X, y)
    memory = fsspec.filesystem("memory")
    for k in range(3):
        memory.pipe(f"/data/part-{k}.svm", (tmp_path / f"part-{k}.svm").read_bytes())
    files = mm.Files("memory://data/part-*.svm", cache=tmp_path / "other")
    expected = mm.MulticlassSVC(C=0.5).fit(mm.Files(tmp_path / "part-*.svm", cache=tmp_path))
    found = mm.MulticlassSVC(C=0.5).fit(files)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    with pytest.raises(mm.DataError, match="no file matches"):
        mm.MulticlassSVC().fit(mm.Files("memory://nothing/part-*.svm"))
    with pytest.raises(mm.DataError, match="nowhere://x"):
        mm.MulticlassSVC().fit(mm.Files("nowhere://x", "svmlight"))


def test_mistakes_are_named(tmp_path):
    good = tmp_path / "good.svm"
    good.write_text("1 1:1\n2 2:1\n")
    with pytest.raises(mm.DataError, match="no file matches"):
        mm.MulticlassSVC().fit(mm.Files(tmp_path / "none-*.svm"))
    with pytest.raises(mm.DataError, match=r"none\.svm"):
        mm.MulticlassSVC().fit(mm.Files(tmp_path / "none.svm"))
    with pytest.raises(mm.DataError, match="format is not clear from the name"):
        mm.Files("data.txt")
    with pytest.raises(mm.DataError, match="format is one of"):
        mm.Files("data.txt", "csv")
    with pytest.raises(mm.DataError, match="do not pass y or sample_weight"):
        mm.MulticlassSVC().fit(mm.Files(good), [1, 2])
    with pytest.raises(mm.DataError, match="contain no sequences"):
        mm.ChainSVC().fit(mm.Files(good, cache=tmp_path))
    with pytest.raises(mm.DataError, match="need a template"):
        (tmp_path / "a.conll").write_text("the D\n\n")
        mm.ChainSVC().fit(mm.Files(tmp_path / "a.conll", cache=tmp_path))
    (tmp_path / "b.conll").write_text("the DT D\n\n")
    with pytest.raises(mm.DataError, match=r"b\.conll.*same number of columns as .*a\.conll"):
        both = [tmp_path / "a.conll", tmp_path / "b.conll"]
        mm.ChainSVC(template="word").fit(mm.Files(both, cache=tmp_path))
    with pytest.raises(mm.DataError, match="not two"):
        mm.train(Binary(), mm.Files([good, three(tmp_path)], cache=tmp_path))


def three(folder):
    path = folder / "three.svm"
    path.write_text("3 1:1\n")
    return path


def test_forbidden_transitions_are_found_by_the_workers(tmp_path):
    X, Y = [[("a", "P"), ("b", "P")]], [["O", "I-X"]]
    files = conll_parts(tmp_path, X, Y, parts=1)
    with pytest.raises(mm.DataError, match="I-X"):
        mm.ChainSVC(transitions="bio", template="default", backend=InProcess(1)).fit(files)
