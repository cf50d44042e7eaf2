"""Figures of the pages are in the file of results, which says with what they were measured."""

import re

import pytest

from benchmarks.readme import pages
from benchmarks.readme.results import read_results, record

#: A number with a unit, as measured figures have.
FIGURE = re.compile(r"\d[\d,.]* (?:%|(?:s|ms|MB|GB|times|seconds)\b)")


@pytest.mark.parametrize("page", pages.PAGES, ids=lambda page: page.stem)
def test_pages_have_the_figures_of_the_file(page):
    text = page.read_text(encoding="utf-8")
    assert pages.BLOCK.search(text)
    assert text == pages.filled_in(page)


def test_readme_has_no_other_figures():
    text = pages.BLOCK.sub("", pages.PAGES[0].read_text(encoding="utf-8"))
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    assert FIGURE.search("trains in 3.1 s") and FIGURE.search("96.10 %")
    assert FIGURE.findall(text) == []


def test_every_row_says_with_what_it_was_measured():
    rows = read_results()
    assert {"chunking", "letters", "covertype", "checkers", "parsing", "start"} <= set(rows)
    for row in rows.values():
        assert row.figures and row.version and row.processor and row.cores > 0
        assert re.fullmatch(r"[0-9a-f]{7,}(, changed)?", row.commit)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.date)


def test_rows_of_other_runs_and_versions_say_so(monkeypatch):
    rows = read_results()
    name = "checkers"
    rows[name] = rows[name]._replace(date="2020-02-03", commit="0123456")
    assert "commit 0123456, 3 February 2020" in pages.note(rows, name)
    assert "commit 0123456, 3 February 2020" in "\n".join(pages.readme(rows))
    monkeypatch.setattr(pages, "__version__", "99.0")
    assert all(f"version {row.version}" in pages.note(rows, n) for n, row in rows.items())


def test_a_row_is_stored_with_the_others(tmp_path):
    path = tmp_path / "results.json"
    record("one", {"seconds": 1.23456}, path)
    record("two", {"right": 96.0333}, path)
    rows = read_results(path)
    assert rows["one"].figures == {"seconds": 1.235} and rows["two"].figures == {"right": 96.03}
    assert rows["one"].version and rows["one"].commit
