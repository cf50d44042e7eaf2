"""Reading svm_light files, and writing text files atomically."""

from __future__ import annotations

import errno
import gzip
import io
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from maxmargin.errors import DataError, MaxMarginError, ModelFileError
from maxmargin.io import read_examples, read_svmlight, write_lines_atomic
from maxmargin.io.sources import line_blocks
from maxmargin.io.svmlight import MAX_INDEX, _Parser
from maxmargin.saving.atomic import atomic_file

SRC = str(Path(__file__).parents[2] / "src")
quick = settings(
    max_examples=120,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@pytest.fixture
def write(tmp_path):
    def write_bytes(content):
        path = tmp_path / "train.txt"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_bytes


def parser(limit=MAX_INDEX, drop_unseen=False, dtype=np.float64):
    return _Parser("data.txt", limit, np.dtype(dtype), drop_unseen)


def same_rows(a, b):
    assert a.targets == b.targets
    assert a.line == b.line
    assert a.qid == b.qid
    assert a.cost == b.cost
    assert a.counts == b.counts
    for left, right in ((a.indices, b.indices), (a.values, b.values)):
        empty = [np.empty(0)]
        left, right = np.concatenate(left + empty), np.concatenate(right + empty)
        assert left.tobytes() == right.tobytes()


# ---- what is accepted --------------------------------------------------------------------------


def test_reads_a_plain_file(write):
    X, y = read_svmlight(write("1 1:0.5 3:-2\n-1 2:1e-3\n"))
    assert X.format == "csr"
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X.toarray(), [[0.5, 0, -2], [0, 1e-3, 0]])
    assert y.dtype == np.int64
    assert y.tolist() == [1, -1]


@pytest.mark.parametrize(
    "text",
    [
        "1 1:2 3:4\n2 2:5",
        "1 1:2 3:4\r\n2 2:5\r\n",
        "\n\n1 1:2 3:4\n   \n2 2:5\n\n",
        "# header\n1 1:2 3:4 # a:b 7:x\n  # indented\n2 2:5 #\n",
        "  1 \t 1:2\t3:4  \n2\t2:5\t\n",
        "1  1:2   3:4\n2 2:5 \n",
        "+1 +1:2. 3:4e0\n2.0 02:+5\n",
        "\ufeff1 1:2 3:4\n2 2:5\n",
        "1 1:2#comment\n".replace("#", " 3:4#") + "2 2:5\n",
        "1 sid:3 1:2 cost:2 3:4\n2 2:5\n",
    ],
    ids=str.encode,
)
def test_tolerates_layout(write, text):
    X, y = read_svmlight(write(text))
    np.testing.assert_array_equal(X.toarray(), [[2, 0, 4], [0, 5, 0]])
    assert y.dtype == np.int64
    assert y.tolist() == [1, 2]


def test_a_comment_may_be_in_any_encoding(write):
    X, _ = read_svmlight(write(b"1 1:2 # caf\xe9\n"))
    assert X.shape == (1, 1)


def test_examples_without_features(write):
    X, y = read_svmlight(write("1\n2\n"))
    assert X.shape == (2, 0)
    assert y.tolist() == [1, 2]
    X, _ = read_svmlight(write("1\n2 3:1\n1\n"), n_features=5)
    assert X.shape == (3, 5)
    assert X.indptr.tolist() == [0, 0, 1, 1]


def test_dtype_is_kept(write):
    X, _ = read_svmlight(write("1 1:0.1\n"), dtype=np.float32)
    assert X.dtype == np.float32
    assert X[0, 0] == np.float32(0.1)


@pytest.mark.parametrize(
    ("targets", "expected", "kind"),
    [
        (["1", "-1", "3"], [1, -1, 3], "i"),
        (["1.0", "2e0", "+3"], [1, 2, 3], "i"),
        (["9007199254740993"], [9007199254740993], "i"),
        (["1", "2.5"], [1.0, 2.5], "f"),
        (["1", "1e30"], [1.0, 1e30], "f"),
        (["99999999999999999999"], [1e20], "f"),
        (["1", "earn"], ["1", "earn"], "U"),
        (["1_0", "2"], ["1_0", "2"], "U"),
        (["naïve", "日本"], ["naïve", "日本"], "U"),
        (["inf", "verb"], ["inf", "verb"], "U"),
    ],
)
def test_type_of_targets(write, targets, expected, kind):
    _, y = read_svmlight(write("".join(f"{target} 1:1\n" for target in targets)))
    assert y.dtype.kind == kind
    assert y.tolist() == expected


