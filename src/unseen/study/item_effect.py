"""What cleaning by rules does to a score, against cleaning nothing and against losing as many rows at random.

Without the random arm fewer rows and cleaner rows are one thing. Its rows have the labels of the flagged ones, so that
another class mix does not pass for an effect. The cleaned test part is cut by the same rules that
clean the training part, so a gain there alone says little: look at the original test part first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from unseen import api
from unseen.audits.items import DEFAULT_PACKS, Flags, flag_items, rule_findings, rule_report, write_flags
from unseen.audits.items.degeneracy import degenerate, sameness
from unseen.audits.items.effects import effect_of, enough_seeds
from unseen.audits.items.rule import Codes, Mask
from unseen.audits.price import random_removals
from unseen.audits.removals import ENOUGH, gain_of_removal
from unseen.errors import InputError
from unseen.evaluation.measuring import unit_codes
from unseen.evaluation.metrics import metric
from unseen.evaluation.runs import Run, fall, level
from unseen.reports.item_effect_page import write_item_effect_page
from unseen.seeding import generator
from unseen.store import write_findings, write_measurements, write_split
from unseen.store.files import file_name
from unseen.store.results import Results
from unseen.study.about import used_versions
from unseen.study.arms import Arm, Chosen, answers
from unseen.study.aside import by_id
from unseen.study.folder import RunFolder
from unseen.study.spaces import Model
from unseen.types import PARTS, Dataset, Finding, Measurement, Predictions, Split, some

TRAIN = ("original", "cleaned", "random")
TESTS = ("original", "cleaned")
COMPARED = (("cleaned", "original"), ("cleaned", "random"), ("random", "original"))
"""Which training is compared with which."""
SEEDS = 5
COSTLY = 1
"""Random removals for each seed of a transformer, unless told."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is trained and measured."""

    model: Model = field(default_factory=lambda: Model("logistic"))
    packs: tuple[str, ...] = DEFAULT_PACKS
    threshold: int = 1
    """How many rules must flag a row."""
    seeds: int = SEEDS
    repeats: int | None = None
    """Random removals for each seed; None: so many that there are 20 in all, and one for a transformer."""
    metrics: tuple[str, ...] = ("f1.macro", "accuracy")
    language: str = "en"
    groups: str | None = None
    """Attribute whose values are drawn together in the bootstrap."""
    seed: int = 42

    def __post_init__(self) -> None:
        if self.seeds < 2:
            raise InputError("the spread over seeds needs several", expected="2 or more", got=str(self.seeds))
        if self.repeats is not None and self.repeats < 1:
            raise InputError("repeats is at least 1", got=str(self.repeats))
        if not self.metrics:
            raise InputError("there is no metric to measure")

    def check(self, data: Dataset) -> None:
        """Refuse a model that cannot be made, and metrics and groups that this data does not have."""
        self.model.check()
        guess = np.full((len(data), len(data.label_names)), 1 / len(data.label_names))
        for name in self.metrics:
            metric(name)(data.labels, guess, data.label_names)
        if self.groups is not None:
            unit_codes(data.attribute(self.groups))

    @property
    def all_seeds(self) -> range:
        """Seeds of the trainings."""
        return range(self.seed, self.seed + self.seeds)

    @property
    def removals(self) -> int:
        """Random removals for each seed."""
        if self.repeats is not None:
            return self.repeats
        return COSTLY if self.model.is_transformer else -(-ENOUGH // self.seeds)


@dataclass(frozen=True, eq=False)
class Effect:
    """What came of it."""

    flags: Flags
    measurements: tuple[Measurement, ...]
    findings: tuple[Finding, ...]
    report: Path | None = None


def item_effect(
    data: Dataset,
    split: Split | None = None,
    wanted: Wanted | None = None,
    *,
    out: str | Path | None = None,
    workers: int = 1,
    command: str | None = None,
) -> Effect:
    """Train on all rows, on rows that are not flagged, and on as many random rows; test on all and on unflagged rows.

    Every training is repeated with `seeds` seeds, that without random rows `repeats` times for each, the rows drawn
    anew; they have the labels of the flagged ones. Validation rows are cleaned,
    or lost at random, like training rows. Without a split a fifth of the rows is the test part. Rules count on the
    training side alone. With `out` the flags, trainings, measurements and a page are kept there, and a run that
    was interrupted goes on. Positive `gain.METRIC` means that the first training (`train`) is better than the other
    (`than`) on the test rows `test`.
    """
    wanted, data = wanted or Wanted(), by_id(data)
    wanted.check(data)
    split = _prepared(data, split, wanted.seed)
    flags = flag_items(data, wanted.packs, split, language=wanted.language, seed=wanted.seed)
    plan = Plan(data, split, flags.flagged(wanted.threshold), wanted)
    plan.check()
    if out is None:
        return plan.carried_out(flags, None, workers)
    folder = RunFolder(out)
    with folder.locked():
        about = _about(plan, flags, command)
        folder.begin(about)
        write_flags(flags, folder / "flags.csv")
        write_split(split, folder / "splits" / f"{file_name(split.name)}.csv")
        found = plan.carried_out(flags, folder.results, workers)
        write_measurements(found.measurements, folder / "measurements.csv")
        write_findings(found.findings, folder / "findings.csv")
        folder.finish(about)
        return replace(found, report=write_item_effect_page(folder.path))


@dataclass(frozen=True, eq=False)
class Plan:
    """The rows of every training and test."""

    data: Dataset
    split: Split
    flagged: Mask
    wanted: Wanted

    def rows(self, part: str, kind: str, seed: int = 0, repeat: int = 0) -> Codes:
        """Rows of a part as they are, without those flagged, or without as many random ones of the same labels."""
        rows = self.split.rows(part)
        if kind == "original":
            return rows
        flagged = self.flagged[rows]
        if kind == "cleaned":
            return rows[~flagged]
        draw = generator(seed, "random-removal", part, repeat)
        (removed,) = next(random_removals(self.data.labels[rows], flagged, 1, draw))
        return np.asarray(rows[~removed])

    def check(self) -> None:
        """Refuse a cleaning that cannot show anything, before anything is trained or written."""
        problems = []
        if not self.flagged[self.split.rows("train")].any():
            problems.append("no training row is flagged: cleaning would change nothing")
        for part in ("train", "test"):
            left, there = (set(self.data.labels[self.rows(part, kind)].tolist()) for kind in ("cleaned", "original"))
            if gone := there - left:
                names = some(self.data.label_names[code] for code in sorted(gone))
                problems.append(f"cleaning the {part} part leaves no row of {names}")
        if problems:
            raise InputError(
                "this cleaning cannot be measured",
                problems=problems,
                fix="other packs, another threshold, or another split",
            )

    @property
    def arms(self) -> list[Arm]:
        """One training for each kind and seed, several without random rows; all are asked about the whole test part."""
        test = self.data.take(self.split.rows("test"))
        return [
            Arm(
                name,
                Chosen(self.data, self.rows("train", kind, seed, repeat)),
                Chosen(self.data, self.rows("dev", kind, seed, repeat)),
                {"test": test},
                seed,
            )
            for kind in TRAIN
            for name, seed, repeat in self._trained(kind)
        ]

    def _trained(self, kind: str) -> list[tuple[str, int, int]]:
        """Name, seed and number of removal of every training of a kind."""
        if kind != "random":
            return [(f"{kind}-{seed}", seed, 0) for seed in self.wanted.all_seeds]
        every = product(self.wanted.all_seeds, range(1, self.wanted.removals + 1))
        return [(f"{kind}-{seed}-{repeat}", seed, repeat) for seed, repeat in every]

    def carried_out(self, flags: Flags, results: Results | None, workers: int) -> Effect:
        """Train, ask and measure."""
        said = answers(self.arms, self.wanted.model, results, workers=workers)
        runs = {(kind, test): self._runs(said, kind, test) for kind, test in product(TRAIN, TESTS)}
        rows = [*rule_report(flags, self.data, self.split), *self._sizes(), *self._levels(runs), *self._gains(runs)]
        for (kind, test), each in runs.items():
            rows += sameness([run.probabilities for run in each], {"train": kind, "test": test})
        return Effect(flags, tuple(rows), (*self._findings(rows), *rule_findings(flags, self.data)))

    def _runs(self, said: Mapping[str, Mapping[str, Predictions]], kind: str, test: str) -> list[Run]:
        rows = self.rows("test", test)
        return [
            Run.of(
                self.data, said[name]["test"], rows, split=test, family=kind, seed=seed, groups=self.wanted.groups
            )
            for name, seed, _ in self._trained(kind)
        ]  # fmt: skip

    def _sizes(self) -> list[Measurement]:
        parts = (("train", TRAIN), ("dev", TRAIN), ("test", TESTS))
        sizes = [(part, kind, len(self.rows(part, kind))) for part, kinds in parts for kind in kinds]
        return [Measurement("rows", n, n, tags={"part": part, "kind": kind}) for part, kind, n in sizes if n]

    def _levels(self, runs: Mapping[tuple[str, str], Sequence[Run]]) -> list[Measurement]:
        return [
            row
            for name in self.wanted.metrics
            for (kind, test), each in runs.items()
            for row in level(each, name, tags={"train": kind, "test": test}, seed=self.wanted.seed)
        ]

    def _gains(self, runs: Mapping[tuple[str, str], Sequence[Run]]) -> list[Measurement]:
        found = []
        for name, test, (kind, than) in product(self.wanted.metrics, TESTS, COMPARED):
            tags = {"train": kind, "than": than, "test": test}
            compared = runs[kind, test], runs[than, test]
            measured = gain_of_removal if than == "random" else fall
            row = measured(*compared, name, tags=tags, seed=self.wanted.seed)
            found.append(replace(row, metric=f"gain.{name}"))
        return found

    def _findings(self, rows: Sequence[Measurement]) -> list[Finding]:
        lost = int(self.flagged[self.split.rows("train")].sum())
        effects = [effect_of(rows, self.wanted.metrics[0], test, lost) for test in TESTS]
        return [*effects, degenerate(rows, TRAIN, self._largest_gold), enough_seeds(self.wanted.seeds, SEEDS)]

    @property
    def _largest_gold(self) -> float:
        labels = self.data.labels[self.split.rows("test")]
        return float(np.bincount(labels).max() / len(labels))


def _prepared(data: Dataset, split: Split | None, seed: int) -> Split:
    """A split with training, validation and test rows; without validation rows a tenth of the training rows is."""
    if split is None:
        return api.split(data, "random", test=0.2, dev=0.1, seed=seed)
    split = split.of(data)
    lacking = [part for part in ("train", "test") if part not in split.sizes]
    if lacking:
        raise InputError(f"the split {split.name!r} has no {' and no '.join(lacking)} rows")
    if "dev" in split.sizes:
        return split
    train = split.rows("train")
    drawn = api.split(data.take(train), "random", test=0.1, seed=seed)
    parts = split.parts.copy()
    parts[train[drawn.rows("test")]] = PARTS.index("dev")
    return replace(split, parts=parts)


def _about(plan: Plan, flags: Flags, command: str | None) -> dict[str, Any]:
    data, wanted = plan.data, plan.wanted
    return {
        "kind": "item-effect",
        "command": command or f"item_effect({data.name!r}, {plan.split.name!r})",
        "data": {
            "name": data.name, "rows": len(data), "label_names": list(data.label_names), "counts": data.label_counts,
            "fingerprint": data.fingerprint,
        },
        "settings": {
            "model": wanted.model.called, "recipe": wanted.model.described["recipe"], "packs": list(wanted.packs),
            "threshold": wanted.threshold, "seeds": list(wanted.all_seeds), "repeats": wanted.removals,
            "metric": wanted.metrics[0], "metrics": list(wanted.metrics), "language": wanted.language,
            "groups": wanted.groups,
        },
        "splits": [file_name(plan.split.name)],
        "rules": {rule.name: {"pack": rule.pack, "trait": rule.trait} for rule in flags.rules},
        "versions": used_versions(),
    }  # fmt: skip
