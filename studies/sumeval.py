"""SumEval 2022: what models will score on languages that were left out. Writes docs/results/sumeval.md.

    python -m studies.sumeval FOLDER

Writes predictions for the files whose scores are hidden into studies/sumeval/ too. The data is looked for in
$UNSEEN_DATA or in shared/data beside the checkout. FOLDER keeps what is done: interrupted and started again, it goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

from unseen.forecasts.features import Features, read_language_features, with_features
from unseen.forecasts.left_out import (
    Reach,
    coverage,
    errors_by_target,
    left_out_predictions,
    mean_error,
)
from unseen.forecasts.score_models import score_model
from unseen.forecasts.score_table import Floats, ScoreTable, joined, read_sumeval
from unseen.seeding import generator

Tables = dict[str, ScoreTable]
Errors = dict[str, dict[str, float]]
"""By file and model."""
MEANS = ("global-mean", "same-configuration-mean")
SINGLE = (*MEANS, "xgboost", "group-lasso")
JOINT = "group-lasso, all files"
"""All files as tasks of one model; a language that is left out is left out of all of them."""
MODELS = (*SINGLE, JOINT)
KNOWN_TARGET_MODELS = ("same-target-mean", "xgboost", "group-lasso")
FOLDS = 5
DRAWS = 2000
SEED = 42
SURPRISE = "_surprise_langs"


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
        for model in SINGLE
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
    return 100 * mean_error(rows, predictions)


def written(value: float, best: bool = False) -> str:
    """A number of a table."""
    text = "–" if np.isnan(value) else f"{value:.2f}"
    return f"**{text}**" if best else text


def best_model(errors: dict[str, float], but: tuple[str, ...] = ()) -> str:
    """The model with the smallest error."""
    return min((model for model in errors if model not in but), key=errors.__getitem__)


def against_mean(rows: ScoreTable, predictions: Floats, means: Floats) -> str:
    """Error less that of the same-configuration mean, with its 95 % interval over targets, and targets where it is less."""
    own, mean = (np.array([*errors_by_target(rows, said).values()]) for said in (predictions, means))
    differences = 100 * (own - mean)
    draws = generator(SEED, "targets").integers(len(own), size=(DRAWS, len(own)))
    low, high = np.percentile(differences[draws].mean(axis=1), [2.5, 97.5])
    return f"{differences.mean():.2f} [{low:.2f}, {high:.2f}], {(differences < 0).sum()} of {len(own)}".replace(
        "-", "−"
    )


def left_out_part(folder: Path, tables: Tables, together: ScoreTable, leave_out: str) -> tuple[str, Errors]:
    """The table of errors with targets left out, and the errors by file and model."""
    predictions, errors, lines = left_out(folder, tables, together, leave_out), {}, []
    for file, rows in tables.items():
        errors[file] = {model: error(rows, predictions[file, model]) for model in MODELS}
        best, featured = best_model(errors[file]), best_model(errors[file], MEANS)
        by_target = errors_by_target(rows, predictions[file, featured])
        hardest = max(by_target, key=by_target.__getitem__)
        lines.append([
            file, f"{len(np.unique(rows.names))} × {len(np.unique(rows.targets))}",
            *(written(errors[file][model], model == best) for model in MODELS),
            against_mean(rows, predictions[file, featured], predictions[file, "same-configuration-mean"]),
            f"{hardest} {100 * by_target[hardest]:.1f}", written(100 * coverage(rows, predictions[file, featured])),
        ])  # fmt: skip
    columns = [
        "file",
        "configurations × targets",
        *MODELS,
        "best model of features less same-configuration mean [over targets], better on",
        "its hardest target",
        "in its 90 % intervals, %",
    ]
    return f"### Left out: the {leave_out}\n\n{table(columns, lines)}", errors


def configuration_part(folder: Path, tables: Tables) -> tuple[str, Errors]:
    """The table of errors on targets that are known, with configurations left out."""
    errors = {
        file: {
            model: error(rows, kept(folder, f"{file} {model} configurations", new_configurations, rows, model))
            for model in KNOWN_TARGET_MODELS
        }
        for file, rows in tables.items()
    }
    lines = [
        [file, *(written(own[model], model == best_model(own)) for model in KNOWN_TARGET_MODELS)]
        for file, own in errors.items()
    ]
    return f"### Known targets, new configurations\n\n{table(['file', *KNOWN_TARGET_MODELS], lines)}", errors


def prediction_part(
    tables: Tables, together: ScoreTable, features: Features, new_languages: Errors, new_configurations: Errors
) -> str:
    """Write predictions of all hidden scores; the table of what they were made with.

    Nothing was trained on surprise languages, so their model is the best of features where languages are left out.
    """
    lines = []
    for path in sorted(real_file("litmus", "test_release").glob("*.json")):
        file = path.stem.partition(SURPRISE)[0]
        errors = new_languages[file] if SURPRISE in path.stem else new_configurations[file]
        chosen = best_model(errors, but=MEANS)
        hidden = read_sumeval(path).with_task(file)
        rows = with_features(hidden, features, tables[file].sources)
        if chosen == JOINT:
            scores = (
                score_model("group-lasso").fit(together).predict(with_features(hidden, features, joint_sources(tables)))
            )
        else:
            scores = score_model(chosen).fit(tables[file]).predict(rows)
        refusals = Reach(tables[file]).refusals(rows)
        far = sorted({target for target, reason in zip(rows.targets.tolist(), refusals, strict=True) if reason})
        write_predictions(path, scores)
        lines.append([path.stem, chosen, written(errors[chosen]), ", ".join(far) or "–"])
    columns = ["file", "model", "its error where scores are known", "targets too far from those seen, in some row"]
    return f"### Predictions of hidden scores\n\n{table(columns, lines)}"


def joint_sources(tables: Tables) -> list[str]:
    """The sources of all files."""
    return sorted({source for rows in tables.values() for source in rows.sources})


def main(folder: Path) -> None:
    """Measure, choose, predict, write."""
    folder.mkdir(parents=True, exist_ok=True)
    features = read_language_features(real_file("litmus", "precomputed_features.min.json"))
    read = {path.stem: read_sumeval(path) for path in sorted(real_file("litmus", "train").glob("*.json"))}
    tables = {file: with_features(rows, features) for file, rows in read.items()}
    together = joined([with_features(rows, features, joint_sources(read)) for rows in read.values()])
    new_target, _ = left_out_part(folder, tables, together, "target")
    new_language, new_languages = left_out_part(folder, tables, together, "language")
    new_configuration, known_targets = configuration_part(folder, tables)
    predicted = prediction_part(tables, together, features, new_languages, known_targets)
    parts = [f"Mean absolute errors in points. {machine()}, xgboost-cpu {version('xgboost-cpu')}.\n"]
    parts += [new_target, new_language, new_configuration, predicted]
    write_measured(ROOT / "docs" / "results" / "sumeval.md", "SumEval", "\n".join(parts))


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
