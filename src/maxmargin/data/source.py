"""Examples that are not in memory: what ``train`` takes in place of ``X, Y``."""

from __future__ import annotations

from typing import Any


class Source:
    """Names examples that are kept elsewhere, such as ``mm.Files``."""

    def open(self, backend: Any = None, template: Any = None) -> OpenSource:
        """Agree on labels and features; the workers of ``backend`` read, if there is one."""
        raise NotImplementedError


class OpenSource:
    """Examples whose labels and features are agreed: ready to be packed."""

    def pack(self, problem: Any) -> Any:
        """All examples as the ``Pack`` of a problem, in this process."""
        raise NotImplementedError
