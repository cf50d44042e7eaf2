"""``python -m benchmarks`` is ``maxmargin bench``."""

import sys

from maxmargin.cli.app import app

app(["bench", *sys.argv[1:]])
