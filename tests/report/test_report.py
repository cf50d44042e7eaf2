"""The HTML report: what it says, and that a browser draws it."""

import math
import re

import numpy as np
import pytest

import maxmargin as mm
from browser import Browser, find_browser
from maxmargin.errors import MaxMarginError
from maxmargin.outputs.explain import Explanation, Weight, Weights
from maxmargin.report.charts import Chart, Series, find_ticks, number
from maxmargin.report.convergence import thin
from maxmargin.report.page import Page, light_colors
from maxmargin.report.results import Outcome
from maxmargin.report.training import Run, training_page, write_report
from maxmargin.result import Record, Result, Status

pytest.importorskip("bokeh")


def make_result(n=60, first_known=3):
    history = [
        Record(
            i, 0.01 * i, 100 * i, math.inf if i < first_known else 50 + 40 / i, 50 - 30 / i,
            math.inf if i < first_known else 70 / i, i,
        )
        for i in range(1, n + 1)
    ]  # fmt: skip
    last = history[-1]
    return Result(
        np.zeros(3), last.primal, last.dual, last.gap, Status.CONVERGED, n, 100 * n, 0.01 * n,
        0.2, 1.5, history, {"oracle": 0.4, "qp": 0.1}, solver="one-slack", target=1.2,
    )  # fmt: skip


def make_run():
    labels = ["B-NP", "I-NP", "O & <b>"]
    confusion = np.array([[90, 5, 0], [3, 60, 1], [0, 2, 39]])
    weights = [
        Weights(label, [Weight("w=<dog>", 1.5)], [Weight("w=cat", -0.5)]) for label in labels
    ]
    suspect = {
        "index": 6, "slack": 2.5, "loss": 1.0, "truth": ["B-NP", "I-NP"], "worst": ["B-NP", "O"],
        "words": [("the", "DT"), ("<script>", "NN")], "lines": [12, 13],
    }  # fmt: skip
    return Run(
        make_result(), "A title", "A subject.", {"C": 0.1, "template": "x" * 300},
        [Outcome("training data", labels, confusion, "tokens", "More words.")],
        Explanation(weights, weights[0]), [suspect],
    )  # fmt: skip


def text_of(html):
    body = html[html.index("<body>") :]
    return re.sub(
        r"\s+", " ", re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<script.*?</script>", "", body))
    )


def test_words_and_numbers():
    html = training_page(make_run()).html()
    text = text_of(html)
    for words in (
        "A subject.", "Converged after 0.6 s in the solver (one-slack)", "More words.",
        "189 of 200 tokens get the right label: 94.50 %", "B-NP as I-NP (5)",
        "Example 7: slack 2.5, line 12, 1 of 2 labels differ", "oracle", "66.7 %", "w=&lt;dog&gt;",
    ):  # fmt: skip
        assert words in text, words
    assert "&lt;script&gt;" in html and "O &amp; &lt;b&gt;" in html
    assert len(html) < 3_000_000


def test_nothing_is_loaded():
    html = training_page(make_run()).html()
    outside = re.sub(r"(?s)<script.*?</script>", "", html)
    assert not re.search(r"(src|href)\s*=\s*[\"'](?!#|data:)", outside)
    assert not re.search(r"<script[^>]*src=|@import|url\(", html[: html.index("<body>")][:20_000])


def test_a_result_alone_and_one_that_did_not_converge(tmp_path):
    result = make_result(1, first_known=1)
    result.status = Status.MAX_TIME
    result.target = None
    result.plot(tmp_path / "r.html")
    text = text_of((tmp_path / "r.html").read_text())
    assert "The tolerance was not reached: stopped at max_time" in text
    imported = Result(np.zeros(2), 1.0, 0.0, 1.0, Status.IMPORTED, 0, 0, 0.0)
    assert "Convergence" not in text_of(training_page(Run(imported)).html())


