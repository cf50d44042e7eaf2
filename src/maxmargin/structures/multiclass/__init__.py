"""One of several classes, with the objective of Crammer and Singer."""

from ..base import Structure

STRUCTURE = Structure(
    __name__,
    name="multiclass",
    summary="one of several classes",
    problem=".problem:Multiclass",
    estimator=".estimator:MulticlassSVC",
    exports=("MulticlassSVCCV",),
    model="maxmargin.estimators.classifier_parts:ClassifierParts",
    files="maxmargin.structures.rows:RowFiles",
    options="maxmargin.structures.options:RowOptions",
    show="maxmargin.structures.rows:RowShow",
    examples=".tiny:examples",
)
