"""One small fitted estimator for every structure and kind that a model file can hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import maxmargin as mm

WORDS = np.array(["blue", "green", "red"])
COST = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 1.0, 0.0]])

SENTENCES = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]], [["dogs"], ["bark", "shout"]]]
TAGS = [["D", "N", "V"], ["D", "N"], ["N", "V"]]
NEW_SENTENCES = [[["the"], ["cat"], ["barks"]], [["a"], ["unseen"], ["bark"]], [["dogs"]]]

ROWS = [
    [["He", "PRP"], ["reckons", "VBZ"], ["the", "DT"], ["current", "JJ"], ["deficit", "NN"]],
    [["The", "DT"], ["deficit", "NN"], ["will", "MD"], ["narrow", "VB"], [".", "."]],
    [["Only", "RB"], ["the", "DT"], ["trade", "NN"], ["deficit", "NN"], [".", "."]],
]
CHUNKS = [
    ["B-NP", "B-VP", "B-NP", "I-NP", "I-NP"],
    ["B-NP", "I-NP", "B-VP", "I-VP", "O"],
    ["B-NP", "I-NP", "I-NP", "I-NP", "O"],
]
TEMPLATE = "word[-1..1]\nprefix(lower(word), 1..3)\nword[0] | pos[1]\n"

TREES = [
    "(TOP (S (NP (D the) (N dog)) (VP (V sees) (NP (D a) (N cat)))))",
    "(TOP (S (NP (D a) (J big) (N cat)) (VP (V sleeps))))",
    "(TOP (NP (NP (D the) (N dog)) (PP (P in) (NP (D a) (N park)))))",
    "(TOP (NP (N parks)))",
]
NEW_TEXT = ["the cat sees a dog", "a big dog sleeps", "the unicorn sees a park in a park"]


class Sign(mm.Problem):
    """A classifier of two classes as a user would write it."""

    def features(self, x: Any, y: Any) -> Any:
        return 0.5 * y * np.asarray(x)

    def loss(self, y_true: Any, y: Any) -> float:
        return float(y != y_true)

    def decode(self, x: Any, w: Any, y_true: Any = None, rescaling: str = "margin") -> int:
        def value(y):
            return w @ self.features(x, y) + (0 if y_true is None else self.loss(y_true, y))

        return max((-1, 1), key=value)


def points(k: int = 3, n: int = 40, d: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training points, their classes, and 12 other points; three decimals keep files short."""
    X, y = mm.datasets.make_multiclass(n + 12, d, k, seed=k)
    X = X.round(3)
    return X[:n], y[:n], X[n:]


def _classifier(estimator: Any, k: int = 3, names: Any = None, sparse: bool = False) -> Any:
    X, y, new = points(k)
    if sparse:
        X, new = (sp.csr_matrix(np.where(A > 0, A, 0)) for A in (X, new))
    return estimator.fit(X, y if names is None else names[y]), new


def _chain(estimator: Any, X: Any = SENTENCES, Y: Any = TAGS, new: Any = NEW_SENTENCES) -> Any:
    return estimator.fit(X, Y), new


def _vectors(estimator: Any, layout: Callable[[Any], Any] = np.asarray) -> Any:
    X, y, new = points()
    parts = [layout(part) for part in np.split(X, 10)]
    tags = [labels.tolist() for labels in np.split(y, 10)]
    return estimator.fit(parts, tags), [layout(part) for part in np.split(new, 4)]


def _named() -> Any:
    X = [[{"word": i + 0.5, "end": float(i == 2)} for i in range(3)] for _ in range(3)]
    new = [[{"word": 0.5}, {"word": 2.5, "unseen": 1.0}], [{"end": 1.0}]]
    return _chain(mm.ChainSVC(C=1.0), X, [["a", "b", "c"]] * 3, new)


def _parser(trees: Any = TREES, new: Any = NEW_TEXT, **options: Any) -> Any:
    return mm.CFGSVC(C=1.0, **options).fit(None, trees), new


def _structured() -> Any:
    X, y, new = points(2)
    return mm.StructuredSVC(Sign(), C=0.3).fit(X, [int(label) for label in 2 * y - 1]), new


def _calibrated(case: Callable[[], tuple[Any, Any]], X: Any, Y: Any, method: str) -> Any:
    """The case with a calibration; which labels are true does not matter for the file."""
    estimator, new = case()
    return mm.calibrate(estimator, X, Y, method), new


def _calibrated_chain() -> Any:
    X, y, _ = points()
    tags = [labels.tolist() for labels in np.split(np.append(y[:20], y[:19:-1]), 10)]
    return _calibrated(CASES["chain-dense"], np.split(X, 10), tags, "sigmoid")


