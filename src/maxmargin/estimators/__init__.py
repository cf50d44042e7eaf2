"""Thin scikit-learn shells around ``train``."""

from .chain import ChainSVC
from .cv import BinarySVCCV, ChainSVCCV, MulticlassSVCCV, PathCV
from .linear import BinarySVC, MulticlassSVC
from .structured import StructuredSVC

__all__ = [
    "BinarySVC", "BinarySVCCV", "ChainSVC", "ChainSVCCV", "MulticlassSVC", "MulticlassSVCCV",
    "PathCV", "StructuredSVC",
]  # fmt: skip
