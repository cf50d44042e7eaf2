"""Blank spaCy pipelines of one component, trained on the same sentences."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

#: Settings of spaCy's own components, which need several passes over the examples.
BATCH, DROPOUT = 32, 0.1


def train_pipeline(
    component: str,
    known: Callable[[Any], list[Any]],
    test: Callable[[Any], list[Any]],
    epochs: int,
    seed: int,
) -> dict[str, Any]:
    """Train a blank English pipeline; CPU seconds of training, and the scores on the test examples.

    ``known`` and ``test`` make the examples from the vocabulary of the pipeline. Our components are
    trained by ``nlp.initialize`` alone, with ``epochs`` = 0.
    """
    import spacy
    from spacy.util import fix_random_seed, minibatch

    fix_random_seed(seed)
    nlp = spacy.blank("en")
    nlp.add_pipe(component)
    examples = known(nlp.vocab)
    begin = time.process_time()
    optimizer = nlp.initialize(lambda: examples)
    order = random.Random(seed)
    for _ in range(epochs):
        order.shuffle(examples)
        for batch in minibatch(examples, size=BATCH):
            nlp.update(batch, sgd=optimizer, drop=DROPOUT)
    cpu = time.process_time() - begin
    return {"cpu": cpu, "scores": nlp.evaluate(test(nlp.vocab))}