def test_report_of_estimators(tmp_path):
    X, y = mm.datasets.make_multiclass(120, 6, 3)
    names = np.array(["red", "green", "blue"])[y]
    clf = mm.MulticlassSVC(C=0.1).fit(X[:90], names[:90])
    clf.report(tmp_path / "m.html", X[:90], names[:90], test=(X[90:], names[90:]))
    text = text_of((tmp_path / "m.html").read_text())
    right = int((clf.predict(X[90:]) == names[90:]).sum())
    assert f"On the test data, {right} of 30 examples" in text
    # The first suspect has the largest hinge loss of all.
    scores = clf.decision_function(X[:90])
    true = scores[np.arange(90), np.searchsorted(clf.classes_, names[:90])]
    hinge = (scores + (clf.classes_ != names[:90, None])).max(axis=1) - true
    assert f"Example {int(hinge.argmax()) + 1}: slack {hinge.max():.3g}" in text
    clf.report(tmp_path / "short.html")
    assert "Results by label" not in (tmp_path / "short.html").read_text()
    binary = mm.BinarySVC(C=0.1).fit(X[:90], names[:90] == "red")
    binary.report(tmp_path / "b.html", X[:90], names[:90] == "red")
    assert "True (not False)" in text_of((tmp_path / "b.html").read_text())


def test_report_of_a_problem_without_labels(tmp_path):
    class Sign(mm.Problem):
        def features(self, x, y):
            return 0.5 * y * x

        def loss(self, y_true, y):
            return float(y != y_true)

        def decode(self, x, w, y_true=None, rescaling="margin"):
            def value(y):
                return w @ self.features(x, y) + (y_true is not None and y != y_true)

            return max((-1, 1), key=value)

    X = np.random.RandomState(0).randn(30, 3)
    Y = np.where(X[:, 0] > 0, 1, -1).tolist()
    clf = mm.StructuredSVC(Sign(), C=0.1).fit(X[:20], Y[:20])
    clf.report(tmp_path / "own.html", X[:20], Y[:20], test=(X[20:], Y[20:]))
    text = text_of((tmp_path / "own.html").read_text())
    losses = [-clf.score(X[part], np.array(Y)[part]) for part in (slice(20, 30), slice(20))]
    assert f"average loss {losses[0]:.4f} {losses[1]:.4f} examples 10 20" in " ".join(text.split())


def test_strange_labels_and_long_words(tmp_path):
    """Controls are visible, long words are clipped, and each name keeps its own direction."""
    long, strange = "x" * 1_000_000, "a\0\x1b[31m\u202e<b>"
    labels = [strange, long, "[/]"]
    words = [[[f"{label}{k}"] for label in labels] for k in range(3)]
    clf = mm.ChainSVC(C=1e-3, tol=1.0).fit(words, [labels] * 3)
    clf.report(tmp_path / "strange.html", words, [labels] * 3, test=(words, [labels[::-1]] * 3))
    html = (tmp_path / "strange.html").read_text(encoding="utf8")
    assert "\0" not in html and "\x1b" not in html and "\u202e" not in html
    assert "<bdi>a\\x00\\x1b[31m\\u202e&lt;b&gt;</bdi>" in html
    assert "x" * 100 not in html
    plain = mm.ChainSVC(C=1e-3, tol=1.0).fit([[["a"], ["b"]]] * 3, [["p", "q"]] * 3)
    plain.report(tmp_path / "plain.html")
    assert len(html) < 2 * (tmp_path / "plain.html").stat().st_size


def test_mistakes_are_named(tmp_path):
    X, y = mm.datasets.make_multiclass(60, 4, 3)
    clf = mm.MulticlassSVC(C=0.1).fit(X, y)
    with pytest.raises(MaxMarginError, match=r"x.txt: a report is a .html file"):
        clf.report(tmp_path / "x.txt")
    with pytest.raises(MaxMarginError, match="both X and Y"):
        clf.report(tmp_path / "x.html", X)
    with pytest.raises(MaxMarginError, match="the label 7 is not in the training data"):
        clf.report(tmp_path / "x.html", X, np.full(60, 7))
    with pytest.raises(MaxMarginError, match="cannot be written"):
        write_report(tmp_path / "no" / "x.html", make_run())
    assert not list(tmp_path.iterdir())


