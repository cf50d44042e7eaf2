"""Functions that are compiled at the same time in several processes."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, threading
from maxmargin.engine import side_by_side
from maxmargin.engine.keep import keep

side_by_side._n_cores = lambda: 2
first, second = keep(lambda x: x + 1), keep(lambda x: x + 2)
parent = os.getpid()

def job(function, name):
    def call():
        if "fails" in sys.argv and os.getpid() != parent:
            os.kill(os.getpid(), 9)
        function(1)
        place = "here" if os.getpid() == parent else "there"
        os.write(1, f"{name} {place}\\n".encode())
    return call

if "thread" in sys.argv:
    threading.Thread(target=threading.Event().wait, daemon=True).start()
side_by_side.make_ready([job(first, "first"), job(second, "second")])
assert first(1) == 2 and second(1) == 3
compiled = [sum(f.stats.cache_misses.values()) for f in (first, second)]
print("compiled here", *compiled)
"""


@pytest.fixture
def run(tmp_path):
    def run_program(*words):
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", PROGRAM, *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        return done.stdout.splitlines()

    return run_program


@pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")
def test_a_copy_of_the_process_compiles_the_second_function(run):
    lines = run()
    assert "second there" in lines
    assert lines[-1] == "compiled here 1 0"
    assert run() == ["first here", "second here", "compiled here 0 0"]


def test_what_a_copy_does_not_compile_is_compiled_here(run):
    lines = run("fails")
    assert "second there" not in lines
    assert lines[-1] == "compiled here 1 1"


def test_no_copies_of_a_process_with_threads(run):
    assert run("thread") == ["first here", "second here", "compiled here 1 1"]
