"""Progress on stderr, the estimate of the remaining time, and the picture of convergence."""

from __future__ import annotations

import io
import itertools
import math
import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import maxmargin as mm
from maxmargin import progress
from maxmargin.datasets import make_multiclass
from maxmargin.progress import Forecast, ProgressBar, duration
from maxmargin.report.certificate import certificate
from maxmargin.report.convergence import plot_result
from maxmargin.result import Record, Result, Status, Stop

TASK = SimpleNamespace(C=1.0, n=100.0, shard=SimpleNamespace(bounds=""))


def record(i, time, gap):
    return Record(i, time, 10 * i, 50.0 + gap, 50.0, gap, i)


def forecast(gaps, step=0.2, target=1.0, **limits):
    prediction = Forecast(target, Stop(**limits))
    for i, gap in enumerate(gaps, 1):
        prediction.add(record(i, i * step, gap))
    return prediction


# The estimate


def test_geometric_convergence_is_foretold():
    gaps = [1000 * 0.9**i for i in range(40)]
    left = math.log(gaps[-1]) / -math.log(0.9) * 0.2
    assert forecast(gaps).seconds() == pytest.approx(left)
    assert forecast(gaps).time_left() == f"about {duration(left)}"


@pytest.mark.parametrize(
    "gaps",
    [
        [100.0],
        [100.0, 50.0, 25.0],  # too few
        [100.0] * 50,  # no progress
        [100.0 - 1e-9 * i for i in range(50)],  # hardly any
        [math.inf] * 50,
    ],
)
def test_without_evidence_the_time_is_unknown(gaps):
    assert forecast(gaps).time_left() == "unknown time"
    assert forecast(gaps, max_time=60.0).time_left().startswith("at most ")


def test_a_burst_of_iterations_is_no_evidence():
    gaps = [1000 * 0.9**i for i in range(40)]
    assert forecast(gaps, step=1e-4).time_left() == "unknown time"


def test_max_time_bounds_the_estimate():
    gaps = [1000 * 0.99**i for i in range(40)]
    assert forecast(gaps).seconds() > 100
    assert forecast(gaps, max_time=20.0).time_left() == f"at most {duration(12.0)}"
    assert forecast(gaps, max_time=5.0).time_left() == "at most 0 ms"


@given(
    st.lists(st.floats(0, 1e9) | st.just(math.inf), min_size=1, max_size=60),
    st.floats(1e-3, 10),
    st.none() | st.floats(1e-3, 100),
)
def test_the_estimate_is_never_negative_and_never_beyond_max_time(gaps, step, max_time):
    gaps.sort(reverse=True)  # records hold the best gap so far
    prediction = forecast(gaps, step, max_time=max_time)
    assert prediction.seconds() >= 0
    assert 0 <= prediction.fraction() <= 1
    assert "-" not in prediction.time_left()
    if max_time is not None:
        assert prediction.limit() <= max_time
        assert "unknown" not in prediction.time_left()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 ms"), (0.00042, "0.4 ms"), (0.007, "7 ms"), (0.0991, "99 ms"), (0.0996, "0.1 s"),
        (9.96, "10 s"), (59.4, "59 s"), (59.6, "1:00 min"), (205, "3:25 min"),
        (3599.9, "1:00 h"), (7500, "2:05 h"), (1e6, "11 days"),
    ],
)  # fmt: skip
def test_durations(seconds, words):
    assert duration(seconds) == words


def test_a_solver_without_a_dual_has_no_gap_to_show(capsys):
    with ProgressBar(TASK, Stop()) as bar:
        bar(Record(1, 0.1, 10, 50.0, -math.inf, math.inf, 1), None)
    assert ", no gap yet, " in capsys.readouterr().err


# The display


