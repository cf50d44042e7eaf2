"""A hash of everything that compiled code depends on: all functions and values that it uses.

Two functions with the same hash compile to the same machine code, so a file of compiled code that
is named by the hash is never out of date. The hash includes bytecode, constants, values of globals
and closures, fields of NamedTuples, options of ``@njit``, and the functions with which
``@overload``, ``@lower_builtin`` and ``@intrinsic`` replace others, also in other files. Functions
of Python, numpy or numba are identified by name and version.
"""

from __future__ import annotations

import dis
import enum
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

#: Packages whose functions are identified by name and version.
LIBRARIES = ("numpy", "numba", "llvmlite", "scipy")

#: Types of constants whose ``repr`` is complete.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis), slice, range)


#: Types of which two equal objects need not be the same object.
CONSTANT = (CodeType, tuple, frozenset, list, dict, np.ndarray, np.generic, np.dtype)


class UnknownValueError(Exception):
    """A function uses a value for which there is no reproducible hash."""


def code_hash(*functions: Any) -> str:
    """A hash (hex) of these functions, compiled or plain, and of everything that they use."""
    walk = _Walk()
    for function in functions:
        walk.add(function)
    return walk.hash.hexdigest()


@lru_cache(maxsize=1)
def versions() -> tuple[str, ...]:
    """Versions of Python and of the libraries that are identified by name."""
    import llvmlite
    import numba

    return (sys.version, *(f"{m.__name__} {m.__version__}" for m in (np, numba, llvmlite)))


class _Walk:
    """Walks through everything that functions use; each object is hashed once, in a fixed order."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256(repr(versions()).encode())
        self.seen: dict[int, tuple[int, Any]] = {}  # holds the objects, so that ids stay valid
        self.overloads = _overloads()

    def write(self, *words: Any) -> None:
        """Add words to the hash."""
        self.hash.update(repr(words).encode())

    def add(self, value: Any) -> None:
        """Add a value and everything that it uses."""
        if type(value) in PLAIN:
            self.write(type(value).__name__, value)
            return
        if id(value) in self.seen:
            self.write("seen", self.seen[id(value)][0])
            return
        # Whether equal constants are the same object depends on how a file was loaded.
        if not isinstance(value, CONSTANT):
            self.seen[id(value)] = (len(self.seen), value)
        for kinds, add in _KINDS:
            if isinstance(value, kinds):
                add(self, value)
                return
        self.add_other(value)

    def add_items(self, values: Any) -> None:
        """A tuple or list, or a set in the order of the items' names."""
        if isinstance(values, frozenset):
            values = sorted(values, key=repr)
        self.write(type(values).__name__, len(values))
        for value in values:
            self.add(value)

    def add_dict(self, values: dict[Any, Any]) -> None:
        """Options or defaults, with names as keys."""
        self.write("dict", len(values))
        for key in sorted(values):
            self.write(key)
            self.add(values[key])

    def add_array(self, array: np.ndarray) -> None:
        """A numpy array or scalar."""
        array = np.asarray(array)
        if array.dtype.hasobject:
            raise UnknownValueError("an array of objects")
        self.write("array", str(array.dtype.descr), array.shape, array.flags.f_contiguous)
        self.hash.update(array.tobytes())

    def add_class(self, kind: type) -> None:
        """A NamedTuple, an Enum, an exception or a type of a library."""
        self.write("class", kind.__module__, kind.__qualname__)
        if _of_library(kind.__module__) or issubclass(kind, BaseException):
            return
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            self.write(kind._fields)  # pyright: ignore[reportAttributeAccessIssue]
            self.add_dict(kind._field_defaults)  # pyright: ignore[reportAttributeAccessIssue]
        elif issubclass(kind, enum.Enum):
            self.add_items([(member.name, member.value) for member in kind])
        else:
            raise UnknownValueError(f"class {kind.__qualname__}")

    def add_function(self, function: FunctionType) -> None:
        """A plain function, or its overloads, which numba compiles instead."""
        self.write("function", function.__module__, function.__qualname__)
        if _of_library(function.__module__):
            return
        overloads = self.overloads.get(id(function))
        for overload in overloads or [function]:
            self.add_body(overload)
            # The overload of ``register_jitable`` only returns the function itself.
            if overload is not function and function in _closure(overload):
                self.add_body(function)

    def add_body(self, function: FunctionType) -> None:
        """Bytecode, defaults, and the values of globals and of the closure."""
        code = function.__code__
        self.add_code(code)
        self.add(function.__defaults__)
        self.add(function.__kwdefaults__ or None)
        names = dict.fromkeys(name for part in _codes(code) for name in part.co_names)
        for name, value in zip(code.co_freevars, _closure(function), strict=True):
            if value is not function:
                self.add_named(name, value, names)
        for name in names:
            if name in function.__globals__:
                try:
                    self.add_named(name, function.__globals__[name], names)
                except UnknownValueError:
                    if _loads(code, name):
                        raise  # otherwise it is only the name of an attribute

    def add_named(self, name: str, value: Any, names: Iterable[str]) -> None:
        """A named value; of a module, only the attributes whose names occur in the function."""
        self.write("named", name)
        if not isinstance(value, ModuleType) or _of_library(value.__name__):
            self.add(value)
            return
        found: list[Any] = [value]
        for module in found:  # it grows
            self.write("module", module.__name__)
            for part in names:
                inner = getattr(module, part, None)
                if inner is None or any(inner is one for one in found):
                    continue
                self.write(part)
                if isinstance(inner, ModuleType) and not _of_library(inner.__name__):
                    found.append(inner)
                else:
                    self.add(inner)

    def add_code(self, code: CodeType) -> None:
        """Bytecode, without line numbers."""
        self.write(
            code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars,
            code.co_flags, code.co_argcount, code.co_kwonlyargcount, code.co_exceptiontable,
        )  # fmt: skip
        self.add(code.co_consts)

    def add_other(self, value: Any) -> None:
        """Objects of numba: compiled functions, intrinsics, types."""
        from numba.core import types
        from numba.core.dispatcher import Dispatcher
        from numba.extending import _Intrinsic  # pyright: ignore[reportPrivateImportUsage]

        module = getattr(value, "__module__", None)
        if isinstance(value, Dispatcher):
            self.write("compiled", type(value).__name__)
            self.add_dict(value.targetoptions)
            self.add(value.py_func)
        elif isinstance(value, _Intrinsic):
            self.write("intrinsic")
            self.add(value._defn)
        elif isinstance(value, types.Type):
            self.write(describe_type(value))
        elif isinstance(module, str) and _of_library(module) and hasattr(value, "__name__"):
            self.write("library", module, value.__name__)  # a ufunc
        else:
            raise UnknownValueError(f"{type(value).__name__} {value!r}"[:80])


