"""Two classes: the linear SVM with hinge loss."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="binary",
    summary="two classes",
    problem=".problem:Binary",
    estimator=".estimator:BinarySVC",
    exports=("BinarySVCCV",),
    model="maxmargin.estimators.classifier_parts:ClassifierParts",
    files=".files:BinaryFiles",
    options="maxmargin.structures.options:RowOptions",
    show="maxmargin.structures.rows:RowShow",
    examples=".tiny:examples",
)
