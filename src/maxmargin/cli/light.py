"""Import scikit-learn without pandas and scipy.stats, which no command needs.

scikit-learn imports both when it is imported, for functions that we do not call: two thirds of the
time and of the memory that it takes to start a command. Here they are hidden during this import.
Afterwards whoever needs them can import them, scikit-learn included: scipy loads its parts when
they are first used, and pandas is optional for scikit-learn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType

_PARTS = ("sklearn.base", "sklearn.exceptions", "sklearn.utils.multiclass")


@contextmanager
def _hidden() -> Iterator[None]:
    """Nothing can be imported from pandas and scipy.stats inside of this block."""
    stubs = {"pandas": None, "scipy.stats": ModuleType("scipy.stats")}
    stubs = {name: stub for name, stub in stubs.items() if name not in sys.modules}
    sys.modules.update(stubs)  # type: ignore[arg-type] - None means that it cannot be imported
    try:
        yield
    finally:
        for name in stubs:
            del sys.modules[name]


def import_sklearn() -> None:
    """Import the parts of scikit-learn that estimators need, if it is not imported yet."""
    if "sklearn" in sys.modules:
        return
    try:
        with _hidden():
            _import_parts()
    except (ImportError, AttributeError):  # a version that needs more
        for name in [name for name in sys.modules if name.partition(".")[0] == "sklearn"]:
            del sys.modules[name]
        _import_parts()


def _import_parts() -> None:
    for part in _PARTS:
        import_module(part)


import_sklearn()

from sklearn.exceptions import ConvergenceWarning as ConvergenceWarning  # noqa: E402
