"""The default as a user runs it: from a file to a model, against CRFsuite; and on texts, liblinear.

Ours is the whole command, from the start of Python to the model file, with compiled code in the
cache. CRFsuite is given the features that the default template makes, as lists of names in memory:
its time is that of appending and training alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..framework.corpora import CORPORA, SIX, Tokens, read_corpus, score, write_corpus
from ..framework.data import load
from ..framework.display import Column, percent2, seconds
from ..framework.peers import MODULE
from ..framework.registry import Verdict, experiment
from ..framework.sequences import OCR

if TYPE_CHECKING:
    import numpy as np

    from ..framework.session import Group, Session

OURS = "maxmargin"

#: CRFsuite's algorithms with their parameters, and how often each is measured. Its own default for
#: the first two is 100 iterations, which takes five times as long.
ALGORITHMS: dict[str, tuple[dict[str, Any], int]] = {
    "ap": ({"max_iterations": 20}, 3),
    "pa": ({"max_iterations": 20}, 3),
    "lbfgs": ({"c2": 1.0, "max_iterations": 100}, 1),
}

TEXTS = ("news20", "reuters_r8")
OVR, CRAMMER_SINGER = "LinearSVC", "LinearSVC, Crammer-Singer"

COLUMNS = [
    Column("task", "task"),
    Column("program", "program"),
    Column("time", "s", seconds),
    Column("score", "test", percent2),
]


@experiment(
    "default-against-crfsuite",
    title="The default, from a file to a model, against CRFsuite on six corpora",
    claim="On each of six corpora `maxmargin train chain FILE -o MODEL` takes less wall-clock time "
    "than CRFsuite's fastest algorithm (ap, pa, lbfgs) takes to append and train on the same "
    "features, with a test score (F1 of chunks, or tokens right) not below its best algorithm's.",
    data=tuple(CORPORA[name].data for name in SIX),
    peers=(MODULE,),
)
def run(session: Session) -> Verdict:
    """Three runs of each program, one of lbfgs."""
    groups = []
    with tempfile.TemporaryDirectory() as folder:
        for task in SIX:
            groups.append(measure_ours(session, task, Path(folder)))
            groups += [measure_crfsuite(session, task, name, Path(folder)) for name in ALGORITHMS]
    session.table(groups, COLUMNS, "wall-clock, one core; score on the test part")
    return judge(groups)


@experiment(
    "default-against-liblinear",
    title="The default on texts of several classes against LinearSVC",
    claim="With default parameters MulticlassSVC is faster than LinearSVC, both one-vs-rest and "
    "Crammer-Singer, on 20 newsgroups and Reuters R8, with a test accuracy not below the better "
    "one's.",
    data=TEXTS,
)
def run_texts(session: Session) -> Verdict:
    """Wall-clock of ``fit`` on tf-idf rows in memory, with compiled code in the cache."""
    programs = (OURS, OVR, CRAMMER_SINGER)
    groups = [measure_text(session, task, program) for task in TEXTS for program in programs]
    session.table(groups, COLUMNS, "wall-clock, one core; accuracy on the test part")
    return judge(groups)


def examples(session: Session, task: str) -> tuple[Tokens, Tokens]:
    """Training and test sequences; a few hundred in a quick run."""
    train, test = read_corpus(task, session.directory)
    if not session.quick:
        return train, test
    few = slice(0, 300)
    return Tokens(train.X[few], train.Y[few]), Tokens(test.X[few], test.Y[few])


def measure_ours(session: Session, task: str, folder: Path) -> Group:
    """The command line, from the start of Python to the model file."""

    def once(seed: int) -> dict[str, Any]:
        import maxmargin as mm

        train, test = examples(session, task)
        data, model = folder / "train.txt", folder / "model.mm"
        write_corpus(train, data)
        command = [sys.executable, "-m", "maxmargin", "train", "chain", str(data)]
        command += ["-o", str(model), "--quiet", "--seed", str(seed)]
        subprocess.run([*command, "--tol", "100"], check=True)  # compiles
        start = time.perf_counter()
        subprocess.run(command, check=True)
        took = time.perf_counter() - start
        found = mm.load(model)
        return {"time": took, "score": score(task, test.Y, found.predict(test.X))}

    return session.measure(_config(session, task, OURS), once)


def _config(session: Session, task: str, program: str) -> dict[str, Any]:
    return {"task": task, "program": program, "part": "quick" if session.quick else "all"}


def measure_crfsuite(session: Session, task: str, algorithm: str, folder: Path) -> Group:
    """Appending and training; the lists of names are made before the clock starts."""
    parameters, repeats = ALGORITHMS[algorithm]

    def once(seed: int) -> dict[str, Any]:
        import pycrfsuite

        train, test = examples(session, task)
        features, features_test = named_features(task, train, test)
        labels = [[str(tag) for tag in tags] for tags in train.Y]
        trainer = pycrfsuite.Trainer(algorithm=algorithm, params=parameters, verbose=False)
        model = str(folder / "crfsuite.model")
        start = time.perf_counter()
        for sentence, tags in zip(features, labels, strict=True):
            trainer.append(sentence, tags)
        trainer.train(model)
        took = time.perf_counter() - start
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        found = [tagger.tag(sentence) for sentence in features_test]
        tagger.close()
        truth = [[str(tag) for tag in tags] for tags in test.Y]
        return {"time": took, "score": score(task, truth, found)}

    return session.measure(_config(session, task, f"CRFsuite {algorithm}"), once, repeats)


def named_features(task: str, train: Tokens, test: Tokens) -> tuple[list[Any], list[Any]]:
    """The names of the features of each token: those of the default template, or pixels."""
    from maxmargin.features import Extractor

    if task == OCR:
        from scipy.sparse import csr_array

        names = [str(pixel) for pixel in range(train.X.n_features)]
        first, second = (
            _names(csr_array(part.X.matrix), part.X.offsets, names) for part in (train, test)
        )
        return first, second
    extractor = Extractor("default")
    X, X_test = extractor.fit_transform(train.X), extractor.transform(test.X)
    names = extractor.names_
    return _names(X.matrix, X.offsets, names), _names(X_test.matrix, X_test.offsets, names)


def _names(matrix: Any, offsets: np.ndarray, names: list[str]) -> list[list[list[str]]]:
    columns, rows = matrix.indices.tolist(), matrix.indptr.tolist()
    tokens = [[names[j] for j in columns[lo:hi]] for lo, hi in pairwise(rows)]
    return [tokens[begin:end] for begin, end in pairwise(offsets.tolist())]


def measure_text(session: Session, task: str, program: str) -> Group:
    """``fit`` with default parameters."""

    def once(seed: int) -> dict[str, Any]:
        from sklearn.svm import LinearSVC

        import maxmargin as mm

        data = load(task, session.directory, None)
        data = data.first(500) if session.quick else data
        if program == OURS:
            mm.MulticlassSVC().fit(data.X[:500], data.y[:500])  # compiles
            model: Any = mm.MulticlassSVC(random_state=seed)
        else:
            kind = "ovr" if program == OVR else "crammer_singer"
            model = LinearSVC(multi_class=kind, random_state=seed)
        start = time.perf_counter()
        model.fit(data.X, data.y)
        took = time.perf_counter() - start
        return {"time": took, "score": model.score(data.X_test, data.y_test)}

    return session.measure(_config(session, task, program), once)


def judge(groups: list[Group]) -> Verdict:
    """Per task: the fastest other program, and the best one."""
    lines, good = [], True
    for task in dict.fromkeys(group.config["task"] for group in groups):
        ours, *others = (group for group in groups if group.config["task"] == task)
        took = min(other.median("time") for other in others) / ours.median("time")
        better = ours.median("score") - max(other.median("score") for other in others)
        good &= took > 1.0 and better >= 0.0
        lines.append(f"{task}: time of the fastest / ours {took:.2f}, score {100 * better:+.2f}")
    return Verdict(good, "\n".join(lines))