def test_qid_and_cost(write):
    text = "# one\n1 qid:4 1:1\n\n2 qid:4 cost:2.5 1:1\n3 1:1 qid:-7 # word\n4 1:1\n"
    examples = read_examples(write(text))
    assert examples.qid.tolist() == [4, 4, -7, 0]
    assert examples.cost.tolist() == [1, 2.5, 1, 1]
    assert examples.line.tolist() == [2, 4, 5, 6]
    assert examples.X.toarray().tolist() == [[1]] * 4


def test_no_qid_and_no_cost(write):
    examples = read_examples(write("1 1:1\n"))
    assert examples.qid is None
    assert examples.cost is None


def test_unseen_features_are_dropped_on_request(write):
    path = write(f"1 1:1 3:3 9:9\n2 4:1\n3\n4 2:1 {10**30}:1\n")
    X, y = read_svmlight(path, n_features=3, drop_unseen=True)
    np.testing.assert_array_equal(X.toarray(), [[1, 0, 3], [0, 0, 0], [0, 0, 0], [0, 1, 0]])
    assert y.tolist() == [1, 2, 3, 4]


def test_files_of_many_blocks(write):
    lines = [f"{i % 3} qid:{i // 9} 1:{i} {i + 2}:0.5" for i in range(100_000)]
    lines[77_777] += " cost:3"
    path = write("\n".join(lines))
    assert path.stat().st_size > 2 << 20
    examples = read_examples(path)
    assert examples.X.shape == (100_000, 100_001)
    assert examples.X.nnz == 200_000
    assert examples.X[:, 0].toarray().ravel().tolist() == list(range(100_000))
    assert examples.qid.tolist() == [i // 9 for i in range(100_000)]
    assert examples.line.tolist() == list(range(1, 100_001))
    assert np.flatnonzero(examples.cost != 1).tolist() == [77_777]
    lines[90_000] += " 7:oops"
    with pytest.raises(DataError, match="line 90001"):
        read_examples(write("\n".join(lines)))


# ---- where the bytes come from -----------------------------------------------------------------


def test_sources(write, tmp_path, monkeypatch):
    path = write("1 2:3\n")
    zipped = tmp_path / "no-gz-suffix"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    plain_named_gz = tmp_path / "plain.gz"
    plain_named_gz.write_bytes(path.read_bytes())
    for source in (path, str(path), os.fsencode(path), zipped, plain_named_gz):
        X, _ = read_svmlight(source)
        assert X.toarray().tolist() == [[0, 3]]
    for content in (path.read_bytes(), zipped.read_bytes()):
        stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO(content)))
        monkeypatch.setattr(sys, "stdin", stdin)
        assert read_svmlight("-")[0].toarray().tolist() == [[0, 3]]


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_file_objects_are_left_open(compress):
    stream = io.BytesIO(compress(b"1 2:3\n"))
    X, _ = read_svmlight(stream)
    assert X.toarray().tolist() == [[0, 3]]
    assert not stream.closed


def test_text_mode_is_refused():
    with pytest.raises(DataError, match="mode 'rb'"):
        read_svmlight(io.StringIO("1 1:1\n"))


