"""Two run folders side by side: what was set, used and split otherwise, and what became of the scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import hypot
from pathlib import Path

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.differences import (
    Key,
    Pair,
    PairedTrainings,
    difference,
    key_of,
    of_one_training,
    other_names,
    paired,
    paired_falls,
)
from unseen.evaluation.wording import higher_is_better
from unseen.reports.record import RunRecord, read_record
from unseen.types import LEVELS, PARTS, Measurement, some

ABSENT = ""
LABELLED = "labelled."
FORECAST = (LABELLED, "together.", "forecast.", "home.")
"""How scores of a forecast begin; the rest is what they rest on."""


@dataclass(frozen=True)
class Change:
    """Something that is not the same in both runs; empty where a run does not have it."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class Comparison:
    """What changed from run A to run B."""

    a: Path
    b: Path
    metric: str
    """Id of the main metric: the first that was asked for, else that of A."""
    part: str
    rows: tuple[Measurement, ...]
    """`difference.METRIC`, B minus A; of trainings, `tested_rows` says whether those are the same, other or unknown."""
    falls: tuple[Pair, ...]
    """`fall.METRIC` of A and of B, for each family that both have."""
    gated: tuple[Measurement, ...]
    """Differences of the main metric on the test part, whatever part was asked for."""
    pairs: PairedTrainings
    """How trainings were paired; groups of the chosen metrics and part alone."""
    seeds: tuple[tuple[str, ...], tuple[str, ...]]
    """Seeds of the trainings of A and of B."""
    settings: tuple[Change, ...]
    versions: tuple[Change, ...]
    data: tuple[Change, ...]
    """By fingerprint; name, rows and fingerprint."""
    splits: tuple[Change, ...]
    """By checksum."""
    findings: tuple[Change, ...]
    """Their levels, by check."""

    @property
    def worst(self) -> float | None:
        """The largest loss of the main metric on a test part from A to B; below zero when all gain."""
        losses = [float(row.tags["a"]) - float(row.tags["b"]) for row in self.gated]
        return max(losses if higher_is_better(self.metric) else [-loss for loss in losses], default=None)


def compare_runs(
    a: str | Path,
    b: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    part: str = "test",
    everything: bool = False,
) -> Comparison:
    """What changed from the run in folder `a` to that in folder `b`: B minus A over paired trainings.

    Without `metrics`, the main metric of A; `everything` is every metric on every slice. Trainings are
    pairs when metric, slice and all tags are equal (family, split, seed, part; in studies data, space and model
    too); a model, data or space is left out where each run has one of it only. Kinds of run that score no single
    training are compared number by number, all that are of the whole run, without intervals but for what labels say of
    other texts in two forecasts; whatever has one name in A and another in B, such as a model or a split, is one thing.
    """
    if metrics and everything:
        raise InputError("metrics have no effect when every metric is asked for", fix="leave one of the two out")
    first, second = read_record(a), read_record(b)
    if first.kind != second.kind:
        raise InputError("runs of two kinds cannot be compared", got=f"{first.kind} and {second.kind}")
    _refuse_other_labels(first, second)
    by_training = _by_training(first, second, metrics)
    sides = [
        [row for row in run.measurements if of_one_training(row)] if by_training else of_whole_run(run.measurements)
        for run in (first, second)
    ]
    for run, side in zip((first, second), sides, strict=True):
        if not side:
            raise InputError(f"{run.folder} has no number to compare", fix="name the folder of a finished run")
    rows = [row for side in sides for row in side]
    chosen = _metrics(first.metric if by_training else "", rows, metrics, everything)
    whole = [row.metric for row in rows if row.slice == "all" and row.metric in chosen]
    slices = everything or not whole
    main = first.metric if first.metric in chosen and not metrics else chosen[0]
    if main not in whole and not metrics:
        main = next(iter(whole), main)
    if by_training or part != "test":
        _known("part", part, {str(row.tags["part"]) for row in rows if "part" in row.tags})
    of_part = part if any(row.tags.get("part") == part for row in rows if row.metric == main) else None
    pairs = paired(*sides) if by_training else _paired_rows(*sides)
    shown = _only(pairs, chosen, of_part, slices)
    apart = first.kind == "forecast" and _fingerprints(first, alone=True) != _fingerprints(second, alone=True)
    tested = cache(lambda split, of: _tested(split, of, first, second))  # reads splits, once each
    falls = paired_falls(first.measurements, second.measurements, pairs.ignored)
    names = {f"fall.{part_of}{name}" for name in chosen for part_of in ("", "selection.", "novelty.")}
    of_main = [key for key in pairs.groups if _asked_for(key, [main], "test", slices)]
    return Comparison(
        first.place, second.place, main, part,
        tuple(_difference(key, group, tested, apart) for key, group in shown.groups.items()),
        tuple(pair for pair in falls if pair[0].metric in names and pair[0].tags.get("part", part) == part),
        tuple(_change(key, pairs.groups[key], apart) for key in of_main),
        shown, (_seeds(first), _seeds(second)), *_changes(first, second, pairs.ignored),
    )  # fmt: skip


