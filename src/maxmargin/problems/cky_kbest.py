"""The k best trees of a sentence: lazily, as algorithm 3 of Huang and Chiang (2005).

The chart of CKY knows the best of every item. The second best of an item is asked for only when an
item above needs it, and so on: after the chart, k trees cost little more than one. An item is a
tuple ``(i, j, symbol, above)``: a symbol over words i..j-1 before (False) or after (True) its
unary chain; None is the whole sentence, whose edges are the roots.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from ..problem import PREDICT, Pack
from ..shard import Shard
from ..trees import Tree
from .cky import (
    BEGIN,
    DOWN,
    END,
    MORE,
    RULES,
    SPANS,
    SYMBOLS,
    UP,
    VALUES,
    best_root,
    chain_score,
    lay_out,
    scores,
    write_node,
)
from .grammar import (
    AS_ROOT,
    BELOW,
    BELOW_AT,
    BOTTOM,
    FIRST,
    LABEL,
    LEFT,
    N_LABELS,
    N_PHRASES,
    N_TAGS,
    PARENT,
    RIGHT,
    USE,
    section,
)

Item = tuple[int, int, int, bool] | None


class Edge(NamedTuple):
    """A way to build an item: a rule or chain, its parts, and the score without theirs."""

    name: int
    parts: tuple[Item, ...]
    score: float


class Derivation(NamedTuple):
    """An edge with the ranks of its parts; the lowest ``cost`` is the best."""

    cost: float
    order: int  # among equals the one that was seen first
    edge: Edge
    ranks: tuple[int, ...]


def k_best(problem: Any, pack: Pack, w: np.ndarray, k: int) -> list[list[tuple[Tree, float]]]:
    """Up to k trees of each sentence and their scores, the best first."""
    shard = Shard(problem, pack)
    labels, work = np.zeros(len(pack.truth), np.int32), np.empty(problem.work(pack, PREDICT))
    found = []
    for i in range(pack.n):
        alone = np.array([i])
        shard.loops.decode(pack, w, PREDICT, alone, labels, work)
        L = int(pack.data.offsets[i + 1] - pack.data.offsets[i])
        lo, hi = pack.offsets[i], pack.offsets[i + 1]
        codes = trees_of_chart(pack.data.table, L, work, k, labels[lo:hi]) if L else []
        found.append([(problem.unpack_one(pack, i, y), score) for y, score in codes])
    return found


def trees_of_chart(
    G: np.ndarray, L: int, work: np.ndarray, k: int, best: np.ndarray
) -> list[tuple[np.ndarray, float]]:
    """The k best trees of the chart that ``decode`` left in ``work``; ``best`` is the first."""
    J = work.view(np.int64)
    size, ints = lay_out(G, L, J)
    forest = Forest(G, work[ints : ints + size], J[:ints], L, k)
    if best_root(G, forest.F, forest.J, L, -1) < 0:
        return [(best.copy(), float(scores(forest.F, forest.J, MORE)[L]))]
    forest.ensure(None, k - 1)
    return [
        (forest.write(rank), -derivation.cost) for rank, derivation in enumerate(forest.found[None])
    ]


class Forest:
    """The items of a chart with the derivations found so far."""

    def __init__(self, G: np.ndarray, F: np.ndarray, J: np.ndarray, L: int, k: int):
        self.G, self.F, self.J, self.L, self.k = G, F, J, L, k
        self.found: dict[Item, list[Derivation]] = {}
        self._heap: dict[Item, list[Derivation]] = {}
        self._after: dict[
            Item, Derivation | None
        ] = {}  # whose successors are still to be looked at
        self._order = 0

    def ensure(self, item: Item, rank: int) -> None:
        """Find derivations of an item up to this rank, if it has so many (lazyKthBest)."""
        todo = [(item, rank)]
        while todo:
            item, rank = todo[-1]
            if item not in self._heap:
                self._start(item)
            waiting = self._look_after(item)
            if waiting is not None:
                todo.append(waiting)
            elif len(self.found[item]) > rank or not self._heap[item]:
                todo.pop()
            else:
                best = heapq.heappop(self._heap[item])
                self.found[item].append(best)
                self._after[item] = best

    def _look_after(self, item: Item) -> tuple[Item, int] | None:
        """Successors of the last derivation go into the heap (lazyNext); or what they wait for."""
        last = self._after[item]
        if last is None:
            return None
        for at, part in enumerate(last.edge.parts):
            rank = last.ranks[at] + 1
            if len(self.found.get(part, ())) <= rank and not self._exhausted(part):
                return part, rank
        for at, part in enumerate(last.edge.parts):
            rank = last.ranks[at] + 1
            if rank < len(self.found[part]):
                self._push(item, last.edge, (*last.ranks[:at], rank, *last.ranks[at + 1 :]))
            if last.ranks[at] > 0:  # so that every combination is reached in one way
                break
        self._after[item] = None
        return None

    def _exhausted(self, item: Item) -> bool:
        return item in self._heap and not self._heap[item] and self._after[item] is None

    def _start(self, item: Item) -> None:
        """The best derivation of each of the k best edges: others are not among the first k."""
        self.found[item], self._heap[item], self._after[item] = [], [], None
        ranked = sorted(self._edges(item), key=lambda edge: -self._value(edge, ()))
        for edge in ranked[: self.k]:
            self._push(item, edge, (0,) * len(edge.parts))

    def _push(self, item: Item, edge: Edge, ranks: tuple[int, ...]) -> None:
        self._order += 1
        derivation = Derivation(-self._value(edge, ranks), self._order, edge, ranks)
        heapq.heappush(self._heap[item], derivation)

    def _value(self, edge: Edge, ranks: tuple[int, ...]) -> float:
        """The score of an edge with the parts of these ranks; the best by default."""
        total = edge.score
        for at, part in enumerate(edge.parts):
            rank = ranks[at] if ranks else 0
            total += -self.found[part][rank].cost if rank else self._best(part)
        return total

    def _best(self, item: Item) -> float:
        """The value of an item in the chart."""
        assert item is not None
        i, j, symbol, above = item
        P, cell = self.G[N_PHRASES] + self.G[N_TAGS], i * self.L + j - 1
        if symbol < P:
            if above:
                return float(scores(self.F, self.J, UP)[((j - 1) * P + symbol) * self.L + i])
            return float(scores(self.F, self.J, DOWN)[cell * P + symbol])
        J = self.J
        at = slice(J[J[BEGIN] + cell], J[J[END] + cell])
        place = np.flatnonzero(section(J, SYMBOLS)[at] == symbol)[0]
        return float(scores(self.F, J, VALUES)[at][place])

    def _edges(self, item: Item) -> list[Edge]:
        """All ways to build an item."""
        G, F, J, L = self.G, self.F, self.J, self.L
        P = G[N_PHRASES] + G[N_TAGS]
        if item is None:
            roots = np.flatnonzero(section(G, USE) & AS_ROOT).tolist()
            tops: list[Item] = [(0, L, X, True) for X in roots]
            return [Edge(-1, (top,), 0.0) for top in tops if self._best(top) > -np.inf]
        i, j, symbol, above = item
        cell = i * L + j - 1
        if above and symbol < P:
            at = section(G, BELOW_AT)
            chains = section(G, BELOW)[at[symbol] : at[symbol + 1]].tolist()
            bottoms = [(c, int(section(G, BOTTOM)[c])) for c in chains]
            ways = [Edge(0, ((i, j, symbol, False),), 0.0)]
            ways += [
                Edge(c, ((i, j, X, False),), float(chain_score(G, F, J, c, cell)))
                for c, X in bottoms
            ]
            return [edge for edge in ways if self._best(edge.parts[0]) > -np.inf]
        if j - i == 1:
            return [Edge(-1, (), self._best(item))]
        extra = F[J[SPANS] + cell * G[N_LABELS] + section(G, LABEL)[symbol]] if symbol < P else 0.0
        rules, splits, values = list_rules(G, F, J, L, i, j, symbol)
        kept = np.argsort(-values, kind="stable")[: self.k]
        left, right, own = section(G, LEFT), section(G, RIGHT), scores(F, J, RULES)
        return [
            Edge(
                r, ((i, s, int(left[r]), True), (s, j, int(right[r]), True)), float(own[r] + extra)
            )
            for r, s in zip(rules[kept].tolist(), splits[kept].tolist(), strict=True)
        ]

    def write(self, rank: int) -> np.ndarray:
        """The tree of a derivation of the whole sentence, as labels."""
        R, N = int(self.G[LEFT + 1] - self.G[LEFT]), int(self.G[N_PHRASES])
        y = np.empty(3 * (2 * self.L - 1), np.int32)
        root = self.found[None][rank]
        todo, n = [(root.edge.parts[0], root.ranks[0])], 0
        while todo:
            item, rank = todo.pop()
            chain = 0
            assert item is not None
            if item[3] and item[2] < N + self.G[N_TAGS]:
                derivation = self._derivation(item, rank)
                chain, item, rank = (
                    derivation.edge.name,
                    derivation.edge.parts[0],
                    derivation.ranks[0],
                )
            assert item is not None
            derivation = self._derivation(item, rank)
            i, j, symbol, _ = item
            rule = R + symbol - N if j - i == 1 else derivation.edge.name
            write_node(y, n, i, j, rule, chain)
            n += 1
            todo += reversed(list(zip(derivation.edge.parts, derivation.ranks, strict=True)))
        return y

    def _derivation(self, item: Item, rank: int) -> Derivation:
        self.ensure(item, rank)
        return self.found[item][rank]


@njit(cache=True)
def list_rules(G, F, J, L, i, j, A):
    """``(rules, splits, values)``: all ways to build symbol A over (i, j) from two parts."""
    P = G[N_PHRASES] + G[N_TAGS]
    lefts, parents, firsts = section(G, LEFT), section(G, PARENT), section(G, FIRST)
    ups, rules = scores(F, J, UP), scores(F, J, RULES)
    found_rule, found_split, found_value = [0], [0], [0.0]
    for k in range(i + 1, j):
        left = ups[(k - 1) * P * L + i :]
        cell = k * L + j - 1
        for e in range(J[J[BEGIN] + cell], J[J[END] + cell]):
            C = J[J[SYMBOLS] + e]
            for r in range(firsts[C], firsts[C + 1]):
                if parents[r] == A and left[lefts[r] * L] > -np.inf:
                    found_rule.append(r)
                    found_split.append(k)
                    found_value.append(left[lefts[r] * L] + F[J[VALUES] + e] + rules[r])
    return np.array(found_rule[1:]), np.array(found_split[1:]), np.array(found_value[1:])
