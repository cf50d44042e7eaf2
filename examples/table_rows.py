"""Rows of tables: words and lines of a page as nodes of two types.

A line begins a row of a table, continues one, or is plain text; a word is a name, a number or
other text. The two types have different features and labels, and each helps to find the other. The
pages are made here.
"""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import maxmargin as mm

COLORS = {"row": "#0072b2", "more": "#56b4e9", "text": "#999999"}
random = np.random.default_rng(0)


def make_page(n_lines=12):
    """A graph of words and lines, their labels, and the places of the words."""
    lines, words, labels, places, kind = [], [], [], [], "text"
    for line in range(n_lines):
        kind = random.choice(["row", "more", "text"], p={
            "text": [0.3, 0.0, 0.7], "row": [0.5, 0.3, 0.2], "more": [0.7, 0.1, 0.2]
        }[kind])  # fmt: skip
        n = {"row": 4, "more": 2, "text": 5}[kind] + random.integers(-1, 2)
        for place in range(max(n, 1)):
            word = "other" if kind == "text" else "number" if kind == "row" and place else "name"
            digits = {"other": 0.1, "name": 0.2, "number": 0.8}[word]
            words.append([random.normal(digits, 0.3), random.normal(word == "name", 1.0), 1.0])
            labels.append(word)
            places.append((place + 0.2 * random.normal() * (kind == "text"), line))
        indent = random.normal({"row": 0.0, "more": 0.6, "text": 0.2}[kind], 0.5)
        lines.append(([indent, 1.0], kind, len(words)))
    ends = [end for _, _, end in lines]
    of_line = np.repeat(np.arange(n_lines), np.diff([0, *ends]))
    number = np.arange(len(words))
    same = of_line[1:] == of_line[:-1]
    graph = mm.Graph.of_types(
        {"word": np.array(words), "line": np.array([features for features, _, _ in lines])},
        {
            ("word", "word"): np.column_stack([number[:-1], number[1:]])[same],
            ("word", "line"): np.column_stack([number, of_line]),
            ("line", "line"): np.column_stack([np.arange(n_lines - 1), np.arange(1, n_lines)]),
        },
    )
    return graph, np.array([*labels, *(kind for _, kind, _ in lines)]), np.array(places)


X, Y, places = zip(*[make_page() for _ in range(90)], strict=True)
clf = mm.GraphSVC(C=0.1, tol=0.5).fit(X[:60], Y[:60])
alone = mm.GraphSVC(C=0.1).fit([mm.Graph(x.nodes, types=x.types) for x in X[:60]], Y[:60])
found = {
    "nodes alone": alone.predict([mm.Graph(x.nodes, types=x.types) for x in X[60:]]),
    "with edges": clf.predict(X[60:]),
}
for name, labels in found.items():
    for kind in ("word", "line"):
        right = [(z == y)[x.types == kind] for x, y, z in zip(X[60:], Y[60:], labels, strict=True)]
        print(f"{name:>11}: {np.mean(np.concatenate(right)):.3f} of the {kind}s are right")
for name, weight in clf.explain(4).transitions.positive:
    print(f"{weight:+.2f}  {name}")

figure, panels = plt.subplots(1, 3, figsize=(12, 3.8), sharey=True)
x, truth = X[60], Y[60]
for axes, (title, labels) in zip(
    panels, {"truth": truth, **{k: v[0] for k, v in found.items()}}.items(), strict=True
):
    is_word = x.types == "word"
    for (column, row), word in zip(places[60], labels[is_word], strict=True):
        kind = labels[~is_word][int(row)]
        axes.text(column, row, word, color=COLORS[kind], fontsize=8, va="center")
    axes.set(xlim=(-0.3, 6), ylim=(11.7, -0.7), xticks=[], yticks=[], title=title)
panels[0].set_xlabel("blue: begins a row, light blue: continues it, grey: text")
figure.tight_layout()
figure.savefig("table_rows.png", dpi=80)