# ---- what is refused ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 x3:1", "feature index 'x3' is not an integer; write index:value with index >= 1"),
        ("1 1.0:1", "feature index '1.0' is not an integer"),
        ("1 1_0:1", "feature index '1_0' is not an integer"),
        ("1 0:1", "feature index 0 is below 1"),
        ("1 -4:1", "feature index -4 is below 1"),
        ("1 3:1 2:1", "feature index 2 comes after 3"),
        ("1 3:1 3:1", "feature index 3 is repeated"),
        ("1 3", "'3' is not a feature"),
        ("1 3:", "'3:' is not a feature"),
        ("1 :3", "':3' is not a feature"),
        ("1 3: 4:5", "'3:' is not a feature"),
        ("1 1: 2:3 :4", "'1:' is not a feature"),
        ("1 1:2:3", "the value of '1:2:3' is not a number"),
        ("1 1:abc", "the value of '1:abc' is not a number"),
        ("1 1:1_0", "the value of '1:1_0' is not a number"),
        ("1 1:nan", "'1:nan' is not a finite float64 number"),
        ("1 1:-inf", "'1:-inf' is not a finite float64 number"),
        ("1 1:1e999", "'1:1e999' is not a finite float64 number"),
        (f"1 {2**31}:1", f"feature index {2**31} is above {2**31 - 1}"),
        (f"1 {10**30}:1", f"feature index {10**30} is above"),
        ("1 " + "9" * 5000 + ":1", "is not an integer"),
        ("1:1 2:1", "the target is missing"),
        ("qid:1 2:1", "the target is missing"),
        ("1 qid:x 2:1", "'qid:x' is not an integer; write qid:integer"),
        ("1 2:1 sid:1.5", "'sid:1.5' is not an integer"),
        (f"1 qid:{2**63}", "is not an integer"),
        ("1 cost:-1 2:1", "'cost:-1' is not a weight"),
        ("1 cost:nan 2:1", "'cost:nan' is not a weight"),
        ("1 cost: 2:1", "'cost:' is not a weight"),
        ("nan 1:1", "the target 'nan' is not a finite number"),
    ],
)
def test_errors_name_file_line_and_token(write, line, said):
    path = write(f"# first\n1 1:1\n{line} # comment\n1 1:1\n")
    with pytest.raises(DataError) as caught:
        read_svmlight(path)
    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert said in str(caught.value)
    assert (caught.value.path, caught.value.line) == (str(path), 3)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1 1:1\n\xff\xfe 1:1\n", "is not UTF-8 text"),
        (b"1 1:1\n1\x00 1:1\n", "contains a zero byte, so it is a binary file"),
        (b"1 1:1\n" + b"1 1:1 # no feature" * 1000 + b"\n1\x00 1:1\n", "is not UTF-8 text"),
        (b"1 1:1\ncaf\xe9 1:1\n", "is not UTF-8 text"),
    ],
    ids=["other", "binary", "late zero byte", "latin1"],
)
def test_other_encodings_are_refused(write, content, said):
    with pytest.raises(DataError, match=f"line [23]: {said}"):
        read_svmlight(write(content))


def test_too_large_for_float32_only(write):
    path = write("1 1:1e39\n")
    assert read_svmlight(path)[0][0, 0] == 1e39
    with pytest.raises(DataError, match="'1:1e39' is not a finite float32 number"):
        read_svmlight(path, dtype=np.float32)


def test_index_above_n_features(write):
    path = write("1 1:1\n2 4:1\n")
    assert read_svmlight(path, n_features=4)[0].shape == (2, 4)
    with pytest.raises(DataError, match="line 2: feature index 4 is above 3"):
        read_svmlight(path, n_features=3)


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"# only\n  # comments", gzip.compress(b"", mtime=0)]
)
def test_no_examples(write, content):
    path = write(content)
    with pytest.raises(DataError, match="contains no examples") as caught:
        read_svmlight(path)
    assert caught.value.path == str(path)