def test_thinning_keeps_the_ends():
    history = make_result(5000).history
    kept = thin(history, 100)
    assert kept[0] == history[0] and kept[-1] == history[-1] and len(kept) <= 100


@pytest.mark.parametrize("low, high", [(1e-6, 1e6), (3, 4), (75.1, 77.9), (1000, 60_000)])
def test_log_ticks_are_few_and_inside(low, high):
    ticks = find_ticks(low, high, log=True)
    assert 2 <= len(ticks) <= 8 and all(low <= tick <= high for tick in ticks)
    assert len({number(tick) for tick in ticks}) == len(ticks)


def test_empty_and_constant_series_can_be_drawn():
    page = Page("t", "")
    for y in ([], [2.0], [0.0, 0.0], [math.nan, math.inf]):
        for log in (False, True):
            series = [Series("s", list(range(1, len(y) + 1)), y)]
            page.charts([Chart("c", "x", "y", series, x_log=log, y_log=log)])
    assert "<h1>t</h1>" in page.html()


def test_the_script_knows_the_colours():
    colors = light_colors()
    assert {"--ink", "--back", "--line", "--muted", "--grey", *(f"--c{i}" for i in range(7))} <= (
        colors.keys()
    )


# In the browser


@pytest.fixture(scope="module")
def browser():
    program = find_browser()
    if program is None:
        pytest.skip("no Chromium here: the report is not opened (apt-get install chromium)")
    with Browser(program) as found:
        yield found


DRAWN = "document.documentElement.dataset.drawn === 'yes'"
#: The pixels of a chart that are not transparent.
INKED = """[...Bokeh.index].filter(v => v.el?.closest('.chart')).map(view => {
  const canvas = view.export('png', false).canvas;
  const data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
  let inked = 0;
  for (let i = 3; i < data.length; i += 4) inked += data[i] > 0;
  return inked;
})"""
INK = "[...Bokeh.index][0].model.below[0].major_label_text_color"


def test_in_chromium(browser, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, make_run())
    for width, dark in ((1200, False), (1200, True), (390, False)):
        browser.screen(width, 900, dark, mobile=width < 500)
        browser.open(path)
        browser.wait(DRAWN)
        inked = browser.evaluate(INKED)
        assert len(inked) == 4 and min(inked) > 500
        # Nothing sticks out at the right: tables scroll in their own boxes.
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        assert browser.evaluate(INK) == ("#9ca7b2" if dark else "#5b6570")
        assert browser.errors() == []


