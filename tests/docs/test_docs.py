"""What the documentation shows must run as it stands there, and do what it says."""

import ast
import gzip
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import pytest

import maxmargin as mm
from command_line import passed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"

#: Blocks of these pages need files that only their readers have.
NEED_FILES = {"svm_struct.md", "cluster.md"}

#: Pages whose blocks need a library that is not installed with the tests.
NEED_LIBRARIES = {"spacy.md": "spacy"}

#: ``make docs`` runs the examples too.
SLOW = {"snakes.py": pytest.mark.slow}

#: What the page on parsing reads.
TREES = """
( (S (NP-SBJ (DT The) (NN company) ) (VP (VBD said) (SBAR (S (NP (PRP it)) (VP (VBZ expects)
  (NP (DT a) (NN loss))))))  (. .) ))
( (S (NP (DT The) (NN loss)) (VP (VBD grew)) (. .)))
"""

BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def blocks(page):
    return BLOCK.findall(page.read_text(encoding="utf8"))


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def alike(line, other):
    """Whether two lines say the same, with numbers that are close.

    Training ends anywhere within its tolerance; where depends on how the processor rounds.
    """
    words = [" ".join(NUMBER.sub("#", text).split()) for text in (line, other)]
    numbers = [
        [float(number.replace(",", "")) for number in NUMBER.findall(text)]
        for text in (line, other)
    ]
    return words[0] in words[1] and any(
        all(
            abs(a - b) <= max(1, 0.05 * a) for a, b in zip(numbers[0], numbers[1][k:], strict=False)
        )
        for k in range(len(numbers[1]) - len(numbers[0]) + 1)
    )


