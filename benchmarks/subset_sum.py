"""Subset-sum selection against a plain dynamic-programming table and against CP-SAT without our cuts."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from benchmarks.setting import hatexplain, seconds, table

Counts = np.ndarray[Any, Any]
SMALL = 0.01
"""Test share at which the plain table finishes in reasonable time."""


def section() -> str:
    """Selection times on the clusterings of a real sweep."""
    from unseen.representations import encode_texts
    from unseen.splits.clustering import sweep
    from unseen.splits.quotas import quotas

    texts, labels, name = hatexplain()
    found = sweep(encode_texts(texts, "tfidf"), range(3, 51))
    totals = np.bincount(labels)
    names = [str(c) for c in range(len(totals))]
    quota = quotas(totals, len(labels) // 10, names)
    small = quotas(totals, int(len(labels) * SMALL), names)
    counts = {each.k: _counts(each.labels, labels, each.k) for each in found}
    return (
        "## Subset-sum\n\n"
        f"{name}, {len(labels):,} rows, {len(totals)} classes, clusterings of the sweep above; selection only. The plain table "
        "marks every reachable vector of class counts in Python, cluster after cluster; the vectorised one does it with numpy on "
        "the whole array. Neither remembers which clusters give a sum, which ours does. Times marked * are extrapolated from "
        "the measured ones by the number of cells. Over all k unseen looks only for something better than the best so far "
        "and stops when nothing is missing; a single k with a hard proof can take longer than the vectorised table.\n\n"
        + table(["problem", "against", "its time ÷ unseen's"], _rows(counts, quota, small))
    )


def _rows(counts: dict[int, Counts], quota: Counts, small: Counts) -> list[list[str]]:
    from unseen.splits.selection import choose_within

    fifty = counts[50]
    quick, mine = seconds(lambda: choose_within(fifty, small), repeat=5)
    plain, reached = seconds(lambda: plain_table(fifty.tolist(), small.tolist()))
    assert small.sum() - reached == mine.missed
    slow, mine = seconds(lambda: choose_within(fifty, quota))
    vectorised, reached = seconds(lambda: vectorised_table(fifty, quota))
    assert quota.sum() - reached == mine.missed
    ours, (missed, last) = seconds(lambda: _all_ks(counts, quota, cuts=True))
    alone, (same, _) = seconds(lambda: _all_ks({k: each for k, each in counts.items() if k <= last}, quota, cuts=False))
    assert missed == same
    clusters = sum(k for k in counts if k <= last)
    plain_all = plain / (50 * np.prod(small + 1)) * clusters * np.prod(quota + 1)
    what = f"k = 3 to {last}, 10 % test ({missed} missing)"
    return [
        [f"k = 50, {SMALL:.0%} test", "plain table", f"{plain / quick:,.0f}"],
        ["k = 50, 10 % test", "vectorised table", f"{vectorised / slow:.1f}"],
        [what, "plain table*", f"{plain_all / ours:,.0f}"],
        [what, "vectorised table*", f"{vectorised * clusters / 50 / ours:,.0f}"],
        [what, "CP-SAT, each k on its own", f"{alone / ours:.1f}"],
    ]


def _counts(clusters: Counts, labels: Counts, k: int) -> Counts:
    classes = labels.max() + 1
    return np.bincount(clusters * classes + labels, minlength=k * classes).reshape(k, classes)


def _all_ks(counts: dict[int, Counts], quota: Counts, cuts: bool) -> tuple[int, int]:
    """Fewest rows missing over all k, and the k at which the search ended."""
    from unseen.splits.selection import choose_within

    best, last = int(quota.sum()), 0
    for k, each in counts.items():
        last = k
        best = min(best, choose_within(each, quota, best if cuts and best < quota.sum() else None).missed)
        if cuts and best == 0:
            break
    return best, last


def plain_table(counts: list[list[int]], quota: list[int]) -> int:
    """The largest total within `quota`, by a table over all vectors of class counts."""
    cells = list(product(*(range(q + 1) for q in quota)))
    reachable = dict.fromkeys(cells, False)
    reachable[(0,) * len(quota)] = True
    for cluster in counts:
        for cell in reversed(cells):
            before = tuple(c - n for c, n in zip(cell, cluster, strict=True))
            if min(before) >= 0 and reachable[before]:
                reachable[cell] = True
    return max(sum(cell) for cell, is_reachable in reachable.items() if is_reachable)


def vectorised_table(counts: Counts, quota: Counts) -> int:
    """The same with numpy; knows the total, not the clusters that give it."""
    reachable = np.zeros(quota + 1, bool)
    reachable[(0,) * len(quota)] = True
    for cluster in counts:
        if (cluster <= quota).all() and cluster.any():
            target = tuple(slice(n, None) for n in cluster)
            source = tuple(slice(None, q + 1 - n) for n, q in zip(cluster, quota, strict=True))
            reachable[target] |= reachable[source].copy()
    return int(max(np.argwhere(reachable).sum(axis=1)))


if __name__ == "__main__":
    print(section())