def _calibrated_classes(name: str, k: int, method: str) -> Any:
    X, y, _ = points(k)
    return _calibrated(CASES[name], X, np.roll(y, 5), method)


def _calibrated_parser() -> Any:
    """The phrase at the end belongs to the noun or to the verb before it."""
    start, end = "(S (NP (N dogs)) (VP (V see)", "(PP (P by) (NP (N {})))"
    noun = start + " (NP (NP (N cats)) " + end + ")))"
    verb = start + " (NP (N cats)) " + end + "))"
    trees = [noun.format("day"), noun.format("day"), noun.format("trees"), verb.format("day")]
    return _calibrated(
        lambda: _parser(trees, ["dogs see cats by night", "dogs see"]), None, trees, "isotonic"
    )


def graphs(n: int = 30, cycle: bool = False, types: bool = False) -> tuple[list[Any], list[Any]]:
    """Graphs of 4 nodes with edge features, in rows or rings; labels of neighbours are alike."""
    random, X, Y = np.random.RandomState(n), [], []
    edges = [(0, 1), (1, 2), (2, 3), (3, 0)][: 3 + cycle]
    for _ in range(n):
        y = np.repeat(random.permutation(2), 2)
        nodes = np.column_stack([y + 0.7 * random.randn(4), np.ones(4)]).round(3)
        features = random.rand(len(edges), 2).round(3)
        kinds = ["a", "b", "b", "a"] if types else None
        X.append(mm.Graph(nodes, edges, features, types=kinds))
        Y.append(np.where(y, "on", ["off", "no", "no", "off"] if types else "off"))
    return X, Y


def _graph(estimator: Any, **options: Any) -> Any:
    X, Y = graphs(**options)
    return estimator.fit(X[:20], Y[:20]), X[20:26]


def _grid() -> Any:
    random = np.random.RandomState(0)
    truth = (np.arange(12).reshape(3, 4) % 4 > 1).astype(int)
    X = [np.dstack([truth + random.randn(3, 4), np.ones((3, 4))]).round(3) for _ in range(8)]
    options = dict(pairwise="associative", contrast=True, neighbours=8, directions=2)
    return mm.GridSVC(C=0.3, **options).fit(X[:5], [truth] * 5), X[5:]


def _sets(interactions: str, calibrated: bool = False) -> Any:
    X, y, new = points(n=80)
    Y = np.column_stack([y == 0, y > 0, X[:, 0] > 0, y == 2]).astype(int)
    clf = mm.MultilabelSVC(C=0.3, interactions=interactions, label_names=list("abcd"))
    clf.fit(X[:40], Y[:40])
    return mm.calibrate(clf, X[40:], np.roll(Y, 5, axis=0)[40:]) if calibrated else clf, new


def _calibrated_graph() -> Any:
    X, Y = graphs(60, True)
    clf = mm.GraphSVC(C=0.3, pairwise="associative").fit(X[:20], Y[:20])
    return mm.calibrate(clf, X[20:50], Y[20:50]), X[50:]


_TAGGED = [[["the", "D"], ["cat", "N"], ["sees", "V"], ["parks", "N"]], [["dogs", "N"]]]
_PAIRS = [(None, "D"), (None, "N"), ("D", "N"), ("N", "V"), ("N", None), ("V", None)]

