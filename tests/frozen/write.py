"""Write what ``test_frozen.py`` compares with: on purpose only, since users rely on it.

    python tests/frozen/write.py --api          after a public name or signature was changed
    python tests/frozen/write.py --commands     after a command's options were changed
    python tests/frozen/write.py --models NAME  a new case, by its name in cases.py

Model files of released versions must stay readable as they are: a case that is already there is
written again only with ``--replace``. ``--models`` without names writes all that are missing.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def write_json(path: Path, content: Any, indent: int | None = 1) -> None:
    path.write_text(json.dumps(content, indent=indent, ensure_ascii=False) + "\n", encoding="utf8")


def write_model(name: str) -> None:
    """The model, and next to it its inputs and what it answers."""
    from cases import CASES, answers, encode_input

    estimator, X = CASES[name]()
    estimator.save(HERE / "models" / f"{name}.mm")
    content = {"X": encode_input(X), **answers(estimator, X)}
    write_json(HERE / "models" / f"{name}.json", content, indent=None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--api", action="store_true")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--models", nargs="*", metavar="NAME")
    parser.add_argument("--replace", action="store_true", help="also models that are there")
    options = parser.parse_args()
    import snapshots
    from cases import CASES

    if options.api:
        write_json(HERE / "api.json", snapshots.api())
    if options.commands:
        write_json(HERE / "commands.json", snapshots.commands())
    if options.models is not None:
        for name in options.models or CASES:
            if options.replace or not (HERE / "models" / f"{name}.mm").exists():
                write_model(name)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    main()
