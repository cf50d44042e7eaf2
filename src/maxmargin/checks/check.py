"""``check_problem``: looks for mistakes in a problem, and names the example that shows one.

It calls ``decode`` on some examples at several weights and compares its answer with all known
outputs of the same example: the true output, the answers at other weights and in other modes, and
for plain Python problems the outputs listed by ``outputs(x)`` or else the labels of other
examples.
"""

from __future__ import annotations

import sys
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import check_pack
from ..engine.interpreted import Enough, at_most, in_python, is_built_in, is_compiled
from ..engine.python import as_compiled_problem
from ..engine.shard import Shard
from ..errors import DataError, ProblemError
from ..problem import MODES, CompiledProblem, Pack
from ..training import check_examples, random
from .child import NotSentError, check_in_child
from .probing import Example, naming, probe_weights
from .rules import accepted_modes, check_training, check_unpack, examine
from .several import check_m_best

#: Stop the checks in plain Python after this many lines, less than a second.
LINES = 2_000_000


class Checked(NamedTuple):
    """What ``check_problem`` has tested without finding a mistake."""

    examples: int
    oracle_calls: int
    comparisons: int
    rescalings: tuple[str, ...]
    refused: tuple[str, ...]

    def __repr__(self) -> str:
        refused = "".join(f", {name} is not supported" for name in self.refused)
        return (
            f"Checked: no mistake found in {self.examples} examples, {self.oracle_calls:,} oracle "
            f"calls and {self.comparisons:,} comparisons with known outputs "
            f"({' and '.join(self.rescalings)} rescaling{refused})"
        )


class Request(NamedTuple):
    """A problem and the parameters of ``check_problem``."""

    problem: CompiledProblem
    X: Any
    Y: Any
    rescaling: str | None = None
    n_examples: int = 20
    n_probes: int = 14
    random_state: Any = 0

    def packs(self) -> tuple[Pack, Pack]:
        """The packed examples with and without their true outputs."""
        packs = self.problem.pack(self.X, self.Y), self.problem.pack(self.X)
        for pack in packs:
            check_pack(pack)
        return packs

    def sample(self, n: int, rng: Any) -> list[int]:
        """The examples to check, of n."""
        return sorted(rng.permutation(n)[: self.n_examples].tolist())


def check_problem(
    problem: Any,
    X: Any,
    Y: Any,
    *,
    rescaling: str | None = None,
    n_examples: int = 20,
    n_probes: int = 14,
    random_state: Any = 0,
) -> Checked:
    """Look for mistakes in a problem; raise a ProblemError that explains the first one found.

    Compiled functions are called in plain Python first, and then compiled with checks of all
    bounds, in a child process: if they crash, the message names the example and the function.

    A plain Python problem may have a method ``outputs(x)`` that returns an iterable of possible
    outputs of x, all or some of them: ``decode`` is then compared with each.

    Parameters
    ----------
    problem : Problem or CompiledProblem
        The structure to check.
    X, Y : sequences
        Inputs and true outputs.
    rescaling : {"margin", "slack"}, optional
        The rescaling to check; by default each that the problem supports.
    n_examples : int
        Number of examples to check, chosen at random.
    n_probes : int
        Number of weight vectors to try on each example.
    random_state : int or RandomState
        Seed of the choice of examples and weight vectors.

    Returns
    -------
    Checked
        What was tested.

    Examples
    --------
    >>> import numpy as np, maxmargin as mm
    >>> class Sign(mm.Problem):
    ...     def features(self, x, y):
    ...         return 0.5 * y * x
    ...     def loss(self, y_true, y):
    ...         return float(y != y_true)
    ...     def decode(self, x, w, y_true=None, rescaling="margin"):
    ...         return 1 if w @ x > 0 else -1
    >>> X, Y = np.array([[1.0, 2.0], [-1.0, 0.5]]), [1, -1]
    >>> mm.check_problem(Sign(), X, Y)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    maxmargin.errors.ProblemError: decode(x, w, y_true, 'margin') ignores the loss: ...
    """
    if rescaling is not None and rescaling not in MODES:
        raise DataError(f"rescaling is 'margin', 'slack' or None, got {rescaling!r}")
    if n_examples < 1 or n_probes < 1:
        raise DataError(f"n_examples and n_probes are >= 1, got {n_examples} and {n_probes}")
    compiled_problem = as_compiled_problem(problem)
    check_examples(X, Y, None)
    request = Request(compiled_problem, X, Y, rescaling, n_examples, n_probes, random_state)
    functions = compiled_problem.functions
    if is_built_in(functions) or not is_compiled(functions):
        return find_mistakes(request)
    name = type(problem).__name__
    _say(f"checking {name} in plain Python, then compiled with checks of all bounds, in another "
         "process; compiling takes some seconds")  # fmt: skip
    check_in_python(request)
    try:
        return check_in_child(request)
    except NotSentError as error:
        _say(f"{name} is checked in this process, without checks of bounds, because it or the "
             f"examples cannot be pickled: {error}")  # fmt: skip
        return find_mistakes(request)


def find_mistakes(request: Request) -> Checked:
    """All checks, with the problem's functions as they are."""
    problem, rng = request.problem, random(request.random_state)
    pack, blind = request.packs()
    check_unpack(problem, pack)
    sample = request.sample(pack.n, rng)
    examples = [Example(problem, pack, i) for i in sample]
    modes, refused = accepted_modes(examples[0], request.rescaling)
    for example in examples:
        examine(example, blind, modes, request.n_probes, rng)
    shard, w = Shard(problem, pack), probe_weights(examples[0], rng, noise=1)
    for mode in modes[1:]:
        check_training(shard, examples, w, mode)
    if problem.functions.m_best is not None:
        with naming("m_best"):
            check_m_best(shard, np.array(sample), w, modes)
    asked = len(modes) * request.n_probes
    return Checked(
        examples=len(examples),
        oracle_calls=asked * len(examples),
        comparisons=asked * sum(len(example.known) for example in examples),
        rescalings=tuple(name for name, mode in MODES.items() if mode in modes),
        refused=refused,
    )


def check_in_python(request: Request) -> None:
    """Check compiled functions in plain Python, which says where an index is out of range.

    It ends after LINES lines of Python, and where plain Python fails in a way in which compiled
    code may not.
    """
    rng = copy(random(request.random_state))
    pack, blind = request.packs()
    plain = copy(request.problem)
    plain.functions = in_python(plain.functions)
    try:
        with at_most(LINES), np.errstate(all="ignore"):
            for i in request.sample(pack.n, rng):
                example = Example(plain, pack, i)
                modes, _ = accepted_modes(example, request.rescaling)
                examine(example, blind, modes, request.n_probes, rng)
    except ProblemError as error:
        if error.__cause__ is None or isinstance(error.__cause__, IndexError | OverflowError):
            raise
    except (Enough, NotImplementedError):
        pass


def _say(text: str) -> None:
    print(f"maxmargin: {text}", file=sys.stderr, flush=True)
