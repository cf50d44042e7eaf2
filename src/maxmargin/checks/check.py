"""``check_problem``: looks for mistakes in a problem, and names the example that shows one.

It calls ``decode`` on some examples at several weights and compares its answer with all known
outputs of the same example: the true output, the answers at other weights and in other modes, and
for plain Python problems the outputs listed by ``outputs(x)`` or else the labels of other
examples.
"""

from __future__ import annotations

import sys
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..data.checked import check_pack
from ..engine.interpreted import Enough, at_most, in_python, is_built_in, is_compiled
from ..engine.python import as_compiled_problem
from ..engine.shard import Shard
from ..errors import DataError, MaxMarginError, ProblemError
from ..problem import MARGIN, MODES, PREDICT, SLACK, CompiledProblem, Pack
from ..training import check_examples, random
from .child import NotSentError, check_in_child
from .probing import (
    PYTHON_CALLS,
    RTOL,
    Example,
    Known,
    Trial,
    calls,
    fingerprint,
    minus,
    naming,
    probe,
    probe_weights,
    vanishes,
    zero_loss,
)
from .several import check_m_best

#: Stop the checks in plain Python after this many lines, less than a second.
LINES = 2_000_000

GOALS = {
    PREDICT: "<w, phi(y) - phi(y_true)>",
    MARGIN: "loss(y) + <w, phi(y) - phi(y_true)>",
    SLACK: "loss(y) * (1 + <w, phi(y) - phi(y_true)>)",
}


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
    arguments = (compiled_problem, X, Y, rescaling, n_examples, n_probes, random_state)
    functions = compiled_problem.functions
    if is_built_in(functions) or not is_compiled(functions):
        return find_mistakes(*arguments)
    name = type(problem).__name__
    _say(f"checking {name} in plain Python, then compiled with checks of all bounds, in another "
         "process; compiling takes some seconds")  # fmt: skip
    check_in_python(*arguments)
    try:
        return check_in_child(*arguments)
    except NotSentError as error:
        _say(f"{name} is checked in this process, without checks of bounds, because it or the "
             f"examples cannot be pickled: {error}")  # fmt: skip
        return find_mistakes(*arguments)


def find_mistakes(
    problem: CompiledProblem,
    X: Any,
    Y: Any,
    rescaling: str | None,
    n_examples: int,
    n_probes: int,
    random_state: Any,
) -> Checked:
    """All checks, with the problem's functions as they are."""
    rng = random(random_state)
    pack, blind = problem.pack(X, Y), problem.pack(X)
    check_pack(pack)
    check_pack(blind)
    check_unpack(problem, pack)
    sample = sorted(rng.permutation(pack.n)[:n_examples].tolist())
    examples = [Example(problem, pack, i) for i in sample]
    modes, refused = accepted_modes(examples[0], rescaling)
    for example in examples:
        examine(example, blind, modes, n_probes, rng)
    shard, w = Shard(problem, pack), probe_weights(examples[0], rng, noise=1)
    for mode in modes[1:]:
        check_training(shard, examples, w, mode)
    if problem.functions.m_best is not None:
        with naming("m_best"):
            check_m_best(shard, np.array(sample), w, modes)
    asked = len(modes) * n_probes
    return Checked(
        examples=len(examples),
        oracle_calls=asked * len(examples),
        comparisons=asked * sum(len(example.known) for example in examples),
        rescalings=tuple(name for name, mode in MODES.items() if mode in modes),
        refused=refused,
    )


def check_in_python(
    problem: CompiledProblem,
    X: Any,
    Y: Any,
    rescaling: str | None,
    n_examples: int,
    n_probes: int,
    random_state: Any,
) -> None:
    """Check compiled functions in plain Python, which says where an index is out of range.

    It ends after LINES lines of Python, and where plain Python fails in a way in which compiled
    code may not.
    """
    rng = copy(random(random_state))
    pack, blind = problem.pack(X, Y), problem.pack(X)
    check_pack(pack)
    check_pack(blind)
    plain = copy(problem)
    plain.functions = in_python(problem.functions)
    try:
        with at_most(LINES), np.errstate(all="ignore"):
            for i in sorted(rng.permutation(pack.n)[:n_examples].tolist()):
                example = Example(plain, pack, i)
                examine(example, blind, accepted_modes(example, rescaling)[0], n_probes, rng)
    except ProblemError as error:
        if error.__cause__ is None or isinstance(error.__cause__, IndexError | OverflowError):
            raise
    except (Enough, NotImplementedError):
        pass


