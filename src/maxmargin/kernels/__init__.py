"""Kernel methods: blocks of kernel values, basis functions and models of support vectors."""

from .basis import Basis
from .functions import Kernel, make_kernel
from .rows import KernelRows

__all__ = ["Basis", "Kernel", "KernelRows", "make_kernel"]
