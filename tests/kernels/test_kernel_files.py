"""Kernel models in files and on the command line."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import maxmargin as mm
from maxmargin.cli.app import app
from maxmargin.report.certificate import certificate
from maxmargin.report.console import result_rows
from maxmargin.report.training import Run, training_page
from maxmargin.saving.container import read_container, write_container
from tests.kernels.test_kernels import blobs

run = CliRunner().invoke


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    "options",
    [{"kernel": "rbf"}, {"kernel": "poly", "n_basis": mm.Basis(30, "random")},
     {"kernel": "sigmoid", "n_basis": 10, "fit_intercept": True},
     {"kernel": "rbf", "solver": mm.SampledCuts("constant", r=50)}],
)  # fmt: skip
def test_round_trip(tmp_path, options, sparse):
    X, y = blobs(120)
    X = sp.csr_matrix(np.where(X > 0, X, 0)) if sparse else X.astype(np.float32)
    for cls, labels in ((mm.BinarySVC, y), (mm.MulticlassSVC, np.abs(y) + (np.arange(120) % 3))):
        clf = cls(gamma=0.3, coef0=1.0, **options).fit(X, labels)
        clf.save(tmp_path / "m.mm")
        again = mm.load(tmp_path / "m.mm")
        np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
        assert again.get_params() == clf.get_params()
        assert len(again.support_) <= 120
        assert again.result_.primal == clf.result_.primal
        np.testing.assert_array_equal(again.result_.w, clf.result_.w)


def test_round_trip_of_chains_and_precomputed(tmp_path):
    X, y = blobs(60)
    words, tags = np.split(X, 20), np.split(y, 20)
    clf = mm.ChainSVC(C=1.0, kernel="rbf", start_stop=True).fit(words, tags)
    clf.save(tmp_path / "c.mm")
    again = mm.load(tmp_path / "c.mm")
    assert again.predict(words) == clf.predict(words)
    np.testing.assert_array_equal(again.transition_, clf.transition_)
    K = X @ X.T
    clf = mm.BinarySVC(kernel="precomputed", n_basis=2).fit(K, y)
    clf.save(tmp_path / "p.mm")
    again = mm.load(tmp_path / "p.mm")
    np.testing.assert_array_equal(again.predict(K), clf.predict(K))
    with pytest.raises(mm.MaxMarginError, match="audit"):
        uncertified = mm.BinarySVC(kernel="rbf", solver=mm.SampledCuts(r=5)).fit(X, y)
        uncertified.save(tmp_path / "u.mm")
        mm.load(tmp_path / "u.mm").result_.audit()


def test_the_certificate_names_the_subspace_that_it_bounds(tmp_path):
    """The dual of basis functions bounds only the models made of them, before and after saving."""
    X, y = blobs(80)
    exact = mm.BinarySVC(kernel="rbf").fit(X, y).result_
    assert exact.bounds == "" and "basis functions" not in certificate(exact)
    clf = mm.BinarySVC(kernel="rbf", n_basis=7).fit(X, y)
    clf.save(tmp_path / "m")
    for result in (clf.result_, mm.load(tmp_path / "m").result_):
        assert result.bounds == "among models with these 7 basis functions"
        words = certificate(result)
        assert f"its lower bound {result.bounds} is" in words
        assert f"above the optimum {result.bounds}; result_.audit()" in words
        assert result.bounds in repr(result)
        assert result.bounds in dict(result_rows(result))["dual"]
        page = training_page(Run(result)).html()
        assert f"lower bound on the objective {result.bounds}" in page
        assert f"the optimum {result.bounds} lies here" in page
        assert "the optimum lies here" not in page
    assert clf.result_.audit().dual <= clf.result_.primal
    with pytest.raises(mm.MaxMarginError, match="call audit"):
        result.audit()  # the loaded one, which has no data: its dual is that of the subspace


def test_what_is_printed_during_training_names_the_subspace(capsys, monkeypatch):
    X, y = blobs(80)
    monkeypatch.setattr("maxmargin.progress.FIRST_LINE", 0.0)
    with pytest.warns(ConvergenceWarning, match="gap .* among models with these 7 basis functions"):
        mm.BinarySVC(kernel="rbf", n_basis=7, verbose=1, max_iter=1, tol=1e-9).fit(X, y)
    lines = [line for line in capsys.readouterr().err.splitlines() if " dual " in line]
    assert lines
    assert all("among models with these 7 basis functions" in line for line in lines)


def test_the_picture_names_the_subspace():
    X, y = blobs(80)
    result = mm.BinarySVC(kernel="rbf", n_basis=7).fit(X, y).result_
    words = " ".join(result.plot().axes[0].get_legend_handles_labels()[1])
    assert f"the optimum {result.bounds} lies here" in words


def test_a_function_cannot_be_stored(tmp_path):
    X, y = blobs(30)
    clf = mm.BinarySVC(kernel=lambda A, B: A @ B.T).fit(X, y)
    with pytest.raises(mm.ModelFileError, match="code"):
        clf.save(tmp_path / "m.mm")
    assert not (tmp_path / "m.mm").exists()


@pytest.mark.parametrize(
    "damage",
    [lambda meta, arrays: meta["kernel"].update(name="os.system"),
     lambda meta, arrays: meta["kernel"].update(degree="3"),
     lambda meta, arrays: arrays.update(dual_coef=arrays["dual_coef"][:-1]),
     lambda meta, arrays: arrays.update(support_vectors=arrays["support_vectors"][:, :1]),
     lambda meta, arrays: arrays.pop("support_vectors"),
     lambda meta, arrays: arrays.update(intercept_=np.zeros(3))],
)  # fmt: skip
def test_damaged_files_are_refused(tmp_path, damage):
    X, y = blobs(30)
    mm.BinarySVC(kernel="rbf").fit(X, y).save(tmp_path / "m.mm")
    meta, arrays = read_container(tmp_path / "m.mm")
    damage(meta, arrays)
    write_container(tmp_path / "m.mm", meta, arrays)
    with pytest.raises(mm.ModelFileError):
        mm.load(tmp_path / "m.mm")


@pytest.fixture
def data(tmp_path):
    X, y = blobs(150)
    dump_svmlight_file(X, y, str(tmp_path / "train.txt"), zero_based=False)
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [["--gamma", "0.5"], ["--n-basis", "30"], ["--n-basis", "auto"],
     ["--solver", "sampled-linear"], ["--kernel", "poly", "--degree", "2", "--coef0", "1"]],
)  # fmt: skip
def test_command_line(data, options):
    model, train = str(data / "m.mm"), str(data / "train.txt")
    found = run(app, ["train", "binary", train, "-o", model, "--kernel", "rbf", "-q", *options])
    assert found.exit_code == 0, found.output
    found = run(app, ["evaluate", model, train, "--json"])
    assert json.loads(found.stdout)["accuracy"] > 0.85
    found = run(app, ["predict", model, train, "--scores"])
    assert len(found.stdout.splitlines()) == 150
    found = run(app, ["info", model])
    assert "support vectors" in found.stdout
    assert json.loads(run(app, ["info", model, "--json"]).stdout)["kernel"]["support"] <= 150
    found = run(app, ["explain", model])
    assert found.exit_code == 1
    assert "kernel" in found.output


@pytest.mark.parametrize(
    "options",
    [["--n-basis", "3"], ["--kernel", "rbf", "--gamma", "wide"], ["--kernel", "cosine"],
     ["--kernel", "rbf", "--n-basis", "few"], ["--kernel", "rbf", "--gamma", "-1"],
     ["--solver", "sampled-linear"], ["--kernel", "rbf", "--degree", "0"],
     ["--kernel", "rbf", "--n-basis", "5", "--solver", "sampled-constant"]],
)  # fmt: skip
def test_mistakes_on_the_command_line(data, options):
    found = run(
        app, ["train", "binary", str(data / "train.txt"), "-o", str(data / "m.mm"), *options]
    )
    assert found.exit_code in (1, 2)
    assert "Traceback" not in found.output
    assert not (data / "m.mm").exists()
