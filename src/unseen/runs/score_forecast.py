"""Scores on targets that nobody has tested on, from a table of scores elsewhere and features of the target."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.gates import Gate
from unseen.evaluation.wording import shortened
from unseen.forecasts.features import Features, with_features
from unseen.forecasts.left_out import (
    LEAVE_OUT,
    LEVEL,
    Reach,
    coverage,
    errors_by_target,
    half_width,
    left_out_predictions,
    mean_error,
)
from unseen.forecasts.score_models import BASELINES, score_model
from unseen.forecasts.score_table import (
    Configuration,
    Floats,
    ScoreTable,
    joined,
    parse_configuration,
    read_scores,
)
from unseen.reports.figures import DotLine, dot_chart
from unseen.reports.formats import Cell, Strong, Table
from unseen.reports.page import BADGES, Page, Section, Verdict, sorted_findings, two_widths, worst_level
from unseen.reports.record import RunRecord, read_record
from unseen.runs.frame import Output, Result, carry_through
from unseen.store.run_folder import ABOUT, RunFolder
from unseen.types import Finding, Measurement, some
from unseen.types.numbers import bounds, number, percent, points, scored

ERROR, COVERAGE, SCORE = "forecast.error", "forecast.coverage", "forecast.score"
MODEL = "forecast.model"
"""The check whether the model beats the means."""
PRINTED, ROOM = 20, 60
"""Forecasts that the command line prints, and letters of a configuration in a table."""
FEWEST = 3
"""Targets that a table must have: one to leave out, and two that are known then."""
RunRow = tuple[Configuration, str, float | None, str]
"""Configuration, target, score and task."""
READING = (
    "Errors are mean absolute differences in points, on targets that the model had not seen: each was left out in its "
    "turn. In brackets: 90 % intervals from the errors on other targets than the row's own."
)


def forecast_scores(
    scores: ScoreTable | str | Path,
    *,
    features: Features | None = None,
    predict: Sequence[str | Configuration] = (),
    targets: Sequence[str] = (),
    model: str = "xgboost",
    leave_out: str = "target",
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
) -> Result:
    """What `model` says of rows without a score, and of each configuration in `predict` on each of `targets`.

    `scores` is a table, its file, or the folder of a transfer or a study. Without `predict` the configurations of the
    table are asked about. How far the model is off is measured by leaving out each target in its turn, and the means
    of scores stand beside it. What is farther from all seen targets than these are from each other has no forecast.
    """
    table = scores if isinstance(scores, ScoreTable) else read_table(scores)
    score_model(model)
    if leave_out not in LEAVE_OUT:
        raise UnknownNameError.of("way to leave a target out", leave_out, LEAVE_OUT)
    if predict and not targets:
        raise InputError("predict has no effect without targets", fix="name what is to be forecast: targets=[…]")
    configurations = [parse_configuration(typed) if isinstance(typed, str) else typed for typed in predict]
    table = _with_asked(table, configurations, list(dict.fromkeys(targets)), features)
    known, asked = table.take(table.known), table.take(~table.known)
    if len(np.unique(known.targets)) < FEWEST:
        raise InputError(
            "leaving a target out needs scores on several", expected=f"{FEWEST} targets or more",
            got=some(np.unique(known.targets).tolist()) or "no score",
        )  # fmt: skip
    about = {
        "model": model,
        "settings": {"leave_out": leave_out, "level": LEVEL, "targets": list(targets), "features": len(table.columns)},
        "scores": {
            "rows": len(known), "configurations": len(np.unique(known.names)), "fingerprint": _fingerprint(table),
            "targets": np.unique(known.targets).tolist(), "sources": list(known.sources),
        },
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        left_out = {name: left_out_predictions(known, name, leave_out) for name in dict.fromkeys([model, *BASELINES])}
        errors = [
            row
            for name, predictions in left_out.items()
            for row in _errors(known, predictions, {"model": name, "leave_out": leave_out})
        ]
        forecasts = list(_forecasts(known, asked, model, left_out[model])) if len(asked) else []
        return Output([*errors, *forecasts], [against_means(known, left_out, model), *_limits(forecasts)])

    return carry_through("score-table", about, work, out=out, gates=gates, command=command)


def read_table(source: str | Path) -> ScoreTable:
    """The scores in a file, or in the folder of a finished transfer or study."""
    path = Path(source)
    return table_of_run(read_record(path)) if (path / ABOUT).is_file() else read_scores(path)


def table_of_run(record: RunRecord) -> ScoreTable:
    """The scores of a transfer, from dataset to dataset; or of a study, from a dataset to its kinds of test parts."""
    rows = {"transfer": _transfer_rows, "study": _study_rows}.get(record.kind)
    if rows is None:
        raise InputError(
            f"a run of the kind {record.kind} has no scores of sources on targets", expected="transfer, study"
        )
    scores = [row for row in rows(record) if row[2] is not None]
    if not scores:
        raise InputError(f"the {record.kind} has no {record.metric} of one dataset on another")
    configurations, targets, values, tasks = zip(*scores, strict=True)
    return ScoreTable(configurations, np.array(targets), np.array(values, dtype=np.float64), np.array(tasks))


def _transfer_rows(record: RunRecord) -> Iterator[RunRow]:
    """Training sets that are of one dataset, on each dataset."""
    sets = {name: own for name, own in record.about["training_sets"].items() if len(own["of"]) == 1}
    for row in record.rows(record.metric, seed="mean", than_train=None):
        train, test = str(row.tags["train"]), str(row.tags["test"])
        if train in sets and test in record.about["datasets"]:
            yield {sets[train]["of"][0]: float(sets[train]["rows"])}, test, row.value, str(record.about["model"])


def _study_rows(record: RunRecord) -> Iterator[RunRow]:
    """Each dataset, on the test parts of each family of splits."""
    for row in record.rows(record.metric, seed="mean", part="test"):
        data, family = str(row.tags["data"]), str(row.tags["family"])
        fingerprint = record.about["datasets"][data]["fingerprint"]
        trained = [split.sizes["train"] for split in record.of_family(family) if split.data == fingerprint]
        yield {data: float(np.mean(trained))}, f"{data} {family}", row.value, str(row.tags["model"])


def _with_asked(
    table: ScoreTable, predict: Sequence[Configuration], targets: Sequence[str], features: Features | None
) -> ScoreTable:
    """The table with its features and with the rows that are asked about, whose scores are not known."""
    if targets and table.columns:
        raise InputError(
            "features of new targets are not known: the scores have columns of their own",
            fix="write what is asked about as rows without a score",
        )
    sources = table.take(table.known).sources
    by_name = dict(zip(table.names.tolist(), table.configurations, strict=True))
    rows = [
        (configuration, target, task)
        for task in np.unique(table.tasks).tolist()
        for target in targets
        for configuration in predict or by_name.values()
    ]
    if rows:
        configurations, names, tasks = zip(*rows, strict=True)
        unknown = np.full(len(rows), np.nan)
        table = joined([table, ScoreTable(configurations, np.array(names), unknown, np.array(tasks))])
    if features is None and not table.columns:
        return table
    return with_features(table, features or Features(), sources)


def _fingerprint(table: ScoreTable) -> str:
    """A hash of all rows."""
    texts = [*table.names.tolist(), *table.targets.tolist(), *table.tasks.tolist(), *table.columns]
    numbers = table.scores.tobytes() + np.ascontiguousarray(table.features).tobytes()
    return hashlib.sha256(json.dumps(texts).encode() + numbers).hexdigest()[:32]


def _errors(known: ScoreTable, predictions: Floats, tags: Mapping[str, str]) -> Iterator[Measurement]:
    by_target = errors_by_target(known, predictions)
    for metric, value in ((ERROR, mean_error(known, predictions)), (COVERAGE, coverage(known, predictions))):
        yield Measurement(metric, None if np.isnan(value) else value, len(by_target), tags=tags)
    for target, error in by_target.items():
        count = int((known.targets == target).sum())
        yield Measurement(ERROR, error, count, slice=f"target={target}", tags=tags)


def _forecasts(known: ScoreTable, asked: ScoreTable, model: str, left_out: Floats) -> Iterator[Measurement]:
    """A forecast for each row, with its interval, or without a value and with the reason why not."""
    fitted, reach, errors = score_model(model).fit(known), Reach(known), np.abs(known.scores - left_out)
    low, high = (0.0, 1.0) if known.scores.min() >= 0 and known.scores.max() <= 1 else (-np.inf, np.inf)
    widths = {
        (task, target): half_width(np.where(known.tasks == task, errors, np.nan), known.targets, target)
        for task, target in set(zip(asked.tasks.tolist(), asked.targets.tolist(), strict=True))
    }
    count, names = len(np.unique(known.targets)), (asked.tasks.tolist(), asked.targets.tolist(), asked.names.tolist())
    rows = zip(fitted.predict(asked).tolist(), reach.refusals(asked), *names, strict=True)
    for value, reason, task, target, configuration in rows:
        tags, where = {"model": model, "configuration": configuration, "task": task}, f"target={target}"
        if reason is None and np.isnan(value):
            reason = f"{model} knows nothing of it"
        if reason is not None:
            yield Measurement(SCORE, None, count, slice=where, tags=tags | {"reason": reason})
            continue
        width = widths[task, target]
        ends = (max(low, value - width), min(high, value + width)) if np.isfinite(width) else (None, None)
        yield Measurement(SCORE, value, count, ends[0], ends[1], where, tags)


def against_means(known: ScoreTable, left_out: Mapping[str, Floats], model: str) -> Finding:
    """Whether the model is better than the means of scores, each on rows of which both say something."""
    own, leads = left_out[model], dict[str, tuple[float, float]]()
    for name, predictions in left_out.items():
        shared = ~np.isnan(own) & ~np.isnan(predictions)
        if name != model and shared.any():
            rows = known.take(shared)
            leads[name] = mean_error(rows, own[shared]), mean_error(rows, predictions[shared])
    if not leads:
        return Finding(MODEL, "warn", f"{model} cannot be compared with means on targets that were left out.")
    best = max(leads, key=lambda name: leads[name][0] - leads[name][1])
    error, mean = leads[best]
    rest = "" if error < mean else f", which is no worse (--model {best})"
    message = f"On targets that it has not seen {model} is off by {points(error)} points, the {_words(best)} by"
    return Finding(MODEL, "ok" if error < mean else "warn", f"{message} {points(mean)}{rest}.")


def _limits(forecasts: Sequence[Measurement]) -> Iterator[Finding]:
    """What could not be forecast, and the best configuration of each target."""
    refused = [row for row in forecasts if row.value is None]
    if refused:
        reasons = {_target(row): row.tags["reason"] for row in refused}
        listed = some([f"{target}: {reason}" for target, reason in reasons.items()], 3)
        message = f"Cannot be told for {len(refused)} of {len(forecasts)}: {listed}."
        yield Finding("forecast.reach", "warn", message, len(refused), advice="label some texts of it and test there")
    for best in best_configurations(forecasts):
        if best.others:
            level = "warn" if best.alike else "ok"
            rest = f"{best.alike} of {best.others} others cannot be told apart from it" if best.alike else "clearly"
            message = f"{_target(best.row)}: best is {best.name}, {scored(best.row)}; {rest}."
            yield Finding("forecast.best", level, message)


@dataclass(frozen=True)
class BestConfiguration:
    """The highest forecast of a target, and how many others its interval does not rule out."""

    row: Measurement
    others: int
    alike: int

    @property
    def name(self) -> str:
        """The configuration."""
        return str(self.row.tags["configuration"])


def best_configurations(forecasts: Sequence[Measurement]) -> list[BestConfiguration]:
    """The best configuration of each target and task; others whose intervals overlap cannot be told apart from it."""
    groups: dict[tuple[str, Any], list[Measurement]] = {}
    for row in forecasts:
        if row.value is not None:
            groups.setdefault((row.slice, row.tags["task"]), []).append(row)
    chosen = []
    for rows in groups.values():
        best = max(rows, key=lambda row: row.value or 0.0)
        alike = sum(best.low is None or row.high is None or row.high >= best.low for row in rows) - 1
        chosen.append(BestConfiguration(best, len(rows) - 1, alike))
    return chosen


def page(record: RunRecord) -> Page:
    """What is forecast, how far forecasts were off, and the best configuration of each target."""
    about, model = record.about, str(record.about["model"])
    forecasts = [row for row in record.measurements if row.metric == SCORE]
    tables = {"errors": error_table(record), "targets": target_table(record)}
    if forecasts:
        tables |= {"forecasts": forecast_table(forecasts), "best": best_table(forecasts)}
    sections = [
        *([_forecast_section(forecasts, tables["best"], tables["forecasts"])] if forecasts else []),
        Section("How far forecasts were off", tables=[tables["errors"]], folded={"Each target": [tables["targets"]]}),
        Section("Findings", findings=sorted_findings(record.findings)),
    ]
    scores = about["scores"]
    return Page(
        "score table",
        f"What {model} forecasts from {scores['rows']:,} scores",
        _verdict(record, forecasts),
        f"{scores['configurations']:,} configurations on {len(scores['targets'])} targets; left out: the "
        f"{about['settings']['leave_out']}",
        READING,
        sections,
        tables,
        [tables["errors"], *([tables["forecasts"]] if 0 < len(forecasts) <= PRINTED else [])],
        [finding for finding in record.findings if finding.level != "ok" and finding.check != MODEL],
    )


def _verdict(record: RunRecord, forecasts: Sequence[Measurement]) -> Verdict:
    sentences = [finding.message for finding in record.findings if finding.check == MODEL]
    best = [chosen.row for chosen in best_configurations(forecasts)]
    first = [
        f"Trained on {row.tags['configuration']}, expect {scored(row)} on {_target(row)}." for row in best[:1]
    ] or (["No score can be forecast."] if forecasts else [])
    headline, *rest = [*first, *sentences]
    level = worst_level(record.findings)
    return Verdict(headline, rest, level, badge=BADGES[level])


def error_table(record: RunRecord) -> Table:
    """Each model's error and coverage on targets that were left out."""
    rows = list(record.rows(ERROR))
    best = min((row.value for row in rows if row.value is not None), default=None)
    columns: dict[str, Callable[[Measurement], Cell]] = {
        "model": lambda row: str(row.tags["model"]),
        "error, points": lambda row: Strong(points(row.value)) if row.value == best else points(row.value),
        "in the interval": lambda row: percent(record.value(COVERAGE, model=row.tags["model"])),
        "targets": lambda row: row.n,
    }
    return Table.of("Errors on targets that were left out", rows, columns)


