"""What the README shows must run as it stands there."""

import re
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf8"), re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_python_blocks_run(number, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(BLOCKS[number], f"README block {number}", "exec"), {"__name__": "readme"})
    assert capsys.readouterr().out.strip()


def test_there_are_blocks_and_commands():
    assert len(BLOCKS) == 3
    assert "make demo" in README.read_text() and "make test" in README.read_text()