def _say(text: str) -> None:
    print(f"maxmargin: {text}", file=sys.stderr, flush=True)


def examine(example: Example, blind: Pack, modes: list[int], n_probes: int, rng: Any) -> None:
    """All checks of one example; ``blind`` holds the examples without true outputs."""
    trials = probe(example, modes, n_probes, rng)
    check_outputs(example)
    check_differences(example)
    check_blind(example, blind, trials[-1])
    for mode in modes:
        check_mode(example, mode, trials)


def accepted_modes(example: Example, rescaling: str | None) -> tuple[list[int], tuple[str, ...]]:
    """The modes to check, and the names of the rescalings that the problem does not support."""
    if rescaling is not None:
        return [PREDICT, MODES[rescaling]], ()
    modes, refused, reason = [PREDICT], [], ""
    for name, mode in MODES.items():
        try:
            example.decode(np.zeros(example.pack.dim), mode)
            modes.append(mode)
        except (NotImplementedError, MaxMarginError) as error:
            if not isinstance(error.__cause__ or error, NotImplementedError):
                raise
            refused.append(name)
            reason = str(error)
    if len(refused) == len(MODES):
        raise ProblemError(
            f"decode supports neither rescaling, so the problem cannot be trained: {reason}"
        )
    return modes, tuple(refused)


def check_unpack(problem: CompiledProblem, pack: Pack) -> None:
    """``unpack`` returns one output per example."""
    with naming("unpack"):
        n = len(problem.unpack(pack, pack.truth.copy()))
    if n != pack.n:
        raise ProblemError(f"unpack returns {n} outputs for {pack.n} examples")


def check_outputs(example: Example) -> None:
    """Outputs are not changed after they were returned, and their features stay the same."""
    i, t = example.i, example.truth
    for key, known in example.known.items():
        if fingerprint(known.y) != key:
            raise ProblemError(
                f"decode of example {i} returned an output and changed it later, to {known}: "
                "return a new object each time"
            )
        if not vanishes(known.psi, minus(example.delta(t.y, known.y))):
            raise ProblemError(
                f"the features of example {i} with y = {known} differ between calls: they must "
                "depend on x and y only"
            )


def check_differences(example: Example) -> None:
    """Differences of features add up; in a plain Python problem they always do."""
    i, t = example.i, example.truth
    for y, z in pairwise([*example.known.values(), t]):
        if not vanishes(example.delta(y.y, y.y)):
            raise ProblemError(f"delta(y, y) of example {i} is not 0 at y = {y}")
        zy = example.delta(z.y, y.y)
        if not vanishes(zy, example.delta(y.y, z.y)):
            raise ProblemError(
                f"delta(y, z) of example {i} is not -delta(z, y) at y = {y}, z = {z}: delta is "
                "phi(y) - phi(z)"
            )
        if not vanishes(y.psi, minus(z.psi), minus(zy)):
            raise ProblemError(
                f"delta(t, z) + delta(z, y) of example {i} is not delta(t, y) at t = {t}, "
                f"y = {y}, z = {z}: delta is a difference of features"
            )


def check_blind(example: Example, blind: Pack, trial: Trial) -> None:
    """A prediction does not depend on the true outputs."""
    seen, unseen = trial.answers[PREDICT], example.decode(trial.w, PREDICT, blind)
    if example.bound > -np.inf:  # an inexact oracle may find outputs of different values
        return
    if exceeds(seen, unseen, trial.w, PREDICT) or exceeds(unseen, seen, trial.w, PREDICT):
        raise ProblemError(
            f"the prediction of example {example.i} is {seen} if pack was called with Y and "
            f"{unseen} if it was not: a prediction must depend on x and w only"
        )


def check_mode(example: Example, mode: int, trials: list[Trial]) -> None:
    """No known output has a higher value than the answer of ``decode``, or than its upper bound."""
    for trial in trials:
        answer = trial.answers[mode]
        best = max(example.known.values(), key=lambda known: known.value(trial.w, mode)[0])
        if trial.bounds[mode] > -np.inf:
            check_upper_bound(example, mode, trial, best)
            continue
        for rival in (example.truth, trial.answers[PREDICT], best):
            if exceeds(rival, answer, trial.w, mode):
                raise ProblemError(complaint(example, mode, trials, trial, rival))


