"""The matrix of transitions in the report: its cells are the weights of the model."""

import html
import re

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.report.transitions import MOST, transitions_html

CELL = re.compile(r'<td class="(\w+)[^"]*"(?: style="--p:(\d+)")? title="([^"]*)">([^<]*)</td>')


def rows_of(page):
    """Name and cells (kind, depth, title, text) of each row."""
    body = page.split("<tbody>")[1].split("</tbody>")[0]
    return [
        (re.sub("<.*?>", "", name), CELL.findall(cells))
        for name, cells in re.findall(r"<tr><th>(.*?)</th>(.*?)</tr>", body)
    ]


def test_every_cell_is_the_weight_of_its_pair():
    weights = np.zeros((5, 3))
    weights[:3] = [[10.5, -0.02, 0.0], [-21.0, 5.0, 3.0], [0.0, 0.0, 1.0]]
    allowed = np.ones((5, 3), bool)
    allowed[2, 0] = False
    rows = rows_of(transitions_html(["A", "<b>", "C"], weights, allowed))
    assert [html.unescape(name) for name, _ in rows] == ["A", "<b>", "C"]
    for i, (_, cells) in enumerate(rows):
        assert len(cells) == 3
        for j, (kind, depth, title, text) in enumerate(cells):
            if not allowed[i, j]:
                assert (kind, title) == ("never", "not allowed")
                continue
            assert float(title) == weights[i, j]
            assert int(depth) == round(100 * abs(weights[i, j]) / 21)
            shown = float(html.unescape(text).replace("\N{MINUS SIGN}", "-") or 0)
            assert shown == pytest.approx(weights[i, j], abs=0.5)


def test_the_report_shows_first_and_last_labels_only_if_they_matter(tmp_path):
    X = [[["a"], ["b"], ["c"]]] * 4
    Y = [["B-X", "I-X", "O"]] * 4
    for start_stop in (False, True):
        clf = mm.ChainSVC(C=1.0, start_stop=start_stop, transitions="bio").fit(X, Y)
        clf.report(tmp_path / "r.html", X, Y)
        page = (tmp_path / "r.html").read_text(encoding="utf8")
        rows = dict(rows_of(page.split("<h3>Transitions</h3>")[1]))
        # A sequence does not begin with I-X, so that row is shown in both cases.
        assert rows["(first)"][1][0] == "never" and rows["O"][1][0] == "never"
        assert ("(last)" in rows) == bool(start_stop and clf.stop_.any())
        assert float(rows["B-X"][1][2]) == pytest.approx(clf.transition_[0, 1], rel=1e-3)
    # Results come before the certificate, as readers want them.
    assert page.index('id="results-by-label"') < page.index('id="certificate"')


def test_many_labels_are_cut():
    K = MOST + 7
    weights = np.vstack([np.diag(np.arange(K, dtype=float)), np.zeros((2, K))])
    page = transitions_html([f"L{k}" for k in range(K)], weights, np.ones((K + 2, K), bool))
    assert "7 labels with smaller weights are left out" in page
    assert [name for name, _ in rows_of(page)] == [f"L{k}" for k in range(7, K)]
