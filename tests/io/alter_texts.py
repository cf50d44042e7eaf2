"""Altered data files and templates, and what becomes of them.

``alter`` changes bytes, words and lines of a file; ``judge`` reads it and runs the commands on it.
Both are used by test_altered_texts.py and can be used by longer runs::

    python alter_texts.py SEED COUNT [FORMAT ...]

A line of the output is the number of a file, its format and what came of it: "refused" (a DataError
that names the file), "works" or what is wrong. A file that takes too much time or memory ends the
process.
"""

import gzip
import io
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path
from random import Random

import numpy as np
import scipy.sparse as sp

import maxmargin as mm
from command_line import run
from limited import run_limited
from maxmargin.backends.formats import Layout, survey_file
from maxmargin.features import Extractor, Template
from tests.saving.alter_models import alter_array, alter_header, npy, parts

CONLL = b"""He PRP B-NP
reckons VBZ B-VP
the DT B-NP
deficit NN I-NP

The DT B-NP
deficit NN I-NP
will MD B-VP
narrow VB I-VP
. . O

"""
SVMLIGHT = b"""1 1:0.5 3:1.25 # a comment
-1 2:1 3:-2.5e-1
1 qid:3 1:1
-1 cost:2 1:-0.5 2:.5 7:3
"""
HMM = b"""1 qid:1 1:1 2:0.5 # the
2 qid:1 3:1 # dog
1 qid:2 1:1 # a
2 qid:2 4:1 # cat
3 qid:2 5:1 # sees
"""
TREES = b"""(TOP (S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat)))))
( (S (NP-SBJ (D a) (J big) (N cat)) (VP (V sleeps) (-NONE- *T*-1))))
(TOP (NP (N parks)))
"""
SENTENCES = b"the dog sees a cat\na big dog sleeps\n( the unicorn )\n"
TEMPLATE = b"""# words and tags
columns word pos
padding _B _E
word[-2..2]
word[-1] | pos[0]
prefix(lower(word), 1..3)
extra[-1] | extra[0]
bias
"""


def _npz() -> bytes:
    X = sp.random(8, 5, 0.5, "csr", random_state=0)
    file = io.BytesIO()
    np.savez(file, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape,
             y=np.array([0, 1] * 4), weight=np.ones(8))  # fmt: skip
    return file.getvalue()


#: By format: a small valid file.
SAMPLES = {
    "conll": CONLL, "svmlight": SVMLIGHT, "hmm": HMM, "trees": TREES, "sentences": SENTENCES,
    "template": TEMPLATE, "npz": _npz(),
}  # fmt: skip

PIECES = [
    b"", b" ", b"\t", b"\n", b"\n\n", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xae",
    b"\x1b[31m", b"\xc2\xa0", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"(", b")", b"((", b"))", b":",
    b"#", b"|", b"[", b"]", b"..", b"-", b"0", b"-1", b"1e999", b"nan", b"inf", b"1_000", b"1e-400",
    b"9" * 30, b"2147483648", b"9223372036854775808", b"qid:1", b"qid:-5", b"cost:nan", b"0:1",
    b"1:1", b"sid:x", b"-DOCSTART-", b"-NONE-", b"-LRB-", b"columns", b"padding", b"extra[0]",
    b"word[-99..99]", b"prefix(word, 1..999)", b"col9999", b"lower(" * 50, b"lower(" * 5000,
    b"(A " * 5000, b")" * 5000, b"x" * 100_000, b"B-" * 3, b"/", b"\x85", b"\x0b",
]  # fmt: skip


def alter(content: bytes, random: Random) -> bytes:
    """Another file: the given one with one to three changes."""
    if content.startswith(b"PK") and random.random() < 0.8:
        return _alter_npz(content, random)
    for _ in range(random.choice((1, 1, 2, 3))):
        content = _change(content, random)
    if random.random() < 0.05:
        content = gzip.compress(content)
        if random.random() < 0.5:
            content = content[: random.randrange(len(content))]
    return content


