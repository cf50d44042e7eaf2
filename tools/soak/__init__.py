"""The long test: `make soak`. See docs/reliability.md for what it does and what it found.

One file in ``kinds/`` is one kind of trial. ``worker.py`` runs trials in forked processes, so that
a crash or a hang is caught and attributed to its trial; ``schedule.py`` shares the time between the
kinds; ``results.py`` adds up counts over runs; ``page.py`` writes them into the documentation.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

# One thread per process: a forked child must not wait for threads that only its parent has.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# The references and tables of the tests.
for _place in (ROOT, ROOT / "tests"):
    if str(_place) not in sys.path:
        sys.path.insert(0, str(_place))
