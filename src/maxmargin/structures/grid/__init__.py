"""One label per pixel of an image."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="grid",
    summary="one label per pixel of an image",
    problem="..graph.problem:GraphProblem",
    estimator=".estimator:GridSVC",
    model=".model:GridParts",
    files=".files:GridFiles",
    options=".options:GridOptions",
    show=".show:GridShow",
    examples=".tiny:examples",
)
