"""Two run folders side by side: what was set, used and split otherwise, and what became of the scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.differences import Key, Pair, PairedTrainings, difference, of_one_training, paired, paired_falls
from unseen.reports.record import RunRecord, read_record
from unseen.reports.wording import higher_is_better
from unseen.types import PARTS, Measurement, some

ABSENT = ""


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
    """`difference.METRIC`, B less A; the tag `rows` says whether the tested rows are the same, other or unknown."""
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

    @property
    def worst(self) -> float | None:
        """The largest loss of the main metric on a test part from A to B; below zero when all gain."""
        losses = [float(row.tags["a"]) - float(row.tags["b"]) for row in self.gated]
        return max(losses if higher_is_better(self.metric) else [-each for each in losses], default=None)


def compare_runs(
    a: str | Path,
    b: str | Path,
    *,
    metrics: Sequence[str] | None = None,
    part: str = "test",
    everything: bool = False,
) -> Comparison:
    """What changed from the run in folder `a` to that in folder `b`: B less A over paired trainings.

    Without `metrics`, the main metric of A; `everything` is every metric on every slice. Trainings are
    pairs when metric, slice and all tags are equal (family, split, seed, part; in studies data, space and model
    too); a model, data or space is left out where each run has one of it only.
    """
    if metrics and everything:
        raise InputError("metrics have no effect when every metric is asked for", fix="leave one of the two out")
    first, second = read_record(a), read_record(b)
    _refuse_other_labels(first, second)
    chosen = _metrics(first, second, metrics, everything)
    main = metrics[0] if metrics else first.metric
    _known("part", part, _values(first, "part") | _values(second, "part"))
    found = paired(first.measurements, second.measurements)
    shown = _only(found, chosen, part, everything)
    tested = cache(lambda split, of: _tested(split, of, first, second))  # reads splits, once each
    falls = paired_falls(first.measurements, second.measurements, found.ignored)
    names = {f"fall.{part_of}{name}" for name in chosen for part_of in ("", "selection.", "novelty.")}
    return Comparison(
        first.place, second.place, main, part,
        tuple(_difference(key, pairs, tested) for key, pairs in shown.groups.items()),
        tuple(pair for pair in falls if pair[0].metric in names and pair[0].tags.get("part", part) == part),
        tuple(difference(key, found.groups[key]) for key in found.groups if _wanted(key, [main], "test", False)),
        shown, (_seeds(first), _seeds(second)), *_changes(first, second),
    )  # fmt: skip


def _refuse_other_labels(a: RunRecord, b: RunRecord) -> None:
    """Scores of other labels are scores of another task."""
    if len(a.data) != 1 or len(b.data) != 1:
        return
    (ours, theirs) = ([*said.get("label_names", ())] for run in (a, b) for said in run.data.values())
    if ours and theirs and set(ours) != set(theirs):
        raise InputError(
            f"{a.folder} and {b.folder} are about other labels, so their scores cannot be compared",
            expected=some(ours),
            got=some(theirs),
        )


def _metrics(a: RunRecord, b: RunRecord, asked: Sequence[str] | None, everything: bool) -> list[str]:
    known = [dict.fromkeys(row.metric for row in run.measurements if of_one_training(row)) for run in (a, b)]
    for run, names in zip((a, b), known, strict=True):
        if not names:
            raise InputError(
                f"{run.folder} has no score of a single training",
                expected="rows with a split and a seed in measurements.csv",
                fix="name the folder of a finished run",
            )
    both = [*(known[0] | known[1])]
    for name in asked or [a.metric]:
        _known("metric", name, both)
    return both if everything else list(asked or [a.metric])


def _known(kind: str, name: str, known: Sequence[str] | set[str]) -> None:
    if name not in known:
        raise UnknownNameError.of(f"{kind} of these runs", name, sorted(known))


def _values(run: RunRecord, tag: str) -> set[str]:
    return {str(row.tags[tag]) for row in run.measurements if of_one_training(row) and tag in row.tags}


def _seeds(run: RunRecord) -> tuple[str, ...]:
    return tuple(sorted(_values(run, "seed"), key=lambda seed: (len(seed), seed)))


def _wanted(key: Key, metrics: Sequence[str], part: str, slices: bool) -> bool:
    said = dict(key)
    return said["metric"] in metrics and said.get("part", part) == part and (slices or said["slice"] == "all")


def _only(pairs: PairedTrainings, metrics: Sequence[str], part: str, slices: bool) -> PairedTrainings:
    def wanted(keys: Sequence[Key]) -> tuple[Key, ...]:
        return tuple(key for key in keys if _wanted(key, metrics, part, slices))

    groups = {key: pairs.groups[key] for key in wanted(tuple(pairs.groups))}
    return replace(
        pairs, groups=groups, only_a=wanted(pairs.only_a), only_b=wanted(pairs.only_b), apart=wanted(pairs.apart)
    )


def _difference(key: Key, pairs: Sequence[Pair], tested: Callable[[str, str], str]) -> Measurement:
    row = difference(key, pairs)
    splits = dict.fromkeys(str(first.tags["split"]) for first, _ in pairs)
    said = {tested(split, dict(key).get("part", ABSENT)) for split in splits}
    return replace(row, tags={**row.tags, "rows": next(each for each in ("other", "unknown", "same") if each in said)})


def _tested(split: str, part: str, a: RunRecord, b: RunRecord) -> str:
    """Whether both runs were tested on the same rows of a split."""
    first, second = a.splits.get(split), b.splits.get(split)
    if first is None or second is None or part not in PARTS:
        return "unknown"
    if first.data != second.data:
        return "other"
    same = first.sha256 == second.sha256 or first.ids(part) == second.ids(part)
    return "same" if same else "other"


def _changes(a: RunRecord, b: RunRecord) -> list[tuple[Change, ...]]:
    """Settings, versions, data and splits that differ."""
    sides = [
        (
            run.settings,
            run.versions,
            _fingerprints(run, alone=len(a.data) == len(b.data) == 1),
            {name: f"{split.sha256} of {split.data}" for name, split in run.splits.items()},
        )
        for run in (a, b)
    ]
    settings, versions, data, splits = (_changed(before, after) for before, after in zip(*sides, strict=True))
    named = tuple(Change(each.name, _named(a, each.a), _named(b, each.b)) for each in data)
    return [settings, versions, named, splits]


def _fingerprints(run: RunRecord, alone: bool) -> dict[str, str]:
    """By the name of the data; the only data of both runs are the same thing, whatever their file was called."""
    return {"data" if alone else name: str(said.get("fingerprint", ABSENT)) for name, said in run.data.items()}


def _named(run: RunRecord, fingerprint: str) -> str:
    """Data as people know it: name and rows, with the beginning of its fingerprint."""
    for name, said in run.data.items():
        if fingerprint and said.get("fingerprint") == fingerprint:
            return f"{name}, {said.get('rows', 'unknown')} rows, {fingerprint[:8]}…"
    return fingerprint


def _changed(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[Change, ...]:
    both = ((name, a.get(name, ABSENT), b.get(name, ABSENT)) for name in {**a, **b})
    return tuple(Change(*each) for each in both if each[1] != each[2])
