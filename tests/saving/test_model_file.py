"""The model file: exact round trips, and refusal of everything that is not an intact model."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import pickle
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from maxmargin.errors import DataError, MaxMarginError, ModelFileError
from maxmargin.io import labels_from_json, labels_to_json, read_container, write_container
from maxmargin.saving.container import MAX_ENTRIES
from maxmargin.saving.sparse import decode_weights, encode_weights

META = {"problem": "multiclass", "C": 0.1, "classes": ["a", "b", None], "nested": {"é": [1, True]}}
ARRAYS = {
    "w": np.array([[1.5, -0.0, np.inf], [np.nan, 2.0, 1e-320]]),
    "labels": np.array(["earn", "grün", ""]),
    "n": np.array(7, dtype=np.int16),
}

quick = settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.mm"
    write_container(path, META, ARRAYS)
    return path


def same_array(a, b):
    return (
        (a.dtype, a.shape) == (b.dtype, b.shape)
        and a.flags.f_contiguous == b.flags.f_contiguous
        and a.tobytes() == b.tobytes()
    )


def same_content(content, meta=META, arrays=ARRAYS):
    return (
        content[0] == meta
        and list(content[1]) == list(arrays)
        and all(same_array(content[1][name], arrays[name]) for name in arrays)
    )


def refused(path, reason=None):
    with pytest.raises(ModelFileError, match=reason) as caught:
        read_container(path)
    assert str(caught.value).startswith(f"{path}: ")


# ---- round trips -------------------------------------------------------------------------------


def test_round_trip(model):
    assert same_content(read_container(model))


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),
        np.array("word"),
        np.array(True),
        np.empty((0,)),
        np.empty((3, 0, 2), dtype=np.int8),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.asfortranarray(np.arange(24).reshape(2, 3, 4)),
        np.arange(20.0)[::3],
        np.arange(24.0).reshape(4, 6)[::2, 1:4],
        np.arange(6.0).reshape(2, 3)[:, ::-1],
        np.array([1, 2], dtype=">i4"),
        np.array(["ab", "日本"], dtype=">U2"),
        np.array([1.5, np.nan], dtype=np.float16),
        np.array([0.1], dtype=np.float32),
        np.array([2**64 - 1], dtype=np.uint64),
        np.frombuffer(struct.pack("<Q", 0x7FF8DEADBEEF0001), dtype=np.float64),
        np.zeros((1,) * 32),
    ],
    ids=lambda a: f"{a.dtype.str}{a.shape}",
)
def test_arrays_come_back_bit_for_bit(tmp_path, array):
    path = tmp_path / "m.mm"
    write_container(path, {}, {"a": array})
    _, arrays = read_container(path)
    contiguous = array if array.flags.f_contiguous else np.asarray(array, order="C")
    assert same_array(arrays["a"], contiguous)
    assert arrays["a"].flags.writeable


dtypes = st.one_of(
    hnp.boolean_dtypes(),
    hnp.integer_dtypes(endianness="?"),
    hnp.unsigned_integer_dtypes(endianness="?"),
    hnp.floating_dtypes(endianness="?", sizes=(16, 32, 64)),
    hnp.unicode_string_dtypes(endianness="?", max_len=5),
)
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)


@quick
@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_.-]{1,9}", fullmatch=True),
        hnp.arrays(dtypes, shapes),
        max_size=3,
    ),
    st.booleans(),
)
def test_any_arrays_round_trip(tmp_path, arrays, fortran):
    if fortran:
        arrays = {name: np.asarray(array, order="F") for name, array in arrays.items()}
    write_container(tmp_path / "m.mm", META, arrays)
    assert same_content(read_container(tmp_path / "m.mm"), META, arrays)


def test_the_same_content_gives_the_same_bytes(model, tmp_path):
    write_container(tmp_path / "again.mm", META, ARRAYS)
    assert (tmp_path / "again.mm").read_bytes() == model.read_bytes()


def test_other_tools_can_read_the_arrays(model):
    with zipfile.ZipFile(model) as archive:
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
        w = np.load(io.BytesIO(archive.read("w.npy")), allow_pickle=False)
        header = json.loads(archive.read("meta.json"))
    assert same_array(w, ARRAYS["w"])
    assert header["format"] == "maxmargin-model"
    assert header["version"] == 1


def test_a_model_written_to_a_pipe_can_be_read(tmp_path):
    read_end, write_end = os.pipe()
    write_container(f"/dev/fd/{write_end}", META, ARRAYS)
    os.close(write_end)
    with open(read_end, "rb") as pipe:
        (tmp_path / "m.mm").write_bytes(pipe.read())
    assert same_content(read_container(tmp_path / "m.mm"))


# ---- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "array",
    [
        np.array([{}], dtype=object),
        np.zeros(2, dtype=[("a", "f8")]),
        np.array([b"x"]),
        np.array([1j]),
        np.array(["2020-01-01"], dtype="M8[D]"),
        np.zeros(2, dtype=np.longdouble),
    ],
    ids=lambda a: str(a.dtype),
)
def test_other_types_are_not_written(tmp_path, array):
    with pytest.raises(ModelFileError, match="array 'a' has type"):
        write_container(tmp_path / "m.mm", {}, {"a": array})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["", "../up", "a/b", "a\\b", "é", "a\n", "x" * 101])
def test_other_names_are_not_written(tmp_path, name):
    with pytest.raises(ModelFileError, match="array name"):
        write_container(tmp_path / "m.mm", {}, {name: np.zeros(1)})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "value",
    [(1, 2), {1: 2}, float("nan"), float("inf"), {1, 2}, b"x", np.int64(3), object],
    ids=repr,
)
def test_meta_that_json_would_change_is_not_written(tmp_path, value):
    with pytest.raises(ModelFileError, match="meta"):
        write_container(tmp_path / "m.mm", {"value": value}, {})
    assert os.listdir(tmp_path) == []


def test_meta_without_end_is_not_written(tmp_path):
    meta = {}
    meta["self"] = meta
    with pytest.raises(ModelFileError, match="meta"):
        write_container(tmp_path / "m.mm", meta, {})


def test_too_many_arrays_are_not_written(tmp_path):
    arrays = {f"a{i}": np.zeros(0) for i in range(MAX_ENTRIES - 1)}
    with pytest.raises(ModelFileError, match="at most"):
        write_container(tmp_path / "m.mm", {}, arrays)
    arrays.popitem()
    write_container(tmp_path / "m.mm", {}, arrays)
    assert read_container(tmp_path / "m.mm")[1].keys() == arrays.keys()


def test_a_failed_write_leaves_the_old_model(model, monkeypatch):
    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        with pytest.raises(ModelFileError, match="No space left"):
            write_container(model, {}, {})
    assert os.listdir(model.parent) == ["model.mm"]
    assert same_content(read_container(model))
    with pytest.raises(ModelFileError, match="No such file"):
        write_container(model.parent / "none" / "m.mm", {}, {})


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_writing_to_a_full_device():
    with pytest.raises(ModelFileError, match="No space left"):
        write_container("/dev/full", {}, {"w": np.zeros(100_000)})


# ---- damage ------------------------------------------------------------------------------------


def test_every_truncation_is_refused(model):
    whole = model.read_bytes()
    assert 1000 < len(whole) < 4000
    for length in range(len(whole)):
        model.write_bytes(whole[:length])
        refused(model)


def test_every_byte_flip_is_refused_or_harmless(model):
    whole = model.read_bytes()
    rng = np.random.default_rng(0)
    harmless = 0
    for offset in range(len(whole)):
        for mask in (0xFF, 1 << rng.integers(8)):
            flipped = bytearray(whole)
            flipped[offset] ^= mask
            model.write_bytes(flipped)
            try:
                content = read_container(model)
            except ModelFileError as error:
                assert str(model) in str(error)
            else:
                assert same_content(content)
                harmless += 1
    assert harmless < len(whole) // 2


@quick
@given(st.data())
def test_several_changes_are_refused_or_harmless(model, data):
    # The fixture's file is written anew, because it is shared by the examples of one test.
    write_container(model, META, ARRAYS)
    content = bytearray(model.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(content)))
        stop = min(len(content), start + data.draw(st.integers(0, 8)))
        content[start:stop] = data.draw(st.binary(max_size=8))
    model.write_bytes(content)
    try:
        loaded = read_container(model)
    except ModelFileError:
        return
    assert same_content(loaded)


@quick
@given(st.binary(max_size=300), st.booleans())
def test_any_bytes_are_refused(tmp_path, content, like_zip):
    if like_zip:
        content = b"PK\x03\x04" + content + b"PK\x05\x06" + bytes(18)
    (tmp_path / "m.mm").write_bytes(content)
    refused(tmp_path / "m.mm")


def test_files_that_are_no_model(tmp_path):
    path = tmp_path / "m.mm"
    for content, reason in (
        (b"", "is empty"),
        (b"1 1:0.5\n", "is not a maxmargin model"),
        (pickle.dumps([1, 2]), "is not a maxmargin model"),
        (b"PK\x03\x04", "truncated"),
    ):
        path.write_bytes(content)
        refused(path, reason)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("word/document.xml", "<xml/>")
    refused(path, "a zip archive of something else")
    refused(tmp_path / "none.mm", "No such file")
    refused(tmp_path, "not a regular file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "not a regular file")


# ---- malice: archives with valid checksums -----------------------------------------------------


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def npy_claiming(descr, shape, data=b""):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    text += b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def forge(path, entries=(), specs=None, header=None, compression=zipfile.ZIP_STORED):
    """Write an archive whose checksums are all right."""
    entries = dict(entries)
    specs = {} if specs is None else specs
    for name, content in entries.items():
        spec = specs.get(name.removesuffix(".npy"))
        if spec is not None:
            spec.setdefault("sha256", hashlib.sha256(content).hexdigest())
    full = {"format": "maxmargin-model", "version": 1, "maxmargin": "9.9", "meta": {}}
    content = json.dumps({**full, "arrays": specs, **(header or {})}).encode()
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
        archive.writestr("meta.json", content)
        archive.writestr("checksum", hashlib.sha256(content).hexdigest())
    return path


def test_the_forger_can_forge(tmp_path):
    """What the tests below refuse is not refused for a mistake of the forger."""
    array = np.arange(3.0)
    spec = {"w": {"dtype": "<f8", "shape": [3]}}
    _, arrays = read_container(forge(tmp_path / "m.mm", {"w.npy": npy(array)}, spec))
    assert same_array(arrays["w"], array)
    claimed = npy_claiming("<f8", "(3,)", array.tobytes())
    spec = {"w": {"dtype": "<f8", "shape": [3]}}
    _, arrays = read_container(forge(tmp_path / "m.mm", {"w.npy": claimed}, spec))
    assert same_array(arrays["w"], array)


class Exploit:
    def __reduce__(self):
        return os.mkdir, ("exploited",)


@pytest.mark.parametrize("dtype", ["|O", "O", "object"])
def test_pickles_are_not_run(tmp_path, monkeypatch, dtype):
    monkeypatch.chdir(tmp_path)
    evil = npy(np.array([Exploit()], dtype=object))
    refused(forge("m.mm", {"w.npy": evil}, {"w": {"dtype": dtype, "shape": [1]}}), "array 'w'")
    bare = pickle.dumps(Exploit())
    refused(forge("m.mm", {"w.npy": bare}, {"w": {"dtype": dtype, "shape": [1]}}), "array 'w'")
    assert not os.path.exists("exploited")


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_compressed_archives_are_refused(tmp_path, compression):
    bomb = npy(np.zeros(1_000_000))
    path = forge(
        tmp_path / "m.mm",
        {"w.npy": bomb},
        {"w": {"dtype": "<f8", "shape": [1_000_000]}},
        compression=compression,
    )
    assert path.stat().st_size < 100_000
    refused(path, "compressed")


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("<f8", [10**12]),
        ("<f8", [2**32, 2**32]),
        ("<f8", [2**62, 4]),
        ("<U500000000", [4]),
        ("<U999999999", [0]),
        ("|b1", [10**30, 0]),
        ("<f8", [0] * 100),
    ],
)
def test_declared_sizes_allocate_nothing(tmp_path, descr, shape):
    text = "(" + "".join(f"{n}, " for n in shape[:20]) + ")"
    content = npy_claiming(descr, text)
    refused(forge(tmp_path / "m.mm", {"w.npy": content}, {"w": {"dtype": descr, "shape": shape}}))


def test_an_empty_array_may_have_large_dimensions(tmp_path):
    content = npy_claiming("<f8", "(1000000, 0)")
    spec = {"w": {"dtype": "<f8", "shape": [10**6, 0]}}
    _, arrays = read_container(forge(tmp_path / "m.mm", {"w.npy": content}, spec))
    assert arrays["w"].shape == (10**6, 0)
    assert arrays["w"].nbytes == 0


# ---- the memory of a file ----------------------------------------------------------------------


def test_an_empty_array_counts_like_one_with_an_entry_per_dimension(tmp_path):
    """Because a list of its rows would take that memory."""
    content = npy_claiming("<f8", "(1000000000000000000, 0)")
    spec = {"w": {"dtype": "<f8", "shape": [10**18, 0]}}
    refused(forge(tmp_path / "m.mm", {"w.npy": content}, spec), "bytes of memory, for array 'w'")


def bomb(path, width, count):
    """A small file whose labels take 4 * width * count bytes."""
    labels = [{"array": f"<U{width}", "values": ["a"]}] * count
    return forge(path, header={"meta": {"fitted": {"classes_": labels}}})


def test_labels_that_need_much_memory_are_refused_before_it_is_allocated(tmp_path):
    path = bomb(tmp_path / "m.mm", 2**26, 20)
    assert path.stat().st_size < 2000
    refused(path, r"needs at least .* bytes of memory, for labels .* max_bytes=.* MAXMARGIN_MAX_")
    refused(bomb(tmp_path / "m.mm", 2**26, 2))
    read_container(bomb(tmp_path / "m.mm", 2**10, 20))


def test_the_limit_of_memory_can_be_raised_and_lowered(tmp_path, model, monkeypatch):
    path = bomb(tmp_path / "b.mm", 2**26, 20)
    content = read_container(path, max_bytes=2**33)  # labels are not yet allocated
    assert len(content[0]["fitted"]["classes_"]) == 20
    with pytest.raises(ModelFileError, match="the limit for this file is 10:"):
        read_container(model, max_bytes=10)
    monkeypatch.setenv("MAXMARGIN_MAX_MODEL_BYTES", "10")
    refused(model, "the limit for this file is 10:")
    assert same_content(read_container(model, max_bytes=10_000))
    monkeypatch.setenv("MAXMARGIN_MAX_MODEL_BYTES", str(2**33))
    read_container(path)
    for wrong in ("much", "1e9", "-5"):
        monkeypatch.setenv("MAXMARGIN_MAX_MODEL_BYTES", wrong)
        with pytest.raises(DataError, match="MAXMARGIN_MAX_MODEL_BYTES is a number of bytes"):
            read_container(model)
    for wrong in (0, -1, 1.5, True, [], float("inf")):
        with pytest.raises(DataError, match="max_bytes is a number of bytes"):
            read_container(model, max_bytes=wrong)


def test_weights_count_as_they_are_after_loading(tmp_path):
    """Zeros of sparse weights take no bytes in the file."""
    arrays = {}
    encode_weights(np.zeros(10_000), arrays)
    write_container(tmp_path / "m.mm", {}, arrays)
    assert (tmp_path / "m.mm").stat().st_size < 10_000
    assert decode_weights(read_container(tmp_path / "m.mm", max_bytes=90_000)[1], 10_000).size
    with pytest.raises(ModelFileError, match="for weights"):
        read_container(tmp_path / "m.mm", max_bytes=79_000)


@pytest.mark.parametrize(
    "places", [[0, 300], [0, 0, 256], [1, 2], [256, 0], [], [2**63], [0, 2**64 - 1]], ids=str
)
def test_positions_of_weights_are_checked(places):
    arrays = {"weights": np.ones(len(places)), "weights.at": np.array(places, np.uint64)}
    with pytest.raises(ValueError, match="positions"):
        decode_weights(arrays, 400)


@pytest.mark.parametrize(
    ("descr", "data"),
    [
        ("<f8", b"1234567"),
        ("<c16", bytes(16)),
        ("|S8", bytes(8)),
        ("<M8[D]", bytes(8)),
        ("|V8", bytes(8)),
        ("<f3", bytes(3)),
        ("<U0", b""),
        ("<U1", b"\xff\xff\xff\x7f"),
        (">U1", b"\x7f\xff\xff\xff"),
        ("|b1", b"\x02"),
    ],
)
def test_bad_types_and_values_are_refused(tmp_path, descr, data):
    content = npy_claiming(descr, "(1,)", data)
    refused(forge(tmp_path / "m.mm", {"w.npy": content}, {"w": {"dtype": descr, "shape": [1]}}))


@pytest.mark.parametrize(
    "head",
    [
        b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (0,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        b"__import__('os').mkdir('exploited')",
        b"(" * 9000,
        b"",
    ],
)
def test_odd_headers_are_refused(tmp_path, monkeypatch, head):
    monkeypatch.chdir(tmp_path)
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head + b"\n"
    refused(forge("m.mm", {"w.npy": content}, {"w": {"dtype": "<f8", "shape": [0]}}))
    assert not os.path.exists("exploited")


def test_an_inconsistent_header_length_is_refused(tmp_path):
    content = bytearray(npy_claiming("<f8", "(0,)"))
    content[8] += 1
    entries = {"w.npy": bytes(content)}
    refused(
        forge(tmp_path / "m.mm", entries, {"w": {"dtype": "<f8", "shape": [0]}}), "inconsistent"
    )


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/evil.npy", "a/../../b.npy", "..\\b.npy", "é.npy"]
)
def test_path_traversal_is_refused(tmp_path, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    spec = {name.removesuffix(".npy"): {"dtype": "<f8", "shape": [1]}}
    refused(forge(inner / "m.mm", {name: npy(np.zeros(1))}, spec), "forbidden name")
    assert os.listdir(tmp_path) == ["inner"]
    assert os.listdir(inner) == ["m.mm"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_and_stray_entries_are_refused(model):
    for name, reason in (("w.npy", "duplicate"), ("meta.json", "duplicate"), ("x.npy", "listed")):
        content = model.read_bytes()
        with zipfile.ZipFile(model, "a") as archive:
            archive.writestr(name, npy(np.zeros(1)))
        refused(model, reason)
        model.write_bytes(content)


def test_a_missing_array_is_refused(tmp_path):
    spec = {"w": {"dtype": "<f8", "shape": [1], "sha256": "0" * 64}}
    refused(forge(tmp_path / "m.mm", {}, spec), "listed")


def test_many_entries_are_refused_before_they_are_read(tmp_path, monkeypatch):
    path = tmp_path / "m.mm"
    forge(path, {f"a{i}.npy": b"" for i in range(MAX_ENTRIES)})
    monkeypatch.setattr(zipfile, "ZipFile", None)
    refused(path, "entries")


def test_a_zip64_directory_is_refused_in_a_small_file(tmp_path, model):
    content = model.read_bytes()
    locator = b"PK\x06\x07" + bytes(16)
    model.write_bytes(content[:-22] + locator + content[-22:])
    refused(model, "directory")


def test_overlapping_entries_are_refused(tmp_path):
    path = tmp_path / "m.mm"
    data = npy(np.zeros(1000))
    specs = {name: {"dtype": "<f8", "shape": [1000]} for name in ("a", "b")}
    forge(path, {"a.npy": data, "b.npy": b""}, specs)
    content = bytearray(path.read_bytes())
    first = content.find(b"PK\x01\x02")
    second = content.find(b"PK\x01\x02", first + 4)
    # Sizes, checksum and place of the first entry are given to the second.
    content[second + 16 : second + 28] = content[first + 16 : first + 28]
    content[second + 42 : second + 46] = content[first + 42 : first + 46]
    path.write_bytes(content)
    refused(path, "larger than the file")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ({"version": 2}, "written by maxmargin 9.9 in model format 2.*upgrade"),
        ({"version": 0}, "version is 0"),
        ({"version": "1"}, "version is '1'"),
        ({"version": None}, "version is None"),
        ({"format": "other"}, "not a maxmargin model"),
        ({"meta": []}, "incomplete"),
        ({"arrays": 3}, "incomplete"),
        ({"meta": {"C": float("nan")}}, "NaN"),
    ],
)
def test_headers(tmp_path, header, reason):
    refused(forge(tmp_path / "m.mm", header=header), reason)


@pytest.mark.parametrize("content", [b"[" * 200_000, b"[]", b"\xff", b"{", b"9" * 10_000, b""])
def test_meta_that_is_no_header(tmp_path, content):
    path = tmp_path / "m.mm"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("meta.json", content)
        archive.writestr("checksum", hashlib.sha256(content).hexdigest())
    refused(path)


def test_an_edited_meta_is_refused(tmp_path, model):
    with zipfile.ZipFile(model) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["meta.json"] = entries["meta.json"].replace(b"0.1", b"0.2")
    with zipfile.ZipFile(tmp_path / "edited.mm", "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    refused(tmp_path / "edited.mm", "checksum")


# ---- labels ------------------------------------------------------------------------------------


def through_json(labels):
    return labels_from_json(json.loads(json.dumps(labels_to_json(labels), allow_nan=False)))


def same_label(a, b):
    if type(a) is not type(b):
        return False
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same_label, a, b))
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape) == (b.dtype, b.shape) and same_label(a.tolist(), b.tolist())
    return a == b and repr(a) == repr(b)


def object_array(*labels):
    array = np.empty(len(labels), dtype=object)
    for i, label in enumerate(labels):
        array[i] = label
    return array


@pytest.mark.parametrize(
    "labels",
    [
        [1, 1.0, True, "1", None, -0.0, float("inf"), float("-inf"), 10**30],
        [("a", 1), ("a", (None, 2.5)), ()],
        ("a", "b"),
        [np.int8(3), np.float32(0.1), np.bool_(True), np.str_("x"), np.str_(""), np.float64("inf")],
        ["\ud800", "é", "\0", "a\0"],
        [],
        np.array([3, 1, 2], dtype=np.int16),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([0.1, np.inf], dtype=np.float32),
        np.array([True, False]),
        np.array(["a", "日本"], dtype="<U9"),
        np.array([1, 2], dtype=">i4"),
        np.array([], dtype=np.float64),
        object_array("a", 1, None, (1, 2), ("x", "y"), np.int64(4)),
        object_array((1, 2), (3, 4)),
        object_array(),
    ],
    ids=repr,
)
def test_labels_round_trip(labels):
    assert same_label(through_json(labels), labels)


label = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False),
        st.text(),
        hnp.arrays(st.one_of(hnp.integer_dtypes(), hnp.boolean_dtypes()), ()).map(lambda a: a[()]),
        st.floats(allow_nan=False, width=32).map(np.float32),
        st.text().map(np.str_),
    ),
    lambda inner: st.lists(inner, max_size=3).map(tuple),
    max_leaves=6,
)


@settings(max_examples=150)
@given(st.lists(label, max_size=5), st.booleans())
def test_any_labels_round_trip(labels, as_array):
    given_labels = object_array(*labels) if as_array else labels
    assert same_label(through_json(given_labels), given_labels)


class Word(str):
    __slots__ = ()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b"x", "label b'x' of type bytes"),
        ({1}, "of type set"),
        (1j, "of type complex"),
        (Word("x"), "label 'x' of type Word"),
        (np.datetime64("2020-01-01"), "of type datetime64"),
        (np.longdouble(1), "of type longdouble"),
        (np.zeros((2, 2)), "of type ndarray"),
        (float("nan"), "label nan"),
        (np.float32("nan"), "label nan"),
        (np.array([1.0, np.nan]), "label nan"),
    ],
)
def test_other_labels_are_refused(bad, said):
    for labels in (bad, [1, bad], [("a", bad)], object_array("a", bad)):
        with pytest.raises(ModelFileError, match=said):
            labels_to_json(labels)


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"other": 1},
        {"tuple": 3},
        {"float": "nan"},
        {"scalar": "|O", "value": 1},
        {"scalar": "<U3", "value": "a"},
        {"scalar": "|i1", "value": 1000},
        {"scalar": "<i8", "value": {"tuple": []}},
        {"array": "<i8", "values": ["x"]},
        {"array": "|i1", "values": [300]},
        {"array": "<i8", "values": [[1, 2]]},
        {"array": "<U999999999", "values": ["a"]},
        {"array": "evil", "values": []},
        {"array": "|V8", "values": [1]},
    ],
    ids=str,
)
def test_damaged_label_descriptions_are_refused(description):
    for nested in (description, [description], {"tuple": [description]}):
        with pytest.raises(ModelFileError, match="labels in the model are damaged"):
            labels_from_json(nested)


def test_deeply_nested_labels_are_refused():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(ModelFileError):
        labels_from_json(nested)


def test_model_errors_are_maxmargin_errors():
    assert issubclass(ModelFileError, MaxMarginError)
