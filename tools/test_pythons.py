"""Run the tests with other Pythons and other versions of the dependencies.

    python tools/test_pythons.py             every supported Python that is installed
    python tools/test_pythons.py --short     the newest of them, and few tests
    python tools/test_pythons.py --lowest    the oldest Python, with the lowest allowed versions
    python tools/test_pythons.py --install   only make the environments, without tests

Each has its own environment, .venv-3.13 or .venv-lowest, which is created when it is first needed
and updated when pyproject.toml has changed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import which

ROOT = Path(__file__).parent.parent
PYENV = Path.home() / ".pyenv" / "versions"

#: The newest Python 3 that the tests are run with.
NEWEST = 13

#: Run with ``--short``: what depends on the versions of scikit-learn, SciPy and typer.
BRIEF = ["test_estimators.py", "test_cli.py"]

#: Not run with ``--short``: tests that compile much for themselves alone.
COMPILES = ("-k", "not demo and not threads_that_share and not ctrl_c")

#: Run with ``--lowest``: the tests of what calls the dependencies.
LOWEST = [*BRIEF, "frozen", "test_one_slack.py", "test_chain_estimator.py", "test_cfg_estimator.py",
          "test_kernels.py", "test_sampled_cuts.py", "test_save_load.py",
          "test_cli_chain.py"]  # fmt: skip


def project() -> dict:
    """The section ``project`` of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]


def supported() -> list[str]:
    """The minor versions from ``requires-python`` to NEWEST, such as "3.11", oldest first."""
    (first,) = re.findall(r"3\.(\d+)", project()["requires-python"])
    return [f"3.{minor}" for minor in range(int(first), NEWEST + 1)]


def find_python(version: str) -> str | None:
    """An interpreter of this minor version: pyenv's newest, or the one on the path."""
    places = PYENV.glob(f"{version}.*/bin/python") if PYENV.is_dir() else ()
    found = sorted(places, key=lambda path: int(path.parts[-3].split(".")[2]))
    if found:
        return str(found[-1])
    python = which(f"python{version}")
    works = python and subprocess.run([python, "--version"], capture_output=True).returncode == 0
    return python if works else None


def lowest_versions() -> list[str]:
    """The lower bounds of the dependencies as pins."""
    bounds = [re.match(r"([\w-]+)>=([\w.]+)", item) for item in project()["dependencies"]]
    return [f"{bound[1]}=={bound[2]}" for bound in bounds if bound]


def environment(name: str, python: str, pins: list[str]) -> Path:
    """The interpreter of the environment ``.venv-NAME``, with the package and what tests need."""
    folder = ROOT / f".venv-{name}"
    inside, done = folder / "bin" / "python", folder / "test"
    if done.exists() and done.stat().st_mtime >= (ROOT / "pyproject.toml").stat().st_mtime:
        return inside
    print(f"--- making {folder.name} with {python}", flush=True)
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    install = [str(inside), "-m", "pip", "install", "-q", "-e", f"{ROOT}[test,bench]", *pins]
    subprocess.run(install, check=True)
    done.touch()
    return inside


def run(name: str, python: Path, tests: list[str], *more: str) -> bool:
    """Whether the tests pass, all of them if none are named; ``more`` are options of pytest."""
    print(f"--- {name}", flush=True)
    paths = [str(next((ROOT / "tests").rglob(test))) for test in tests]
    command = [str(python), "-m", "pytest", "-q", "-n", "2", "--dist", "loadfile", *more, *paths]
    return subprocess.run(command, cwd=ROOT).returncode == 0


def main() -> int:
    """Run what the options say; the exit code is 1 if something failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="the newest Python, and few tests")
    parser.add_argument("--lowest", action="store_true", help="the lowest allowed versions")
    parser.add_argument("--install", action="store_true", help="run no tests")
    options = parser.parse_args()
    pythons = {version: find_python(version) for version in supported()}
    for version in [version for version, python in pythons.items() if python is None]:
        print(f"skipped: Python {version} is not installed", flush=True)
    here = {version: python for version, python in pythons.items() if python is not None}
    if not here:
        print("no Python that the package supports is installed")
        return 1
    if options.lowest:
        oldest = environment("lowest", next(iter(here.values())), lowest_versions())
        # Old packages call what newer ones have deprecated, which we cannot change.
        return 0 if run("lowest versions", oldest, LOWEST, "-W", "default") else 1
    chosen = list(here)[-1:] if options.short else list(here)
    inside = {version: environment(version, here[version], []) for version in chosen}
    if options.install:
        return 0
    tests = BRIEF if options.short else []
    more = COMPILES if options.short else ()
    failed = [version for version in chosen if not run(version, inside[version], tests, *more)]
    print(f"failed: Python {', '.join(failed)}" if failed else f"passed: {', '.join(chosen)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
