"""Run the sensitive part of the tests as other processors, compilers and hash seeds would.

    python tools/test_machines.py            all variants
    python tools/test_machines.py --short    three of them, for every change

Rounding depends on the routines that OpenBLAS picks for a processor and on the instructions that
numba may use, and the order of sets depends on the hash seed. The tests must pass with all of them.
One more variant compiles everything with checks of bounds, which compiled code normally does not
make: an index out of range is then an IndexError, and not a wrong number or a crash.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent

#: Tests whose results depend on rounding, and those that compare runs with each other.
SENSITIVE = [
    "test_one_slack.py", "test_sdm.py", "test_solvers.py", "test_diverse_cuts.py",
    "test_python_problem.py", "test_theory.py", "test_warm.py", "test_estimators.py",
    "test_chain_estimator.py", "test_kernels.py", "test_sampled_cuts.py", "test_threads.py",
    "test_checkpoint.py", "frozen", "test_docs.py",
]  # fmt: skip

#: A variant of numba compiles everything again for these, so there are few of them.
COMPILED = ["test_one_slack.py", "test_sdm.py", "test_viterbi.py", "frozen"]

#: What depends on the order of sets and dicts.
HASHED = ["test_chain_estimator.py", "test_features.py", "test_save_load.py", "frozen"]

#: Every compiled function, with sequences and sentences of length 0 and 1, ties and forbidden
#: transitions: what could use an index out of range.
BOUNDED = [
    "test_every_structure.py", "test_viterbi.py", "test_m_best.py", "test_guard.py", "test_sdm.py",
    "test_checked.py",
]  # fmt: skip

#: Run with ``--short``: what has differed between processors before.
BRIEF = ["test_one_slack.py", "test_sdm.py", "test_estimators.py", "frozen"]

#: What is run with checks of bounds for every change: oracles against enumeration, and passes.
#: One-slack calls the same functions of a structure as SDM, so that one structure is enough.
BRIEFLY_BOUNDED = (
    "best_of_all_outputs and compiled or optimum and (sdm or one-slack and multiclass) or guard"
)

AVX512 = ("avx512f", "avx512dq", "avx512cd", "avx512bw", "avx512vl")


class Variant(NamedTuple):
    """Environment variables, and what is run with them."""

    name: str
    environment: dict[str, str]
    tests: list[str]
    fresh: bool = False  # a separate cache of compiled code
    only: str = ""  # an expression that chooses tests, as for ``pytest -k``


def blas(core: str, tests: list[str] = SENSITIVE) -> Variant:
    """OpenBLAS as it is on a processor of this kind."""
    return Variant(f"OpenBLAS for {core}", {"OPENBLAS_CORETYPE": core}, tests)


def without(feature: str) -> Variant:
    """numba without an extension of the instruction set and without those that need it."""
    gone = {"fma": "-fma", "avx2": "-avx2,-fma"}[feature]
    more = "".join(f",-{name}" for name in AVX512 if has(name))
    return Variant(
        f"numba without {feature}", {"NUMBA_CPU_FEATURES": f"+sse4.2,+avx,{gone}{more}"}, COMPILED,
        fresh=True,
    )  # fmt: skip


def bounds_checked(tests: list[str], only: str = "") -> Variant:
    """Compiled code that checks bounds; an empty cache, because numba's ignores this setting."""
    return Variant("bounds checked", {"NUMBA_BOUNDSCHECK": "1"}, tests, fresh=True, only=only)


def all_variants() -> list[Variant]:
    """Every variant that this processor can run; prints the one that it cannot run."""
    cores = ["Nehalem", "Haswell", "Zen"]
    if has("avx512f"):
        cores.append("SkylakeX")
    else:
        print("skipped: OpenBLAS for SkylakeX, this processor has no AVX-512", flush=True)
    return [
        *map(blas, cores),
        Variant("numba for any processor", {"NUMBA_CPU_NAME": "generic"}, COMPILED, fresh=True),
        without("fma"),
        without("avx2"),
        bounds_checked(BOUNDED),
        *(Variant(f"hash seed {k}", {"PYTHONHASHSEED": k}, HASHED) for k in ("1", "4242")),
    ]


def short_variants() -> list[Variant]:
    """Haswell, which most processors resemble, checks of bounds, and another order of sets."""
    return [
        bounds_checked(["test_every_structure.py", "test_guard.py"], BRIEFLY_BOUNDED),
        blas("Haswell", BRIEF),
        Variant("hash seed 1", {"PYTHONHASHSEED": "1"}, ["test_save_load.py", "frozen"]),
    ]


def has(flag: str) -> bool:
    """Whether the processor has an extension; known only on Linux."""
    try:
        return flag in Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return False


def run(variant: Variant) -> bool:
    """Whether the tests pass in the variant; what they print is printed at the end."""
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | variant.environment
        if variant.fresh:
            environment["NUMBA_CACHE_DIR"] = folder
        command = [sys.executable, "-m", "pytest", "-q", "--durations=5"]
        command += [str(next((ROOT / "tests").rglob(name))) for name in variant.tests]
        if variant.only:
            command += ["-k", variant.only]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
    passed = "passed" if done.returncode == 0 else "FAILED"
    seconds = time.monotonic() - begin
    print(f"{done.stdout}--- {variant.name}: {passed} in {seconds:.0f} s", flush=True)
    return done.returncode == 0


def main() -> int:
    """Run the variants; the exit code is 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--short", action="store_true", help="three variants only")
    parser.add_argument("--list", action="store_true", help="list what would be run")
    options = parser.parse_args()
    variants = short_variants() if options.short else all_variants()
    if options.list:
        for variant in variants:
            chosen = f" -k '{variant.only}'" if variant.only else ""
            print(f"{variant.name}: {variant.environment} {' '.join(variant.tests)}{chosen}")
        return 0
    # One core each: the files of a variant take very different times.
    with ThreadPoolExecutor(2) as pool:
        passed = list(pool.map(run, variants))
    failed = [variant.name for variant, good in zip(variants, passed, strict=True) if not good]
    print(f"failed: {', '.join(failed)}" if failed else f"all {len(variants)} variants passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
