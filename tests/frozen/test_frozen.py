"""What users rely on: model files of earlier versions, the public names, the commands' options.

``write.py`` says how these are rewritten on purpose.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import maxmargin as mm

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import snapshots  # noqa: E402

MODELS = sorted(path.stem for path in (HERE / "models").glob("*.mm"))


def agree(found, expected):
    """Equal, with numbers that a sum makes within 1e-9."""
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(map(agree, found, expected))
        )
    if isinstance(expected, float):
        return found == pytest.approx(expected, rel=1e-9, abs=1e-9)
    return type(found) is type(expected) and found == expected


@pytest.mark.parametrize("name", MODELS)
def test_models_of_earlier_versions_predict_the_same(name):
    stored = json.loads((HERE / "models" / f"{name}.json").read_text(encoding="utf8"))
    X = cases.decode_input(stored.pop("X"))
    model = mm.load(HERE / "models" / f"{name}.mm", problem=cases.PROBLEMS.get(name))
    found = cases.answers(model, X)
    assert found.keys() == stored.keys()
    for key, expected in stored.items():
        assert agree(found[key], expected), key


def test_every_case_has_a_model():
    assert set(MODELS) == set(cases.CASES)


def assert_same(found, name):
    """Compare a snapshot with its file, entry by entry, so that a failure names the entry."""
    expected = json.loads((HERE / f"{name}.json").read_text(encoding="utf8"))
    assert found.keys() == expected.keys()
    for key in expected:
        assert json.loads(json.dumps(found[key])) == expected[key], f"{name}: {key}"


def test_public_names_and_signatures():
    assert_same(snapshots.api(), "api")


def test_options_of_the_commands():
    assert_same(snapshots.commands(), "commands")
