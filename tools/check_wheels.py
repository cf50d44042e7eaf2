"""Whether pip finds wheels of all dependencies for a Python and a system, without installing them.

    python tools/check_wheels.py [EXTRA ...]

Prints one row per Python and one column per system: "yes", or the requirement without a wheel.
The exit code is 1 if a wheel is missing for the library without extras.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

PYTHONS = ("3.11", "3.12", "3.13", "3.14")

#: The tags of wheels that a recent system of each kind accepts.
SYSTEMS = {
    "Linux x86-64": ["manylinux2014_x86_64", "manylinux_2_27_x86_64", "manylinux_2_28_x86_64"],
    "Linux aarch64": ["manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64"],
    "macOS arm64": [f"macosx_{major}_0_arm64" for major in (11, 12, 13, 14)],
    "Windows x86-64": ["win_amd64"],
}


def requirements(extra: str) -> list[str]:
    """The requirements of the library ("") or of one of its extras."""
    text = Path(__file__).parent.parent.joinpath("pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    found = project["dependencies"] if not extra else project["optional-dependencies"][extra]
    own = re.compile(r"maxmargin\[(.*)\]")  # an extra made of others
    groups = [own.fullmatch(line) for line in found]
    return [
        requirement
        for line, group in zip(found, groups, strict=True)
        for requirement in ([line] if group is None else _of_all(group[1].split(",")))
    ]


def _of_all(extras: list[str]) -> list[str]:
    return [requirement for extra in extras for requirement in requirements(extra.strip())]


def missing(python: str, tags: list[str], wanted: list[str]) -> str:
    """The requirement for which there is no wheel, or "" if there are all."""
    with tempfile.TemporaryDirectory() as folder:
        platforms = [word for tag in tags for word in ("--platform", tag)]
        done = subprocess.run(
            [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet",
             "--only-binary=:all:", "--target", folder, "--python-version", python,
             "--implementation", "cp", *platforms, *wanted],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode == 0:
        return ""
    found = re.findall(r"requirement ([\w.-]+)|conflict.*?([\w.-]+)==", done.stderr)
    return "/".join(found[-1]).strip("/") if found else done.stderr.strip().splitlines()[-1]


def main() -> None:
    """Print a table for the library and for each extra."""
    failed = False
    for extra in ("", *sys.argv[1:]):
        wanted = requirements(extra)
        print(f"maxmargin[{extra}]" if extra else "maxmargin")
        print(f"{'Python':8}" + "".join(f"{system:18}" for system in SYSTEMS))
        for python in PYTHONS:
            found = [missing(python, tags, wanted) for tags in SYSTEMS.values()]
            cells = (f"no: {name}" if name else "yes" for name in found)
            print(f"{python:8}" + "".join(f"{cell:18}" for cell in cells), flush=True)
            failed |= not extra and any(found)
    sys.exit(failed)


if __name__ == "__main__":
    main()
