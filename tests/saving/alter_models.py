"""Altered model files with right checksums, and what becomes of them.

``alter`` changes JSON, arrays and array headers of a ``.mm`` file and computes its checksums again;
``judge`` loads, describes, explains, predicts and evaluates. Both are used by
test_altered_models.py and can be used by longer runs::

    python alter_models.py SEED COUNT [MODEL ...]

A line of the output is the number of a file, its model and what came of it: "refused", "works" or
what is wrong. A file that takes too much time or memory ends the process.
"""

import contextlib
import copy
import faulthandler
import hashlib
import importlib
import io
import json
import resource
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy as np
from typer.testing import CliRunner

import maxmargin as mm
from maxmargin.cli.app import app
from maxmargin.registry import summary

FROZEN = Path(__file__).parents[1] / "frozen"
sys.path.insert(0, str(FROZEN))
import cases  # noqa: E402

MODELS = sorted(path.stem for path in (FROZEN / "models").glob("*.mm"))

#: Limits for each file: seconds, and bytes of address space of the process.
SECONDS, MEMORY = 10, 6 * 2**30

NUMBERS = [
    0, 1, -1, 2, 7, 1000, 10**6, 2**31, 2**53, 2**63, 2**64, 10**30, -(10**9), 0.5, 1.5, -0.0,
    1e-320, 1e300, 1e308, -1e308,
]  # fmt: skip
TEXTS = [
    "", "x", "inf", "nan", "auto", "default", "margin", "slack", "rbf", "poly", "precomputed",
    "zero-one", "hamming", "bio", "rich", "tags", "balanced", "one-slack", "sampled-cuts", "a\0b",
    "\x1b[31mred", "[/red]", "\u202eabc", "\ud800", "x" * 10_000, "word[-99..99]\n",
    "prefix(word, 1..999)\n", "extra[-2..2]\n",
]  # fmt: skip
LABELS = [
    {"float": "inf"}, {"float": "-inf"}, {"tuple": []}, {"tuple": [1, {"tuple": ["a"]}]},
    {"scalar": "<f8", "value": 1.5}, {"scalar": "<i8", "value": 3}, {"scalar": "U", "value": "a"},
    {"scalar": "|b1", "value": True}, {"array": "<U67108864", "values": ["a"]},
    {"array": "<U3", "values": ["a", "b", "a"]}, {"array": "|O", "values": [1, "a", None]},
    {"array": "|O", "values": [[1], [2]]}, {"array": "<f8", "values": [1.5, {"float": "inf"}]},
    {"array": "<i8", "values": []}, {"array": "|b1", "values": [True, False]},
]  # fmt: skip
PARAMETERS = [
    {"array": "parameter.x"}, {"array": "history"}, {"pairs": []}, {"pairs": [["N", 2.0]]},
    {"pairs": [[[1], 2]]}, {"set": []}, {"set": [[1]]}, {"solver": "SDM", "options": {}},
    {"solver": "OneSlack", "options": {"cache": "x"}}, {"solver": "Basis", "options": {}},
    {"solver": "Basis", "options": {"k": -1}}, {"solver": "print", "options": {}},
]  # fmt: skip
DTYPES = ["<f8", "<f4", "<f2", ">f8", "<i8", "<i4", "<i2", "|i1", "<u4", "<u8", "|u1", "|b1", "<U1"]
STRANGE = ["<U999999999", "|O", "<c16", "|V8", "|S3", "<U67108864", ">U4", "<M8[D]", "<f16"]


def alter(content: bytes, random: Random) -> bytes:
    """Another model file: the given one with one to three changes, and right checksums."""
    header, arrays = unpack(content)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        kind = random.randrange(10)
        if kind < 5:
            alter_json(header, random)
        elif kind < 9:
            alter_array(arrays, random)
        else:
            alter_header(arrays, random)
    return pack(header, arrays)


