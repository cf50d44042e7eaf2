"""The experiments: registry, data, resuming, and small experiments from end to end."""

import gzip
import itertools
import json
import math

import numpy as np
import pytest

import benchmarks.framework.registry as registry
from benchmarks import list_experiments, run_benchmarks, show_list
from benchmarks.framework.data import find_file, load
from benchmarks.framework.display import Column, count, table
from benchmarks.framework.registry import Verdict, experiment
from benchmarks.framework.runs import (
    TokenAccuracy,
    Watch,
    curve,
    hinge_primal,
    run_values,
    stop_at_dual,
    time_to,
    time_to_dual,
    train_chain,
    train_multiclass,
)
from benchmarks.framework.sequences import OCR, TASKS, UNKNOWN, load_tagged, sentences
from benchmarks.framework.session import Group, side_by_side
from benchmarks.framework.store import Store
from benchmarks.framework.tagger import LABELS, Tagger, best_path, make_sequences
from maxmargin.errors import MaxMarginError


@pytest.fixture
def no_data(monkeypatch):
    monkeypatch.delenv("MAXMARGIN_DATA", raising=False)


@pytest.fixture
def small(monkeypatch):
    """A registered experiment that takes no time."""
    list_experiments()
    monkeypatch.setattr(registry, "_EXPERIMENTS", dict(registry._EXPERIMENTS))

    @experiment("999-small", title="Small", claim="Training on 50 digits converges.")
    def run(session):
        data = session.load("digits").first(50)
        group = session.measure(
            {"n": 50}, lambda seed: run_values(train_multiclass(data, C=0.1, random_state=seed))
        )
        session.table([group], [Column("iterations", "iterations", count)], "small")
        session.draw(lambda figure: figure.subplots().plot([1, 2]))
        return Verdict(group.every("converged"), f"{group.median('iterations'):.0f} iterations")

    return "999-small"


def test_list_needs_no_data(no_data, capsys):
    names = [e.name for e in list_experiments()]
    assert names == sorted(names) and "joachims-2009-fig6-cache" in names
    assert {
        "auto-choice",
        "sdm-2011-chunking-crfsuite",
        "sdm-2011-ocr-letters",
        "sdm-2011-pos-tagging",
        "sdm-2011-sdm-improvements",
        "sdm-2011-table2-sdm-cutting-plane",
        "sdm-2011-table3-sgd",
        "sdm-2011-table4-scaling",
    } <= set(names)
    show_list()
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_end_to_end_and_resume(small, no_data, tmp_path, capsys):
    assert run_benchmarks([small], out=tmp_path, repeats=2) == 0
    shown = capsys.readouterr().out
    assert "PASS" in shown and "2 new measurements" in shown
    assert (tmp_path / "999-small.png").stat().st_size > 1000
    path = tmp_path / "999-small.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [row["repeat"] for row in rows] == [0, 1]
    assert rows[0]["config"] == {"n": 50} and rows[0]["seed"] == 0 and rows[0]["date"]
    assert {"cpu", "cores", "python", "numpy", "numba", "maxmargin"} <= rows[0]["machine"].keys()

    before = path.read_text()
    assert run_benchmarks([small], out=tmp_path, repeats=2) == 0
    assert "0 new measurements" in capsys.readouterr().out
    assert path.read_text() == before

    assert run_benchmarks([small], out=tmp_path, repeats=3) == 0
    assert "1 new measurement" in capsys.readouterr().out
    run_benchmarks([small], out=tmp_path, repeats=1, fresh=True, quick=True)
    assert len(path.read_text().splitlines()) == 4
    assert (tmp_path / "999-small-quick.png").exists()


def test_measurements_in_turn(monkeypatch, no_data, tmp_path):
    calls = []

    def run(session):
        runs = [({"k": k}, lambda seed, k=k: calls.append((k, seed)) or {"v": k}) for k in "ab"]
        first, second = session.measure_in_turn(runs)
        assert first.values == [{"v": "a"}] * 2 and second.config == {"k": "b"}
        return Verdict(True, "")

    monkeypatch.setattr(registry, "_EXPERIMENTS", {})
    experiment("999-turns", title="T", claim="T.")(run)
    assert run_benchmarks(["999-turns"], out=tmp_path, repeats=2) == 0
    assert calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_missed_claim_is_an_exit_code(monkeypatch, no_data, tmp_path):
    monkeypatch.setattr(registry, "_EXPERIMENTS", {})
    experiment("999-miss", title="Miss", claim="No.")(lambda session: Verdict(False, "0 < 1"))
    assert run_benchmarks(["999-miss"], out=tmp_path) == 1
    assert run_benchmarks(["999-miss"], out=tmp_path, quick=True) == 0


