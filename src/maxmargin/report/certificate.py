"""The certificate of a result, in words."""

from __future__ import annotations

from math import isfinite

from ..result import RELAXED, Result, Status

_VERDICTS = {
    Status.CONVERGED: "Converged",
    Status.MAX_ITER: "Stopped at the iteration limit",
    Status.MAX_TIME: "Stopped at the time limit",
    Status.INTERRUPTED: "Interrupted",
    Status.CALLBACK: "Stopped by a callback",
    Status.OWN_RULE: "Stopped by the solver's own rule",
    Status.UNCERTIFIED: "Ended by the rule of sampled cuts",
    Status.IMPORTED: "Imported",
    Status.INFERENCE_LIMITED: "Optimised as far as inference allows",
    Status.PRUNED: "Converged, then pruned",
    Status.STALLED: "Stopped at the precision of floating point",
}


#: Where to get a bound for all models, if the certificate is one for models of a subspace.
AUDIT = "result_.audit(), called after fit, bounds the whole space of the kernel"

#: What to say about a run with ``deterministic=False``.
UNORDERED = "changed the weights at the same time: another run differs within the certificate"

#: What else to say about problems whose optimum is not that of the exact one.
_MORE = {RELAXED: "its objective is an upper bound on the exact one"}


def verdict(result: Result) -> str:
    """Why training ended, in a few words."""
    also = " (w = 0 is within tol as well: raise C or lower tol)" if result.trivial else ""
    return f"{_VERDICTS[result.status]}{also}"


def relative_gap(result: Result) -> float | None:
    """Upper bound on (P(w) - optimum) / optimum; None if D <= 0, which gives no such bound."""
    return result.gap / result.dual if result.dual > 0 else None


def bound(result: Result) -> str:
    """Upper bound on the distance of P(w) from the optimum, such as ``at most 0.4 %``."""
    relative = relative_gap(result)
    if relative is None or relative >= 10:
        return f"at most {result.gap:.4g}"
    return f"at most {100 * relative:.2g} %" if relative < 1 else f"at most {100 * relative:.0f} %"


def optimum(result: Result) -> str:
    """The optimum that the dual bounds from below: of all weights, or of a subspace."""
    return f"the optimum {result.bounds}" if result.bounds else "the optimum"


def lower_bound(result: Result) -> str:
    """The name of the dual: of what it is a lower bound."""
    return f"its lower bound {result.bounds}" if result.bounds else "its lower bound"


def gap_parts(result: Result) -> str:
    """The two parts of the gap, if inference leaves one; otherwise nothing."""
    if not result.gap_inference:
        return ""
    return (
        f"{result.gap_optimisation:.3g} from optimisation, {result.gap_inference:.3g} from "
        "inference"
    )


def certificate(result: Result) -> str:
    """One sentence that says what is proved about the weights."""
    if not isfinite(result.gap):
        return _without_bound(result)
    more = f"; {_MORE.get(result.bounds, AUDIT)}" if result.bounds else ""
    return (
        f"{verdict(result)}: the objective is {result.primal:.6g} (primal), {lower_bound(result)} "
        f"is {result.dual:.6g} (dual), so the weights are {bound(result)} above "
        f"{optimum(result)}{more}.{_parts_in_words(result)}"
    )


def _parts_in_words(result: Result) -> str:
    if not result.gap_inference:
        return ""
    return (
        f" Of this gap of {result.gap:.3g}, optimisation leaves {result.gap_optimisation:.3g} and "
        f"inference {result.gap_inference:.3g}, because its outputs are below its upper bounds."
    )


def _without_bound(result: Result) -> str:
    if not isfinite(result.primal):
        return f"{verdict(result)}: the objective of these weights is not known."
    audit = " from sampled cuts; see result.audit()"
    return (
        f"{verdict(result)}: the objective is about {result.primal:.6g}, with no lower bound"
        f"{audit if result.status is Status.UNCERTIFIED else ''}."
    )
