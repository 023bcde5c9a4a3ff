"""The scores of a run as the Hugging Face hub reads them: `.eval_results` and the `model-index` of a model card."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from unseen.errors import InputError
from unseen.evaluation.wording import called, is_score
from unseen.reports.record import RunRecord
from unseen.reports.summary import JudgedRun, summary
from unseen.store import write_text
from unseen.store.files import file_name
from unseen.store.plain_yaml import front_matter
from unseen.types import Measurement
from unseen.types.numbers import bounds

TASK = "text-classification"
DATASET = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
"""The id of a dataset on the hub."""


class Score(NamedTuple):
    """One number that the hub shows."""

    family: str
    """Of the splits; empty where the run made none."""
    row: Measurement


def write_hub_results(run: JudgedRun, folder: str | Path, dataset: str | None = None) -> list[Path]:
    """Write the README.md of a model with the scores of a run at its head; with `dataset`, `.eval_results` too.

    `dataset` is the id of the data on the hub, without which `.eval_results` cannot say what it is about. Families of
    splits are its configurations and tasks.
    """
    record, folder = run.record, Path(folder)
    if dataset is not None and not DATASET.fullmatch(dataset):
        raise InputError("the hub has no dataset of that name", expected="OWNER/NAME", got=repr(dataset))
    scores = list(scores_of(record))
    if not scores:
        raise InputError(
            f"the run in {record.place} has no scores that a model card shows", got=f"a run of the kind {record.kind}",
            expected="a stress run, or that of unseen.report(model, X, y)",
        )  # fmt: skip
    card = front_matter({"model-index": [model_index(record, scores, dataset)]}) + summary(run)
    written = [write_text(folder / "README.md", card)]
    if dataset is not None:
        import yaml

        entries = [_entry(record, score, dataset) for score in scores if score.row.metric == record.metric]
        content = yaml.safe_dump(entries, sort_keys=False, allow_unicode=True)
        written.append(write_text(folder / ".eval_results" / "unseen.yaml", content))
    return written


def scores_of(record: RunRecord) -> Iterator[Score]:
    """Means of every metric on the test part of each family of splits; without splits, what was measured once."""
    if record.kind == "stress":
        for family in record.families:
            for metric in dict.fromkeys(row.metric for row in record.measurements if _shown(row.metric)):
                row = record.score(family, metric=metric)
                if row is not None and row.value is not None:
                    yield Score(family, row)
    elif record.kind == "score":
        yield from (Score("", row) for row in record.measurements if _shown(row.metric) and row.value is not None)


def _shown(metric: str) -> bool:
    """Whether it is a score of all labels."""
    return is_score(metric) and not metric.endswith("]") and metric != "pass_rate"


def model_index(record: RunRecord, scores: list[Score], dataset: str | None) -> dict[str, Any]:
    """The scores as an entry of `model-index`, a result for each family."""
    data, results = _data(record), []
    for family in dict.fromkeys(score.family for score in scores):
        about = {"type": dataset or data["name"], "name": data["name"]}
        about |= {"config": family, "split": "test"} if family else {}
        results.append(_result(about, [score.row for score in scores if score.family == family]))
    return {"name": str(record.about.get("model") or "model"), "results": results}


def write_model_indexes(rows: Sequence[Measurement], metrics: Sequence[str], folder: Path) -> None:
    """Write a `MODEL.md` for each model of a board: the `model-index` for the head of its model card."""
    levels = [row for row in rows if row.metric in metrics and "data" in row.tags and row.value is not None]
    for model in dict.fromkeys(str(row.tags["model"]) for row in levels):
        own = [row for row in levels if row.tags["model"] == model]
        results = [
            _result({"type": data, "name": data}, [row for row in own if row.tags["data"] == data])
            for data in dict.fromkeys(str(row.tags["data"]) for row in own)
        ]
        content = front_matter({"model-index": [{"name": model, "results": results}]})
        write_text(folder / f"{file_name(model)}.md", content)


def _result(dataset: Mapping[str, str], rows: Sequence[Measurement]) -> dict[str, Any]:
    return {"task": {"type": TASK}, "dataset": dataset, "metrics": [_metric(row) for row in rows]}


def _metric(row: Measurement) -> dict[str, Any]:
    kind, _, average = row.metric.partition(".")
    value = {"type": kind, "value": round(row.value or 0.0, 4), "name": _named(row)}
    return value | ({"args": {"average": average}} if kind in ("f1", "precision", "recall") else {})


def _entry(record: RunRecord, score: Score, dataset: str) -> dict[str, Any]:
    """A line of `.eval_results`; whoever owns the dataset decides which tasks it has."""
    day = str(record.about.get("finished") or "")[:10]
    about = {
        "dataset": {"id": dataset, "task_id": score.family or "default"},
        "value": round(score.row.value or 0.0, 4),
    }
    return about | ({"date": day} if day else {}) | {"notes": f"{_named(score.row)}, {score.row.n:,} texts"}


def _named(row: Measurement) -> str:
    interval = bounds(row)
    return called(row.metric) + (f", 95 % interval {interval}" if interval else "")


def _data(record: RunRecord) -> Mapping[str, Any]:
    data = record.about.get("data")
    return data if isinstance(data, Mapping) and data.get("name") else {"name": "data"}
