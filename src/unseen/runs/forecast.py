"""What a model will score on new texts: from a few labels, from the texts alone, and what nobody can know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from unseen import inference
from unseen.api import load
from unseen.data.rows import IfThere
from unseen.data.tables import load_texts, read_strings
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.metrics import Metric
from unseen.evaluation.metrics import metric as metric_of
from unseen.forecasts.estimators import Answers
from unseen.forecasts.label_sample import ranking
from unseen.forecasts.labelled import UNLABELLED
from unseen.forecasts.ladder import ELSEWHERE, FEWEST_TEXTS, Rung, rungs_of_slices
from unseen.forecasts.prospect import Prospect, Target, made_rungs
from unseen.models import as_classifier
from unseen.reports.forecast_page import TO_LABEL
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.store import write_predictions
from unseen.store.files import harmless, unharmed, write_rows
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, as_names, some
from unseen.types.arrays import Codes

DRAWN = 100
"""Texts that are drawn to be labelled when nothing is said."""

# -- the run -----------------------------------------------------------------------------------------------------------


def forecast(
    data: Any,
    model: Any,
    *,
    known: Sequence[Any] = (),
    twins: Sequence[Any] = (),
    draw: int = DRAWN,
    width: float | None = None,
    stratified: bool = True,
    metric: str = "f1.macro",
    slices: Sequence[str] = (),
    labels: Sequence[str] | None = None,
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
    """What `model` will score on the texts of `data`, of which some or none have a label.

    `data` is what `unseen.load` takes, or a Dataset, and `model` what `unseen.open_model` takes, or a classifier.
    `labels` are the labels in the order of the model, where nothing says them. With `out`, the first `draw` texts to
    label are written to `to_label.csv`; labels that are filled in there are
    used when it is called again, as are those of the column `label`. `width` asks for an interval of ± so much: the
    sample grows until it is reached. `known` are files or Datasets of labelled texts that the model was not trained
    on: the first is like what it learnt from, further ones are from elsewhere and show how far estimates without
    labels can be trusted. `slices` are columns of the new texts, which are scored by them, of the first known ones,
    where each value is a rung of home, or of both. `twins` are models of the same recipe from other seeds: how often
    they agree is one more estimator. `opening` are parameters of `unseen.models.open_model`.
    """
    bounds, labels = parsed_gates(gates), None if labels is None else as_names(labels)
    if width is not None and not 0 < width < 0.5:
        raise InputError("width is half of an interval", expected="a share such as 0.05, which is 5 points")
    if draw < 1:
        raise InputError("there is no text to label", expected="draw=… from 1", got=str(draw))
    main = metric_of(metric)
    if main.of_counts is None:
        raise InputError(f"{metric} is not decided by labels alone", expected="accuracy, or a score such as f1.macro")
    opened, *others = (as_classifier(one, rename=rename, **(opening or {})) for one in (model, *twins))
    columns: dict[str, Any] = {"text": text, "label": label, "id": id}
    sliced = [IfThere(name) for name in slices]
    homes = [_home(one, columns, sliced, labels) for one in known[:1]]
    names = tuple(labels or (homes[0].label_names if homes else getattr(opened, "classes_", None) or ()))
    homes += [_home(one, columns, (), names) for one in known[1:]]
    if not names:
        raise InputError(
            "the model does not say its labels", fix="name them: labels=[…] (--labels), or give known texts"
        )
    few = [f"{home.name} has {len(home)}" for home in homes if len(home) < FEWEST_TEXTS]
    if few:
        raise InputError("these known texts are too few", problems=few, expected=f"{FEWEST_TEXTS} or more in each")
    texts, given = _target(data, names, sliced, columns)
    nowhere = [name for name in slices if not any(name in one.attributes for one in (texts, *homes[:1]))]
    if nowhere:
        where = "the new texts" if not homes else "the new texts or the first known ones"
        raise UnknownNameError(f"no column of {where} is called {some(map(repr, nowhere))}")
    metrics = list(dict.fromkeys([main.id, "accuracy", "f1.macro", *(f"f1[{name}]" for name in names)]))
    chosen = [metric_of(name) for name in metrics]
    about = {
        "data": described_data(texts) | {"counts": {}},
        "model": inference.name_of(model),
        "settings": {
            "metric": main.id, "slices": list(slices), "stratified": stratified, "seed": seed,
            "known": [described_data(home) for home in homes],
            **({"twins": list(map(inference.name_of, twins))} if twins else {}),
        },
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        predictions = inference.predict(opened, texts, work="ask about the new texts")
        write_predictions(predictions, folder / "predictions" / "target.parquet")
        sheet = read_sheet(folder / TO_LABEL, names)
        drawn = np.array([names.index(sheet[key]) if key in sheet else UNLABELLED for key in texts.ids.to_pylist()])
        labelled = np.where(drawn != UNLABELLED, drawn, given)
        brought = (given != UNLABELLED) & (drawn == UNLABELLED)
        agreeing = [inference.predict(one, texts, work="ask the twins").probabilities for one in others]
        target = Target(texts, predictions, labelled, brought, agreeing)
        prospect = _prospect([opened, *others], target, homes, chosen, slices, seed)
        come = int(brought.sum())
        asked = min(_to_draw(prospect, draw, width, come), len(texts) - come)
        _write_sheet(folder / TO_LABEL, target, ranking_of(target, asked, seed, stratified), sheet)
        count = int((labelled != UNLABELLED).sum())
        more = {"labels": count, "texts": len(texts), "to_label": asked, "width": width, "rungs": len(prospect.rungs)}
        return Output(prospect.measurements(), prospect.findings(), more, texts)

    return carry_through("forecast", about, work, out=out, command=command, gates=bounds)


def _target(
    source: Any, names: Sequence[str], attributes: Sequence[str], columns: Mapping[str, Any]
) -> tuple[Dataset, Codes]:
    """The new texts, and the labels that they bring; of a Dataset, or of a known one, all do."""
    if isinstance(source, str) and not Path(source).suffix and not Path(source).exists():
        source = load(source)
    if isinstance(source, Dataset):
        own = {"text": "text", "label": "label", "id": "id", "name": source.name}
        return load_texts(source.table, names, attributes=attributes, **own)
    return load_texts(source, names, attributes=attributes, **columns)


def _home(source: Any, columns: Mapping[str, Any], slices: Sequence[str], names: Sequence[str] | None) -> Dataset:
    if isinstance(source, Dataset):
        return source
    declared = {} if names is None else {"labels": list(names)}
    return load(source, **{**columns, **declared, "attributes": list(slices)})


def _prospect(
    models: Sequence[Any],
    target: Target,
    homes: Sequence[Dataset],
    metrics: Sequence[Metric],
    slices: Sequence[str],
    seed: int,
) -> Prospect:
    """What is known, by the first of the models; the others are its twins."""
    of_target = _values(target.data, slices)
    if not homes:
        return Prospect(target, None, (), metrics, of_target)
    first = homes[0]
    home, *elsewhere = (answers_of(models, data) for data in homes)
    rungs = made_rungs(models[0], first, home, seed, models[1:])
    rungs += [Rung(data.name, ELSEWHERE, home, far) for data, far in zip(homes[1:], elsewhere, strict=True)]
    for name, values in _values(first, slices).items():
        rungs += rungs_of_slices(home, values, name)
    return Prospect(target, home, rungs, metrics, of_target)


def _values(data: Dataset, slices: Sequence[str]) -> dict[str, list[str | None]]:
    """What the rows have in each of the columns that are there."""
    there = [name for name in slices if name in data.attributes]
    return {name: data.attribute(name).cast(pa.large_string()).to_pylist() for name in there}


def answers_of(models: Sequence[Any], data: Dataset) -> Answers:
    """What a model, the first, and its twins say about labelled texts."""
    probabilities, *others = (
        inference.predict(one, data, work=f"ask about {data.name}").probabilities for one in models
    )
    return Answers(probabilities, data.labels, data.texts.to_pylist(), tuple(others))


# -- the texts to label ------------------------------------------------------------------------------------------------


def ranking_of(target: Target, count: int, seed: int, stratified: bool = True) -> Any:
    """The first texts to label, as positions in the data, without those that bring their label.

    The order of the file decides nothing.
    """
    by_id = target.data.by_id
    probabilities = target.predictions.probabilities[by_id]
    ranked = by_id[ranking(probabilities, len(by_id), seed=seed, stratified=stratified)]
    return (ranked if target.brought is None else ranked[~target.brought[ranked]])[:count]


def _to_draw(prospect: Prospect, draw: int, width: float | None, brought: int) -> int:
    """How many texts to draw: as many as asked for, or as the width needs beyond those that bring their label."""
    sample = prospect.target.sample
    if width is None or sample is None:
        return draw
    needed = sample.score(prospect.metrics[0], prospect.label_names).labels_for(width)
    return max(draw, (needed or 0) - brought)


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
    cells = ((key, sheet.get(key, ""), texts[place[key]].as_py() if key in place else "") for key in listed)
    write_rows(path, ["id", "label", "text"], (list(map(harmless, line)) for line in cells))
