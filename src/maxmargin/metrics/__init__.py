"""Accuracy of predictions: tokens, sequences, entities as in conlleval, and trees as in evalb.

>>> import maxmargin as mm
>>> truth = [["B-NP", "I-NP", "O"], ["B-VP", "O"]]
>>> predicted = [["B-NP", "O", "O"], ["B-VP", "O"]]
>>> mm.metrics.token_accuracy(truth, predicted), mm.metrics.entity_f1(truth, predicted)
(0.8, 0.5)
"""

import lazy_loader as _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
