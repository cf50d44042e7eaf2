"""Where the seconds and the memory of a command go, from data files to a model and to predictions.

``python -m benchmarks.ours.files_to_model train DATA MODEL`` runs the steps of ``maxmargin train
chain`` in a fresh process and prints their CPU seconds and the peak of memory as JSON; ``predict
DATA MODEL OUTPUT`` those of ``maxmargin predict``; ``lists DATA`` trains on features as Python
lists.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..framework.child import run_module
from ..framework.data import find_files
from ..framework.display import Column, count, ratio, seconds
from ..framework.peers import MODULE, PERCEPTRON, tagging_time
from ..framework.registry import Verdict, experiment

if TYPE_CHECKING:
    from ..framework.session import Group, Session

TEMPLATE = "chunking"

#: The test sentences are repeated, so that predicting takes long enough to be measured.
COPIES = 10

#: MB of memory, tokens per second from a file, and times the speed of CRFsuite's tagger.
MEMORY, SPEED, TIMES = 400, 500_000, 10

TRAIN_STEPS = ("imports", "reading", "features", "labels and packing", "compiled code", "solver",
               "saving")  # fmt: skip
PREDICT_STEPS = ("imports", "loading", "reading", "features", "decoding", "writing")


@experiment(
    "files-to-model",
    title="Chunking (CoNLL 2000) on the command line: seconds and memory of each step",
    claim=f"Training from a file with a template needs less than {MEMORY} MB, and the solver is "
    f"its longest step; prediction from a file handles {SPEED:,} tokens per second without "
    f"start-up, and from CSR {TIMES} times as many as CRFsuite's tagger.",
    data=("conll2000",),
    peers=(MODULE,),
)
def run(session: Session) -> Verdict:
    """Training, prediction from a file, and prediction from CSR beside CRFsuite."""
    first, second = (str(path) for path in find_files("conll2000", session.directory))
    with tempfile.TemporaryDirectory() as folder:
        model, data = f"{folder}/model.mm", f"{folder}/test.txt"
        repeat(second, data)
        trained = session.measure(
            {"program": "train"}, lambda seed: run_module(__name__, "train", first, model)
        )
        lists = session.measure(
            {"program": "lists"}, lambda seed: run_module(__name__, "lists", first)
        )
        if not Path(model).exists():  # the training was found on disk
            run_module(__name__, "train", first, model)
        predicted = session.measure(
            {"program": "predict"},
            lambda seed: run_module(__name__, "predict", data, model, f"{folder}/out.txt"),
        )
    tagged = session.measure({"program": "from CSR"}, lambda seed: from_csr(session))
    show(session, trained, TRAIN_STEPS, "CPU seconds of maxmargin train chain, and peak memory")
    show(session, lists, ("lists_mb", "peak_mb"), "ChainSVC on features as Python lists: MB")
    show(session, predicted, PREDICT_STEPS, "CPU seconds of maxmargin predict")
    columns = [Column("ours", "tokens per second, ours", count),
               Column("crfsuite", "CRFsuite's tagger", count),
               Column("times", "times", ratio)]  # fmt: skip
    session.table([tagged], columns, "prediction from CSR, one core")
    return judge(trained, predicted, tagged)


def show(session: Session, group: Group, steps: tuple[str, ...], title: str) -> None:
    """One row with a column for each step."""
    columns = [Column(step, step, count if step.endswith("_mb") else seconds) for step in steps]
    if "peak_mb" not in steps:
        columns.append(Column("peak_mb", "peak, MB", count))
    session.table([group], columns, title)


def judge(trained: Group, predicted: Group, tagged: Group) -> Verdict:
    """Memory, the longest step, and the two speeds of prediction."""
    longest = max(TRAIN_STEPS, key=trained.median)
    work = sum(predicted.median(step) for step in PREDICT_STEPS[2:])
    start = sum(predicted.median(step) for step in PREDICT_STEPS[:2])
    speed, times = predicted.median("tokens") / work, tagged.median("times")
    share = trained.median("solver") / sum(trained.median(step) for step in TRAIN_STEPS)
    passed = trained.median("peak_mb") < MEMORY and longest == "solver"
    passed &= speed >= SPEED and times >= TIMES
    return Verdict(
        passed,
        f"peak {trained.median('peak_mb'):.0f} MB; longest step: {longest}, the solver has "
        f"{100 * share:.0f} %\n{speed:,.0f} tokens per second from a file after {start:.1f} s of "
        f"start-up; {times:.1f} times CRFsuite's tagger from CSR",
    )


def repeat(source: str, target: str) -> None:
    """Write the sentences of a gzipped file several times."""
    import gzip

    with gzip.open(source, "rb") as file:
        text = file.read().rstrip() + b"\n\n"
    Path(target).write_bytes(COPIES * text)


def from_csr(session: Session) -> dict[str, Any]:
    """Tokens per second of our decoder and of CRFsuite's, from the same features."""
    from maxmargin.engine.shard import predict_labels
    from maxmargin.structures.chain.problem import Chain

    from ..framework.runs import train_chain

    data = session.tagged("chunking", 500 if session.quick else None)
    w = train_chain(data, C=0.1, tol=0.1).w
    problem, n = Chain(len(data.labels)), data.X_test.matrix.shape[0]
    predict_labels(problem, problem.pack(data.X_test), w)  # loads compiled code
    start = time.process_time()
    for _ in range(COPIES):
        predict_labels(problem, problem.pack(data.X_test), w)
    ours = COPIES * n / (time.process_time() - start)
    theirs = n / tagging_time(data, PERCEPTRON)
    return {"ours": ours, "crfsuite": theirs, "times": ours / theirs}


