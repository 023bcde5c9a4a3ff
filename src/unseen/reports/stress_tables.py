"""The tables of a stress report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unseen.evaluation.wording import called, duration, fallen, higher_is_better, in_points, writer
from unseen.reports.case import Case, cases
from unseen.reports.figures import ScoreRow
from unseen.reports.formats import Cell, Pale, Strong, Table
from unseen.reports.page import sorted_findings
from unseen.reports.record import BASELINE, Cluster, RunRecord, SplitFile
from unseen.types import PARTS, Finding, Measurement
from unseen.types.numbers import DASH, digits, in_bytes, number, percent, scored

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
MEANINGS = {
    "rows missed": "by how many rows the test part differs from what was asked for, over all labels",
    "k": "number of clusters of the clustering that was chosen",
    "whole clusters": "how many clusters are in the test part with all of their rows",
    "singly": "share of the test rows that were added one by one because whole clusters did not add up; the lower, the "
    "purer the split",
    "choice": "what is proven about the choice of clusters: that no other choice comes nearer to the size and class "
    "mix asked for, or by how many rows any must miss",
    "independent": "rows set aside before all splits; every model is tested on them too, which shows whether it learnt "
    "the task",
}
"""The columns of the table of splits."""


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
        return any(row is not None and row.n < FEW for row in (self.random, self.hard))


def falling(run: RunRecord) -> str:
    """What a worse score does: fall, or rise where lower is better."""
    return "fall" if higher_is_better(run.metric) else "rise"


def _fall_column(run: RunRecord) -> str:
    return f"{falling(run)}{', points' if in_points(run.metric) else ''}"


def _fall(run: RunRecord, row: Measurement | None) -> Cell:
    return DASH if row is None else Strong(fallen(run.metric, row))


def score_rows(run: RunRecord) -> list[ScoreRow]:
    """Scores of every family on its test part and on the independent part."""
    rows = []
    for family in run.families:
        for part in ("test", "independent"):
            score = run.score(family, part)
            if score is not None and score.value is not None:
                rows.append(ScoreRow(family, part, score.value, score.low, score.high, tuple(run.single(family, part))))
    return rows


def scores_table(run: RunRecord) -> Table:
    """The numbers of the chart of scores, a row per family; intervals of falls allow for taking the worst of them."""
    falls = {case.family: case.fall for case in cases(run)}
    rows = tuple(
        (
            family, len(run.single(family)), scored(run.score(family)), _fall(run, falls.get(family)),
            scored(run.score(family, "independent")), scored(run.score(family, "dev")),
            ", ".join(map(number, run.single(family))) or DASH,
        )
        for family in run.families
    )  # fmt: skip
    columns = ("family", "runs", "test", _fall_column(run), "independent", "dev", "single runs")
    return Table("Scores by family of splits", columns, rows)


def metric_table(run: RunRecord) -> Table | None:
    """Every metric besides the main one on the test part, a cell per family; scores of single labels left out."""
    names = dict.fromkeys(
        row.metric
        for row in run.measurements
        if row.tags.get("seed") == "mean" and row.tags.get("part") == "test" and row.slice == "all"
        and not row.metric.startswith(("standard_error.", "seen."))
        and "[" not in row.metric and row.metric != run.metric
    )  # fmt: skip
    rows = tuple((called(name), *(scored(run.score(family, metric=name)) for family in run.families)) for name in names)
    return Table("Other metrics by family of splits", ("metric", *run.families), rows) if rows else None


def parts_table(run: RunRecord, parted: Sequence[Case]) -> Table:
    """What every fall is made of."""
    rows = tuple(
        (
            case.family, *(number(None if row is None else row.value) for row in (case.random, case.seen, case.hard)),
            *(_fall(run, row) for row in (case.fall, case.selection, case.novelty)),
            percent(None if case.noise is None else case.noise.value),
            DASH if case.corrected is None else writer(run.metric)(case.corrected.value),
            percent(None if case.overlap is None else case.overlap.value),
        )
        for case in parted
    )  # fmt: skip
    columns = (
        "family", "random", "seen", "unseen", _fall_column(run), "selection", "novelty", "wrong labels", "without",
        "stays",
    )  # fmt: skip
    return Table("Parts of the fall by family of splits", columns, rows)


def split_table(run: RunRecord) -> Table:
    """What every split is made of and what is proven about it."""
    rows = tuple(
        (
            split.name, *(split.sizes[part] for part in PARTS[:4]), split.certificate.missed,
            split.certificate.n_clusters or DASH, _whole(run.clusters, split) or DASH,
            percent(split.certificate.completed_share) if split.certificate.n_clusters else DASH,
            _proof(split) or DASH,
        )
        for split in run.splits.values()
    )  # fmt: skip
    return Table("Splits", ("split", *PARTS[:4], "rows missed", "k", "whole clusters", "singly", "choice"), rows)


def asked_table(run: RunRecord) -> Table:
    """Test rows asked for and got, per label."""
    labels = run.about["data"]["label_names"]
    rows = tuple(
        (
            split.name,
            *(f"{split.certificate.asked.get(name, 0):,} / {split.certificate.got.get(name, 0):,}" for name in labels),
        )
        for split in run.splits.values()
    )  # fmt: skip
    return Table("Test rows asked for and got, per label", ("split", *labels), rows)


def origin_table(run: RunRecord) -> Table:
    """How every split was made, and the checksum of its file."""
    rows = tuple(
        (split.name, split.origin.step, split.origin.seed, split.sha256 or DASH) for split in run.splits.values()
    )
    return Table("How the splits were made", ("split", "method", "seed", "sha256"), rows)


def _whole(clusters: Sequence[Cluster], split: SplitFile) -> str:
    """How many clusters are in the test part as a whole."""
    ours = [cluster for cluster in clusters if cluster.split == split.name]
    k = split.certificate.n_clusters
    if not k or not ours:
        return ""
    shown_all = sum(cluster.test for cluster in ours) >= split.sizes["test"]
    return f"{'' if shown_all else '≥ '}{sum(cluster.test == cluster.size for cluster in ours)} of {k}"


def _proof(split: SplitFile) -> str:
    certificate = split.certificate
    if certificate.optimal:
        return "whole clusters: nearest possible, proven" if certificate.completed else "nearest possible, proven"
    if certificate.missed_at_least is not None:
        return f"misses at least {certificate.missed_at_least} rows, proven"
    return "not proven" if certificate.optimal is False else ""


def property_tables(run: RunRecord) -> tuple[Table | None, Table | None]:
    """Properties of all test texts, and by slice: random splits as their mean, every other split on its own."""
    columns = {}
    baselines = [split.name for split in run.of_family(BASELINE)]
    if baselines:
        columns[f"random, mean of {len(baselines)}" if len(baselines) > 1 else baselines[0]] = baselines
    columns |= {split.name: [split.name] for split in run.splits.values() if split.family != BASELINE}
    values: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in run.properties:
        if row.value is not None and row.metric not in SIZES and "split" in row.tags:
            place = (row.metric, row.slice, str(row.tags.get("part", "")))
            values.setdefault(place, {})[str(row.tags["split"])] = row.value
    whole: list[tuple[Cell, ...]] = []
    sliced: list[tuple[Cell, ...]] = []
    for (metric, slice_, part), by_split in values.items():
        means = [_mean([by_split[name] for name in names if name in by_split]) for names in columns.values()]
        name = property_name(metric) + ("" if slice_ == "all" else f": {slice_}")
        (whole if slice_ == "all" else sliced).append((name, part, *_aligned(means)))
    heads = ("property", "part", *columns)
    all_texts, slices = (
        Table(f"Properties of the splits, {of}", heads, tuple(rows)) if rows else None
        for of, rows in (("all texts", whole), ("slices", sliced))
    )
    return all_texts, slices


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
    if all(value is None or float(value).is_integer() for value in cells):
        return [number(value, 0) for value in cells]
    largest = max((abs(value) for value in cells if value is not None), default=0.0)
    places = 3 if largest < 1 else 2 if largest < 10 else 1 if largest < 1000 else 0
    return [number(value, places) for value in cells]


def _mean(values: Sequence[float]) -> float | None:
    return float(np.mean(values)) if values else None


def class_rows(run: RunRecord, family: str) -> list[Compared]:
    """F1 of every class on random splits and on `family`, in declared order; n counts the class's test rows."""
    rows = [(name, _compared(run, family, f"f1[{name}]", "all", name)) for name in run.about["data"]["label_names"]]
    return [
        replace(row, random=_of_class(run, row.random, BASELINE, name), hard=_of_class(run, row.hard, family, name))
        for name, row in rows
        if row is not None
    ]


