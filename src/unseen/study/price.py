"""The price of leaks: what a score is without them, from the leaked rows to the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from unseen import api
from unseen.audits.price import price_findings, price_on_test, random_removals, removable
from unseen.audits.removals import ENOUGH, cost_of_removal
from unseen.errors import InputError
from unseen.evaluation.metrics import metric as metric_of
from unseen.evaluation.runs import Run, level
from unseen.reports.price_page import write_price_page
from unseen.seeding import generator
from unseen.store import write_findings, write_measurements
from unseen.store.results import Results
from unseen.study.about import used_versions
from unseen.study.arms import Arm, Chosen, Cost, answers, cost_of
from unseen.study.folder import RunFolder
from unseen.study.leaked import Leaked, write_leaks
from unseen.study.spaces import Model
from unseen.types import Dataset, Finding, Measurement, Predictions, Split

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.intp]
COSTLY = 5
"""Random removals for each training of a transformer, unless told."""
DEV = 0.1
"""Share of the training rows that serve for tuning where a split has none for it."""


@dataclass(frozen=True)
class Pricing:
    """How leaks are priced."""

    model: Model | None = field(default_factory=lambda: Model("logistic"))
    """What is trained with and without the leaked rows; None: nothing is."""
    metric: str = "f1.macro"
    seeds: int = 3
    """Trainings of everything that is trained."""
    repeats: int | None = None
    """Random removals for each of them; None: so many that there are 20 in all, and 5 for a transformer."""
    units: str | None = None
    """Attribute whose values are drawn together in intervals."""
    seed: int = 42

    def __post_init__(self) -> None:
        metric_of(self.metric)
        if self.seeds < 1 or (self.repeats is not None and self.repeats < 1):
            raise InputError("seeds and repeats are at least 1", got=f"{self.seeds} and {self.repeats}")

    @property
    def removals(self) -> int:
        """Random removals for each training."""
        if self.repeats is not None:
            return self.repeats
        return COSTLY if self.model is not None and self.model.is_transformer else -(-ENOUGH // self.seeds)


@dataclass(frozen=True)
class Priced:
    """What the leaks of a split buy."""

    measurements: tuple[Measurement, ...]
    findings: tuple[Finding, ...]
    report: Path | None = None


def price(
    data: Dataset,
    split: Split,
    leaks: Sequence[Leaked],
    how: Pricing | None = None,
    *,
    predictions: Predictions | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    command: str | None = None,
    announce: Callable[[Cost], None] | None = None,
) -> Priced:
    """What each kind of leak buys: on the test side from answers alone, on the train side by training again.

    With `predictions` the test side is about these; otherwise about the models that are trained. Without `out`
    nothing is written. `announce` is called with the cost of the trainings before they begin.
    """
    how, cut = how or Pricing(), split.of(data)
    if how.model is None and predictions is None:
        raise InputError("a price needs a model to train or predictions")
    if not len(cut.rows("test")) or not len(cut.rows("train")):
        raise InputError(f"the split {split.name!r} needs a train and a test part", got=str(cut.sizes))
    if how.model is not None and len(np.unique(data.labels[cut.rows("train")])) < 2:
        raise InputError(f"the train part of {split.name!r} has rows of one label only: nothing can be learnt from it")
    if out is None:
        rows, findings = _priced(data, cut, leaks, how, predictions, None, workers, announce)
        return Priced(tuple(rows), tuple(findings))
    folder = RunFolder(out)
    with folder.locked():
        about = _about(data, split, leaks, how, predictions, command)
        folder.begin(about)
        rows, findings = _priced(data, cut, leaks, how, predictions, folder.results, workers, announce)
        write_measurements(rows, folder / "measurements.csv")
        write_findings(findings, folder / "findings.csv")
        write_leaks(data, leaks, folder / "leaks.csv")
        folder.finish(about)
        return Priced(tuple(rows), tuple(findings), write_price_page(folder.path))


def _priced(
    data: Dataset,
    split: Split,
    leaks: Sequence[Leaked],
    how: Pricing,
    predictions: Predictions | None,
    results: Results | None,
    workers: int,
    announce: Callable[[Cost], None] | None,
) -> tuple[list[Measurement], list[Finding]]:
    rows = [row for each in leaks for row in _counts(split, each)]
    test = _in_order(data, split.rows("test"))
    said: dict[Trained, Predictions] = {}
    if how.model is not None and any(each.test.any() for each in leaks):
        arms = _arms(data, split, test, leaks, how)
        if announce is not None:
            announce(cost_of(list(arms.values()), how.model, results))
        found = answers(list(arms.values()), how.model, results, workers=workers)
        said = {name: found[arm.name]["test"] for name, arm in arms.items()}
    models = [predictions] if predictions is not None else [each for name, each in said.items() if name.is_whole]
    for each in leaks if models else ():
        each = replace(each, units=how.units or each.units)
        rows += price_on_test(
            data, models, test, each.test[test], how.metric, tags=_tags(each), units=each.units, seed=how.seed
        )
        if how.model is not None and each.test.any():
            why = _unmeasurable(data, *_pool(data, split, how.seed), each)
            rows += _on_train(data, test, each, said, how) if why is None else [_unmeasured(each, how.metric, why)]
    return rows, price_findings(rows, how.metric)


def _tags(leaked: Leaked) -> dict[str, str]:
    return {"leak": leaked.kind, "units": leaked.units or "rows"}


def _unmeasured(leaked: Leaked, metric: str, why: str) -> Measurement:
    """A price of training that has no value, and why."""
    return Measurement(f"price.{metric}", None, 0, tags={**_tags(leaked), "side": "train", "rows": "all", "why": why})


def _unmeasurable(data: Dataset, pool: Rows, is_dev: Mask, leaked: Leaked) -> str | None:
    """Why training without the leaked rows cannot be compared with anything; None where it can."""
    gone, labels = leaked.train[pool], data.labels[pool]
    if not gone[~is_dev].any():
        return "none of them is in the training part itself, only among the rows for tuning"
    if not removable(labels[~is_dev], gone[~is_dev]):
        return "without them training has no row of a label"
    return "without them no row for tuning is left" if gone[is_dev].all() else None


class Trained(NamedTuple):
    """Which rows a training had, and its seed."""

    kind: str
    """Kind of leak; empty for the training on all rows."""
    removed: str
    """`nothing`, `leaked` or `random` rows."""
    seed: int
    repeat: int = 0

    @property
    def is_whole(self) -> bool:
        """Whether nothing was removed."""
        return self.removed == "nothing"


def _arms(data: Dataset, split: Split, test: Rows, leaks: Sequence[Leaked], how: Pricing) -> dict[Trained, Arm]:
    """Trainings on everything, without the leaked rows, and without as many random ones, for each seed."""
    pool, is_dev = _pool(data, split, how.seed)
    asked = {"test": data.take(test)}

    def arm(name: Trained, kept: Mask) -> Arm:
        train, dev = (Chosen(data, pool[kept & side]) for side in (~is_dev, is_dev))
        said = " ".join(str(each) for each in (*name[:3], name.repeat) if each != "")
        return Arm(said, train, dev, asked, name.seed)

    found = {}
    for seed in range(how.seed, how.seed + how.seeds):
        whole = Trained("", "nothing", seed)
        found[whole] = arm(whole, np.ones(len(pool), bool))
        for each in leaks:
            leaked, strata = each.train[pool], data.labels[pool] * 2 + is_dev
            if not each.test.any() or _unmeasurable(data, pool, is_dev, each) is not None:
                continue
            name = Trained(each.kind, "leaked", seed)
            found[name] = arm(name, ~leaked)
            draws = random_removals(strata, leaked, how.removals, generator(how.seed, "price", each.kind, seed))
            for repeat, removed in enumerate(np.concatenate(list(draws)), start=1):
                name = Trained(each.kind, "random", seed, repeat)
                found[name] = arm(name, ~removed)
    return found


def _pool(data: Dataset, split: Split, seed: int) -> tuple[Rows, Mask]:
    """The rows of train and dev in the order of their ids, and which are for tuning; drawn where the split has none."""
    train, dev = split.rows("train"), split.rows("dev")
    if not len(dev):
        drawn = api.split(data.take(train), "random", test=DEV, seed=seed)
        train, dev = train[drawn.rows("train")], train[drawn.rows("test")]
    pool = _in_order(data, np.concatenate([train, dev]))
    return pool, np.isin(pool, dev)


def _on_train(
    data: Dataset, test: Rows, leaked: Leaked, said: Mapping[Trained, Predictions], how: Pricing
) -> list[Measurement]:
    """Levels without leaked and without random training rows, and the price: on all test rows and on two kinds."""
    runs = {
        name: Run.of(data, each, test, split=str(name), family=name.removed, seed=_drawn_as(name), groups=leaked.units)
        for name, each in said.items()
        if name.kind == leaked.kind
    }
    found: list[Measurement] = []
    where = leaked.test[test]
    for rows, chosen in (("all", where | ~where), ("leaked", where), ("unleaked", ~where)):
        if not chosen.any():
            continue
        sides = {
            removed: [run.only(chosen) for name, run in runs.items() if name.removed == removed]
            for removed in ("random", "leaked")
        }
        tags = {**_tags(leaked), "side": "train", "rows": rows}
        for removed, some in sides.items():
            found += level(some, how.metric, tags={**tags, "removed": removed}, seed=how.seed)
        cost = cost_of_removal(sides["random"], sides["leaked"], how.metric, tags=tags, seed=how.seed)
        found.append(replace(cost, metric=f"price.{how.metric}"))
    return found


def _drawn_as(name: Trained) -> int:
    """The seed that intervals draw: each random removal is one of its own, because removals differ like seeds do."""
    return -(name.seed * 1000 + name.repeat) if name.removed == "random" else name.seed


def _counts(split: Split, leaked: Leaked) -> list[Measurement]:
    """How many rows leak, of each side."""
    trained = np.concatenate([split.rows("train"), split.rows("dev")])
    sides = {"test": (leaked.test, split.rows("test")), "train": (leaked.train, trained)}
    tags = {"leak": leaked.kind} | ({"left_out": "; ".join(leaked.left_out)} if leaked.left_out else {})
    return [
        Measurement("leaked_rows", float(where[rows].sum()), len(rows), tags={**tags, "side": side})
        for side, (where, rows) in sides.items()
    ]


def _about(
    data: Dataset, split: Split, leaks: Sequence[Leaked], how: Pricing, predictions: Predictions | None,
    command: str | None,
) -> dict[str, Any]:  # fmt: skip
    model = None if how.model is None else how.model.described
    return {
        "kind": "price",
        "command": command or f"price({data.name!r}, {split.name!r}, {[each.kind for each in leaks]})",
        "data": {"name": data.name, "rows": len(data), "fingerprint": data.fingerprint},
        "split": {"name": split.name, "sizes": split.sizes},
        "settings": {
            "metric": how.metric, "model": model, "seeds": how.seeds, "repeats": how.removals, "units": how.units,
            "seed": how.seed, "predictions": predictions is not None,
        },
        "leaks": [each.kind for each in leaks],
        "versions": used_versions(),
    }  # fmt: skip


def _in_order(data: Dataset, rows: Rows) -> Rows:
    """These rows in the order of their ids, so that the order of the file decides nothing."""
    names = np.asarray(data.ids.to_pylist(), dtype=object)[rows]
    return rows[np.argsort(names, kind="stable")]