#: By the name of the file: fits the estimator; gives it with inputs to predict from.
CASES: dict[str, Callable[[], tuple[Any, Any]]] = {
    "binary": lambda: _classifier(mm.BinarySVC(C=0.5), 2),
    "binary-intercept": lambda: _classifier(
        mm.BinarySVC(fit_intercept=True, intercept_scaling=3.0, solver="one-slack"), 2, WORDS
    ),
    "binary-sparse": lambda: _classifier(mm.BinarySVC(), 2, sparse=True),
    "multiclass": lambda: _classifier(mm.MulticlassSVC(C=0.5, solver=mm.SDM(inner=5))),
    "multiclass-sparse": lambda: _classifier(mm.MulticlassSVC(), names=WORDS, sparse=True),
    "multiclass-intercept": lambda: _classifier(
        mm.MulticlassSVC(loss=COST, rescaling="slack", class_weight="balanced", fit_intercept=True)
    ),
    "chain": lambda: _chain(mm.ChainSVC(C=1.0)),
    "chain-named": _named,
    "chain-template": lambda: _chain(mm.ChainSVC(template=TEMPLATE), ROWS, CHUNKS, ROWS[::-1]),
    "chain-built-in-template": lambda: _chain(
        mm.ChainSVC(template="chunking", transitions="bio"), ROWS, CHUNKS, ROWS[::-1]
    ),
    "chain-dense": lambda: _vectors(mm.ChainSVC(C=1.0, start_stop=True)),
    "chain-sparse": lambda: _vectors(mm.ChainSVC(C=1.0, loss=COST), sp.csr_matrix),
    "chain-transitions": lambda: _chain(mm.ChainSVC(transitions=_PAIRS, class_weight={"N": 2.0})),
    "chain-rbf": lambda: _vectors(mm.ChainSVC(C=1.0, kernel="rbf", gamma=0.3)),
    "cfg": _parser,
    "cfg-rich": lambda: _parser(features="rich", horizontal=1, vertical=2),
    "cfg-tagged": lambda: _parser(input="tagged", new=_TAGGED, loss="zero-one"),
    "kernel-exact": lambda: _classifier(mm.BinarySVC(kernel="rbf", gamma=0.3), 2),
    "kernel-multiclass": lambda: _classifier(
        mm.MulticlassSVC(kernel="poly", gamma=0.3, coef0=1.0, degree=2), names=WORDS
    ),
    "kernel-sparse": lambda: _classifier(mm.BinarySVC(kernel="rbf", gamma=0.3), 2, sparse=True),
    "kernel-basis": lambda: _classifier(
        mm.MulticlassSVC(kernel="rbf", gamma=0.3, n_basis=8, fit_intercept=True)
    ),
    "kernel-basis-random": lambda: _classifier(
        mm.BinarySVC(kernel="sigmoid", gamma=0.1, n_basis=mm.Basis(8, "random")), 2
    ),
    "kernel-sampled": lambda: _classifier(
        mm.BinarySVC(kernel="rbf", gamma=0.3, solver=mm.SampledCuts("constant", r=20)), 2
    ),
    "binary-calibrated": lambda: _calibrated_classes("binary", 2, "sigmoid"),
    "multiclass-calibrated": lambda: _calibrated_classes("multiclass", 3, "isotonic"),
    "chain-calibrated": _calibrated_chain,
    "cfg-calibrated": _calibrated_parser,
    "structured": _structured,
    "graph": lambda: _graph(mm.GraphSVC(C=0.3, class_weight="balanced")),
    "graph-types": lambda: _graph(mm.GraphSVC(C=0.3), types=True),
    "graph-symmetric": lambda: _graph(mm.GraphSVC(C=0.3, pairwise="symmetric", solver="one-slack")),
    "graph-calibrated": _calibrated_graph,
    "grid": _grid,
    "multilabel": lambda: _sets("none"),
    "multilabel-tree": lambda: _sets("tree", True),
}

#: Problems that ``load`` must be given, since a file holds no code.
PROBLEMS: dict[str, Any] = {"structured": Sign()}


def encode_input(X: Any) -> dict[str, Any]:
    """Inputs as JSON; floats come back to the last bit."""
    if sp.issparse(X):
        return {"csr": X.toarray().tolist()}
    if isinstance(X, np.ndarray):
        return {"array": X.tolist()}
    if isinstance(X, mm.Graph):
        parts = ("nodes", "edges", "edge_features", "types")
        return {"graph": {name: plain(getattr(X, name)) for name in parts}}
    if isinstance(X, list) and not isinstance(X[0], list | str):
        return {"list": [encode_input(part) for part in X]}
    return {"plain": X}


def decode_input(stored: dict[str, Any]) -> Any:
    """The inputs that `encode_input` was given."""
    ((kind, value),) = stored.items()
    if kind == "list":
        return [decode_input(part) for part in value]
    if kind == "graph":
        return mm.Graph(**value)
    return {"csr": lambda v: sp.csr_matrix(np.array(v)), "array": np.array, "plain": list}[kind](
        value
    )


def answers(estimator: Any, X: Any) -> dict[str, Any]:
    """What users see of a model, as JSON: outputs and scores."""
    found: dict[str, Any] = {"predict": plain(estimator.predict(X))}
    if hasattr(estimator, "decision_function"):
        found["decision_function"] = estimator.decision_function(X).tolist()
    if not isinstance(estimator, mm.StructuredSVC):
        found["best"] = [
            [[plain(output), float(score)] for output, score in outputs]
            for outputs in estimator.predict_m_best(X, 2)
        ]
    if hasattr(estimator, "calibration_"):
        for method in ("predict_proba", "predict_marginals"):
            if hasattr(estimator, method):
                found[method] = plain(getattr(estimator, method)(X))
        if "output" in estimator.calibration_.curves:
            found["probability"] = plain(estimator.probability(X))
    return found


def plain(output: Any) -> Any:
    """An output as JSON types; trees as their brackets."""
    if isinstance(output, mm.Tree):
        return str(output)
    if isinstance(output, dict):
        return [[*map(plain, key), value] for key, value in output.items()]
    if isinstance(output, list | tuple):
        return [plain(part) for part in output]
    return output.tolist() if isinstance(output, np.ndarray | np.generic) else output
