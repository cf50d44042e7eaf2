"""One label per node of a graph."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="graph",
    summary="one label per node of a graph",
    problem=".problem:GraphProblem",
    estimator=".estimator:GraphSVC",
    exports=("GraphSVCCV",),
    model=".model:GraphParts",
    files=".files:GraphFiles",
    options=".options:GraphOptions",
    show=".show:GraphShow",
    examples=".tiny:examples",
)
