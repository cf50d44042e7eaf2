"""Training in a Ray cluster of several nodes on this machine, with workers and nodes that die.

``make test-cluster`` runs these; they start processes, and no machine should run two of them at a
time.
"""

from __future__ import annotations

import os
import signal
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import maxmargin as mm
from maxmargin.structures.multiclass.problem import Multiclass

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
pytest.importorskip("ray", reason="pip install 'maxmargin[ray]'")
pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore:::ray")]

C, TOL = 0.1, 1e-3
STORE = 80 * 2**20


@pytest.fixture(scope="module")
def cluster():
    """A head without CPUs of its own, and two nodes with one CPU each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ray
        from ray.cluster_utils import Cluster

        nodes = Cluster(
            initialize_head=True, head_node_args={"num_cpus": 0, "object_store_memory": STORE}
        )
        try:
            for _ in range(2):
                nodes.add_node(num_cpus=1, object_store_memory=STORE)
            ray.init(address=nodes.address, log_to_driver=False, configure_logging=False)
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()


def digits(n=600):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X[:n] / 16, y[:n]


def train(solver, backend=None, **options):
    X, y = digits()
    options = {"tol": TOL, "C": C, "solver": solver} | options
    return mm.train(Multiclass(10), X, y, backend=backend, **options)


@pytest.fixture(scope="module")
def optimum():
    """Of the local run, far more precise than the others."""
    return train("sdm", tol=1e-6)


def check(result, optimum):
    assert result.converged
    assert result.dual <= optimum.primal + 1e-6
    assert result.primal <= optimum.primal + TOL * C * 600


@pytest.mark.parametrize("solver", ["sdm", "one-slack"])
def test_one_actor_gives_the_local_runs_iterates(cluster, solver):
    local, alone = train(solver), train(solver, mm.Ray(num_shards=1))
    np.testing.assert_array_equal(alone.w, local.w)
    assert [r[2:] for r in alone.history] == [r[2:] for r in local.history]


@pytest.mark.parametrize("solver", ["sdm", "one-slack", "n-slack"])
def test_two_nodes_reach_the_optimum(cluster, optimum, solver):
    result = train(solver, mm.Ray(num_shards=2))
    check(result, optimum)
    assert len({worker.pid for worker in result.workers}) == 2
    assert all(worker.busy > 0 for worker in result.workers)


def test_a_worker_that_is_killed_is_replaced(cluster, optimum):
    victims = []

    def kill(record, state):
        if record.iteration == 4:
            victims.append(find_actors()[0])
            os.kill(victims[0], signal.SIGKILL)

    result = train("sdm", mm.Ray(num_shards=2), callbacks=[kill])
    check(result, optimum)
    assert victims
    assert sum(worker.restarts for worker in result.workers) == 1


def test_a_worker_that_is_stopped_is_replaced(cluster, optimum, capfd):
    victims = []

    def stop(record, state):
        if record.iteration == 4:
            victims.append(find_actors()[0])
            os.kill(victims[0], signal.SIGSTOP)

    result = train("sdm", mm.Ray(num_shards=2, silence=1.0), callbacks=[stop])
    check(result, optimum)
    assert victims
    assert sum(worker.restarts for worker in result.workers) == 1
    assert "a worker has not answered" in capfd.readouterr().err


def test_files_are_read_by_the_workers(cluster, optimum, tmp_path):
    from sklearn.datasets import dump_svmlight_file

    X, y = digits()
    for k in range(4):
        path = tmp_path / f"part-{k}.svm"
        dump_svmlight_file(X[k::4], y[k::4], str(path), zero_based=False)
    files = mm.Files(tmp_path / "part-*.svm", cache=tmp_path / "cache")
    clf = mm.MulticlassSVC(C, tol=TOL, solver="sdm", backend=mm.Ray(num_shards=2)).fit(files)
    check(clf.result_, optimum)
    assert len(list((tmp_path / "cache").glob("shard-*"))) == 2
    expected = np.concatenate([y[k::4] for k in range(4)])
    assert (clf.predict(files) == expected).mean() > 0.98


def test_a_bad_file_is_named(cluster, tmp_path):
    path = tmp_path / "part.svm"
    path.write_text("1 1:2\n2 no\n")
    with pytest.raises(mm.DataError, match=r"part\.svm.*2"):
        mm.MulticlassSVC(backend=mm.Ray(num_shards=2)).fit(mm.Files(path, cache=tmp_path))


def test_chains_are_predicted_by_the_workers(cluster):
    X = [[["the"], ["dog"], ["barks"]], [["a"], ["cat"]], [["the"], ["cat"]]]
    Y = [["D", "N", "V"], ["D", "N"], ["D", "N"]]
    clf = mm.ChainSVC(C=10.0, backend=mm.Ray(num_shards=2)).fit(X, Y)
    assert clf.predict(X) == Y


def test_a_node_that_is_removed_is_done_without(cluster, optimum):
    """The last test: one node is gone for good."""
    removed = []

    def remove(record, state):
        if record.iteration == 4:
            node = cluster.list_all_nodes()[-1]
            cluster.remove_node(node, allow_graceful=False)
            removed.append(time.monotonic())

    result = train("sdm", mm.Ray(num_shards=2, patience=5.0), callbacks=[remove])
    check(result, optimum)
    assert removed
    assert sum(worker.restarts for worker in result.workers) >= 1


def find_actors():
    """Processes of our actors that are alive; those of other programs are none of our business."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            ours = b"ray::_Actor" in (process / "cmdline").read_bytes()
            if ours and os.getpid() in ancestors(int(process.name)):
                found.append(int(process.name))
        except OSError:
            continue  # it has ended
    return found


def ancestors(process):
    """The numbers of a process's parent, of its parent, and so on."""
    found = []
    while process > 1:
        status = Path(f"/proc/{process}/status").read_text()
        process = int(status.split("PPid:")[1].split()[0])
        found.append(process)
    return found
