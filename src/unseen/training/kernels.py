"""Compiled inner loops of Adam on the rows of an embedding that a batch touches.

Shapes: `weight`, `mean` and `square` are [terms, width]. Nothing is contracted or reordered: the same bits everywhere.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np

Array = np.ndarray[Any, Any]


@nb.njit(nogil=True, cache=True)
def move_moments(
    starts: Array, terms: Array, texts: Array, weights: Array, gradient: Array, rates: Array, mean: Array, square: Array
) -> Array:
    """New mean squares of the terms of a batch [terms of the batch, width], after both their moments were moved.

    `terms` are sorted, with the text and the weight of each; `starts` says where another term begins. `gradient`
    [texts, width] is that of the bags, `rates` are one minus the two betas.
    """
    width = gradient.shape[1]
    sums, squares = np.empty(width, np.float32), np.empty((len(starts) - 1, width), np.float32)
    for place in range(len(starts) - 1):
        sums[:] = 0
        for at in range(starts[place], starts[place + 1]):
            text, weight = texts[at], weights[at]
            for column in range(width):
                sums[column] += weight * gradient[text, column]
        term = terms[starts[place]]
        for column in range(width):
            slope = sums[column]
            mean[term, column] += (slope - mean[term, column]) * rates[0]
            square[term, column] += (slope * slope - square[term, column]) * rates[1]
            squares[place, column] = square[term, column]
    return squares


@nb.njit(nogil=True, cache=True)
def move_weights(touched: Array, roots: Array, mean: Array, size: Any, tiny: Any, weight: Array) -> None:
    """Move the touched rows of `weight` by `size` times mean over root mean square, `roots` [touched, width]."""
    for place in range(len(touched)):
        term = touched[place]
        for column in range(weight.shape[1]):
            weight[term, column] += -size * (mean[term, column] / (roots[place, column] + tiny))
