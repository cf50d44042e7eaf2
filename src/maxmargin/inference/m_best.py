"""Max-marginals and several labellings of one graph.

The m best labellings are found by dividing the set of all labellings into cells. The second best
labelling of a cell differs from its best one at some node, where it has the highest max-marginal of
all labels that the best one does not have. It divides the cell: its label at this node is fixed in
one part and excluded in the other (Yanover and Weiss 2004, Finding the M most probable
configurations using loopy belief propagation, NIPS 16). This needs a decoder that is exact; others
give a labelling from which a search by changes of single nodes finds good ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from .choose import decoder, is_exact, message_size, work_size
from .forest import forest_max_marginals
from .plan import is_forest
from .slow import value_of

#: The largest number of sweeps of decoders that are not exact.
SWEEPS = 100


class PairModel(NamedTuple):
    """The scores of a graph, and the labels that its nodes can have.

    Attributes
    ----------
    plan : int32 array
        As ``plan_graph`` makes it, from edges without duplicates.
    unary : array (n, K)
    pair : array (m, K, K)
    instead : int array (n, K)
        For each label of a node itself, or for one that the node cannot have, another one.
    """

    plan: np.ndarray
    unary: np.ndarray
    pair: np.ndarray
    instead: np.ndarray

    @property
    def edges(self) -> np.ndarray:
        """The ends of the edges (m, 2)."""
        return self.plan[: 2 * len(self.pair)].reshape(-1, 2)

    def restricted(self) -> PairModel:
        """Labels that a node cannot have get the scores of those instead of them."""
        a, b = (self.instead[self.edges[:, side]] for side in (0, 1))
        rows = np.arange(len(self.pair))[:, None, None]
        unary = np.take_along_axis(self.unary, self.instead, axis=1)
        return self._replace(unary=unary, pair=self.pair[rows, a[:, :, None], b[:, None, :]])

    def value(self, y: np.ndarray) -> float:
        """The value of a labelling."""
        return value_of(self.unary, self.edges, self.pair, y)


def every_label(n: int, K: int) -> np.ndarray:
    """The ``instead`` of nodes that can have all labels (n, K)."""
    return np.tile(np.arange(K), (n, 1))


def exact_kind(kind: str, plan: np.ndarray, n: int) -> str | None:
    """The decoder that finds the best labelling of a graph for certain; None if there is none."""
    if is_forest(plan, n):
        return "forest"
    return kind if is_exact(kind) else None


def best_labelling(model: PairModel, kind: str) -> np.ndarray:
    """The labels that the decoder finds, int32 (n,)."""
    (n, K), m, mine = model.unary.shape, len(model.pair), model.restricted()
    y, messages = np.zeros(n, np.int32), np.zeros(message_size(kind, n, m, K))
    work = np.empty(work_size(kind, n, m, K))
    decoder(kind)(mine.plan, K, mine.unary.ravel(), mine.pair.ravel(), y, messages, work, SWEEPS)
    return model.instead[np.arange(n), y].astype(np.int32)


def max_marginals(model: PairModel, kind: str, y: np.ndarray | None = None) -> np.ndarray:
    """The highest value of a labelling with each label at each node (n, K).

    Labels that a node cannot have get -inf. Forests need two passes. Otherwise there are two
    labels, and a minimum cut for each node, with the label that it does not have in the best
    labelling y.
    """
    (n, K), mine = model.unary.shape, model.restricted()
    if kind == "forest":
        found = np.empty(n * K)
        args = (mine.plan, K, mine.unary.ravel(), mine.pair.ravel(), found)
        forest_max_marginals(*args, np.empty((n + 2) * K))
        found = found.reshape(n, K)
    else:
        y = best_labelling(model, kind) if y is None else y
        found = np.full((n, K), model.value(y))
        for v in range(n):
            fixed = model.instead.copy()
            fixed[v] = 1 - y[v]
            other = model._replace(instead=fixed)
            found[v, 1 - y[v]] = model.value(best_labelling(other, kind))
    return np.where(model.instead == np.arange(K), found, -np.inf)


def m_best(model: PairModel, kind: str) -> Iterator[tuple[np.ndarray, float]]:
    """All labellings and their values, best first; ``kind`` is the name of an exact decoder."""
    cells = [Cell(model, kind)]
    yield cells[0].y, model.value(cells[0].y)
    while True:
        cell = max(cells, key=lambda c: c.second)
        if cell.second == -np.inf:
            return
        v, k = cell.where
        fixed, excluded = cell.model.instead.copy(), cell.model.instead.copy()
        fixed[v] = k
        excluded[v, excluded[v] == k] = cell.y[v]
        new = Cell(cell.model._replace(instead=fixed), kind)
        rest = Cell(cell.model._replace(instead=excluded), kind, cell.y)
        cells = [c for c in cells if c is not cell] + [new, rest]
        yield new.y, model.value(new.y)


class Cell:
    """A set of labellings: its best one, and on demand the value of its second best one."""

    def __init__(self, model: PairModel, kind: str, y: np.ndarray | None = None):
        self.model, self.kind = model, kind
        self.y = best_labelling(model, kind) if y is None else y
        self._second: tuple[float, Any] | None = None

    def _find_second(self) -> tuple[float, Any]:
        """The value of the second best labelling, and a node and its label that tell it apart."""
        if self._second is None:
            found = max_marginals(self.model, self.kind, self.y)
            found[np.arange(len(self.y)), self.y] = -np.inf
            place = np.unravel_index(int(found.argmax()), found.shape) if found.size else None
            self._second = (-np.inf if place is None else float(found[place]), place)
        return self._second

    @property
    def second(self) -> float:
        """The value of the second best labelling, -inf if there is none."""
        return self._find_second()[0]

    @property
    def where(self) -> Any:
        """A node, and the label that the second best labelling has there."""
        return self._find_second()[1]


def near_labellings(model: PairModel, y: np.ndarray, m: int) -> list[tuple[np.ndarray, float]]:
    """Up to m labellings and their values, best first, of those that a search from y finds.

    The best labelling that is known is changed at single nodes, then the next best one, and so on.
    """
    K, found = model.unary.shape[1], []
    waiting: list[Any] = [(-model.value(y), 0, y)]
    known = {y.tobytes()}
    while waiting and len(found) < m:
        minus, _, y = heappop(waiting)
        found.append((y, model.value(y)))
        gain = single_changes(model, y).ravel()
        for place in np.argsort(-gain, kind="stable")[:m].tolist():
            z = y.copy()
            z[place // K] = place % K
            if gain[place] > -np.inf and z.tobytes() not in known:
                known.add(z.tobytes())
                heappush(waiting, (minus - gain[place], len(known), z))
    return sorted(found, key=lambda pair: -pair[1])


def single_changes(model: PairModel, y: np.ndarray) -> np.ndarray:
    """By how much the value changes if one node gets another label (n, K); -inf where it cannot."""
    nodes, pair = np.arange(len(y)), model.pair
    (a, b), e = model.edges.T, np.arange(len(pair))
    own = pair[e, y[a], y[b]][:, None]
    gain = model.unary - model.unary[nodes, y][:, None]
    np.add.at(gain, a, pair[e, :, y[b]] - own)
    np.add.at(gain, b, pair[e, y[a], :] - own)
    possible = model.instead == np.arange(model.unary.shape[1])
    possible[nodes, y] = False
    return np.where(possible, gain, -np.inf)


def several_labellings(
    model: PairModel, kind: str, m: int, diversity: float, exact: bool
) -> list[tuple[np.ndarray, float]]:
    """Up to m different labellings and their values.

    With ``diversity`` each next one has the highest value plus ``diversity`` for each label in
    which it differs from each one before it (Batra and others 2012, Diverse M-best solutions in
    Markov random fields, ECCV). A decoder that is not ``exact`` may end with fewer.
    """
    if exact and diversity == 0:
        return list(islice(m_best(model, kind), m))
    found, K, unary = [], model.unary.shape[1], model.unary.copy()
    for _ in range(m):
        some = m_best(model._replace(unary=unary), kind)
        new = islice(some, len(found) + 1 if exact else 1)
        y = next((y for y, _ in new if not any(np.array_equal(y, z) for z, _ in found)), None)
        if y is None:
            break
        found.append((y, model.value(y)))
        unary += diversity * (np.arange(K) != y[:, None])
    return found
