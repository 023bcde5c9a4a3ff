"""SumEval 2022: what models will score on languages that were left out. Writes docs/results/sumeval.md.

    python -m studies.sumeval FOLDER

Writes predictions for the files whose scores are hidden into studies/sumeval/ too. The data is looked for in
$UNSEEN_DATA or in shared/data beside the checkout. FOLDER keeps what is done: interrupted and started again, it goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

from unseen.forecasts.features import read_language_features, with_features
from unseen.forecasts.left_out import (
    LEAVE_OUT,
    Reach,
    coverage,
    errors_by_target,
    left_out_predictions,
)
from unseen.forecasts.score_models import score_model
from unseen.forecasts.score_table import Floats, ScoreTable, joined, read_sumeval
from unseen.seeding import generator

MODELS = ("global-mean", "same-configuration-mean", "xgboost", "group-lasso")
JOINT = "group-lasso, all files"
"""All files as tasks of one model; a language that is left out is left out of all of them."""
FOLDS = 5
SEED = 42
SURPRISE = "_surprise_langs"
SAME = "_same_configs"


def kept(folder: Path, name: str, make: Callable[..., Floats], *arguments: Any) -> Floats:
    """The predictions of that name; made if they are not there yet."""
    path = folder / f"{name}.npy"
    if not path.exists():
        np.save(path, make(*arguments))
        print(name, flush=True)
    return np.load(path)


def left_out(
    folder: Path, tables: dict[str, ScoreTable], together: ScoreTable, leave_out: str
) -> dict[tuple[str, str], Floats]:
    """What each model says of each file's rows, their target left out; by file and model."""
    predictions = {
        (file, model): kept(folder, f"{file} {model} {leave_out}", left_out_predictions, rows, model, leave_out)
        for model in MODELS
        for file, rows in sorted(tables.items(), key=lambda item: len(item[1]))
    }
    joint = kept(folder, f"joint {leave_out}", left_out_predictions, together, "group-lasso", leave_out)
    return predictions | {(file, JOINT): joint[together.tasks == file] for file in tables}


def new_configurations(rows: ScoreTable, model: str) -> Floats:
    """What `model` says of each row, a fifth of the configurations left out at a time: targets are known here."""
    names = np.unique(rows.names)
    fold = dict(zip(names.tolist(), generator(SEED, "folds").permutation(len(names)) % FOLDS, strict=True))
    place = np.array([fold[name] for name in rows.names.tolist()])
    predictions = np.full(len(rows), np.nan)
    for number in range(FOLDS):
        predictions[place == number] = (
            score_model(model).fit(rows.take(place != number)).predict(rows.take(place == number))
        )
    return predictions


def error(rows: ScoreTable, predictions: Floats) -> float:
    """The mean absolute error in points, each target counting alike."""
    return 100 * float(np.mean([*errors_by_target(rows, predictions).values()]))


def written(value: float, best: bool = False) -> str:
    """A number of a table."""
    text = "–" if np.isnan(value) else f"{value:.2f}"
    return f"**{text}**" if best else text


def best_model(errors: dict[str, float], but: tuple[str, ...] = ()) -> str:
    """The model with the smallest error."""
    return min((model for model in errors if model not in but), key=errors.__getitem__)


def main(folder: Path) -> None:
    """Measure, choose, predict, write."""
    folder.mkdir(parents=True, exist_ok=True)
    features = read_language_features(real_file("litmus", "precomputed_features.min.json"))
    read = {path.stem: read_sumeval(path) for path in sorted(real_file("litmus", "train").glob("*.json"))}
    sources = sorted({source for rows in read.values() for source in rows.sources})
    tables = {file: with_features(rows, features) for file, rows in read.items()}
    together = joined([with_features(rows, features, sources) for rows in read.values()])
    models = [*MODELS, JOINT]
    parts, errors = [], {}
    for leave_out in LEAVE_OUT:
        predictions = left_out(folder, tables, together, leave_out)
        lines = []
        for file, rows in tables.items():
            by_model = {model: error(rows, predictions[file, model]) for model in models}
            errors[file, leave_out] = by_model
            best = best_model(by_model)
            covered = coverage(rows, predictions[file, "xgboost"])
            worst = errors_by_target(rows, predictions[file, best])
            hardest = max(worst, key=worst.__getitem__)
            shape = f"{len(np.unique(rows.names))} × {len(np.unique(rows.targets))}"
            lines.append([
                file, shape, *(written(by_model[model], model == best) for model in models),
                written(100 * covered).removesuffix(".00"), f"{hardest} {100 * worst[hardest]:.1f}",
            ])  # fmt: skip
        heading = [
            "file",
            "configurations × targets",
            *models,
            "coverage of xgboost's 90 % intervals, %",
            "hardest target of the best",
        ]
        parts += [f"### Left out: the {leave_out}\n", table(heading, lines)]
    configuration_models = ("same-target-mean", "xgboost", "group-lasso")
    lines, by_configuration = [], {}
    for file, rows in sorted(tables.items(), key=lambda item: len(item[1])):
        by_configuration[file] = {
            model: error(rows, kept(folder, f"{file} {model} configurations", new_configurations, rows, model))
            for model in configuration_models
        }
    for file, by_model in sorted(by_configuration.items()):
        best = best_model(by_model)
        lines.append([file, *(written(by_model[model], model == best) for model in configuration_models)])
    parts += ["### Known targets, new configurations\n", table(["file", *configuration_models], lines)]
    lines = []
    for path in sorted(real_file("litmus", "test_release").glob("*.json")):
        file = path.stem.partition(SURPRISE)[0]
        asked = read_sumeval(path).with_task(file)
        near = with_features(asked, features, tables[file].sources)
        if SURPRISE in path.stem:
            but = () if SAME in path.stem else ("same-configuration-mean",)
            chosen = best_model(errors[file, "target"], but)
            expected = errors[file, "target"][chosen]
        else:
            chosen = best_model(by_configuration[file])
            expected = by_configuration[file][chosen]
        if chosen == JOINT:
            scores = score_model("group-lasso").fit(together).predict(with_features(asked, features, sources))
        else:
            scores = score_model(chosen).fit(tables[file]).predict(near)
        refused = sum(reason is not None for reason in Reach(tables[file]).refusals(near))
        write_predictions(path, scores)
        lines.append([path.stem, chosen, written(expected), f"{refused:,} of {len(asked):,}"])
    parts += [
        "### Predictions for hidden scores\n",
        table(["file", "model", "error to expect", "too far from what was seen"], lines),
    ]
    write_measured(
        ROOT / "docs" / "results" / "sumeval.md", "SumEval: scores of languages that were left out",
        f"Mean absolute errors in points. {machine()}.\n\n" + "\n".join(parts),
    )  # fmt: skip


def write_predictions(path: Path, scores: Floats) -> None:
    """The file with scores in the place of each hidden one."""
    entries = json.loads(path.read_text(encoding="utf-8"))
    rows = iter(scores.tolist())
    for entry in entries:
        entry["eval_results"] = {target: round(next(rows), 4) for target in entry["eval_results"]}
    place = ROOT / "studies" / "sumeval" / path.name
    place.parent.mkdir(exist_ok=True)
    place.write_text(json.dumps(entries) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
