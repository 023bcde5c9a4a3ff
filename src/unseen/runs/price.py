"""The price of leaks: what a score is without them.

On the test side from predictions alone: the score without the leaked test rows, against without as many random ones.
On the train side by training again without the leaked training rows, against without as many random ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unseen import api
from unseen.audits.price import lowers, pays, price_findings, price_on_test, random_removals, removable
from unseen.audits.subject import BY_ID, GROUPINGS, LIKENESSES, NEAR, SEMANTIC, Leak, Subject, leak, write_leaks
from unseen.data.groups import NONE, group_codes
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.metrics import metric as metric_of
from unseen.evaluation.wording import amount, called, in_points
from unseen.reports.formats import Cell, Table
from unseen.reports.page import Page, Section, Verdict, counted, sorted_findings, with_lines, worst_level
from unseen.reports.record import RunRecord
from unseen.runs.estimate import Estimate
from unseen.runs.experiment import (
    Arm,
    Chosen,
    Contrast,
    Level,
    answers,
    cost_of,
    in_order,
    measured,
    refuse_without_parts,
    removals,
    with_dev,
)
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, refuse_unknown, split_of
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.store import read_predictions
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Measurement, Predictions, Split
from unseen.types.arrays import Mask, Rows
from unseen.types.numbers import DASH, bounds, number, percent, points, scored, told_apart, turned

KINDS = (*LIKENESSES, *GROUPINGS)
TOGETHER = "all kinds"
TRAININGS = 3
COSTLY = 5
"""Random removals for each training of a transformer, unless told."""
DOUBT = "; the interval holds 0"
TRAIN_NOTE = (
    "Trained again without the leaked training rows, and without as many random ones of the same part and label; "
    "means over seeds and random removals. Intervals draw test rows and add the spread between random removals; those "
    "of scores draw trainings and test rows."
)
FAR_NOTE = (
    "“By chance”: share of random removals that are at least as far from the mean of the random ones as the leaks' is."
)
TESTED = {"all": "all test rows", "leaked": "leaked test rows", "unleaked": "other test rows"}


@dataclass(frozen=True)
class Pricing:
    """How leaks are priced."""

    model: Model | None = field(default_factory=lambda: Model("logistic"))
    """What is trained with and without the leaked rows; None: nothing is."""
    metric: str = "f1.macro"
    trainings: int = TRAININGS
    """Trainings of everything that is trained."""
    repeats: int | None = None
    """Random removals for each of them; None: so many that there are 20 in all, and 5 for a transformer."""
    groups: str | None = None
    """Attribute whose values are drawn together in intervals."""
    seed: int = 42

    def __post_init__(self) -> None:
        if self.model is not None:
            self.model.check()
        object.__setattr__(self, "metric", metric_of(self.metric).id)
        if self.trainings < 1 or (self.repeats is not None and self.repeats < 1):
            raise InputError("trainings and repeats are at least 1", got=f"{self.trainings} and {self.repeats}")

    @property
    def removals(self) -> int:
        """Random removals for each training."""
        return removals(self.repeats, self.model, self.trainings, COSTLY)


@dataclass(frozen=True, eq=False)
class Leaked:
    """The rows of one kind of leak, as masks over the rows of the dataset."""

    kind: str
    test: Mask
    """Test rows with a counterpart in training."""
    train: Mask
    """Their counterparts in train and dev."""
    groups: str | None = None
    """Attribute whose values are drawn together in intervals, unless another is asked for."""
    left_out: tuple[str, ...] = ()
    """Of several kinds together: those that are not among them, each with the reason."""
    pairs: Leak | None = None
    """Each test row with its counterpart; None of several kinds together."""


def find_leaks(subject: Subject, kinds: Sequence[str] | None = None) -> list[Leaked]:
    """The leaks of these kinds, and of several the rows of any; by default of all kinds that can be looked for.

    Among several kinds together are none that concern every test row, because nothing would be left to compare with,
    and `source` only where it is named: that two rows are of one source is no leak by itself.
    """
    for kind in kinds or ():
        if kind not in KINDS:
            raise UnknownNameError.of("kind of leak", kind, KINDS)
    _refuse_nameless(subject, kinds or KINDS)
    pairs = {kind: leak(subject, kind) for kind in dict.fromkeys(kinds or KINDS)}
    blind = [kind for kind, leaked in pairs.items() if leaked is None]
    if kinds and blind:
        raise InputError(
            f"leaks cannot be looked for: {', '.join(blind)}",
            expected="a column for each, e.g. --author COLUMN; vectors for semantic",
        )
    named = [
        Leaked(kind, subject.mask(both.test), subject.mask(both.train), _drawn_together(subject, kind), pairs=both)
        for kind, both in pairs.items()
        if both is not None
    ]
    return [*named, *_together(subject, [leaked for leaked in named if leaked.test.any()], kinds or ())]


def _refuse_nameless(subject: Subject, kinds: Sequence[str]) -> None:
    """Columns without a value: no leak would be found, and that would say nothing."""
    given = {kind: subject.columns[kind] for kind in kinds if kind in subject.columns}
    empty = [
        f"{attribute!r}, which is to name the {kind} of each row"
        for kind, attribute in given.items()
        if (group_codes(subject.data, attribute) == NONE).all()
    ]
    if empty:
        raise InputError(
            "columns have no value in any row", problems=empty, fix="name other columns, or leave them out"
        )


def _together(subject: Subject, leaks: Sequence[Leaked], named: Sequence[str]) -> list[Leaked]:
    """The rows of any of these kinds, where there are several and none has all of them already."""
    kinds = [leaked.kind for leaked in leaks]
    apart = {"source": "it was not named"} if "source" in kinds and "source" not in named else {}
    apart |= {leaked.kind: "it concerns every test row" for leaked in leaks if leaked.test[subject.test].all()}
    some = [leaked for leaked in leaks if leaked.kind not in apart]
    if len(some) < 2:
        return []
    test, train = (np.logical_or.reduce([getattr(leaked, side) for leaked in some]) for side in ("test", "train"))
    if any((leaked.test == test).all() and (leaked.train == train).all() for leaked in some):
        return []  # the rows of one kind: its price is theirs
    left_out = tuple(f"{kind} ({why})" for kind, why in apart.items())
    return [Leaked(TOGETHER, test, train, _drawn_together(subject, TOGETHER), left_out)]


def _drawn_together(subject: Subject, kind: str) -> str | None:
    """The attribute of a kind of leak, because its rows leak together; for other kinds that of the authors."""
    own = kind in GROUPINGS and kind not in BY_ID
    return subject.columns.get(kind if own else "author")


def price(
    data: Any,
    split: Split | str | Path | None = None,
    *,
    parts: str | None = None,
    leaks: Sequence[str] | None = None,
    using: api.Vectors = None,
    near: float = NEAR,
    semantic: float = SEMANTIC,
    model: Any = None,
    params: Mapping[str, Any] | None = None,
    predictions: Predictions | str | Path | None = None,
    rename: Mapping[str, str] | None = None,
    metric: str = "f1.macro",
    trainings: int | None = None,
    repeats: int | None = None,
    groups: str | None = None,
    seed: int = 42,
    out: str | Path | None = None,
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[Estimate], None] | None = None,
    **columns: str,
) -> Result:
    """What leaks of each kind buy: on the test side from answers alone, on the train side by training again.

    `data` is what `unseen.load` takes, or a Dataset; `split` a Split or a file of anybody's, or instead `parts`, the
    attribute that names each row's part. `leaks` are kinds of leak, by default all that can be looked for; `columns`
    name the attributes of those that need one: `author`, `conversation`, `template`, `partner`, `source`, `original`.
    With vectors (`using`) semantic neighbours are looked for too; `near` and `semantic` say how alike leaks are.
    `model`, `logistic` unless told, is trained with `params`, `trainings` times (3), with and without the leaked rows,
    and without `repeats` draws of as many random ones. With `predictions`, Predictions or a file whose labels `rename`
    maps to those of the data, the test side is about these, and nothing is trained unless a `model` is named. `groups`
    is the attribute whose values are drawn together in intervals. Without `out` nothing is written. `announce` is
    called with the cost of the trainings before they begin.
    """
    refuse_unknown(columns, price, GROUPINGS)
    is_trained = model is not None or predictions is None
    if not is_trained:
        _refuse_untrained(params, trainings, repeats)
    _refuse_unused(leaks, columns, using, groups)
    settings = Pricing(
        replace(Model.of(model or "logistic"), params=params or {}) if is_trained else None, metric,
        TRAININGS if trainings is None else trainings, repeats, groups, seed,
    )  # fmt: skip
    bounds = parsed_gates(gates)
    loaded = load_data(data, {}, [*columns.values(), *filter(None, [parts, groups])])
    cut = split_of(loaded, split, parts)
    if cut is None:
        raise InputError("no split is named", fix="split=… or parts=…")
    if isinstance(predictions, str | Path):
        predictions = read_predictions(predictions, loaded, rename)
    vectors = None if using is None else api.vectors_of(loaded, using, seed)
    leaked = find_leaks(Subject(loaded, cut, columns, vectors, near, semantic, seed), leaks)
    return price_leaks(
        loaded, cut, leaked, settings, predictions=predictions, out=out, workers=workers, gates=bounds, command=command,
        announce=announce,
    )  # fmt: skip


def _refuse_untrained(params: Mapping[str, Any] | None, trainings: int | None, repeats: int | None) -> None:
    numbers = {"trainings": trainings, "repeats": repeats}
    given = [f"{name}={value}" for name, value in numbers.items() if value is not None]
    if params:
        given.append("params=… (--set)")
    if given:
        raise InputError(f"{', '.join(given)} has no effect without model=…: with predictions nothing is trained")


def _refuse_unused(
    kinds: Sequence[str] | None, columns: Mapping[str, str], using: api.Vectors, groups: str | None
) -> None:
    """Columns and vectors that no kind of leak asks for; authors are drawn together in intervals of any kind."""
    used = {*(kinds or columns), *(["author"] if groups is None else [])}
    unused = [f"{role}={column!r}" for role, column in columns.items() if role not in used]
    if kinds is not None and using is not None and "semantic" not in kinds:
        unused.append("using=… (--vectors, --encoder)")
    if unused:
        raise InputError(f"{', '.join(unused)} has no effect with these leaks", got=", ".join(kinds or ()))


def price_leaks(
    data: Dataset,
    split: Split,
    leaks: Sequence[Leaked],
    settings: Pricing | None = None,
    *,
    predictions: Predictions | None = None,
    out: str | Path | None = None,
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    announce: Callable[[Estimate], None] | None = None,
) -> Result:
    """What leaks buy that are known: `price`, once they are found and its settings are settled."""
    settings, split = settings or Pricing(), refuse_without_parts(data, split)
    if settings.model is None and predictions is None:
        raise InputError("a price needs a model to train or predictions")
    if settings.model is not None and len(np.unique(data.labels[split.rows("train")])) < 2:
        raise InputError(f"the train part of {split.name!r} has rows of one label only: nothing can be learnt from it")
    about = {
        "data": described_data(data),
        "split": described_split(split),
        "settings": {
            "metric": settings.metric, "model": None if settings.model is None else settings.model.described,
            "trainings": settings.trainings, "repeats": settings.removals, "groups": settings.groups,
            "seed": settings.seed, "predictions": predictions is not None,
        },
        "leaks": [leaked.kind for leaked in leaks],
    }  # fmt: skip

    grouped = [replace(leaked, groups=settings.groups or leaked.groups) for leaked in leaks]
    plan = PricePlan(data, split, grouped, settings)

    def work(folder: RunFolder) -> Output:
        write_leaks(data, [leaked.pairs for leaked in leaks if leaked.pairs is not None], folder / "leaks.csv")
        rows = plan.measured(predictions, folder.results, workers, announce)
        return Output(rows, price_findings(rows, settings.metric))

    return carry_through("price", about, work, out=out, command=command, gates=gates)


class TrainedRows(NamedTuple):
    """Which rows a training had, and its seed."""

    kind: str
    """Kind of leak; empty for the training on all rows."""
    removed: str
    """`nothing`, `leaked` or `random` rows."""
    seed: int
    repeat: int = 0

    @property
    def drawn_as(self) -> int:
        """The seed that intervals draw: each random removal has one of its own, because removals differ as seeds do."""
        return -(self.seed * 1000 + self.repeat) if self.removed == "random" else self.seed


@dataclass(frozen=True, eq=False)
class PricePlan:
    """The rows of every training and test, and what is measured of them."""

    data: Dataset
    split: Split
    leaks: Sequence[Leaked]
    settings: Pricing

    @cached_property
    def test(self) -> Rows:
        """Test rows in the order of their ids."""
        return in_order(self.data, self.split.rows("test"))

    @cached_property
    def pool(self) -> tuple[Rows, Mask]:
        """The rows of train and dev in the order of their ids, and which are for dev."""
        train, dev = with_dev(self.data, self.split, self.settings.seed)
        pool = in_order(self.data, np.concatenate([train, dev]))
        return pool, np.isin(pool, dev)

    def unmeasurable(self, leaked: Leaked) -> str | None:
        """Why training without the leaked rows cannot be compared with anything; None where it can."""
        pool, is_dev = self.pool
        gone, labels = leaked.train[pool], self.data.labels[pool]
        if not gone[~is_dev].any():
            return "none of them is in the training part itself, only among the rows for tuning"
        if not removable(labels[~is_dev], gone[~is_dev]):
            return "without them training has no row of a label"
        return "without them no row for tuning is left" if gone[is_dev].all() else None

    @property
    def arms(self) -> dict[TrainedRows, Arm]:
        """Trainings on everything, without the leaked rows, and without as many random ones, for each seed."""
        settings, asked, (pool, is_dev) = self.settings, {"test": Chosen(self.data, self.test)}, self.pool
        kept: dict[TrainedRows, Mask] = {}
        for seed in range(settings.seed, settings.seed + settings.trainings):
            kept[TrainedRows("", "nothing", seed)] = np.ones(len(pool), bool)
            for leaked in self.leaks:
                if leaked.test.any() and self.unmeasurable(leaked) is None:
                    gone, strata = leaked.train[pool], self.data.labels[pool] * 2 + is_dev
                    kept[TrainedRows(leaked.kind, "leaked", seed)] = ~gone
                    like = next(leak.kind for leak in self.leaks if (leak.train[pool] == gone).all())
                    draw = generator(settings.seed, "price", like, seed)  # kinds with the same rows: the same trainings
                    draws = np.concatenate(list(random_removals(strata, gone, settings.removals, draw)))
                    kept |= {
                        TrainedRows(leaked.kind, "random", seed, repeat): ~removed
                        for repeat, removed in enumerate(draws, start=1)
                    }
        return {
            rows: Arm(
                " ".join(filter(None, map(str, rows))), Chosen(self.data, pool[where & ~is_dev]),
                Chosen(self.data, pool[where & is_dev]), asked, rows.seed,
            )
            for rows, where in kept.items()
        }  # fmt: skip

    def measured(
        self,
        predictions: Predictions | None,
        results: Results,
        workers: int,
        announce: Callable[[Estimate], None] | None,
    ) -> list[Measurement]:
        """Counts of leaked rows, then the prices of each kind: of the predictions, or of what is trained."""
        settings, rows = self.settings, [row for leaked in self.leaks for row in self._counts(leaked)]
        trained: dict[TrainedRows, Predictions] = {}
        if settings.model is not None and any(leaked.test.any() for leaked in self.leaks):
            arms = self.arms
            if announce is not None:
                announce(cost_of(list(arms.values()), settings.model, results))
            asked = answers(list(arms.values()), settings.model, results, workers=workers)
            trained = {which: asked[arm.name]["test"] for which, arm in arms.items()}
        whole = [answered for which, answered in trained.items() if which.removed == "nothing"]
        models = whole if predictions is None else [predictions]
        for leaked in self.leaks if models else ():
            rows += price_on_test(
                self.data, models, self.test, leaked.test[self.test], settings.metric, tags=_tags(leaked),
                units=leaked.groups, seed=settings.seed,
            )  # fmt: skip
            if settings.model is not None and leaked.test.any():
                rows += self._on_train(leaked, trained)
        return rows

    def _on_train(self, leaked: Leaked, trained: Mapping[TrainedRows, Predictions]) -> list[Measurement]:
        """Levels without leaked and without random training rows, and the price: on all test rows and on two kinds."""
        metric, tags = self.settings.metric, {**_tags(leaked), "side": "train"}
        if (why := self.unmeasurable(leaked)) is not None:
            return [Measurement(f"fall.{metric}", None, 0, tags={**tags, "rows": "all", "why": why})]
        runs: dict[str, list[Run]] = {"random": [], "leaked": []}
        for which, answered in trained.items():
            if which.kind == leaked.kind:
                run = Run.of(
                    self.data, answered, self.test, split=str(which), family=which.removed, seed=which.drawn_as,
                    groups=leaked.groups,
                )  # fmt: skip
                runs[which.removed].append(run)
        where, measures = leaked.test[self.test], list[Level | Contrast]()
        for tested, chosen in (("all", where | ~where), ("leaked", where), ("unleaked", ~where)):
            if chosen.any():
                own = {**tags, "rows": tested}
                only = {removed: [run.only(chosen) for run in several] for removed, several in runs.items()}
                measures += [Level(several, {**own, "removed": removed}) for removed, several in only.items()]
                measures.append(Contrast(only["random"], only["leaked"], own, removals=True))
        return measured(measures, [metric], self.settings.seed)

    def _counts(self, leaked: Leaked) -> list[Measurement]:
        """How many rows leak, of each side."""
        trained = np.concatenate([self.split.rows("train"), self.split.rows("dev")])
        sides = {"test": (leaked.test, self.split.rows("test")), "train": (leaked.train, trained)}
        tags = {"leak": leaked.kind} | ({"left_out": "; ".join(leaked.left_out)} if leaked.left_out else {})
        return [
            Measurement("leaked_rows", float(where[rows].sum()), len(rows), tags={**tags, "side": side})
            for side, (where, rows) in sides.items()
        ]


def _tags(leaked: Leaked) -> dict[str, str]:
    return {"leak": leaked.kind, "groups": leaked.groups or "rows"}


def page(record: RunRecord) -> Page:
    """What leaks buy: a sentence, a table for each side, findings."""
    metric = record.metric
    tables = with_lines({"test-side": on_test_table(record, metric), "train-side": on_train_table(record, metric)})
    headings = {"test-side": "Removed from the test part", "train-side": "Removed from training"}
    headline, *sentences = headlines(record, metric)
    findings = sorted_findings(record.findings)
    split = record.about["split"]
    return Page(
        "price of leaks",
        f"What leaks buy on {record.about['data']['name']}",
        Verdict(headline, sentences, worst_level(findings), badge=_badge(record)),
        subtitle=f"split {split['name']}: {counted(split['sizes'])}",
        sections=[
            *(Section(headings[name], tables=[table]) for name, table in tables.items()),
            Section("Findings", findings=findings),
        ],
        tables=tables,
        printed=list(tables.values()),
        printed_findings=findings,
        files={"leaked rows by id": "leaks.csv"},
    )


def headlines(record: RunRecord, metric: str) -> list[str]:
    """What the leaks buy in a sentence for each side: those of the kind whose price is the surest, then the largest.

    One whose interval does not hold 0 comes first.
    """
    kinds = _kinds(record)
    leaking = [kind for kind in kinds if _count(record, kind, "test")]
    if not leaking:
        return [f"No test row leaks: nothing to price ({', '.join(kinds) or 'no kind of leak was looked for'})."]
    sentences, last = [], leaking[-1]
    prices = [row for row in record.rows(f"fall.{metric}", leak=tuple(leaking), rows="all") if row.value is not None]
    for side in ("test", "train"):
        of_side = [row for row in prices if row.tags["side"] == side]
        sentences += [_headline(record, metric, row) for row in sorted(of_side, key=_weight)[-1:]]
    sentences.sort(key=lambda sentence: DOUBT in sentence)
    if not any(row.tags["leak"] == last for row in prices):
        count = _count(record, last, "test")
        leak = (
            "1 test row leaks ({}); what it buys" if count == 1 else f"{count:,} test rows leak ({{}}); what they buy"
        )
        sentences.append(f"{leak.format(last)} could not be measured.")
    return sentences


def _badge(record: RunRecord) -> str:
    """What leaks do to the score, in two or three words."""
    level = worst_level(record.findings)
    if level not in ("warn", "fail"):
        return {"ok": "no price shown"}.get(level, "not measured")
    prices = list(record.rows(f"fall.{record.metric}", rows="all"))
    pays = any(row.low is not None and row.low > 0 for row in prices)
    lower = any(lowers(row) for row in prices)
    return " and ".join(["leaks pay"] * pays + ["leaks lower the score"] * lower)


def on_test_table(record: RunRecord, metric: str) -> Table:
    """A line per kind of leak: scores with and without the leaked test rows, and the price."""
    lines: list[tuple[Cell, ...]] = []
    for kind in _kinds(record):
        price = record.row(f"fall.{metric}", leak=kind, side="test", rows="all")
        if price is None:
            continue
        rows = ("all", "leaked", "unleaked", "random")
        shown = [scored(record.row(metric, leak=kind, side="test", rows=which)) for which in rows]
        lines.append((kind, _count(record, kind, "test"), *shown, *_price(price, metric)))
    heads = (
        "leak", "leaked rows", "all rows", "leaked", "without leaked", "without random", _unit(metric), "by chance",
    )  # fmt: skip
    note = (
        "Random rows have the labels of the leaked ones; the brackets beside them hold 95 % of the random removals. "
        "The interval of the price draws test rows anew. “By chance”: share of random removals that move the score at "
        "least as far."
    )
    return Table("test-side", heads, tuple(lines), note)


def on_train_table(record: RunRecord, metric: str) -> Table:
    """A line per kind of leak and kind of test row: scores after training without leaked and without random rows."""
    lines: list[tuple[Cell, ...]] = []
    for kind in _kinds(record):
        for where, called_rows in TESTED.items():
            tags = {"leak": kind, "side": "train", "rows": where}
            price = record.row(f"fall.{metric}", **tags)
            if price is not None:
                sides = [scored(record.row(metric, removed=removed, **tags)) for removed in ("random", "leaked")]
                lines.append((kind, _count(record, kind, "train"), called_rows, *sides, *_price(price, metric)))
    heads = ("leak", "removed rows", "tested on", "without random", "without leaked", _unit(metric))
    if all(line[-1] == DASH for line in lines):
        return Table("train-side", heads, tuple(line[:-1] for line in lines), TRAIN_NOTE)
    return Table("train-side", (*heads, "by chance"), tuple(lines), f"{TRAIN_NOTE} {FAR_NOTE}")


def _weight(price: Measurement) -> tuple[bool, float]:
    """Whether a price is sure by its interval, and how large it is."""
    return price.low is not None and (pays(price) or lowers(price)), abs(price.value or 0.0)


def _headline(record: RunRecord, metric: str, price: Measurement) -> str:
    kind, side = str(price.tags["leak"]), str(price.tags["side"])
    if side == "test":
        pair, doing = [{"rows": "random"}, {"rows": "unleaked"}], "without the {} leaked test {}"
    else:
        pair = [{"rows": "all", "removed": removed} for removed in ("random", "leaked")]
        doing = "trained again without the {} leaked training {}"
    before, after = (record.value(metric, leak=kind, side=side, **tags) for tags in pair)
    scores = [number(after), number(before)] if before is None or after is None else told_apart(after, before)
    write = points if in_points(metric) else number
    doubt = price.low is not None and price.high is not None and price.low <= 0 <= price.high
    verb, shown = ("cost", turned(price)) if lowers(price) else ("buy", price)
    bought = " ".join(filter(None, [amount(metric, shown.value), bounds(shown, write)]))
    count = _count(record, kind, side)
    done = doing.format(f"{count:,}", "row" if count == 1 else "rows")
    others = "a random one" if count == 1 else "as many random ones"
    seen = pays(price) or lowers(price)
    effect = f"The leaks ({kind}) {verb} {bought}" if seen else f"No price of the leaks ({kind}) is seen, {bought}"
    sides = f"{done} it is {scores[0]}, without {others} {scores[1]}"
    return f"{effect} of {called(metric)}: {sides}{DOUBT if doubt else ''}."


def _kinds(record: RunRecord) -> list[str]:
    return [str(kind) for kind in dict.fromkeys(row.tags["leak"] for row in record.rows("leaked_rows"))]


def _count(record: RunRecord, kind: str, side: str) -> int:
    return int(record.value("leaked_rows", leak=kind, side=side) or 0)


def _price(row: Measurement, metric: str) -> tuple[str, str]:
    """The price, and how often random removals are as far."""
    p = row.tags.get("p")
    return scored(row, points if in_points(metric) else number), DASH if p is None else percent(float(p))


def _unit(metric: str) -> str:
    return "price, points" if in_points(metric) else "price"
