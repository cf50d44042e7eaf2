"""What shards tell each other between two exchanges: changes of the weights that matter most.

An exchange of all changes takes longer than a pass over known outputs. But shards disturb each
other by few weights, those that both change much. The driver picks them (``Exchange.crossing``),
and many times in a pass every shard says how far it has changed them and hears the sum of all.

If every shard corrects all of an error that it sees, K shards correct it K times. So a shard moves
its picture of the others only by a part of what is new in it. In the linear case the rest of an
error is multiplied by 1 - K part: it falls if part < 2 / K, for any data.

Nothing here must be exact, and 32-bit numbers will do: at the next exchange of all changes the
driver computes D and w from what the shards have done.
"""

from __future__ import annotations

import numpy as np

from ..engine.exchange import hear_changes, say_changes

#: A shard moves its picture of the others by this part of the difference, divided by K.
RELAXED = 1.5

#: Number of weights that shards tell each other about, and the number of the first of them that
#: they mention every time; the others take turns.
PLACES, ALWAYS = 100_000, 10_000

#: The others in one message, which has 80 kB with the first ones.
IN_TURN = 10_000


class Hearsay:
    """The picture that one shard has of the others, since the last exchange of all changes.

    ``picture`` holds w at the places, with what was heard of the others. ``model``, the shard's
    copy of w, has the shard's own steps as well, and changes in place.
    """

    def __init__(self, places: np.ndarray, K: int, model: np.ndarray):
        self.places, self.model = places, model
        self.part = RELAXED / K
        self.base, self.heard = model[places], np.zeros(len(places))
        self.picture = self.base.copy()
        self.always = min(ALWAYS, len(places))
        turns = max(-(-(len(places) - self.always) // IN_TURN), 1)
        #: The places that are mentioned in each turn.
        self.turns = [
            np.concatenate([np.arange(self.always), np.arange(first, len(places), turns)])
            for first in range(self.always, self.always + turns)
        ]
        self.turn = 0
        #: The number of places in a message; in some turns the last one is not used.
        self.size = len(self.turns[0])
        self.said = np.zeros(self.size, np.float32)

    def say(self) -> np.ndarray:
        """The shard's own changes of the places of this turn (size,)."""
        self.now = self.turns[self.turn % len(self.turns)]
        self.said[-1:] = 0.0
        say_changes(self.now, self.places, self.picture, self.model, self.said)
        self.turn += 1
        return self.said

    def hear(self, total: np.ndarray) -> None:
        """Take in the sum (size,) of what all shards have just said."""
        hear_changes(
            self.now, self.places, self.base, self.heard, self.said, total, self.part,
            self.picture, self.model,
        )  # fmt: skip

    def forget(self) -> None:
        """Remove the picture of the others from the model."""
        self.model[self.places] = self.base + (self.model[self.places] - self.picture)


def warm_up_hearsay(kind: type) -> None:
    """Compile (or load) it, before times are measured; ``kind`` is the type of places."""
    one = Hearsay(np.zeros(1, kind), 2, np.zeros(1))
    one.hear(one.say())
