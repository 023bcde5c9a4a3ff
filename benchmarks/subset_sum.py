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
    lines = [_small(counts[50], small), _grid(counts[50], quota)]
    total, missed = seconds(lambda: _all_ks(counts, quota, cuts=True))
    plain, _ = seconds(lambda: _all_ks(counts, quota, cuts=False))
    return (
        "## Subset-sum\n\n"
        f"{name}, {len(labels):,} rows, {len(totals)} classes, clusterings of the sweep above. The plain table marks every "
        f"reachable vector of class counts in Python, cluster after cluster; it is measured with a test part of {SMALL:.0%} "
        "and extrapolated to 10 % by its number of cells. The vectorised table does the same with numpy on the whole "
        f"array at 10 %. All k from 3 to 50, with the cut “better than the best so far” and the stop at zero missing: "
        f"{plain / total:.1f} × as fast as solving each k on its own with CP-SAT ({missed} rows missing in both).\n\n"
        + table(["problem", "cells", "table ÷ unseen (time)", "table's memory"], lines)
    )


def _counts(clusters: Counts, labels: Counts, k: int) -> Counts:
    classes = labels.max() + 1
    return np.bincount(clusters * classes + labels, minlength=k * classes).reshape(k, classes)


def _all_ks(counts: dict[int, Counts], quota: Counts, cuts: bool) -> int:
    from unseen.splits.selection import choose_within

    best = int(quota.sum())
    for each in counts.values():
        best = min(best, choose_within(each, quota, best if cuts and best < quota.sum() else None).missed)
        if cuts and best == 0:
            break
    return best


def _small(counts: Counts, quota: Counts) -> list[str]:
    from unseen.splits.selection import choose_within

    ours, mine = seconds(lambda: choose_within(counts, quota), repeat=5)
    theirs, reached = seconds(lambda: plain_table(counts.tolist(), quota.tolist()))
    assert quota.sum() - reached == mine.missed
    cells = len(counts) * int(np.prod(quota + 1))
    return [f"k = {len(counts)}, {SMALL:.0%} test, plain table", f"{cells:,}", f"{theirs / ours:,.0f}", "—"]


def _grid(counts: Counts, quota: Counts) -> list[str]:
    from unseen.splits.selection import choose_within

    ours, mine = seconds(lambda: choose_within(counts, quota))
    theirs, reached = seconds(lambda: vectorised_table(counts, quota))
    assert quota.sum() - reached == mine.missed
    cells = len(counts) * int(np.prod(quota + 1))
    gigabytes = 2 * np.prod(quota + 1) / 1e9
    return [
        f"k = {len(counts)}, 10 % test, vectorised table",
        f"{cells:,}",
        f"{theirs / ours:,.0f}",
        f"{gigabytes:.1f} GB without the subset",
    ]


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
