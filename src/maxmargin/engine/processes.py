"""Worker processes for oracles in plain Python, which threads cannot speed up.

Each worker receives the problem and the examples once, and then w and the indices of examples to
decode. Workers are child processes that communicate through standard input and output. They are
not forked, so threads and locks of the parent cause no problems. They do not import the user's main
script, so it needs no ``if __name__ == "__main__"``. They end when the parent ends, even if it is
killed.
"""

from __future__ import annotations

import os
import pickle
import queue
import subprocess
import sys
import traceback
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ..errors import ProblemError
from ..problem import CompiledProblem, Pack
from .guard import note_bound
from .threads import Threads

#: The code of a worker: it ignores Ctrl-C, which the parent handles, and uses the parent's path.
_CODE = (
    "import pickle, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.path[:] "
    "= pickle.load(sys.stdin.buffer); from maxmargin.engine.processes import serve; serve()"
)

#: One thread for BLAS, as in the parent during training: sums are equal, and cores not overloaded.
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)


class Worker:
    """A child process, seen from the parent."""

    def __init__(self, payload: bytes) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _CODE],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, **_ONE_THREAD},
        )  # fmt: skip
        self.payload: bytes | None = payload
        self.version = 0

    def ask(self, message: tuple[Any, ...], w: np.ndarray, version: int) -> Any:
        """The worker's answer; w is sent only if the worker does not have this version yet."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None and stdout is not None  # pipes were asked for
        try:
            if self.payload is not None:
                pickle.dump(sys.path, stdin)
                stdin.write(self.payload)
                self.payload = None
            news = w if version != self.version else None
            self.version = version
            pickle.dump((*message, news), stdin, protocol=5)
            stdin.flush()
            answer, error, trace = pickle.load(stdout)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError) as reason:
            code = self.process.wait()
            raise ProblemError(
                f"a worker process of the oracle ended with exit code {code}: not enough memory, "
                "or a crash in compiled code; n_jobs=1 decodes in this process"
            ) from reason
        if error is not None:
            failure = pickle.loads(error)
            failure.add_note("In a worker process:\n" + trace)
            raise failure
        return answer

    def stop(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):  # it may hold unread bytes
                pipe.close()


class Processes:
    """Decodes examples in ``n`` worker processes, which start at the first call."""

    def __init__(self, problem: CompiledProblem, pack: Pack, n: int) -> None:
        self.n = n
        self.pack = pack
        self.threads = Threads(n)  # each talks to one worker at a time
        self._payload = pickle_problem(problem, pack)
        self._all: list[Worker] = []
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._version = 0
        weakref.finalize(self, _stop_all, self._all)

    def new_weights(self) -> None:
        """Tell that w has changed since the last call."""
        self._version += 1

    def decode(
        self,
        w: np.ndarray,
        mode: int,
        labels: np.ndarray,
        parts: list[np.ndarray],
        check: Callable[[], None],
        bound: np.ndarray,
    ) -> None:
        """Decode the examples of all parts into ``labels`` and ``bound`` (see ``Shard.oracle``)."""
        if not self._all:
            self._all += [Worker(self._payload) for _ in range(self.n)]
            for worker in self._all:
                self._free.put(worker)

        free = self._free  # an interruption replaces queue and workers

        def decode_part(part: np.ndarray) -> None:
            worker = free.get()
            try:
                found = worker.ask((mode, part), w, self._version)
            finally:
                free.put(worker)
            offsets, truth = self.pack.offsets, self.pack.truth
            for i, (y, upper) in zip(part, found, strict=True):
                lo, hi = offsets[i], offsets[i + 1]
                labels[lo:hi] = truth[lo:hi] if y is None else y
                note_bound(upper, bound, i)

        self.threads.watch(decode_part, parts, check, abort=self.close)

    def close(self) -> None:
        """End all workers; the next call starts new ones."""
        _stop_all(self._all)
        self._free = queue.SimpleQueue()


def _stop_all(workers: list[Worker]) -> None:
    while workers:
        workers.pop().stop()


def pickle_problem(problem: CompiledProblem, pack: Pack) -> bytes:
    """The problem and the examples, pickled for a worker."""
    import cloudpickle

    try:
        return cloudpickle.dumps((problem, pack))
    except Exception as error:
        raise ProblemError(
            "n_jobs > 1 decodes a problem in plain Python in worker processes, but the problem and "
            f"the examples cannot be pickled: {error}. Remove open files, locks, generators and "
            "similar objects from them, or use n_jobs=1"
        ) from error


def serve() -> None:
    """The main loop of a worker: decode examples until the parent ends."""
    # Text printed by the user's code goes to stderr, because stdout is for the answers.
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    broken: BaseException | None = None
    problem = pack = w = None
    try:
        problem, pack = pickle.load(source)
    except EOFError:
        return
    except BaseException as error:
        broken = error
    while True:
        try:
            mode, part, news = pickle.load(source)
        except EOFError:
            return
        w = w if news is None else news
        try:
            if broken is not None:
                raise broken
            answer = (decode_examples(problem, pack, w, mode, part), None, "")
            content = pickle.dumps(answer, protocol=5)
        except Exception as error:
            content = pickle.dumps((None, _pickle_error(error), traceback.format_exc()))
        try:
            sink.write(content)
            sink.flush()
        except OSError:
            return  # the parent has ended


def decode_examples(problem: Any, pack: Any, w: Any, mode: int, part: np.ndarray) -> list[Any]:
    """Outputs and upper bounds of the examples of ``part``.

    An output is None if it is the true one (the same object), and a bound if the oracle gives none.
    """
    decode = getattr(problem.functions.decode, "py_func", problem.functions.decode)
    work, found = np.empty(problem.work(pack, mode)), []
    for i in part:
        truth = pack.truth[pack.offsets[i] : pack.offsets[i + 1]]
        y = np.empty_like(truth)
        bound = decode(pack.data, w, i, mode, y, work)
        same = y.dtype == object and all(a is b for a, b in zip(y, truth, strict=True))
        found.append((None if same else y, bound))
    return found


def _pickle_error(error: BaseException) -> bytes:
    """An exception that the parent can load, of the same type if possible."""
    try:
        content = pickle.dumps(error)
        pickle.loads(content)
    except Exception:
        return pickle.dumps(ProblemError(f"{type(error).__name__}: {error}"))
    return content
