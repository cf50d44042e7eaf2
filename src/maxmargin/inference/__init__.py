"""Decoders of pairwise models: the labelling of a graph with the highest score, and a bound.

Every decoder maximises the sum of ``unary[v, y_v]`` over nodes and of ``pair[e, y_a, y_b]`` over
edges, and returns an upper bound on the maximum (exact ones the maximum itself).
"""

from .choose import choose, decoder, is_exact, message_size, work_size
from .cut_grid import cut_grid
from .maximise import maximise
from .plan import is_forest, merge_edges, plan_graph

__all__ = [
    "choose",
    "cut_grid",
    "decoder",
    "is_exact",
    "is_forest",
    "maximise",
    "merge_edges",
    "message_size",
    "plan_graph",
    "work_size",
]