def test_damaged_gzip(write):
    rng = np.random.default_rng(0)
    text = "".join(f"1 1:{v}\n" for v in rng.standard_normal(200))
    whole = gzip.compress(text.encode())
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF
    for content in (whole[:-1], whole[: len(whole) // 2], whole[:5], flipped, whole + b"junk"):
        with pytest.raises(DataError, match="corrupt or truncated"):
            read_svmlight(write(bytes(content)))


def test_unreadable_paths(tmp_path, monkeypatch):
    for path, reason in ((tmp_path / "none", "No such file"), (tmp_path, "directory")):
        with pytest.raises(DataError, match=f"cannot be read: .*{reason}") as caught:
            read_svmlight(path)
        assert caught.value.path == str(path)

    def denied(*args):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with pytest.raises(DataError, match="secret: cannot be read: Permission denied"):
        read_svmlight("secret")


# ---- properties --------------------------------------------------------------------------------

finite = st.floats(allow_nan=False, allow_infinity=False)
sparse_rows = st.lists(
    st.tuples(
        st.integers(-(2**63), 2**63 - 1), st.dictionaries(st.integers(1, 10**6), finite, max_size=5)
    ),
    min_size=1,
    max_size=5,
)


@quick
@given(sparse_rows, st.sampled_from([" ", "  ", "\t"]), st.sampled_from(["\n", "\r\n"]))
def test_round_trip(write, rows, blank, end):
    lines = [
        blank.join([str(target), *(f"{i}:{v!r}" for i, v in sorted(features.items()))])
        for target, features in rows
    ]
    X, y = read_svmlight(write(end.join(lines)))
    assert y.tolist() == [target for target, _ in rows]
    assert X.shape[1] == max((max(features, default=0) for _, features in rows), default=0)
    assert np.diff(X.indptr).tolist() == [len(features) for _, features in rows]
    expected = [item for _, features in rows for item in sorted(features.items())]
    assert (X.indices + 1).tolist() == [i for i, _ in expected]
    assert list(map(repr, X.data.tolist())) == [repr(v) for _, v in expected]


odd_tokens = """
    1 2 -1 earn é 1:2 2:0.5 3:-1e3 7:7 10:1 +4:+4 qid:1 qid:2 sid:1 cost:2 # #3:4 0:1 1:nan
    5:1e400 3: :4 : 1:1:1 1_0:1 2:1_0 4e0:1 99999999999999999999:1
"""
token = st.one_of(
    st.sampled_from(odd_tokens.split()),
    st.text(alphabet="0123456789.eE+-:_# \tqid", max_size=8),
)
messy_line = st.lists(token, max_size=6).map(" ".join)


@settings(max_examples=600)
@given(st.lists(messy_line, max_size=3), st.booleans(), st.sampled_from([np.float64, np.float32]))
def test_fast_and_careful_path_agree(lines, drop_unseen, dtype):
    limit = 5 if drop_unseen else MAX_INDEX
    block = [line.encode() + b"\n" for line in lines]
    fast = parser(limit, drop_unseen, dtype)._parse_clean(block, 1)
    if fast is not None:
        same_rows(fast, parser(limit, drop_unseen, dtype).parse_careful(block, 1))


@settings(max_examples=100)
@given(st.data())
def test_fast_path_takes_ordinary_files(data):
    lines = data.draw(
        st.lists(
            st.tuples(
                st.sampled_from(["1", "-1", "earn"]),
                st.sampled_from(["", " qid:12"]),
                st.dictionaries(st.integers(1, 99), finite, max_size=5),
                st.sampled_from(["", " ", " # word", "\r"]),
            ),
            max_size=5,
        )
    )
    block = [
        (target + qid + "".join(f" {i}:{v!r}" for i, v in sorted(f.items())) + end + "\n").encode()
        for target, qid, f, end in lines
    ]
    for drop_unseen, limit in ((False, MAX_INDEX), (True, 50)):
        fast = parser(limit, drop_unseen)._parse_clean(block, 1)
        assert fast is not None
        same_rows(fast, parser(limit, drop_unseen).parse_careful(block, 1))


@quick
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content):
    try:
        X, y = read_svmlight(io.BytesIO(content))
    except DataError as error:
        assert "<stream>" in str(error)
    else:
        assert X.shape[0] == len(y) > 0


def test_blocks_count_lines(monkeypatch):
    monkeypatch.setattr("maxmargin.io.sources._BLOCK_BYTES", 4)
    blocks = list(line_blocks(io.BytesIO(b"ab\ncd\nef\ngh")))
    assert [first for first, _ in blocks] == [1, 3]
    assert [line for _, lines in blocks for line in lines] == [b"ab\n", b"cd\n", b"ef\n", b"gh"]


# ---- errors and imports ------------------------------------------------------------------------


def test_errors_survive_pickle():
    error = DataError("is bad", path="a.txt", line=3)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.path, copy.line) == ("a.txt, line 3: is bad", "a.txt", 3)
    assert str(DataError("is bad")) == "is bad"
    assert str(DataError("is bad", path="a.txt")) == "a.txt: is bad"
    assert isinstance(error, ValueError)
    assert isinstance(error, MaxMarginError)
    assert str(pickle.loads(pickle.dumps(ModelFileError("x")))) == "x"


