"""Which items the rules flag: how many, where, and how many of them others flag as well. Nothing is deleted.

Flags stand beside the data. Their file is a CSV of one row per item and rule that flags it, with what else is known
beside it as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.findings import evidence_of
from unseen.audits.items.rule import DEFAULT_PACKS, Items, rules_of
from unseen.audits.items.scrape_noise import check_language
from unseen.errors import InputError, MismatchError
from unseen.evaluation.measurements import places_by_slice, share_of
from unseen.progress import track
from unseen.store import read_json, write_json
from unseen.store.files import harmless, holds, read_rows, twin_of, unharmed, write_rows
from unseen.types import Dataset, Finding, Measurement, Split, some
from unseen.types.arrays import Mask, Rows, frozen, places_among
from unseen.types.numbers import percent

COLUMNS = ["id", "rule", "pack", "trait"]
KEYS = {"rules", "dataset", "counted_on"}
MUCH = 0.5
"""A rule that flags more than this share of the items does not tell good ones from bad."""
UNEVEN = 2.0
"""A rule that flags one label so many times as often as all items together changes the mix of labels."""
FEWEST_FLAGS = 10
"""Flags that a label needs before its rate is compared."""


@dataclass(frozen=True)
class RuleName:
    """What is known of a rule once it has voted."""

    name: str
    pack: str
    trait: str

    @property
    def tags(self) -> dict[str, str | int | float]:
        """Tags of what is measured of it."""
        return {"rule": self.name, "pack": self.pack}


@dataclass(frozen=True, eq=False)
class Flags:
    """The votes of rules on items; a rule flags or abstains."""

    ids: pa.ChunkedArray
    rules: tuple[RuleName, ...]
    fired: Mask
    """Whether each rule flags each item [items, rules]."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Rules that were asked for and could not vote, and why."""
    dataset: str = ""
    """Fingerprint of the data."""
    counted_on: str = "all"
    """`train` when rules counted on the training part of a split, else `all`."""

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.rules))
        if self.fired.shape != shape:
            raise InputError("flags have the wrong shape", expected=str(shape), got=str(self.fired.shape))
        object.__setattr__(self, "fired", frozen(self.fired, np.bool_))

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def votes(self) -> Rows:
        """How many rules flag each item."""
        return self.fired.sum(axis=1)

    @property
    def thresholds(self) -> range:
        """Numbers of rules that some item reaches, and 1."""
        return range(1, max(1, int(self.votes.max(initial=0))) + 1)

    def flagged(self, threshold: int = 1) -> Mask:
        """Items that at least `threshold` rules flag; refuses a threshold that no item can reach."""
        if not 1 <= threshold <= max(1, len(self.rules)):
            raise InputError(
                "the threshold is a number of rules", expected=f"1 to {len(self.rules)}", got=str(threshold)
            )
        return np.asarray(self.votes >= threshold)

    def of(self, data: Dataset) -> Flags:
        """The flags of these rows in their order; refuses other data."""
        if self.dataset and self.dataset != data.fingerprint:
            raise MismatchError(
                "the flags belong to other data",
                expected=f"fingerprint {self.dataset}",
                got=f"{data.name}: fingerprint {data.fingerprint}",
                fix="flag this data: unseen audit items flag",
            )
        places = places_among(data.ids, self.ids, "rows have no flags")
        return replace(self, ids=data.ids, fired=self.fired[places])


def flag_items(
    data: Dataset,
    packs: Sequence[str] = DEFAULT_PACKS,
    split: Split | None = None,
    *,
    language: str = "en",
    seed: int = 42,
) -> Flags:
    """The votes of every rule of these packs on every row.

    With a split, rules that count do so on its training and validation rows alone and look the others up, so that
    no test row changes another's flags; without one they count on all rows. Rules that know only English words do
    not vote on another language. A flag is a reason to read a text, not proof that it is wrong: measure how right
    the rules are on your data with hand labels.
    """
    rules = rules_of(packs)
    check_language(language)
    items = Items(data, counted_rows(data, split), language, seed)
    voting = [rule for rule in rules if language == "en" or "english" not in rule.needs]
    skipped = {rule.name: "knows English words only" for rule in rules if rule not in voting}
    columns = [rule.fires(items) for rule in track(voting, "rules", len(voting))]
    fired = np.stack(columns, axis=1) if columns else np.zeros((len(data), 0), bool)
    names = tuple(RuleName(rule.name, rule.pack, rule.trait) for rule in voting)
    return Flags(data.ids, names, fired, skipped, data.fingerprint, "all" if split is None else "train")


