"""Output for sequences: evaluations, suspects, and descriptions of models."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from ...data.printable import printable
from ...data.transitions import allowed_transitions
from ...estimators.calibrated import curves_of
from ...features import Template
from ...metrics import SequenceEvaluation, evaluate_sequences, reliability_curve
from ...report.console import Console, print_json
from ...report.results import Outcome
from ...report.transitions import transitions_html
from ..show import Row, Show
from .reading import Tagged, token_lines

#: Number of the most frequent errors that are listed.
_ERRORS = 8

#: Number of tokens shown before and after a token whose labels disagree.
_CONTEXT = 1

#: Number of columns of a token that are shown.
_COLUMNS = 2


@dataclass(frozen=True)
class ShownSequences:
    """The evaluation of sequences, as text and as JSON."""

    evaluation: SequenceEvaluation

    def to_dict(self) -> dict[str, Any]:
        """All counts and scores."""
        return self.evaluation.to_dict()

    def print(self) -> None:
        """Print the lines of conlleval and the most frequent errors."""
        print_sequence_evaluation(self.evaluation)

    def plot(self, path: Path) -> None:
        """Draw the confusion of labels."""
        self.evaluation.plot(path)


class ChainShow(Show):
    """Sequences of labels."""

    class_word = "labels"

    def describe(self, estimator: Any) -> str:
        """Numbers of features and labels."""
        return f"{estimator.n_features_in_:,} features, {len(estimator.classes_):,} labels"

    def info(self, content: dict[str, Any]) -> list[Row]:
        """The data, the template and the allowed transitions."""
        chain, parameters = content["chain"], content["parameters"]
        return [
            ("data", _data(chain)),
            *([("template", _template(chain, parameters))] if chain["template"] else []),
            ("transitions", _transitions(parameters)),
        ]

    def evaluate(self, estimator: Any, examples: Tagged) -> ShownSequences:
        """Evaluate tokens, sequences and entities."""
        found = estimator.predict(examples.X)
        return ShownSequences(evaluate_sequences(examples.Y, found, estimator.classes_))

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Outcome:
        """Confusion of labels, exact sequences and entities."""
        found = evaluate_sequences(Y, estimator.predict(X), estimator.classes_)
        curve = None
        if "classes" in curves_of(estimator):
            curve = reliability_curve(Y, estimator.predict_marginals(X), estimator.classes_)
        return replace(sequence_outcome(found, data), reliability=curve)

    def transitions(self, estimator: Any) -> str:
        """The matrix of the weights of transitions, and of first and last labels."""
        weights = np.vstack([estimator.transition_, estimator.start_, estimator.stop_])
        allowed = allowed_transitions(estimator.transitions, estimator.classes_)
        return transitions_html(estimator.classes_.tolist(), weights, allowed)

    def suspects(self, estimator: Any, X: Any, Y: Any, n: int) -> list[dict[str, Any]]:
        """The sequences with the largest slack, with their words."""
        found = estimator.suspects(X, Y, n)
        for suspect in found:
            suspect["words"] = _words(X, suspect["index"])
        return found

    def locate(self, suspects: list[dict[str, Any]], examples: Tagged) -> None:
        """Add the line numbers of the tokens."""
        lines = token_lines(examples)
        for suspect in suspects:
            span = slice(*examples.X.offsets[suspect["index"] : suspect["index"] + 2])
            suspect["lines"] = None if lines is None else lines[span].tolist()

    def print_suspects(self, estimator: Any, path: str, n: int, as_json: bool) -> None:
        """The sequences of a file that disagree most with the model."""
        found = find_suspects(estimator, self.structure.files.read_labelled(path, estimator), n)
        if as_json:
            print_json(suspects_json(found))
        else:
            print_suspects(found, path)


def find_suspects(estimator: Any, tagged: Tagged, n: int) -> list[dict[str, Any]]:
    """The result of ``ChainSVC.suspects`` with words and line numbers (None if not known).

    Sequences with labels that are not in the model are skipped, with a warning.
    """
    assert tagged.Y is not None
    known = set(estimator.classes_.tolist())
    kept = [i for i, labels in enumerate(tagged.Y) if known.issuperset(labels)]
    if len(kept) < len(tagged.Y):
        warnings.warn(
            f"{len(tagged.Y) - len(kept):,} of {len(tagged.Y):,} sequences are skipped: they have "
            "labels that are not in the training data",
            stacklevel=2,
        )
    if not kept:
        return []
    found = estimator.suspects(tagged.X[kept], [tagged.Y[i] for i in kept], n)
    lines = token_lines(tagged)
    for suspect in found:
        i = suspect["index"] = kept[suspect["index"]]
        suspect["words"] = None if tagged.table is None else tagged.X[i]
        span = slice(*tagged.X.offsets[i : i + 2])
        suspect["lines"] = None if lines is None else lines[span].tolist()
    return found


def sequence_outcome(found: SequenceEvaluation, data: str) -> Outcome:
    """The evaluation of sequences, for the report."""
    more = (
        f"{found.n_exact:,} of {found.n_sequences:,} sequences are right as a whole "
        f"({100 * found.sequence_accuracy:.1f} %)."
    )
    if found.f1 is not None:
        more += (
            f" Entities, as conlleval counts them: precision {100 * (found.precision or 0):.2f}, "
            f"recall {100 * (found.recall or 0):.2f}, F1 {100 * found.f1:.2f} %."
        )
    return Outcome(data, found.labels, found.confusion, "tokens", more, found.entities)


def _words(X: Any, i: int) -> Any:
    """The tokens of a sequence, if they have words: columns, dicts or lists of names."""
    first = X[i] if not hasattr(X, "matrix") else None
    if first is None or hasattr(first, "shape") or not hasattr(first, "__len__"):
        return None
    return first


def print_sequence_evaluation(evaluation: SequenceEvaluation) -> None:
    """Print the lines of conlleval, the table of labels, and the most frequent errors."""
    print(evaluation)
    if evaluation.entities is not None:  # otherwise the labels have been printed
        print(f"\n{evaluation.tokens}")
    errors = evaluation.errors(_ERRORS)
    if not errors:
        return
    errors = [(printable(true), printable(found), n) for true, found, n in errors]
    width = max(len(true) for true, _, _ in errors)
    print("\nmost frequent errors")
    for true, found, n in errors:
        print(f"{n:>7,}  {true:<{width}}  taken for {found}")


def print_suspects(suspects: list[dict[str, Any]], data: str) -> None:
    """Print each sequence with the tokens at which labels disagree."""
    console = Console()
    if not suspects:
        console.print("No sequence violates its margin: the model agrees with all labels.")
        return
    console.print(
        Text(
            f"The {len(suspects)} sequences of {printable(data)} that fit the model least, the "
            "worst first. Either their labels are wrong, or the model cannot fit them.\n"
        )
    )
    for number, suspect in enumerate(suspects, 1):
        console.print(_headline(number, suspect))
        console.print(_disagreement(suspect))


def _headline(number: int, suspect: dict[str, Any]) -> Text:
    pairs = zip(suspect["truth"], suspect["worst"], strict=True)
    differ, total = sum(a != b for a, b in pairs), len(suspect["truth"])
    return Text.assemble(
        (f"{number}. sequence {suspect['index'] + 1}", "bold"),
        f"  slack {suspect['slack']:.3g}, {differ} of {total} labels differ",
    )


def _disagreement(suspect: dict[str, Any]) -> Table:
    """Tokens with different labels and their neighbours; dots stand for the other tokens."""
    truth, worst, words, lines = (suspect[key] for key in ("truth", "worst", "words", "lines"))
    differ = [a != b for a, b in zip(truth, worst, strict=True)]
    columns = 0 if words is None else min(_COLUMNS, len(words[0]))
    table = Table(box=None, header_style="bold", padding=(0, 2, 0, 0))
    table.add_column("token" if lines is None else "line", justify="right", style="dim")
    for name in (*("word", "")[:columns], "file", "model"):
        table.add_column(name)
    last = -1
    for t in range(len(truth)):
        if not any(differ[max(0, t - _CONTEXT) : t + _CONTEXT + 1]):
            continue
        if t > last + 1:
            table.add_row("...")
        last = t
        place = t + 1 if lines is None else lines[t]
        shown = [] if words is None else [Text(printable(word)) for word in words[t][:columns]]
        file = Text(printable(truth[t]), "red" if differ[t] else "dim")
        model = Text(printable(worst[t]) if differ[t] else "", "green")
        table.add_row(str(place), *shown, file, model)
    table.add_row("..." if last < len(truth) - 1 else "")
    return table


def suspects_json(suspects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The suspects for JSON; sequences are numbered from 0."""
    return [
        {**suspect, "words": suspect["words"] and [list(word) for word in suspect["words"]]}
        for suspect in suspects
    ]


