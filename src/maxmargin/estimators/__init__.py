"""Thin scikit-learn shells around ``train``."""

from .chain import ChainSVC
from .linear import BinarySVC, MulticlassSVC
from .structured import StructuredSVC

__all__ = ["BinarySVC", "ChainSVC", "MulticlassSVC", "StructuredSVC"]
