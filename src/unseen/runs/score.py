"""A fitted model and labelled texts in one line: its scores with intervals, and its calibration."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unseen import inference
from unseen.data.tables import load_table
from unseen.errors import InputError
from unseen.evaluation import DEFAULT_METRICS, measure, metric
from unseen.evaluation.gates import Gate
from unseen.evaluation.metrics import chance
from unseen.evaluation.wording import called, capital
from unseen.models.scikit_learn import PipelineClassifier
from unseen.reports.formats import Table
from unseen.reports.page import Page, Section, Verdict, counted, with_lines
from unseen.reports.record import RunRecord
from unseen.runs import frame
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Measurement
from unseen.types.numbers import difference_in_points, number, scored

MAIN = "f1.macro"
CALIBRATION = ("ece.15", "brier", "log_loss")
"""Metrics of probabilities; a model that gives labels only has none."""
SEEN = (
    "Scores on texts that it learnt from flatter a model, and so does a random test part: unseen.stress says how far "
    "it falls on texts of another kind."
)


def report(
    source: Any,
    X: Iterable[str] | None = None,
    y: Iterable[Any] | None = None,
    *,
    name: str = "texts",
    drop: Collection[str] = (),
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    seed: int = 42,
) -> Result:
    """The page of a finished run, written anew from its folder; or the scores of a fitted model on texts with labels.

    `source` is the folder of a run, or any object with `classes_` and `predict_proba` or `predict` that takes texts,
    such as a scikit-learn pipeline; then `X` are the texts and `y` their labels, and the `Result` has metrics with
    95 % intervals, each label's F1 and calibration. `name` says what the texts are, `drop` which
    rows are left out, as for `unseen.load`. With `out` there is a folder of it. `gates` are judged, of a finished run
    beside its own.
    """
    if isinstance(source, str | Path):
        if X is not None or y is not None or out is not None:
            raise InputError("texts, labels and out have no effect on a finished run", fix="leave them out")
        return frame.report(source, gates)
    if X is None or y is None:
        raise InputError("a model is reported on texts and their labels", fix="unseen.report(model, X, y)")
    model = PipelineClassifier(source, source=type(source).__name__)
    data = _labelled(list(X), list(y), labels=list(model.classes_), name=name, drop=drop)
    about = {
        "data": described_data(data), "model": model.source, "hard": model.hard,
        "settings": {"metric": MAIN, "seed": seed},
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        predictions = inference.predict(model, data)
        of_labels = [f"f1[{label}]" for label in data.label_names]
        metrics = [*DEFAULT_METRICS, *of_labels, *(() if model.hard else CALIBRATION)]
        rows = np.arange(len(data))
        mix = np.bincount(data.labels, minlength=len(data.label_names)) / len(data)
        guessed = chance(metric(MAIN), data.labels, mix, data.label_names)
        measurements = measure(data, predictions, rows, metrics, seed=seed)
        guessing = Measurement(f"chance.{MAIN}", guessed, len(data))
        return Output([*measurements, guessing], predictions={"answers": predictions})

    return carry_through("score", about, work, out=out, gates=gates, command="unseen.report(model, X, y)")


def _labelled(texts: Sequence[Any], of_texts: Sequence[Any], **reading: Any) -> Dataset:
    if len(texts) != len(of_texts):
        raise InputError("every text needs one label", got=f"{len(texts):,} texts and {len(of_texts):,} labels")
    names = [None if label is None else str(label) for label in of_texts]
    return load_table([{"text": text, "label": name} for text, name in zip(texts, names, strict=True)], **reading)


def page(record: RunRecord) -> Page:
    """The verdict, scores, scores of labels, and calibration."""
    data, rows = record.about["data"], record.measurements
    main, guessed = record.row(MAIN), record.value(f"chance.{MAIN}")
    labels = tuple((label, data["counts"][label], scored(record.row(f"f1[{label}]"))) for label in data["label_names"])
    tables = {
        "scores": Table("Scores", ("metric", "score"), _lines(rows, DEFAULT_METRICS)),
        "labels": Table("F1 of each label", ("label", "texts", "F1"), labels),
        "calibration": Table(
            "Calibration", ("metric", "score"), _lines(rows, CALIBRATION), "Of all three, less is better."
        ),
    }
    shown = with_lines(tables)
    headline = f"{capital(called(MAIN))} is {scored(main)} on {data['rows']:,} texts."
    sentences = [] if guessed is None else [f"Guessing by the class mix has {number(guessed)}."]
    error = record.row("ece.15")
    if error is not None and error.value is not None:
        sentences.append(f"Its probabilities are off by {difference_in_points(error)} on average.")
    return Page(
        "score",
        f"{record.about['model']} on {data['name']}",
        Verdict(headline, [*sentences, SEEN], _level(record, main, guessed)),
        subtitle=f"{data['rows']:,} texts: {counted(data['counts'])}",
        sections=[Section(table.title, table.note, tables=[table]) for table in shown.values()],
        tables=shown,
        printed=list(shown.values()),
        files={"what the model said": "predictions/"},
    )


def _level(record: RunRecord, main: Measurement | None, guessed: float | None) -> str:
    """fail: a gate failed; warn: it is not clearly better than guessing; else ok."""
    if not record.gates_hold:
        return "fail"
    least = None if main is None else main.value if main.low is None else main.low
    return "warn" if least is None or guessed is None or least <= guessed else "ok"


def _lines(rows: Sequence[Measurement], metrics: Sequence[str]) -> tuple[tuple[str, str], ...]:
    return tuple((called(row.metric), scored(row)) for row in rows if row.metric in metrics)
