"""What leaks buy: the score on the test part, on it without its leaked rows, and without as many random ones.

The random rows have the label counts of the leaked ones, so that a changed class mix does not pass for a price.

What leaving rows out of training costs is asked in the same way. Models differ with the rows that are left out,
whichever these are. So the question is not only whether two means differ on these test rows, but whether certain rows
move the score further than random rows do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unseen.errors import InputError
from unseen.evaluation.bootstrap import DRAWS, Patterns, bootstrap, percentiles, times_drawn
from unseen.evaluation.falls import Run
from unseen.evaluation.measurements import aligned, checked, drawn_groups
from unseen.evaluation.metrics import Metric, metric
from unseen.evaluation.wording import amount_within, called
from unseen.seeding import generator
from unseen.types import Dataset, Finding, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask, Rows, blocks
from unseen.types.numbers import percent, turned

ENOUGH = 20
"""With fewer random removals `p` cannot get below .05."""
SLOW_DRAWS = 200
"""Draws for metrics that must be computed anew from the rows of each."""
FEW = 10
"""Fewer leaked test rows than this carry no verdict."""
FAIL_FROM = 0.01
"""A price of which the whole interval is above this fails."""


def cost_of_removal(
    random: Sequence[Run],
    without: Sequence[Run],
    name: str,
    *,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> Measurement:
    """`fall.METRIC`: by how much the mean of `without` is worse than that of `random`; positive is worse.

    `without` are trainings without certain rows, `random` each without other random ones; all are asked about the
    same test rows. The interval draws test rows (or whole units) and adds what one removal differs from another: a
    draw of Student's t with the spread of the random ones. Drawn from so few scores as they are, it would hold the
    truth at most (R − 1) / (R + 1) of the time. From one random removal no spread is known, and there is no interval.
    The tag `removals` is R, the number of random removals, and `p` is (1 + those that are at least as far from their
    mean as `without` is) / (1 + R): with fewer than 20 it cannot get below .05.
    """
    chosen, removals = metric(name), len(random)
    sign = 1.0 if chosen.higher_is_better else -1.0
    scores = [_scores(runs, chosen) for runs in (random, without)]
    tags = {**(tags or {}), "removals": removals}
    if not all(np.isfinite(side).all() for side in scores):
        return Measurement(f"fall.{name}", None, 0, tags=tags)
    middle, leaked = (float(side.mean()) for side in scores)
    as_far = int((np.abs(scores[0] - middle) >= abs(leaked - middle) - 1e-12).sum())
    tags["p"] = (1 + as_far) / (1 + removals)
    bounds = None
    if removals > 1:
        bounds = percentiles(sign * (_drawn(random, without, chosen, draws, seed) + _spread(scores[0], draws, seed)))
    low, high = bounds or (None, None)
    return Measurement(f"fall.{name}", sign * (middle - leaked), len(random[0].gold), low, high, tags=tags)


def can_be_sure(removals: int) -> bool:
    """Whether so many random removals can show that something is rare."""
    return removals >= ENOUGH


def _scores(runs: Sequence[Run], chosen: Metric) -> Floats:
    if not runs:
        raise InputError("no runs, nothing to measure")
    return np.array([chosen(run.gold, run.probabilities, run.label_names) for run in runs], dtype=np.float64)


def _drawn(random: Sequence[Run], without: Sequence[Run], chosen: Metric, draws: int, seed: int) -> Floats:
    """The difference of the means on resampled rows [draws]."""
    one, runs = random[0], [*random, *without]
    if any(run.sample != one.sample for run in runs):
        raise InputError("the runs were tested on different rows")
    values = bootstrap(
        chosen,
        one.gold,
        [run.probabilities for run in runs],
        one.label_names,
        groups=one.groups,
        draws=draws,
        seed=seed,
    )
    return np.asarray(values[: len(random)].mean(axis=0) - values[len(random) :].mean(axis=0))


def _spread(scores: Floats, draws: int, seed: int) -> Floats:
    """How far one removal may be from the mean of the random ones [draws]."""
    n = len(scores)
    reach = float(np.std(scores, ddof=1)) * (1 + 1 / n) ** 0.5
    return np.asarray(reach * generator(seed, "removals").standard_t(n - 1, size=draws))


@dataclass(frozen=True, eq=False)
class PricedAnswers:
    """Test rows with the answers of one model, or of several trained alike, whose scores are averaged."""

    gold: Codes
    models: Sequence[Floats]
    label_names: tuple[str, ...]
    units: Codes
    """Rows with equal numbers are drawn together."""

    @classmethod
    def of(cls, data: Dataset, models: Sequence[Predictions], rows: Rows, units: str | None = None) -> PricedAnswers:
        """What the models say about these rows of `data`; `units` is the attribute that is drawn together."""
        codes = np.arange(len(rows)) if units is None else drawn_groups(data.attribute(units))[rows]
        codes = np.unique(codes, return_inverse=True)[1].reshape(-1)
        return cls(data.labels[rows], [aligned(data, model, rows) for model in models], data.label_names, codes)

    def score(self, metric: Metric, where: Mask) -> float | None:
        """The mean score of the models on these rows; None where one has none."""
        scores = [metric(self.gold[where], model[where], self.label_names) for model in self.models]
        return None if None in scores else float(np.mean([score for score in scores if score is not None]))


def price_on_test(
    data: Dataset,
    models: Sequence[Predictions],
    rows: Rows,
    leaked: Mask,
    metric: str = "f1.macro",
    *,
    units: str | None = None,
    tags: Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 42,
) -> list[Measurement]:
    """The metric on the test rows `rows`, told apart by the tag `rows`, and `fall.METRIC`, the price.

    `leaked` says which of `rows` have a counterpart in training. The tag `rows` is `all`, `leaked`, `unleaked`, or
    `random`: the mean over random removals of as many rows (in whole `units`) with the same labels, and the middle
    95 % of them. The price is `random` less `unleaked`; positive when the leaks flatter. Its interval draws test rows
    (or whole `units`) anew; that of metrics that need more than labels draws a random removal with them and is rather
    too wide. Its tag `p` is the share of random removals that move the score at least as far. Nothing is priced when
    no row leaks or a label has no unleaked row. Leaked rows may be easier or harder for other reasons than the leak:
    the price of removing them from training is the other half of the answer.
    """
    chosen = checked(metric, models[0])
    answers = PricedAnswers.of(data, models, rows, units)
    tags = {"side": "test", **(tags or {})}
    measurements = []
    for name, where in {"all": np.ones(len(rows), bool), "leaked": leaked, "unleaked": ~leaked}.items():
        value = answers.score(chosen, where)
        n = 0 if value is None else int(where.sum())
        measurements.append(Measurement(chosen.id, value, n, tags={**tags, "rows": name}))
    nothing = Measurement(f"fall.{chosen.id}", None, 0, tags={**tags, "rows": "all"})
    if not removable(answers.gold, leaked):
        return [*measurements, nothing]
    clean = answers.score(chosen, ~leaked)
    many = draws if chosen.of_counts is not None else min(draws, SLOW_DRAWS)
    removed = _random_scores(chosen, answers, leaked, many, seed)
    if clean is None or not np.isfinite(removed).all():
        return [*measurements, nothing]
    middle, sign = float(removed.mean()), 1.0 if chosen.higher_is_better else -1.0
    low, high = percentiles(removed) or (None, None)
    kept = int((~leaked).sum())
    measurements.append(Measurement(chosen.id, middle, kept, low, high, tags={**tags, "rows": "random"}))
    low, high = percentiles(sign * _resampled_prices(chosen, answers, leaked, many, seed)) or (None, None)
    as_far = int((np.abs(removed - middle) >= abs(clean - middle) - 1e-12).sum())
    p = (1 + as_far) / (1 + len(removed))
    price, tags = sign * (middle - clean), {**tags, "rows": "all", "p": p}
    return [*measurements, Measurement(f"fall.{chosen.id}", price, len(rows), low, high, tags=tags)]


def removable(strata: Codes, leaked: Mask) -> bool:
    """Whether some rows leak, and every stratum (a label) has a row that does not."""
    return bool(leaked.any()) and bool(np.isin(strata, strata[~leaked]).all())


def random_removals(
    strata: Codes,
    leaked: Mask,
    draws: int,
    draw: np.random.Generator,
    units: Codes | None = None,
) -> Iterator[Mask]:
    """Random rows [some, rows] to remove, as many of each stratum as leak, in blocks of draws.

    With `units` (codes from 0) whole units go, the last one of a stratum as far as the number allows.
    """
    for size in blocks(draws, len(strata)):
        removed = np.zeros((size, len(strata)), bool)
        turn = None if units is None else draw.random((size, int(units.max()) + 1))
        for stratum in np.unique(strata[leaked]):
            places = np.flatnonzero(strata == stratum)
            count = int(leaked[places].sum())
            keys = draw.random((size, len(places))) if turn is None or units is None else turn[:, units[places]]
            order = keys.argsort(axis=1, kind="stable")[:, :count]
            removed[np.arange(size)[:, None], places[order]] = True
        yield removed


def price_findings(measurements: Sequence[Measurement], metric: str) -> list[Finding]:
    """A finding for each kind of leak and each side that was priced, from the measurements of a price."""
    kinds = dict.fromkeys(row.tags["leak"] for row in measurements if row.metric == "leaked_rows")
    return [
        finding
        for kind in kinds
        for finding in _findings(str(kind), [row for row in measurements if row.tags.get("leak") == kind], metric)
    ]


def _findings(kind: str, rows: Sequence[Measurement], metric: str) -> list[Finding]:
    counts = {row.tags["side"]: int(row.value or 0) for row in rows if row.metric == "leaked_rows"}
    check, tested = f"price.{kind}", next(row.n for row in rows if row.metric == "leaked_rows")
    if not counts["test"]:
        return [Finding(check, "ok", f"No test row leaks ({kind}): there is nothing to price.")]
    prices = [row for row in rows if row.metric == f"fall.{metric}" and row.tags["rows"] == "all"]
    apart = next((row.tags["left_out"] for row in rows if "left_out" in row.tags), None)
    left_out = "" if apart is None else f" Not among them: {apart}."
    findings = []
    for row in prices:
        side, count = row.tags["side"], counts[row.tags["side"]]
        of = f"of {tested:,} test rows" if side == "test" else f"training {'row' if count == 1 else 'rows'}"
        what = f"{count:,} leaked {of}"
        if row.value is None:
            why = row.tags.get("why", "without them a label has no row to compare with")
            message = f"The {what} ({kind}) cannot be priced: {why}."
            findings.append(Finding(f"{check}.{side}", "skipped", message, count, advice="Split again without them."))
            continue
        level = _level(row, counts["test"])
        message = f"{_sentence(row, what, kind, metric, count)}{_caution(row, counts['test'])}{left_out}"
        advice = (
            "" if level == "ok" else "Report the score without them: unseen split repair makes a split without leaks."
        )
        findings.append(Finding(f"{check}.{side}", level, message, count, advice=advice))
    if not prices:
        many = f"{counts['test']:,} leaked test {'row' if counts['test'] == 1 else 'rows'}"
        message = f"Not priced: the {many} ({kind}), as there is no model and no predictions."
        findings.append(Finding(check, "skipped", message, counts["test"]))
    return findings


def _sentence(row: Measurement, what: str, kind: str, metric: str, count: int) -> str:
    how = "from the test part" if row.tags["side"] == "test" else "from training and training again"
    p = row.tags.get("p")
    chance = "" if p is None else f"; of random removals {percent(float(p))} move it as far"
    them, make, buy, others = ("it", "makes", "buys", "a random row with the same label") if count == 1 else (
        "them", "make", "buy", "as many random rows with the same labels",
    )  # fmt: skip
    if lowers(row):
        return (
            f"The {what} ({kind}) {make} {called(metric)} too low: removing {them} {how} adds "
            f"{amount_within(metric, turned(row))} to what is left after removing {others}{chance}. Rows whose "
            "counterparts have another label, such as contrast partners, mislead a model."
        )
    if pays(row):
        return (
            f"The {what} ({kind}) {buy} {amount_within(metric, row)} of {called(metric)}: removing {them} {how} costs "
            f"that much more than removing {others}{chance}."
        )
    return (
        f"No price of the {what} ({kind}) is seen, {amount_within(metric, row)} of {called(metric)}: the fall by "
        f"removing {them} {how}, less that by removing {others}{chance}."
    )


def pays(row: Measurement) -> bool:
    """Whether the leaks make a score too high: a price above 0, by its whole interval where there is one."""
    lowest = row.value if row.low is None else row.low
    return lowest is not None and round(100 * lowest, 1) > 0


def lowers(row: Measurement) -> bool:
    """Whether the leaks make a score too low: a price below 0, by its whole interval where there is one."""
    highest = row.value if row.high is None else row.high
    return highest is not None and round(100 * highest, 1) < 0


def _level(row: Measurement, leaked: int) -> str:
    """Warn where the whole interval is above 0 or below, fail where it is above by a point and rests on enough."""
    if lowers(row):
        return "warn"
    if row.low is None or not pays(row):
        return "ok"
    return "fail" if row.low >= FAIL_FROM and leaked >= FEW and not _too_few(row) else "warn"


def _too_few(row: Measurement) -> bool:
    """Whether the random removals that trainings were made for cannot show that a price is rare."""
    return "removals" in row.tags and not can_be_sure(int(row.tags["removals"]))


def _caution(row: Measurement, leaked: int) -> str:
    few = "1 leaked test row is little" if leaked == 1 else f"{leaked} leaked test rows are few"
    caution = f" {few}: take it as a hint." if leaked < FEW else ""
    if _too_few(row):
        caution += f" It rests on {row.tags['removals']} random removals, too few to be sure."
    return caution


def _random_scores(metric: Metric, answers: PricedAnswers, leaked: Mask, draws: int, seed: int) -> Floats:
    """The mean score of the models after each random removal [draws]."""
    draw = generator(seed, "price", "removals")
    scores = []
    patterns = _patterns(answers)
    for removed in random_removals(answers.gold, leaked, draws, draw, answers.units):
        if metric.of_counts is not None:
            counts = patterns.of_groups((~removed).astype(np.int64))
            by_model = [
                metric.of_counts(patterns.tallies(counts, model), answers.label_names)
                for model in range(len(answers.models))
            ]
            scores.append(np.mean(by_model, axis=0))
        else:
            scores.append(np.array([answers.score(metric, ~rows) for rows in removed], dtype=np.float64))
    return np.concatenate(scores)


def _resampled_prices(metric: Metric, answers: PricedAnswers, leaked: Mask, draws: int, seed: int) -> Floats:
    """Score of the random removal less that of the unleaked rows, on resampled test rows [draws]."""
    draw = generator(seed, "price", "rows")
    compute = _by_rows if metric.of_counts is None else _by_counts
    units = int(answers.units.max()) + 1
    return np.concatenate(
        [
            compute(metric, answers, leaked, times[:, answers.units], draw)
            for size in blocks(draws, len(leaked))
            for times in times_drawn(units, size, draw)
        ]
    )


def _by_counts(metric: Metric, answers: PricedAnswers, leaked: Mask, times: Rows, _: np.random.Generator) -> Floats:
    """Every row of a label counts by the share of its rows that do not leak: the mean of all random removals."""
    assert metric.of_counts is not None
    patterns = _patterns(answers)
    everything, clean = patterns.of_groups(times), patterns.of_groups(times * ~leaked)
    prices = np.zeros(len(times))
    for model in range(len(answers.models)):
        whole, rest = (patterns.tallies(counts, model) for counts in (everything, clean))
        share = rest[:, 2] / np.maximum(whole[:, 2], 1)  # of each label [draws, k]
        scaled = patterns.tallies(everything * share[:, patterns.gold], model)
        prices += metric.of_counts(scaled, answers.label_names) - metric.of_counts(rest, answers.label_names)
    return prices / len(answers.models)


def _by_rows(metric: Metric, answers: PricedAnswers, leaked: Mask, times: Rows, draw: np.random.Generator) -> Floats:
    """One random removal in each resample."""
    prices = []
    for counts in times:
        rows = np.repeat(np.arange(len(leaked)), counts)
        again = PricedAnswers(
            answers.gold[rows], [model[rows] for model in answers.models], answers.label_names, answers.units[rows]
        )
        removed = next(iter(random_removals(again.gold, leaked[rows], 1, draw, again.units)))[0]
        scores = again.score(metric, ~removed), again.score(metric, ~leaked[rows])
        prices.append(np.nan if None in scores else np.subtract(*np.array(scores, dtype=np.float64)))
    return np.array(prices)


def _patterns(answers: PricedAnswers) -> Patterns:
    predicted = [model.argmax(axis=1) for model in answers.models]
    return Patterns(answers.gold, predicted, len(answers.label_names), np.arange(len(answers.gold)))