def test_plain_lines_at_growing_intervals(capsys, monkeypatch):
    now = itertools.count()  # a second at each look
    monkeypatch.setattr(progress.time, "monotonic", lambda: float(next(now)))
    with ProgressBar(TASK, Stop()) as bar:
        for i in range(1, 200):
            bar(record(i, float(i), 1000 * 0.99**i), None)
    lines = capsys.readouterr().err.splitlines()
    seen = [int(re.match(r"maxmargin: iteration (\d+),", line)[1]) for line in lines]
    waits = [b - a for a, b in itertools.pairwise(seen[:-1])]
    assert 4 <= len(lines) <= 10
    assert all(b > a for a, b in itertools.pairwise(waits)), waits
    assert "left" in lines[-2] and "left" not in lines[-1]
    assert re.search(r"primal [\d.]+, dual 50, [\d,]+ oracle calls, gap [\d.]+ x target", lines[0])


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_is_redrawn_at_most_ten_times_a_second(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    drawn = []
    render = ProgressBar._render
    monkeypatch.setattr(ProgressBar, "_render", lambda bar: drawn.append(1) or render(bar))
    start = progress.time.monotonic()
    with ProgressBar(TASK, Stop()) as bar:
        for i in itertools.count(1):
            bar(record(i, i * 1e-4, 100 + 1000.0 / i), None)
            if progress.time.monotonic() > start + 1:
                break
    seconds = progress.time.monotonic() - start
    # Three more are drawn at the start and at the end; each draws one to measure its height.
    assert 2 <= len(drawn) <= 2 * (10 * seconds + 3)
    shown = sys.stderr.getvalue()
    assert "iteration" in shown and "primal" in shown and "target" in shown


def test_the_display_closes_on_an_error(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    with pytest.raises(KeyboardInterrupt), ProgressBar(TASK, Stop()) as bar:
        raise KeyboardInterrupt
    assert not bar.live.is_started
    assert sys.stderr.getvalue().endswith("\x1b[?25h")  # the cursor is shown again


def test_verbose_training_changes_nothing(capsys):
    X, y = make_multiclass(100, 5, 3)
    quiet = mm.MulticlassSVC(C=0.1).fit(X, y)
    assert capsys.readouterr().err == ""
    loud = mm.MulticlassSVC(C=0.1, verbose=1).fit(X, y)
    assert "gap within tol" in capsys.readouterr().err
    assert (quiet.coef_ == loud.coef_).all()


# The picture


@pytest.fixture(scope="module")
def result():
    return mm.MulticlassSVC(C=0.1).fit(*make_multiclass(150, 6, 3)).result_


def made(history, status=Status.CONVERGED):
    last = history[-1]
    return Result(None, last.primal, last.dual, last.gap, status, len(history), 10, last.time,
                  history=history)  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")]
)
def test_pictures_are_written(tmp_path, result, kind, start):
    path = tmp_path / f"picture.{kind}"
    figure = result.plot(path)
    assert path.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [path.name]
    assert len(figure.axes) == 4
    assert {axes.get_xscale() for axes in figure.axes} == {"log"}
    assert "above the optimum" in figure.get_suptitle()


@pytest.mark.parametrize("status", list(Status))
def test_no_text_overlaps_or_leaves_the_picture(result, status):
    figure = plot_result(made(result.history, status))
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    words = [figure._suptitle, *figure.legends]
    words += [label for axes in figure.axes for label in (axes.xaxis.label, axes.yaxis.label)]
    boxes = [word.get_window_extent(renderer) for word in words]
    boxes = [box for box in boxes if box.width > 1]
    boxes += [axes.get_window_extent(renderer) for axes in figure.axes]
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b), (a, b)
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 and box.y1 <= figure.bbox.y1


@pytest.mark.parametrize("last", [1.4, 8, 40, 1e5])
@pytest.mark.parametrize("first", [0.0043, 1.3])
def test_labels_of_ticks_do_not_overlap(first, last):
    times = np.geomspace(first, first * last, 20).tolist()
    history = [
        Record(i, time, round(1e4 * time), 50.0 * time, time, 49.0 * time, i)
        for i, time in enumerate(times, 1)
    ]
    figure = plot_result(made(history))
    figure.canvas.draw()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            labels = [label for label in axis.get_ticklabels(which="both") if label.get_text()]
            boxes = [label.get_window_extent() for label in labels if label.get_visible()]
            assert not any(a.overlaps(b) for a, b in itertools.pairwise(boxes))
        assert axes.xaxis.get_majorticklocs().size >= 2


@pytest.mark.parametrize(
    "history",
    [
        [record(1, 0.1, 5.0)],
        [record(1, 0.1, 5.0), record(2, 0.2, 0.0)],
        [Record(1, 0.1, 10, 3.0, -4.0, 7.0, 1), Record(2, 0.2, 20, 2.0, -1.0, 3.0, 2)],
        [Record(1, 0.1, 10, 3.0, 0.0, 3.0, 1), Record(2, 0.2, 20, 2.0, 1.0, 1.0, 2)],
    ],
)
def test_unusual_histories_are_drawn(tmp_path, history):
    plot_result(made(history), tmp_path / "picture.png")


def test_drawing_leaves_pyplot_alone():
    code = (
        "import sys; from maxmargin.report.convergence import plot_result\n"
        "from maxmargin.result import *\n"
        "r = Record(1, 0.1, 10, 3.0, 1.0, 2.0, 1)\n"
        "plot_result(Result(None, 3.0, 1.0, 2.0, Status.MAX_ITER, 1, 10, 0.1, history=[r]))\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": ":".join(sys.path)})


def test_pictures_that_cannot_be_drawn(tmp_path, result, monkeypatch):
    with pytest.raises(mm.MaxMarginError, match=r"\.png, \.svg, \.pdf"):
        result.plot(tmp_path / "picture.gif")
    with pytest.raises(mm.MaxMarginError, match="cannot be written"):
        result.plot(tmp_path / "nowhere" / "picture.png")
    with pytest.raises(mm.MaxMarginError, match="no history"):
        plot_result(Result(None, 1.0, 1.0, 0.0, Status.CONVERGED, 0, 0, 0.0))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(mm.MaxMarginError, match=r"pip install maxmargin\[plot\]"):
        result.plot()


@pytest.mark.parametrize(
    ("dual", "words"), [(99.0, "at most 1 %"), (40.0, "at most 150 %"), (-1.0, "at most 101 above")]
)
def test_the_certificate_in_words(dual, words):
    result = Result(None, 100.0, dual, 100 - dual, Status.MAX_TIME, 1, 10, 0.1)
    assert words in certificate(result)
    assert certificate(result).startswith("Stopped at the time limit: ")
    assert f"its lower bound is {dual:.6g} (dual)" in certificate(result)


@pytest.mark.parametrize(
    ("primal", "status", "words"),
    [
        (5.0, Status.UNCERTIFIED, "about 5, with no lower bound from sampled cuts"),
        (5.0, Status.MAX_ITER, "about 5, with no lower bound."),
        (np.inf, Status.IMPORTED, "Imported: the objective of these weights is not known."),
    ],
)
def test_no_bound_is_claimed_where_there_is_none(primal, status, words):
    result = Result(None, primal, -np.inf, np.inf, status, 1, 10, 0.1)
    assert words in certificate(result)
    assert "above the optimum" not in certificate(result)