def test_missing_data_says_what_to_do(no_data, tmp_path, capsys, small, monkeypatch):
    with pytest.raises(MaxMarginError, match=r"'covertype'.*--data DIR or set MAXMARGIN_DATA"):
        run_benchmarks(["joachims-2009-covertype-liblinear"], out=tmp_path)
    with pytest.raises(MaxMarginError, match=r"letter.npz does not exist.*--data DIR"):
        run_benchmarks(["joachims-2009-fig6-cache"], data=tmp_path, out=tmp_path)
    with pytest.raises(
        MaxMarginError, match=r"no experiment is named 'x'; there are .*auto-choice, "
    ):
        run_benchmarks(["x"], out=tmp_path)
    # All experiments: those without their data are skipped with a word, which is no success.
    wanting = {k: e for k, e in registry._EXPERIMENTS.items() if e.data or k == small}
    monkeypatch.setattr(registry, "_EXPERIMENTS", wanting)
    assert run_benchmarks(out=tmp_path, repeats=1) == 1
    assert "skipped joachims-2009-steps" in capsys.readouterr().err.replace("\n", " ")


def test_data_directory_from_the_environment(monkeypatch, tmp_path):
    write_letter(tmp_path)
    monkeypatch.setenv("MAXMARGIN_DATA", str(tmp_path))
    from benchmarks.framework.data import data_directory

    assert find_file("letter", data_directory(None)) == tmp_path / "letter" / "letter.npz"


def write_letter(directory):
    (directory / "letter").mkdir()
    X = np.arange(64, dtype="u1").reshape(4, 16) % 16
    np.savez(directory / "letter" / "letter.npz", X=X, y=np.array([0, 1, 2, 0], "u1"), n_train=3)


def test_load_letter_shuffles_rows_with_their_labels(tmp_path):
    write_letter(tmp_path)
    data = load("letter", tmp_path, seed=1)
    assert data.X.shape == (3, 16) and data.X_test.shape == (1, 16) and data.X.max() == 1
    assert sorted(data.y) == [0, 1, 2] and data.first(2).n == 2 and data.classes == 3
    by_label = load("letter", tmp_path, seed=0)
    for label in range(3):
        np.testing.assert_array_equal(data.X[data.y == label], by_label.X[by_label.y == label])


def test_load_covertype_scales_by_the_training_part(tmp_path):
    (tmp_path / "covertype").mkdir()
    rng = np.random.default_rng(0)
    n, test = 30, np.arange(30) >= 25
    np.savez(
        tmp_path / "covertype" / "covertype.npz",
        num=rng.integers(-50, 50, (n, 10)).astype("i2"),
        wilderness=rng.integers(0, 4, n).astype("u1"),
        soil=rng.integers(0, 40, n).astype("u1"),
        y=rng.integers(1, 8, n).astype("u1"),
        test_mask_packed=np.packbits(test),
        test_mask_n=n,
    )
    data = load("covertype", tmp_path)
    assert data.X.shape == (25, 54) and data.X_test.shape == (5, 54)
    assert data.X.indices.dtype == np.int32 and data.X.format == "csr"
    dense = data.X.toarray()
    assert (dense[:, :10].min(axis=0) == 0).all() and (dense[:, :10].max(axis=0) == 1).all()
    assert (dense[:, 10:14].sum(axis=1) == 1).all() and (dense[:, 14:].sum(axis=1) == 1).all()


