"""Accuracy of predictions: tokens, sequences, entities as in conlleval, and trees as in evalb.

>>> import maxmargin as mm
>>> truth = [["B-NP", "I-NP", "O"], ["B-VP", "O"]]
>>> predicted = [["B-NP", "O", "O"], ["B-VP", "O"]]
>>> mm.metrics.token_accuracy(truth, predicted), mm.metrics.entity_f1(truth, predicted)
(0.8, 0.5)
"""

from .brackets import BracketEvaluation, bracket_f1
from .chunks import entities
from .counts import Counts
from .sequences import (
    SequenceEvaluation,
    entity_f1,
    evaluate_sequences,
    sequence_accuracy,
    token_accuracy,
)

__all__ = [
    "BracketEvaluation",
    "Counts",
    "SequenceEvaluation",
    "bracket_f1",
    "entities",
    "entity_f1",
    "evaluate_sequences",
    "sequence_accuracy",
    "token_accuracy",
]