class Steps:
    """CPU seconds of named steps; a step may be inside of another, which then counts the rest."""

    def __init__(self) -> None:
        self.times: dict[str, float] = {}
        self.start = 0.0  # the process time of the interpreter's own start counts as imports

    def end(self, name: str) -> None:
        """The time since the last step ended belongs to ``name``."""
        now = time.process_time()
        self.times[name] = self.times.get(name, 0.0) + now - self.start
        self.start = now

    @contextmanager
    def around(self, owner: Any, function: str, before: str, name: str) -> Iterator[None]:
        """What comes before a call of the function belongs to ``before``, the call to ``name``."""
        inner = getattr(owner, function)

        def timed(*arguments: Any, **options: Any) -> Any:
            self.end(before)
            try:
                return inner(*arguments, **options)
            finally:
                self.end(name)

        setattr(owner, function, timed)
        try:
            yield
        finally:
            setattr(owner, function, inner)


def main(what: str, *arguments: str) -> None:
    """Print the steps of one command."""
    values = {"train": train, "predict": predict, "lists": train_lists}[what](*arguments)
    print(json.dumps(values | {"peak_mb": memory()}))


def start_like_a_command() -> None:
    """Import what the commands import; like them, without pandas and scipy.stats."""
    from maxmargin.cli.postponed import postpone_imports

    postpone_imports()
    import maxmargin.cli.commands  # noqa: F401


def train(data: str, model: str) -> dict[str, Any]:
    """The steps of ``maxmargin train chain DATA --template chunking``."""
    steps = Steps()
    start_like_a_command()
    import maxmargin.solvers
    from maxmargin.engine.shard import Shard
    from maxmargin.registry import get_structure
    from maxmargin.structures.chain import estimator as module

    structure = get_structure("chain")
    files, options = structure.files, structure.options(template=TEMPLATE)
    options.check()
    steps.end("imports")
    examples = files.read_all([data], options)
    steps.end("reading")
    estimator = files.estimator(examples, options)
    packing = "labels and packing"
    with (
        steps.around(module, "read_tokens", packing, "features"),
        steps.around(Shard, "warm_up", packing, "compiled code"),
        steps.around(maxmargin.solvers, "solve", "compiled code", "solver"),
    ):
        files.fit(estimator, examples)
    steps.end("solver")
    estimator.save(model)
    steps.end("saving")
    return steps.times


def predict(data: str, model: str, output: str) -> dict[str, Any]:
    """The steps of ``maxmargin predict MODEL DATA``."""
    steps = Steps()
    start_like_a_command()
    from maxmargin.registry import load
    from maxmargin.structures.chain import fitted, reading
    from maxmargin.structures.files import Wish

    steps.end("imports")
    estimator = load(model)
    files = estimator.structure.files
    # One token loads compiled code and makes the tree of the names.
    Path(f"{output}.one").write_text("the DT B-NP\n")
    files.predict(estimator, f"{output}.one", output, Wish())
    steps.end("loading")
    with (
        steps.around(reading, "read_conll", "reading", "reading"),
        steps.around(fitted, "read_new_tokens", "reading", "features"),
        steps.around(fitted, "predict_labels", "decoding", "decoding"),
    ):
        files.predict(estimator, data, output, Wish())
    steps.end("writing")
    tokens = sum(1 for line in Path(data).read_bytes().splitlines() if line)
    return steps.times | {"tokens": tokens}


def train_lists(data: str) -> dict[str, Any]:
    """Train on features as Python lists of names; the lists themselves are in the peak."""
    from maxmargin.features import Extractor
    from maxmargin.io import read_conll
    from maxmargin.structures.chain.estimator import ChainSVC

    rows, tags = read_conll(data)
    extractor = Extractor(TEMPLATE)
    found = extractor.fit_transform(rows)
    names, indices = extractor.names_, found.matrix.indices
    ends, first = found.matrix.indptr.tolist(), found.offsets.tolist()
    before = memory("VmRSS")
    X = [
        [[names[k] for k in indices[ends[t] : ends[t + 1]].tolist()] for t in range(begin, end)]
        for begin, end in pairwise(first)
    ]
    lists = memory("VmRSS") - before
    del rows, extractor, found, indices
    ChainSVC(C=0.1).fit(X, tags)
    return {"lists_mb": lists}


def memory(what: str = "VmHWM") -> float:
    """The peak of this process, or another value of its status, in megabytes."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main(*sys.argv[1:])