def test_store_mends_half_a_line_and_refuses_nonsense(tmp_path):
    path = tmp_path / "x.jsonl"
    Store(path).add({"n": 1}, 0, 0, {"time": 1.0})
    with path.open("a") as file:
        file.write('{"config": {"n"')
    store = Store(path)
    assert store.get({"n": 1}, 0) == {"time": 1.0} and store.get({"n": 2}, 0) is None
    store.add({"n": 2}, 0, 0, {"time": None})
    assert [json.loads(line)["config"]["n"] for line in path.read_text().splitlines()] == [1, 2]
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(MaxMarginError, match=r"x.jsonl, line 1: not a measurement"):
        Store(path)


def test_other_machines_are_not_mixed_in(tmp_path, monkeypatch):
    path = tmp_path / "x.jsonl"
    Store(path).add({"n": 1}, 0, 0, {"time": 1.0})
    monkeypatch.setattr("benchmarks.framework.store.machine", lambda: {"cpu": "another"})
    assert Store(path).get({"n": 1}, 0) is None


def test_table_shows_medians_spread_and_what_was_not_reached():
    group = Group({"name": "a"}, [{"t": 90, "r": None}, {"t": 100, "r": None}, {"t": 110, "r": 1}])
    assert group.median("t") == 100 and math.isinf(group.median("r"))
    columns = [Column("name", "name"), Column("t", "t", count), Column("r", "r", count)]
    cells = [next(iter(column.cells)).plain for column in table([group], columns, "").columns]
    assert cells == ["a", "100 ±10%", "not reached"]


def test_hinge_primal_is_the_training_objective():
    data = load("digits", None).first(200)
    result = train_multiclass(data, C=0.1)
    coef = result.w.reshape(-1, data.classes).T
    assert hinge_primal(coef, data.X, data.y, 0.1) == pytest.approx(result.primal)


def test_tagger_oracle_is_exact():
    rng = np.random.default_rng(0)
    local, transition = rng.normal(size=(3, 4)), rng.normal(size=(4, 4))
    paths = list(np.ndindex(4, 4, 4))

    def score(y):
        inner = sum(transition[a, b] for a, b in itertools.pairwise(y))
        return inner + sum(local[t, a] for t, a in enumerate(y))

    assert best_path(local.tolist(), transition.tolist()) == max(paths, key=score)
    X, Y = make_sequences(2)
    w, tagger = rng.normal(size=Tagger.n_features), Tagger()
    best = tagger.decode(X[0], w, Y[0])
    value = w @ tagger.features(X[0], best) + tagger.loss(Y[0], best)
    for t in range(len(best)):
        for label in range(LABELS):
            y = (*best[:t], label, *best[t + 1 :])
            assert w @ tagger.features(X[0], y) + tagger.loss(Y[0], y) <= value + 1e-9


WORDS = {"the": "DT", "a": "DT", "dog": "NN", "cat": "NN", "sees": "VBZ", "runs": "VBZ"}
CHUNKS = {"DT": "B-NP", "NN": "I-NP", "VBZ": "B-VP"}


def write_conll(directory, n, columns=3, name="conll2000", files=("train.txt.gz", "test.txt.gz")):
    """Sentences in which the tag follows from the word; the last test tag is a new one."""
    (directory / name).mkdir()
    rng = np.random.default_rng(0)
    for number, file in enumerate(files):
        lines = []
        for _ in range(n):
            words = rng.choice(list(WORDS), rng.integers(2, 7))
            rows = [(word, WORDS[word], CHUNKS[WORDS[word]])[:columns] for word in words]
            lines += [" ".join(row) for row in rows] + [""]
        if number:
            lines += [" ".join(("oh", "UH", "B-INTJ")[:columns]), ""]
        with gzip.open(directory / name / file, "wt") as stream:
            stream.write("\n".join(lines))
    return directory


def test_sequences_refuse_missing_files(no_data, tmp_path):
    with pytest.raises(MaxMarginError, match=r"unknown task 'x'; there are chunking, .*OCR"):
        load_tagged("x", tmp_path)
    for task in [*TASKS, OCR]:
        name = TASKS[task].data if task in TASKS else "ocr_letters"
        with pytest.raises(MaxMarginError, match=rf"{name!r} is needed and no data directory"):
            load_tagged(task, None)
    write_conll(tmp_path, 2)
    (tmp_path / "conll2000" / "test.txt.gz").unlink()
    with pytest.raises(MaxMarginError, match=r"conll2000/test.txt.gz does not exist.*--data DIR"):
        load_tagged("chunking", tmp_path)
    with pytest.raises(MaxMarginError, match=r"conll2000/test.txt.gz does not exist"):
        run_benchmarks(["sdm-2011-table4-scaling"], data=tmp_path, out=tmp_path)


