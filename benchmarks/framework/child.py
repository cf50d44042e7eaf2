"""Measurements in a separate process, whose memory and imports are its alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from maxmargin.errors import MaxMarginError


def run_module(module: str, *arguments: Any) -> dict[str, Any]:
    """Run a module as a program; the last line that it prints is JSON."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MaxMarginError(f"the measurement failed: {done.stderr.strip()[-500:]}")
    return json.loads(done.stdout.splitlines()[-1])