def test_legend_pointer_and_paper_in_chromium(browser, tmp_path):
    path = tmp_path / "report.html"
    write_report(path, make_run())
    browser.screen(1200, 900)
    browser.open(path)
    browser.wait(DRAWN)
    shown = (
        "[...Bokeh.index].filter(v => v.el?.closest('.chart')).flatMap(v => v.model.renderers)"
        ".filter(r => r.tags[1] === 'primal').map(r => r.visible)"
    )
    key = "button.key[data-series='primal']"
    before = browser.evaluate(INKED)
    assert browser.evaluate(shown) == 4 * [True]
    browser.click(key)
    assert browser.evaluate(shown) == 4 * [False]
    assert browser.evaluate(f'document.querySelector("{key}").ariaPressed') == "false"
    assert browser.evaluate(INKED)[0] < before[0]
    browser.click(key)
    assert browser.evaluate(shown) == 4 * [True]
    # Values under the pointer.
    place = "(() => { const e = document.querySelector('.chart');"
    place += "e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
    place += "return [r.x + 0.8 * r.width, r.y + r.height / 2]; })()"
    x, y = browser.evaluate(place)
    browser.move(x - 5, y)
    browser.move(x, y)
    browser.wait(
        "(() => { const all = (root) => [...root.querySelectorAll('*')].flatMap(e => [e, "
        "...(e.shadowRoot ? all(e.shadowRoot) : [])]);"
        "return all(document).some(e => e.tagName === 'DIV' && "
        "/^iteration \\d+/.test(e.innerText));"
        "})()"
    )
    browser.pdf(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert browser.evaluate("document.querySelectorAll('img.paper').length") == 4
    assert browser.errors() == []


def test_the_browser_notices_errors(browser, tmp_path):
    path = tmp_path / "bad.html"
    path.write_text("<script>console.error('first'); null.second</script>")
    browser.open(path)
    assert len(browser.errors()) == 2


# Experiments


@pytest.fixture
def small(monkeypatch):
    """A registered experiment that measures nothing slow."""
    import benchmarks.framework.registry as registry
    from benchmarks.framework.display import Column, seconds
    from benchmarks.framework.figures import log_scale, style

    registry.list_experiments()
    monkeypatch.setattr(registry, "_EXPERIMENTS", dict(registry._EXPERIMENTS))

    @registry.experiment("999-small", title="Small & fast", claim="Time grows as n.")
    def run(session):
        groups = [
            session.measure({"program": "ours", "n": n}, lambda seed, n=n: {"time": n * (1 + seed)})
            for n in (1, 10, 100)
        ]
        columns = [
            Column("program", "program"),
            Column("n", "n", str),
            Column("time", "s", seconds),
        ]
        session.table(groups, columns, "times")
        session.draw(lambda figure: paint(figure, groups))
        return registry.Verdict(True, "first line\nslope < 1.1")

    def paint(figure, groups):
        axes = figure.subplots()
        n, times = [1, 10, 100], [group.median("time") for group in groups]
        axes.errorbar(n, times, yerr=[np.zeros(3), np.ones(3)], label="ours", **style(0))
        axes.plot(n, [2, 20, 200], label="paper", **style(1, linestyle="--"))
        axes.axvline(5, color="#555555", linestyle="--", label="peer ends")
        log_scale(axes, "x")
        log_scale(axes, "y")
        axes.set_xlabel("examples")

    return "999-small"


def test_bench_report(small, tmp_path, monkeypatch, capsys):
    import benchmarks.framework.registry as registry
    from benchmarks import run_benchmarks

    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)
    path = tmp_path / "b.html"
    assert run_benchmarks(["999"], out=tmp_path, repeats=3, report=path) == 0
    html = path.read_text()
    text = text_of(html)
    for words in (
        "the claims of 1 of 1 hold", "PASS", "Small &amp; fast", "slope &lt; 1.1", "peer ends",
        "200 ±50%", "medians of the repeats", "numba",
    ):  # fmt: skip
        assert words in text, words
    assert "NOT RUN" not in text
    # Everything: what cannot be run is said.
    wanting = {k: e for k, e in registry._EXPERIMENTS.items() if e.data or k == small}
    monkeypatch.setattr(registry, "_EXPERIMENTS", wanting)
    assert run_benchmarks(["all"], out=tmp_path, quick=True, report=path) == 1
    text = text_of(path.read_text())
    assert "NOT RUN" in text and "--data DIR" in text and "QUICK" in text


def test_a_failing_experiment_is_a_miss(small, tmp_path, monkeypatch, capsys):
    import benchmarks.framework.registry as registry
    from benchmarks import run_benchmarks

    def fail(session):
        raise MaxMarginError("a peer broke")

    registry.experiment("998-fails", title="F", claim="F.")(fail)
    path = tmp_path / "b.html"
    assert run_benchmarks(["998-fails", small], out=tmp_path, repeats=1, report=path) == 1
    assert "a peer broke" in capsys.readouterr().err
    assert "could not be finished" in path.read_text() and "slope" in path.read_text()
    # A quick run judges no claim, but it must have run.
    assert run_benchmarks([small], out=tmp_path, quick=True) == 0
    assert run_benchmarks(["998-fails"], out=tmp_path, quick=True) == 1
    assert "MISS" in capsys.readouterr().out


