"""Compiled inner loops of k-means: weighted rows, bounds carried from one clustering to the next.

Shapes: rows [n, d] float32, weights [n], centres [k, d]; sums [k, d] and masses [k] are float64 and
kept exact by adding and removing rows as they change cluster. `near` bounds the distance of a row to
its own centre from above, `next_best` that to every other centre from below (Hamerly 2010). Nothing
here starts threads: results do not depend on how many there are.
"""

from __future__ import annotations

import math
from typing import Any

import numba as nb
import numpy as np

Array = np.ndarray[Any, Any]
F = np.float32
FAST = {"nogil": True, "cache": True, "fastmath": {"reassoc", "contract", "nsz", "arcp"}}


@nb.njit(**FAST)
def squared_distance(a: Array, b: Array) -> Any:
    """Squared Euclidean distance of two vectors."""
    total = F(0)
    for j in range(a.shape[0]):
        step = a[j] - b[j]
        total += step * step
    return total


@nb.njit(**FAST)
def tighten(rows: Array, centres: Array, labels: Array, near: Array) -> None:
    """Make `near` exact."""
    for i in range(rows.shape[0]):
        near[i] = math.sqrt(squared_distance(rows[i], centres[labels[i]]))


@nb.njit(**FAST)
def move_centres(centres: Array, sums: Array, masses: Array, unit_length: bool, drift: Array) -> Any:
    """Put each centre at the mean of its rows; fills `drift`, returns the sum of squared moves."""
    k, d = centres.shape
    total = 0.0
    for c in range(k):
        scale = 0.0
        if unit_length:
            for j in range(d):
                scale += sums[c, j] * sums[c, j]
            scale = math.sqrt(scale)
        else:
            scale = masses[c]
        moved = 0.0
        if masses[c] > 0 and scale > 0:
            for j in range(d):
                value = F(sums[c, j] / scale)
                step = value - centres[c, j]
                moved += step * step
                centres[c, j] = value
        total += moved
        drift[c] = math.sqrt(moved)
    return total


@nb.njit(**FAST)
def find_uncertain(
    rows: Array, centres: Array, drift: Array, labels: Array, near: Array, next_best: Array, uncertain: Array
) -> Any:
    """Loosen the bounds by `drift` and list the rows whose nearest centre is no longer certain.

    A cluster's rows need only fear centres within three times its radius: the drift of farther ones
    does not loosen their bound (Ryšavý & Hamerly 2016), which matters here because growing from k to
    k + 1 clusters moves a few centres far and the others hardly at all.
    """
    n = rows.shape[0]
    k = centres.shape[0]
    radius = np.zeros(k, F)
    for i in range(n):
        near[i] += drift[labels[i]]
        radius[labels[i]] = max(radius[labels[i]], near[i])
    half_gap = np.empty(k, F)
    feared_drift = np.zeros(k, F)
    beyond = np.full(k, np.inf, F)
    for c in range(k):
        gap = F(np.inf)
        for other in range(k):
            if other != c:
                between = F(math.sqrt(squared_distance(centres[c], centres[other])))
                gap = min(gap, between)
                if between < F(3) * radius[c]:
                    feared_drift[c] = max(feared_drift[c], drift[other])
                else:
                    beyond[c] = min(beyond[c], between)
        half_gap[c] = gap * F(0.5)
    count = 0
    for i in range(n):
        own = labels[i]
        next_best[i] = min(next_best[i] - feared_drift[own], beyond[own] - near[i])
        safe = max(next_best[i], half_gap[own])
        if near[i] > safe:
            near[i] = math.sqrt(squared_distance(rows[i], centres[own]))
            if near[i] > safe:
                uncertain[count] = i
                count += 1
    return count


@nb.njit(**FAST)
def transfer(row: Array, weight: Any, source: int, target: int, sums: Array, masses: Array) -> None:
    """Take a row out of one cluster's sums and put it into another's; -1 is nowhere."""
    for j in range(row.shape[0]):
        value = weight * row[j]
        if source >= 0:
            sums[source, j] -= value
        if target >= 0:
            sums[target, j] += value
    if source >= 0:
        masses[source] -= weight
    if target >= 0:
        masses[target] += weight


