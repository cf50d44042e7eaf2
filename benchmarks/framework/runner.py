"""Runs experiments: the entry points of ``maxmargin bench``."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path

from maxmargin.errors import MaxMarginError
from maxmargin.report.page import check_page

from .data import data_directory, find_files
from .display import Console, experiment_table, verdict_table
from .registry import Experiment, Verdict, find_experiments, list_experiments
from .report import write_bench_report
from .session import Session

#: Other programs that the extra ``bench`` leaves out because of their licence.
SEPARATE = {"maxflow": "PyMaxflow"}


def show_list() -> None:
    """Print the experiments, their data and their claims; needs neither peers nor data."""
    Console().print(experiment_table(list_experiments()))


def run_benchmarks(
    names: Iterable[str] = (),
    data: str | Path | None = None,
    out: str | Path = "bench-results",
    quick: bool = False,
    repeats: int | None = None,
    fresh: bool = False,
    report: str | Path | None = None,
) -> int:
    """Run experiments and say whether their claims hold on this machine.

    Parameters
    ----------
    names : iterable of str
        Experiments, or beginnings of their names such as "sdm-2011". "all" or no name runs all
        experiments whose data is available.
    data : str or path, optional
        The data directory; the environment variable MAXMARGIN_DATA by default.
    out : str or path
        Measurements are appended to ``<name>.jsonl`` there, and pictures are written next to them.
    quick : bool
        Smaller sizes, to check that everything works; the claims are not judged.
    repeats : int, optional
        Measurements of each configuration, 3 by default and 1 in a quick run; tables show the
        median and the extremes.
    fresh : bool
        Measure again what is in the files already.
    report : str or path, optional
        Write the verdicts, tables and curves of all experiments there: one .html file.

    Returns
    -------
    int
        The exit code: 0 if every experiment ran and every claim held (of a quick run, if every
        experiment ran), otherwise 1.
    """
    if repeats is None:
        repeats = 1 if quick else 3
    if repeats < 1:
        raise MaxMarginError(f"repeats must be at least 1, got {repeats}")
    if report is not None:
        check_page(report)
    names = [name for name in names if name != "all"]
    directory, out = data_directory(data), _writable(out)
    runnable, missing = _with_data(find_experiments(names), directory)
    if missing and (names or not runnable):
        raise next(iter(missing.values()))
    for name, error in missing.items():
        Console(stderr=True).print(f"skipped {name}: {error}", style="yellow")
    runs: list[tuple[Session, Verdict]] = []
    try:
        for experiment in runnable:
            session = Session(experiment, directory, out, quick, repeats, fresh)
            runs.append((session, _run(session)))
    finally:  # also if a later experiment is interrupted
        if report is not None and runs:
            write_bench_report(report, runs, missing)
            Console().print(f"Wrote {report}.", style="green")
    held = [verdict.passed or (session.quick and verdict.finished) for session, verdict in runs]
    return 0 if not missing and all(held) else 1


def _writable(out: str | Path) -> Path:
    out = Path(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MaxMarginError(f"{out}: the directory cannot be created: {error.strerror}") from error
    return out


def _with_data(
    experiments: list[Experiment], directory: Path | None
) -> tuple[list[Experiment], dict[str, MaxMarginError]]:
    """The experiments whose data and peers are available, and what the others lack."""
    runnable, missing = [], {}
    for experiment in experiments:
        try:
            for name in experiment.data:
                find_files(name, directory)
            _find_peers(experiment)
        except MaxMarginError as error:
            missing[experiment.name] = error
        else:
            runnable.append(experiment)
    return runnable, missing


def _find_peers(experiment: Experiment) -> None:
    for module in experiment.peers:
        if find_spec(module) is None:
            package = SEPARATE.get(module, "'maxmargin[bench]'")
            raise MaxMarginError(
                f"{experiment.name} measures {module} too, which is not installed: "
                f"pip install {package}"
            )


def _run(session: Session) -> Verdict:
    """Run one experiment and print its verdict; an experiment that fails is a miss."""
    console, experiment = Console(), session.experiment
    console.rule(f"[bold]{experiment.name}[/bold]  {experiment.title}", align="left")
    try:
        verdict = experiment.run(session)
    except MaxMarginError as error:
        Console(stderr=True).print(f"{experiment.name} failed: {error}", style="bold red")
        verdict = Verdict(False, f"It could not be finished: {error}", finished=False)
    console.print(verdict_table(experiment, verdict, session.quick))
    files = ", ".join(map(str, [session.store.path, *session.written]))
    console.print(f"{session.measured} new measurements; see {files}\n", style="dim")
    return verdict
