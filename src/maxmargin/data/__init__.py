"""What examples are: labels, sequences, transitions, trees, and small data sets."""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach(__name__, submodules=["datasets"])
