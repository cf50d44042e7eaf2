"""A user's compiled functions as plain Python, which checks every index.

Before compiled code of a user's problem runs for the first time, its functions are called once in
plain Python on two examples. Mistakes that every call makes (memory that is too small, an index out
of range) then give an error that names the example, and not a crash.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import ProblemError
from ..problem import PREDICT, CompiledProblem, Functions, Pack
from .guard import check_labels, check_loss, check_plane, check_returned

#: Stop the trial of an example after this many lines of Python, about 20 ms.
LINES = 50_000

#: What predictions have been tried with.
_tried: set[tuple[Any, ...]] = set()


def is_compiled(functions: Functions) -> bool:
    """Whether all functions were compiled by numba."""
    from numba.core.dispatcher import Dispatcher

    return all(isinstance(f, Dispatcher) for f in vars(functions).values() if callable(f))


def is_built_in(functions: Functions) -> bool:
    """Whether the functions belong to this package, whose tests have checked all indices."""
    return functions.delta.__module__.partition(".")[0] == __name__.partition(".")[0]


def in_python(functions: Functions) -> Functions:
    """The functions in plain Python, including all compiled functions that they call."""
    known: dict[int, Any] = {}
    return Functions(**{name: _plain(f, known) for name, f in vars(functions).items()})


def _plain(value: Any, known: dict[int, Any]) -> Any:
    """A compiled function as plain Python; other values are returned as they are."""
    if isinstance(value, ModuleType) and not value.__name__.startswith(("numpy", "numba")):
        return _PlainModule(value, known)
    function = getattr(value, "py_func", None)
    if not isinstance(function, FunctionType):
        return value
    if id(value) not in known:
        cells = function.__closure__ or ()
        names = {name for name in function.__code__.co_names if name in function.__globals__}
        own = dict(function.__globals__)
        copied = tuple(type(cell)(_plain(cell.cell_contents, known)) for cell in cells)
        known[id(value)] = FunctionType(
            function.__code__, own, function.__name__, function.__defaults__, copied
        )
        own.update({name: _plain(own[name], known) for name in names})  # it may call itself
    return known[id(value)]


class _PlainModule:
    """A module whose compiled functions are plain Python."""

    def __init__(self, module: ModuleType, known: dict[int, Any]) -> None:
        self._module, self._known = module, known

    def __getattr__(self, name: str) -> Any:
        return _plain(getattr(self._module, name), self._known)


def try_functions(problem: CompiledProblem, functions: Functions, pack: Pack, mode: int) -> None:
    """Call a user's compiled functions in plain Python.

    Before training this is always done, before predictions once for given sizes of arrays, because
    predicting one example may take microseconds. The examples are the one with the most work, for
    which memory may be too small, and one in the middle. Only wrong indices, counts, losses and
    labels are reported: plain Python can fail where compiled code does not.
    """
    if pack.n == 0 or is_built_in(functions) or not is_compiled(functions):
        return
    key = (functions, pack.dim, pack.work)
    if mode == PREDICT and key in _tried:
        return
    effort = np.argsort(problem.effort(pack), kind="stable")
    plain = in_python(functions)
    for i in {int(effort[-1]), int(effort[pack.n // 2])}:
        try:
            with at_most(LINES), np.errstate(all="ignore"):
                _try_example(problem, plain, pack, mode, i)
        except ProblemError:
            raise
        except (Enough, Exception):
            continue
    if mode == PREDICT:
        _tried.add(key)


def _try_example(problem: CompiledProblem, plain: Functions, pack: Pack, mode: int, i: int) -> None:
    """Call decode, loss and delta of one example."""
    place = slice(pack.offsets[i], pack.offsets[i + 1])
    truth, y = pack.truth[place], np.zeros_like(pack.truth[place])
    with wrong_index(f"decode of example {i}"):
        work = np.zeros(problem.work(pack, mode))
        found = plain.decode(pack.data, np.zeros(pack.dim), i, mode, y, work)
    check_labels(y, pack.low, pack.high, i)
    if plain.bounded:
        check_returned(found, i)
    if mode == PREDICT:
        return
    for z in (y, truth):
        with wrong_index(f"loss of example {i} with y = {z[:20].tolist()}"):
            check_loss(plain.loss(pack.data, i, z), i)
        idx, val = np.zeros(pack.width, np.uint64), np.zeros(pack.width)
        with wrong_index(f"delta of example {i} with z = {z[:20].tolist()}"):
            nnz = plain.delta(pack.data, i, truth, z, idx, val)
        check_plane.__wrapped__(idx, val, nnz, pack.dim, pack.width, i)  # not compiled


@contextmanager
def wrong_index(what: str) -> Iterator[None]:
    """Turn an index out of range into a ProblemError that names the call."""
    try:
        yield
    except (IndexError, OverflowError) as error:
        raise ProblemError(
            f"{what} uses an index outside of an array: {error}; mm.check_problem finds such "
            "mistakes"
        ) from error


class Enough(BaseException):
    """The limit of lines is reached."""


@contextmanager
def at_most(lines: int) -> Iterator[None]:
    """Raise Enough after this many lines of Python."""
    left, before = lines, sys.gettrace()

    def trace(frame: Any, event: str, _: Any) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            raise Enough
        return trace

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