def test_the_report_of_a_run_that_was_stopped(small, tmp_path, capsys):
    import benchmarks.framework.registry as registry
    from benchmarks import run_benchmarks

    def stop(session):
        raise KeyboardInterrupt

    registry.experiment("999-stop", title="S", claim="S.")(stop)
    path = tmp_path / "b.html"
    with pytest.raises(KeyboardInterrupt):
        run_benchmarks([small, "999-stop"], out=tmp_path, repeats=1, report=path)
    assert "slope" in path.read_text()


def test_figures_become_charts(small):
    from matplotlib.figure import Figure

    from benchmarks.framework.figures import style
    from benchmarks.framework.retrace import charts_of

    figure = Figure()
    left, _ = figure.subplots(1, 2)
    left.errorbar([1, 2], [3, 4], yerr=[[1, 1], [0, 2]], label="a", **style(0))
    left.plot([1, 2], [5, 6], label="b", **style(1, linestyle="none"))
    left.axhline(4, color="#555555", label="c")
    left.set_yticks([3, 5], ["low", "high"])
    left.set_title("t", loc="left")
    (chart,) = charts_of(figure)
    assert chart.title == "t"
    a, b = chart.series
    assert (a.name, a.color, a.marker, a.dash) == ("a", "--c0", "circle", "solid")
    assert a.low == [2, 3] and a.high == [3, 6]
    assert (b.name, b.dash, list(b.y)) == ("b", "none", [5, 6])
    assert chart.lines == [("y", 4.0, "--grey", "c")]
    assert chart.y_ticks == [(3.0, "low"), (5.0, "high")]


def test_bench_report_in_chromium(small, browser, tmp_path):
    from benchmarks import run_benchmarks

    path = tmp_path / "b.html"
    run_benchmarks([small], out=tmp_path, repeats=2, report=path)
    browser.screen(390, 844, mobile=True)
    browser.open(path)
    browser.wait(DRAWN)
    before = browser.evaluate(INKED)
    assert len(before) == 1 and before[0] > 500
    browser.click("button.key[data-series='paper']")
    assert browser.evaluate(INKED)[0] < before[0]
    assert browser.evaluate("document.documentElement.scrollWidth") <= 390
    assert browser.errors() == []


# On the command line


def test_train_with_a_report(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from maxmargin.cli.app import app

    monkeypatch.chdir(tmp_path)
    mm.datasets.write_conll("train.txt", 30, seed=1, noise=0.1)
    mm.datasets.write_conll("test.txt", 10, seed=2)

    def run(*arguments):
        return CliRunner().invoke(app, ["train", "chain", "train.txt", "-o", "m.mm", *arguments])

    done = run("--template", "chunking", "--report", "r.html", "--test", "test.txt", "--tol", "0.1")
    assert done.exit_code == 0, done.output
    text = text_of((tmp_path / "r.html").read_text())
    for words in ("training data", "test data (test.txt)", "conlleval", "transitions", "line "):
        assert words in text
    assert "m.mm and r.html" in done.output

    before = (tmp_path / "r.html").read_bytes()
    for arguments, message in (
        (("--test", "test.txt"), "add --report"),
        (("--report", "r.txt"), "a report is a .html file"),
        (("--report", "no/r.html"), "cannot write to"),
        (("--report", "r.html", "--test", "gone.txt"), "gone.txt"),
        (("--report", "train.txt"), "a report is a .html file"),
    ):
        done = run(*arguments)
        assert done.exit_code == 1 and message in done.output, (arguments, done.output)
        assert "Traceback" not in done.output
    assert (tmp_path / "r.html").read_bytes() == before