def _of_class(run: RunRecord, score: Measurement | None, family: str, label: str) -> Measurement | None:
    counts = [split.certificate.got[label] for split in run.of_family(family) if label in split.certificate.got]
    return replace(score, n=max(1, round(float(np.mean(counts))))) if score and sum(counts) else score


def slice_rows(run: RunRecord, family: str) -> list[Compared]:
    """The main metric on every slice of the metadata, the largest fall first, unknown falls last."""
    names = dict.fromkeys(
        row.slice for row in run.measurements
        if row.metric == run.metric and row.slice != "all"
    )  # fmt: skip
    rows = [row for name in names if (row := _compared(run, family, run.metric, name, name))]
    return sorted(rows, key=lambda row: (row.fall is None, -(row.fall or 0.0), row.name))


def _compared(run: RunRecord, family: str, metric: str, slice_: str, name: str) -> Compared | None:
    random, hard = (run.score(of_family, metric=metric, slice=slice_) for of_family in (BASELINE, family))
    if random is None and hard is None:
        return None
    fall = None
    if random is not None and hard is not None and random.value is not None and hard.value is not None:
        fall = (random.value - hard.value) * (1 if higher_is_better(metric) else -1)
    return Compared(name, random, hard, fall)


def compared_table(run: RunRecord, rows: Sequence[Compared], what: str) -> Table:
    """Scores on random and on hard splits, rows with few texts pale."""
    lines = tuple(
        (
            Pale(row.name) if row.few else row.name, scored(row.random), row.random.n if row.random else DASH,
            scored(row.hard), row.hard.n if row.hard else DASH,
            DASH if row.fall is None else Strong(writer(run.metric)(row.fall)),
        )
        for row in rows
    )  # fmt: skip
    return Table(f"Scores by {what}", (what, "random", "texts", "hard", "texts there", _fall_column(run)), lines)


