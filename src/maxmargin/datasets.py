"""Small data sets for the demo, the documentation and the tests; nothing is downloaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from .data.sentences import make_conll, make_trees, write_conll

__all__ = [
    "KEYPAD",
    "load_digits_split",
    "make_codes",
    "make_conll",
    "make_multiclass",
    "make_trees",
    "write_conll",
]

#: Rows of keys on a telephone.
_KEYS = ("123", "456", "789", " 0")

#: The first images of scikit-learn's digits are for training codes, the others for test codes.
_TRAINING_IMAGES = 1000


def _neighbours() -> dict[int, tuple[int, ...]]:
    place = {
        int(key): (r, c) for r, row in enumerate(_KEYS) for c, key in enumerate(row) if key != " "
    }
    return {
        key: tuple(
            other for other, (r, c) in sorted(place.items()) if abs(r - row) + abs(c - column) == 1
        )
        for key, (row, column) in sorted(place.items())
    }


#: The keys above, below, left and right of each key on a telephone.
KEYPAD: dict[int, tuple[int, ...]] = _neighbours()


def load_digits_split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scikit-learn's 1797 handwritten digits, scaled to [0, 1], in a fixed stratified split.

    Returns
    -------
    X_train, X_test : float64 arrays (1347, 64) and (450, 64)
        Pixels of each digit, from 0 (white) to 1 (black).
    y_train, y_test : int64 arrays
        The digits 0 to 9.

    Examples
    --------
    >>> X_train, X_test, y_train, y_test = load_digits_split()
    >>> X_train.shape, X_test.shape
    ((1347, 64), (450, 64))
    """
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    X, y = load_digits(return_X_y=True)
    split: Any = train_test_split(X / 16, y, test_size=450, random_state=0, stratify=y)
    X_train, X_test, y_train, y_test = split
    return X_train, X_test, y_train, y_test


def make_codes(
    n_train: int = 300, n_test: int = 500, length: int = 8, seed: int = 0
) -> tuple[list[np.ndarray], list[np.ndarray], list[list[int]], list[list[int]]]:
    """Codes of handwritten digits, in which each digit is next to the one before on a keypad.

    Each digit is above, below, left or right of the one before on the keypad of a telephone (see
    ``KEYPAD``), so 2 is followed by 1, 3 or 5. Each digit is an image of 8 x 8 pixels from
    scikit-learn's 1797 handwritten digits. Training codes use the first 1000 images and test codes
    the other 797; an image may occur in several codes.

    Parameters
    ----------
    n_train, n_test : int
        Number of codes.
    length : int
        Number of digits per code.
    seed : int
        Seed of the random number generator.

    Returns
    -------
    X_train, X_test : lists of float64 arrays (length, 64)
        Pixels of each digit, from 0 (white) to 1 (black).
    Y_train, Y_test : lists of lists of int
        The digits.

    Examples
    --------
    >>> X_train, X_test, Y_train, Y_test = make_codes()
    >>> len(X_train), len(X_test), X_train[0].shape
    (300, 500, (8, 64))
    >>> all(b in KEYPAD[a] for code in Y_train for a, b in zip(code, code[1:]))
    True
    """
    from sklearn.datasets import load_digits

    found: Any = load_digits(return_X_y=True)  # its type also allows data frames
    images, digits = found[0] / 16, found[1]
    random = np.random.default_rng(seed)
    cut = _TRAINING_IMAGES
    X_train, Y_train = _draw_codes(images[:cut], digits[:cut], n_train, length, random)
    X_test, Y_test = _draw_codes(images[cut:], digits[cut:], n_test, length, random)
    return X_train, X_test, Y_train, Y_test


def _draw_codes(
    images: np.ndarray, digits: np.ndarray, n: int, length: int, random: np.random.Generator
) -> tuple[list[np.ndarray], list[list[int]]]:
    """n random codes, with an image of each digit."""
    of_digit = [np.flatnonzero(digits == digit) for digit in range(10)]
    X, Y = [], []
    for _ in range(n):
        code = [int(random.integers(10))]
        while len(code) < length:
            code.append(int(random.choice(KEYPAD[code[-1]])))
        X.append(images[[random.choice(of_digit[digit]) for digit in code]])
        Y.append(code)
    return X, Y


def make_multiclass(
    n: int = 200, d: int = 10, k: int = 3, noise: float = 0.1, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points labelled by the largest of ``k`` random linear functions.

    Parameters
    ----------
    n, d, k : int
        Numbers of examples, features and classes; n >= k, and every class occurs.
    noise : float
        Fraction of the labels that are drawn at random instead.
    seed : int
        Seed of the random number generator.

    Returns
    -------
    X : float64 array (n, d)
        The points.
    y : int64 array (n,)
        Labels 0 to k - 1.

    Examples
    --------
    >>> X, y = make_multiclass(50, 4, 3)
    >>> X.shape, sorted(set(y.tolist()))
    ((50, 4), [0, 1, 2])
    """
    random = np.random.default_rng(seed)
    X = random.standard_normal((n, d))
    y = (X @ random.standard_normal((d, k))).argmax(axis=1)
    flip = random.random(n) < noise
    y[flip] = random.integers(k, size=int(flip.sum()))
    y[:k] = np.arange(k)
    return X, y
