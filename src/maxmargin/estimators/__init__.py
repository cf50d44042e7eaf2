"""Thin scikit-learn shells around ``train``."""

from ..structures.cfg.estimator import CFGSVC
from ..structures.chain.estimator import ChainSVC
from ..structures.own.estimator import StructuredSVC
from .cv import BinarySVCCV, ChainSVCCV, MulticlassSVCCV, PathCV
from .linear import BinarySVC, MulticlassSVC

__all__ = [
    "CFGSVC", "BinarySVC", "BinarySVCCV", "ChainSVC", "ChainSVCCV", "MulticlassSVC",
    "MulticlassSVCCV", "PathCV", "StructuredSVC",
]  # fmt: skip
