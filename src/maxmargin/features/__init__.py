"""Features of tokens: window templates over columns, and vocabularies of custom features.

The names in ``__init__.pyi`` are imported on first use, so that ``import maxmargin.features`` is
fast.
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
