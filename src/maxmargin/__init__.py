"""maxmargin: max-margin training for structured outputs.

Importing the package loads nothing heavy: every name is looked up when it is first used.
"""

import lazy_loader as _lazy

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
