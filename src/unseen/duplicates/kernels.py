"""Compiled inner loops of the search for near-duplicates."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

Array = np.ndarray[Any, Any]

SHINGLE = 5
"""Characters in a shingle; a shorter text is one shingle."""


@nb.njit(nogil=True, cache=True, inline="always")
def _mixed(value):  # type: ignore[no-untyped-def]
    """All bits of the value spread over all bits of the result."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@nb.njit(nogil=True, cache=True)
def _hashes(content: Array, start: int, end: int, points: Array, out: Array) -> int:
    """Hashes of the shingles of one UTF-8 text, in its order, into `out`; how many there are."""
    length = 0
    for at in range(start, end):
        byte = np.uint64(content[at])
        if byte & np.uint64(0xC0) == np.uint64(0x80):  # a character goes on
            points[length - 1] = (points[length - 1] << np.uint64(6)) | (byte & np.uint64(0x3F))
        else:
            points[length] = byte
            length += 1
    count = max(1, length - SHINGLE + 1) if length else 0
    for at in range(count):
        hashed = np.uint64(0x9E3779B97F4A7C15)
        for place in range(at, min(length, at + SHINGLE)):
            hashed = _mixed(hashed ^ points[place]) + np.uint64(place - at)
        out[at] = hashed
    return count


@nb.njit(nogil=True, cache=True)
def _shingles(content: Array, start: int, end: int, points: Array, out: Array) -> int:
    """Hashes of the distinct shingles of one UTF-8 text, sorted, into `out`; how many there are."""
    count = _hashes(content, start, end, points, out)
    out[:count].sort()
    distinct = 0
    for at in range(count):
        if at == 0 or out[at] != out[distinct - 1]:
            out[distinct] = out[at]
            distinct += 1
    return distinct


@nb.njit(nogil=True, cache=True)
def minhash_keys(content: Array, ends: Array, longest: int, factors: Array, rows: int, keys: Array) -> None:
    """A key per band of `rows` minima into `keys` [bands, texts].

    `ends` are the borders of the texts in `content`; `factors` [2, bands * rows] define the hash functions. A shingle
    that comes again changes no minimum, so nothing is sorted here.
    """
    points, hashes = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    times, plus = factors[0], factors[1]
    minima = np.empty(len(times), np.uint32)
    for text in range(len(ends) - 1):
        count = _hashes(content, ends[text], ends[text + 1], points, hashes)
        minima[:] = np.uint32(0xFFFFFFFF)
        for at in range(count):
            hashed = np.uint32(hashes[at] >> np.uint64(32))
            for which in range(len(times)):
                minima[which] = min(minima[which], np.uint32(times[which] * hashed + plus[which]))
        for band in range(len(keys)):
            key = np.uint64(band)
            for which in range(band * rows, band * rows + rows):
                key = _mixed(key ^ np.uint64(minima[which]))
            keys[band, text] = key


@nb.njit(nogil=True, cache=True)
def jaccards(
    content: Array, ends: Array, longest: int, sizes: Array, least: float, first: Array, second: Array
) -> Array:
    """Shared shingles of each pair as a share of those that either has; 0 where sizes show that it is below `least`.

    `sizes` [texts] are numbers of shingles, 0 where nobody has counted them yet: then they are counted here.
    """
    points = np.empty(longest, np.uint64)
    ours, theirs = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    shares = np.zeros(len(first), np.float64)
    held, n = -1, 0
    for pair in range(len(first)):
        a, b = first[pair], second[pair]
        if sizes[a] and sizes[b] and min(sizes[a], sizes[b]) < least * max(sizes[a], sizes[b]):
            continue
        if a != held:
            n, held = _shingles(content, ends[a], ends[a + 1], points, ours), a
        m = _shingles(content, ends[b], ends[b + 1], points, theirs)
        sizes[a], sizes[b] = n, m
        i = j = shared = 0
        while i < n and j < m:
            shared += ours[i] == theirs[j]
            step = ours[i] <= theirs[j]
            j += ours[i] >= theirs[j]
            i += step
        if n + m > shared:
            shares[pair] = shared / (n + m - shared)
    return shares


@nb.njit(nogil=True, cache=True)
def lay_out(keys: Array, band: int, most: int, order: Array, places: Array, crowded: Array) -> None:
    """Shuffle the crowds in `order`, which sorts the keys of one band; note where each row stands and which are in one.

    A crowd has more than `most` rows with one key. The shuffle is another one in every band, and the same every time.
    """
    start = 0
    for at in range(1, len(order) + 1):
        if at < len(order) and keys[order[at]] == keys[order[start]]:
            continue
        if at - start > most:
            salt = np.uint64(band + 1) * np.uint64(0x9E3779B97F4A7C15)
            drawn = np.array([_mixed(np.uint64(row) ^ salt) for row in order[start:at]])
            order[start:at] = order[start:at][np.argsort(drawn)]
        for place in range(start, at):
            places[order[place]] = place
            crowded[order[place]] = at - start > most
        start = at


@nb.njit(nogil=True, cache=True)
def candidates(
    keys: Array, band: int, order: Array, places: Array, crowded: Array, few: int, first: Array, second: Array
) -> int:
    """Pairs that share the key of this band and were no candidates in a band before it; how many there are.

    They go into `first` and `second`; pairs beyond the length of `first` are only counted. In a crowd, a row is paired
    with the `few` that follow it.
    """
    count = 0
    for at in range(len(order)):
        a = order[at]
        last = len(order) if not crowded[band, a] else min(len(order), at + 1 + few)
        for then in range(at + 1, last):
            b = order[then]
            if keys[band, a] != keys[band, b]:
                break
            met = False
            for before in range(band):
                if keys[before, a] == keys[before, b]:
                    near = abs(places[before, a] - places[before, b]) <= few
                    met |= near or not crowded[before, a]
            if met:
                continue
            if count < len(first):
                first[count], second[count] = min(a, b), max(a, b)
            count += 1
    return count
