"""Small data sets for the demo, the documentation and the tests; nothing is downloaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sentences import make_conll, write_conll

__all__ = ["load_digits_split", "make_conll", "make_multiclass", "write_conll"]


def load_digits_split() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Scikit-learn's 1797 handwritten digits, scaled to [0, 1], in a fixed stratified split.

    Returns
    -------
    X_train, X_test : float64 arrays (1347, 64) and (450, 64)
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


def make_multiclass(
    n: int = 200, d: int = 10, k: int = 3, noise: float = 0.1, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Points labelled by the largest of ``k`` random linear functions.

    Parameters
    ----------
    n, d, k : int
        Numbers of examples, features and classes; n >= k, and every class occurs.
    noise : float
        Part of the labels that are drawn at random instead.
    seed : int

    Returns
    -------
    X : float64 array (n, d)
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
