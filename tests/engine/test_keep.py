"""Compiled code on disk: found again, never stale, for functions of any origin."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import config, float64, njit
from numba.core.registry import cpu_target
from numba.extending import overload, register_jitable

from command_line import error_of, run
from maxmargin.engine.code_hash import UnknownValueError, code_hash, describe_type
from maxmargin.engine.keep import VERSIONS, keep, prune

HELPER = """
from numba import njit
from numba.extending import register_jitable
FACTOR = {factor}

@register_jitable
def scale(x):
    return {helper} * x
"""

PROBLEM = """
from typing import NamedTuple
import numpy as np, maxmargin as mm
from maxmargin.problem import PREDICT, Functions, Pack
from numba import njit
import helper
from helper import scale

class Data(NamedTuple):
    x: np.ndarray
    y: np.ndarray

def make(shift):
    @njit(nogil=True)
    def shifted(x):
        return scale(x) + shift
    return shifted

shifted = make({shift})

@njit(nogil=True)
def decode(data, w, i, mode, y, work):
    score = w[0] * shifted(data.x[i])
    if mode != PREDICT:
        score -= data.y[i]
    y[0] = 1 if score > 0 else -1

@njit(nogil=True)
def loss(data, i, y):
    return helper.FACTOR if y[0] != data.y[i] else 0.0

@njit(nogil=True)
def delta(data, i, y, z, idx, val):
    idx[0] = 0
    val[0] = 0.5 * (y[0] - z[0]) * shifted(data.x[i])
    return 1

class Sign(mm.CompiledProblem):
    functions = Functions(decode, loss, delta)

    def pack(self, X, Y=None, sample_weight=None):
        n = len(X)
        truth = np.ones(n, np.int32) if Y is None else np.array(Y, np.int32)
        return Pack(Data(np.array(X, float), truth), np.arange(n + 1), truth, 1, 1, np.ones(n), 1)

    def unpack(self, pack, labels):
        return labels

def main():
    result = mm.train(Sign(), [1.0, -2.0, 0.5], [1, -1, -1], C=0.1, solver="one-slack")
    print(round(result.primal, 6))

if __name__ == "__main__":
    main()
"""


#: Two small functions with the same dependencies, for the tests that are about files only.
SMALL = """
from typing import NamedTuple
import numpy as np
from maxmargin.engine.keep import keep
from numba import njit
import helper
from helper import scale

class Data(NamedTuple):
    x: np.ndarray

def make(shift):
    @njit(nogil=True)
    def shifted(x):
        return scale(x) + shift
    return shifted

shifted = make({shift})

def decode(data):
    return shifted(data.x[0])

def loss(data):
    return helper.FACTOR * data.x[0]

def main():
    data = Data(np.array([3.0]))
    print(keep(decode, "Sign: decode")(data) + keep(loss, "Sign: loss")(data))

if __name__ == "__main__":
    main()
