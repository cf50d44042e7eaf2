"""Match two sets of points, in plain Python.

A set of points is shifted, stretched and disturbed; which point became which? Each possible pair
has features (how much positions and surroundings differ), and scipy's Hungarian algorithm finds
the best matching. Training learns the weight of each feature.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

import maxmargin as mm


class Matching(mm.Problem):
    """x: (m, m, d) features of all pairs; y: a permutation, as a tuple."""

    def features(self, x, y):
        """The features of the chosen pairs, summed."""
        return x[np.arange(len(y)), list(y)].sum(axis=0)

    def loss(self, y_true, y):
        """The number of wrong pairs."""
        return float(sum(a != b for a, b in zip(y_true, y, strict=True)))

    def decode(self, x, w, y_true=None, rescaling="margin"):
        """The best matching; in training every wrong pair scores 1 more."""
        if rescaling != "margin":
            raise NotImplementedError("no exact oracle for slack rescaling")
        scores = x @ w
        if y_true is not None:
            scores = scores + 1.0
            scores[np.arange(len(y_true)), list(y_true)] -= 1.0
        return tuple(linear_sum_assignment(scores, maximize=True)[1].tolist())


def make_pairs(n, m=10, noise=0.25, seed=0):
    """Point sets, their disturbed copies, the features of all pairs, and the true matchings."""
    random = np.random.default_rng(seed)
    points, copies, X, Y = [], [], [], []
    for _ in range(n):
        a = random.standard_normal((m, 2))
        shift = 0.8 * random.standard_normal(2)
        order = random.permutation(m)
        b = (1.3 * a + shift + noise * random.standard_normal((m, 2)))[np.argsort(order)]
        points.append(a)
        copies.append(b)
        X.append(pair_features(a, b, random))
        Y.append(tuple(order.tolist()))
    return points, copies, X, Y


def pair_features(a, b, random):
    """(m, m, 5): differences of position, relative position and surroundings; two are noise."""
    place = np.abs(a[:, None] - b[None]).sum(axis=2)
    inside = np.abs((a - a.mean(0))[:, None] - (b - b.mean(0))[None]).sum(axis=2)
    near_a, near_b = (np.sort(np.linalg.norm(p[:, None] - p, axis=2))[:, 1:4] for p in (a, b))
    around = np.abs(near_a[:, None] - near_b[None]).sum(axis=2)
    noise = random.standard_normal((2, len(a), len(b)))
    return np.stack([place, inside, around, *noise], axis=2)


def accuracy(Y, found):
    """Fraction of the pairs that are right."""
    right = [a == b for y, z in zip(Y, found, strict=True) for a, b in zip(y, z, strict=True)]
    return float(np.mean(right))


def main():
    """Train, compare with the distance alone, and draw one matching before and after."""
    points, copies, X, Y = make_pairs(120)
    train, test = slice(0, 80), slice(80, 120)
    print(mm.check_problem(Matching(), X[:20], Y[:20]))
    clf = mm.StructuredSVC(Matching(), C=0.1).fit(X[train], Y[train])
    found = clf.predict(X[test])
    distance = np.array([-1.0, 0.0, 0.0, 0.0, 0.0])
    naive = [Matching().decode(x, distance) for x in X[test]]
    print(f"pairs right, nearest places: {100 * accuracy(Y[test], naive):.1f} %")
    print(f"pairs right, learnt weights: {100 * accuracy(Y[test], found):.1f} %")
    print("weights:", ", ".join(f"{value:+.2f}" for value in clf.coef_))
    draw(points[80], copies[80], Y[80], naive[0], found[0])


def draw(a, b, truth, naive, found):
    """Lines between matched points; wrong ones are orange."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, y, title in zip(
        figure.subplots(1, 2), (naive, found), ("nearest places", "learnt weights"), strict=True
    ):
        for i, j in enumerate(y):
            color = "#0072B2" if truth[i] == j else "#D55E00"
            axes.plot(*np.stack([a[i], b[j]]).T, color=color, linewidth=1.5, zorder=1)
        axes.scatter(*a.T, color="#333333", label="points", zorder=2)
        axes.scatter(*b.T, color="white", edgecolor="#333333", label="disturbed copy", zorder=2)
        wrong = sum(s != t for s, t in zip(y, truth, strict=True))
        axes.set_title(f"{title}: {wrong} of {len(truth)} wrong", loc="left", fontsize=11)
        axes.set_axis_off()
    figure.axes[0].legend(frameon=False, fontsize=9)
    figure.savefig("matching.png", dpi=130)


if __name__ == "__main__":
    main()
