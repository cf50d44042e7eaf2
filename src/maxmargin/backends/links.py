"""Connections between workers, over which they add up vectors without the driver.

Workers form a binary tree: worker k is connected with its parent (k - 1) // 2 and with its children
2 k + 1 and 2 k + 2. A sum of short vectors goes up the tree and comes down again, always in the
same order, so that all workers have the same sum, and it is the same in every run. A call of an
actor takes more than a millisecond, however short it is; a sum takes a tenth of one on one machine.
If there are many workers, their changes of w are added up in the lower part of the tree, so that
the driver receives few.

The driver tells the workers each other's addresses and a random token, without which a connection
is not accepted. If a worker is lost, its connections close; whoever waits for it closes its own, so
that no worker waits longer.
"""

from __future__ import annotations

import hmac
import socket
import time
from collections.abc import Sequence

import numpy as np

from ..engine.exchange import merge_changes
from ..engine.vectors import Vector
from ..errors import MaxMarginError

#: Seconds to wait for another worker to connect, and then for its first words.
PATIENCE, HELLO = 20.0, 2.0

#: Bytes of the token, and of the number of a worker that follows it.
TOKEN, NUMBER = 16, 4

#: The first workers, in the upper two levels of the tree, send changes of w to the driver; the
#: others send them to their parents, where lists of two workers are merged ten times faster than
#: the driver adds up many. Over 16 shards 3, 7 and 15 need the same number of passes.
HEADS = 3

Address = tuple[str, int]


class LinkLost(MaxMarginError):
    """A connection to another worker is closed: it was lost, or training ends."""


class Links:
    """The connections of one worker.

    Parameters
    ----------
    host : str
        An address of this machine that the other workers can reach.
    """

    def __init__(self, host: str):
        self.listener = socket.create_server((host, 0), backlog=2)
        self.address: Address = self.listener.getsockname()[:2]
        self.up: socket.socket | None = None
        self.down: list[socket.socket] = []
        self.room = np.empty(0, np.float32)

    def reach(self, k: int, addresses: Sequence[Address], token: bytes) -> None:
        """Connect to the parent of worker k, which need not have begun to wait."""
        if k > 0:
            self.up = socket.create_connection(addresses[(k - 1) // 2], timeout=PATIENCE)
            self.up.sendall(token + k.to_bytes(NUMBER, "big"))
            _prepare(self.up)

    def meet(self, k: int, K: int, token: bytes) -> None:
        """Wait for the connections of the children of worker k of K."""
        children = [child for child in (2 * k + 1, 2 * k + 2) if child < K]
        known: dict[int, socket.socket] = {}
        end = time.monotonic() + PATIENCE
        while len(known) < len(children):
            self.listener.settimeout(max(end - time.monotonic(), 1e-3))
            link, _ = self.listener.accept()
            link.settimeout(HELLO)
            child = _child(link, token)
            if child in children and child not in known:
                known[child] = link
                _prepare(link)
            else:  # somebody else
                link.close()
        self.down = [known[child] for child in children]
        self.listener.close()

    def add_up(self, values: np.ndarray) -> None:
        """Replace ``values`` (float32) by the sum of those of all workers."""
        if len(self.room) != len(values):
            self.room = np.empty_like(values)
        try:
            for link in self.down:
                _receive(link, self.room)
                values += self.room
            if self.up is not None:
                self.up.sendall(values.data)
                _receive(self.up, values)
            for link in self.down:
                link.sendall(values.data)
        except OSError as error:
            self.close()
            raise LinkLost("the connection to another worker was closed") from error

    def fold_up(self, k: int, change: Vector, sums: np.ndarray) -> tuple[Vector, np.ndarray]:
        """Add the changes of w, and some numbers, of the workers below k that are no heads.

        What a worker has sent to its parent is nothing here: zeros, and a change without places.
        """
        try:
            for child, link in enumerate(self.down, 2 * k + 1):
                if child >= HEADS:
                    change, sums = _receive_change(link, change, sums)
            if k >= HEADS:
                assert self.up is not None
                where, value = change.listed()
                for part in (np.array([len(where)]), where, value, sums):
                    self.up.sendall(part.data.cast("B"))
                return Vector(where[:0], value[:0]), np.zeros_like(sums)
        except OSError as error:
            self.close()
            raise LinkLost("the connection to another worker was closed") from error
        return change, sums

    def close(self) -> None:
        """Close all connections, also while another thread waits at one of them."""
        for link in (self.up, *self.down, self.listener):
            if link is not None:
                try:
                    link.shutdown(socket.SHUT_RDWR)  # wakes a thread that waits
                except OSError:
                    pass  # not connected
                link.close()


def head_of(k: int) -> int:
    """The worker whose change of w includes that of worker k."""
    while k >= HEADS:
        k = (k - 1) // 2
    return k


def _receive_change(
    link: socket.socket, change: Vector, sums: np.ndarray
) -> tuple[Vector, np.ndarray]:
    """Add the change and the numbers that another worker sends."""
    where, value = change.listed()
    count, more = np.empty(1, np.int64), np.empty_like(sums)
    _receive(link, count)
    other_where, other_value = np.empty(count[0], where.dtype), np.empty(count[0])
    for part in (other_where, other_value, more):
        _receive(link, part)
    room = len(where) + len(other_where)
    both, total = np.empty(room, where.dtype), np.empty(room)
    n = merge_changes(where, value, other_where, other_value, both, total)
    return Vector(both[:n], total[:n]), sums + more


def _prepare(link: socket.socket) -> None:
    """Send at once, and wait without a limit: the driver notices workers that do not answer."""
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.settimeout(None)


def _child(link: socket.socket, token: bytes) -> int:
    """The number of the worker that has connected; -1 if it is none of ours."""
    hello = np.empty(TOKEN + NUMBER, np.uint8)
    try:
        _receive(link, hello)
    except OSError:
        return -1
    said = hello.tobytes()
    right = hmac.compare_digest(said[:TOKEN], token)
    return int.from_bytes(said[TOKEN:], "big") if right else -1


def _receive(link: socket.socket, values: np.ndarray) -> None:
    """Fill an array with what the other end sends."""
    view = values.data.cast("B")
    while len(view):
        count = link.recv_into(view)
        if count == 0:
            raise ConnectionError("the other end has closed the connection")
        view = view[count:]