def _data(chain: dict[str, Any]) -> str:
    data = chain["data"]
    match data:
        case {"format": "hmm"}:
            return "SVM-HMM files"
        case {"format": "conll", "columns": n, "label": label}:
            place = label % (n + 1)
            others = ", ".join(str(j) for j in range(n + 1) if j != place)
            scheme = f", tags converted to {data['scheme']}" if "scheme" in data else ""
            return (
                f"CoNLL files of {n + 1} columns: label in column {place}, features from {others}"
                f"{scheme}"
            )
    kinds = {None: "matrices", "names": "named features", "template": "rows of columns"}
    return f"{kinds.get(chain['reader'], chain['reader'])}, given in Python"


def _template(chain: dict[str, Any], parameters: dict[str, Any]) -> str:
    names = Template.from_text(chain["template"]).names
    given = parameters["template"]
    title = f"{given}, " if given and "\n" not in given else ""
    return f"{title}{len(names)} patterns: {'  '.join(names)}"


def _transitions(parameters: dict[str, Any]) -> str:
    given = parameters["transitions"]
    allowed = {None: "all allowed", "bio": "as BIO allows", "bioes": "as BIOES allows"}
    shown = allowed.get(given) if given is None or isinstance(given, str) else "some allowed"
    ends = ", weights for first and last labels" if parameters["start_stop"] else ""
    return f"{shown or given}{ends}"
