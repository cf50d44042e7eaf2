"""The evaluation of a user's problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..show import Score, Show


@dataclass(frozen=True)
class AverageLoss(Score):
    """The average of the problem's loss over some examples."""

    @property
    def average_loss(self) -> float:
        """The average loss: minus the score."""
        return 0.0 - self.score

    def to_dict(self) -> dict[str, Any]:
        """The evaluation as a dict, for JSON output."""
        return {"average_loss": self.average_loss, "n": self.n}

    def print(self) -> None:
        """Print the evaluation."""
        print(f"average loss {self.average_loss:.4f}  ({self.n:,} examples)")


class OwnShow(Show):
    """What is known of any problem: its loss."""

    def evaluate(self, estimator: Any, examples: Any) -> AverageLoss:
        """The average loss of the predictions."""
        return AverageLoss(estimator.score(examples.X, examples.Y), len(examples.Y))
