"""Reading data files, and reading and writing model and prediction files.

The names are imported on first use, so that ``import maxmargin.io`` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .atomic import atomic_file, write_lines_atomic
    from .brackets import clean, parse_trees, read_sentences, read_trees, tree_lines, write_trees
    from .conll import conll_lines, read_conll, write_conll
    from .hmm import hmm_lines, read_hmm
    from .label_json import labels_from_json, labels_to_json
    from .model import read_container, write_container
    from .svm_struct import StructModel, read_svm_struct, write_svm_struct
    from .svm_struct_models import load_svm_struct, save_svm_struct
    from .svmlight import Examples, read_examples, read_svmlight

_HOME = {
    "Examples": "svmlight",
    "StructModel": "svm_struct",
    "atomic_file": "atomic",
    "clean": "brackets",
    "conll_lines": "conll",
    "hmm_lines": "hmm",
    "labels_from_json": "label_json",
    "labels_to_json": "label_json",
    "load_svm_struct": "svm_struct_models",
    "parse_trees": "brackets",
    "read_conll": "conll",
    "read_container": "model",
    "read_examples": "svmlight",
    "read_hmm": "hmm",
    "read_sentences": "brackets",
    "read_svm_struct": "svm_struct",
    "read_svmlight": "svmlight",
    "read_trees": "brackets",
    "save_svm_struct": "svm_struct_models",
    "tree_lines": "brackets",
    "write_conll": "conll",
    "write_container": "model",
    "write_lines_atomic": "atomic",
    "write_svm_struct": "svm_struct",
    "write_trees": "brackets",
}

__all__ = [
    "Examples",
    "StructModel",
    "atomic_file",
    "clean",
    "conll_lines",
    "hmm_lines",
    "labels_from_json",
    "labels_to_json",
    "load_svm_struct",
    "parse_trees",
    "read_conll",
    "read_container",
    "read_examples",
    "read_hmm",
    "read_sentences",
    "read_svm_struct",
    "read_svmlight",
    "read_trees",
    "save_svm_struct",
    "tree_lines",
    "write_conll",
    "write_container",
    "write_lines_atomic",
    "write_svm_struct",
    "write_trees",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
