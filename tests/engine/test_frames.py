"""The way of an example: few Python frames between ``fit`` and the compiled step."""

from __future__ import annotations

import sys

import numpy as np

import maxmargin as mm
from maxmargin.engine import shard_work
from maxmargin.engine.shard import Shard

#: More than these are too many to read from top to bottom in one sitting.
MOST = 10


def test_ten_frames_from_fit_to_the_compiled_step(monkeypatch):
    names = []
    bind = shard_work.bind

    def watched(*args):
        loops = bind(*args)

        def ascend(*arguments):
            frame = sys._getframe(1)
            while frame is not None:
                names.append(frame.f_code.co_qualname)
                if names[-1].endswith("SVC.fit"):
                    break
                frame = frame.f_back
            raise KeyboardInterrupt  # once is enough

        return loops._replace(ascend=ascend)

    monkeypatch.setattr(shard_work, "bind", watched)
    random = np.random.default_rng(0)
    X = [random.normal(size=(4, 3)) for _ in range(5)]
    Y = [random.integers(0, 2, 4).tolist() for _ in range(5)]
    monkeypatch.setattr(Shard, "warm_up", lambda *_: 0.0)
    try:
        mm.ChainSVC(solver="sdm").fit(X, Y)
    except KeyboardInterrupt:
        pass
    assert names[-1] == "ChainSVC.fit"
    assert len(names) <= MOST, names
