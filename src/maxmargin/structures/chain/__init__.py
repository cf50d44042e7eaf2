"""One label per token of a sequence."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="chain",
    summary="one label per token of a sequence",
    problem=".problem:Chain",
    estimator=".estimator:ChainSVC",
    exports=("ChainSVCCV",),
    model=".model:ChainParts",
    files=".files:ChainFiles",
    options=".options:ChainOptions",
    show=".show:ChainShow",
    examples=".tiny:examples",
)