def test_scipy_is_imported_only_by_a_reader():
    program = (
        "import sys, maxmargin.io as io\n"
        "assert 'numpy' not in sys.modules\n"
        "io.read_svmlight, io.read_container\n"
        "assert 'numpy' in sys.modules\n"
        "assert not {'scipy', 'numba', 'sklearn'} & sys.modules.keys()\n"
    )
    # The package itself is stood in for, so that only what maxmargin.io imports is seen.
    stand_in = (
        "import sys, types\n"
        "package = types.ModuleType('maxmargin')\n"
        "package.__version__ = '0'\n"
        f"package.__path__ = [{os.path.join(SRC, 'maxmargin')!r}]\n"
        "sys.modules['maxmargin'] = package\n"
    )
    subprocess.run([sys.executable, "-c", stand_in + program], check=True)


def test_names_of_the_package():
    import maxmargin.io

    for name in maxmargin.io.__all__:
        assert getattr(maxmargin.io, name).__name__ == name
    assert dir(maxmargin.io) == sorted(maxmargin.io.__all__)
    with pytest.raises(AttributeError, match="nothing"):
        maxmargin.io.nothing  # noqa: B018


# ---- atomic writing ----------------------------------------------------------------------------


def test_write_lines(tmp_path, capfdbinary):
    path = tmp_path / "out.txt"
    path.write_text("old")
    write_lines_atomic(path, iter(["1", "naïve", ""]))
    assert path.read_bytes() == "1\nnaïve\n\n".encode()
    write_lines_atomic("-", ["é"])
    assert capfdbinary.readouterr().out == "é\n".encode()


def test_written_files_follow_the_umask_and_links(tmp_path):
    target = tmp_path / "target.txt"
    target.write_text("old")
    link = tmp_path / "link.txt"
    link.symlink_to(target)
    old = os.umask(0o027)
    try:
        write_lines_atomic(link, ["new"])
    finally:
        os.umask(old)
    assert link.is_symlink()
    assert target.read_text() == "new\n"
    assert target.stat().st_mode & 0o777 == 0o640


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "out.txt"
    path.write_text("old")

    def lines():
        yield "new"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_lines_atomic(path, lines())
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.txt"]


@pytest.mark.parametrize("call", ["os.fsync", "os.replace"])
def test_a_full_disk(tmp_path, monkeypatch, call):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(call, full)
    with pytest.raises(MaxMarginError, match=r"out\.txt: cannot be written: No space left"):
        write_lines_atomic(tmp_path / "out.txt", ["1"])
    assert os.listdir(tmp_path) == []


def test_unwritable_places(tmp_path, monkeypatch):
    missing = tmp_path / "none" / "out.txt"
    with pytest.raises(MaxMarginError, match="cannot be written: No such file") as caught:
        write_lines_atomic(missing, ["1"])
    assert str(missing) in str(caught.value)
    with pytest.raises(MaxMarginError, match=r"cannot be written: .*directory"):
        write_lines_atomic(tmp_path, ["1"])
    assert os.listdir(tmp_path) == []

    def denied(*args):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    with (
        pytest.raises(ModelFileError, match="cannot be written: Permission denied"),
        atomic_file(tmp_path / "x", ModelFileError),
    ):
        pass


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_devices_are_written_to_not_replaced():
    with pytest.raises(MaxMarginError, match="No space left"):
        write_lines_atomic("/dev/full", ["1"])
    write_lines_atomic("/dev/null", ["1"])
    assert not os.path.isfile("/dev/null")
    assert not os.path.isfile("/dev/full")
