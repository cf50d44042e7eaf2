"""The report of one training run: certificate, convergence, time, results and weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..progress import duration
from ..result import Result, Status
from .certificate import UNORDERED, bound, certificate, optimum, relative_gap, verdict
from .convergence import convergence_charts
from .page import Page, check_page, escape, name_html, table
from .reliability import reliability_html
from .results import Outcome, outcome_html

#: Name and description of each kind of work that solvers measure.
_WORK = {
    "oracle": ("oracle", "finding the most violated outputs"),
    "planes": ("planes", "summing the features of these outputs"),
    "cache": ("cache", "trying outputs found earlier"),
    "inner": ("inner passes", "dual steps over outputs found earlier, without the oracle"),
    "qp": ("QP", "solving the dual over the working set"),
    "certificate": ("certificate", "an oracle pass that only computes the primal"),
    "communication": ("communication", "sending weights and sums between processes"),
}


@dataclass(frozen=True)
class Run:
    """The content of a report; only the result is required.

    Attributes
    ----------
    result : Result
    title : str
    subject : str
        A sentence that says what was trained on which data.
    settings : dict
        Parameters and their values.
    outcomes : list of Outcome
    explanation : Explanation or None
    suspects : list of dict or None
        As ``ChainSVC.suspects`` returns them; ``words`` and ``lines`` may be None.
    transitions : str
        HTML of the weights of transitions; empty for a model without.
    sections : list of (title, HTML)
        More sections, such as pictures of predictions.
    """

    result: Result
    title: str = "Training report"
    subject: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    outcomes: Sequence[Outcome] = ()
    explanation: Any = None
    suspects: list[dict[str, Any]] | None = None
    transitions: str = ""
    sections: Sequence[tuple[str, str]] = ()

    def with_settings(self, settings: dict[str, Any]) -> Run:
        """A copy with more settings, which come first."""
        return replace(self, settings=settings | self.settings)


def write_report(path: str | Path, run: Run) -> None:
    """Write the report of a training run: one HTML file that needs no other file or network.

    Raises
    ------
    MaxMarginError
        If bokeh is missing, or the file cannot be written.
    """
    check_page(path)
    training_page(run).write(path)


def training_page(run: Run) -> Page:
    """The page, section by section."""
    page = Page(run.title, _lead(run))
    if run.outcomes:
        page.section("Results by label", *map(outcome_html, run.outcomes))
        reliability = reliability_html(page, run.outcomes)
        if reliability:
            page.section("Reliability of probabilities", reliability)
    for title, content in run.sections:
        page.section(title, content)
    page.section("Certificate", _certificate(run.result))
    if len(run.result.history) > 0:
        page.section("Convergence", _convergence(page, run.result))
    page.section("Where the time went", _time(run.result))
    if run.explanation is not None:
        from .learnt import explanation_html

        page.section("What was learned", explanation_html(run.explanation, run.transitions))
    if run.suspects is not None:
        from .learnt import suspects_html

        page.section("Largest slacks", suspects_html(run.suspects))
    if run.settings:
        page.section("Settings", _settings(run.settings))
    return page


def _lead(run: Run) -> str:
    result = run.result
    took = f"{verdict(result)} after {duration(result.time)} in the solver"
    if result.solver:
        took += f" ({result.solver})"
    if not result.deterministic:
        took += f", in threads that {UNORDERED.replace(': ', ', so that ')},"
    if math.isfinite(result.gap):
        took += f": the objective is proved to be {bound(result)} above {optimum(result)}"
    words = [run.subject, *(outcome.brief() for outcome in run.outcomes), f"{took}."]
    return f'<p class="lead">{escape(" ".join(word for word in words if word))}</p>'


def _certificate(result: Result) -> str:
    relative = relative_gap(result)
    share = f"{100 * relative:.2g} % of the dual" if relative is not None else ""
    cards = [
        (f"{result.primal:.6g}", "primal P: the objective of these weights"),
        (f"{result.dual:.6g}", f"dual D: lower bound on the objective {result.bounds}".rstrip()),
        (f"{result.gap:.3g}", f"gap P - D{': ' + share if share else ''}"),
    ]
    if result.gap_inference:
        cards.append((f"{result.gap_optimisation:.3g}", "part of the gap that training closes"))
        cards.append((f"{result.gap_inference:.3g}", "part of the gap that inference leaves"))
    if result.target is not None:
        cards.append((f"{result.target:.3g}", "gap at which training stops: tol · C · n"))
    boxes = "".join(f'<div class="card"><b>{b}</b><span>{t}</span></div>' for b, t in cards)
    meaning = certificate(result)
    if result.converged:
        meaning += " This is within the tolerance."
    elif result.status is Status.INFERENCE_LIMITED:
        meaning += " The part that optimisation leaves is within the tolerance."
    else:
        meaning += f" The tolerance was not reached: {result.status.value}."
    return f'<div class="cards">{boxes}</div><p>{escape(meaning)}</p>'


def _convergence(page: Page, result: Result) -> str:
    keys = [
        ("primal", "--c1", "solid"), ("dual", "--c0", "solid"),
        (f"{optimum(result)} lies here", "--grey", "area"), ("gap", "--c6", "solid"),
    ]  # fmt: skip
    if result.target:
        keys.append(("gap to reach", "--c2", "dashed"))
    words = "The best values found up to each iteration. Point at a curve to see its numbers."
    return f"<p class='muted'>{words}</p>" + page.charts(convergence_charts(result), keys)


def _time(result: Result) -> str:
    """Bars for the kinds of work in the solver, and the time spent outside it."""
    parts = [(*_WORK.get(kind, (kind, "")), seconds) for kind, seconds in result.shares.items()]
    rest = result.time - sum(seconds for *_, seconds in parts)
    if rest > 0.005 * result.time:
        parts.append(("rest", "everything else in the solver", rest))
    total = max(result.time, 1e-12)
    bars = "".join(
        f'<div style="--k:var(--c{i % 7});flex:{seconds / total:.4f}" '
        f'title="{escape(name)}: {100 * seconds / total:.1f} %"></div>'
        for i, (name, _, seconds) in enumerate(parts)
    )
    rows = [
        [f'<span class="swatch" style="--k:var(--c{i % 7})"></span>{escape(name)}', escape(words),
         duration(seconds), f"{100 * seconds / total:.1f} %"]
        for i, (name, words, seconds) in enumerate(parts)
    ]  # fmt: skip
    calls = f"total of {result.n_iter:,} iterations and {result.n_oracle:,} oracle calls"
    rows.append(["solver", calls, duration(result.time), "100 %"])
    prepared = "reading labels and features into arrays"
    rows.append(["preparing", prepared, duration(result.prepare_time), ""])
    rows.append(["compiling", "or loading compiled code", duration(result.compile_time), ""])
    head = table(["work", "", "time", "share"], rows, [False, False, True, True])
    return f'<div class="shares" role="img" aria-label="shares of time">{bars}</div>{head}'


def _settings(settings: dict[str, Any]) -> str:
    def brief(value: Any) -> str:
        text = value if isinstance(value, str) else repr(value)
        return name_html(text, 200)

    rows = [[escape(str(k)), f"<code>{brief(v)}</code>"] for k, v in settings.items()]
    return table(["", ""], rows, [False, False])
