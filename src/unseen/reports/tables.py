"""The tables of a stress report, as rows of plain values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.reports.case import cases
from unseen.reports.figures import GapRow
from unseen.reports.page import sorted_findings
from unseen.reports.run import BASELINE, Cluster, SplitCard, StressRun
from unseen.reports.verdict import changes_of
from unseen.reports.wording import called, capital, higher_is_better, percent
from unseen.types import Finding, Measurement
from unseen.types.numbers import number

COPIES = re.compile(r"^(?P<check>(exact|normalised|near)_duplicates|conflicting_labels(\.\w+)?)\[(?P<split>.+)\]$")
"""Findings of copies, made for every split."""
SIZES = ("rows", "label_share")
"""Properties that the table of splits shows already."""
PROPERTIES = {
    "unigram_overlap": "word overlap with the nearest training text",
    "length.words": "words per text",
    "rare_words": "rare words per text",
    "class_word_overlap": "overlap of class-typical words",
    "nearest_train_distance.cosine": "distance to the nearest training text",
    "nearest_train_distance.cosine.matched_random": "the same in a matched random split",
    "nearest_train_distance_ratio.cosine": "distance as a multiple of matched random",
    "train_share": "share in training",
    "value_share": "share of the test texts",
}
OF_ATTRIBUTE = {
    "under_represented": "under-represented values of",
    "shift": "shift of",
    "split_groups": "split groups of",
}
FEW = 30
"""Below so many examples a score is mostly luck."""
MOST_CARDS = 24
MOST_SLICES = 12


@dataclass(frozen=True)
class Compared:
    """A score on random splits and on another family; `fall` is positive when it is worse there."""

    name: str
    random: Measurement | None
    hard: Measurement | None
    fall: float | None

    @property
    def few(self) -> bool:
        """Whether one of the two rests on too few examples to mean much."""
        return any(each is not None and each.n < FEW for each in (self.random, self.hard))


def gap_rows(run: StressRun) -> list[GapRow]:
    """Scores of every family on its test part and on the independent part."""
    rows = []
    for family in run.families:
        for part in ("test", "independent"):
            score = run.score(family, part)
            if score is not None and score.value is not None:
                rows.append(GapRow(family, part, score.value, score.low, score.high, tuple(run.single(family, part))))
    return rows


def gap_table(run: StressRun) -> list[dict[str, Any]]:
    """The numbers of the gap chart, a row per family; intervals of falls allow for taking the worst of them."""
    falls = {case.family: case.fall for case in cases(run)}
    return [
        {
            "family": family,
            "splits": len(run.of_family(family)),
            "runs": len(run.single(family)),
            "test": run.score(family),
            "fall": falls.get(family),
            "independent": run.score(family, "independent"),
            "dev": run.score(family, "dev"),
            "single": ", ".join(map(number, run.single(family))),
        }
        for family in run.families
    ]


def metric_table(run: StressRun) -> list[dict[str, Any]]:
    """Every metric besides the main one on the test part, a cell per family; scores of single labels left out."""
    names = dict.fromkeys(
        row.metric
        for row in run.measurements
        if row.tags.get("seed") == "mean" and row.tags.get("part") == "test" and row.slice == "all"
        and not row.metric.startswith(("standard_error.", "seen."))
        and "[" not in row.metric and row.metric != run.metric
    )  # fmt: skip
    return [
        {"name": called(name), "cells": [run.score(family, metric=name) for family in run.families]} for name in names
    ]


def split_table(run: StressRun) -> list[dict[str, Any]]:
    """What every split is made of and what is proven about it."""
    return [
        {
            "card": split,
            "missed": split.certificate.missed,
            "whole": _whole(run.clusters, split),
            "completed": percent(split.certificate.completed_share) if split.certificate.n_clusters else "",
            "proof": _proof(split),
        }
        for split in run.splits
    ]


def _whole(clusters: Iterable[Cluster], split: SplitCard) -> str:
    """How many clusters are in the test part as a whole."""
    ours = [each for each in clusters if each.split == split.name]
    k = split.certificate.n_clusters
    if not k or not ours:
        return ""
    shown_all = sum(each.test for each in ours) >= split.sizes["test"]
    return f"{'' if shown_all else '≥ '}{sum(each.test == each.size for each in ours)} of {k}"


def _proof(split: SplitCard) -> str:
    certificate = split.certificate
    if certificate.optimal:
        return "whole clusters: nearest possible, proven" if certificate.completed else "nearest possible, proven"
    if certificate.missed_at_least is not None:
        return f"misses at least {certificate.missed_at_least} rows, proven"
    return "not proven" if certificate.optimal is False else ""


def property_table(run: StressRun) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and rows of the property table: random splits as their mean, every other split on its own."""
    columns = {}
    baselines = [split.name for split in run.of_family(BASELINE)]
    if baselines:
        columns[f"random, mean of {len(baselines)}" if len(baselines) > 1 else baselines[0]] = baselines
    columns |= {split.name: [split.name] for split in run.splits if split.family != BASELINE}
    values: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in run.properties:
        if row.value is not None and row.metric not in SIZES and "split" in row.tags:
            place = (row.metric, row.slice, str(row.tags.get("part", "")))
            values.setdefault(place, {})[str(row.tags["split"])] = row.value
    rows = []
    for (metric, slice_, part), found in values.items():
        cells = [_mean([found[name] for name in names if name in found]) for names in columns.values()]
        name = property_name(metric) + ("" if slice_ == "all" else f": {slice_}")
        rows.append({"name": name, "part": part, "slice": slice_, "cells": _aligned(cells)})
    return list(columns), rows


