"""Oracles in plain Python run in worker processes, with the same result."""

import os
import signal
import subprocess
import sys
import threading
import time

import cloudpickle
import numpy as np
import pytest

import maxmargin as mm
from maxmargin.engine.python import as_compiled_problem
from maxmargin.engine.shard import Shard
from maxmargin.errors import ProblemError
from maxmargin.problem import MARGIN
from solver_tables import all_solvers

# Worker processes cannot import the modules of tests; a user's problem stands in a script, too.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Digits(mm.Problem):
    """Multi-class, as a user would write it; ``slow`` is the time of an oracle call."""

    def __init__(self, K=3, slow=0.0):
        self.K = K
        self.slow = slow

    def features(self, x, y):
        phi = np.zeros((self.K, len(x)))
        phi[y] = x
        return phi.ravel()

    def loss(self, y_true, y):
        return float(y_true != y)

    def decode(self, x, w, y_true=None, rescaling="margin"):
        print("what users print must not disturb")
        time.sleep(self.slow)
        value = w.reshape(self.K, -1) @ x
        if y_true is not None:
            value = value + (np.arange(self.K) != y_true)
        return int(value.argmax())


@pytest.fixture(scope="module")
def data():
    rng = np.random.RandomState(0)
    return rng.randn(40, 4), rng.randint(0, 3, 40).tolist()


@pytest.mark.parametrize("solver", all_solvers())
def test_processes_change_nothing(solver, data):
    X, Y = data
    options = {"C": 0.5, "solver": solver, "tol": 1e-3, "max_iter": 8}
    one = mm.train(Digits(), X, Y, **options)
    two = mm.train(Digits(), X, Y, n_jobs=2, **options)
    np.testing.assert_array_equal(two.w, one.w)
    assert [r[2:] for r in two.history] == [r[2:] for r in one.history]


def test_predictions_use_processes_too(data):
    X, Y = data
    clf = mm.StructuredSVC(Digits(), n_jobs=2, max_iter=500).fit(X, Y)
    expected = clf.predict(X)
    assert mm.StructuredSVC(Digits(), max_iter=500).fit(X, Y).predict(X) == expected


def test_a_problem_that_cannot_be_pickled_is_named(data):
    class Locked(Digits):
        def __init__(self):
            super().__init__()
            self.lock = threading.Lock()

    with pytest.raises(ProblemError, match=r"lock.*use n_jobs=1"):
        mm.train(Locked(), *data, n_jobs=2)


class Clumsy(Digits):
    def decode(self, x, w, y_true=None, rescaling="margin"):
        if y_true is not None and np.any(w):
            raise RuntimeError("no such output")
        return super().decode(x, w, y_true, rescaling)


class Deadly(Digits):
    def decode(self, x, w, y_true=None, rescaling="margin"):
        os.kill(os.getpid(), signal.SIGKILL)


def test_errors_and_deaths_of_workers_are_told(data):
    with pytest.raises(RuntimeError, match="no such output") as error:
        mm.train(Clumsy(), *data, n_jobs=2)
    assert "in decode" in "".join(error.value.__notes__)
    with pytest.raises(ProblemError, match="ended with exit code -9"):
        mm.train(Deadly(), *data, n_jobs=2)


class Signed(Digits):
    """Leaves a file with the number of the process that was asked."""

    folder = ""

    def decode(self, x, w, y_true=None, rescaling="margin"):
        open(os.path.join(self.folder, f"pid{os.getpid()}"), "w").close()
        return super().decode(x, w, y_true, rescaling)


def test_a_time_limit_ends_the_workers(data, tmp_path):
    problem = Signed(slow=0.02)
    problem.folder = str(tmp_path)
    result = mm.train(problem, *data, C=100.0, tol=1e-9, n_jobs=2, max_time=0.5)
    assert result.status is mm.Status.MAX_TIME
    pids = [int(path.name[3:]) for path in tmp_path.glob("pid*")]
    workers = [pid for pid in pids if pid != os.getpid()]
    assert workers
    assert wait_for(lambda: [pid for pid in workers if not alive(pid)], len(workers))


def test_workers_end_with_the_parent(data, tmp_path):
    script = (
        "import os, time, numpy as np, maxmargin as mm\n"
        "class Slow(mm.Problem):\n"  # defined in the main script, which has no guard
        "    n_features = 2\n"
        "    def features(self, x, y): return np.array([y, 1.0])\n"
        "    def loss(self, y_true, y): return float(y_true != y)\n"
        "    def decode(self, x, w, y_true=None, rescaling='margin'):\n"
        "        open('pid%d' % os.getpid(), 'w').close()\n"
        "        time.sleep(0.05)\n"
        "        return 1\n"
        "mm.train(Slow(), list(range(1000)), [0] * 1000, n_jobs=2)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    pids = wait_for(lambda: [int(p.name[3:]) for p in tmp_path.glob("pid*")], 2)
    parent.kill()
    parent.wait()
    assert len(pids) == 2
    assert parent.pid not in pids
    assert wait_for(lambda: [pid for pid in pids if not alive(pid)], 2)


def wait_for(find, n, seconds=30):
    """What ``find`` returns once that has n entries."""
    end = time.monotonic() + seconds
    while len(found := find()) < n:
        assert time.monotonic() < end, found
        time.sleep(0.05)
    return found


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_workers_start_again_after_an_interruption(data):
    X, Y = data
    problem = as_compiled_problem(Digits())
    shard = Shard(problem, problem.pack(X, Y), n_jobs=2)
    w, labels = np.random.RandomState(0).randn(shard.pack.dim), shard.new_labels()

    def interrupt():
        raise KeyboardInterrupt

    shard.check = interrupt
    with pytest.raises(KeyboardInterrupt):
        shard.oracle(w, MARGIN, labels, shard.everyone)
    shard.check = lambda: None
    shard.oracle(w, MARGIN, labels, shard.everyone)
    expected = labels.copy()
    single = Shard(problem, shard.pack)
    single.oracle(w, MARGIN, labels, single.everyone)
    assert labels.tolist() == expected.tolist()
    shard.close()
