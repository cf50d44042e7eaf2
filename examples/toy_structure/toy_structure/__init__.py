"""Levels on a scale, such as one to five stars."""

from maxmargin.structures.base import Structure

STRUCTURE = Structure(
    __name__,
    name="toy",
    summary="a level on a scale",
    problem=".problem:Levels",
    estimator=".estimator:ToySVC",
    files=".files:LevelFiles",
    options=".files:LevelOptions",
    examples=".tiny:examples",
)
