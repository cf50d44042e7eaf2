"""Trials in a forked process: its death is caught and attributed to the trial that it was at."""

from __future__ import annotations

import ctypes
import faulthandler
import json
import os
import resource
import select
import shutil
import signal
import time
import warnings
from collections.abc import Generator, Iterator
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

from .trial import CRASH, HANG, Kind, Outcome, Trial, judge

PR_SET_PDEATHSIG = 1

#: A busy machine is not a hang: a trial that waits for a processor gets this many times its limit.
WAITING = 4


def run_trials(
    kind: Kind, ready: Any, seed: int, numbers: range, folder: Path
) -> Generator[Outcome]:
    """Run the trials of these numbers, in as many processes as it takes."""
    left = list(numbers)
    while left:
        with closing(_Batch(kind, ready, seed, left, folder).outcomes()) as outcomes:
            for outcome in outcomes:
                left.remove(outcome.number)
                yield outcome


class _Batch:
    """One forked process, and the pipe on which it tells how far it is."""

    def __init__(self, kind: Kind, ready: Any, seed: int, numbers: list[int], folder: Path):
        self.kind, self.folder = kind, folder / "worker"
        self.told, self.printed = folder / "faults.txt", folder / "printed.txt"
        self.pipe, write = os.pipe()
        self.pid = self.group = os.fork()
        if self.pid == 0:
            os.close(self.pipe)
            self._work(ready, seed, numbers, write)
        os.close(write)
        self._begin(numbers[0])

    def _begin(self, number: int) -> None:
        self.current, self.begin, self.used = number, time.monotonic(), self._processor_time()

    def _work(self, ready: Any, seed: int, numbers: list[int], write: int) -> NoReturn:
        """The child's life."""
        try:
            os.setsid()
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)  # it ends with the runner
            faults = open(self.told, "w")  # noqa: SIM115 - open until the process ends
            printed = os.open(self.printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            os.dup2(printed, 1)
            os.dup2(printed, 2)
            faulthandler.enable(faults)
            faulthandler.register(signal.SIGUSR1, faults)
            _limit_memory(self.kind.memory)
            warnings.simplefilter("ignore")
            for number in numbers:
                shutil.rmtree(self.folder, ignore_errors=True)
                self.folder.mkdir()
                _tell(write, {"begin": number})
                trial = Trial(self.kind.name, seed, number, self.folder, ready)
                _tell(write, asdict(judge(self.kind, trial)))
            os._exit(0)
        except BaseException as error:
            faults.write(f"the worker itself failed: {error!r}")
            faults.flush()
            os._exit(1)

    def outcomes(self) -> Generator[Outcome]:
        """The outcomes in order, until the process ends or hangs."""
        try:
            for line in self._lines():
                if "begin" in line:
                    self._begin(line["begin"])
                else:
                    yield Outcome(**line)
            code = os.waitstatus_to_exitcode(self._wait())
            if code != 0:
                how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                yield self._failed(CRASH, how)
        except TimeoutError:
            os.kill(self.pid, signal.SIGUSR1)  # faulthandler writes where it is
            time.sleep(0.5)
            yield self._failed(HANG, f"no end within {self.kind.seconds:g} s")
        finally:
            self._end()

    def _failed(self, failure: str, how: str) -> Outcome:
        text = self.told.read_text(errors="replace") if self.told.exists() else ""
        return Outcome(self.current, failure, f"{how}\n{text[:4000]}", _where(text) or how)

    def _lines(self) -> Iterator[dict[str, Any]]:
        buffer = b""
        while True:
            if select.select([self.pipe], [], [], 0.5)[0]:
                chunk = os.read(self.pipe, 65536)
                if not chunk:
                    return
                *complete, buffer = (buffer + chunk).split(b"\n")
                yield from map(json.loads, complete)
            elif self._hangs():
                raise TimeoutError

    def _hangs(self) -> bool:
        """Whether the trial has used its time, or has waited far longer."""
        seconds, limit = time.monotonic() - self.begin, self.kind.seconds
        if seconds < limit:
            return False
        return seconds > WAITING * limit or self._processor_time() - self.used > 0.8 * limit

    def _processor_time(self) -> float:
        """Of the process, since it began."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _wait(self) -> int:
        pid, self.pid = self.pid, 0
        return os.waitpid(pid, 0)[1]

    def _end(self) -> None:
        """End the process and all that it has started."""
        os.close(self.pipe)
        with suppress(ProcessLookupError):
            os.killpg(self.group, signal.SIGKILL)
        if self.pid:
            self._wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def _tell(pipe: int, message: dict[str, Any]) -> None:
    data = json.dumps(message).encode() + b"\n"
    while data:
        data = data[os.write(pipe, data) :]


def _limit_memory(more: int | None) -> None:
    """Let allocations fail that are ``more`` bytes above what the process has now."""
    if more is not None:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _where(text: str) -> str:
    """The innermost line of the package in what faulthandler has written."""
    for line in text.splitlines():
        if "/maxmargin/" in line:
            return line.strip().rpartition("/maxmargin/")[2].replace('"', "")
    return ""
