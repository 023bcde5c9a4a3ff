"""All that is known of a target, put together: from labels, from texts alone, and what each rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from unseen import inference
from unseen.evaluation.metrics import Metric
from unseen.forecasts.estimators import Answers, estimates, score_of, true_score
from unseen.forecasts.label_sample import strata_of
from unseen.forecasts.labelled import UNLABELLED, LabelledScore, PartlyLabelled
from unseen.forecasts.ladder import Forecast, Ladder, Rung, rungs_of_dropped_words, taken
from unseen.forecasts.meaning import MeaningTest, meaning_test, together
from unseen.forecasts.prediction_sets import KINDS, prediction_sets
from unseen.seeding import generator
from unseen.types import Dataset, Finding, Measurement, Predictions
from unseen.types.arrays import Codes, Floats, Mask
from unseen.types.numbers import points

MOST_AT_HOME = 1_000
"""Texts of home from which words are left out: each rung asks the model about all of them."""
MOST_NEW = 20_000
"""New texts, drawn at random, that estimators without labels look at."""
MOST_FORECAST = 25
"""Metrics that are forecast from texts alone: of many labels, not each has its own."""
ODD = 0.01
"""Labels that the file brings are called no random sample below this probability."""


@dataclass(frozen=True, eq=False)
class Target:
    """New texts, what the model says about them, and the labels of some."""

    data: Dataset
    predictions: Predictions
    labels: Codes
    """-1 where nobody has looked."""
    brought: Mask | None = None
    """Which labels came with the texts, not from the sample that was drawn."""
    twins: Sequence[Floats] = ()
    """What the same recipe says from other seeds."""

    @cached_property
    def answers(self) -> Answers:
        """What the model says, of a sample where there are very many texts."""
        rows = np.sort(self.data.by_id[generator(0, "new texts").permutation(len(self.data))[:MOST_NEW]])
        texts, twins = self.data.texts.take(pa.array(rows)).to_pylist(), tuple(twin[rows] for twin in self.twins)
        return Answers(self.predictions.probabilities[rows], None, texts, twins)

    @cached_property
    def strata(self) -> Codes:
        """The stratum of each text; the order of rows decides nothing."""
        by_id, strata = self.data.by_id, np.empty(len(self.data), np.int64)
        strata[by_id] = strata_of(self.predictions.probabilities[by_id])
        return strata

    @cached_property
    def sample(self) -> PartlyLabelled | None:
        """The labelled texts as a sample of all; None without labels."""
        if not (self.labels != UNLABELLED).any():
            return None
        return PartlyLabelled(self.predictions.probabilities, self.strata, self.labels)

    def oddness(self) -> float:
        """Probability that as many random labels lie as unevenly over the strata as those that came with the texts."""
        from scipy.stats import chisquare

        if self.brought is None or not self.brought.any():
            return 1.0
        sizes = np.bincount(self.strata).astype(np.float64)
        counts = np.bincount(self.strata[self.brought], minlength=len(sizes))
        return float(chisquare(counts, sizes / sizes.sum() * counts.sum()).pvalue) if len(sizes) > 1 else 1.0


@dataclass(frozen=True, eq=False)
class Prospect:
    """All that a forecast of one model is made of."""

    target: Target
    home: Answers | None
    """Labelled texts that the model was not trained on; None where there are none."""
    rungs: Sequence[Rung] = ()
    metrics: Sequence[Metric] = ()
    """The main one first."""
    slices: Mapping[str, Sequence[str | None]] = field(default_factory=dict)
    """Of the target, by column."""

    @property
    def label_names(self) -> tuple[str, ...]:
        """The labels that the model gives."""
        return self.target.data.label_names

    @cached_property
    def ladder(self) -> Ladder:
        """The rungs with what estimators say there."""
        return Ladder(self.rungs, self.label_names)

    @cached_property
    def tables(self) -> dict[str, Any]:
        """What estimators say of the target."""
        assert self.home is not None
        return estimates(self.home, self.target.answers)

    @cached_property
    def forecasts(self) -> list[Forecast]:
        """What texts alone say of every metric; nothing without labelled texts of home."""
        if self.home is None or not self.rungs:
            return []
        target, metrics = self.target.answers, self.metrics[:MOST_FORECAST]
        return [self.ladder.forecast(metric, self.home, target, self.tables) for metric in metrics]

    @cached_property
    def meaning(self) -> MeaningTest | None:
        """Whether labels disagree with the model more than a change of topic explains."""
        if self.home is None or self.target.sample is None:
            return None
        return meaning_test(self.target.sample, self.home, self.rungs)

    def measurements(self) -> list[Measurement]:
        """Everything that is known, as rows."""
        rows = [*self._labelled(), *self._at_home(), *self._unlabelled()]
        if self.home is not None and self.rungs:
            rows += [*self._estimators(), *self._sets()]
        if self.meaning is not None:
            test, n = self.meaning, int((self.target.labels != UNLABELLED).sum())
            rows += [Measurement("meaning.p", test.p, n), Measurement("meaning.surplus", test.surplus, n)]
            rows += [Measurement("meaning.usual_surplus", test.usual, len(self.rungs))]
        return rows

    def _labelled(self) -> list[Measurement]:
        sample = self.target.sample
        if sample is None:
            return []
        rows = [_labelled_row(metric, sample.score(metric, self.label_names)) for metric in self.metrics]
        for column, values in self.slices.items():
            names = np.array([value or "" for value in values], dtype=object)
            for name in sorted(set(names) - {""}):
                scores = [(metric, sample.score(metric, self.label_names, names == name)) for metric in self.metrics]
                rows += [_labelled_row(metric, score, f"{column}={name}") for metric, score in scores]
        for forecast, metric in zip(self.forecasts, self.metrics, strict=False):
            both = together(sample.score(metric, self.label_names), forecast)
            if both is not None and not (self.meaning is not None and self.meaning.changed):
                rows.append(Measurement(f"together.{metric.id}", both[0], int(sample.known.sum()), *both[1:]))
        return rows

    def _at_home(self) -> list[Measurement]:
        if self.home is None:
            return []
        scores = {metric.id: true_score(self.home, metric, self.label_names) for metric in self.metrics}
        return [_row(f"home.{name}", score, len(self.home)) for name, score in scores.items()]

    def _unlabelled(self) -> list[Measurement]:
        rows = []
        for forecast in self.forecasts:
            n, bounds = len(self.target.data), (forecast.low, forecast.high)
            tags: dict[str, Any] = {"by": forecast.estimator, "rungs": len(self.rungs)}
            if np.isnan(forecast.value):  # the model gives no text of the target that label
                rows.append(Measurement(f"forecast.{forecast.metric}", None, 0, tags=tags))
                continue
            if forecast.stands:
                rows.append(Measurement(f"forecast.{forecast.metric}", forecast.value, n, *bounds, tags=tags))
            else:
                reason = {**tags, "why_not": forecast.why_not}
                rows.append(Measurement(f"forecast.{forecast.metric}", None, 0, tags=reason))
            rows.append(Measurement(f"forecast.if_topic.{forecast.metric}", forecast.value, n, *bounds, tags=tags))
        return rows

    def _estimators(self) -> list[Measurement]:
        """The main metric by every estimator: on each rung beside the truth, on the target, and how far it errs."""
        metric, rows = self.metrics[0], list[Measurement]()
        for rung in self.rungs:
            tags = {"rung": rung.name, "kind": rung.kind}
            truth = true_score(rung.target, metric, self.label_names)
            rows.append(_row(f"rung.{metric.id}", truth, len(rung.target), tags))
        for name in self.ladder.estimators:
            error = float(np.abs(self.ladder.left_out_errors(metric, name)).mean())
            rows.append(_row(f"error.{metric.id}", error, len(self.rungs), {"estimator": name}))
            for rung, tables in zip(self.rungs, self.ladder.tables, strict=True):
                tags = {"estimator": name, "rung": rung.name, "kind": rung.kind}
                estimate = score_of(tables[name], metric, self.label_names)
                rows.append(_row(f"estimate.{metric.id}", estimate, len(rung.target), tags))
            if name in self.tables:
                estimate = score_of(self.tables[name], metric, self.label_names)
                rows.append(_row(f"estimate.{metric.id}", estimate, len(self.target.data), {"estimator": name}))
        constant = self.forecasts[0].constant_error
        return [*rows, _row(f"error.{metric.id}", constant, len(self.rungs), {"estimator": "constant"})]

    def _sets(self) -> list[Measurement]:
        """How large prediction sets are on the target, and how often they hold the right label on each rung."""
        assert self.home is not None
        rows = []
        for kind in KINDS:
            sets = prediction_sets(self.home, self.target.answers, kind)
            rows.append(_row("sets.labels", float(sets.sum(axis=1).mean()), len(sets), {"kind": kind}))
            rows.append(_row("sets.single", float((sets.sum(axis=1) == 1).mean()), len(sets), {"kind": kind}))
            for rung in self.rungs:
                held = prediction_sets(rung.home, rung.target, kind)[np.arange(len(rung.target)), rung.target.known]
                rows.append(_row("sets.covered", float(held.mean()), len(held), {"kind": kind, "rung": rung.name}))
        return rows

    def findings(self) -> list[Finding]:
        """What whoever reads the forecast must know."""
        findings = []
        brought = 0 if self.target.brought is None else int(self.target.brought.sum())
        if self.target.oddness() < ODD:
            findings.append(Finding(
                "labels", "warn", f"The {brought:,} labels that came with the texts are no random sample: "
                "the model says other things about them than about the rest. The intervals take them for one in each "
                "stratum.", brought, advice="label the texts of the sample that is drawn",
            ))  # fmt: skip
        if self.meaning is not None:
            test = self.meaning
            level, verb = ("warn", "disagree") if test.changed else ("ok", "do not disagree")
            findings.append(Finding(
                "meaning", level, f"Labels {verb} with the model more than a change of topic explains: it errs by "
                f"{points(test.surplus)} points more than it expects, on the ladder by {points(test.usual)} "
                f"(p = {test.p:.2g}).", advice="read the labelled texts that it gets wrong" if test.changed else "",
            ))  # fmt: skip
        if self.home is None:
            message = "Nothing is said without labels: that needs labelled texts that the model was not trained on."
            findings.append(Finding("forecast", "skipped", message, advice="--known held-out.csv"))
        elif self.forecasts and not self.forecasts[0].stands:
            findings.append(Finding("forecast", "skipped", f"Cannot be told: {self.forecasts[0].why_not}."))
        return findings


def made_rungs(model: Any, data: Dataset, home: Answers, seed: int, twins: Sequence[Any] = ()) -> list[Rung]:
    """Rungs of texts of home with words left out; `home` are the answers to `data`, `twins` are asked too."""
    rows = np.sort(generator(seed, "home").permutation(len(home))[:MOST_AT_HOME])

    def ask(texts: list[str]) -> list[Floats]:
        changed = data.table.take(pa.array(rows)).set_column(1, "text", pa.array(texts, pa.large_string()))
        asked = replace(data, table=changed, places=None)
        return [inference.predict(one, asked).probabilities for one in (model, *twins)]

    return rungs_of_dropped_words(taken(home, rows), ask, seed=seed)


def _row(name: str, value: float, n: int, tags: Mapping[str, Any] | None = None) -> Measurement:
    known = bool(np.isfinite(value))
    return Measurement(name, float(value) if known else None, n if known else 0, tags=tags or {})


def _labelled_row(metric: Metric, score: LabelledScore, slice: str = "all") -> Measurement:
    tags: dict[str, Any] = {"labels": score.labels, "trust": round(score.trust, 3)}
    tags |= {"why_not": score.why} if score.why else {}
    n = score.texts if score.value is not None else 0
    return Measurement(f"labelled.{metric.id}", score.value, n, score.low, score.high, slice, tags)
