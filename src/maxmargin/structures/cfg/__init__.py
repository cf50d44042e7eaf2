"""Parse trees of a context-free grammar."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="cfg",
    summary="a parse tree per sentence",
    problem=".problem:CFG",
    estimator=".estimator:CFGSVC",
    model=".model:CFGParts",
    files=".files:CFGFiles",
    options=".options:CFGOptions",
    show=".show:CFGShow",
    examples=".tiny:examples",
)