def check_upper_bound(example: Example, mode: int, trial: Trial, best: Known) -> None:
    """The upper bound of ``decode`` is at least the value of the best known output."""
    bound, (value, size) = trial.bounds[mode], best.value(trial.w, mode)
    if value - bound > RTOL * (size + abs(bound)):
        raise ProblemError(
            f"{example.calls[mode]} of example {example.i} returned the upper bound {bound:.6g}, "
            f"but {best} has value {value:.6g} ({best.origin}; loss {best.loss:g}, |w| = "
            f"{np.linalg.norm(trial.w):.3g}): it must be at least {GOALS[mode]} of every output"
        )


def complaint(example: Example, mode: int, trials: list[Trial], trial: Trial, rival: Known) -> str:
    """The error message: what is wrong, the example, both values, and what decode must do."""
    answer = trial.answers[mode]
    if rival is example.truth:
        origin = "the true output"
    elif rival is trial.answers[PREDICT]:
        origin = "the prediction at the same weights"
    else:
        origin = rival.origin
    return (
        f"{example.calls[mode]} {diagnosis(mode, trials)}: for example {example.i} it returned "
        f"{answer} with value {answer.value(trial.w, mode)[0]:.6g}, but {rival} has value "
        f"{rival.value(trial.w, mode)[0]:.6g} ({origin}; losses {answer.loss:g} and "
        f"{rival.loss:g}, |w| = {np.linalg.norm(trial.w):.3g}). It must maximise {GOALS[mode]}"
        f"{way_out(example) if mode == SLACK else ''}"
    )


def way_out(example: Example) -> str:
    """What to do without an oracle for slack rescaling, which few structures have."""
    place = "decode" if example.calls is PYTHON_CALLS else "work(self, pack, mode)"
    return f"; raise NotImplementedError in {place} if there is no oracle for slack rescaling"


def diagnosis(mode: int, trials: list[Trial]) -> str:
    """The kind of mistake, from the answers at all weights."""

    def always_as(other: int) -> bool:
        return all(trial.answers[mode] is trial.answers.get(other) for trial in trials)

    if mode != PREDICT and always_as(PREDICT):
        return "ignores the loss: it always returns the plain prediction"
    if mode == SLACK and always_as(MARGIN):
        return "ignores the rescaling: it always returns what 'margin' does"
    return "does not return the best output"


def check_training(shard: Shard, examples: list[Example], w: np.ndarray, mode: int) -> None:
    """A training pass computes the same values as single calls, and 0 for all true outputs."""
    labels = shard.new_labels()
    call = calls(shard.pack)[mode]
    with naming(f"a training pass with {call}"):
        shard.oracle(w, mode, labels, np.array([example.i for example in examples]))
        values = collect_values(shard, w, mode, labels)
    for example in examples:
        alone, size = example.decode(w, mode).value(w, mode)
        if example.bound > -np.inf:  # it may start from what an earlier call has left
            alone = values[example.i]
        if abs(values[example.i] - max(alone, 0.0)) > RTOL * size:
            raise ProblemError(
                f"{call} of example {example.i} has the value {alone:.6g} in a single call "
                f"and {values[example.i]:.6g} in a training pass, at the same weights: it must "
                "depend on its arguments only"
            )
        values[example.i] = 0.0
    if values.any():
        i = int(np.flatnonzero(values)[0])
        raise ProblemError(
            f"the loss of example {i} is {values[i]:g} at its true output: {zero_loss(shard.pack)}"
        )


def collect_values(shard: Shard, w: np.ndarray, mode: int, labels: np.ndarray) -> np.ndarray:
    """The values of all examples; if the pass fails, a ProblemError that names the example."""
    try:
        return shard.collect(w, mode, labels)[2]
    except IndexError:
        for i in range(shard.n):
            with naming(f"loss or delta of example {i}"):
                shard.collect(w, mode, labels, np.array([i]))
        raise


def exceeds(rival: Known, answer: Known, w: np.ndarray, mode: int) -> bool:
    """Whether the value of the rival is higher by more than rounding errors."""
    (high, size), (low, other) = rival.value(w, mode), answer.value(w, mode)
    return high - low > RTOL * (size + other)
