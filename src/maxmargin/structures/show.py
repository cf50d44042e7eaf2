"""``Show``: description, evaluation and drawings of models and predictions of a structure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..data.printable import printable
from ..errors import MaxMarginError
from ..outputs.explain import explain
from ..report.console import print_json

#: A row of ``maxmargin info``: a name and a value.
Row = tuple[str, str]


@dataclass(frozen=True)
class Score:
    """The default evaluation of a structure: the result of ``estimator.score``."""

    score: float
    n: int

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as a dict, for JSON output."""
        return {"score": self.score, "n": self.n}

    def print(self) -> None:
        """Print the evaluation."""
        print(f"score {self.score:.4f}  ({self.n:,} examples)")

    def plot(self, path: Path) -> None:
        """Raise an error: there is no picture by default."""
        raise MaxMarginError("a picture of an evaluation is not available for this structure")


class Show:
    """What the command line and the report show for a structure; every method has a default.

    Parameters
    ----------
    structure : Structure
    """

    #: The word for the classes of a model.
    class_word = "classes"

    def __init__(self, structure: Any):
        self.structure = structure

    def describe(self, estimator: Any) -> str:
        """The size of a model in a few words."""
        return f"{estimator.result_.w.size:,} weights"

    def info(self, content: dict[str, Any]) -> list[Row]:
        """Rows of ``maxmargin info``, from the result of ``saving.models.summary``."""
        return []

    def evaluate(self, estimator: Any, examples: Any) -> Any:
        """Compare predictions and truth: an object with ``to_dict``, ``print`` and ``plot``."""
        return Score(estimator.score(examples.X, examples.Y), len(examples.Y))

    def check_plot(self, path: Path) -> None:
        """Raise an error if a picture of an evaluation cannot be drawn to this file."""
        from ..report.convergence import check_format, require_matplotlib

        require_matplotlib()
        check_format(path)

    def explain(self, estimator: Any, n: int) -> Any:
        """The n largest weights: an object with ``to_dict`` that prints as text."""
        if hasattr(estimator, "dual_coef_"):
            raise MaxMarginError("has a kernel, so there are no weights of features to show")
        return explain(estimator, n)

    def suspects(self, estimator: Any, X: Any, Y: Any, n: int) -> list[dict[str, Any]] | None:
        """The examples with the largest slack, for the report, or None."""
        return estimator.suspects(X, Y, n)

    def print_suspects(self, estimator: Any, path: str, n: int, as_json: bool) -> None:
        """``maxmargin suspects``: the examples of a file that disagree most with the model."""
        examples = self.structure.files.read_labelled(path, estimator)
        found = estimator.suspects(examples.X, examples.Y, n)
        if as_json:
            print_json(
                [s | {"truth": _text(s["truth"]), "worst": _text(s["worst"])} for s in found]
            )
            return
        if not found:
            print("No example violates its margin: the model agrees with all of them.")
        for number, s in enumerate(found, 1):
            print(f"{number}. example {s['index'] + 1}  slack {s['slack']:.3g}")
            print(f"   file   {printable(s['truth'])}\n   model  {printable(s['worst'])}")

    def outcome(self, estimator: Any, data: str, X: Any, Y: Any) -> Any:
        """The predictions on some data as a ``report.results.Outcome``, for the report, or None."""
        return None

    def locate(self, suspects: list[dict[str, Any]], examples: Any) -> None:
        """Add the line numbers of the file to the suspects of the report, if possible."""

    def transitions(self, estimator: Any) -> str:
        """HTML of the weights of transitions, for the report; empty for a model without."""
        return ""

    def sections(self, estimator: Any, X: Any, Y: Any) -> list[tuple[str, str]]:
        """More sections of the report as (title, HTML), such as pictures of predictions on X."""
        return []


def _text(output: Any) -> Any:
    """An output as a JSON type: a tree, for example, as its text."""
    known = isinstance(output, str | int | float | bool | list | None)
    return output if known else str(output)
