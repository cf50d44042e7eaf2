"""The command line of SVM-struct's programs: options with separate values, then the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from ..errors import MaxMarginError

#: Options for parts of SVM-struct that maxmargin does not have. They do not change what is learned,
#: so they are accepted with a note.
_SPEED = {
    "-n": "maxmargin's QP solver does not use it",
    "-q": "maxmargin's QP solver does not use it",
    "-m": "maxmargin has no kernel cache",
    "-h": "maxmargin's QP solver does not use it",
    "-#": "maxmargin's QP solver does not use it",
}
_KERNEL = dict.fromkeys(("-d", "-g", "-s", "-r", "-u"), "it only applies to non-linear kernels")

_LEARN = (
    "-v", "-y", "-c", "-p", "-o", "-l", "-w", "-e", "-k", "-f", "-b", "-t", "-a",
    *_SPEED, *_KERNEL,
)  # fmt: skip
_CLASSIFY = ("-v", "-y")
_HMM_LEARN, _HMM_CLASSIFY = ("--t", "--e", "--b"), ("--b",)

_LEARN_HELP = """\
usage: {program} [options] example_file [model_file]

  -?           this help
  -c C         trade-off between training error and margin (required)
  -e EPSILON   precision of the solution (0.1)
  -o 1|2       slack rescaling (1) or margin rescaling (2, the default)
  -l LOSS      {losses}
  -w 0..4      0: n-slack; 1: n-slack with shrinking; 2, 3: 1-slack; 4: 1-slack with a cache;
               by default the fastest, with the same objective and stopping rule
  -k N         new constraints before the QP is solved again, with -w 0 and -w 1 (100)
  -f N         size of the cache with -w 4 (5)
  -b PERCENT   percentage of the examples to decode before all of them, with -w 4 (100)
  -v 0..4      0 prints nothing, 2 shows how the time was spent (1)
{extra}
Options come before the files, each with its value as a separate word. docs/svm_struct.md lists
all of them.
"""
_HMM_EXTRA = """\
  --t 0|1      order of the transitions (1)
  --e 0        order of the emissions
  --b 0        exact search
"""
_CLASSIFY_HELP = """\
usage: {program} [options] example_file model_file [output_file]

  -?           this help
  -v 0..3      0 prints nothing (1)
{extra}
The default output file is svm_predictions; - is standard output.
"""


class UsageError(MaxMarginError):
    """The command line is wrong."""


class HelpRequested(Exception):
    """The user asks for help; the argument is the help text."""


@dataclass(frozen=True)
class LearnOptions:
    """The options of a learning program; ``c`` and ``e`` are in SVM-struct's units."""

    data: str
    model: str
    c: float
    e: float = 0.1
    rescaling: str = "margin"
    loss: int = 0
    order: int = 1
    algorithm: int | None = None
    batch: int = 100
    cache: int = 5
    share: float = 1.0
    verbosity: int = 1
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ClassifyOptions:
    """The options of a classifying program."""

    data: str
    model: str
    output: str = "svm_predictions"
    verbosity: int = 1


def parse_learn(program: str, arguments: list[str]) -> LearnOptions:
    """Parse the command line of ``svm_hmm_learn`` or ``svm_multiclass_learn``."""
    hmm = program.startswith("svm_hmm")
    losses = "1: wrong tags (default), 0: wrong sequences"
    if not hmm:
        losses = "0: errors in percent (default), 1: squared differences"
    text = _LEARN_HELP.format(program=program, losses=losses, extra=_HMM_EXTRA if hmm else "")
    given, files = _split(arguments, (*_LEARN, *(_HMM_LEARN if hmm else ())), text)
    _refuse(given, hmm)
    if "-c" not in given:
        raise UsageError("-c is missing: give the trade-off between training error and margin")
    _count(files, 1, 2, "example_file [model_file]")
    algorithm = _one_of(given, "-w", range(5), None)
    if algorithm is None and ("-f" in given or "-b" in given):
        algorithm = 4  # SVM-struct's default, and the only algorithm with these options
    return LearnOptions(
        data=files[0],
        model=files[1] if len(files) > 1 else "svm_struct_model",
        c=_positive(given, "-c", None),
        e=_positive(given, "-e", 0.1),
        rescaling="slack" if _one_of(given, "-o", (1, 2), 2) == 1 else "margin",
        loss=_one_of(given, "-l", (0, 1), 1 if hmm else 0),
        order=_one_of(given, "--t", (0, 1), 1) if hmm else 0,
        algorithm=algorithm,
        batch=_one_of(given, "-k", range(1, 1_000_001), 100),
        cache=_one_of(given, "-f", range(1_000_000), 5),
        share=_one_of(given, "-b", range(1, 101), 100) / 100,
        verbosity=_one_of(given, "-v", range(5), 1),
        notes=_notes(given, algorithm),
    )


