"""Altered model files with right checksums.

``alter`` changes JSON, arrays and array headers of a ``.mm`` file and computes its checksums again.
``judge_models.py`` says what becomes of such files.
"""

import copy
import hashlib
import io
import json
import warnings
import zipfile
from pathlib import Path
from random import Random

import numpy as np

FROZEN = Path(__file__).parents[1] / "frozen"
MODELS = sorted(path.stem for path in (FROZEN / "models").glob("*.mm"))

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
        except (ValueError, OverflowError, TypeError, MemoryError):
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