@pytest.fixture
def shell(tmp_path):
    """Run a command in an empty directory, with this Python and the commands beside it."""
    beside = Path(sys.executable).parent
    environment = os.environ | {
        "PATH": f"{beside}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200", "NO_COLOR": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]),
    }  # fmt: skip

    def run(command):
        done = subprocess.run(
            ["bash", "-ec", command], cwd=tmp_path, capture_output=True, text=True, env=environment
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    return run


def run_block(block, shell):
    """What the commands of a block print; ``maxmargin`` runs in this process, to start faster."""
    if not block.startswith("maxmargin "):
        return shell(block)
    command, _, rest = block.replace("\\\n", "").partition("\n")
    return passed(*shlex.split(command)[1:]).stdout + (shell(rest) if rest else "")


def test_the_tutorial_word_for_word(shell, tmp_path, monkeypatch):
    """Commands run in order; what follows as text must be what they printed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    printed = []
    kinds = []
    for kind, block in blocks(DOCS / "tutorial.md"):
        kinds.append(kind)
        if kind == "sh":
            printed = run_block(block, shell).splitlines()
        elif kind == "python":
            (tmp_path / "block.py").write_text(block)
            accuracy, f1 = map(float, shell(f"{sys.executable} block.py").split())
            assert accuracy > 0.98 and f1 > 0.96
        else:
            for line in block.splitlines():
                assert any(alike(line, other) for other in printed), line
    assert kinds.count("sh") >= 6 and kinds.count("text") >= 4
    assert (tmp_path / "report.html").stat().st_size < 3_000_000
    # The sentences whose labels were made wrong are the ones that are found.
    assert "2881" in shell("maxmargin suspects tagger.mm train.txt -n 5")


class Page:
    """A page as one program: later blocks may use what earlier ones defined."""

    def __init__(self, path, folder):
        self.name, self.done, self.names = path.name, 0, {"__name__": "page"}
        self.blocks = python_blocks(path)
        self.folder = folder
        mm.datasets.write_conll(folder / "train.txt", 30, seed=1)
        mm.datasets.write_conll(folder / "test.txt", 10, seed=2)
        for name in ("train.mrg.gz", "test.mrg.gz"):
            (folder / name).write_bytes(gzip.compress(TREES.encode()))

    def run(self, number):
        """Run a block, after those before it that have not run."""
        for k in range(self.done, number + 1):
            exec(compile(self.blocks[k], f"{self.name}, block {k}", "exec"), self.names)
            self.done = k + 1


def python_blocks(path):
    return [block for kind, block in blocks(path) if kind == "python"]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The pages that have been begun, by path."""
    begun = {}

    def page(path):
        if path not in begun:
            begun[path] = Page(path, tmp_path_factory.mktemp(path.stem))
        return begun[path]

    return page


PAGES = sorted(page for page in DOCS.glob("*.md") if page.name not in {"tutorial.md", *NEED_FILES})


@pytest.mark.parametrize(
    ("path", "number"),
    [
        pytest.param(page, number, id=f"{page.stem}-{number}")
        for page in PAGES
        for number in range(len(python_blocks(page)))
    ],
)
def test_python_blocks_of_pages_run(path, number, pages, monkeypatch):
    if path.name in NEED_LIBRARIES:
        pytest.importorskip(NEED_LIBRARIES[path.name])
    page = pages(path)
    monkeypatch.chdir(page.folder)
    page.run(number)
    assert page.done > number


def test_every_page_is_in_the_contents():
    contents = (DOCS / "index.md").read_text(encoding="utf8").split("```{toctree}")[1:]
    listed = [line for part in contents for line in part.split("```")[0].split() if line]
    for page in DOCS.glob("*.md"):
        assert page.name == "index.md" or any(fnmatch(page.stem, name) for name in listed), page


def test_links_between_pages_exist():
    for page in DOCS.glob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf8")):
            if not target.startswith("gallery/"):
                assert (DOCS / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(path.name, marks=SLOW.get(path.name, ()))
        for path in sorted(EXAMPLES.glob("*.py"))
        if "speed" not in path.name
    ],
)
@pytest.mark.filterwarnings("default")
def test_examples_run(name, shell, tmp_path, monkeypatch, capsys):
    source = (EXAMPLES / name).read_text(encoding="utf8")
    assert ast.get_docstring(ast.parse(source))
    if "numba" in source:  # compiled functions of a script, which are pickled and kept on disk
        assert shell(f"{sys.executable} {EXAMPLES / name}").strip()
    else:  # in this process, to start faster
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(EXAMPLES)
        monkeypatch.setattr(sys, "argv", [name])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        assert capsys.readouterr().out.strip()
    if ".png" in source:
        pictures = list(tmp_path.glob("*.png"))
        assert pictures and all(picture.stat().st_size > 3000 for picture in pictures)


def test_the_speed_of_kernels_is_measured(shell):
    printed = shell(f"{sys.executable} {EXAMPLES / 'matching_speed.py'} 30 2")
    primals = [float(value) for value in re.findall(r"primal ([\d.]+)", printed)]
    # Both reach the same optimum, each within its tolerance tol * C * n = 0.03.
    assert len(primals) == 2 and abs(primals[0] - primals[1]) <= 0.03
    assert re.search(r"^ratio: \d+", printed, re.MULTILINE)


def test_the_picture_of_chunking_shows_the_figures_of_the_table():
    drawn = runpy.run_path(str(ROOT / "tools" / "chunking_picture.py"))
    rows = drawn["read_rows"]()
    assert len(rows) >= 7 and sum(name.startswith("maxmargin") for name, *_ in rows) == 2
    assert drawn["PICTURE"].read_text(encoding="utf8") == drawn["draw"]()


def test_notebooks_of_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    from notebook import run_notebook

    paths = list(EXAMPLES.glob("*.ipynb"))
    assert paths
    for path in paths:
        content = json.loads(path.read_text(encoding="utf8"))
        assert not any(cell.get("outputs") for cell in content["cells"]), "stored without outputs"
        cells = run_notebook(content, tmp_path, path.name)["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        kinds = {kind for output in outputs for kind in output.get("data", ())}
        assert {"image/png", "image/svg+xml"} <= kinds
        assert any("CONVERGED" in "".join(output.get("text", "")) for output in outputs)