def unpack(content: bytes):
    """The JSON of a model file, and type, order, shape and bytes of each array."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        header = json.loads(archive.read("meta.json"))
        found = {
            name: np.load(io.BytesIO(archive.read(f"{name}.npy"))) for name in header["arrays"]
        }
    return header, {name: parts(array) for name, array in found.items()}


def parts(array):
    """An array as [type, order, shape, bytes]."""
    fortran = array.flags.f_contiguous and not array.flags.c_contiguous
    data = array.tobytes(order="F" if fortran else "C")
    return [array.dtype.str, bool(fortran), list(array.shape), data]


def pack(header, arrays) -> bytes:
    """A model file with right checksums."""
    file, specs = io.BytesIO(), {}
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            entry = npy(*array)
            digest = hashlib.sha256(entry).hexdigest()
            specs[name] = {"dtype": array[0], "shape": array[2], "sha256": digest}
            archive.writestr(f"{name}.npy", entry)
        content = json.dumps({**header, "arrays": specs}).encode()
        archive.writestr("meta.json", content)
        archive.writestr("checksum", hashlib.sha256(content).hexdigest())
    return file.getvalue()


def npy(descr, fortran, shape, data) -> bytes:
    """A .npy file with this header, whatever the data are."""
    sizes = "(" + "".join(f"{n}, " for n in shape) + ")"
    if len(shape) > 1:
        sizes = sizes.replace(", )", ")")
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {sizes}, }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def alter_json(header, random):
    """Change one place of the JSON."""
    places = list(walk(header["meta"]))
    # Otherwise the many numbers of labels would be chosen most of the time.
    shallow = [place for place in places if place[2] <= 3]
    parent, key, _ = random.choice(shallow if random.random() < 0.7 else places)
    kind = random.randrange(8)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, dict):
        parent[random.choice(TEXTS)] = parent.pop(key)
    elif kind == 2:
        other, name, _ = random.choice(places)
        parent[key] = copy.deepcopy(other[name])
    else:
        parent[key] = other_value(parent[key], random)


def walk(value, depth=1):
    """All places of a JSON document: container, key and depth."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield value, key, depth
        if isinstance(item, dict | list):
            yield from walk(item, depth + 1)


def other_value(value, random):
    """A value that differs from the given one, often of the same kind."""
    if random.random() < 0.5:
        if isinstance(value, bool):
            return not value
        if isinstance(value, int | float):
            return random.choice([*NUMBERS, -value, value + 1, value * 2])
        if isinstance(value, str):
            at = random.randrange(len(value) + 1)
            return random.choice([*TEXTS, value[:at], value[:at] + "\x07" + value[at:], value * 2])
        if isinstance(value, list) and value:
            some = random.choice(value)
            return random.choice([value[::-1], value[:-1], [*value, some], [some] * 200, value * 2])
        if isinstance(value, dict) and len(value) == 1 and "value" in value:
            return {"value": random.choice([*NUMBERS, *TEXTS, *LABELS, None, True, [], {}])}
    pool = random.choice([NUMBERS, TEXTS, LABELS, PARAMETERS, [None, True, False, [], {}, [[]]]])
    return copy.deepcopy(random.choice(pool))


def alter_array(arrays, random):
    """Change the numbers, the type or the shape of an array."""
    if not arrays:
        return
    name = random.choice(list(arrays))
    descr, fortran, shape, data = arrays[name]
    try:
        array = np.frombuffer(data, np.dtype(descr)).copy()
        array = array.reshape(shape, order="F" if fortran else "C") if array.size else array
    except (ValueError, TypeError):
        return  # it was altered already
    kind = random.randrange(12)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if kind < 4:
                array = other_numbers(array, random)
            elif kind < 6:
                array = array.astype(random.choice(DTYPES))
            elif kind < 10:
                array = other_shape(array, random)
            elif kind == 10:
                del arrays[name]
                return
            else:
                arrays[name] = list(arrays[random.choice(list(arrays))])
                return
        except (ValueError, OverflowError, TypeError):
            return
    arrays[name] = parts(array)


def other_numbers(array, random):
    """Some or all numbers replaced, exchanged, or a bit flipped."""
    array, kind = array.copy(), random.randrange(5)
    flat = array.reshape(-1)
    if flat.size == 0:
        return array
    special = [np.nan, np.inf, -np.inf, 1e308, -1, 0, 1, 7, 2**30, 2**31, 2**62, 1e-320, 255]
    if kind == 0:
        flat[:] = random.choice(special)
    elif kind == 1:
        flat[random.randrange(flat.size)] = random.choice(special)
    elif kind == 2:
        flat[:] = flat[::-1].copy()
    elif kind == 3:
        data = bytearray(array.tobytes())
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
        return np.frombuffer(bytes(data), array.dtype).reshape(array.shape)
    else:
        flat += flat[random.randrange(flat.size)]
    return array


def other_shape(array, random):
    """The array cut, repeated, transposed, flattened or with other dimensions."""
    ways = [
        lambda a: a[:-1], lambda a: a[1:], lambda a: np.concatenate([a, a]), lambda a: a.T,
        lambda a: a.ravel(), lambda a: a[None], lambda a: a[..., None], lambda a: a[:0],
        lambda a: a.reshape(-1)[:1].reshape(()), np.asfortranarray, lambda a: a[..., :-1],
        lambda a: np.repeat(a, 50, axis=0), lambda a: a.reshape(-1, 1), lambda a: a.reshape(1, -1),
        lambda a: a.reshape(-1)[:0].reshape(0, 10**6),
    ]  # fmt: skip
    return random.choice(ways)(array)


