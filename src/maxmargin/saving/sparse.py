"""Weights and names as arrays of a model file.

Most weights of a tagger are zero, so only the others are stored, with their positions. A file must
not make the reader allocate much more memory than it has bytes: every 256th weight is stored even
if it is zero, and a file with larger distances between positions is not read.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

#: The largest distance of two stored weights.
_SPAN = 256

#: If the fraction of non-zeros is larger, positions would take more space than the zeros.
_DENSE = 2 / 3

#: Larger weights are not read. Their products with features, up to 1e100, must not overflow.
LARGEST = 1e150

WEIGHTS, PLACES, NAMES = "weights", "weights.at", "names"


def finite(arrays: dict[str, np.ndarray], key: str, ndim: int | None = None) -> np.ndarray:
    """The array of this name as float64, with all numbers finite and at most LARGEST in size.

    A ValueError is raised otherwise, or if it does not have ``ndim`` dimensions.
    """
    array = arrays[key]
    if array.dtype.kind != "f" or ndim not in (None, array.ndim):
        raise ValueError(f"{key} is an array of {array.dtype} of shape {array.shape}")
    array = np.asarray(array, np.float64)
    if array.size and not (array.min() >= -LARGEST and array.max() <= LARGEST):  # NaN fails both
        raise ValueError(f"{key} has numbers that are not finite, or beyond {LARGEST:.0e}")
    return array


def encode_weights(w: np.ndarray, arrays: dict[str, np.ndarray]) -> None:
    """Store the weights that are not zero with their positions, or all weights."""
    keep = w.view(np.uint64) != 0  # compares bits, so that -0.0 is stored
    if np.count_nonzero(keep) > _DENSE * len(w):
        arrays[WEIGHTS] = w
        return
    keep[::_SPAN] = True
    at = np.flatnonzero(keep)
    arrays[WEIGHTS] = w[at]
    arrays[PLACES] = at.astype(np.uint32 if len(w) < 2**32 else np.uint64)


def dense_size(arrays: dict[str, np.ndarray]) -> int:
    """An upper bound of the number of weights, if only some of them are stored; otherwise 0."""
    at = arrays.get(PLACES)
    if at is None or at.dtype.kind != "u" or at.size == 0:
        return 0
    return int(at.ravel()[-1]) + _SPAN


def decode_weights(arrays: dict[str, np.ndarray], size: int) -> np.ndarray:
    """All weights."""
    values = finite(arrays, WEIGHTS, ndim=1)
    if PLACES not in arrays:
        if len(values) != size:
            raise ValueError(f"there are {len(values)} weights instead of {size}")
        return values
    at = arrays[PLACES]
    if at.shape != values.shape or at.dtype.kind != "u":
        raise ValueError("weights are missing")
    ends = np.concatenate([[-1], at.astype(np.int64), [size]])
    steps = np.diff(ends)
    if steps.min() < 1 or steps[0] > 1 or steps[1:].max(initial=0) > _SPAN:
        raise ValueError("the positions of weights are wrong")
    w = np.zeros(size)
    w[at] = values
    return w


def encode_names(names: list[str], arrays: dict[str, np.ndarray], key: str = NAMES) -> None:
    """Store all names concatenated in UTF-8, and the number of characters of each."""
    text = "".join(names)
    # A Python str may contain single surrogates, which strict UTF-8 does not encode.
    arrays[key] = np.frombuffer(text.encode("utf-8", "surrogatepass"), np.uint8)
    arrays[f"{key}.lengths"] = np.fromiter(map(len, names), np.uint32, len(names))


def decode_names(arrays: dict[str, np.ndarray], key: str = NAMES) -> list[str]:
    """The names that `encode_names` stored."""
    content, lengths = arrays[key], arrays[f"{key}.lengths"]
    flat = content.ndim == lengths.ndim == 1
    if content.dtype != np.uint8 or lengths.dtype.kind != "u" or not flat:
        raise ValueError("the names of features are not stored as UTF-8 bytes and lengths")
    text = content.tobytes().decode("utf-8", "surrogatepass")
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.uint64)]).astype(np.int64).tolist()
    if ends[-1] != len(text):
        raise ValueError("the names of features do not have the stored lengths")
    return [text[a:b] for a, b in pairwise(ends)]
