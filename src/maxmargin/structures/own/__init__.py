"""Structures defined by users: any problem with features, loss and decode."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="own",
    summary="a structure defined by the user",
    estimator=".estimator:StructuredSVC",
    examples=".tiny:examples",
)
