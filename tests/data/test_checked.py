"""Arrays from outside are refused before compiled code can be led astray by them."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import maxmargin as mm
from maxmargin.data.checked import check_codes, csr_rows, first_not_finite
from maxmargin.errors import DataError
from maxmargin.structures.binary.problem import Binary
from maxmargin.structures.chain.problem import Chain
from maxmargin.structures.multiclass.problem import Multiclass

Y = np.arange(12) % 3


def good(format="csr"):
    dense = np.random.RandomState(0).randn(12, 5)
    return sp.csr_matrix(np.where(abs(dense) > 0.4, dense, 0.0)).asformat(format)


def altered(change):
    X = good()
    change(X)
    return X


def put(name, place, value, dtype=None):
    def change(X):
        array = getattr(X, name).astype(dtype or getattr(X, name).dtype)
        array[place] = value
        setattr(X, name, array)

    return change


def cut(name):
    def change(X):
        setattr(X, name, getattr(X, name)[:-3])

    return change


CHANGES = {
    "negative": (put("indices", 4, -1), r"X.indices\[4\] is -1, in row 0"),
    "just outside": (put("indices", 4, 5), r"indices\[4\] is 5.*must be in 0 to 4"),
    "far outside": (put("indices", 0, 2**30), r"indices\[0\] is 1073741824, in row 0"),
    "beyond int32": (put("indices", 0, 2**32 + 1, np.int64), r"indices\[0\] is 4294967297"),
    "falling indptr": (put("indptr", 3, 10**6), "indptr decreases from 1000000"),
    "negative indptr": (put("indptr", 1, -5), "indptr decreases from 0 to -5 at row 0"),
    "indptr from 1": (put("indptr", 0, 1), "indptr starts with 1"),
    "long indptr": (put("indptr", -1, 10**6), "indptr ends at 1000000"),
    "short indptr": (cut("indptr"), "indptr is an array of .* 12 rows need 13"),
    "short indices": (cut("indices"), "entries"),
    "short data": (cut("data"), "entries"),
    "a number for indices": (
        lambda X: setattr(X, "indices", np.array(0)),
        r"indices of shape \(\)",
    ),
    "columns of data": (lambda X: setattr(X, "data", X.data[:, None]), r"data of shape \(\d+, 1\)"),
    "real indices": (lambda X: setattr(X, "indices", X.indices * 1.0), "not of integers"),
}

#: What takes a matrix.
KINDS = ("binary", "multiclass", "kernel", "chain")

#: All damaged matrices, given to everything that takes one; each line is an error or "accepted".
SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import maxmargin as mm
from maxmargin.errors import DataError
from test_checked import CHANGES, KINDS, Y, altered, good

def calls(kind, X):
    if kind == "chain":
        clf = mm.ChainSVC(C=1.0).fit([good(), good()], [Y, Y])
        yield lambda: mm.ChainSVC(C=1.0).fit([good(), X], [Y, Y])
        yield lambda: mm.Sequences(X, [0, 12])
        yield lambda: clf.predict([good(), X])
        yield lambda: clf.predict_m_best([X], 2)
        return
    kernel = "rbf" if kind == "kernel" else None
    cls = mm.BinarySVC if kind == "binary" else mm.MulticlassSVC
    new = lambda: cls(kernel=kernel)
    y = Y > 0 if kind == "binary" else Y
    clf = new().fit(good(), y)
    yield lambda: clf.predict(X)
    yield lambda: clf.decision_function(X)
    yield lambda: clf.predict_m_best(X, 2)
    yield lambda: new().fit(X, y)

for kind in KINDS:
    for name, (change, _) in CHANGES.items():
        for call in calls(kind, altered(change)):
            try:
                print(kind, name, "accepted", call(), sep="\\t", flush=True)
            except DataError as error:
                print(kind, name, "refused", error, sep="\\t", flush=True)
"""


@pytest.fixture(scope="module")
def answers():
    """From another process: without the checks most of them are segmentation faults."""
    code = SCRIPT.format(tests=str(Path(__file__).parent))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    return [line.split("\t") for line in done.stdout.splitlines()]


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_matrices_are_refused_everywhere(kind, answers):
    lines = [answer[1:] for answer in answers if answer[0] == kind]
    assert len(lines) == 4 * len(CHANGES)
    for name, outcome, message in lines:
        assert outcome == "refused", (name, message)
        pattern = CHANGES[name][1]
        assert re.search(pattern if kind != "chain" else pattern.replace("X.", ""), message)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("problem", [Binary(), Multiclass(3)])
def test_packing_refuses_damaged_matrices(problem, name):
    with pytest.raises(DataError, match=CHANGES[name][1]):
        problem.pack(altered(CHANGES[name][0]))