@nb.njit(**FAST)
def reassign(
    rows: Array, weights: Array, norms: Array, centre_norms: Array, listed: Array, products: Array,
    labels: Array, near: Array, next_best: Array, sums: Array, masses: Array,
) -> Any:  # fmt: skip
    """Give each listed row its nearest centre from `products` = rows[listed] @ centres.T; counts changes."""
    changed = 0
    for p in range(listed.shape[0]):
        i = listed[p]
        best = second = F(np.inf)
        nearest = -1
        for c in range(products.shape[1]):
            distance = centre_norms[c] - F(2) * products[p, c]
            if distance < best:
                second = best
                best = distance
                nearest = c
            elif distance < second:
                second = distance
        near[i] = math.sqrt(max(best + norms[i], F(0)))
        next_best[i] = math.sqrt(max(second + norms[i], F(0)))
        if nearest != labels[i]:
            transfer(rows[i], weights[i], labels[i], nearest, sums, masses)
            labels[i] = nearest
            changed += 1
    return changed


@nb.njit(**FAST)
def halve(
    rows: Array, weights: Array, members: Array, first: int, draw: float, left: Array, right: Array, rounds: int
) -> Any:
    """2-means among the rows `members`; fills the centres `left` and `right`, returns the inertia.

    Starts from member `first` and a second one drawn at quantile `draw` of the squared distances.
    Infinite when the members cannot be divided.
    """
    d = rows.shape[1]
    m = members.shape[0]
    left[:] = rows[members[first]]
    cumulated = np.empty(m)
    total = 0.0
    for p in range(m):
        total += weights[members[p]] * squared_distance(rows[members[p]], left)
        cumulated[p] = total
    if total <= 0:
        return np.inf
    right[:] = rows[members[min(np.searchsorted(cumulated, draw * total), m - 1)]]
    on_right = np.zeros(m, np.bool_)
    sums = np.empty((2, d))
    masses = np.empty(2)
    inertia = 0.0
    for step in range(rounds):
        sums[:] = 0
        masses[:] = 0
        inertia = 0.0
        changed = 0
        for p in range(m):
            i = members[p]
            to_left = F(0)
            to_right = F(0)
            for j in range(d):
                a = rows[i, j] - left[j]
                b = rows[i, j] - right[j]
                to_left += a * a
                to_right += b * b
            side = to_right < to_left
            changed += side != on_right[p]
            on_right[p] = side
            inertia += weights[i] * min(to_left, to_right)
            transfer(rows[i], weights[i], -1, int(side), sums, masses)
        if masses[0] == 0 or masses[1] == 0:
            return np.inf
        for j in range(d):
            left[j] = sums[0, j] / masses[0]
            right[j] = sums[1, j] / masses[1]
        if step > 0 and changed * 50 <= m:
            break
    return inertia


@nb.njit(**FAST)
def divide_cluster(
    rows: Array, weights: Array, parent: int, child: int, left: Array, right: Array, centres: Array,
    labels: Array, near: Array, next_best: Array, sums: Array, masses: Array,
) -> None:  # fmt: skip
    """Replace centre `parent` by `left` and add `right` as centre `child`; every row looks at both."""
    n, d = rows.shape
    centres[parent] = left
    centres[child] = right
    sums[parent] = 0
    masses[parent] = 0
    for i in range(n):
        to_left = F(0)
        to_right = F(0)
        for j in range(d):
            a = rows[i, j] - left[j]
            b = rows[i, j] - right[j]
            to_left += a * a
            to_right += b * b
        closer = F(math.sqrt(min(to_left, to_right)))
        farther = F(math.sqrt(max(to_left, to_right)))
        nearest = parent if to_left <= to_right else child
        own = labels[i]
        if own == parent:
            next_best[i] = min(next_best[i], farther)
            near[i] = closer
            labels[i] = nearest
            transfer(rows[i], weights[i], -1, nearest, sums, masses)
        elif closer < near[i]:
            next_best[i] = min(next_best[i], min(farther, near[i]))
            near[i] = closer
            labels[i] = nearest
            transfer(rows[i], weights[i], own, nearest, sums, masses)
        else:
            next_best[i] = min(next_best[i], closer)
