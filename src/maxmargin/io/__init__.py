"""Readers of data files, and readers and writers of model and prediction files.

The names are imported on first use, so that ``import maxmargin.io`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..data.brackets import clean, parse_trees
    from ..saving.atomic import atomic_file, write_lines_atomic
    from ..saving.container import read_container, write_container
    from ..saving.label_json import labels_from_json, labels_to_json
    from ..svm_struct.models import load_svm_struct, save_svm_struct
    from .brackets import read_sentences, read_trees, tree_lines, write_trees
    from .conll import read_conll
    from .conll_writing import conll_lines, write_conll
    from .graphs import read_graphs, write_graphs
    from .hmm import hmm_lines, read_hmm
    from .svm_struct import StructModel, read_svm_struct, write_svm_struct
    from .svmlight import Examples, read_examples, read_svmlight
    from .tags import convert_tags

_HOME = {
    "Examples": "svmlight",
    "StructModel": "svm_struct",
    "atomic_file": "..saving.atomic",
    "clean": "..data.brackets",
    "conll_lines": "conll_writing",
    "convert_tags": "tags",
    "hmm_lines": "hmm",
    "labels_from_json": "..saving.label_json",
    "labels_to_json": "..saving.label_json",
    "load_svm_struct": "..svm_struct.models",
    "parse_trees": "..data.brackets",
    "read_conll": "conll",
    "read_container": "..saving.container",
    "read_examples": "svmlight",
    "read_graphs": "graphs",
    "read_hmm": "hmm",
    "read_sentences": "brackets",
    "read_svm_struct": "svm_struct",
    "read_svmlight": "svmlight",
    "read_trees": "brackets",
    "save_svm_struct": "..svm_struct.models",
    "tree_lines": "brackets",
    "write_conll": "conll_writing",
    "write_container": "..saving.container",
    "write_graphs": "graphs",
    "write_lines_atomic": "..saving.atomic",
    "write_svm_struct": "svm_struct",
    "write_trees": "brackets",
}

__all__ = [
    "Examples",
    "StructModel",
    "atomic_file",
    "clean",
    "conll_lines",
    "convert_tags",
    "hmm_lines",
    "labels_from_json",
    "labels_to_json",
    "load_svm_struct",
    "parse_trees",
    "read_conll",
    "read_container",
    "read_examples",
    "read_graphs",
    "read_hmm",
    "read_sentences",
    "read_svm_struct",
    "read_svmlight",
    "read_trees",
    "save_svm_struct",
    "tree_lines",
    "write_conll",
    "write_container",
    "write_graphs",
    "write_lines_atomic",
    "write_svm_struct",
    "write_trees",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOME[name]
    module = import_module(home if home.startswith(".") else f".{home}", __name__)
    return getattr(module, name)


def __dir__() -> list[str]:
    return __all__