@pytest.mark.parametrize("format", ["csr", "csc", "bsr", "coo", "lil", "dok", "dia"])
def test_other_formats_are_checked_before_they_are_converted(format):
    np.testing.assert_array_equal(csr_rows(good(format)).toarray(), good().toarray())
    X = good(format)
    if format in ("lil", "dok", "dia"):
        return
    (X.col if format == "coo" else X.indices)[0] = -7
    with pytest.raises(DataError, match=r"\[0\] is -7"):
        mm.MulticlassSVC().fit(X, Y)


def test_int64_indices_and_unsorted_rows_are_used_as_they_are():
    X = good()
    wide = good()
    wide.indices, wide.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    rows, others = Multiclass(3).pack(X).data.rows, Multiclass(3).pack(wide).data.rows
    np.testing.assert_array_equal(rows.indices, others.indices)
    assert np.shares_memory(rows.indices, X.indices)  # no copy where none is needed


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_packing_refuses_what_is_not_finite(bad):
    X = good()
    X.data[5] = bad
    with pytest.raises(DataError, match=r"X\[1, \d\] is .*must be finite"):
        Multiclass(3).pack(X)
    with pytest.raises(DataError, match=r"X\[1, \d\] is .*must be finite"):
        Multiclass(3).pack(X.toarray())
    with pytest.raises(DataError, match=r"of token 1 of sequence 0"):
        Chain(3).pack([X, X])


def test_a_sum_that_overflows_is_not_taken_for_infinity():
    assert first_not_finite(np.full(4, 1e308)) is None
    assert first_not_finite(np.array([1e308, 1e308, np.nan])) == 2


@pytest.mark.parametrize("bad", [-1, 3, 2**32, 2**40 + 1])
def test_packing_refuses_labels_out_of_range(bad):
    y = Y.astype(np.int64)
    y[7] = bad
    with pytest.raises(DataError, match=f"label 7 is {bad}: class numbers must be in 0 to 2"):
        Multiclass(3).pack(good(), y)
    with pytest.raises(DataError, match=f"label of token 7 is {bad}"):
        Chain(3).pack([good()], [y])
    with pytest.raises(DataError, match="class numbers must be in -1 to 1"):
        Binary().pack(good(), np.where(y == bad, 3, 1))
    with pytest.raises(DataError, match="one label per token"):
        Chain(3).pack([good()], [y[:-1]])
    with pytest.raises(DataError, match="got an array of float64"):
        check_codes([0.5], 1, 0, 2)


def of_files():
    """The arrays of an npz file with a CSR matrix, with sequences for chains."""
    X = good()
    return {
        "data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape),
        "y": Y, "weight": np.ones(12),
    }  # fmt: skip


def replace(name, place, value, dtype=None):
    def change(arrays):
        arrays[name] = arrays[name].astype(dtype or arrays[name].dtype)
        arrays[name][place] = value

    return change


def shorten(name):
    def change(arrays):
        arrays[name] = arrays[name][:-1]

    return change


#: What is wrong with the arrays of a file; those of a packed shard have other names for two.
FILES = {
    "negative index": (replace("indices", 4, -1), "is -1"),
    "index outside": (replace("indices", 4, 2**30), "is 1073741824"),
    "index of 64 bits": (replace("indices", 4, 2**32 + 1, np.int64), "is 4294967297"),
    "indptr falls": (replace("indptr", 3, 1000), "decreases"),
    "indptr too long": (replace("indptr", -1, 1000), "ends at 1000"),
    "indptr too short": (shorten("indptr"), "12 rows need 13"),
    "indices too short": (shorten("indices"), "entries"),
    "data too short": (shorten("data"), "entries"),
    "data not finite": (replace("data", 7, np.nan), "is nan: features must be finite"),
    "weight negative": (replace("weight", 7, -20.0), r"weight\[7\] is -20.0"),
    "weight not finite": (replace("weight", 7, np.nan), r"weight\[7\] is nan"),
    "weight too short": (shorten("weight"), "weight has shape"),
    "label missing": (replace("y", 7, np.nan, float), "NaN|float64"),
    "labels too short": (shorten("y"), "one for each|labels have shape"),
}
PACKED = FILES | {
    "label outside": (replace("y", 7, 2**30), "label 7 is 1073741824"),
    "label negative": (replace("y", 7, -1), "label 7 is -1"),
}

#: Each altered file is trained on; a line of the output is an error or "accepted".
FILES_SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
import pathlib, shutil
import numpy as np
import maxmargin as mm
from maxmargin.errors import DataError
from test_checked import FILES, PACKED, of_files

folder = pathlib.Path({folder!r})
names = dict(y="codes", data="values")

def train(path, cache):
    return mm.MulticlassSVC().fit(mm.Files(str(path), "npz", cache=cache))

def altered_npz(change):
    arrays = of_files()
    change(arrays)
    np.savez(folder / "bad.npz", **arrays)
    return train(folder / "bad.npz", folder / "other")