def counted_rows(data: Dataset, split: Split | None) -> Mask:
    """Rows that rules may count on."""
    if split is None:
        return np.ones(len(data), bool)
    counted = np.isin(np.arange(len(data)), split.of(data).rows("train", "dev"))
    if not counted.any():
        raise InputError(f"the split {split.name!r} has no training rows to count on")
    return counted


def check_flags_path(path: str | Path) -> None:
    """Refuse a place where flags would replace a file of somebody else's."""
    path = Path(path)
    if path.suffix != ".csv":
        raise InputError(f"flags are written as CSV, not to {path.name}", fix=f"name it {path.stem}.csv")
    twin_of(path, KEYS)
    if path.exists() and not holds(path.with_suffix(".json"), KEYS):
        raise InputError(f"{path} is there already and does not hold flags", fix="name another file")


def write_flags(flags: Flags, path: str | Path, data: Dataset | None = None) -> Path:
    """Write the flags, each with its place in `data`; texts are not in them.

    The description comes first: flags without one are nobody's.
    """
    path = Path(path)
    check_flags_path(path)
    about = {
        "rules": [asdict(rule) for rule in flags.rules], "skipped": dict(flags.skipped), "dataset": flags.dataset,
        "counted_on": flags.counted_on, "items": len(flags), "flagged": int(flags.flagged().sum()),
    }  # fmt: skip
    write_json(path.with_suffix(".json"), about)
    ids = flags.ids.to_pylist()
    places = {} if data is None else data.places_of([ids[row] for row in np.flatnonzero(flags.fired.any(axis=1))])
    rows = (
        [*map(harmless, (ids[row], *astuple(flags.rules[place]))), places.get(ids[row], "")]
        for row, place in np.argwhere(flags.fired).tolist()
    )
    return write_rows(path, [*COLUMNS, "row"], rows)


def read_flags(path: str | Path, data: Dataset) -> Flags:
    """The flags in `path`, for the rows of `data`. Without the JSON beside it, rules that never fired are unknown."""
    path = Path(path)
    lines = read_rows(path, "flags", COLUMNS, lambda line: tuple(unharmed(line[name]) for name in COLUMNS))
    twin = path.with_suffix(".json")
    about: Mapping[str, Any] = read_json(twin) if holds(twin, KEYS) else {}
    rules = _rules(about, twin) or tuple(dict.fromkeys(RuleName(*line[1:]) for line in lines))
    place = {rule.name: at for at, rule in enumerate(rules)}
    rows = pc.index_in(pa.array([line[0] for line in lines], data.ids.type), value_set=data.ids)
    strange = sorted({line[1] for line in lines} - place.keys())
    if rows.null_count or strange:
        unknown = list(dict.fromkeys(line[0] for line, row in zip(lines, rows.to_pylist(), strict=True) if row is None))
        ids = "1 flagged id is" if len(unknown) == 1 else f"{len(unknown):,} flagged ids are"
        problems = [f"{ids} not in {data.name}: {some(unknown)}"] if unknown else []
        problems += [f"{twin.name} does not know the rules {some(strange)}"] if strange else []
        raise MismatchError(f"{path} does not fit", problems=problems)
    fired = np.zeros((len(data), len(rules)), bool)
    if lines:
        fired[rows.to_numpy(zero_copy_only=False).astype(np.intp), [place[line[1]] for line in lines]] = True
    dataset, counted_on = str(about.get("dataset", "")), str(about.get("counted_on", "all"))
    return Flags(data.ids, rules, fired, about.get("skipped", {}), dataset, counted_on).of(data)


def _rules(about: Mapping[str, Any], twin: Path) -> tuple[RuleName, ...]:
    try:
        return tuple(RuleName(**rule) for rule in about.get("rules", ()))
    except TypeError as cause:
        raise InputError(f"{twin} does not describe flags: {cause}") from cause