"""


class Workshop:
    """A folder with a program in two files, and one for compiled code."""

    def __init__(self, folder: Path, program: str = SMALL):
        self.folder, self.cache, self.program = folder, folder / "cache", program
        self.write()

    def write(self, factor="1.0", helper="1.0", shift="0.0"):
        (self.folder / "helper.py").write_text(HELPER.format(factor=factor, helper=helper))
        (self.folder / "sign.py").write_text(self.program.format(shift=shift))

    def start(self, *command, **environment):
        variables = {**os.environ, "NUMBA_CACHE_DIR": str(self.cache), **environment}
        variables["PYTHONDONTWRITEBYTECODE"] = "1"  # edits within a second have equal time stamps
        return subprocess.Popen(
            [sys.executable, "-W", "error", *(command or ("sign.py",))], cwd=self.folder,
            env=variables, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *command, **environment):
        """``(number of functions compiled, number printed, messages)``."""
        process = self.start(*command, **environment)
        out, messages = process.communicate()
        assert process.returncode == 0, messages
        return messages.count("maxmargin: compiling Sign"), float(out), messages


@pytest.fixture
def workshop(tmp_path):
    return Workshop(tmp_path)


@pytest.fixture
def training(tmp_path):
    """With a problem that is trained: its functions become parts of compiled passes."""
    return Workshop(tmp_path, PROBLEM)


def test_a_script_compiles_once(training):
    misses, primal, messages = training.run()
    assert misses == 2
    assert "compiling Sign: decode (1 of 2), once on this machine" in messages
    assert "compiling Sign: collect (2 of 2), once on this machine" in messages
    assert training.run() == (0, primal, "")


def test_every_edit_compiles_and_taken_back_is_found(workshop):
    misses, plain, _ = workshop.run()
    assert misses == 2
    for edit in ({"helper": "2.0"}, {"factor": "0.5"}, {"shift": "1.0"}):
        workshop.write(**edit)
        misses, printed, _ = workshop.run()
        assert misses == 1, edit
        assert printed != plain
    workshop.write()
    assert workshop.run()[:2] == (0, plain)


def test_imported_and_run_as_a_script(workshop):
    command = ("-c", "import sign; sign.main()")
    assert workshop.run(*command)[0] == 2
    assert workshop.run(*command)[0] == 0


def test_functions_without_a_file(training):
    """As in a notebook: the text of the functions is all there is."""
    text = (training.folder / "sign.py").read_text()
    (training.folder / "sign.py").unlink()
    assert training.run("-c", text)[0] == 2
    assert training.run("-c", text)[0] == 0
    assert training.run("-c", text.replace("0.5 *", "0.25 *"))[0] == 1  # decode is the same


def test_two_processes_at_once(workshop):
    both = [workshop.start(), workshop.start()]
    for process in both:
        out, messages = process.communicate()
        assert process.returncode == 0, messages
        assert float(out) > 0
    assert workshop.run()[0] == 0


def test_a_cache_that_can_only_be_read(workshop):
    """Root may write anywhere, so writing there is made to fail."""
    code = f"""
import sys, tempfile
from maxmargin.engine import keep
make = tempfile.TemporaryFile
def refuse(dir=None):
    if str(dir).startswith({str(workshop.cache)!r}):
        raise PermissionError(dir)
    return make(dir=dir)
