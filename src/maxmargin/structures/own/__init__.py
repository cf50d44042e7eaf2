"""Structures defined by users: any problem with features, loss and decode."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="own",
    summary="a structure defined by the user",
    takes_problem=True,
    estimator=".estimator:StructuredSVC",
    files=".files:OwnFiles",
    options=".options:OwnOptions",
    show=".show:OwnShow",
    examples=".tiny:examples",
)