def target_table(record: RunRecord) -> Table:
    """The error of each model on each target."""
    rows = [row for row in record.measurements if row.metric == ERROR and row.slice != "all"]
    models = list(dict.fromkeys(str(row.tags["model"]) for row in rows))
    places = dict.fromkeys(row.slice for row in rows)
    lines = [
        (place.partition("=")[2], *(points(record.value(ERROR, place, model=model)) for model in models))
        for place in places
    ]
    return Table("Errors on each target, points", ("target", *models), tuple(lines))


def forecast_table(forecasts: Sequence[Measurement]) -> Table:
    """Every forecast, or why there is none."""
    columns: dict[str, Callable[[Measurement], Cell]] = {
        "target": _target,
        "configuration": lambda row: shortened(str(row.tags["configuration"]), ROOM),
        "score": lambda row: number(row.value),
        "interval": bounds,
        "why not": lambda row: str(row.tags.get("reason", "")),
    }
    return Table.of("Forecasts", forecasts, columns)


def best_table(forecasts: Sequence[Measurement]) -> Table:
    """The best configuration of each target, and how many others it cannot be told apart from."""
    columns: dict[str, Callable[[BestConfiguration], Cell]] = {
        "target": lambda best: _target(best.row),
        "configuration": lambda best: shortened(best.name, ROOM),
        "score": lambda best: number(best.row.value),
        "interval": lambda best: bounds(best.row),
        "others that cannot be told apart": lambda best: f"{best.alike} of {best.others}",
    }
    return Table.of("The best configuration of each target", best_configurations(forecasts), columns)


def _forecast_section(forecasts: Sequence[Measurement], best: Table, every: Table) -> Section:
    """The best of each target first; a picture where scores are shares."""
    shares = [row for row in forecasts if row.value is not None and 0 <= row.value <= 1]
    lines = [DotLine(f"{_target(row)}, {row.tags['configuration']}", _target(row), (row,)) for row in shares]
    pictures = [two_widths(partial(dot_chart, lines, ["forecast"], "score"))] if shares else []
    return Section("Forecasts", tables=[best], pictures=pictures, folded={"Every forecast": [every]})


def _target(row: Measurement) -> str:
    return row.slice.removeprefix("target=")


def _words(model: str) -> str:
    """The name of a model of means in a sentence."""
    return model.replace("-mean", " mean")