keep.tempfile.TemporaryFile = refuse
import sign
sign.main()
"""
    (workshop.folder / "start.py").write_text(code)
    command = ("-c", "import sign; sign.main()")
    assert workshop.run(*command)[0] == 2
    before = sorted(workshop.cache.rglob("*"))
    home = str(workshop.folder / "home")
    found = workshop.run("start.py", XDG_CACHE_HOME=home)
    assert (found[0], found[2]) == (0, "")
    workshop.write(helper="2.0")  # new code goes to the user's folder
    assert workshop.run("start.py", XDG_CACHE_HOME=home)[0] == 1
    assert workshop.run("start.py", XDG_CACHE_HOME=home)[0] == 0
    assert sorted(workshop.cache.rglob("*")) == before


def test_without_any_folder_it_is_said(workshop):
    blocked = workshop.folder / "file"
    blocked.write_text("no folder can be made in here")
    inside = str(blocked / "more")
    nowhere = {"NUMBA_CACHE_DIR": inside, "XDG_CACHE_HOME": inside}
    code = (
        "import sys, tempfile; from maxmargin.engine import keep\n"
        f"tempfile.gettempdir = lambda: {inside!r}\nimport sign; sign.main()"
    )
    misses, _, messages = workshop.run("-c", code, **nowhere)
    assert misses == 2
    assert "in each process: it cannot be kept on disk" in messages
    assert "once" not in messages


def test_a_damaged_file_is_compiled_again(workshop):
    workshop.run()
    for path in workshop.cache.rglob("*.code"):
        path.write_bytes(path.read_bytes()[:-20])
    assert workshop.run()[0] == 2
    assert workshop.run()[0] == 0


def test_old_versions_are_deleted(tmp_path):
    names = [f"sign.ascend-types-{k}.code" for k in range(VERSIONS + 3)]
    for age, name in enumerate(names):
        (tmp_path / name).write_bytes(b"code")
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    others = ["sign.sum-types-0.code", "sign.ascend-other-0.code"]
    for name in others:
        (tmp_path / name).write_bytes(b"code")
    unused = tmp_path / "sign.sum-types-1.code"
    unused.write_bytes(b"code")
    os.utime(unused, (0, 0))
    prune(tmp_path, names[0])
    assert sorted(os.listdir(tmp_path)) == sorted(names[:VERSIONS] + others)


def made(factor, **options):
    @njit(**options)
    def times(x):
        return factor * x

    return times


def test_the_hash_sees_closures_and_options():
    assert code_hash(made(1.0)) == code_hash(made(1.0))
    distinct = [made(1.0), made(2.0), made(1), made(1.0, fastmath=True), made(np.ones(2)),
                made(np.zeros(2)), made(np.ones(2, np.float32)), made((1.0,))]  # fmt: skip
    assert len({code_hash(f) for f in distinct}) == len(distinct)


def test_the_hash_sees_overloads():
    def versions(result):
        def stands_for():
            raise NotImplementedError

        overload(stands_for)(lambda: lambda: result)
        return njit(lambda: stands_for())

    assert code_hash(versions(1)) == code_hash(versions(1))
    assert code_hash(versions(1)) != code_hash(versions(2))


def test_the_hash_sees_helpers_of_helpers():
    def chain(number):
        @register_jitable
        def deep():
            return number

        @register_jitable
        def middle():
            return deep()

        return njit(lambda: middle())

    assert code_hash(chain(1)) == code_hash(chain(1))
    assert code_hash(chain(1)) != code_hash(chain(2))


def test_an_object_that_may_change_has_no_hash():
    with pytest.raises(UnknownValueError):
        code_hash(made(object()))


def test_types_name_the_fields():
    from collections import namedtuple

    from numba import typeof

    one, two = namedtuple("Data", "a b"), namedtuple("Data", "b a")
    assert str(typeof(one(1, 2))) == str(typeof(two(1, 2)))
    assert describe_type(typeof(one(1, 2))) != describe_type(typeof(two(1, 2)))


#: The command with one of its solvers, because each of them compiles for seconds.
COMMAND = """
from maxmargin.cli import app, compile
compile.SOLVERS = ("one-slack",)
app.main()
"""

TRAINING = """
import numpy as np, maxmargin as mm
mm.BinarySVC(solver="one-slack").fit(np.eye(2), [0, 1]).predict(np.eye(2))
print(0)
"""


def test_the_command_fills_the_folder(workshop):
    """What it compiles is what a training needs."""
    process = workshop.start("-c", COMMAND, "compile", "binary")
    out, messages = process.communicate()
    assert process.returncode == 0, messages
    assert out.strip() == "binary: compiled" and "compiling Binary" in messages
    assert workshop.run("-c", TRAINING)[2] == ""


def test_the_command_answers_mistakes_in_a_name():
    assert "there is no structure 'binry'" in error_of(run("compile", "binry"))


def test_code_with_checks_of_bounds_is_never_mixed_with_other_code(monkeypatch):
    compiled = keep(lambda x: x + 1)
    types, codegen = (float64,), cpu_target.target_context.codegen()
    monkeypatch.setattr(config, "BOUNDSCHECK", None)
    without = compiled._cache._file_name(types, codegen)
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    assert without is not None
    assert compiled._cache._file_name(types, codegen) != without
    function = compiled.py_func
    assert code_hash(njit(boundscheck=True)(function)) != code_hash(njit(function))
