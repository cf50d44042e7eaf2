"""Files of examples of two classes."""

from __future__ import annotations

from ...errors import DataError
from ..rows import RowFiles


class BinaryFiles(RowFiles):
    """svmlight files with two classes."""

    def check_classes(self, path: str, n_classes: int) -> None:
        """Raise an error if there are more than two classes."""
        if n_classes > 2:
            raise DataError(f"has {n_classes} classes: use 'maxmargin train multiclass'", path=path)