def property_name(metric: str) -> str:
    """A property in words: known ones by name, others by their id.

    >>> property_name("length.words"), property_name("shift.source"), property_name("odd_thing.x")
    ('words per text', 'shift of source', 'odd thing x')
    """
    stem, _, attribute = metric.partition(".")
    if stem in OF_ATTRIBUTE and attribute:
        return f"{OF_ATTRIBUTE[stem]} {attribute}"
    return PROPERTIES.get(metric, re.sub(r"[._]+", " ", metric))


def _aligned(cells: Sequence[float | None]) -> list[str]:
    """Numbers of one row with the same number of decimals, as many as the largest of them allows."""
    if all(each is None or float(each).is_integer() for each in cells):
        return [number(each, 0) for each in cells]
    largest = max((abs(each) for each in cells if each is not None), default=0.0)
    places = 3 if largest < 1 else 2 if largest < 10 else 1 if largest < 1000 else 0
    return [number(each, places) for each in cells]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def changes(run: StressRun, most: int = 5) -> list[tuple[str, list[str]]]:
    """Per split that is not random: sentences about what changed most."""
    said = [(split.name, changes_of(run, split, most)) for split in run.splits if split.family != BASELINE]
    return [(name, [capital(each) for each in sentences]) for name, sentences in said if sentences]


def class_rows(run: StressRun, family: str) -> list[Compared]:
    """F1 of every class on random splits and on `family`, in declared order; n counts the class's test rows."""
    rows = [(name, _compared(run, family, f"f1[{name}]", "all", name)) for name in run.label_names]
    return [
        replace(row, random=_of_class(run, row.random, BASELINE, name), hard=_of_class(run, row.hard, family, name))
        for name, row in rows
        if row is not None
    ]


def _of_class(run: StressRun, score: Measurement | None, family: str, label: str) -> Measurement | None:
    counts = [split.certificate.got[label] for split in run.of_family(family) if label in split.certificate.got]
    return replace(score, n=max(1, round(float(np.mean(counts))))) if score and sum(counts) else score


