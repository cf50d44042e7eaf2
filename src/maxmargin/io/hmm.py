"""Tagged sequences in the format of SVM-HMM.

Each token is one line, ``tag qid:sequence index:value ... # word``. The lines of a sequence are
consecutive and have the same ``qid``, which increases from sequence to sequence. Tags are integers
>= 1. The lines have the format of svm_light and are read by ``svmlight``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..data.sequences import Sequences, check_finite, stack_sequences
from ..errors import DataError
from .sources import display_name
from .svmlight import Examples, read_examples

#: The largest allowed tag. It limits memory: every number up to the largest tag gets weights.
MAX_TAG = 2**31 - 1


def read_hmm(
    path: Any, n_features: int | None = None, *, unknown: bool = False
) -> tuple[Sequences, list[list[int]]]:
    """Read sequences and their tags from a file in the format of SVM-HMM.

    Parameters
    ----------
    path : str, path or binary file object
        ``"-"`` is standard input. Gzip is recognised by content, whatever the name.
    n_features : int, optional
        Number of columns of X. Features with larger indices, which a model has not seen in
        training, are dropped. By default the largest index in the file.
    unknown : bool
        Accept the tag 0, which means "not known" in files to be tagged.

    Returns
    -------
    X : Sequences
        Column j holds the feature with index j + 1.
    Y : list of list of int
        The tags of each sequence.

    Raises
    ------
    DataError
        If the file cannot be read, a line is wrong, a tag is not an integer or too small, or
        ``qid`` decreases; the message names file and line. Lines without ``qid`` belong to
        ``qid:0``.
    """
    name = display_name(path)
    examples = read_examples(path, n_features, drop_unseen=n_features is not None)
    tags = integer_labels(examples, name, "tag", lowest=0 if unknown else 1)
    offsets = _offsets(examples, name)
    flat = tags.tolist()
    bounds = offsets.tolist()
    Y = [flat[a:b] for a, b in pairwise(bounds)]
    return Sequences(examples.X, offsets), Y


def _offsets(examples: Examples, name: str) -> np.ndarray:
    """The first token of each sequence, followed by the number of tokens."""
    total = len(examples.y)
    if examples.qid is None:
        return np.array([0, total])
    # Compare instead of subtracting: the difference of two large qid would overflow.
    before, after = examples.qid[:-1], examples.qid[1:]
    back = np.flatnonzero(after < before)
    if back.size:
        i = int(back[0])
        raise DataError(
            f"qid:{after[i]} comes after qid:{before[i]}: number the sequences in the order of "
            "the file, and keep the lines of each together",
            path=name,
            line=int(examples.line[i + 1]),
        )
    return np.concatenate([[0], np.flatnonzero(after != before) + 1, [total]])


def integer_labels(examples: Examples, name: str, what: str, lowest: int) -> np.ndarray:
    """The targets as int64, after checking that they are integers from ``lowest`` to `MAX_TAG`.

    Parameters
    ----------
    examples : Examples
    name : str
        Name of the file in error messages.
    what : str
        Word for a target in error messages.
    lowest : int
        The smallest allowed target.
    """
    y = examples.y
    if y.dtype.kind == "i":
        bad = np.flatnonzero((y < lowest) | (y > MAX_TAG))
        if not bad.size:
            return y
        reason = f"is below {lowest}" if y[bad[0]] < lowest else f"is above {MAX_TAG}"
    else:
        bad = np.array([i for i, target in enumerate(y.tolist()) if not _is_integer(target)])
        bad = bad if bad.size else np.array([np.argmax(np.abs(y.astype(float)))])
        reason = "is not an integer, or too large"
    i = int(bad[0])
    raise DataError(
        f"the {what} {y[i].item()!r} {reason}: number them from 1 on",
        path=name,
        line=int(examples.line[i]),
    )


def _is_integer(target: Any) -> bool:
    try:
        return float(target).is_integer() and "_" not in str(target)
    except ValueError:
        return False


def hmm_lines(
    X: Any, Y: Iterable[Iterable[int]], words: Iterable[Iterable[str]] | None = None
) -> Iterator[str]:
    """The lines of a file in the format of SVM-HMM, without line ends.

    Parameters
    ----------
    X : Sequences, or list of matrices (L_i, d)
        Dense or sparse; column j becomes the feature with index j + 1, and zeros are left out.
    Y : sequences of int
        The tags of each sequence, >= 1, or 0 if not known.
    words : sequences of str, optional
        The word of each token, written as a comment at the end of its line.

    Examples
    --------
    >>> import numpy as np
    >>> for line in hmm_lines([np.array([[0, 1.5], [1, 0]])], [[2, 1]], [["a", "dog"]]):
    ...     print(line)
    2 qid:1 2:1.5 # a
    1 qid:1 1:1 # dog
    """
    from scipy.sparse import csr_matrix  # slow to import, so only when lines are written

    sequences = stack_sequences(X)
    check_finite(sequences)
    matrix = csr_matrix(sequences.matrix, dtype=np.float64).sorted_indices()
    tags = _tokens(Y, sequences, "Y", "tags")
    comments = None if words is None else _tokens(words, sequences, "words", "words")
    indices, values = (matrix.indices + 1).tolist(), matrix.data.tolist()
    bounds = matrix.indptr.tolist()
    number = np.repeat(np.arange(1, len(sequences) + 1), sequences.lengths).tolist()
    for t, tag in enumerate(tags):
        row = slice(bounds[t], bounds[t + 1])
        features = zip(indices[row], values[row], strict=True)
        parts = [_tag_text(tag), f"qid:{number[t]}"]
        parts += [f"{j}:{_number_text(value)}" for j, value in features if value != 0]
        if comments is not None:
            parts.append(f"# {_comment(comments[t])}")
        yield " ".join(parts)


def _tokens(rows: Iterable[Iterable[Any]], sequences: Sequences, name: str, what: str) -> list[Any]:
    """The tags or words of all sequences, one after the other."""
    nested = [list(row) for row in rows]
    lengths = [len(row) for row in nested]
    expected = sequences.lengths.tolist()
    if len(lengths) != len(expected):
        raise DataError(f"X has {len(expected)} sequences and {name} has {len(lengths)}")
    for i, (found, length) in enumerate(zip(lengths, expected, strict=True)):
        if found != length:
            raise DataError(f"sequence {i} has {length} tokens and {found} {what}")
    return [item for row in nested for item in row]


def _tag_text(tag: Any) -> str:
    if isinstance(tag, bool | np.bool_) or not isinstance(tag, int | np.integer) or tag < 0:
        raise DataError(f"the tag {tag!r} is not an integer >= 0: number the tags from 1 on")
    return str(int(tag))


def _number_text(value: float) -> str:
    """The shortest string that is read back as the same number."""
    return repr(value).removesuffix(".0")


def _comment(word: str) -> str:
    if "\n" in word:
        raise DataError(f"the word {word!r} contains a line end: remove it")
    return word
