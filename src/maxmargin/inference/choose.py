"""The decoders by name, and which one ``inference="auto"`` takes."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from ..errors import ProblemError
from .branch import branch_size
from .combined import combined_messages, combined_size
from .expansion import expansion_size
from .lp import lp_messages, lp_size
from .roof_dual import roof_decoder_size, roof_messages
from .trws import sweep_size
from .two_labels import min_cut_size


class Decoder(NamedTuple):
    """What a caller must know about a compiled decoder.

    Parameters
    ----------
    function : str
        Module of this folder and name of the compiled function.
    work, messages : callable
        The number of float64 that a graph of n nodes, m edges and K labels needs as scratch, and
        those that are kept from call to call.
    exact : bool
        Whether the labelling is always the best one.
    """

    function: str
    work: Callable[[int, int, int], int]
    messages: Callable[[int, int, int], int]
    exact: bool


def _nothing(n: int, m: int, K: int) -> int:
    return 0


#: Every compiled decoder.
DECODERS = {
    "forest": Decoder("forest:decode_forest", lambda n, m, K: (n + 1) * K, _nothing, True),
    "min-cut": Decoder("two_labels:decode_min_cut", min_cut_size, _nothing, True),
    "branch": Decoder("branch:decode_branch", branch_size, _nothing, True),
    "roof-dual": Decoder("roof_dual:decode_roof_dual", roof_decoder_size, roof_messages, False),
    "trws": Decoder("trws:decode_trws", sweep_size, lambda n, m, K: m * K, False),
    "expansion": Decoder("expansion:decode_expansion", expansion_size, lambda n, m, K: n, False),
    "lp": Decoder("lp:decode_lp", lp_size, lp_messages, False),
    "combined": Decoder("combined:decode_combined", combined_size, combined_messages, False),
}

#: Decoders that are not compiled: ``maximise`` knows them, training does not.
SLOW = ("exact",)


#: The largest number of nodes for "branch": it visits at most 2 ** nodes labellings.
FEW = 20


def choose(inference: str, K: int, forest: bool, attractive: bool, nodes: int | None = None) -> str:
    """The name of the decoder for graphs with K labels.

    Parameters
    ----------
    inference : str
        "auto", or the name of a decoder.
    K : int
        The number of labels.
    forest : bool
        Whether no graph has a cycle.
    attractive : bool
        Whether there are two labels, and pairs of equal labels never score less in sum than pairs
        of different labels.
    nodes : int, optional
        The number of nodes of every graph, if it is the same.

    Examples
    --------
    >>> choose("auto", 5, forest=True, attractive=False)
    'forest'
    """
    if inference not in ("auto", *DECODERS, *SLOW):
        raise ProblemError(
            f"inference={inference!r} is not known: choose auto, {', '.join((*DECODERS, *SLOW))}"
        )
    if inference == "forest" and not forest:
        raise ProblemError(
            'inference="forest" needs graphs without cycles, and here is one with a cycle: use '
            '"auto" or another decoder'
        )
    if inference == "min-cut" and not attractive:
        raise ProblemError(
            'inference="min-cut" needs two labels and attractive pairs: use "auto" or "roof-dual"'
        )
    if inference in ("roof-dual", "min-cut", "branch") and K != 2:
        raise ProblemError(f'inference="{inference}" needs 2 labels, not {K}: use "auto"')
    few = nodes is not None and nodes <= FEW
    if inference == "branch" and not few:
        raise ProblemError(
            f'inference="branch" needs one size of all graphs, and at most {FEW} nodes: use "auto"'
        )
    if inference == "lp" and K == 2:
        return "roof-dual"  # its bound is the optimum of the relaxation
    if inference != "auto":
        return inference
    if forest:
        return "forest"
    if K == 2:
        return "min-cut" if attractive else "branch" if few else "roof-dual"
    return "combined"


def decoder(kind: str) -> Any:
    """The compiled function ``(plan, K, unary, pair, y, messages, work, effort) -> bound``."""
    module, name = _known(kind).function.split(":")
    return getattr(import_module(f".{module}", __package__), name)


def work_size(kind: str, n: int, m: int, K: int) -> int:
    """The number of float64 that a decoder needs as scratch for n nodes and m edges."""
    return _known(kind).work(n, m, K)


def message_size(kind: str, n: int, m: int, K: int) -> int:
    """The number of float64 that a decoder keeps from call to call; they start as zeros."""
    return _known(kind).messages(n, m, K)


def is_exact(kind: str) -> bool:
    """Whether the decoder always finds the best labelling."""
    return _known(kind).exact


def _known(kind: str) -> Decoder:
    if kind not in DECODERS:
        raise ProblemError(
            f"inference={kind!r} is not compiled and cannot be used here: choose "
            f"{', '.join(DECODERS)}"
        )
    return DECODERS[kind]
