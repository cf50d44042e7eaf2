"""Words of bytes: compiled code of ``words.py`` and of readers."""

from __future__ import annotations

import numpy as np

from ..engine.keep import keep


@keep
def number_words(text, begins, ends, known, known_ends, hashes, table, count, numbers):
    """Number words in the order in which they are first seen; returns how many there are.

    Parameters
    ----------
    text : uint8 array
    begins, ends : int64 arrays (n,)
        Word i is ``text[begins[i]:ends[i]]``.
    known : uint8 array
        All words so far, end to end, with room for the new ones.
    known_ends : int64 array
        Word k ends at ``known_ends[k + 1]``.
    hashes : uint64 array
        The hash of each word.
    table : int32 array (size,)
        The number of a word or -1. The size is a power of two above the number of words.
    count : int
        Number of words so far.
    numbers : int32 array (n,)
        The number of each word.
    """
    mask = np.uint64(len(table) - 1)
    for i in range(len(begins)):
        begin, length = begins[i], ends[i] - begins[i]
        mixed = np.uint64(0xCBF29CE484222325)
        for p in range(length):
            mixed = (mixed ^ np.uint64(text[begin + p])) * np.uint64(0x100000001B3)
        place = (mixed ^ (mixed >> np.uint64(32))) & mask
        while True:
            k = table[place]
            if k < 0:
                break
            if hashes[k] == mixed and known_ends[k + 1] - known_ends[k] == length:
                first, p = known_ends[k], 0
                while p < length and known[first + p] == text[begin + p]:
                    p += 1
                if p == length:
                    break
            place = (place + np.uint64(1)) & mask
        if k < 0:
            k = count
            table[place] = k
            hashes[k] = mixed
            first = known_ends[k]
            for p in range(length):
                known[first + p] = text[begin + p]
            known_ends[k + 1] = first + length
            count += 1
        numbers[i] = k
    return count


@keep
def split_lines(text, begins, ends, widths):
    """Find the words of each line; returns the numbers of words and of lines.

    Words are separated as by ``bytes.split``.

    Parameters
    ----------
    text : uint8 array (size,)
    begins, ends : int64 arrays (size // 2 + 1,)
        The positions of each word.
    widths : int64 array (size + 1,)
        Number of words of each line.
    """
    n, lines, width, inside = 0, 0, 0, False
    for p in range(len(text)):
        letter = text[p]
        if letter != 32 and (letter < 9 or letter > 13):
            if not inside:
                begins[n] = p
                inside = True
            continue
        if inside:
            ends[n] = p
            n += 1
            width += 1
            inside = False
        if letter == 10:
            widths[lines] = width
            lines += 1
            width = 0
    if inside:
        ends[n] = len(text)
        n += 1
        width += 1
    if len(text) and text[len(text) - 1] != 10:
        widths[lines] = width
        lines += 1
    return n, lines


@keep
def split_names(text, lengths, begins, ends, counts):
    """Find the parts of names of features: the text before ``=``, and the values after it.

    If there is a bar before ``=``, the bars after it separate values, unless they are escaped by a
    backslash. Returns the number of parts.

    Parameters
    ----------
    text : uint8 array
        All names, end to end.
    lengths : int64 array (n,)
        Number of bytes of each name.
    begins, ends : int64 arrays
        The positions of each part, with room for a part at each byte and one more per name.
    counts : int64 array (n,)
        Number of parts of each name.
    """
    m, p = 0, 0
    for i in range(len(lengths)):
        stop = p + lengths[i]
        head, several, first = True, False, m
        begins[m] = p
        while p < stop:
            letter = text[p]
            if head and letter == 124:
                several = True
            elif not head and letter == 92:
                p += 1  # the next byte is escaped
            if (head and letter == 61) or (not head and several and letter == 124):
                ends[m] = p
                m += 1
                begins[m] = p + 1
                head = False
            p += 1
        p = stop
        ends[m] = stop
        m += 1
        counts[i] = m - first
    return m


@keep
def join_columns(codes, text, ends, offsets, separator, out):
    """Write the lines of tokens, with an empty one between sequences; returns the size.

    Parameters
    ----------
    codes : int32 array (n_columns, n_tokens)
        The value of each column.
    text : uint8 array
        All values, end to end.
    ends : int64 array
        Value k is ``text[ends[k]:ends[k + 1]]``.
    offsets : int64 array (n + 1,)
        Sequence i holds the tokens from ``offsets[i]`` to ``offsets[i + 1]``.
    separator : uint8 array
        Between columns.
    out : uint8 array
        The lines, with room for all of them.
    """
    at = 0
    for i in range(len(offsets) - 1):
        if i:
            out[at] = 10
            at += 1
        for t in range(offsets[i], offsets[i + 1]):
            for column in range(len(codes)):
                if column:
                    for p in range(len(separator)):
                        out[at] = separator[p]
                        at += 1
                for p in range(ends[codes[column, t]], ends[codes[column, t] + 1]):
                    out[at] = text[p]
                    at += 1
            out[at] = 10
            at += 1
    return at
