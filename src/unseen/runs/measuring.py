"""From splits and predictions to numbers: scores, falls, properties, findings, the map and the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen import api, inference
from unseen.analysis import shared_tests
from unseen.audits import Subject, Trial, audit, hard_or_broken, label_noise_of, parts_of_fall, witnessed
from unseen.bias import TaggedRows, bias_measurements, groups_by_attribute
from unseen.engines import Workspace
from unseen.evaluation import Run, fall, level, measure
from unseen.evaluation.measurements import rows_of
from unseen.functional import check
from unseen.models import open_model
from unseen.models.label_names import RenamedClassifier
from unseen.progress import track
from unseen.reports.actions import SUSPECTS
from unseen.runs.work import MODEL, PREDICTIONS, learnt, split_of, vectors
from unseen.store import read_predictions, write_findings, write_measurements, write_predictions, write_suspects
from unseen.types import Dataset, Finding, Measurement, Predictions, Split

MEASUREMENTS, FINDINGS, PROPERTIES = "measurements.csv", "findings.csv", "properties.csv"
PARTS_MEASURED = ("test", "independent", "dev")
BIAS_PARTS = ("test", "independent")
RATES = ("false_positive_rate", "false_negative_rate")
METRICS = ("accuracy", "f1.macro", "f1.weighted")
OF_PROBABILITIES = ("log_loss", "ece.15")
LEAK_CHECKS = ("exact_duplicates", "normalised_duplicates", "near_duplicates", "conflicting_labels")


def write_scores(here: Workspace) -> None:
    """Every metric of every training on every part, the means over trainings, and the fall against the control."""
    data = here.shared["source"].data
    trials, control = _trials(here, "runs"), _trials(here, "control")
    names = metrics_of(data, here.settings["metric"], [*trials, *control])
    rows: list[Measurement] = []
    for trial in track(trials, "scoring", len(trials)):
        rows += _of_training(here, data, trial, names)
    write_measurements(rows + _over_trainings(here, data, trials, control, names), here.folder / MEASUREMENTS)


def _of_training(here: Workspace, data: Dataset, trial: Trial, names: Sequence[str]) -> list[Measurement]:
    """The scores of one training on every part it can be scored on."""
    settings = here.settings
    options = {"seed": settings["seed"], "groups": settings["groups"]}
    rows: list[Measurement] = []
    for part in _parts(trial):
        tags = settings["tags"] | {
            "split": trial.split.name, "family": trial.family, "seed": trial.seed, "part": part
        }  # fmt: skip
        slices = settings["slices"] if part == "test" else ()
        rows += measure(
            data, trial.predictions, trial.split.rows(part), names, tags=tags, slices=slices, **options
        )  # fmt: skip
        if part == "test":
            rows += _by_composition(here, data, trial, tags)
            if trial.seen is not None:
                found = measure(data, trial.seen, rows_of(data, trial.seen), _main(here), tags=tags, **options)
                rows += [replace(row, metric=f"seen.{row.metric}") for row in found]
    return rows


def _over_trainings(
    here: Workspace, data: Dataset, trials: Sequence[Trial], control: Sequence[Trial], names: Sequence[str]
) -> list[Measurement]:
    """The means over trainings of one family, and its fall against the control."""
    settings, family = here.settings, trials[0].family
    rows: list[Measurement] = []
    for part in _parts(trials[0]):
        tags = settings["tags"] | {"family": family, "part": part}
        runs = _runs(here, data, trials, part)
        for name in names:
            rows += level(runs, name, tags=tags, seed=settings["seed"])
        if part == "test" and control:
            tags |= {"against": control[0].family}
            against = _runs(here, data, control, part)
            rows += [fall(against, runs, name, tags=tags, seed=settings["seed"]) for name in names]
            rows += _parts_of_fall(here, data, trials, against, runs, tags)
    return rows


def _parts_of_fall(
    here: Workspace, data: Dataset, trials: Sequence[Trial], control: Sequence[Run], runs: Sequence[Run],
    tags: Mapping[str, Any],
) -> list[Measurement]:  # fmt: skip
    """What the fall is made of, where the seen control was carried out."""
    asked = [(trial, trial.seen, rows_of(data, trial.seen)) for trial in trials if trial.seen is not None]
    if len(asked) < len(trials):
        return []
    seen = [_run(here, data, trial, predictions, rows) for trial, predictions, rows in asked]
    unseen = [_run(here, data, trial, trial.predictions, rows) for trial, _, rows in asked]
    whole = None if all(len(a.gold) == len(b.gold) for a, b in zip(unseen, runs, strict=True)) else runs
    return [
        row
        for name in _main(here)
        for row in parts_of_fall(control, seen, unseen, name, whole=whole, tags=tags, seed=here.settings["seed"])
    ]


def _main(here: Workspace) -> list[str]:
    """Metrics whose fall is taken apart: the main one and the usual ones, not those of single labels."""
    return list(dict.fromkeys([here.settings["metric"], *METRICS]))


def _parts(trial: Trial) -> list[str]:
    return [part for part in PARTS_MEASURED if part in trial.split.sizes]


def _runs(here: Workspace, data: Dataset, trials: Sequence[Trial], part: str) -> list[Run]:
    return [_run(here, data, trial, trial.predictions, trial.split.rows(part)) for trial in trials]


def _run(
    here: Workspace, data: Dataset, trial: Trial, predictions: Predictions, rows: npt.NDArray[np.intp]
) -> Run:  # fmt: skip
    return Run.of(
        data, predictions, rows, split=trial.split.name, family=trial.family, seed=trial.seed,
        groups=here.settings["groups"],
    )  # fmt: skip


def _trials(here: Workspace, kind: str) -> list[Trial]:
    """The trainings that a step reads."""
    data = here.shared["source"].data
    return [
        Trial(
            split_of(here, f"{kind}-split-{number}", called["split"]),
            called["seed"],
            read_predictions(here.need(f"{kind}-{number}", PREDICTIONS), data),
            called["family"],
            _seen(here, [f"{kind}-{number}-seen-{fold}" for fold in range(called["seen"])]),
        )
        for number, called in enumerate(here.settings[kind])
    ]


def _seen(here: Workspace, roles: Sequence[str]) -> Predictions | None:
    """What the trainings of a seen control say, one about each fold; None where no fold has a row."""
    data = here.shared["source"].data
    folds = [read_predictions(here.need(role, PREDICTIONS), data) for role in roles]
    folds = [fold for fold in folds if len(fold.ids)]
    if not folds:
        return None
    ids = pa.chunked_array([chunk for fold in folds for chunk in fold.ids.chunks], folds[0].ids.type)
    return replace(folds[0], ids=ids, probabilities=np.concatenate([fold.probabilities for fold in folds]))


def composition(split: Split) -> dict[str, npt.NDArray[np.intp]]:
    """Test rows that came as whole clusters and those that were added singly; nothing when all came as one kind."""
    test, clusters = split.rows("test"), split.clusters
    if not split.certificate.completed or (clusters[test] < 0).any():
        return {}
    sizes, tested = (np.bincount(clusters[rows]) for rows in (np.flatnonzero(clusters >= 0), test))
    whole = np.flatnonzero(sizes[: len(tested)] == tested)
    is_whole = np.isin(clusters[test], whole)
    found = {"whole clusters": test[is_whole], "added singly": test[~is_whole]}
    return found if is_whole.any() and not is_whole.all() else {}


def _by_composition(here: Workspace, data: Dataset, trial: Trial, tags: Mapping[str, Any]) -> list[Measurement]:
    """Accuracy of the two kinds of test rows: an average over classes would rest on the few rows of some of them."""
    settings = here.settings
    return [
        replace(row, slice=f"test part={kind}")
        for kind, rows in composition(trial.split).items()
        for row in measure(
            data, trial.predictions, rows, ["accuracy"], tags=tags, seed=settings["seed"], groups=settings["groups"]
        )
    ]


def write_behaviour(here: Workspace) -> None:
    """What the model trained on all rows that are not set aside passes of a suite."""
    suite, settings = here.shared["suite"], here.settings
    opening = settings.get("opening", {})
    model = open_model(here.need("model", MODEL), **opening) if "model" in here.needs else learnt(here)
    model = RenamedClassifier(model, settings["rename"]) if settings["rename"] else model
    asked = inference.predict(model, suite)
    write_predictions(asked, here.folder / PREDICTIONS)
    write_measurements(check(suite, asked, tags=settings["tags"]), here.folder / MEASUREMENTS)


def write_bias(here: Workspace) -> None:
    """Groups compared on the test and the independent part of every training."""
    data, settings = here.shared["source"].data, here.settings
    (attribute,) = settings["bias"]
    groups = groups_by_attribute(data, attribute, fewest=settings["fewest"])
    rows: list[Measurement] = []
    trials = _trials(here, "runs")
    for trial in track(trials, "bias", len(trials)):
        told = settings["tags"] | {"split": trial.split.name, "family": trial.family, "seed": trial.seed}
        where = [
            TaggedRows(trial.split.rows(part), told | {"part": part})
            for part in BIAS_PARTS
            if part in trial.split.sizes
        ]
        rows += bias_measurements(
            data, trial.predictions, groups, where, settings["positive"], metrics=RATES, units=settings["groups"],
            backgrounds=() if trial.predictions.origin.params.get("hard") else ("all",), seed=settings["seed"],
        )  # fmt: skip
    write_measurements(rows, here.folder / MEASUREMENTS)


def metrics_of(data: Dataset, main: str, trials: Sequence[Trial]) -> list[str]:
    """The metrics of a study: the main one first, then the usual ones, then F1 of every label."""
    labels = data.label_names
    area = "roc_auc.ovo" if len(labels) > 2 else "roc_auc.binary"
    hard = any(each.predictions.origin.params.get("hard") for each in trials)
    probable = () if hard else (*OF_PROBABILITIES, area)
    per_label = [f"f1[{name}]" for name in labels]
    return list(dict.fromkeys([main, *METRICS, *probable, *per_label]))


def write_label_noise(here: Workspace) -> None:
    """What a light model that has not seen their labels says about the rows that are not set aside; the suspects."""
    source = here.shared["source"]
    found = witnessed(source.data, np.flatnonzero(~source.aside), seed=here.settings["seed"])
    write_predictions(found, here.folder / PREDICTIONS)
    write_suspects(label_noise_of(source.data, found).suspects, here.folder / SUSPECTS)


def write_findings_of(here: Workspace) -> None:
    """Whether a hard split is hard or broken: measurements and findings."""
    settings, data = here.settings, here.shared["source"].data
    noise = label_noise_of(data, read_predictions(here.need("witness", PREDICTIONS), data))
    trials = _trials(here, "runs")
    rows, findings = hard_or_broken(
        data, noise, trials, _trials(here, "control"), settings["metric"],
        groups=settings["groups"], agreement=settings["agreement"], seed=settings["seed"],
        tags=settings["tags"] | {"family": trials[0].family},
    )  # fmt: skip
    write_measurements(rows, here.folder / MEASUREMENTS)
    write_findings(findings, here.folder / FINDINGS)


def write_leaks(here: Workspace) -> None:
    """What lies on both sides of each split: measurements and findings."""
    settings, rows, findings = here.settings, list[Measurement](), list[Finding]()
    columns = dict.fromkeys(["author"], next(iter(settings["groups"]))) if settings["groups"] else {}
    subject = Subject(here.shared["source"].data, None, columns, seed=settings["seed"])
    for number, name in enumerate(settings["splits"]):
        of_split = subject.of(split_of(here, f"split-{number}", name))
        found = audit(of_split, [*LEAK_CHECKS, *columns])
        subject.known.update(of_split.known)
        rows += found.measurements
        findings += [replace(each, check=f"{each.check}[{name}]") for each in found.findings]
    write_measurements(rows, here.folder / MEASUREMENTS)
    write_findings(findings, here.folder / FINDINGS)


def write_stability(here: Workspace) -> None:
    """The share of test rows that the splits of a family have in common when their space has other seeds."""
    data, rows = here.shared["source"].data, list[Measurement]()
    for family, count in here.settings["families"].items():
        splits = [split_of(here, f"{family}-{number}") for number in range(count)]
        for row in shared_tests(data, {family: splits}):
            name = row.metric.replace("test_overlap", "test_overlap.space_seeds")
            rows.append(replace(row, metric=name, tags={"family": family, "part": "test", "splits": count}))
    write_measurements(rows, here.folder / MEASUREMENTS)


def write_properties(here: Workspace) -> None:
    """The properties of one split."""
    data, settings = here.shared["source"].data, here.settings
    split = split_of(here, name=settings["split"])
    using = vectors(here) if "vectors" in here.needs else None
    rows = api.analyse(data, split, using, words=here.shared["source"].words, neutral=settings["neutral"])
    tagged = [replace(row, tags=settings["tags"] | dict(row.tags)) for row in rows]
    write_measurements(tagged, here.folder / PROPERTIES)
