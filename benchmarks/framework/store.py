"""Measurements on disk: one JSON line each, so that an interrupted run can be resumed."""

from __future__ import annotations

import json
import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from maxmargin import __version__
from maxmargin.errors import MaxMarginError


@cache
def machine() -> dict[str, Any]:
    """What a time depends on: the processor and the versions."""
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "scikit-learn")},
        "maxmargin": __version__,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.machine()


class Store:
    """The measurements of one experiment, in a file of JSON lines.

    A measurement is found again by its configuration, its repeat and the machine: times of other
    machines and versions stay in the file and are not mixed with those made here. If a
    configuration was measured several times, the last measurement counts.
    """

    def __init__(self, path: Path):
        self.path = path
        self._known: dict[str, dict[str, Any]] = {}
        if path.exists():
            self._cut_broken_end()
            self._read()

    def get(self, config: dict[str, Any], repeat: int) -> dict[str, Any] | None:
        """The values measured before, or None."""
        return self._known.get(_key(config, repeat, machine()))

    def add(self, config: dict[str, Any], repeat: int, seed: int, values: dict[str, Any]) -> None:
        """Append a measurement; it is on disk when this returns."""
        row = {
            "config": config,
            "repeat": repeat,
            "seed": seed,
            "values": values,
            "machine": machine(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, allow_nan=False) + "\n")
        self._known[_key(config, repeat, machine())] = values

    def _read(self) -> None:
        for number, line in enumerate(self.path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                row = json.loads(line)
                key = _key(row["config"], row["repeat"], row["machine"])
                self._known[key] = row["values"]
            except (ValueError, KeyError, TypeError) as error:
                raise MaxMarginError(
                    f"{self.path}, line {number}: not a measurement; fix or delete the line"
                ) from error

    def _cut_broken_end(self) -> None:
        """Remove the incomplete line that a run leaves if it is killed while writing."""
        content = self.path.read_bytes()
        if content and not content.endswith(b"\n"):
            self.path.write_bytes(content[: content.rfind(b"\n") + 1])


def _key(*parts: Any) -> str:
    return json.dumps(parts, sort_keys=True)
