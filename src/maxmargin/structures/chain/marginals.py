"""Max-marginals of chains: the best score that a sequence can have with each label at each token.

Two passes of max-sum, forward and backward, in time L K^2 for L tokens and K labels.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from ...data.checked import check_vector
from ...engine.keep import leaf
from ...problem import Pack
from .functions import set_scores, set_transitions
from .viterbi import advance

#: Sequences between two moments at which Ctrl-C is obeyed.
CHUNK = 1000


def max_marginals(pack: Pack, w: np.ndarray, n_classes: int) -> np.ndarray:
    """The max-marginals of all tokens of packed sequences.

    Parameters
    ----------
    pack : Pack
        Of a ``Chain``.
    w : array (dim,)
    n_classes : int

    Returns
    -------
    array (total, n_classes)
        ``[t, k]`` is the highest score of a sequence that has label k at token t; -inf if the
        mask of transitions allows none. If it allows no sequence of this length at all, it is
        ignored, as ``predict`` does.
    """
    w = check_vector(w, pack.dim)
    found = np.empty((len(pack.truth), n_classes))
    longest = int(np.diff(pack.offsets).max(initial=0))
    work = np.empty(n_classes * n_classes + 2 * n_classes + (2 * longest + 1) * n_classes)
    for first in range(0, pack.n, CHUNK):
        fill(pack.data, w, first, min(first + CHUNK, pack.n), found.ravel(), work)
    return found


@leaf
def fill(data, w, first, end, found, work):
    """Write the max-marginals of sequences first..end-1."""
    K = np.int64(data.cost.shape[0])
    n = K * K + 2 * K
    for i in range(first, end):
        lo, L = data.offsets[i], data.offsets[i + 1] - data.offsets[i]
        if L == 0:
            continue
        set_scores(data, w, i, work)
        T, s, rest = work[:n], work[n : n + L * K], work[n + L * K :]
        out = found[lo * K : (lo + L) * K]
        if both_ways(s, T, K, L, out, rest) == -np.inf:
            set_transitions(data, w, K, T, False)
            both_ways(s, T, K, L, out, rest)


@register_jitable
def both_ways(s, T, K, L, out, rest):
    """out[t*K + k] = the best score with k at t, for scores as in ``viterbi``; returns the best."""
    first, last = T[K * K : K * K + K], T[K * K + K : K * K + 2 * K]
    for b in range(K):
        out[b] = s[b] + first[b]
    for t in range(1, L):
        now = out[t * K : t * K + K]
        advance(out[(t - 1) * K : t * K], T, K, s[t * K : t * K + K], now)
    # ``after[a]`` is the best score of what follows label a at token t; ``ahead`` that of t + 1.
    after, ahead = rest[:K], rest[K : 2 * K]
    top = -np.inf
    for a in range(K):
        after[a] = last[a]
    for t in range(L - 1, -1, -1):
        now, score = out[t * K : t * K + K], s[t * K : t * K + K]
        for a in range(K):
            ahead[a] = score[a] + after[a]
            now[a] += after[a]
        if t == L - 1:
            for a in range(K):
                top = max(top, now[a])
        for a in range(K):
            row, best = T[a * K : a * K + K], -np.inf
            for b in range(K):
                best = max(best, row[b] + ahead[b])
            after[a] = best
    return top