def altered_shard(change):
    (shard,) = folder.glob("cache/shard-*")
    shutil.copytree(shard, folder / "kept")
    try:
        arrays = dict()
        for name in of_files():
            if name != "shape":
                arrays[name] = np.load(shard / (names.get(name, name) + ".npy"))
        change(arrays)
        for name, array in arrays.items():
            np.save(shard / (names.get(name, name) + ".npy"), array)
        return train(folder / "good.npz", folder / "cache")
    finally:
        shutil.rmtree(shard)
        shutil.move(folder / "kept", shard)

np.savez(folder / "good.npz", **of_files())
train(folder / "good.npz", folder / "cache")
table, attempt = (FILES, altered_npz) if {kind!r} == "npz" else (PACKED, altered_shard)
for name, (change, _) in table.items():
    try:
        print(name, "accepted", attempt(change), sep="\\t", flush=True)
    except DataError as error:
        print(name, "refused", error, sep="\\t", flush=True)
"""


@pytest.mark.parametrize("kind", ["npz", "packed"])
def test_damaged_files_and_caches_are_refused(kind, tmp_path):
    """In another process, as above."""
    code = FILES_SCRIPT.format(tests=str(Path(__file__).parent), folder=str(tmp_path), kind=kind)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-300:] + done.stderr[-2000:]
    table = FILES if kind == "npz" else PACKED
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [name for name, _, _ in lines] == list(table)
    for name, outcome, message in lines:
        assert outcome == "refused", (name, message)
        assert re.search(table[name][1], message), (name, message)
        assert "bad.npz" in message or "delete this directory" in message


def test_long_doubles_beyond_the_range_of_float64_are_refused():
    X = np.ones((2, 3), np.longdouble)
    X[1, 2] = np.longdouble("1e4000") if np.finfo(np.longdouble).max > 1e308 else np.inf
    with pytest.raises(DataError, match=r"X\[1, 2\] is inf"):
        Multiclass(2).pack(X, [0, 1])


def test_a_mask_of_another_shape_and_too_many_labels_are_refused():
    """Compiled code reads the mask without looking at its shape, and labels are int16."""
    for shape in ((2, 3), (3, 3), (5, 4), (15,)):
        with pytest.raises(DataError, match=r"the mask has shape .* expected \(5, 3\)"):
            Chain(3, allowed=np.ones(shape, bool))
    with pytest.raises(DataError, match="at most 32767"):
        Chain(32768, cost=np.zeros((1, 1)))


def test_attributes_changed_after_fit_are_checked():
    X, Y = [np.eye(3), np.eye(3)[:2]], [[0, 1, 2], [1, 0]]
    clf = mm.ChainSVC().fit(X, Y)
    expected, coef = clf.predict(X), clf.coef_
    clf.coef_ = np.asfortranarray(coef.astype(np.float32).astype(np.float64))
    assert clf.predict(X) == expected
    for other in (coef[:, :2], coef[:2], np.full_like(coef, np.nan), np.zeros((3, 1000))):
        clf.coef_ = other
        with pytest.raises(DataError, match="of the model"):
            clf.predict(X)
        with pytest.raises(DataError, match="of the model"):
            clf.predict_m_best(X, 2)
    clf.coef_, clf.classes_ = coef, clf.classes_[:2]
    with pytest.raises(DataError, match="of the model"):
        clf.predict(X)


@pytest.mark.parametrize("relabel", [[0, 1, 7], [0, 1, -1], [0.5, 1, 2]])
def test_new_numbers_of_classes_are_checked(relabel):
    X, y = np.random.default_rng(0).standard_normal((12, 3)), np.arange(12) % 3
    start = mm.train(Multiclass(3), X, y, solver="sdm", keep=True).state
    start.truth = start.truth[:0]  # the check of the true labels would refuse them as well
    start.n, start.offsets = 0, start.offsets[:1]
    with pytest.raises(DataError, match="class"):
        mm.train(Multiclass(3), X, y, solver="sdm", start=start, relabel=np.array(relabel))


@pytest.mark.parametrize("cls", [mm.BinarySVC, mm.MulticlassSVC])
def test_weights_of_another_shape_are_not_broadcast(cls):
    """One row of weights would be used for all classes without an error."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    y = np.arange(12) % (2 if cls is mm.BinarySVC else 3)
    clf = cls().fit(X, y)
    coef = clf.coef_
    for other in (coef.ravel(), coef[:1, :1], np.full_like(coef, np.nan)):
        clf.coef_ = other
        with pytest.raises(DataError, match="of the model"):
            clf.predict(X)
    clf.coef_, clf.intercept_ = coef, np.zeros(7)
    with pytest.raises(DataError, match="of the model"):
        clf.predict(X)