def _by_training(a: RunRecord, b: RunRecord, metrics: Sequence[str] | None) -> bool:
    """Whether single trainings are compared: where both runs have scores of some, unless only their means are there."""
    asked = metrics or [a.metric]
    trained = [{row.metric for row in run.measurements if of_one_training(row)} for run in (a, b)]
    whole = [{row.metric for row in of_whole_run(run.measurements)} for run in (a, b)]
    if all(names.intersection(asked) for names in trained):
        return True
    return all(trained) and not all(names.intersection(asked) for names in whole)


def of_whole_run(rows: Sequence[Measurement]) -> list[Measurement]:
    """The numbers of a run as a whole: means over trainings and what was measured once, not what each training gave."""
    averaged = any(row.tags.get("seed") == "mean" for row in rows)
    return [
        row for row in rows
        if not of_one_training(row) and not row.metric.startswith("standard_error.")
        and (not averaged or row.tags.get("seed", "mean") == "mean")
    ]  # fmt: skip


def _paired_rows(a: Sequence[Measurement], b: Sequence[Measurement]) -> PairedTrainings:
    """Rows of two runs that are equal in metric, slice and tags, a pair each: kinds of run without single trainings."""
    ignored = other_names(a, b)
    sides = [{key_of(row, ignored): row for row in rows if row.value is not None} for rows in (a, b)]
    ours, theirs = sides
    tags = dict.fromkeys(name for side in sides for key in side for name, _ in key if name not in ("metric", "slice"))
    groups = {key: ((row, theirs[key]),) for key, row in ours.items() if key in theirs}
    only_a, only_b = (tuple(key for key in side if key not in groups) for side in sides)
    return PairedTrainings(groups, only_a, only_b, (), ignored, tuple(tags))


def _refuse_other_labels(a: RunRecord, b: RunRecord) -> None:
    """Scores of other labels are scores of another task."""
    if len(a.data) != 1 or len(b.data) != 1:
        return
    (ours, theirs) = ([*data.get("label_names", ())] for run in (a, b) for data in run.data.values())
    if ours and theirs and set(ours) != set(theirs):
        raise InputError(
            f"{a.folder} and {b.folder} are about other labels, so their scores cannot be compared",
            expected=some(ours),
            got=some(theirs),
        )


def _metrics(main: str, rows: Sequence[Measurement], asked: Sequence[str] | None, everything: bool) -> list[str]:
    """The metrics to compare; without any asked for, the main one, else the scores of a forecast, else all but falls,
    which have a table of their own.
    """
    known = list(dict.fromkeys(row.metric for row in rows))
    for name in asked or ():
        _known("metric", name, known)
    if asked or (main in known and not everything):
        return list(asked or [main])
    scores = [name for name in known if name.startswith(FORECAST)]
    return known if everything else scores or [name for name in known if not name.startswith("fall.")] or known


def _known(kind: str, name: str, known: Sequence[str] | set[str]) -> None:
    if name not in known:
        raise UnknownNameError.of(f"{kind} of these runs", name, sorted(known))


def _seeds(run: RunRecord) -> tuple[str, ...]:
    seeds = {str(row.tags["seed"]) for row in run.measurements if of_one_training(row)}
    return tuple(sorted(seeds, key=lambda seed: (len(seed), seed)))


def _asked_for(key: Key, metrics: Sequence[str], part: str | None, slices: bool) -> bool:
    """Whether a group has one of these metrics on this part, or on any without one."""
    tags = dict(key)
    of_part = part is None or tags.get("part", part) == part
    return tags["metric"] in metrics and of_part and (slices or tags["slice"] == "all")


def _only(pairs: PairedTrainings, metrics: Sequence[str], part: str | None, slices: bool) -> PairedTrainings:
    def chosen(keys: Sequence[Key]) -> tuple[Key, ...]:
        return tuple(key for key in keys if _asked_for(key, metrics, part, slices))

    groups = {key: pairs.groups[key] for key in chosen(tuple(pairs.groups))}
    return replace(
        pairs, groups=groups, only_a=chosen(pairs.only_a), only_b=chosen(pairs.only_b), apart=chosen(pairs.apart)
    )