def test_missing_peer_says_what_to_install(no_data, tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.framework.runner.find_spec", lambda module: None)
    write_conll(tmp_path, 2)
    with pytest.raises(MaxMarginError, match=r"pycrfsuite too.*maxmargin\[bench\]"):
        run_benchmarks(["sdm-2011-pos-tagging"], data=tmp_path, out=tmp_path)


def test_load_tagged_numbers_labels_and_limits(tmp_path):
    data = load_tagged("chunking", write_conll(tmp_path, 30))
    assert data.labels == ["B-NP", "B-VP", "I-NP"] and data.n == len(data.X) == 30
    assert [len(y) for y in data.Y] == data.X.lengths.tolist()
    assert data.truth[-1] == UNKNOWN and (data.truth[:-1] >= 0).all()
    assert len(data.truth) == data.X_test.lengths.sum() and len(data.X_test) == 31
    small = load_tagged("POS", tmp_path, 5)
    assert small.labels == ["DT", "NN", "VBZ"] and small.n == len(small.X_test) == 5
    names = list(sentences(data.X))
    assert [len(sentence) for sentence in names] == data.X.lengths.tolist()
    assert all(len(token) == 19 for sentence in names for token in sentence)


def test_load_split_of_one_file(tmp_path):
    files = ("train.tsv.gz", "unused.gz")
    write_conll(tmp_path, 10, columns=2, name="bc2gm", files=files)
    split = {"train_idx": np.array([7, 0, 3]), "test_idx": np.array([1])}
    np.savez(tmp_path / "bc2gm" / "split_7500_5000.npz", **split)
    data = load_tagged("BioCreative", tmp_path)
    assert data.n == 3 and len(data.X_test) == 1 and set(data.labels) <= {"DT", "NN", "VBZ"}


def test_load_letters_by_folds(tmp_path):
    (tmp_path / "ocr_letters").mkdir()
    pixels = np.random.default_rng(0).integers(0, 2, (9, 128)).astype("u1")
    np.savez(
        tmp_path / "ocr_letters" / "ocr_letters.npz",
        pixels_packed=np.packbits(pixels, axis=1),
        labels=np.arange(9, dtype="u1"),
        fold=np.array([1, 0, 2, 0]),
        word_offsets=np.array([0, 2, 5, 6, 9]),
    )
    data = load_tagged(OCR, tmp_path)
    assert [y.tolist() for y in data.Y] == [[0, 1], [5]]
    assert data.truth.tolist() == [2, 3, 4, 6, 7, 8] and len(data.labels) == 26
    np.testing.assert_array_equal(data.X_test.matrix, pixels[[2, 3, 4, 6, 7, 8]])


def test_watch_tests_now_and_then_and_ends_training(tmp_path):
    data = load_tagged("chunking", write_conll(tmp_path, 30))
    accuracy = TokenAccuracy(data)
    watch = Watch(accuracy, lambda state: state.w, lambda record, _: record.iteration == 4, 1e9)
    result = train_chain(data, C=1.0, solver="sdm", tol=1e-9, callbacks=[watch])
    assert result.n_iter <= 4 and len(watch.points) == (2 if result.n_iter == 4 else 1)
    right = (len(data.truth) - 1) / len(data.truth)  # the new tag cannot be found
    result = train_chain(data, C=1.0, solver="sdm")
    assert accuracy(result.w) == pytest.approx(right)
    early = train_chain(data, C=1.0, solver="sdm", callbacks=[stop_at_dual(0.1)])
    assert early.n_iter < result.n_iter and time_to_dual(early, 0.1) <= early.time
    took = time_to(result, result.primal, packing=False)
    assert time_to(result, result.primal) == pytest.approx(took + result.prepare_time)
    assert time_to(result, 0.0) is None
    assert curve(result, value="dual")[-1][1] == pytest.approx(result.dual)
    assert all(np.isfinite(primal) for _, primal in curve(result))


def test_crfsuite_on_the_same_features(tmp_path):
    pytest.importorskip("pycrfsuite")
    from benchmarks.framework.peers import PERCEPTRON, converter, run_peer, run_sgd

    data = load_tagged("chunking", write_conll(tmp_path, 30))
    right = (len(data.truth) - 1) / len(data.truth)
    found = run_peer(data, PERCEPTRON)
    assert found["accuracy"] == pytest.approx(right) and found["time"] > 0
    assert converter(Group({}, [{"time": 18.2}]))(10.0) == pytest.approx(20.0)
    found = run_sgd(data, 5)
    assert found["accuracy"] == pytest.approx(right) and len(found["curve"]) == 5
    assert found["time"] == found["curve"][-1][0]


def test_calibration_of_chains_and_of_a_crf(tmp_path):
    pytest.importorskip("pycrfsuite")
    from benchmarks.ours.calibration import CRF, DEFAULT, crf_marginals, errors_of, judge

    data = load_tagged("chunking", write_conll(tmp_path, 30))
    found = crf_marginals(data)
    assert found.shape == (len(data.truth), len(data.labels))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    errors = errors_of(np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([0, -1]))
    assert errors["accuracy"] == 0.5 and errors["ece"] == pytest.approx((0.1 + 0.8) / 2)
    assert errors["nll"] == pytest.approx(-np.log(0.9))
    for mine, passed in ((0.01, True), (0.03, False)):
        groups = [
            Group({"task": task, "program": name}, [{"ece": value, "nll": 0.1}])
            for task in ("BioNLP", "BioCreative")
            for name, value in ((DEFAULT, mine), (CRF, 0.02))
        ]
        assert judge(groups).passed is passed


def test_memory_of_a_chain(tmp_path, capsys):
    from benchmarks.framework.memory import _STATUS, main

    if not _STATUS.exists():
        pytest.skip("needs /proc")
    write_conll(tmp_path, 10)
    main("chunking", str(tmp_path), "10", "0.1", "1e9", "sdm", "5")
    found = json.loads(capsys.readouterr().out)
    assert found["peak_mb"] >= found["loaded_mb"] > 10


def test_side_by_side_names_the_setting():
    groups = [Group({"s": s}, [{"t": i}, {"t": i}][: 2 - i]) for i, s in enumerate("ab")]
    assert side_by_side(groups, "s").values == [{"t a": 0, "t b": 1}]


def test_sequence_experiment_from_end_to_end(no_data, tmp_path, capsys):
    write_conll(tmp_path, 60)
    options = {"data": tmp_path, "out": tmp_path, "repeats": 1, "quick": True}
    assert run_benchmarks(["sdm-2011-table4-scaling"], **options) == 0
    assert "6 new measurements" in capsys.readouterr().out
    assert (tmp_path / "sdm-2011-table4-scaling-quick.png").stat().st_size > 1000
    run_benchmarks(["sdm-2011-table4-scaling"], **options)
    assert "0 new measurements" in capsys.readouterr().out


def test_diverse_cuts_from_end_to_end(no_data, tmp_path, capsys, monkeypatch):
    from benchmarks.divmcuts import diverse

    def digits(n, **options):
        return train_multiclass(load("digits", None).first(n), **options)

    monkeypatch.setattr(
        diverse, "problems", lambda session: {"digits": diverse.Case(40, 0.1, 0.1, digits)}
    )
    monkeypatch.setattr(diverse, "conditions", lambda session, cases: {})
    trees = [f"wsj_cfg/le15.unary.{part}.txt.gz" for part in ("train", "test")]
    for name in ("ocr_letters/ocr_letters.npz", "letter/letter.npz", *trees):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    write_conll(tmp_path, 5)
    options = {"data": tmp_path, "out": tmp_path, "repeats": 1, "quick": True}
    run_benchmarks(["divmcuts-diverse-cuts"], **options)
    shown = capsys.readouterr().out
    assert "18 new measurements" in shown and "greedy" in shown
    assert (tmp_path / "divmcuts-diverse-cuts-quick.png").stat().st_size > 1000