def alter_header(arrays, random):
    """Another type or shape in the header of an array, with the same bytes."""
    if not arrays:
        return
    array = arrays[random.choice(list(arrays))]
    kind = random.randrange(4)
    if kind == 0:
        array[0] = random.choice(STRANGE + DTYPES)
    elif kind == 1:
        array[1] = not array[1]
    elif kind == 2:
        array[2] = random.choice([[], [0], [10**18, 0], [2**62, 4], [1] * 40, array[2] * 2, [-1]])
    else:
        array[0], array[2], array[3] = random.choice(STRANGE), [10**9, 0], b""


def inputs(name):
    """The inputs from which a frozen model predicts, and its predictions."""
    stored = json.loads((FROZEN / "models" / f"{name}.json").read_text(encoding="utf8"))
    return cases.decode_input(stored["X"])


#: Commands that read a model only.
COMMANDS = [["info"], ["info", "--json"], ["explain"]]


def judge(path, name, X) -> str:
    """ "refused", "works", or what is wrong: anything but a ModelFileError."""
    try:
        model = mm.load(path, problem=cases.PROBLEMS.get(name))
    except mm.ModelFileError:
        model = None
    try:
        summary(path)
    except mm.ModelFileError:
        if model is not None:
            return "WRONG: loaded, but not described"
    for command, *more in COMMANDS:
        done = CliRunner().invoke(app, [command, str(path), *more])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if is_strange(done.output):
            return f"WRONG: control characters in {done.output!r}"
    return "refused" if model is None else use(model, name, X)


def is_strange(text) -> bool:
    """Whether a terminal would obey some of the text."""
    return any(c in text for c in "\x1b\0\x07\u202e")


def use(model, name, X) -> str:
    """Predict and evaluate."""
    original = mm.load(FROZEN / "models" / f"{name}.mm", problem=cases.PROBLEMS.get(name))
    try:
        found = model.predict(X)
        again = model.predict(X)
        scores = model.confidence(X) if name != "structured" else np.zeros(1)
        shown = evaluate(model, name, X, found)
    except ValueError as error:
        if form(model) != form(original) and not isinstance(error, UnicodeError):
            return f"works: these inputs are not for it: {error}"
        raise
    if len(found) != (X.shape[0] if hasattr(X, "shape") else len(X)):
        return f"WRONG: {len(found)} outputs"
    if np.isnan(scores).any() or not all(map(same, found, again)):
        return "WRONG: two predictions differ, or a score is NaN"
    return f"WRONG: control characters in {shown!r}" if is_strange(shown) else "works"


def evaluate(model, name, X, Y) -> str:
    """What ``maxmargin evaluate`` and ``suspects`` print for predictions that are all right."""
    if name.startswith("cfg"):
        model.score(None, Y)
    else:
        model.score(X, Y)
    show, printed = model.structure.show, io.StringIO()
    with contextlib.redirect_stdout(printed):
        show.evaluate(model, SimpleNamespace(X=X, Y=Y)).print()
        print([f"{label!r}" for label in show.suspects(model, X, Y, 3) or []])
    return printed.getvalue()


def same(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else str(a) == str(b)


def form(model):
    """What decides which inputs a model takes."""
    return (
        getattr(model, "n_features_in_", None), repr(getattr(model, "template", None)),
        getattr(model, "input", None), getattr(model, "feature_names_", None) is None,
        repr(getattr(model, "feature_names_in_", None)), getattr(model, "kernel", None),
        getattr(getattr(getattr(model, "_reader", None), "template_", None), "text", None),
        getattr(model, "coef_", np.zeros(0)).shape,
    )  # fmt: skip


def main(seed, count, names=()):
    with contextlib.suppress(ImportError):
        importlib.import_module("nltk")  # slow, and needed where a file says so
    for name in names or MODELS:  # compile, before there are limits
        path = FROZEN / "models" / f"{name}.mm"
        found = judge(path, name, inputs(name))
        assert found == "works", (name, found)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    contents = {n: (FROZEN / "models" / f"{n}.mm").read_bytes() for n in names or MODELS}
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "altered.mm"
        for number in range(count):
            random = Random(f"{seed} {number}")
            name = random.choice(list(contents))
            path.write_bytes(alter(contents[name], random))
            print(number, name, sep="\t", end="\t", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                found = judge(path, name, inputs(name))
            except BaseException as error:
                place = error.__traceback__
                while place.tb_next is not None:
                    place = place.tb_next
                where = f"{Path(place.tb_frame.f_code.co_filename).name}:{place.tb_lineno}"
                found = f"RAW {where} {error!r}"[:400]
            faulthandler.cancel_dump_traceback_later()
            print(found.replace("\n", " ").encode("ascii", "backslashreplace").decode(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
