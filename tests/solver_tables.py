"""The solvers that tests go through, from the registry: a new one is tested without a line here."""

from __future__ import annotations

from typing import Any

import maxmargin as mm
from maxmargin.solvers import solver_names


def all_solvers(few_outputs: bool = False) -> dict[str, Any]:
    """Every solver for problems without a kernel, with its options by default, by name.

    With ``few_outputs`` also those that need problems with few outputs for each example.
    """
    return {
        name: cls(**options)
        for name, (cls, options) in solver_names(False).items()
        if few_outputs or not cls.few_outputs
    }


def all_variants() -> dict[str, Any]:
    """Every solver with its options by default, and the other ways in which each can work.

    For problems with few outputs.
    """
    return all_solvers(few_outputs=True) | {
        "one-slack, as printed": mm.OneSlack(cache=0, step=1.0),
        "one-slack, cache": mm.OneSlack(cache=5),
        "one-slack, tiny cache": mm.OneSlack(cache=1, step=0.3),
        "one-slack, some oracles": mm.OneSlack(cache=5, share=0.2),
        "one-slack, chosen oracles": mm.OneSlack(cache=5, share=0.2, select="gain"),
        "one-slack, line search": mm.OneSlack(qp="line-search"),
        "one-slack, cached line search": mm.OneSlack(qp="line-search", cache=3, step=0.5),
        "one-slack, 3 cuts": mm.OneSlack(m_cuts=3),
        "one-slack, 3 cached cuts": mm.OneSlack(m_cuts=3, cache=5, combine="none"),
        "one-slack, 3 ordered cuts": mm.OneSlack(m_cuts=3, combine="ordering"),
        "n-slack, shrinking": mm.NSlack(shrink=True),
        "n-slack, small batches": mm.NSlack(batch=2),
        "sdm, paper": mm.SDM.from_paper(),
        "sdm, exact": mm.SDM(tau=0.0, first=0),
        "sdm, last w only": mm.SDM(average=False, inner=1),
        "bcfw, no known outputs": mm.BCFW(inner=0),
        "bcfw, last w only": mm.BCFW(average=False),
        "bcfw, gap sampling": mm.BCFW(sampling="gap"),
        "subgradient, batches": mm.Subgradient(batch=3),
    }
