"""The steps that measure: from splits and predictions to scores, falls, findings, properties, the map and the clusters.

Of each kind of step, what decides its result (a function that makes the `Step`) stands beside what is done in it (a
function that takes a `Workspace` and leaves files). What they measure comes from `training_steps.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen import api, inference
from unseen.analysis import Words, shared_tests, top_words
from unseen.audits import Leak, Subject, Trial, audit, hard_or_broken, label_noise_of, parts_of_fall, witnessed
from unseen.audits.subject import LIKENESSES, contradicted
from unseen.engines import Step, Workspace
from unseen.evaluation import Run, fall, level, measure
from unseen.evaluation.depth import depth_measurements
from unseen.evaluation.measurements import aligned, places_by_slice, rows_of
from unseen.evaluation.metrics import metric as metric_of
from unseen.forecasts.estimators import Answers
from unseen.forecasts.labelled import UNLABELLED
from unseen.forecasts.ladder import HELD_OUT, Rung
from unseen.forecasts.prospect import Prospect, Target, made_rungs
from unseen.functional import check
from unseen.models import as_classifier, open_model
from unseen.progress import track
from unseen.reports.actions import SUSPECTS
from unseen.reports.explain_page import HIGHLIGHTS
from unseen.reports.figures import plane
from unseen.reports.points import LEAKS
from unseen.runs.chosen_texts import some_texts
from unseen.runs.explain import RATIONALES, explained_by_default, highlights
from unseen.runs.source import Source, hashes_of
from unseen.runs.spaces import MODEL, Model, Space, fit
from unseen.runs.training_steps import (
    EXITS,
    PREDICTIONS,
    PlannedTraining,
    space_step,
    split_of,
    step_on,
    trained_on_rest,
    vectors,
)
from unseen.store import (
    atomic,
    read_exits,
    read_predictions,
    write_findings,
    write_json,
    write_measurements,
    write_predictions,
    write_suspects,
    write_text,
)
from unseen.subgroups import TaggedRows, bias_measurements, groups_by_attribute
from unseen.types import PARTS, Dataset, Embeddings, ExitTrace, Finding, Measurement, Predictions, Split

MEASUREMENTS, FINDINGS, PROPERTIES = "measurements.csv", "findings.csv", "properties.csv"
MAP, CLUSTERS, EXAMPLES = "map.parquet", "clusters.json", "examples.json"
PARTS_MEASURED = ("test", "independent", "dev")
BIAS_PARTS = ("test", "independent")
RATES = ("false_positive_rate", "false_negative_rate")
METRICS = ("accuracy", "f1.macro", "f1.weighted")
OF_PROBABILITIES = ("log_loss", "ece.15")
LEAK_CHECKS = ("exact_duplicates", "normalised_duplicates", "near_duplicates", "conflicting_labels")
CARDS = 12
"""Clusters per split that get a card: those with the most test rows."""
EXAMPLES_PER_CARD = 5
WORDS_PER_CARD = 10
SEARCHED = 10
"""Texts of a part whose best and worst order of words is searched for."""
SUITE, DEPLOYMENT = "the suite", "texts from deployment"
"""What steps call the suite and the new texts that they share."""


# -- scores of trainings, and their falls ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scoring:
    """What is measured."""

    metric: str = "f1.macro"
    slices: tuple[str, ...] = ()
    groups: str | None = None
    agreement: str | None = None
    seed: int = 42
    tags: Mapping[str, Any] = field(default_factory=dict)
    """Put on every row."""

    def of(self, family: str) -> str:
        """What is measured, in a few words."""
        return " ".join([family, *map(str, self.tags.values())])

    def described(self, source: Source) -> dict[str, Any]:
        """Plain values, the content of the attributes that are read included."""
        attributes = [*self.slices, *filter(None, [self.groups, self.agreement])]
        return vars(self) | {"attributes": source.content(attributes)}


def _reading(
    runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining]
) -> tuple[dict[str, Any], dict[str, Step]]:
    """Settings and needs of a step that reads trainings, and trainings to compare them with; `_trials` reads them."""
    settings = {"runs": [run.called for run in runs], "control": [run.called for run in control]}
    needs: dict[str, Step] = {}
    for kind, some in (("runs", runs), ("control", control)):
        for number, run in enumerate(some):
            needs |= {f"{kind}-split-{number}": run.cut, f"{kind}-{number}": run.training}
            needs |= {f"{kind}-{number}-seen-{fold}": step for fold, step in enumerate(run.seen)}
    return settings, needs


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
            _exits(here, f"{kind}-{number}"),
        )
        for number, called in enumerate(here.settings[kind])
    ]


def _exits(here: Workspace, role: str) -> ExitTrace | None:
    """What every layer of a model that stops early says; None of other models."""
    path = here.need(role, EXITS)
    return read_exits(path) if path.exists() else None


def _seen(here: Workspace, roles: Sequence[str]) -> Predictions | None:
    """What the trainings of a seen control say, one about each fold; None where no fold has a row."""
    data = here.shared["source"].data
    folds = [read_predictions(here.need(role, PREDICTIONS), data) for role in roles]
    folds = [fold for fold in folds if len(fold.ids)]
    if not folds:
        return None
    ids = pa.chunked_array([chunk for fold in folds for chunk in fold.ids.chunks], folds[0].ids.type)
    return replace(folds[0], ids=ids, probabilities=np.concatenate([fold.probabilities for fold in folds]), depths=None)


def scores_step(
    source: Source, runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining], asked: Scoring
) -> Step:
    """Score the trainings of one family of splits, and its fall against those of `control`, if any."""
    settings, needs = _reading(runs, control)
    name = f"scores {asked.of(runs[0].family)}"
    return step_on(source, name, write_scores, settings | asked.described(source), needs)


def write_scores(here: Workspace) -> None:
    """Every metric of every training on every part, the means over trainings, and the fall against the control."""
    data = here.shared["source"].data
    trials, control = _trials(here, "runs"), _trials(here, "control")
    names = metrics_of(data, here.settings["metric"], [*trials, *control])
    rows: list[Measurement] = []
    for trial in track(trials, "scoring", len(trials)):
        rows += _of_training(here, data, trial, names)
    write_measurements(rows + _over_trainings(here, data, trials, control, names), here.folder / MEASUREMENTS)


def metrics_of(data: Dataset, main: str, trials: Sequence[Trial]) -> list[str]:
    """The metrics of a run: the main one first, then the usual ones, then F1 of every label."""
    labels = data.label_names
    area = "roc_auc.ovo" if len(labels) > 2 else "roc_auc.binary"
    hard = any(trial.predictions.origin.params.get("hard") for trial in trials)
    probable = () if hard else (*OF_PROBABILITIES, area)
    per_label = [f"f1[{name}]" for name in labels]
    return list(dict.fromkeys([main, *METRICS, *probable, *per_label]))


def _of_training(here: Workspace, data: Dataset, trial: Trial, names: Sequence[str]) -> list[Measurement]:
    """The scores of one training on every part it can be scored on."""
    settings = here.settings
    options = {"seed": settings["seed"], "groups": settings["groups"]}
    rows: list[Measurement] = []
    for part in _parts(trial):
        tags = _tags(here, trial) | {"part": part}
        slices = settings["slices"] if part == "test" else ()
        rows += measure(data, trial.predictions, trial.split.rows(part), names, tags=tags, slices=slices, **options)
        rows += _depths(here, data, trial, part, tags, slices)
        if part == "test":
            # an average over classes would rest on the few rows of some of them
            rows += [
                replace(row, slice=f"test part={kind}")
                for kind, tested in composition(trial.split, data).items()
                for row in measure(data, trial.predictions, tested, ["accuracy"], tags=tags, **options)
            ]
            if trial.seen is not None:
                scores = measure(data, trial.seen, rows_of(data, trial.seen), _main(here), tags=tags, **options)
                rows += [replace(row, metric=f"seen.{row.metric}") for row in scores]
    return rows


def _depths(
    here: Workspace, data: Dataset, trial: Trial, part: str, tags: Mapping[str, Any], slices: Sequence[str]
) -> list[Measurement]:
    """How deep a model that stops early went on a part; budgets are those of its dev part."""
    if trial.exits is None:
        return []
    rows, dev = trial.split.rows(part), trial.split.rows("dev")
    return depth_measurements(
        data, trial.predictions, rows, slices=dict(places_by_slice(data, rows, slices)), trace=trial.exits,
        reference=trial.exits.of(data.ids.take(pa.array(dev))) if len(dev) else None,
        groups=here.settings["groups"], tags=tags, seed=here.settings["seed"],
    )  # fmt: skip


def composition(split: Split, data: Dataset) -> dict[str, npt.NDArray[np.intp]]:
    """Test rows that came as whole clusters and those that were added singly; nothing when all came as one kind.

    Where clusters were made within classes, the certificate counts a cluster that is a single text as added singly.
    """
    test, clusters = split.rows("test"), split.clusters
    if not split.certificate.completed or (clusters[test] < 0).any():
        return {}
    sizes, tested = (np.bincount(clusters[rows]) for rows in (np.flatnonzero(clusters >= 0), test))
    whole = np.flatnonzero(sizes[: len(tested)] == tested)
    is_whole = np.isin(clusters[test], whole)
    if (~is_whole).sum() < split.certificate.completed:
        codes = np.unique(np.asarray(data.texts.to_pylist(), dtype=object), return_inverse=True)[1]
        texts = np.bincount(np.unique(np.column_stack([clusters, codes])[clusters >= 0], axis=0)[:, 0])
        is_whole &= texts[clusters[test]] > 1
    kinds = {"whole clusters": test[is_whole], "added singly": test[~is_whole]}
    return kinds if is_whole.any() and not is_whole.all() else {}


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


def _tags(here: Workspace, trial: Trial) -> dict[str, Any]:
    return here.settings["tags"] | {"split": trial.split.name, "family": trial.family, "seed": trial.seed}


def _parts(trial: Trial) -> list[str]:
    return [part for part in PARTS_MEASURED if part in trial.split.sizes]


def _runs(here: Workspace, data: Dataset, trials: Sequence[Trial], part: str) -> list[Run]:
    return [_run(here, data, trial, trial.predictions, trial.split.rows(part)) for trial in trials]


def _run(here: Workspace, data: Dataset, trial: Trial, predictions: Predictions, rows: npt.NDArray[np.intp]) -> Run:
    return Run.of(
        data, predictions, rows, split=trial.split.name, family=trial.family, seed=trial.seed,
        groups=here.settings["groups"],
    )  # fmt: skip


# -- whether a hard split is hard or broken ----------------------------------------------------------------------------


def label_noise_step(source: Source, seed: int) -> Step:
    """Ask a light model about the labels of the rows that are not set aside, none of which it has seen."""
    return step_on(source, "label noise", write_label_noise, {"source": source.basis, "seed": seed})


def write_label_noise(here: Workspace) -> None:
    """What a light model that has not seen their labels says about the rows that are not set aside; the suspects."""
    source = here.shared["source"]
    predictions = witnessed(source.data, np.flatnonzero(~source.aside), seed=here.settings["seed"])
    write_predictions(predictions, here.folder / PREDICTIONS)
    write_suspects(label_noise_of(source.data, predictions).suspects, here.folder / SUSPECTS)


def findings_step(
    source: Source, runs: Sequence[PlannedTraining], control: Sequence[PlannedTraining], asked: Scoring
) -> Step:
    """Ask whether a hard split is hard or broken."""
    settings, needs = _reading(runs, control)
    needs |= {"witness": label_noise_step(source, asked.seed)}
    name = f"findings {asked.of(runs[0].family)}"
    return step_on(source, name, write_findings_of, settings | asked.described(source), needs)


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


def leaks_step(source: Source, cuts: Mapping[str, Step], groups: str | None, seed: int) -> Step:
    """Look for texts, and groups where an attribute names them, that lie on both sides of splits."""
    settings = {
        "source": source.basis, "splits": list(cuts), "groups": source.content(filter(None, [groups])), "seed": seed,
    }  # fmt: skip
    return step_on(source, "leaks", write_leaks, settings, _numbered(cuts))


def write_leaks(here: Workspace) -> None:
    """What lies on both sides of each split: measurements, findings, and every test row that leaks."""
    settings, rows, findings = here.settings, list[Measurement](), list[Finding]()
    leaked: list[dict[str, str]] = []
    columns = dict.fromkeys(["author"], next(iter(settings["groups"]))) if settings["groups"] else {}
    subject = Subject(here.shared["source"].data, None, columns, seed=settings["seed"])
    for split in _splits(here):
        of_split = subject.of(split)
        audited = audit(of_split, [*LEAK_CHECKS, *columns])
        subject.known.update(of_split.known)
        rows += audited.measurements
        findings += [replace(finding, check=f"{finding.check}[{split.name}]") for finding in audited.findings]
        kinds = _kinds_of_leak(of_split, audited.leaks)
        leaked += [{"split": split.name, "id": name, "kind": kind} for name, kind in kinds]
    write_measurements(rows, here.folder / MEASUREMENTS)
    write_findings(findings, here.folder / FINDINGS)
    with atomic(here.folder / LEAKS) as temporary:
        schema = pa.schema([(name, pa.large_string()) for name in ("split", "id", "kind")])
        pq.write_table(pa.Table.from_pylist(leaked, schema), temporary)


def _kinds_of_leak(subject: Subject, leaks: Sequence[Leak]) -> Iterator[tuple[str, str]]:
    """Ids of test rows that training gives away, each with the strictest kind of tie and whether labels differ."""
    kinds: dict[int, str] = {}
    for leak in leaks:
        other = {*contradicted(subject, leak.kind).tolist()} if leak.kind in LIKENESSES else set[int]()
        for row in leak.test.tolist():
            kinds.setdefault(row, f"{leak.kind}, another label" if row in other else leak.kind)
    ids = subject.data.ids.take(pa.array(list(kinds), pa.int64())).to_pylist()
    yield from zip(ids, kinds.values(), strict=True)


# -- groups and behaviour ----------------------------------------------------------------------------------------------


def bias_step(
    source: Source,
    runs: Sequence[PlannedTraining],
    attribute: str,
    positive: Sequence[str],
    fewest: int,
    asked: Scoring,
) -> Step:
    """Compare groups on the parts of the splits of one family."""
    settings, needs = _reading(runs, [])
    settings |= {
        "bias": source.content([attribute]), "positive": list(positive), "fewest": fewest, "groups": asked.groups,
        "seed": asked.seed, "tags": dict(asked.tags),
    }  # fmt: skip
    return step_on(source, f"bias {asked.of(runs[0].family)}", write_bias, settings, needs)


def write_bias(here: Workspace) -> None:
    """Groups compared on the test and the independent part of every training."""
    data, settings = here.shared["source"].data, here.settings
    (attribute,) = settings["bias"]
    groups = groups_by_attribute(data, attribute, fewest=settings["fewest"])
    rows: list[Measurement] = []
    trials = _trials(here, "runs")
    for trial in track(trials, "bias", len(trials)):
        parts = [
            TaggedRows(trial.split.rows(part), _tags(here, trial) | {"part": part})
            for part in BIAS_PARTS
            if part in trial.split.sizes
        ]
        rows += bias_measurements(
            data, trial.predictions, groups, parts, settings["positive"], metrics=RATES, units=settings["groups"],
            backgrounds=() if trial.predictions.origin.params.get("hard") else ("all",), seed=settings["seed"],
        )  # fmt: skip
    write_measurements(rows, here.folder / MEASUREMENTS)


def behaviour_step(
    source: Source, suite: Dataset, space: Space, rename: Mapping[str, str], seed: int, tags: Mapping[str, Any]
) -> Step:
    """Ask the model that was trained on all rows that are not set aside about a suite."""
    settings: dict[str, Any] = {
        "suite": {
            "fingerprint": suite.fingerprint, "attributes": hashes_of(suite, suite.attributes), "name": suite.name,
        },
        "rename": dict(rename), "seed": seed, "tags": dict(tags),
    }  # fmt: skip
    opening, needs = _opened_model(source, space, seed)
    step = step_on(source, f"behaviour on {suite.name}", write_behaviour, settings | opening, needs)
    return replace(step, shared={**step.shared, "suite": SUITE})


def _opened_model(source: Source, space: Space, seed: int) -> tuple[dict[str, Any], dict[str, Step]]:
    """Settings and needs of a step that asks the model trained on all rows; `_model_of` opens it."""
    settings = {"source": source.basis, "model": space.model.described}
    if space.encodes_untrained:
        return settings, {}
    learnt = space_step(source, space, seed)
    return settings | space.of.opening, {"model": learnt.needs.get("vectors", learnt)}


def _model_of(here: Workspace) -> Any:
    """The model of `_opened_model`; trained again where no space was learnt, or by what cannot save itself."""
    saved = here.need("model", MODEL) if "model" in here.needs else None
    if saved is None or not saved.exists():
        return trained_on_rest(here)
    return open_model(saved, **here.settings.get("opening", {}))


def write_behaviour(here: Workspace) -> None:
    """What the model trained on all rows that are not set aside passes of a suite."""
    suite, settings = here.shared["suite"], here.settings
    predictions = inference.predict(as_classifier(_model_of(here), settings["rename"]), suite)
    write_predictions(predictions, here.folder / PREDICTIONS)
    write_measurements(check(suite, predictions, tags=settings["tags"]), here.folder / MEASUREMENTS)


def forecast_step(
    source: Source, deployment: Dataset, space: Space, runs: Sequence[PlannedTraining], asked: Scoring
) -> Step:
    """Forecast the score on texts from deployment, with the splits that were trained on as the ladder."""
    settings, needs = _reading([replace(run, seen=()) for run in runs], [])
    opening, model = _opened_model(source, space, asked.seed)
    settings |= {"deployment": deployment.fingerprint, "metric": asked.metric, "seed": asked.seed, **opening}
    step = step_on(source, "forecast", write_forecast, settings, needs | model)
    return replace(step, shared={**step.shared, "deployment": DEPLOYMENT})


def write_forecast(here: Workspace) -> None:
    """What the model trained on all rows that are not set aside will score on texts from deployment."""
    data, deployment = here.shared["source"].data, here.shared["deployment"]
    model = _model_of(here)
    predictions = inference.predict(model, deployment)
    write_predictions(predictions, here.folder / PREDICTIONS)
    metrics = list(dict.fromkeys([here.settings["metric"], *METRICS, *(f"f1[{name}]" for name in data.label_names)]))
    aside = np.flatnonzero(here.shared["source"].aside)
    target = Target(deployment, predictions, np.full(len(deployment), UNLABELLED))
    home, rungs = None, _rungs(data, _trials(here, "runs"))
    if len(aside):
        home = _answers(data, inference.predict(model, data, aside), aside)
        rungs += made_rungs(model, data.take(aside), home, here.settings["seed"])
    prospect = Prospect(target, home, rungs, [metric_of(name) for name in metrics])
    write_measurements(prospect.measurements(), here.folder / MEASUREMENTS)
    write_findings(prospect.findings(), here.folder / FINDINGS)


def _rungs(data: Dataset, trials: Sequence[Trial]) -> list[Rung]:
    """A rung for each split: its dev part as home, its test part as target; other seeds for those who ask them."""
    rungs = []
    for name in dict.fromkeys(trial.split.name for trial in trials):
        first, *others = [trial for trial in trials if trial.split.name == name]
        dev, test = first.split.rows("dev"), first.split.rows("test")
        again = tuple(aligned(data, other.predictions, test) for other in others)
        target = replace(_answers(data, first.predictions, test), others=again)
        rungs.append(Rung(name, HELD_OUT, _answers(data, first.predictions, dev), target))
    return rungs


def _answers(data: Dataset, predictions: Predictions, rows: npt.NDArray[np.intp]) -> Answers:
    return Answers(aligned(data, predictions, rows), data.labels[rows], data.texts.take(pa.array(rows)).to_pylist())


def explain_step(source: Source, run: PlannedTraining, model: Model, texts: int, shown: bool, asked: Scoring) -> Step:
    """Train on one split again, and judge explanations of some of its test texts and of the independent ones."""
    settings = {
        "model": model.described, "seed": run.seed, "explain": texts, "texts": shown, "family": run.family,
        "attributes": source.content([name for name in source.data.attributes if name == RATIONALES]),
        "tags": dict(asked.tags),
    }  # fmt: skip
    return step_on(source, f"explain {asked.of(run.family)}", write_explanations, settings, {"split": run.cut})


def write_explanations(here: Workspace) -> None:
    """Faithfulness and plausibility of explanations on the test and the independent part of a split."""
    data, settings, cut = here.shared["source"].data, here.settings, split_of(here)
    train, seed = data.take(cut.rows("train")), settings["seed"]
    model = fit(settings["model"], train, data.take(cut.rows("dev")), seed, here.scratch)
    rows: list[Measurement] = []
    for part in (part for part in BIAS_PARTS if part in cut.sizes):
        some = some_texts(data.take(cut.rows(part)), settings["explain"], seed)
        explained = explained_by_default(model, some, train.texts.to_pylist(), seed)
        tags = {"split": settings["family"], "part": part, **settings["tags"]}
        measured = explained.measurements(explained.slices(), SEARCHED, seed)
        rows += [replace(row, tags={**row.tags, **tags}) for row in measured]
        if part == "test" and settings["texts"]:
            write_json(here.folder / HIGHLIGHTS, {"texts": highlights(explained)})
    write_measurements(rows, here.folder / MEASUREMENTS)


# -- splits: what tells them apart, and whether they stay the same -----------------------------------------------------


def stability_step(source: Source, cuts: Mapping[str, Sequence[Step]]) -> Step:
    """Compare the test parts that a family of splits has from several seeds of its space."""
    settings = {"families": {family: len(steps) for family, steps in cuts.items()}}
    needs = {f"{family}-{number}": step for family, steps in cuts.items() for number, step in enumerate(steps)}
    return step_on(source, "stability", write_stability, settings, needs)


def write_stability(here: Workspace) -> None:
    """The share of test rows that the splits of a family have in common when their space has other seeds."""
    data, rows = here.shared["source"].data, list[Measurement]()
    for family, count in here.settings["families"].items():
        splits = [split_of(here, f"{family}-{number}") for number in range(count)]
        for row in shared_tests(data, {family: splits}):
            name = row.metric.replace("test_overlap", "test_overlap.space_seeds")
            rows.append(replace(row, metric=name, tags={"family": family, "part": "test", "splits": count}))
    write_measurements(rows, here.folder / MEASUREMENTS)


def properties_step(
    source: Source, cut: Step, space: Step | None, name: str, neutral: str | None, tags: Mapping[str, Any] | None = None
) -> Step:
    """Measure the properties of one split."""
    settings = {
        "split": name,
        "neutral": neutral,
        "attributes": source.content(source.data.attributes),
        "tags": dict(tags or {}),
    }
    needs = {"split": cut} | ({} if space is None else {"vectors": space})
    return step_on(source, f"properties {name}", write_properties, settings, needs)


def write_properties(here: Workspace) -> None:
    """The properties of one split."""
    data, settings = here.shared["source"].data, here.settings
    split = split_of(here, name=settings["split"])
    using = vectors(here) if "vectors" in here.needs else None
    rows = api.analyse(data, split, using, words=here.shared["source"].words, neutral=settings["neutral"])
    tagged = [replace(row, tags=settings["tags"] | dict(row.tags)) for row in rows]
    write_measurements(tagged, here.folder / PROPERTIES)


def _numbered(cuts: Mapping[str, Step]) -> dict[str, Step]:
    """The needs of a step that reads splits, whose names are its setting `splits`; `_splits` reads them."""
    return {f"split-{number}": cut for number, cut in enumerate(cuts.values())}


def _splits(here: Workspace) -> list[Split]:
    return [split_of(here, f"split-{number}", name) for number, name in enumerate(here.settings["splits"])]


# -- where the texts lie -----------------------------------------------------------------------------------------------


def map_step(source: Source, space: Step, cuts: Mapping[str, Step], seed: int) -> Step:
    """Lay the texts out in the plane."""
    settings = {"seed": seed, "splits": list(cuts)}
    return step_on(source, f"map of {space.name}", write_map, settings, {"vectors": space} | _numbered(cuts))


def write_map(here: Workspace) -> None:
    """Write where the texts lie in the plane, with their label and part in every split."""
    data = here.shared["source"].data
    x, y = plane(vectors(here).vectors, here.settings["seed"]).T
    columns: dict[str, Any] = {"id": data.ids, "x": x.astype(np.float32), "y": y.astype(np.float32)}
    columns["label"] = data.table["label"].cast(pa.string())
    for split in _splits(here):
        columns[split.name] = np.array(PARTS)[split.parts]
    with atomic(here.folder / MAP) as temporary:
        pq.write_table(pa.table(columns), temporary)


def clusters_step(source: Source, space: Step, cuts: Mapping[str, Step], texts: bool) -> Step:
    """Say what the clusters of the splits hold."""
    settings = {"splits": list(cuts), "texts": texts}
    return step_on(source, "clusters", write_clusters, settings, {"vectors": space} | _numbered(cuts))


def write_clusters(here: Workspace) -> None:
    """Write the cards of the clusters with the most test rows, and, when asked for, the texts of their examples."""
    source: Source = here.shared["source"]
    embeddings = vectors(here)
    cards = [card for split in _splits(here) for card in cluster_cards(source, split, embeddings)]
    write_text(here.folder / CLUSTERS, json.dumps(cards, ensure_ascii=False, indent=1) + "\n")
    if not here.settings["texts"]:
        return
    shown = pa.array(sorted({name for card in cards for name in card["examples"]}), pa.large_string())
    rows = source.data.table.filter(pc.is_in(source.data.ids, value_set=shown))
    texts = dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    write_text(here.folder / EXAMPLES, json.dumps(texts, ensure_ascii=False, indent=1) + "\n")


def cluster_cards(source: Source, split: Split, embeddings: Embeddings) -> Iterator[dict[str, Any]]:
    """What the largest test clusters of a split hold."""
    clusters = split.clusters
    clustered = np.flatnonzero(clusters >= 0)
    if not len(clustered):
        return
    words = source.words
    telling = top_words(Words(words.vocabulary, words.counts[clustered]), clusters[clustered], WORDS_PER_CARD)
    in_test = np.isin(np.arange(len(clusters)), split.rows("test"))
    tested = Counter(clusters[in_test & (clusters >= 0)].tolist())
    points, ids, labels = embeddings.vectors, source.data.ids, source.data.labels
    for cluster, count in sorted(tested.items(), key=lambda counted: (-counted[1], counted[0]))[:CARDS]:
        rows = np.flatnonzero(clusters == cluster)
        middle = points[rows].mean(axis=0)
        shown = rows[in_test[rows]]
        central = shown[np.argsort(((points[shown] - middle) ** 2).sum(axis=1), kind="stable")[:EXAMPLES_PER_CARD]]
        mix = np.bincount(labels[rows], minlength=len(source.data.label_names)).tolist()
        yield {
            "split": split.name,
            "cluster": int(cluster),
            "size": len(rows),
            "test": int(count),
            "labels": dict(zip(source.data.label_names, mix, strict=True)),
            "words": telling[cluster],
            "examples": ids.take(pa.array(central)).to_pylist(),
        }