def rule_report(
    flags: Flags, data: Dataset, split: Split | None = None, slices: Sequence[str] = ()
) -> list[Measurement]:
    """Coverage of every rule, overlap of every two, and the share flagged at every threshold, with intervals.

    `rule_coverage` is the share of items a rule flags: of all, of each label, of each part of the split, of each
    value of the attributes `slices`. `rule_overlap` is the share of a rule's flags that another rule shares,
    `rule_alone` the share that no other does. `flagged_share` counts items that at least so many rules flag.
    """
    flags = flags.of(data)
    measurements = []
    for name, rows in _slices(data, split, slices):
        if not len(rows):
            continue
        for place, rule in enumerate(flags.rules):
            measurements.append(share_of("rule_coverage", flags.fired[rows, place], rule.tags, name))
        for threshold in flags.thresholds:
            flagged = flags.votes[rows] >= threshold
            measurements.append(share_of("flagged_share", flagged, {"threshold": threshold}, name))
    return measurements + _overlap(flags)


def rule_findings(flags: Flags, data: Dataset) -> list[Finding]:
    """One finding per rule: what it flags, and whether that looks like a rule that does not fit the data."""
    flags = flags.of(data)
    findings = [_finding(flags, data, place) for place in range(len(flags.rules))]
    return findings + [
        Finding(f"items.{name}", "skipped", f"The rule {name!r} did not vote: it {why}.")
        for name, why in flags.skipped.items()
    ]


def _slices(data: Dataset, split: Split | None, slices: Sequence[str]) -> Iterator[tuple[str, Rows]]:
    yield from places_by_slice(data, np.arange(len(data)), slices)
    for code, label in enumerate(data.label_names):
        yield f"label={label}", np.flatnonzero(data.labels == code)
    if split is not None:
        parts = split.of(data)
        yield from ((f"part={part}", parts.rows(part)) for part in parts.sizes)


def _overlap(flags: Flags) -> list[Measurement]:
    measurements = []
    for place, rule in enumerate(flags.rules):
        own = flags.fired[:, place]
        if not own.any():
            continue
        measurements.append(share_of("rule_alone", flags.votes[own] == 1, rule.tags))
        for other_place, other in enumerate(flags.rules):
            both: Mask = flags.fired[own, other_place]
            if other_place != place and both.any():
                measurements.append(share_of("rule_overlap", both, rule.tags | {"other": other.name}))
    return measurements


def _finding(flags: Flags, data: Dataset, place: int) -> Finding:
    rule, rows = flags.rules[place], np.flatnonzero(flags.fired[:, place])
    whole, check = len(rows) / max(1, len(data)), f"items.{rule.name}"
    message = f"The rule {rule.name!r} ({rule.trait}) flags {len(rows):,} of {len(data):,} items, {percent(whole)}"
    if not len(rows):
        return Finding(check, "ok", f"{message}.")
    if whole > MUCH:
        message += ": more than half"
        advice = "It is hardly made for such texts: leave it out, or measure its precision with hand labels."
    else:
        advice = "Read some of them before you clean: a flag is a reason to look, not proof."
        uneven = _uneven(flags.fired[:, place], data)
        if uneven:
            message += f"; of {uneven[0]!r} it flags {percent(uneven[1])}"
            advice += " Cleaning by it changes the mix of labels."
    return Finding(check, "warn", f"{message}.", len(rows), evidence_of(data, rows), advice)


def _uneven(fired: Mask, data: Dataset) -> tuple[str, float] | None:
    """The label of which a rule flags far more than of all items, with at least ten flags; None without one."""
    k = len(data.label_names)
    of_label = np.bincount(data.labels[fired], minlength=k)
    rate = of_label / np.maximum(np.bincount(data.labels, minlength=k), 1)
    worst = int(np.argmax(np.where(of_label >= FEWEST_FLAGS, rate, -1.0)))
    far = of_label[worst] >= FEWEST_FLAGS and rate[worst] > UNEVEN * fired.mean()
    return (data.label_names[worst], float(rate[worst])) if far else None
