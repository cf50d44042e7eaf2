"""Structures that users bring: any problem with features, loss and decode."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="own",
    summary="a structure of the user's own",
    estimator=".estimator:StructuredSVC",
    examples=".tiny:examples",
)
