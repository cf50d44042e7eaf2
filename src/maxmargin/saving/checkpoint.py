"""Checkpoints: resume interrupted training with the same result as without interruption.

Between two iterations everything that later iterations depend on is saved: the solver's state, the
random generator, the certificate and the history. The new file is written next to the old one and
then replaces it, so that there is a complete file at any time. It contains arrays and JSON:
nothing in it is executed.
"""

from __future__ import annotations

import os
import re
import sys
import time
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..errors import CheckpointError, DataError, ModelFileError
from ..problem import MODES
from ..result import Record
from .container import read_container, write_container
from .state import Reader, Writer, join_arrays, split_arrays

#: Version of the file format; other versions are not read.
FORMAT = 1

_UNITS = {"": 1.0, "s": 1.0, "sec": 1.0, "min": 60.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Checkpoint:
    """Where and how often training is saved.

    Parameters
    ----------
    path : str or path
        The file. It is written as ``<path>.tmp`` first.
    every : str or float
        Time between two saves: "30s", "5min", "1h", or a number of seconds; 0 saves after every
        iteration.
    resume : bool
        Continue from the file if it exists, and say so on stderr; a CheckpointError is raised if
        it belongs to other data, or to another C, solver, rescaling or version of maxmargin. With
        False an existing file is overwritten.

    Notes
    -----
    The file is also written when training ends, for whatever reason. Ctrl-C, SIGTERM and
    ``max_time`` let the iteration end first, so that the resumed run has the same iterates as one
    that was not interrupted; a second Ctrl-C ends training at once.

    With ``deterministic=False`` no two runs have the same iterates, and so a resumed run does not
    have those of one that was not interrupted; it reaches the same optimum.

    ``tol``, ``max_iter``, ``max_time``, ``n_jobs`` and ``deterministic`` may differ from those of
    the first run, for example to continue with a smaller tol. Limits count the whole training, not
    only the part since it was resumed. With a kernel and ``n_basis="auto"`` the number of basis
    functions depends on ``tol``, which must then stay the same.

    Examples
    --------
    >>> import maxmargin as mm
    >>> clf = mm.ChainSVC(checkpoint=mm.Checkpoint("run.ck", every="1min"))
    """

    path: Any
    every: str | float = "5min"
    resume: bool = True

    def __post_init__(self) -> None:
        self.seconds()
        if not isinstance(self.path, str | os.PathLike):
            raise DataError(f"checkpoint must be a file name, got {self.path!r}")

    def seconds(self) -> float:
        """``every`` in seconds."""
        text = str(self.every).strip().lower()
        found = re.fullmatch(r"(\d+\.?\d*|\.\d+)\s*([a-z]*)", text)
        if isinstance(self.every, bool) or found is None or found[2] not in _UNITS:
            raise DataError(
                "every must be a time such as '30s', '5min' or '1h', or a number of seconds, got "
                f"{self.every!r}"
            )
        return float(found[1]) * _UNITS[found[2]]


def as_checkpoint(checkpoint: Any, every: Any = "5min", resume: bool = True) -> Checkpoint | None:
    """A Checkpoint from a file name; a Checkpoint or None is returned unchanged."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        return checkpoint
    return Checkpoint(checkpoint, every, resume)


class Saver:
    """Saves a run to its checkpoint file, and restores it from there.

    Parameters
    ----------
    checkpoint : Checkpoint
    solver : Solver
    task : Task
    """

    def __init__(self, checkpoint: Checkpoint, solver: Any, task: Any) -> None:
        self.path = Path(checkpoint.path)
        self.every = checkpoint.seconds()
        self.resume = checkpoint.resume
        self.solver, self.task = solver, task
        self.about = describe_run(solver, task)
        self._last = time.monotonic()
        self._saved = -1

    def save_if_due(self, run: Any) -> None:
        """Save if the time between two saves has passed."""
        if time.monotonic() - self._last >= self.every:
            self.save(run)

    def save(self, run: Any) -> None:
        """Write the file, unless it already contains this iteration."""
        if self._saved == len(run.history):
            return
        shard = self.task.shard
        self.solver.freeze(self.task, run.state)
        writer = Writer(shard.pack.truth)
        random = self.task.random.get_state(legacy=False)
        description = {
            "state": writer.describe(run.state),
            "best": writer.describe(run.best),
            "random": writer.describe(random),
            "history": writer.describe(np.array(run.history, np.float64).reshape(-1, 8)),
            "shares": writer.describe(self.task.shares),
            "n_oracle": shard.n_oracle,
            "time": writer.describe(run.clock.time()),
            "messages": writer.describe(getattr(shard, "messages", None)),
        }
        entries, places = join_arrays(writer.arrays)
        meta = {
            "checkpoint": FORMAT, "about": self.about, "run": description, "arrays": places,
            "outputs": writer.outputs,
        }  # fmt: skip
        try:
            write_container(self.path, meta, entries, temporary=f"{self.path}.tmp")
        except ModelFileError as error:
            raise CheckpointError(str(error)) from error
        self._last, self._saved = time.monotonic(), len(run.history)

    def restore(self, run: Any) -> bool:
        """Fill a new run from the file; False if there is no file to resume from."""
        if not self.resume or not self.path.exists():
            return False
        try:
            meta, entries = read_container(self.path)
        except ModelFileError as error:
            raise CheckpointError(str(error), can_restart=True) from error
        self._check(meta)
        shard = self.task.shard
        from .restored import check_random, check_run

        try:
            description = meta["run"]
            reader = Reader(
                split_arrays(entries, meta["arrays"]), meta["outputs"], shard.pack.truth
            )
            run.state = reader.fill(run.state, description["state"])
            run.best = reader.fill(run.best, description["best"])
            random = reader.fill(self.task.random.get_state(legacy=False), description["random"])
            check_random(random)
            self.task.random.set_state(random)
            self.task.shares = reader.fill({}, description["shares"])
            history = reader.fill(None, description["history"])
            run.clock.continue_from(reader.fill(0.0, description["time"]))
            run.history = [_record(row) for row in history.tolist()]
            shard.n_oracle = reader.fill(0, description["n_oracle"])
            check_run(self.task, run)
            self.solver.thaw(self.task, run.state)
            if getattr(shard, "messages", None) is not None:  # the checks have changed them
                shard.messages[:] = reader.fill(shard.messages, description["messages"])
        except (
            KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError,
            ModelFileError,
        ) as error:  # fmt: skip
            raise CheckpointError(
                f"{self.path}: is damaged or was altered: {error}", can_restart=True
            ) from error
        self._saved = len(run.history)
        _say_resumed(self.path, run)
        return True

    def _check(self, meta: dict[str, Any]) -> None:
        """Raise a CheckpointError with the reason if this run cannot continue from the file."""
        if "checkpoint" not in meta:
            raise CheckpointError(f"{self.path}: is a model, not a checkpoint")
        about = meta.get("about")
        if not isinstance(about, dict):
            raise CheckpointError(f"{self.path}: is damaged or was altered: it describes no run")
        if meta["checkpoint"] != FORMAT or about.get("version") != __version__:
            raise CheckpointError(
                f"{self.path}: was written by maxmargin {about.get('version')}, and this is "
                f"{__version__}: only the version that wrote a checkpoint can continue it",
                can_restart=True,
            )
        different = [key for key in self.about if about.get(key) != self.about[key]]
        if not different:
            return
        key = different[0]
        reason = (
            "other training data, or another kernel or basis (the hashes differ)"
            if key == "data"
            else f"{key} = {about.get(key)}, and this run has {key} = {self.about[key]}"
        )
        raise CheckpointError(
            f"{self.path}: is the checkpoint of another run: it has {reason}", can_restart=True
        )


def _say_resumed(path: Path, run: Any) -> None:
    """One line on stderr, because users may expect training to start at the beginning."""
    best, gap = run.best, ""
    if best.w is not None and best.dual > 0:
        gap = f", gap {100 * best.gap / best.dual:.2g} %"
    done = len(run.history)
    print(f"maxmargin: {path}: resumed after iteration {done}{gap}", file=sys.stderr, flush=True)


def _record(row: list[float]) -> Record:
    iteration, seconds, n_oracle, primal, dual, gap, planes, inference = row
    return Record(int(iteration), seconds, int(n_oracle), primal, dual, gap, int(planes), inference)


def describe_run(solver: Any, task: Any) -> dict[str, Any]:
    """The settings that must be equal for one run to continue another."""
    names = {mode: name for name, mode in MODES.items()}
    return {
        "version": __version__,
        "solver": describe_solver(solver),
        "C": task.C,
        "rescaling": names[task.mode],
        "data": task.shard.fingerprint(),
    }


def describe_solver(solver: Any) -> str:
    """The solver as text: class name and options."""
    if not is_dataclass(solver):
        return solver.name
    options = ", ".join(
        f"{f.name}={getattr(solver, f.name)!r}"
        for f in fields(solver)
        if f.name not in solver.resources
    )
    return f"{type(solver).__name__}({options})"
