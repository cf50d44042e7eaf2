"""Altered text files of every format: refused with an error that names the place, or used."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import maxmargin as mm
from maxmargin.io import (
    load_svm_struct,
    read_conll,
    read_hmm,
    read_sentences,
    read_svmlight,
    read_trees,
    save_svm_struct,
)

from ..alter import Random, alter_text
from ..models import COLUMNS
from ..trial import Kind, Trial

CONLL = b"""the DT B-NP
dog NN I-NP
barks VBZ B-VP

a DT B-NP
cat NN I-NP

dogs NNS B-NP
bark VBP B-VP
"""
SVMLIGHT = b"1 1:0.5 3:-1.25 # first\n2 cost:2 2:1\n3 1:1 2:1e-3\n1 4:2\n2 1:-1 4:.5\n"
HMM = b"""# tags
1 qid:1 1:1 3:0.5 # the
2 qid:1 2:1
3 qid:1 3:-1.5

1 qid:2 1:1
2 qid:2 2:0.25 4:1
"""
TREES = b"""( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)) (. .)) )
(S (NP (DT a) (NN cat)) (VP (VBZ sees)
   (NP (NNS dogs))))
(S (NP (NNS dogs)) (VP (VBP bark)))
"""
TEMPLATE = b"""columns word pos
word[-2..2]
word[-1] | word[0]
lower(word)
prefix(word, 1..3) | pos[-1]
suffix(word)
shape(word[-1..1])
extra[0]
bias
"""


class Format(NamedTuple):
    """A format: its name, a file, and what users do with one."""

    name: str
    content: bytes
    use: Any


def prepare(folder: Path) -> list[Format]:
    """Samples of all formats."""
    found = [
        Format("CoNLL", CONLL, use_conll), Format("svmlight", SVMLIGHT, use_svmlight),
        Format("HMM", HMM, use_hmm), Format("brackets", TREES, use_brackets),
        Format("templates", TEMPLATE, use_template),
    ]  # fmt: skip
    X, y = read_svmlight(_write(folder / "a.svm", SVMLIGHT))
    multiclass = mm.MulticlassSVC(C=1.0).fit(X, y)
    sequences, tags = read_hmm(_write(folder / "a.hmm", HMM))
    chain = mm.ChainSVC(C=1.0).fit(sequences, tags)
    for estimator, inputs in ((multiclass, X), (chain, sequences)):
        save_svm_struct(estimator, folder / "model")
        use = _struct_user(inputs)
        found.append(Format("SVM-struct models", (folder / "model").read_bytes(), use))
    return found


def _write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def use_conll(path: Path, random: Random) -> None:
    """Read, with any label column; train a tagger."""
    label = random.choice((-1, -1, -1, 0, 1, None, 5))
    rows, tags = read_conll(path, label)
    if tags is not None and random.random() < 0.3:
        mm.ChainSVC(C=0.5, max_iter=3, template="default").fit(rows, tags).predict(rows)
    elif random.random() < 0.05:
        command(path, "train", "chain", path, "-o", path.with_name("m.mm"), "-q")


def use_svmlight(path: Path, random: Random) -> None:
    """Read; train on what is not absurdly wide."""
    X, y = read_svmlight(path)
    if X.shape[1] < 10**5 and random.random() < 0.5:
        mm.MulticlassSVC(C=0.5, max_iter=3).fit(X, y).predict(X)
    elif X.shape[1] < 10**5 and random.random() < 0.05:
        command(path, "train", "multiclass", path, "-o", path.with_name("m.mm"), "-q")


def use_hmm(path: Path, random: Random) -> None:
    """Read; train on what is not absurdly wide."""
    X, Y = read_hmm(path)
    labels = {tag for tags in Y for tag in tags}
    if X.matrix.shape[1] < 10**5 and max(labels, default=0) < 1000 and random.random() < 0.5:
        mm.ChainSVC(C=0.5, max_iter=3).fit(X, Y).predict(X)


def use_brackets(path: Path, random: Random) -> None:
    """Read trees or sentences; train a parser."""
    if random.random() < 0.2:
        read_sentences(path, tagged=random.random() < 0.5)
        return
    words, trees = read_trees(path)
    if random.random() < 0.1:
        mm.CFGSVC(C=0.5, max_iter=2).fit(words, trees).predict(words)


def use_template(path: Path, random: Random) -> None:
    """Parse; extract features."""
    template = mm.features.Template(path)
    if random.random() < 0.3:
        extractor = mm.features.Extractor(template)
        extractor.fit_transform(COLUMNS)
        extractor.transform(COLUMNS)


def _struct_user(X: Any) -> Any:
    def use(path: Path, random: Random) -> None:
        model = load_svm_struct(path)
        if getattr(model, "n_features_in_", 10**9) < 10**5:
            model.predict(X[:, : model.n_features_in_] if hasattr(X, "indptr") else X)
        if random.random() < 0.1:
            model.save(path.with_name("m.mm"))

    return use


def command(path: Path, *arguments: Any) -> None:
    """Run a command; errors of users are one line and no traceback."""
    from command_line import run

    outcome = run(*arguments)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception


def trial(trial: Trial) -> None:
    """Alter a text; read and use it. Data may ask for more memory than there is."""
    random, path = trial.random, trial.folder / "file"
    chosen = random.choice(trial.ready)
    path.write_bytes(alter_text(random, chosen.content))
    trial.count("altered files")
    trial.count(f"altered {chosen.name}")
    with trial.refusals(MemoryError):
        chosen.use(path, random)


KIND = Kind(
    "altered text files",
    "CoNLL, svmlight, HMM, bracket, template and SVM-struct model files with altered tokens, lines "
    "and bytes; read, then used for training and prediction",
    trial, share=3.0, prepare=prepare, batch=500,
)  # fmt: skip
