"""Thin scikit-learn shells around ``train``."""

from .cfg import CFGSVC
from .chain import ChainSVC
from .cv import BinarySVCCV, ChainSVCCV, MulticlassSVCCV, PathCV
from .linear import BinarySVC, MulticlassSVC
from .structured import StructuredSVC

__all__ = [
    "CFGSVC", "BinarySVC", "BinarySVCCV", "ChainSVC", "ChainSVCCV", "MulticlassSVC",
    "MulticlassSVCCV", "PathCV", "StructuredSVC",
]  # fmt: skip
