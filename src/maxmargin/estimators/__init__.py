"""Thin scikit-learn shells around ``train``."""

from .cfg import CFGSVC
from .chain import ChainSVC
from .linear import BinarySVC, MulticlassSVC
from .structured import StructuredSVC

__all__ = ["CFGSVC", "BinarySVC", "ChainSVC", "MulticlassSVC", "StructuredSVC"]
