"""The parts of a model file for a kernel: parameters, support vectors and coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.checked import as_csr
from ..errors import ModelFileError
from ..objective import check_positive
from ..saving.parts import Arrays, ModelParts
from ..saving.sparse import LARGEST, finite
from .basis import Basis, as_basis
from .functions import NAMES, Kernel, check_kernel
from .model import KernelModel, get_model, set_model
from .rows import KernelRows

#: Names of arrays. Dense support vectors are stored as one array, sparse ones as three.
COEF, REST, SUPPORT, VECTORS = "dual_coef", "rest", "support", "support_vectors"
DATA, INDICES, INDPTR = (f"{VECTORS}.{part}" for part in ("data", "indices", "indptr"))


class KernelParts(ModelParts):
    """The parts of an estimator that may have a kernel, stored under "kernel"."""

    parameter_classes = (Basis,)

    def check_parameters(self, parameters: dict[str, Any]) -> None:
        """Also the parameters of the kernel."""
        super().check_parameters(parameters)
        check_kernel(*(parameters[name] for name in ("kernel", "gamma", "degree", "coef0")))
        if parameters["n_basis"] is not None:
            as_basis(parameters["n_basis"])

    def encode(self, estimator: Any, arrays: Arrays) -> dict[str, Any]:
        """The kernel with its support vectors and coefficients, if there is one."""
        return {"kernel": encode_kernel(estimator, arrays)} if has_kernel(estimator) else {}

    def weights(self, meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
        """The weights of features, or the coefficients of support vectors."""
        return finite(arrays, COEF) if "kernel" in meta else self.linear_weights(arrays)

    def linear_weights(self, arrays: Arrays) -> np.ndarray:
        """The weights of a model without a kernel."""
        return finite(arrays, "coef_")

    def summary(self, meta: dict[str, Any], arrays: Arrays) -> dict[str, Any]:
        """The kernel, if there is one."""
        return {"kernel": kernel_summary(meta["kernel"])} if "kernel" in meta else {}


def has_kernel(estimator: Any) -> bool:
    """Whether a fitted estimator has support vectors instead of weights."""
    return hasattr(estimator, "dual_coef_")


def encode_kernel(estimator: Any, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Put support vectors and coefficients into ``arrays``; returns the kernel as JSON types."""
    model = get_model(estimator)
    kernel = model.kernel
    if kernel.name not in NAMES:
        raise ModelFileError(
            "the kernel is a function, and code cannot be saved: use a kernel by name, or save "
            "support_vectors_ and dual_coef_ yourself"
        )
    arrays |= {COEF: model.coef, REST: model.rest, SUPPORT: model.support}
    vectors = model.vectors
    if hasattr(vectors, "tocsr"):
        csr = vectors.tocsr()
        arrays |= {DATA: csr.data, INDICES: csr.indices, INDPTR: csr.indptr}
    elif vectors is not None:
        arrays[VECTORS] = vectors
    return {
        "name": kernel.name, "gamma": kernel.gamma, "degree": kernel.degree,
        "coef0": kernel.coef0, "support": len(model.support),
    }  # fmt: skip


def decode_kernel(
    estimator: Any, meta: dict[str, Any], arrays: Arrays, n_scores: int, n_rest: int = 0
) -> np.ndarray:
    """Set the kernel model of an estimator; returns w.

    Each support vector has ``n_scores`` coefficients. ``n_rest`` is the number of weights that do
    not belong to support vectors.

    Raises
    ------
    ValueError, KeyError or TypeError
        If something is missing or inconsistent.
    """
    kernel = _kernel(meta)
    coef, rest = finite(arrays, COEF), finite(arrays, REST)
    support, d = _support(meta, arrays), estimator.n_features_in_
    vectors = _vectors(kernel, arrays, len(support), d)
    intercept = getattr(estimator, "intercept_", np.zeros(n_scores))
    if coef.shape != (len(support), n_scores) or rest.shape != (n_rest,):
        raise ValueError(f"coefficients of shape {coef.shape} do not fit the estimator")
    if intercept.shape != (n_scores,):
        raise ValueError(f"an intercept of shape {intercept.shape} does not fit the estimator")
    if vectors is not None:
        _check_values(kernel, vectors)
    set_model(estimator, KernelModel(kernel, support, vectors, coef, intercept, rest, d))
    return np.concatenate([coef.ravel(), rest])


def _kernel(meta: dict[str, Any]) -> Kernel:
    match meta:
        case {"name": str(name), "gamma": float(gamma), "degree": int(degree),
              "coef0": float(coef0)} if name in NAMES and type(degree) is int:  # fmt: skip
            check_positive("gamma", gamma)
            check_kernel(name, gamma, degree, coef0)
            return Kernel(name, gamma, degree, coef0)
    raise ValueError(f"{meta!r:.200} does not describe a kernel")


def _support(meta: dict[str, Any], arrays: Arrays) -> np.ndarray:
    """The indices of the support vectors among the training rows."""
    support = arrays[SUPPORT]
    if support.ndim != 1 or support.dtype.kind not in "iu" or meta["support"] != len(support):
        raise ValueError(f"{SUPPORT} is an array of {support.dtype} of shape {support.shape}")
    return support.astype(np.int64, copy=False)


def _vectors(kernel: Kernel, arrays: dict[str, np.ndarray], m: int, d: int) -> Any:
    """The support vectors (m, d), checked; None with a precomputed kernel."""
    if kernel.name == "precomputed":
        at = arrays[SUPPORT]
        if len(at) and (at.min() < 0 or at.max() >= d):
            raise ValueError("the indices of the support vectors are out of range")
        return None
    if VECTORS in arrays:
        finite(arrays, VECTORS, ndim=2)
        vectors: Any = arrays[VECTORS]
    else:
        from scipy import sparse

        finite(arrays, DATA, ndim=1)
        vectors = sparse.csr_array(as_csr(arrays[DATA], arrays[INDICES], arrays[INDPTR], (m, d)))
    if vectors.shape != (m, d):
        raise ValueError(f"support vectors of shape {vectors.shape} do not fit the estimator")
    return vectors


def _check_values(kernel: Kernel, vectors: Any) -> None:
    """Raise an error if values of the kernel are not finite on the support vectors."""
    KernelRows(kernel, vectors).diagonal()
    squares = KernelRows(Kernel("linear"), vectors).diagonal()
    if kernel.name == "rbf" and squares.max(initial=0.0) > LARGEST / kernel.gamma:
        raise ValueError(f"gamma={kernel.gamma:g} is beyond the range for these support vectors")


def kernel_summary(meta: dict[str, Any]) -> dict[str, Any]:
    """What ``maxmargin info`` shows about a kernel."""
    kernel, support = _kernel(meta), meta["support"]
    if type(support) is not int:
        raise ValueError(f"{support!r:.100} is not a number of support vectors")
    shown = {"rbf": ("gamma",), "poly": ("gamma", "degree", "coef0"), "sigmoid": ("gamma", "coef0")}
    values = ", ".join(f"{key}={getattr(kernel, key):g}" for key in shown.get(kernel.name, ()))
    return {"text": f"{kernel.name} {values}".strip(), "support": support}