def _change(key: Key, pairs: Sequence[Pair], apart: bool) -> Measurement:
    """B minus A of a group; rows that are no single trainings are one pair.

    That has an interval where labels of other texts say both numbers (`apart`): from the two intervals (MOVER, Zou and
    Donner 2008), each of which may be lopsided.
    """
    (a, b), *_ = pairs
    if of_one_training(a):
        return difference(key, pairs)
    assert a.value is not None
    assert b.value is not None
    tags = {name: value for name, value in key if name not in ("metric", "slice")}
    more: dict[str, str | float] = {"a": a.value, "b": b.value}
    change, low, high = b.value - a.value, None, None
    if apart and a.metric.startswith(LABELLED) and None not in (a.low, a.high, b.low, b.high):
        low = change - hypot(b.value - b.low, a.high - a.value)  # type: ignore[operator]
        high = change + hypot(b.high - b.value, a.value - a.low)  # type: ignore[operator]
    return Measurement(f"difference.{a.metric}", change, b.n, low, high, a.slice, more | tags)


def _difference(key: Key, pairs: Sequence[Pair], tested: Callable[[str, str], str], apart: bool) -> Measurement:
    row = _change(key, pairs, apart)
    if not of_one_training(pairs[0][0]):
        return row
    splits = dict.fromkeys(str(first.tags["split"]) for first, _ in pairs)
    rows = {tested(split, dict(key).get("part", ABSENT)) for split in splits}
    worst = next(same for same in ("other", "unknown", "same") if same in rows)
    return replace(row, tags={**row.tags, "tested_rows": worst})


def _tested(split: str, part: str, a: RunRecord, b: RunRecord) -> str:
    """Whether both runs were tested on the same rows of a split."""
    first, second = a.splits.get(split), b.splits.get(split)
    if first is None or second is None or part not in PARTS:
        return "unknown"
    if first.data != second.data:
        return "other"
    same = first.sha256 == second.sha256 or first.ids(part) == second.ids(part)
    return "same" if same else "other"


def _changes(a: RunRecord, b: RunRecord, names: Mapping[str, tuple[str, str]]) -> list[tuple[Change, ...]]:
    """Settings, versions, data, splits and levels of findings that differ; `names` are of the same thing in both."""
    alone = len(a.data) == len(b.data) == 1
    sides = [
        (
            _under_one_name(run.settings, [pair[side] for pair in names.values()]),
            run.versions,
            _under_one_name(_fingerprints(run, alone), [pair[side] for pair in names.values()]),
            {name: f"{split.sha256} of {split.data}" for name, split in run.splits.items()},
            _levels(run),
        )
        for side, run in enumerate((a, b))
    ]
    settings, versions, data, *rest = (_changed(before, after) for before, after in zip(*sides, strict=True))
    named = tuple(Change(change.name, _named(a, change.a), _named(b, change.b)) for change in data)
    return [settings, versions, named, *rest]


def _under_one_name(values: Mapping[str, str], names: Sequence[str]) -> dict[str, str]:
    """Dotted names without what the one model, say, of the run is called: `models.source` for `models.mine.source`."""
    short = dict(values)
    for name in filter(None, names):
        short = {place.replace(f".{name}.", "."): value for place, value in short.items()}
    return short


def _levels(run: RunRecord) -> dict[str, str]:
    """What each check found; several levels where it found several things."""
    levels: dict[str, dict[str, None]] = {}
    for finding in run.findings:
        levels.setdefault(finding.check, {})[finding.level] = None
    return {check: ", ".join(sorted(of_check, key=LEVELS.index)) for check, of_check in levels.items()}


def _fingerprints(run: RunRecord, alone: bool) -> dict[str, str]:
    """By the name of the data; the only data of both runs are the same thing, whatever their file was called."""
    return {
        "data" if alone and name in run.data else name: str(data.get("fingerprint", ABSENT))
        for name, data in run.described_data.items()
    }


def _named(run: RunRecord, fingerprint: str) -> str:
    """Data as people know it: name and rows, with the beginning of its fingerprint."""
    for name, data in run.described_data.items():
        if fingerprint and data.get("fingerprint") == fingerprint:
            return f"{data.get('name', name)}, {data.get('rows', 'unknown')} rows, {fingerprint[:8]}…"
    return fingerprint


def _changed(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Change, ...]:
    both = ((name, a.get(name, ABSENT), b.get(name, ABSENT)) for name in {**a, **b})
    return tuple(Change(*sides) for sides in both if sides[1] != sides[2])