def _alter_npz(content: bytes, random: Random) -> bytes:
    """Other arrays in a valid archive."""
    with np.load(io.BytesIO(content)) as file:
        arrays = {name: parts(array) for name, array in file.items()}
    for _ in range(random.choice((1, 1, 2))):
        random.choice((alter_array, alter_array, alter_header))(arrays, random)
    altered = io.BytesIO()
    with zipfile.ZipFile(altered, "w", random.choice((0, 8, 8, 14))) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(*array))
    return altered.getvalue()


def _change(content: bytes, random: Random) -> bytes:
    at = random.randrange(len(content) + 1)
    to = min(len(content), at + random.choice((0, 1, 1, 2, 5, 20)))
    lines = content.split(b"\n")
    line = random.randrange(len(lines))
    match random.randrange(8):
        case 0 | 1 | 2:
            return content[:at] + random.choice(PIECES) + content[to:]
        case 3:
            return content[:at] + bytes(random.choices(range(256), k=to - at)) + content[to:]
        case 4:
            return content[:at]
        case 5:
            words = lines[line].split(b" ")
            words[random.randrange(len(words))] = random.choice(PIECES)
            lines[line] = b" ".join(words)
        case 6:
            lines.insert(line, random.choice(lines))
        case _:
            random.shuffle(lines)
    return b"\n".join(lines)


def judge(path: Path, kind: str, models: Path) -> str:
    """ "refused", "works", or what is wrong: anything but a DataError that names the file."""
    try:
        read(str(path), kind)
        found = "works"
    except mm.DataError as error:
        if str(path) not in str(error):
            return f"WRONG: the file is not named: {error}"
        found = f"refused: {error}"
    for command in commands(path, kind, models, found == "works"):
        done = run(*command)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        if done.exit_code not in (0, 1) or len(errors) != done.exit_code:
            return f"WRONG: exit code {done.exit_code} of {command}: {done.stderr}"
        if any(c in done.stderr for c in "\x1b\0\u202e"):
            return f"WRONG: control characters in {done.stderr!r}"
    return found


def read(path, kind):
    """Read a file as users of the library do."""
    if kind == "conll":
        mm.io.read_conll(path)
    elif kind == "svmlight":
        mm.io.read_svmlight(path)
    elif kind == "hmm":
        mm.io.read_hmm(path)
    elif kind == "trees":
        mm.io.read_trees(path, traces=True)
    elif kind == "sentences":
        mm.io.read_sentences(path)
    elif kind == "npz":
        survey_file(path, Layout("npz", -1, None), None)
    else:
        template = Template(Path(path))
        if template.n_columns <= 2:
            Extractor(template).fit_transform([[("The", "DT"), ("dog", "NN")]])


def commands(path, kind, models, valid):
    """The commands that read such a file."""
    trained, quick = models / "altered.mm", ["--max-iter", "3", "-q"]
    structure = {"conll": "chain", "hmm": "chain", "svmlight": "multiclass", "trees": "cfg"}
    if kind in structure:
        yield ["train", structure[kind], path, "-o", trained, *quick]
    if kind == "template":
        yield ["train", "chain", models / "conll", "-o", trained, "--template", path, *quick]
    if kind in ("conll", "hmm", "svmlight", "trees", "sentences"):
        model = models / f"{'trees' if kind == 'sentences' else kind}.mm"
        yield ["predict", model, path, "-o", models / "out"]
        yield ["evaluate", model, path]


def prepare(folder: Path) -> None:
    """Train the models that the commands use."""
    for kind, sample in SAMPLES.items():
        (folder / kind).write_bytes(sample)
        found = judge(folder / kind, kind, folder) if kind in ("npz", "sentences") else ""
        structure = {"conll": "chain", "hmm": "chain", "svmlight": "multiclass", "trees": "cfg"}
        if kind in structure:
            model = folder / f"{kind}.mm"
            done = run("train", structure[kind], folder / kind, "-o", model, "-q")
            assert done.exit_code == 0, (kind, done.output)
            found = judge(folder / kind, kind, folder)
        assert found in ("works", ""), (kind, found)


def main(seed, count, kinds=()):
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        contents = {kind: SAMPLES[kind] for kind in kinds or SAMPLES}
        run_limited(seed, count, contents, alter, lambda p, kind: judge(p, kind, Path(folder)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
