"""Numbers for the distinct ones of many codes, by a hash table."""

from __future__ import annotations

import numpy as np

from ..engine.keep import keep


@keep
def number_codes(codes, keys, numbers, inverse, first, counts):
    """Number the distinct codes in the order in which they occur; returns how many there are.

    Parameters
    ----------
    codes : int64 array (n,), >= 0
    keys, numbers : int64 and int32 arrays (size,)
        The table; its size is a power of two above n, and all keys are -1.
    inverse, first, counts : int32, int64 and int64 arrays (n,)
        The number of each code; where each number occurs first, and how often.
    """
    mask, m = np.uint64(len(keys) - 1), 0
    for p in range(len(codes)):
        code = codes[p]
        mixed = np.uint64(code) * np.uint64(0x9E3779B97F4A7C15)
        place = (mixed ^ (mixed >> np.uint64(32))) & mask
        while keys[place] != code and keys[place] != -1:
            place = (place + np.uint64(1)) & mask
        if keys[place] == -1:
            keys[place] = code
            numbers[place] = m
            first[m] = p
            counts[m] = 0
            m += 1
        number = numbers[place]
        inverse[p] = number
        counts[number] += 1
    return m
