"""Which metrics a corpus of leaderboards uses, alone or together: datasets are counted, each once.

A dataset with BLEU-1, BLEU-2 and BLEU-4 is one dataset with BLEU. Counting its pairs of dataset and name would count it
three times; `pairs` says how many there are, so that the difference is seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, median
from typing import Any

from unseen.data.tables import read_strings
from unseen.errors import InputError
from unseen.evaluation.metric_facts import family
from unseen.evaluation.metric_names import normalise

Row = tuple[str, str]
"""A dataset, and the name of a metric as it was written."""


@dataclass(frozen=True)
class MetricUse:
    """How a metric, or a family of them, is used."""

    id: str
    datasets: int
    """Datasets that have it, each once."""
    pairs: int
    """Pairs of a dataset and a name of it."""
    alone: int
    """Datasets that have nothing else."""


@dataclass(frozen=True)
class MetricUsage:
    """What a corpus of leaderboards uses."""

    results: int
    pairs: int
    """Pairs of a dataset and the name of a metric, each once."""
    datasets: int
    metrics: Sequence[MetricUse]
    """The most used first."""
    families: Sequence[MetricUse]
    together: Mapping[tuple[str, str], int]
    """Datasets that have both of two families."""
    per_dataset: Mapping[int, int]
    """Datasets by their number of families; an undetermined name counts as one of its own."""
    undetermined: Mapping[str, int]
    """Names that were not understood, with the datasets that have them."""

    @property
    def families_per_dataset(self) -> tuple[float, float]:
        """Median and mean."""
        numbers = list(Counter(self.per_dataset).elements())
        return median(numbers), mean(numbers)


def read_leaderboards(paths: Iterable[str | Path]) -> list[Row]:
    """The results of CSV or JSON files with the columns `dataset` and `metric`; those that lack either are refused."""
    rows: list[Row] = []
    for path in paths:
        columns = read_strings(path, ["dataset", "metric"], "results of leaderboards")
        datasets, metrics = (columns[name].to_pylist() for name in ("dataset", "metric"))
        lacking = [place for place, pair in enumerate(zip(datasets, metrics, strict=True), start=1) if None in pair]
        if lacking:
            raise InputError(f"{path}: row {lacking[0]} has no dataset or no metric", got=f"{len(lacking)} such rows")
        rows += zip(datasets, metrics, strict=True)
    if not rows:
        raise InputError("no results in these files", expected="the columns dataset and metric, a row for each result")
    return rows


def metric_usage(rows: Sequence[Row]) -> MetricUsage:
    """Count datasets per metric and family, alone and together."""
    pairs = set(rows)
    read = {name: normalise(name).id for name in {name for _, name in pairs}}
    metrics = {name: known or _unread(name) for name, known in read.items()}
    families = {name: family(known) if known else _unread(name) for name, known in read.items()}
    of_dataset: dict[str, set[str]] = defaultdict(set)
    for dataset, name in pairs:
        of_dataset[dataset].add(families[name])
    determined = [sorted(kind for kind in kinds if not _is_unread(kind)) for kinds in of_dataset.values()]
    together = Counter(pair for kinds in determined for pair in combinations(kinds, 2))
    unread = Counter(name for _, name in pairs if read[name] is None)
    return MetricUsage(
        results=len(rows),
        pairs=len(pairs),
        datasets=len(of_dataset),
        metrics=_uses(pairs, metrics),
        families=_uses(pairs, families),
        together=_most_first(together),
        per_dataset=dict(sorted(Counter(map(len, of_dataset.values())).items())),
        undetermined=_most_first(unread),
    )


def _uses(pairs: Iterable[Row], kinds: Mapping[str, str]) -> list[MetricUse]:
    """How each kind that names of metrics stand for is used."""
    datasets: dict[str, set[str]] = defaultdict(set)
    counted: Counter[str] = Counter()
    of_dataset: dict[str, set[str]] = defaultdict(set)
    for dataset, name in pairs:
        datasets[kinds[name]].add(dataset)
        of_dataset[dataset].add(kinds[name])
        counted[kinds[name]] += 1
    uses = [
        MetricUse(kind, len(having), counted[kind], sum(of_dataset[dataset] == {kind} for dataset in having))
        for kind, having in datasets.items()
        if not _is_unread(kind)
    ]
    return sorted(uses, key=lambda use: (-use.datasets, use.id))


def _unread(name: str) -> str:
    """What stands for an undetermined name; no id of a metric begins so."""
    return f"?{name}"


def _is_unread(kind: str) -> bool:
    return kind.startswith("?")


def _most_first(counts: Counter[Any]) -> dict[Any, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
