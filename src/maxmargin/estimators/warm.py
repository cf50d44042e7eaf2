"""What an estimator keeps of its training, so that the next training can start from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..data.sequences import Sequences, stack_sequences
from ..engine.fingerprint import fingerprint
from ..errors import DataError
from ..result import Result

#: Parameters that may change between two trainings.
FREE = {
    "C", "tol", "max_iter", "max_time", "n_jobs", "deterministic", "random_state", "verbose",
    "checkpoint", "warm_start",
}  # fmt: skip


@dataclass
class Memory:
    """The end of the last training.

    Attributes
    ----------
    kept : WarmStart or None
        The state of the solver.
    classes : list or None
        The classes, in the order of their numbers.
    parameters : str
        A hash of the parameters that must not change, with their values.
    names : list or None
        The names of the features.
    """

    kept: Any = None
    classes: list[Any] | None = None
    parameters: str = ""
    names: Any = None

    @classmethod
    def of(cls, estimator: Any, result: Result) -> Memory:
        """The memory of an estimator; the state is moved out of the result."""
        kept, result.state = result.state, None
        classes = getattr(estimator, "classes_", None)
        names = getattr(estimator, "feature_names_", None)
        return cls(kept, None if classes is None else classes.tolist(), _fixed(estimator), names)

    def start(self, estimator: Any, more: bool) -> dict[str, Any]:
        """Arguments of ``train`` for a warm start; {} if the state cannot be used.

        ``more`` says that the earlier examples are the first of the new ones.
        """
        if self.kept is None or self.parameters != _fixed(estimator):
            return {}
        self.kept.trusted = more and self.names == getattr(estimator, "feature_names_", None)
        classes = getattr(estimator, "classes_", None)
        if classes is None or classes.tolist() == self.classes:
            return {"start": self.kept}
        number = {label: k for k, label in enumerate(classes.tolist())}
        if self.classes is None or not set(self.classes) <= set(number) or len(number) < 3:
            return {}
        return {"start": self.kept, "relabel": np.array([number[label] for label in self.classes])}


def _fixed(estimator: Any) -> str:
    parameters = estimator.get_params(deep=False)
    fixed = {name: _hashable(parameters[name]) for name in sorted(set(parameters) - FREE)}
    return fingerprint(fixed)


def _hashable(value: Any) -> Any:
    """Arrays with all their numbers, of which repr shows some; anything else as text."""
    if hasattr(value, "__array__"):
        return np.asarray(value)
    if isinstance(value, list | tuple):
        return [_hashable(item) for item in value]
    if isinstance(value, dict):
        return {repr(key): _hashable(item) for key, item in value.items()}
    return repr(value)


def check_width(old: Any, new: Any, name: str) -> None:
    """Raise a DataError if two matrices differ in their number of features."""
    widths: list[tuple[int, ...]] = [getattr(X, "shape", ())[1:] for X in (old, new)]
    before, now = widths
    if len(before) == len(now) == 1 and before != now:
        raise DataError(
            f"X has {now[0]} features, but {name} is expecting {before[0]} features as input"
        )


def join(old: Any, new: Any) -> Any:
    """The old examples followed by the new ones."""
    import scipy.sparse as sp

    widths: list[tuple[int, ...]] = [getattr(part, "shape", ())[1:] for part in (old, new)]
    before, now = widths
    if len(before) == len(now) == 1 and before != now:
        raise DataError(f"Y has {now[0]} columns, those of the earlier examples {before[0]}")
    if isinstance(old, Sequences) or isinstance(new, Sequences):
        return _join_sequences(stack_sequences(old), stack_sequences(new))
    if sp.issparse(old) or sp.issparse(new):
        return sp.vstack([old, new], format="csr")
    if _is_frame(old) and _is_frame(new):
        if list(old.columns) != list(new.columns):
            raise DataError(f"the columns are not those of the earlier examples: {_named(old)}")
        import pandas as pd

        return pd.concat([old, new])
    old, new = (np.asarray(part) if _is_frame(part) else part for part in (old, new))
    if isinstance(old, np.ndarray) and isinstance(new, np.ndarray) and _alike(old, new):
        return np.concatenate([old, new])
    return [*old, *new]


def _alike(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether rows have one shape, and labels one type: 0 and "0" are different labels."""
    numbers = all(array.dtype.kind in "biuf" for array in (old, new))
    return old.shape[1:] == new.shape[1:] and (numbers or old.dtype.kind == new.dtype.kind)


def _is_frame(data: Any) -> bool:
    """Whether it is a data frame of pandas."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _named(frame: Any) -> str:
    return ", ".join(map(str, frame.columns))[:200]


def _join_sequences(old: Sequences, new: Sequences) -> Sequences:
    weight = join_weights(old.weight, old.offsets[-1], new.weight, new.offsets[-1])
    offsets = np.concatenate([old.offsets, old.offsets[-1] + new.offsets[1:]])
    return Sequences(join(old.matrix, new.matrix), offsets, weight)


def join_weights(old: Any, n_old: int, new: Any, n_new: int) -> np.ndarray | None:
    """The weights of old and new examples; missing weights are 1."""
    if old is None and new is None:
        return None
    parts = [(old, n_old), (new, n_new)]
    return np.concatenate([np.ones(n) if w is None else np.asarray(w, float) for w, n in parts])