def slice_rows(run: StressRun, family: str) -> list[Compared]:
    """The main metric on every slice of the metadata, the largest fall first, unknown falls last."""
    names = dict.fromkeys(
        row.slice for row in run.measurements
        if row.metric == run.metric and row.slice != "all"
    )  # fmt: skip
    rows = [row for name in names if (row := _compared(run, family, run.metric, name, name))]
    return sorted(rows, key=lambda row: (row.fall is None, -(row.fall or 0.0), row.name))


def _compared(run: StressRun, family: str, metric: str, slice_: str, name: str) -> Compared | None:
    random, hard = (run.score(each, metric=metric, slice=slice_) for each in (BASELINE, family))
    if random is None and hard is None:
        return None
    fall = None
    if random is not None and hard is not None and random.value is not None and hard.value is not None:
        fall = (random.value - hard.value) * (1 if higher_is_better(metric) else -1)
    return Compared(name, random, hard, fall)


def gathered(run: StressRun) -> list[Finding]:
    """The findings of a run, the gravest first; those of copies on both sides of several splits as one."""
    tested = {split.name: max(1, split.sizes["test"]) for split in run.splits}
    several: dict[str, list[tuple[float, str, Finding]]] = {}
    for each in run.findings:
        match = COPIES.match(each.check)
        if match and match["split"] in tested and each.level in ("fail", "warn"):
            share = each.count / tested[match["split"]]
            several.setdefault(match["check"], []).append((share, match["split"], each))
    found = list(run.findings)
    for check, some in several.items():
        if len(some) < 2:
            continue
        share, split, most = max(some, key=lambda one: one[:2])
        said = (
            f"In {len(some)} of {len(tested)} splits, at most {100 * share:.1f} %. The most is in {split}: "
            f"{most.message} findings.csv has the others."
        )
        level = sorted_findings([each for _, _, each in some])[0].level
        place = found.index(some[0][2])
        found = [each for each in found if each not in [one for _, _, one in some]]
        found.insert(place, replace(most, check=f"{check}, {len(some)} splits", level=level, message=said))
    return sorted_findings(found)


def cluster_cards(run: StressRun, first: SplitCard | None) -> list[dict[str, Any]]:
    """Clusters by split, `first` first: those with test rows, the most first, and the others."""
    names = list(dict.fromkeys(each.split for each in run.clusters))
    if first is not None and first.name in names:
        names.remove(first.name)
        names.insert(0, first.name)
    groups = []
    for name in names:
        ours = [each for each in run.clusters if each.split == name]
        ours.sort(key=lambda each: (-each.test, -each.size, each.cluster))
        tested = [each for each in ours if each.test][:MOST_CARDS]
        others = [each for each in ours if not each.test][:MOST_CARDS]
        left = len(ours) - len(tested) - len(others)
        k = next((split.certificate.n_clusters for split in run.splits if split.name == name), None)
        groups.append({"split": name, "count": k or len(ours), "tested": tested, "others": others, "left": left})
    return groups


def mix(counts: Mapping[str, int], names: Sequence[str]) -> list[tuple[str, int, float]]:
    """Label, rows and share of each label that occurs, declared labels first."""
    total = max(1, sum(counts.values()))
    order = [*names, *(name for name in counts if name not in names)]
    return [(name, counts[name], counts[name] / total) for name in order if counts.get(name)]


def costs(run: StressRun) -> tuple[list[dict[str, Any]], float]:
    """Steps with their seconds and shares, and the sum."""
    steps = [
        (str(each.get("step", "?")), float(each.get("seconds") or 0.0))
        for each in run.about.get("timings") or []
        if isinstance(each, Mapping)
    ]
    total = sum(seconds for _, seconds in steps)
    return [{"step": step, "seconds": seconds, "share": seconds / (total or 1.0)} for step, seconds in steps], total


def seeds(run: StressRun) -> list[str]:
    """Seeds of the training runs, smallest first."""
    found = {str(row.tags["seed"]) for row in run.measurements if "seed" in row.tags and "split" in row.tags}
    return sorted(found, key=lambda each: (len(each), each))
