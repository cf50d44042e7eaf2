"""Faster compilation of functions that are only called by other compiled functions.

numba optimises every function that it compiles and generates machine code and an entry point for C.
It then does the same again for each caller, into which the function is inlined. Functions that only
the passes of ``bind.py`` call need none of this, because each pass is optimised as a whole. These
steps are skipped for functions without an entry point for Python, while a function that is kept on
disk is being compiled.
"""

from __future__ import annotations

from typing import Any

from numba.core import event
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen

#: Options of ``@njit`` for a function that only compiled ones call. With options that are not the
#: same everywhere numba would compile what they call once for each of them.
NO_ENTRY: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "nogil": False}


class _Watch(event.Listener):
    """Counts the functions kept on disk that are being compiled now, nested in each other."""

    outer = 0

    def on_start(self, event: Any) -> None:
        compiled = event.data["dispatcher"]
        if is_kept(compiled):
            self.outer += 1
        elif self.outer and compiled.targetoptions.get("no_cpython_wrapper"):
            compiled.targetoptions["no_cfunc_wrapper"] = True

    def on_end(self, event: Any) -> None:
        self.outer -= is_kept(event.data["dispatcher"])


def is_kept(compiled: Any) -> bool:
    """Whether the code of a function is kept on disk."""
    return hasattr(compiled._cache, "label")


_watch = _Watch()
_environments: dict[str, Any] = {}  # of functions without separate machine code
_finalize, _set_env = JITCodeLibrary.finalize, JITCPUCodegen.set_env


def _finalize_part(library: Any) -> None:
    """Link the callees; optimise and generate machine code only if there is an entry point."""
    names = [function.name for function in library._final_module.functions]
    if _watch.outer and not any(name.startswith(("_ZN7cpython", "cfunc.")) for name in names):
        library._optimize_final_module = lambda: None
        library._finalize_final_module = lambda: _finish(library)
    _finalize(library)


def _finish(library: Any) -> None:
    library._finalize_dynamic_globals()
    library._finalized = True


def _set_environments(codegen: Any, name: str, environment: Any) -> None:
    """Set the address of a function's constants once there is machine code that uses them."""
    _environments[name] = environment
    for known in list(_environments):
        if codegen._engine.get_global_value_address(known):
            _set_env(codegen, known, _environments.pop(known))


def install() -> None:
    """Make numba compile in this way from now on; a numba with other internals stays as it is."""
    private = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals")
    if not all(hasattr(JITCodeLibrary, name) for name in private):
        return
    event.register("numba:compile", _watch)
    JITCodeLibrary.finalize = _finalize_part
    JITCPUCodegen.set_env = _set_environments
