"""Small random graphs with integer scores, and the values of all their labellings."""

import itertools
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from maxmargin.inference import decoder, message_size, plan_graph, work_size


class Model(NamedTuple):
    """A pairwise model: scores (n, K), edges (m, 2), tables (m, K, K)."""

    unary: np.ndarray
    edges: np.ndarray
    pair: np.ndarray

    def value(self, y):
        """The value of one labelling, from its definition."""
        total = sum(self.unary[v, k] for v, k in enumerate(y))
        return total + sum(
            table[y[a], y[b]] for (a, b), table in zip(self.edges, self.pair, strict=True)
        )

    def values(self):
        """All labellings and their values."""
        n, K = self.unary.shape
        outputs = np.array(list(itertools.product(range(K), repeat=n))).reshape(-1, n)
        total = self.unary[np.arange(n), outputs].sum(axis=1)
        for (a, b), table in zip(self.edges, self.pair, strict=True):
            total = total + table[outputs[:, a], outputs[:, b]]
        return outputs, total

    def maximum(self):
        return self.values()[1].max()


def decode(kind, model, messages=None, effort=20):
    """Labels and bound of a compiled decoder."""
    n, K = model.unary.shape
    m, plan = len(model.edges), plan_graph(n, model.edges)
    if messages is None:
        messages = np.zeros(message_size(kind, n, m, K))
    y = np.full(n, 99, np.int32)
    work = np.full(work_size(kind, n, m, K), np.nan)
    args = (plan, K, model.unary.ravel(), model.pair.ravel(), y, messages, work, effort)
    return y, decoder(kind)(*args)


@st.composite
def models(draw, labels=(1, 4), nodes=6, forest=False, attractive=False, whole=True):
    """Models with up to ``nodes`` nodes; with ``whole``, the scores are integers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, K = draw(st.integers(1, nodes)), draw(st.integers(*labels))
    edges = random_forest(rng, n) if forest else random_edges(rng, n, draw(st.floats(0, 1)))
    unary, pair = rng.integers(-6, 7, (n, K)), rng.integers(-6, 7, (len(edges), K, K))
    if not whole:
        unary, pair = rng.normal(size=unary.shape), rng.normal(size=pair.shape)
    if attractive:
        lack = pair[:, 0, 1] + pair[:, 1, 0] - pair[:, 0, 0] - pair[:, 1, 1]
        pair[:, 1, 1] += np.maximum(lack, 0)
    return Model(unary.astype(float), edges, pair.astype(float))


def random_edges(rng, n, density):
    pairs = [p for p in itertools.combinations(range(n), 2) if rng.random() < density]
    return _in_any_direction(rng, pairs)


def random_forest(rng, n):
    name = rng.permutation(n)
    pairs = [(name[rng.integers(v)], name[v]) for v in range(1, n) if rng.random() < 0.8]
    return _in_any_direction(rng, pairs)


def _in_any_direction(rng, pairs):
    edges = np.array([p if rng.random() < 0.5 else p[::-1] for p in pairs], np.int32)
    return rng.permutation(edges.reshape(-1, 2))
