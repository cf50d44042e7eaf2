"""The certificate of a result, in words."""

from __future__ import annotations

from ..result import Result, Status

_VERDICTS = {
    Status.CONVERGED: "Converged",
    Status.MAX_ITER: "Stopped at the iteration limit",
    Status.MAX_TIME: "Stopped at the time limit",
    Status.INTERRUPTED: "Interrupted",
    Status.CALLBACK: "Stopped by a callback",
    Status.OWN_RULE: "Stopped by the solver's own rule",
    Status.UNCERTIFIED: "Ended by the rule of sampled cuts",
    Status.IMPORTED: "Imported",
    Status.STALLED: "Stopped at the precision of floating point",
}


def verdict(result: Result) -> str:
    """Why training ended, in a few words."""
    return _VERDICTS[result.status]


def relative_gap(result: Result) -> float | None:
    """The most by which P(w) exceeds the optimum, as a part of it; None where D proves nothing."""
    return result.gap / result.dual if result.dual > 0 else None


def bound(result: Result) -> str:
    """How far from the optimum the weights are at most, such as ``at most 0.4 %``."""
    relative = relative_gap(result)
    if relative is None or relative >= 10:
        return f"at most {result.gap:.4g}"
    return f"at most {100 * relative:.2g} %" if relative < 1 else f"at most {100 * relative:.0f} %"


def certificate(result: Result) -> str:
    """One sentence for people: what is proved of the weights."""
    if result.status is Status.UNCERTIFIED:
        return (
            f"{verdict(result)} at an objective of about {result.primal:.6g}; sampled cuts prove "
            "no bound."
        )
    return (
        f"{verdict(result)}: no weights have an objective below {result.dual:.6g} (the dual), and "
        f"these reach {result.primal:.6g} (the primal), so they are {bound(result)} above the "
        "optimum."
    )
