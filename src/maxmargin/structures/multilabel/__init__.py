"""A set of labels."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="multilabel",
    summary="a set of labels",
    problem=".problem:LabelSets",
    estimator=".estimator:MultilabelSVC",
    exports=("MultilabelSVCCV",),
    model=".model:MultilabelParts",
    files=".files:MultilabelFiles",
    options=".options:MultilabelOptions",
    show=".show:MultilabelShow",
    examples=".tiny:examples",
)
