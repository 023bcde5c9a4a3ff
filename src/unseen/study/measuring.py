"""From the predictions of a run to its numbers: scores, falls, properties, findings, the map and the clusters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen import api
from unseen.analysis import Words, top_words
from unseen.audits import Trial, cross_validated, hard_or_broken
from unseen.evaluation import Run, fall, level, measure
from unseen.progress import track
from unseen.reports.figures import MOST_POINTS, plane
from unseen.seeding import generator
from unseen.store import (
    atomic,
    read_predictions,
    write_findings,
    write_measurements,
    write_predictions,
    write_text,
)
from unseen.study.pipeline import Pipeline, Trained
from unseen.types import PARTS, Finding, Measurement, Split

PARTS_MEASURED = ("test", "independent", "dev")
METRICS = ("accuracy", "f1.macro", "f1.weighted")
OF_PROBABILITIES = ("log_loss", "ece.15")
CARDS = 12
"""Clusters per split that get a card: those with the most test rows."""
EXAMPLES = 5
WORDS_PER_CARD = 10


def score_runs(pipeline: Pipeline) -> list[Measurement]:
    """Every metric of every training on every part, the means over trainings, and the falls."""
    data, settings = pipeline.data, pipeline.settings
    trained = list(pipeline.trained())
    names = metrics_of(pipeline, trained)
    runs: dict[tuple[str, str], list[Run]] = {}
    rows: list[Measurement] = []
    for each in track(trained, "scoring", len(trained)):
        split = pipeline.read_split(each.split)
        for part in PARTS_MEASURED:
            tags = {
                "split": each.split,
                "family": each.family,
                "model": settings.model,
                "seed": each.seed,
                "part": part,
            }
            at = split.rows(part)
            rows += measure(
                data, each.predictions, at, names, tags=tags, seed=settings.seed, groups=settings.groups,
                slices=settings.slices if part == "test" else (),
            )  # fmt: skip
            if part == "test":
                rows += _by_composition(pipeline, split, each, tags)
            run = Run.of(
                data, each.predictions, at, split=each.split, family=each.family, seed=each.seed, groups=settings.groups
            )
            runs.setdefault((each.family, part), []).append(run)
    for (family, part), some in runs.items():
        tags = {"family": family, "model": settings.model, "part": part}
        for name in names:
            rows += level(some, name, tags=tags, seed=settings.seed)
    for family in settings.splits:
        if family != "random":
            tags = {"family": family, "against": "random", "model": settings.model, "part": "test"}
            rows += [
                fall(runs["random", "test"], runs[family, "test"], name, tags=tags, seed=settings.seed)
                for name in names
            ]
    return rows


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


def _by_composition(pipeline: Pipeline, split: Split, trained: Trained, tags: Mapping[str, Any]) -> list[Measurement]:
    """Accuracy and the main metric of the two kinds of test rows."""
    settings = pipeline.settings
    names = list(dict.fromkeys([settings.metric, "accuracy"]))
    return [
        replace(row, slice=f"test part={kind}")
        for kind, rows in composition(split).items()
        for row in measure(
            pipeline.data, trained.predictions, rows, names, tags=tags, seed=settings.seed, groups=settings.groups
        )
    ]


def metrics_of(pipeline: Pipeline, trained: Sequence[Trained]) -> list[str]:
    """The metrics of a run: the main one first, then the usual ones, then F1 of every label."""
    labels = pipeline.data.label_names
    area = "roc_auc.ovo" if len(labels) > 2 else "roc_auc.binary"
    hard = any(each.predictions.origin.params.get("hard") for each in trained)
    probable = () if hard else (*OF_PROBABILITIES, area)
    per_label = [f"f1[{name}]" for name in labels]
    return list(dict.fromkeys([pipeline.settings.metric, *METRICS, *probable, *per_label]))


def properties_of(pipeline: Pipeline) -> list[Measurement]:
    """The properties of every split."""
    words = Words.of(pipeline.data)
    rows = []
    names = [name for name, _ in pipeline.settings.families]
    for name in track(names, "properties", len(names)):
        split = pipeline.read_split(name)
        rows += api.analyse(pipeline.data, split, pipeline.vectors, words=words, neutral=pipeline.settings.neutral)
    return rows


def out_of_fold(pipeline: Pipeline) -> None:
    """Write what a light model, cross-validated over the rows that are not set aside, says about them."""
    rest = np.flatnonzero(~pipeline.aside)
    found = cross_validated(pipeline.data, rest, seed=pipeline.settings.seed)
    write_predictions(found, pipeline.folder / "predictions" / "cross-validated.parquet")


def findings_of(pipeline: Pipeline) -> tuple[list[Measurement], list[Finding]]:
    """Whether each hard split is hard or broken."""
    settings, data = pipeline.settings, pipeline.data
    held_out = read_predictions(pipeline.folder / "predictions" / "cross-validated.parquet", data)
    trials: dict[str, list[Trial]] = {}
    for each in pipeline.trained():
        trials.setdefault(each.family, []).append(_trial(pipeline, each))
    rows: list[Measurement] = []
    findings: list[Finding] = []
    for family in settings.splits:
        if family != "random":
            measured, found = hard_or_broken(
                data, pipeline.vectors, held_out, trials[family], trials["random"], settings.metric,
                groups=settings.groups, agreement=settings.agreement, seed=settings.seed,
                tags={"model": settings.model, "family": family},
            )  # fmt: skip
            rows += measured
            findings += found
    return rows, findings


def _trial(pipeline: Pipeline, trained: Trained) -> Trial:
    return Trial(pipeline.read_split(trained.split), trained.seed, trained.predictions, trained.family)


def write_map(pipeline: Pipeline) -> None:
    """Write where texts lie in the plane (a sample when there are many), with their label and part in every split."""
    seed = pipeline.settings.seed
    shown = np.sort(generator(seed, "map").permutation(len(pipeline.data))[:MOST_POINTS])
    data = pipeline.data.take(shown)
    x, y = plane(np.asarray(pipeline.vectors.vectors[shown]), seed).T
    columns: dict[str, Any] = {"id": data.ids, "x": x.astype(np.float32), "y": y.astype(np.float32)}
    columns["label"] = data.table["label"].cast(pa.string())
    for name, _ in pipeline.settings.families:
        columns[name] = np.array(PARTS)[pipeline.read_split(name).parts[shown]]
    with atomic(pipeline.folder / "map.parquet") as temporary:
        pq.write_table(pa.table(columns), temporary)


def write_clusters(pipeline: Pipeline) -> None:
    """Write the cards of the clusters with the most test rows, and, when asked for, the texts of their examples."""
    words = Words.of(pipeline.data)
    cards = [
        card
        for name, _ in pipeline.settings.families
        for card in cluster_cards(pipeline, name, pipeline.read_split(name), words)
    ]
    write_text(pipeline.folder / "clusters.json", json.dumps(cards, ensure_ascii=False, indent=1) + "\n")
    examples = pipeline.folder / "examples.json"
    if not pipeline.settings.texts:
        examples.unlink(missing_ok=True)
        return
    wanted = pa.array(sorted({each for card in cards for each in card["examples"]}), pa.large_string())
    rows = pipeline.data.table.filter(pc.is_in(pipeline.data.ids, value_set=wanted))
    texts = dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    write_text(examples, json.dumps(texts, ensure_ascii=False, indent=1) + "\n")


def cluster_cards(pipeline: Pipeline, name: str, split: Split, words: Words) -> Iterator[dict[str, Any]]:
    """What the largest test clusters of a split hold."""
    clusters = split.clusters
    clustered = np.flatnonzero(clusters >= 0)
    if not len(clustered):
        return
    telling = top_words(Words(words.vocabulary, words.counts[clustered]), clusters[clustered], WORDS_PER_CARD)
    in_test = np.isin(np.arange(len(clusters)), split.rows("test"))
    tested = Counter(clusters[in_test & (clusters >= 0)].tolist())
    vectors, ids, labels = pipeline.vectors.vectors, pipeline.data.ids, pipeline.data.labels
    for cluster, count in sorted(tested.items(), key=lambda each: (-each[1], each[0]))[:CARDS]:
        rows = np.flatnonzero(clusters == cluster)
        middle = vectors[rows].mean(axis=0)
        shown = rows[in_test[rows]]
        central = shown[np.argsort(((vectors[shown] - middle) ** 2).sum(axis=1), kind="stable")[:EXAMPLES]]
        mix = np.bincount(labels[rows], minlength=len(pipeline.data.label_names)).tolist()
        yield {
            "split": name,
            "cluster": int(cluster),
            "size": len(rows),
            "test": int(count),
            "labels": dict(zip(pipeline.data.label_names, mix, strict=True)),
            "words": telling[cluster],
            "examples": ids.take(pa.array(central)).to_pylist(),
        }


def write_scores(pipeline: Pipeline) -> None:
    """Write measurements.csv and findings.csv."""
    shares, findings = findings_of(pipeline)
    write_measurements(score_runs(pipeline) + shares, pipeline.folder / "measurements.csv")
    write_findings(findings, pipeline.folder / "findings.csv")


def write_properties(pipeline: Pipeline) -> None:
    """Write properties.csv."""
    write_measurements(properties_of(pipeline), pipeline.folder / "properties.csv")
