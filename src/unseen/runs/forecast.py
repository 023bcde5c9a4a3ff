"""What a model will score on new texts: from a few labels, from the texts alone, and what nobody can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from unseen.forecasts.estimators import Answers
from unseen.forecasts.label_sample import ranking
from unseen.forecasts.labelled import UNLABELLED
from unseen.forecasts.ladder import Rung, rungs_of_slices
from unseen.forecasts.prospect import Prospect, Target, made_rungs
from unseen.models import open_model
from unseen.redaction import redacted
from unseen.reports.forecast_page import TO_LABEL
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.store import atomic, write_predictions
from unseen.store.files import csv_rows, harmless, unharmed
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, some

LABELS = 100
"""Texts that are drawn to be labelled when nothing is said."""

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
    if main.of_counts is None:
        raise InputError(f"{metric} is not decided by labels alone", expected="accuracy, or a score such as f1.macro")
    opened = open_model(model, rename=rename, **dict(opening or {})) if isinstance(model, str | Path) else model
    columns: dict[str, Any] = {"text": text, "label": label, "id": id}
    homes = [_home(one, columns, slices, label_names) for one in known[:1]]
    names = tuple(label_names or (homes[0].label_names if homes else getattr(opened, "classes_", None) or ()))
    homes += [_home(one, columns, (), names) for one in known[1:]]
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
        sheet = {} if folder is None else read_sheet(folder / TO_LABEL, names)
        drawn = np.array([names.index(sheet[key]) if key in sheet else UNLABELLED for key in data.ids.to_pylist()])
        labelled = np.where(drawn != UNLABELLED, drawn, given)
        target = Target(data, predictions, labelled, (given != UNLABELLED) & (drawn == UNLABELLED))
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
    rungs = made_rungs(model, first, home, seed)
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


def read_sheet(path: Path, names: Sequence[str]) -> dict[str, str]:
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
