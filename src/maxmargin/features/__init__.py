"""Features of tokens: window templates over columns, and vocabularies of custom features.

The names are imported on first use, so that ``import maxmargin.features`` is fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .extractor import Extractor
    from .rows import Rows
    from .template import Template
    from .vocabulary import Vocabulary

_HOME = {
    "Extractor": "extractor",
    "Rows": "rows",
    "Template": "template",
    "Vocabulary": "vocabulary",
}

__all__ = ["Extractor", "Rows", "Template", "Vocabulary"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
