"""The parameters that estimators share: their defaults and documentation, each written once.

scikit-learn reads the parameters of an estimator from the signature of its ``__init__``. With the
decorator ``estimator`` a class declares the parameters it adds as fields, and inherits the others;
in its docstring a line such as ``{max_iter, max_time}`` stands for their documentation below.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform

Class = TypeVar("Class", bound=type)

#: The order of shared parameters in signatures; those that a class adds are between the two.
FIRST = ("solver", "tol", "rescaling", "loss", "fit_intercept", "intercept_scaling", "class_weight")
LAST = (
    "kernel", "gamma", "degree", "coef0", "n_basis", "max_iter", "max_time", "n_jobs",
    "deterministic", "random_state", "warm_start", "checkpoint", "backend", "verbose",
)  # fmt: skip


@dataclass(kw_only=True, eq=False, repr=False)
class TrainingParameters:
    """The parameters of every estimator.

    C : float
        Weight of the sum of the losses.
    solver : str or solver object
        "auto", "sdm", "one-slack", or an object such as ``mm.OneSlack(cache=10)``.
    tol : float
        Stop when P/(C n) is certified to be within ``tol`` of its minimum, in units of loss.
    rescaling : {"margin", "slack"}
        How the loss enters the hinge loss: added to the margin, or as a factor of the slack.
    max_iter : int
        Maximum number of iterations.
    max_time : float, optional
        Maximum time in the solver, in seconds. If a limit is reached, the best weights so far are
        kept, with a ConvergenceWarning.
    n_jobs : int
        Number of threads; the model does not depend on it, unless ``deterministic`` is False.
    deterministic : bool
        With False the threads of "sdm", "n-slack" and "bcfw" change the weights at the same time,
        which is faster; the certificate is as good, but two runs differ within it. With a kernel
        it has no effect. With ``backend`` the threads of each worker do so.
    random_state : int
        Seed of the order in which examples are visited.
    checkpoint : path or Checkpoint, optional
        A file to which training is saved every 5 minutes and when it ends, and from which it
        continues if the file exists.
    backend : optional
        Where training runs: ``mm.Ray(...)`` for the workers of a cluster.
    verbose : int
        1 shows progress.
    result_ : Result
        The certificate and the history.
    """

    solver: Any = "auto"
    tol: float = 1e-2
    rescaling: str = "margin"
    max_iter: int = 10_000
    max_time: float | None = None
    n_jobs: int | None = 1
    deterministic: bool = True
    random_state: Any = 0
    checkpoint: Any = None
    backend: Any = None
    verbose: int = 0


@dataclass(kw_only=True, eq=False, repr=False)
class WarmStartParameters:
    """The parameter of estimators that can be trained again on the same data.

    warm_start : bool
        Start from the dual variables of the last ``fit`` on the same data, with another C or tol.
    """

    warm_start: bool = False


@dataclass(kw_only=True, eq=False, repr=False)
class KernelParameters(WarmStartParameters):
    """The parameters of estimators that can be trained with a kernel, as in scikit-learn.

    kernel : None, "linear", "rbf", "poly", "sigmoid", "precomputed" or callable
        The kernel, by scikit-learn's names and formulas; a callable ``kernel(X, Z)`` returns an
        array (rows of X, rows of Z).
    gamma : "scale", "auto" or float
        Factor in the exponent of "rbf", and of the inner products of "poly" and "sigmoid".
    degree : int
        Exponent of "poly".
    coef0 : float
        Constant that "poly" and "sigmoid" add to the inner products.
    n_basis : int, "auto" or Basis, optional
        Number of basis functions of the kernel to train on; "auto" chooses it from the duality gap
        that they leave. By default training is exact for up to 1500 examples and uses "auto" for
        more. Solvers with sampled cuts use no basis functions.
    """

    kernel: Any = None
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    n_basis: Any = None


@dataclass_transform(eq_default=False)
def estimator(cls: Class) -> Class:
    """Make ``__init__`` from the fields of a class, and complete its docstring."""
    cls = dataclass(eq=False, repr=False)(cls)
    signature = inspect.signature(cls.__init__)
    ordered = sorted(signature.parameters.values(), key=_place)
    cls.__init__.__signature__ = signature.replace(parameters=ordered)
    cls.__doc__ = fill(cls)
    return cls


def _place(parameter: inspect.Parameter) -> tuple[int, int]:
    """The place of a parameter in a signature, after those that can be given by position."""
    for group, names in ((1, FIRST), (3, LAST)):
        if parameter.name in names:
            return group, names.index(parameter.name)
    return (2 if parameter.kind is parameter.KEYWORD_ONLY else 0), 0


def fill(cls: type) -> str:
    """The docstring of a class, with the documentation of the parameters that it only names."""
    known: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if base.__name__.endswith("Parameters"):
            known |= entries(inspect.getdoc(base) or "")

    def text(line: re.Match[str]) -> str:
        found = "\n".join(known[name] for name in line[2].split(", "))
        return re.sub("^", line[1], found, flags=re.MULTILINE)

    return re.sub(r"^( *)\{([\w, ]+)\}$", text, cls.__doc__ or "", flags=re.MULTILINE)


def entries(doc: str) -> dict[str, str]:
    """The entries ``name : type`` of a docstring with their descriptions, by name."""
    return {found[1]: found[0] for found in re.finditer(r"^(\w+) :.*(\n +.*)*", doc, re.MULTILINE)}
