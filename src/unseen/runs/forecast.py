"""What a model will score on new texts: from a few labels, from the texts alone, and what nobody can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unseen import inference
from unseen.api import load
from unseen.data.tables import load_texts, read_strings
from unseen.errors import InputError
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import Metric
from unseen.evaluation.metrics import metric as metric_of
from unseen.forecasts.estimators import Answers, estimates, score_of, true_score
from unseen.forecasts.label_sample import ranking, strata_of
from unseen.forecasts.labelled import UNLABELLED, LabelledScore, PartlyLabelled
from unseen.forecasts.ladder import Forecast, Ladder, Rung, rungs_of_dropped_words, rungs_of_slices, taken
from unseen.forecasts.meaning import MeaningTest, meaning_test, together
from unseen.forecasts.prediction_sets import KINDS as SET_KINDS
from unseen.forecasts.prediction_sets import prediction_sets
from unseen.models import open_model
from unseen.redaction import redacted
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.seeding import generator
from unseen.store import atomic, write_predictions
from unseen.store.files import csv_rows, harmless, unharmed
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, Predictions, some
from unseen.types.arrays import Codes
from unseen.types.numbers import points

TO_LABEL = "to_label.csv"
LABELS = 100
"""Texts that are drawn to be labelled when nothing is said."""
MOST_AT_HOME = 1_000
"""Texts of home from which words are left out: each rung asks the model about all of them."""
ODD = 0.01
"""Labels that the file brings are called no random sample below this probability."""


@dataclass(frozen=True, eq=False)
class Target:
    """New texts, what the model says about them, and the labels of some."""

    data: Dataset
    predictions: Predictions
    labels: Codes
    """-1 where nobody has looked."""
    brought: int = 0
    """Labels that came with the texts, not from the sample that was drawn."""

    @cached_property
    def answers(self) -> Answers:
        """What the model says."""
        return Answers(self.predictions.probabilities, None, self.data.texts.to_pylist())

    @cached_property
    def sample(self) -> PartlyLabelled | None:
        """The labelled texts as a sample of all; None without labels."""
        if not (self.labels != UNLABELLED).any():
            return None
        return PartlyLabelled(self.predictions.probabilities, strata_of(self.predictions.probabilities), self.labels)


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
        return [self.ladder.forecast(metric, self.home, self.target.answers, self.tables) for metric in self.metrics]

    @cached_property
    def meaning(self) -> MeaningTest | None:
        """Whether labels disagree with the model more than a change of topic explains."""
        if self.home is None or self.target.sample is None:
            return None
        return meaning_test(self.target.sample, self.home, self.rungs)

    # -- what is measured ----------------------------------------------------------------------------------------------

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
            tags: dict[str, Any] = {"estimator": forecast.estimator, "rungs": len(self.rungs)}
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
        for kind in SET_KINDS:
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
        if self.target.brought and self._odd() < ODD:
            findings.append(Finding(
                "labels", "warn", f"The {self.target.brought:,} labels that came with the texts are no random sample: "
                "the model says other things about them than about the rest. The intervals take them for one in each "
                "stratum.", self.target.brought, advice="label the texts of the sample that is drawn",
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

    def _odd(self) -> float:
        """Probability that a random sample lies as unevenly over the strata as the labels do."""
        from scipy.stats import chisquare

        sample = self.target.sample
        if sample is None:
            return 1.0
        sizes = np.bincount(sample.strata).astype(np.float64)
        counts = np.bincount(sample.strata[sample.known], minlength=len(sizes))
        return float(chisquare(counts, sizes / sizes.sum() * counts.sum()).pvalue) if len(sizes) > 1 else 1.0


def _row(name: str, value: float, n: int, tags: Mapping[str, Any] | None = None) -> Measurement:
    known = bool(np.isfinite(value))
    return Measurement(name, float(value) if known else None, n if known else 0, tags=tags or {})


def _labelled_row(metric: Metric, score: LabelledScore, slice: str = "all") -> Measurement:
    tags: dict[str, Any] = {"labels": score.labels, "trust": round(score.trust, 3)}
    tags |= {"why_not": score.why} if score.why else {}
    n = score.texts if score.value is not None else 0
    return Measurement(f"labelled.{metric.id}", score.value, n, score.low, score.high, slice, tags)


# -- the run -----------------------------------------------------------------------------------------------------------


def forecast(
    source: Any,
    *,
    model: Any,
    known: Sequence[Any] = (),
    labels: int = LABELS,
    width: float | None = None,
    stratified: bool = True,
    metric: str = "f1.macro",
    slices: Sequence[str] = (),
    label_names: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    text: str = "text",
    label: str = "label",
    id: str | None = None,
    opening: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """What `model` will score on the texts of `source`, of which some or none have a label.

    With `out`, the first `labels` texts to label are written to `to_label.csv`; labels that are filled in there are
    used when it is called again, as are those of the column `label`. `width` asks for an interval of ± so much: the
    sample grows until it is reached. `known` are files or Datasets of labelled texts that the model was not trained
    on: the first is like what it learnt from, further ones, and the `slices` of the first, are from elsewhere and
    show how far estimates without labels can be trusted. `opening` are parameters of `unseen.models.open_model`.
    """
    bounds = [Gate.parsed(gate) if isinstance(gate, str) else gate for gate in gates]
    if width is not None and not 0 < width < 0.5:
        raise InputError("width is half of an interval", expected="a share such as 0.05, which is 5 points")
    main = metric_of(metric)
    opened = open_model(model, rename=rename, **dict(opening or {})) if isinstance(model, str | Path) else model
    columns: dict[str, Any] = {"text": text, "label": label, "id": id}
    homes = [_home(one, columns, slices if place == 0 else (), label_names) for place, one in enumerate(known)]
    names = tuple(label_names or (homes[0].label_names if homes else getattr(opened, "classes_", None) or ()))
    if not names:
        raise InputError(
            "the model does not say its labels", fix="name them: labels=[…] (--labels), or give known texts"
        )
    data, given = load_texts(source, names, attributes=list(slices), **columns)
    metrics = list(dict.fromkeys([main.id, "accuracy", "f1.macro", *(f"f1[{name}]" for name in names)]))
    chosen = [metric_of(name) for name in metrics]
    place = redacted(str(model)) if isinstance(model, str | Path) else inference.name_of(model)
    about = {
        "data": described_data(data) | {"counts": {}},
        "model": place,
        "settings": {
            "metric": main.id, "slices": list(slices), "stratified": stratified, "seed": seed,
            "known": [described_data(home) for home in homes],
        },
    }  # fmt: skip

    def work(folder: RunFolder | None) -> Output:
        predictions = inference.predict(opened, data, work="ask about the new texts")
        if folder is not None:
            write_predictions(predictions, folder / "predictions" / "target.parquet")
        sheet = {} if folder is None else _filled_in(folder / TO_LABEL, names)
        drawn = np.array([names.index(sheet[key]) if key in sheet else UNLABELLED for key in data.ids.to_pylist()])
        labelled = np.where(drawn != UNLABELLED, drawn, given)
        target = Target(data, predictions, labelled, int(((given != UNLABELLED) & (drawn == UNLABELLED)).sum()))
        prospect = _prospect(opened, target, homes, chosen, slices, seed)
        asked = _labels_needed(prospect, labels, width)
        if folder is not None:
            _write_sheet(folder / TO_LABEL, target, ranking_of(target, asked, seed, stratified), sheet)
        count = int((labelled != UNLABELLED).sum())
        more = {"labels": count, "texts": len(data), "to_label": asked, "width": width, "rungs": len(prospect.rungs)}
        return Output(prospect.measurements(), prospect.findings(), more, data)

    return carry_through("forecast", about, work, out=out, command=command, gates=bounds)


def _home(source: Any, columns: Mapping[str, Any], slices: Sequence[str], names: Sequence[str] | None) -> Dataset:
    if isinstance(source, Dataset):
        return source
    declared = {} if names is None else {"labels": list(names)}
    return load(source, **{**columns, **declared, "attributes": list(slices)})


def _prospect(
    model: Any, target: Target, homes: Sequence[Dataset], metrics: Sequence[Metric], slices: Sequence[str], seed: int
) -> Prospect:
    of_target = {name: target.data.attribute(name).cast(pa.large_string()).to_pylist() for name in slices}
    if not homes:
        return Prospect(target, None, (), metrics, of_target)
    first = homes[0]
    home, *elsewhere = (answers_of(model, data) for data in homes)
    some_rows = np.sort(generator(seed, "home").permutation(len(home))[:MOST_AT_HOME])

    def ask(texts: list[str]) -> Any:
        # ids and labels mean nothing here: only the texts are asked about
        changed = first.table.take(pa.array(some_rows)).set_column(1, "text", pa.array(texts, pa.large_string()))
        return inference.predict(model, replace(first, table=changed, places=None)).probabilities

    rungs = rungs_of_dropped_words(taken(home, some_rows), ask, seed=seed)
    rungs += [Rung(data.name, "known", home, far) for data, far in zip(homes[1:], elsewhere, strict=True)]
    for name in slices:
        rungs += rungs_of_slices(home, first.attribute(name).cast(pa.large_string()).to_pylist(), name)
    return Prospect(target, home, rungs, metrics, of_target)


def answers_of(model: Any, data: Dataset) -> Answers:
    """What a model says about labelled texts."""
    predictions = inference.predict(model, data, work=f"ask about {data.name}")
    return Answers(predictions.probabilities, data.labels, data.texts.to_pylist())


# -- the texts to label ------------------------------------------------------------------------------------------------


def ranking_of(target: Target, count: int, seed: int, stratified: bool = True) -> Any:
    """The first texts to label, as positions in the data; the order of the file decides nothing."""
    by_id = target.data.by_id
    probabilities = target.predictions.probabilities[by_id]
    return by_id[ranking(probabilities, min(count, len(by_id)), seed=seed, stratified=stratified)]


def _labels_needed(prospect: Prospect, labels: int, width: float | None) -> int:
    """How many texts are to be labelled in all: as many as asked for, or as the width needs by what is known."""
    sample = prospect.target.sample
    if width is None or sample is None:
        return labels
    needed = sample.score(prospect.metrics[0], prospect.label_names).labels_for(width)
    return max(labels, needed or labels)


def _filled_in(path: Path, names: Sequence[str]) -> dict[str, str]:
    """The labels that people have filled in, by id; refuses those that are none."""
    if not path.exists():
        return {}
    columns = {name: values.to_pylist() for name, values in read_strings(path, ["id", "label"], "labels").items()}
    filled = [(key, value) for key, value in zip(columns["id"], columns["label"], strict=True) if key and value]
    sheet = {unharmed(key): unharmed(value) for key, value in filled}
    wrong = {key: value for key, value in sheet.items() if value not in names}
    if wrong:
        raise InputError(
            f"{path} has labels that the model does not give",
            problems=[f"the text {key!r} is labelled {value!r}" for key, value in wrong.items()],
            expected=f"one of {some(names, 20)}, or nothing",
        )
    return sheet


def _write_sheet(path: Path, target: Target, rows: Any, sheet: Mapping[str, str]) -> None:
    """Write the texts to label, first things first, with what is filled in already; nothing filled in is lost."""
    ids, texts = target.data.ids.to_pylist(), target.data.texts
    listed = [*dict.fromkeys([*(ids[row] for row in rows), *sheet])]
    place = {key: row for row, key in enumerate(ids)}
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        write(["id", "label", "text"])
        for key in listed:
            text = texts[place[key]].as_py() if key in place else ""
            write([harmless(key), harmless(sheet.get(key, "")), harmless(text)])


def labels_for(width: float, score: float) -> int:
    """About how many labels an interval of ± `width` around this score needs, before any is there."""
    return int(np.ceil((1.96 / width) ** 2 * max(score * (1 - score), 0.05)))


def width_of(labels: int, score: float) -> float:
    """About how wide (±) an interval around this score is with so many labels."""
    return float(1.96 * (max(score * (1 - score), 0.05) / labels) ** 0.5)
