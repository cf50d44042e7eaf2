"""Reading data files, and reading and writing model and prediction files.

The names are imported on first use, so that ``import maxmargin.io`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .atomic import atomic_file, write_lines_atomic
    from .label_json import labels_from_json, labels_to_json
    from .model import read_container, write_container
    from .svmlight import Examples, read_examples, read_svmlight

_HOME = {
    "Examples": "svmlight",
    "atomic_file": "atomic",
    "labels_from_json": "label_json",
    "labels_to_json": "label_json",
    "read_container": "model",
    "read_examples": "svmlight",
    "read_svmlight": "svmlight",
    "write_container": "model",
    "write_lines_atomic": "atomic",
}

__all__ = [
    "Examples",
    "atomic_file",
    "labels_from_json",
    "labels_to_json",
    "read_container",
    "read_examples",
    "read_svmlight",
    "write_container",
    "write_lines_atomic",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
