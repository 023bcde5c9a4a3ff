"""k-means for a whole range of k at once.

`sweep` grows a population of clusterings one cluster at a time. Each generation starts from the best
few of the last: a cluster is divided in two where that gains most among a few tries, then Lloyd's
algorithm runs to convergence. Sums, labels and distance bounds are carried over, so a generation costs
a few passes over the rows that are in doubt, not a clustering from scratch. `n_init` is the size of the
population, as in scikit-learn the number of solutions among which the best is kept for each k.

The result does not depend on the order of rows (they are visited in an order made from their content),
nor on the number of threads (a thread works on one clustering, with one BLAS thread).
"""

from __future__ import annotations

import copy
import hashlib
import operator
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from unseen.errors import InputError
from unseen.machine import usable_threads
from unseen.progress import track
from unseen.seeding import generator
from unseen.splits import kernels
from unseen.splits.neighbours import assign_all, check_metric
from unseen.splits.vectors import check_distinct, row_keys, scramble, unit_rows
from unseen.types.arrays import Floats, Keys, Vectors

SAMPLE_ABOVE = 200_000
"""With more rows than this, centres come from a sample; every row is still assigned exactly."""
SAMPLE = 100_000
PARENTS = 3
"""Clusterings of one generation from which the next one grows."""
TRIES = 4
"""Divisions tried for each new cluster."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """One clustering: `labels` per row, `centres` [k, d], and the weighted sum of squared distances."""

    k: int
    labels: npt.NDArray[np.int32]
    centres: Vectors
    inertia: float

    def __post_init__(self) -> None:
        self.labels.flags.writeable = self.centres.flags.writeable = False


@dataclass
class _State:
    """A clustering that is still growing; arrays as in `kernels`."""

    k: int
    centres: Vectors
    labels: npt.NDArray[np.int32]
    near: Vectors
    next_best: Vectors
    sums: Floats
    masses: Floats
    inertia: float = np.inf

    def copy(self) -> _State:
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray):
                setattr(twin, name, value.copy())
        return twin


@dataclass(frozen=True, eq=False)
class _Data:
    rows: Vectors
    weights: Vectors
    norms: Vectors
    unit_length: bool
    max_iter: int
    tolerance: float


def sweep(
    rows: Vectors,
    ks: Iterable[int],
    *,
    weights: npt.ArrayLike | None = None,
    keys: Keys | None = None,
    metric: str = "euclidean",
    n_init: int = 10,
    max_iter: int = 300,
    seed: int = 42,
    threads: int | None = None,
) -> list[Clustering]:
    """The best clustering found for each k, in ascending order of k.

    `metric="cosine"` gives spherical k-means: rows and centres have unit length. `keys` fix the order
    in which rows are visited; by default they are made from the rows themselves.
    """
    ks = checked_ks(ks, len(rows))
    check_metric(metric)
    for name, number in (("n_init", n_init), ("max_iter", max_iter)):
        if not isinstance(number, int | np.integer) or isinstance(number, bool) or number < 1:
            raise InputError(f"{name} must be a whole number, at least 1", got=repr(number))
    content = row_keys(rows)
    keys = content if keys is None else keys
    visited = np.argsort(keys, kind="stable")
    if len(rows) > SAMPLE_ABOVE:
        visited = visited[np.sort(np.argsort(scramble(keys[visited], seed), kind="stable")[:SAMPLE])]
    mass = np.ones(len(rows), np.float32) if weights is None else np.asarray(weights, np.float32)
    data, shift = _prepare(rows[visited], mass[visited], metric, max_iter)
    check_distinct(content[visited], ks[-1])
    question = _question((content, keys, mass), rows.shape, ks, metric, n_init, max_iter, seed)
    if question in _last:
        return _last[question]
    _last.clear()
    threads = threads or usable_threads()
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(threads) as pool:
        states = _grow_population(data, ks, n_init, seed, pool)
        if len(visited) < len(rows):
            assigned = assign_all(rows, mass, shift, metric, [state.centres for state in states], pool)
        else:
            place = np.argsort(visited)
            assigned = [(state.labels[place], state.inertia) for state in states]
    _last[question] = [
        Clustering(state.k, labels, state.centres + shift, inertia)
        for state, (labels, inertia) in zip(states, assigned, strict=True)
    ]
    return _last[question]


_last: dict[str, list[Clustering]] = {}
"""The last question and its answer: a second splitter often asks for the same clusterings."""


def _question(arrays: Iterable[npt.NDArray[Any]], *settings: object) -> str:
    digest = hashlib.sha256(repr(settings).encode())
    for array in arrays:
        digest.update(array.tobytes())
    return digest.hexdigest()


def _prepare(rows: Vectors, weights: Vectors, metric: str, max_iter: int) -> tuple[_Data, Vectors]:
    """Rows ready for the kernels, and what was subtracted from them (centring keeps float32 exact)."""
    if metric == "cosine":
        rows, shift = unit_rows(rows), np.zeros(rows.shape[1], np.float32)
    else:
        shift = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        rows = rows - shift
    tolerance = 1e-4 * float(rows.var(axis=0, dtype=np.float64).mean())
    rows = np.ascontiguousarray(rows, dtype=np.float32)
    return _Data(rows, weights, np.einsum("ij,ij->i", rows, rows), metric == "cosine", max_iter, tolerance), shift


def _grow_population(data: _Data, ks: Sequence[int], n_init: int, seed: int, pool: ThreadPoolExecutor) -> list[_State]:
    population = [_whole(data, ks[-1])]
    best = []
    for k in track(waypoints(ks), "clustering", len(waypoints(ks))):
        parents = population[:PARENTS]
        population = [parents[i % len(parents)].copy() for i in range(n_init)]

        def grow(member: int, k: int = k, population: list[_State] = population) -> None:
            draws = generator(seed, "kmeans", k, member)
            while population[member].k < k:
                _divide_best(data, population[member], draws)
            _lloyd(data, population[member])

        list(pool.map(grow, range(n_init)))
        population.sort(key=lambda state: state.inertia)
        if k in ks:
            best.append(_finished(population[0]))
    return best


def waypoints(ks: Sequence[int]) -> list[int]:
    """The k at which Lloyd's algorithm runs: those asked for, and at most half as many again in one leap."""
    visited, k = ([1] if ks[0] == 1 else []), 1
    for goal in ks:
        while k < goal:
            k = min(goal, max(k + 1, k + k // 2))
            visited.append(k)
    return visited


def _whole(data: _Data, most: int) -> _State:
    """Everything in one cluster, with room for `most`."""
    n, d = data.rows.shape
    state = _State(
        k=1,
        centres=np.zeros((most, d), np.float32),
        labels=np.zeros(n, np.int32),
        near=np.empty(n, np.float32),
        next_best=np.full(n, np.inf, np.float32),
        sums=np.zeros((most, d)),
        masses=np.zeros(most),
    )
    state.sums[0] = data.weights.astype(np.float64) @ data.rows
    state.masses[0] = data.weights.sum(dtype=np.float64)
    _lloyd(data, state)
    return state


def _divide_best(data: _Data, state: _State, draws: np.random.Generator) -> None:
    """Divide one cluster in two: the best of a few tries in clusters drawn by their inertia."""
    k = state.k
    inertias = np.bincount(state.labels, weights=_squares(data, state), minlength=k)
    by_cluster = np.argsort(state.labels, kind="stable")
    starts = np.searchsorted(state.labels[by_cluster], np.arange(k + 1))
    best: tuple[Any, ...] = (-np.inf,)
    for parent in np.searchsorted(np.cumsum(inertias), draws.random(TRIES) * inertias.sum()).clip(0, k - 1):
        members = by_cluster[starts[parent] : starts[parent + 1]]
        left, right = np.empty((2, data.rows.shape[1]), np.float32)
        first, draw = draws.integers(max(1, len(members))), draws.random()
        if len(members) < 2:
            continue
        gain = inertias[parent] - kernels.halve(data.rows, data.weights, members, first, draw, left, right, 10)
        if gain > best[0]:
            best = (gain, parent, left, right)
    if len(best) == 1:
        farthest = int(np.argmax(state.near))
        best = (0.0, state.labels[farthest], state.centres[state.labels[farthest]].copy(), data.rows[farthest])
    _, parent, left, right = best
    kernels.divide_cluster(
        data.rows, data.weights, parent, k, left, right, state.centres,
        state.labels, state.near, state.next_best, state.sums, state.masses,
    )  # fmt: skip
    state.k = k + 1


def _lloyd(data: _Data, state: _State) -> None:
    """Lloyd's algorithm from where `state` is, looking only at rows that the bounds leave in doubt."""
    k = state.k
    centres, sums, masses = state.centres[:k], state.sums[:k], state.masses[:k]
    bounds = (state.labels, state.near, state.next_best)
    drift = np.empty(k, np.float32)
    listed = np.empty(len(data.rows), np.int64)
    for _ in range(data.max_iter):
        moved = kernels.move_centres(centres, sums, masses, data.unit_length, drift)
        count = kernels.find_uncertain(data.rows, centres, drift, *bounds, listed)
        uncertain = listed[:count]
        products = data.rows[uncertain] @ centres.T
        norms = np.einsum("ij,ij->i", centres, centres)
        changed = kernels.reassign(
            data.rows, data.weights, data.norms, norms, uncertain, products, *bounds, sums, masses
        )
        if changed == 0 or moved <= data.tolerance:
            if _refilled(data, state):
                continue
            break
    kernels.tighten(data.rows, centres, state.labels, state.near)
    state.inertia = float(_squares(data, state).sum())


def _refilled(data: _Data, state: _State) -> bool:
    """Give each cluster that lost all its rows the row farthest from its centre; True when there was one."""
    empty = np.flatnonzero(state.masses[: state.k] == 0)
    for cluster in empty:
        kernels.tighten(data.rows, state.centres, state.labels, state.near)
        farthest = int(np.argmax(np.where(state.masses[state.labels] > data.weights, state.near, -1)))
        kernels.transfer(
            data.rows[farthest], data.weights[farthest], state.labels[farthest], cluster, state.sums, state.masses
        )
        state.labels[farthest], state.near[farthest] = cluster, np.inf
        state.next_best[:] = 0
    return bool(len(empty))


def _squares(data: _Data, state: _State) -> Floats:
    return np.asarray(data.weights * np.square(state.near, dtype=np.float64), dtype=np.float64)


def _finished(state: _State) -> _State:
    """What a later generation must not overwrite."""
    return replace(state, centres=state.centres[: state.k].copy(), labels=state.labels.copy())


def checked_ks(ks: Iterable[int], n: int) -> list[int]:
    """`ks` sorted, each once; refuses more clusters than rows."""
    try:
        numbers = sorted({operator.index(k) for k in ks})
    except TypeError as cause:
        raise InputError("n_clusters must be whole numbers", got=repr(ks)) from cause
    if not numbers or numbers[0] < 1:
        raise InputError("n_clusters must be at least 1", got=repr(numbers))
    if numbers[-1] > n:
        raise InputError(
            f"n_clusters asks for {numbers[-1]} clusters of {n} rows",
            expected=f"at most {n} clusters, better far fewer",
            fix="ask for fewer clusters, e.g. n_clusters=range(3, 10), or bring more rows",
        )
    return numbers
