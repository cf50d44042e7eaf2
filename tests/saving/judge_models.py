"""What becomes of altered model files: load, describe, explain, predict and evaluate them.

``judge`` is used by test_altered_models.py and can be used by longer runs::

    python judge_models.py SEED COUNT [MODEL ...]

A line of the output is the number of a file, its model and what came of it: "refused", "works" or
what is wrong. A file that takes too much time or memory ends the process.
"""

import contextlib
import importlib
import io
import json
import sys
from types import SimpleNamespace

import numpy as np

import maxmargin as mm
from command_line import run
from limited import run_limited
from maxmargin.registry import summary
from tests.saving.alter_models import FROZEN, MODELS, alter

sys.path.insert(0, str(FROZEN))
import cases


def inputs(name):
    """The inputs from which a frozen model predicts, and its predictions."""
    stored = json.loads((FROZEN / "models" / f"{name}.json").read_text(encoding="utf8"))
    return cases.decode_input(stored["X"])


#: Commands that read a model only.
COMMANDS = [["info"], ["info", "--json"], ["explain"]]


def judge(path, name, X) -> str:
    """ "refused", "works", or what is wrong: anything but a ModelFileError."""
    try:
        model = mm.load(path, problem=cases.PROBLEMS.get(name))
    except mm.ModelFileError:
        model = None
    try:
        summary(path)
    except mm.ModelFileError:
        if model is not None:
            return "WRONG: loaded, but not described"
    for command, *more in COMMANDS:
        done = run(command, path, *more)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        if is_strange(done.output):
            return f"WRONG: control characters in {done.output!r}"
    return "refused" if model is None else use(model, name, X)


def is_strange(text) -> bool:
    """Whether a terminal would obey some of the text."""
    return any(c in text for c in "\x1b\0\x07\u202e")


def use(model, name, X) -> str:
    """Predict and evaluate."""
    original = mm.load(FROZEN / "models" / f"{name}.mm", problem=cases.PROBLEMS.get(name))
    try:
        found = model.predict(X)
        again = model.predict(X)
        scores = model.confidence(X) if name != "structured" else np.zeros(1)
        if not all(map(are_probabilities, probabilities(model, X))):
            return "WRONG: probabilities that are none"
        shown = evaluate(model, name, X, found)
    except ValueError as error:
        if form(model) != form(original) and not isinstance(error, UnicodeError):
            return f"works: these inputs are not for it: {error}"
        raise
    if len(found) != (X.shape[0] if hasattr(X, "shape") else len(X)):
        return f"WRONG: {len(found)} outputs"
    if np.isnan(scores).any() or not all(map(same, found, again)):
        return "WRONG: two predictions differ, or a score is NaN"
    return f"WRONG: control characters in {shown!r}" if is_strange(shown) else "works"


def probabilities(model, X):
    """All arrays of probabilities that a model gives; a file may leave out kinds of them."""
    for method in ("probability", "predict_proba", "predict_marginals"):
        with contextlib.suppress(mm.DataError):
            for found in getattr(model, method, lambda X: [])(X):
                yield np.asarray(getattr(found, "tags", found))


def are_probabilities(p):
    sums = p.ndim == 2 and p.size > 0
    return ((p >= 0) & (p <= 1 + 1e-9)).all() and (not sums or np.allclose(p.sum(axis=1), 1))


def evaluate(model, name, X, Y) -> str:
    """What ``maxmargin evaluate`` and ``suspects`` print for predictions that are all right."""
    if name.startswith("cfg"):
        model.score(None, Y)
    else:
        model.score(X, Y)
    show, printed = model.structure.show, io.StringIO()
    with contextlib.redirect_stdout(printed):
        show.evaluate(model, SimpleNamespace(X=X, Y=Y)).print()
        print([f"{label!r}" for label in show.suspects(model, X, Y, 3) or []])
    return printed.getvalue()


def same(a, b):
    return np.array_equal(a, b) if isinstance(a, np.ndarray) else str(a) == str(b)


def form(model):
    """What decides which inputs a model takes."""
    return (
        getattr(model, "n_features_in_", None), repr(getattr(model, "template", None)),
        getattr(model, "input", None), getattr(model, "feature_names_", None) is None,
        repr(getattr(model, "feature_names_in_", None)), getattr(model, "kernel", None),
        getattr(getattr(getattr(model, "_reader", None), "template_", None), "text", None),
        getattr(model, "coef_", np.zeros(0)).shape,
    )  # fmt: skip


def main(seed, count, names=()):
    with contextlib.suppress(ImportError):
        importlib.import_module("nltk")  # slow, and needed where a file says so
    contents = {n: (FROZEN / "models" / f"{n}.mm").read_bytes() for n in names or MODELS}
    for name in contents:  # compile, before there are limits
        found = judge(FROZEN / "models" / f"{name}.mm", name, inputs(name))
        assert found == "works", (name, found)
    run_limited(seed, count, contents, alter, lambda path, name: judge(path, name, inputs(name)))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