def parse_classify(program: str, arguments: list[str]) -> ClassifyOptions:
    """Parse the command line of ``svm_hmm_classify`` or ``svm_multiclass_classify``."""
    hmm = program.startswith("svm_hmm")
    extra = "  --b 0        exact search\n" if hmm else ""
    text = _CLASSIFY_HELP.format(program=program, extra=extra)
    given, files = _split(arguments, (*_CLASSIFY, *(_HMM_CLASSIFY if hmm else ())), text)
    _refuse(given, hmm)
    _count(files, 2, 3, "example_file model_file [output_file]")
    return ClassifyOptions(*files, verbosity=_one_of(given, "-v", range(5), 1))


def _split(
    arguments: list[str], known: Iterable[str], text: str
) -> tuple[dict[str, str], list[str]]:
    """Split the arguments into options with their values, and files."""
    given: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option in ("-?", "--help"):
            raise HelpRequested(text)
        if option not in known:
            raise UsageError(_unknown(option, known))
        if not rest:
            raise UsageError(f"{option} has no value; -? lists the options")
        given[option] = rest.pop(0)
    late = next((word for word in rest if word in known), None)
    if late is not None:
        raise UsageError(f"{late} comes after a file: put options before the files")
    return given, rest


def _unknown(option: str, known: Iterable[str]) -> str:
    if option[:2] in known:
        return f"{option} is not an option: write {option[:2]} and its value as two words"
    return f"{option} is not an option of this program; -? lists them"


def _refuse(given: dict[str, str], hmm: bool) -> None:
    """Refuse options that would give another model than SVM-struct's."""
    reasons = {
        "-p": (1, "squared slacks are not supported, only -p 1"),
        "-t": (0, "kernels are not supported here, only -t 0: use maxmargin train --kernel"),
        "--b": (0, "the search is always exact: leave --b out"),
        "--e": (0, "only emissions of order 0 are supported"),
    }
    for option, (value, reason) in reasons.items():
        if _integer(given, option, value) != value:
            raise UsageError(f"{option} {given[option]}: {reason}")
    if hmm and _integer(given, "--t", 1) in (2, 3):
        raise UsageError(f"--t {given['--t']}: only transitions of order 0 and 1 are supported")
    if "-a" in given:
        raise UsageError("-a: the dual variables cannot be written to a file")
    _integer(given, "-y", 0)


def _notes(given: dict[str, str], algorithm: int | None) -> list[str]:
    """Notes about options that are accepted but have no effect."""
    reasons = {**_SPEED, **_KERNEL}
    if algorithm not in (0, 1):
        reasons["-k"] = "only -w 0 and -w 1 solve the QP after batches of constraints"
    if algorithm is not None and algorithm != 4:
        reasons |= dict.fromkeys(("-f", "-b"), f"-w {algorithm} has no cache")
    return [
        f"{option} {value} has no effect: {reasons[option]}"
        for option, value in given.items()
        if option in reasons
    ]


def _count(files: list[str], least: int, most: int, wanted: str) -> None:
    if not least <= len(files) <= most:
        raise UsageError(f"expected {wanted} after the options, got {' '.join(files) or 'nothing'}")


def _integer(given: dict[str, str], option: str, default: Any) -> Any:
    if option not in given:
        return default
    try:
        return int(given[option])
    except ValueError:
        raise UsageError(f"{option} {given[option]}: the value must be an integer") from None


def _one_of(given: dict[str, str], option: str, allowed: Any, default: Any) -> Any:
    value = _integer(given, option, default)
    if option in given and value not in allowed:
        numbers = list(allowed)
        many = (
            f"{numbers[0]} to {numbers[-1]}"
            if len(numbers) > 2
            else f"{numbers[0]} or {numbers[1]}"
        )
        raise UsageError(f"{option} {given[option]}: the value must be {many}")
    return value


def _positive(given: dict[str, str], option: str, default: Any) -> float:
    if option not in given:
        return default
    try:
        value = float(given[option])
    except ValueError:
        value = -1.0
    if not (isfinite(value) and value > 0):
        raise UsageError(f"{option} {given[option]}: the value must be a number above 0")
    return value