def gathered(run: RunRecord) -> list[Finding]:
    """The findings of a run, the gravest first; those of copies on both sides of several splits as one."""
    tested = {name: max(1, split.sizes["test"]) for name, split in run.splits.items()}
    copies: dict[str, list[tuple[float, str, Finding]]] = {}
    for finding in run.findings:
        match = COPIES.match(finding.check)
        if match and match["split"] in tested and finding.level in ("fail", "warn"):
            share = finding.count / tested[match["split"]]
            copies.setdefault(match["check"], []).append((share, match["split"], finding))
    findings = list(run.findings)
    for check, several in copies.items():
        if len(several) < 2:
            continue
        _, split, most = max(several, key=lambda copied: copied[:2])
        message = (
            f"{split}: {most.message} So it is in {len(several) - 1} more of {len(tested)} splits, with no larger "
            "share: findings.csv has them."
        )
        of_check = [finding for _, _, finding in several]
        place = findings.index(of_check[0])
        findings = [finding for finding in findings if finding not in of_check]
        level = sorted_findings(of_check)[0].level
        findings.insert(place, replace(most, check=f"{check}, {len(several)} splits", level=level, message=message))
    return sorted_findings(findings)


def cluster_cards(run: RunRecord, first: SplitFile | None) -> list[dict[str, Any]]:
    """Clusters by split, `first` first: those with test rows, the most first, and the others."""
    names = list(dict.fromkeys(cluster.split for cluster in run.clusters))
    names.sort(key=lambda name: first is None or name != first.name)
    groups = []
    for name in names:
        ours = [cluster for cluster in run.clusters if cluster.split == name]
        ours.sort(key=lambda cluster: (-cluster.test, -cluster.size, cluster.cluster))
        tested = [cluster for cluster in ours if cluster.test][:MOST_CARDS]
        others = [cluster for cluster in ours if not cluster.test][:MOST_CARDS]
        k = run.splits[name].certificate.n_clusters if name in run.splits else None
        left = len(ours) - len(tested) - len(others)
        groups.append({"split": name, "count": k or len(ours), "tested": tested, "others": others, "left": left})
    return groups


def mix(counts: Mapping[str, int], names: Sequence[str]) -> list[tuple[str, int, float]]:
    """Label, rows and share of each label that occurs, declared labels first."""
    total = max(1, sum(counts.values()))
    order = [*names, *(name for name in counts if name not in names)]
    return [(name, counts[name], counts[name] / total) for name in order if counts.get(name)]


SPEED_COLUMNS = ("training", "answers", "memory at most")
SPEED_NOTE = (
    "Training: texts by the seconds of whole trainings, validation included; answers: texts a second. Memory is that "
    "of the process, which may have done other steps too; `unseen model cost` measures each model by itself."
)


def speed_cells(speeds: Mapping[str, Any] | None) -> tuple[str, ...]:
    """How fast trainings and answers were, and the memory they took; dashes where nothing was kept."""
    if not speeds:
        return (DASH,) * len(SPEED_COLUMNS)
    rates = (DASH if not speeds[phase] else f"{digits(speeds[phase])} texts/s" for phase in ("training", "answering"))
    return (*rates, in_bytes(speeds["peak_memory"]))


def speed_table(run: RunRecord) -> Table | None:
    """The cost of the trainings beside the scores; None where nothing was kept."""
    speeds = run.about.get("speeds")
    if not speeds:
        return None
    of_one = duration(speeds["processor_seconds"])
    score = run.row(run.metric, family=BASELINE, part="test", seed="mean")
    line = (scored(score), speeds["trainings"], of_one, *speed_cells(speeds))
    columns = (f"{called(run.metric)}, random split", "trainings", "processor time of one", *SPEED_COLUMNS)
    return Table("Cost beside the score", columns, (line,), SPEED_NOTE)


def cost_table(run: RunRecord) -> Table | None:
    """Steps with their time and its share."""
    steps = [
        (str(step.get("step", "?")), float(step.get("seconds") or 0.0))
        for step in run.about.get("timings") or []
        if isinstance(step, Mapping)
    ]
    total = sum(seconds for _, seconds in steps) or 1.0
    rows = tuple((step, duration(seconds), percent(seconds / total)) for step, seconds in steps)
    return Table("Time of each step", ("step", "time", "share"), rows) if rows else None


def seeds(run: RunRecord) -> list[str]:
    """Seeds of the trainings, smallest first."""
    numbers = {str(row.tags["seed"]) for row in run.measurements if "seed" in row.tags and "split" in row.tags}
    return sorted(numbers, key=lambda seed: (len(seed), seed))
