"""Connections between workers: sums over a tree, strangers, and lost workers."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import numpy as np
import pytest

from maxmargin.backends import links as module
from maxmargin.backends.links import HEADS, NUMBER, TOKEN, LinkLost, Links, head_of
from maxmargin.engine.vectors import Vector

HOST, SECRET = "127.0.0.1", bytes(range(TOKEN))


@pytest.fixture
def connect():
    """Connected workers, whose connections are closed at the end."""
    made: list[Links] = []

    def build(K):
        made.extend(Links(HOST) for _ in range(K))
        addresses = [one.address for one in made]
        for k, one in enumerate(made):
            one.reach(k, addresses, SECRET)
        for k, one in enumerate(made):
            one.meet(k, K, SECRET)
        return made

    yield build
    for one in made:
        one.close()


@pytest.mark.parametrize("K", [1, 2, 3, 4, 7, 12])
def test_all_workers_get_the_same_sum_in_every_run(connect, K):
    """Several sums, of vectors that do not fit into the buffers of a connection."""
    workers, random = connect(K), np.random.RandomState(K)
    for size in (3, 1_000_000, 0, 20_002):
        values = random.randn(K, size).astype(np.float32)
        sums = []
        for _ in range(2):
            own = values.copy()
            with ThreadPoolExecutor(K) as threads:
                list(threads.map(lambda k, own=own: workers[k].add_up(own[k]), range(K)))
            sums.append(own)
        assert (sums[0] == sums[0][0]).all()
        assert (sums[0] == sums[1]).all()
        expected = values.sum(axis=0, dtype=np.float64)
        np.testing.assert_allclose(sums[0][0], expected, atol=1e-4)


def test_who_waits_for_a_lost_worker_is_told(connect):
    """Also workers that are not connected with it."""
    workers = connect(5)
    with ThreadPoolExecutor(5) as threads:
        waiting = [threads.submit(workers[k].add_up, np.zeros(4, np.float32)) for k in range(4)]
        workers[4].close()  # a child of worker 1
        for call in waiting:
            with pytest.raises(LinkLost):
                call.result(timeout=30)


def test_a_worker_that_waits_can_be_told_to_stop(connect):
    """Its own connections are closed by another thread."""
    workers = connect(2)
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(workers[0].add_up, np.zeros(4, np.float32))
        workers[0].close()
        with pytest.raises(LinkLost):
            call.result(timeout=30)


@pytest.fixture
def pair():
    """A parent and its child, which has connected; the parent has not yet looked."""
    parent, child = Links(HOST), Links(HOST)

    def connect_child():
        child.reach(1, [parent.address, child.address], SECRET)
        parent.meet(0, 2, SECRET)
        assert len(parent.down) == 1

    yield parent, connect_child
    parent.close()
    child.close()


@pytest.mark.parametrize(
    "hello", [b"", b"GET / HTTP/1.1\r\n\r\n12345", bytes(TOKEN) + (1).to_bytes(NUMBER, "big"),
              SECRET + (7).to_bytes(NUMBER, "big")]
)  # fmt: skip
def test_strangers_are_not_accepted(pair, hello):
    """Neither without the token nor with the number of a worker that is no child."""
    parent, connect_child = pair
    with socket.create_connection(parent.address) as stranger:
        stranger.sendall(hello)
        stranger.shutdown(socket.SHUT_WR)
        connect_child()
        with suppress(ConnectionResetError):  # if not all of its words were read
            assert stranger.recv(1) == b""  # closed


def test_a_stranger_that_says_nothing_does_not_block_others(pair, monkeypatch):
    """The parent waits for its words only for a while."""
    monkeypatch.setattr(module, "HELLO", 0.05)
    parent, connect_child = pair
    with socket.create_connection(parent.address) as stranger:
        connect_child()
        assert stranger.recv(1) == b""  # closed


def test_waiting_for_a_worker_ends(monkeypatch):
    """A firewall between two machines must not block training."""
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    parent = Links(HOST)
    try:
        with pytest.raises(OSError):
            parent.meet(0, 2, SECRET)
    finally:
        parent.close()


@pytest.mark.parametrize("K", [1, HEADS, HEADS + 1, 16, 40])
def test_the_first_workers_hold_the_changes_of_all(connect, K):
    """Each of the others has sent its change up; sums of changes and numbers are the same."""
    workers, random = connect(K), np.random.RandomState(K)
    dense = np.where(random.rand(K, 50) < 0.3, random.randn(K, 50), 0.0)
    numbers = random.rand(K, 2)

    def fold(k):
        return workers[k].fold_up(k, Vector.of(dense[k]), numbers[k])

    with ThreadPoolExecutor(K) as threads:
        folded = list(threads.map(fold, range(K)))
    groups = np.array([head_of(k) for k in range(K)])
    for k, (change, sums) in enumerate(folded):
        mine = groups == k
        np.testing.assert_allclose(change.dense(50), dense[mine].sum(axis=0), atol=1e-12)
        np.testing.assert_allclose(sums, numbers[mine].sum(axis=0), atol=1e-12)
        assert mine.any() == (k < HEADS)


def test_a_worker_that_is_lost_before_it_sends_its_change_is_noticed(connect):
    """By the worker above it."""
    workers = connect(40)
    workers[39].close()
    with pytest.raises(LinkLost):
        workers[19].fold_up(19, Vector.zero(), np.zeros(2))