def describe_type(kind: Any) -> str:
    """A numba type as text, including the fields of NamedTuples, which numba's text omits."""
    from numba.core import types

    if isinstance(kind, types.Dispatcher):
        return code_hash(kind.dispatcher)
    if not isinstance(kind, types.BaseTuple):
        return str(kind)
    parts = ", ".join(describe_type(part) for part in kind.types)
    if isinstance(kind, types.BaseNamedTuple):
        owner = kind.instance_class
        return f"{owner.__module__}.{owner.__qualname__}{kind.fields}({parts})"
    return f"({parts})"


def _overloads() -> dict[int, list[FunctionType]]:
    """The functions that numba compiles instead of others, by the id of the replaced function."""
    from numba.core.imputils import builtin_registry as lowered
    from numba.core.typing.templates import builtin_registry

    found: dict[int, list[FunctionType]] = {}
    for implementation, function, _ in lowered.functions:
        if isinstance(function, FunctionType):
            found.setdefault(id(function), []).append(implementation)
    for function, kind in builtin_registry.globals:
        for template in getattr(kind, "templates", ()):
            overload = getattr(template, "_overload_func", None)
            if isinstance(function, FunctionType) and overload is not None:
                found.setdefault(id(function), []).append(overload)
    return found


def _closure(function: FunctionType) -> list[Any]:
    """The values of the closure of a function."""
    return [cell.cell_contents for cell in function.__closure__ or ()]


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of all functions inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _loads(code: CodeType, name: str) -> bool:
    """Whether a function or one inside it reads this global."""
    return any(
        instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME") and instruction.argval == name
        for part in _codes(code)
        for instruction in dis.get_instructions(part)
    )


@lru_cache(maxsize=1024)
def _of_library(module: str) -> bool:
    """Whether a module belongs to Python itself or to a library identified by name."""
    root = module.partition(".")[0]
    if root in LIBRARIES:
        return True
    file = getattr(sys.modules.get(root), "__file__", None)
    inside = file is None or Path(file).is_relative_to(Path(dis.__file__).parent)
    return root in sys.stdlib_module_names and inside


_KINDS: tuple[tuple[Any, Callable[[_Walk, Any], None]], ...] = (
    (FunctionType, _Walk.add_function),
    (CodeType, _Walk.add_code),
    (type, _Walk.add_class),
    ((np.ndarray, np.generic), _Walk.add_array),
    (enum.Enum, lambda walk, value: walk.add_items((value.name, value.value))),
    ((tuple, list, frozenset), _Walk.add_items),
    (dict, _Walk.add_dict),
    ((np.dtype, *PLAIN), lambda walk, value: walk.write(type(value).__name__, repr(value))),
    (BuiltinFunctionType, lambda walk, value: walk.write(value.__module__, value.__qualname__)),
    (ModuleType, lambda walk, value: walk.write("library", value.__name__)),
)
