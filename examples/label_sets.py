"""Sets of labels that depend on each other, with their probabilities.

Synthetic "scenes": what is seen at the sea, in a town and in the mountains. Labels of one place
occur together, so that a label that can hardly be seen is found by the others.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

LABELS = ["boat", "beach", "gull", "street", "car", "lamp", "peak", "snow", "goat"]
random = np.random.default_rng(0)


def make_scenes(n):
    """Each scene shows most labels of one place, and every label leaves a weak trace."""
    place = random.integers(3, size=n)
    here = np.arange(9) // 3 == place[:, None]
    Y = (random.random((n, 9)) < np.where(here, 0.85, 0.03)).astype(int)
    return np.column_stack([Y + 0.8 * random.standard_normal(Y.shape), np.ones(n)]), Y


X, Y = make_scenes(900)
train, held_out, test = slice(0, 300), slice(300, 600), slice(600, 900)
models = {
    kind: mm.MultilabelSVC(C=0.1, interactions=kind, label_names=LABELS).fit(X[train], Y[train])
    for kind in ("none", "tree", "full")
}
for kind, clf in models.items():
    print(f"interactions={kind!r}: {clf.score(X[test], Y[test]):.3f} of the sets are right")
tree = mm.calibrate(models["tree"], X[held_out], Y[held_out])
print("\nthe tree:", ", ".join(f"{LABELS[a]} - {LABELS[b]}" for a, b in tree.pairs_))

i = test.start + int(np.argmin(tree.confidence(X[test])))
print(f"\nthe scene whose best set is least certain ({tree.probability(X[i : i + 1])[0]:.2f}):")
for labels, score in tree.predict_m_best(X[i : i + 1], m=3)[0]:
    print(f"{score:7.3f}  {', '.join(np.array(LABELS)[labels == 1]) or 'nothing'}")
for label, p in zip(LABELS, tree.predict_proba(X[i : i + 1])[0], strict=True):
    print(f"{label:>8} {p:.2f}")

figure, axes = plt.subplots(figsize=(5.6, 4.8))
weights = models["full"].interactions_
limit = np.abs(weights).max()
drawn = axes.imshow(weights, cmap="RdBu", vmin=-limit, vmax=limit)
axes.set_xticks(range(9), LABELS, rotation=60)
axes.set_yticks(range(9), LABELS)
axes.set_title('which labels attract each other, interactions="full"', fontsize=10)
figure.colorbar(drawn, shrink=0.8)
figure.tight_layout()
figure.savefig("label_sets.png", dpi=90)
