"""How good predicted sequences are: tokens, whole sequences, and entities as conlleval counts them.

>>> import maxmargin as mm
>>> truth = [["B-NP", "I-NP", "O"], ["B-VP", "O"]]
>>> predicted = [["B-NP", "O", "O"], ["B-VP", "O"]]
>>> mm.metrics.token_accuracy(truth, predicted), mm.metrics.entity_f1(truth, predicted)
(0.8, 0.5)
"""

from .chunks import entities
from .counts import Counts
from .sequences import SequenceEvaluation, entity_f1, sequence_accuracy, token_accuracy

__all__ = [
    "Counts",
    "SequenceEvaluation",
    "entities",
    "entity_f1",
    "sequence_accuracy",
    "token_accuracy",
]
