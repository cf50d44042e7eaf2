"""Thin scikit-learn shells around ``train``."""

from .linear import BinarySVC, MulticlassSVC
from .structured import StructuredSVC

__all__ = ["BinarySVC", "MulticlassSVC", "StructuredSVC"]
