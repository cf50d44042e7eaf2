"""Examples that are not in memory, which ``train`` accepts instead of ``X, Y``."""

from __future__ import annotations

from typing import Any


class Source:
    """A reference to examples that are stored elsewhere, such as ``mm.Files``."""

    def open(self, backend: Any = None, template: Any = None) -> OpenSource:
        """Find the labels and features of all examples, with the workers of ``backend`` if any."""
        raise NotImplementedError


class OpenSource:
    """Examples whose labels and features are known, ready to be packed."""

    def pack(self, problem: Any) -> Any:
        """The ``Pack`` of all examples for a problem, in this process."""
        raise NotImplementedError
