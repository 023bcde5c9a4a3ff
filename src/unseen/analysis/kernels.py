"""Compiled inner loop of the word overlap: one text against all others by an inverted index."""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

Array = np.ndarray[Any, Any]


@nb.njit(nogil=True, cache=True)
def highest_similarities(
    ends: Array, words: Array, counts: Array, list_ends: Array, listed: Array, listed_counts: Array, squares: Array
) -> Array:
    """Highest squared cosine of each text to any listed text, times the text's own squared length.

    `ends`, `words`, `counts` are the texts' sparse rows; `list_ends`, `listed`, `listed_counts` say which
    texts hold each word; `squares` [listed texts] are squared lengths. All sums are of whole numbers, so
    the order of words decides nothing. Memory: two numbers per listed text.
    """
    products = np.zeros(len(squares), np.int64)
    touched = np.empty(len(squares), np.int32)
    highest = np.zeros(len(ends) - 1, np.float64)
    for text in range(len(ends) - 1):
        n = 0
        for at in range(ends[text], ends[text + 1]):
            for place in range(list_ends[words[at]], list_ends[words[at] + 1]):
                other = listed[place]
                if products[other] == 0:
                    touched[n] = other
                    n += 1
                products[other] += np.int64(counts[at]) * listed_counts[place]
        for at in range(n):
            product = np.float64(products[touched[at]])
            highest[text] = max(highest[text], product * product / squares[touched[at]])
            products[touched[at]] = 0
    return highest
