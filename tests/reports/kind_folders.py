"""Finished run folders of every kind, written by hand with few numbers; `name` stands wherever a name may stand."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from fake_run import FakeRun
from hostile_run import hostile_run

from tiny_data import build
from unseen.evaluation.invariance import SIDES, AnsweredPairs, outcome
from unseen.functional import as_suite, check
from unseen.functional.pass_rates import compare_on_suite
from unseen.reports.invariance_page import findings_of
from unseen.runs.bias_page import CHANGES, MEANS, NAMES
from unseen.runs.item_effect import CLEANED
from unseen.runs.pretraining import AS_IT_COMES, CONTROL, DOMAIN
from unseen.runs.pretraining import WITHOUT as UNREAD
from unseen.runs.transfer import ALL, OTHERS, OWN, WITHOUT
from unseen.store import write_findings, write_json, write_measurements, write_text
from unseen.types import Dataset, Finding, Measurement, Predictions

METRIC = "f1.macro"
FINISHED = "2026-11-01T00:00:00+00:00"
FAILED_GATE = {"gate": "fall.f1.macro<=0.2", "place": "", "value": 0.2041, "passed": False}


def write_run(
    folder: Path,
    about: Mapping[str, Any],
    rows: Sequence[Measurement],
    findings: Sequence[Finding] = (),
    files: Sequence[str] = (),
) -> Path:
    """A run folder; `files` are those that its page names besides, empty, folders with a stroke at their end."""
    write_measurements(rows, folder / "measurements.csv")
    write_findings(findings, folder / "findings.csv")
    for name in files:
        if name.endswith("/"):
            (folder / name).mkdir(exist_ok=True)
        else:
            write_text(folder / name, "")
    write_json(folder / "run.json", {"finished": FINISHED, "gates": [], "timings": []} | dict(about))
    return folder


def audit(folder: Path, name: str, kind: str = "audit") -> Path:
    rows = [
        Measurement(f"leaked.{name}", 0.1, 40, 0.05, 0.2),
        Measurement(METRIC, 0.4, 40, tags={"baseline": name}),
        Measurement("authors.unknown", 0.1, 40, slice=f"label={name}"),
    ]
    found = [Finding(f"{name}.{level}", level, f"{name} is {level}", 1, (name,), name)
             for level in ("fail", "warn", "ok", "skipped")]  # fmt: skip
    about: dict[str, Any] = {
        "kind": kind, "command": name, "data": {"name": name, "rows": 90, "counts": {name: 90}},
        "split": {"name": name, "sizes": {name: 90}}, "versions": {name: name},
    }  # fmt: skip
    if kind == "audit":
        about |= {"columns": {"author": name}, "thresholds": {"near": 0.8, "semantic": 0.95}}
        return write_run(folder, about, rows, found, ["leaks.csv"])
    return write_run(folder, about | {"pipeline": name}, rows, found)


def pipeline_audit(folder: Path, name: str) -> Path:
    return audit(folder, name, "pipeline-audit")


def author_rows(label: str = "yes") -> list[Measurement]:
    rule = {"rule": "leave-one-out"}
    rows = [
        Measurement(f"{name}.{METRIC}", value, 90, tags=rule)
        for name, value in (("know_the_author", 0.6), ("majority_class", 0.2), ("permuted_authors", 0.3))
    ]
    rows += [Measurement(f"{name}.accuracy", 0.5, 90, tags=rule) for name in ("know_the_author", "majority_class")]
    for where in ("all", f"label={label}"):
        rows.append(Measurement("authors.unknown", 0.1, 90, slice=where))
        curve = ((0.0, 0.0), (0.5, 0.2), (1.0, 1.0))
        rows += [Measurement("author_lorenz", value, 90, slice=where, tags={"authors": at}) for at, value in curve]
    for family, sizes in (("random", (30, 30)), ("grouped", (1200, 31))):
        tags = {"split": family}
        rows.append(Measurement(METRIC, 0.7, sum(sizes), 0.6, 0.8, tags=tags))
        rows += [Measurement("authors_on_both_sides", seed, n, tags={**tags, "seed": seed})
                 for seed, n in enumerate(sizes)]  # fmt: skip
    fall = Measurement(f"fall.{METRIC}", 0.1, 60, 0.05, 0.15, tags={"split": "grouped", "than": "random"})
    return [*rows, fall]


def authors(folder: Path, name: str) -> Path:
    about = {
        "kind": "authors", "command": name, "data": {"name": name, "rows": 90}, "settings": {name: name},
        "split": {"name": name}, "versions": {name: name},
    }  # fmt: skip
    return write_run(folder, about, author_rows(name), [Finding(name, "warn", f"{name} wrote it.", 7, (name,), name)])


def price_rows(kind: str, **tags: Any) -> list[Measurement]:
    """A leak that pays on both sides; `tags` are those of the train side's price."""
    rows = [Measurement("leaked_rows", 7, 50, tags={"leak": kind, "side": side}) for side in ("test", "train")]
    for name, value in (("all", 0.8), ("leaked", 1.0), ("unleaked", 0.7), ("random", 0.8)):
        rows.append(Measurement(METRIC, value, 50, tags={"leak": kind, "side": "test", "rows": name}))
    test, train = ({"leak": kind, "side": side, "rows": "all"} for side in ("test", "train"))
    rows += [Measurement(METRIC, value, 50, tags={**train, "removed": removed})
             for removed, value in (("random", 0.8), ("leaked", 0.75))]  # fmt: skip
    return [
        *rows, Measurement(f"fall.{METRIC}", 0.1, 50, 0.05, 0.15, tags={**test, "p": 0.02}),
        Measurement(f"fall.{METRIC}", 0.05, 50, 0.01, 0.09, tags={**train, **tags}),
    ]  # fmt: skip


def price(folder: Path, name: str) -> Path:
    about = {
        "kind": "price", "command": name, "data": {"name": name, "rows": 100},
        "settings": {"metric": METRIC, name: name},
        "split": {"name": name, "sizes": {"train": 50, "test": 50}}, "versions": {name: name},
    }  # fmt: skip
    findings = [Finding(f"price.{name}", "fail", f"{name} pays.", 7, (name,), name)]
    return write_run(folder, about, price_rows(name, p=0.25), findings, ["leaks.csv"])


def item_effect(folder: Path, name: str) -> Path:
    rows = [
        Measurement(metric, 0.5, 40, tags={"train": train, "test": test})
        for metric in (METRIC, "identical_answers", "largest_predicted_class")
        for train in CLEANED
        for test in ("original", "cleaned")
    ]
    contrast = {"train": "cleaned", "than": "random", "test": "original"}
    rows.append(Measurement(f"difference.{METRIC}", 0.01, 40, -0.1, 0.1, tags=contrast))
    rows.append(Measurement("rule_coverage", 0.1, 40, tags={"rule": name}))
    found = [
        Finding("items.effect[original]", "ok", f"{name} does little."),
        Finding(name, "warn", name, 1, (name,), name),
    ]
    about = {
        "kind": "item-effect", "command": name, "data": {"name": name, "rows": 90}, "versions": {name: name},
        "settings": {"model": name, "packs": [name], "votes": 1, "metrics": [METRIC], "seeds": [1, 2]},
        "rules": {name: {"pack": name, "trait": name}},
    }  # fmt: skip
    return write_run(folder, about, rows, found, ["flags.csv"])


def suite_of(functionalities: tuple[str, str] = ("x_plain", "x_not"), target: str = "cooks") -> Dataset:
    """Twelve cases, six of each of two functionalities; those of the second contrast with those of the first."""
    ids = [f"{kind}{number}" for kind in "ab" for number in range(6)]
    return as_suite(
        build(
            ids=ids, labels=["yes"] * 6 + ["no"] * 6,
            functionality=[functionalities[0]] * 6 + [functionalities[1]] * 6,
            template=[f"{kind}{number // 2}" for kind in "ab" for number in range(6)],
            target=[target, "waiters"] * 6, reference=[None] * 6 + ids[:6],
        )
    )  # fmt: skip


def check_rows(suite: Dataset, **models: int) -> list[Measurement]:
    """What is measured of models that are wrong about so many of the first cases."""

    def predictions(wrong: int) -> Predictions:
        codes = suite.labels.copy()
        codes[:wrong] = 1 - codes[:wrong]
        return Predictions(suite.ids, np.eye(2)[codes], suite.label_names)

    rows = [row for name, wrong in models.items() for row in check(suite, predictions(wrong), tags={"model": name})]
    if len(models) == 2:
        (a, x), (b, y) = models.items()
        rows += compare_on_suite(suite, predictions(x), predictions(y), tags={"model": a, "other": b})
    return rows


def checked(folder: Path, name: str) -> Path:
    suite = suite_of((f"x_{name}", "x_not"), name)
    models = {name: 4, "good": 0}
    about = {
        "kind": "check", "command": name, "versions": {name: name},
        "models": {model: {"source": model, "rename": {name: name}, "threshold": {name: 0.5}} for model in models},
        "suite": {"name": suite.name, "rows": len(suite), "counts": suite.label_counts},
    }  # fmt: skip
    return write_run(folder, about, check_rows(suite, **models), (), ["failures.csv", "predictions/"])


OWN_SCORES = {"red": 0.80, "blue": 0.70}
SCORES = {
    ("red", "red"): 0.80, ("red", "blue"): 0.50, ("blue", "blue"): 0.70, ("blue", "red"): 0.64,
    ("merged", "red"): 0.78, ("merged", "blue"): 0.70, ("red capped", "red"): 0.75, ("red capped", "blue"): 0.55,
    ("majority", "red"): 0.40, ("majority", "blue"): 0.45,
}  # fmt: skip


def number(metric: str, value: float, where: str = "all", **tags: str) -> Measurement:
    return Measurement(metric, value, 100, value - 0.05, value + 0.05, where, tags)


def transfer_rows(low: float) -> list[Measurement]:
    """Scores of two datasets and of what is made of them; `low` is the lower end of the mean fall."""
    rows = [
        number(metric, value, train=train, test=test, seed="mean")
        for (train, test), value in SCORES.items()
        for metric in (METRIC, "accuracy", "f1[no]", "f1[yes]")
    ]
    for (train, test), value in SCORES.items():
        if train not in (test, "majority"):
            own = {"than_train": test, "than_test": test}
            rows.append(number(f"fall.{METRIC}", OWN_SCORES[test] - value, train=train, test=test, **own))
    others = {"train": OTHERS, "test": OTHERS, "than_train": OWN, "than_test": OTHERS}
    return [
        *rows,
        number(f"fall.{METRIC}", 0.30, train="red", test="blue", than_train="red", than_test="red"),
        number(f"fall.{METRIC}", -0.05, train="red capped", test="blue", than_train="red", than_test="blue"),
        number(f"fall.{METRIC}", 0.01, train="merged", test=ALL, than_train=OWN, than_test=ALL),
        number("fall.f1[yes]", 0.25, **others),
        Measurement(f"fall.{METRIC}", 0.18, 200, low, 0.23, "all", others),
        number(f"fall.{METRIC}", 0.12, WITHOUT, **others),
        number(METRIC, 0.49, WITHOUT, train="red", test="blue"),
        number("overlap.near", 0.12, train="red", test="blue"),
        number("overlap.conflict", 0.03, train="red", test="blue"),
    ]


def transfer(folder: Path, name: str = "red", low: float = 0.13) -> Path:
    counts = {part: {"no": 60, "yes": 40} for part in ("train", "dev", "test")}
    data = {"source": "x.csv", "rows": 300, "left_out": {"odd": 7}, "groups": None, "split": None, "counts": counts}
    made_of = {name: [name], "blue": ["blue"], "merged": [name, "blue"]}
    sets = {each: {"of": of, "rows": 100, "dev": 10, "uncapped": None, "counts": {}} for each, of in made_of.items()}
    sets[f"{name} capped"] = sets[name] | {"uncapped": name}
    about = {
        "kind": "transfer", "command": "unseen study transfer", "model": "logistic",
        "settings": {"labels": ["no", "yes"], "positive": "yes", "trainings": 3, "matched": False},
        "datasets": {name: data | {"map": {"fine": "no", "odd": "drop"}}, "blue": data | {"map": {}, "groups": "user"}},
        "training_sets": sets, "versions": {}, "timings": [{"step": "train", "seconds": 3.0}],
    }  # fmt: skip
    rows = [
        Measurement(row.metric, row.value, row.n, row.low, row.high, row.slice,
                    {tag: str(value).replace("red", name) for tag, value in row.tags.items()})
        for row in transfer_rows(low)
    ]  # fmt: skip
    found = Finding(f"overlap[{name} → blue]", "fail", f"12 test texts of blue are in {name}.", 12, (f"blue/{name}",))
    return write_run(folder, about, rows, [found], ["splits/", "predictions/"])


VALIDATED = {
    ("trees", "published"): 0.93, ("trees", "random"): 0.73, ("trees", "authors"): 0.44, ("plain", "random"): 0.70,
    ("plain", "authors"): 0.69,
}  # fmt: skip
PRICES = {("trees", "leak"): 0.2, ("trees", "total"): 0.49, ("plain", "authors"): 0.01}
ENDS = {
    "leak": {"from": "published", "to": "random"}, "total": {"from": "published", "to": "authors"},
    "authors": {"from": "random", "to": "authors"},
}  # fmt: skip


def validation_tags(model: str, family: str) -> dict[str, Any]:
    return {"data": "posts", "model": model, "family": family, "part": "test"}


def validation_rows() -> list[Measurement]:
    tags = validation_tags
    rows = [
        Measurement(METRIC, value, 90, value - 0.02, value + 0.02, tags=tags(model, family) | {"seed": "mean"})
        for (model, family), value in VALIDATED.items()
    ]
    rows += [Measurement(METRIC, 0.5, 90, tags=tags("trees", "authors") | {"split": "authors", "seed": 1})]
    rows += [
        Measurement(f"fall.{METRIC}", value, 90, value - 0.03, value + 0.03, tags=tags(model, price) | ENDS[price])
        for (model, price), value in PRICES.items()
    ]
    return [*rows, Measurement(METRIC, 0.4, 70, 0.3, 0.5, "cap=5", tags("trees", "authors"))]


def validation(folder: Path, name: str, findings: Sequence[Finding] = (), **more: Any) -> Path:
    found = [Finding("authors on both sides", "ok", "none", 0), Finding("copies", "warn", name, 1, ("p1",), "look")]
    about: dict[str, Any] = {
        "kind": "validation", "title": name, "command": "unseen run", "failures": {}, "versions": {},
        "settings": {"metric": METRIC, "seeds": [1, 2], "folds": 5, "file": f"a line\n</pre>{name}"},
        "data": {
            "name": "posts", "rows": 90, "label_names": ["no", "yes"], "counts": {"no": 50, "yes": 40}, "authors": 12,
            "added": 0, "foreign": 0,
        },
        "learners": {"trees": "pipeline", "plain": "model"},
        "protocols": ["published", "random", "authors", "capped-5"],
        "prices": ["leak", "total", "authors", "capped-5", "enriched", "foreign-enriched"],
        "timings": [{"step": "a", "seconds": 2.5}],
    }  # fmt: skip
    return write_run(folder, about | more, validation_rows(), [*found, *findings], ["predictions/"])


def learning(folder: Path, name: str) -> Path:
    task, both = "task", "task then suite"
    rows = []
    for place in ({"scheme": "class", "part": "covered"}, {"scheme": "class", "part": "held-out"},
                  {"scheme": "all", "part": "test"}):  # fmt: skip
        rows += [number("accuracy", 0.6, **place, configuration=each) for each in (task, both)]
        rows.append(
            Measurement("difference.accuracy", 0.1, 20, tags=place | {"configuration": both, "than": task, "p": 0.01})
        )
    for configuration in (task, both):
        held_out = {"scheme": "class", "part": "held-out", "configuration": configuration, "of": both}
        rows.append(number("accuracy", 0.5, f"class={name}", **held_out))
        rows += [number(metric, 0.7, part="task test", configuration=configuration)
                 for metric in (METRIC, "roc_auc.binary")]  # fmt: skip
    rows += [Measurement(f"leak.{kind}", 0.1, 20, tags={"scheme": "class", "part": "held-out"})
             for kind in ("template", "reference", "any")]  # fmt: skip
    about = {
        "kind": "learning", "command": name, "model": name, "versions": {name: name},
        "settings": {"schemes": ["all", "class"], "configurations": [task, both], "strict": True},
        "datasets": {"suite": {"name": name, "rows": 84}, "task": {"name": name, "rows": 160}},
        "plans": {f"class={name}": {}, "all": {}},
    }  # fmt: skip
    text, label = (each.replace('"', '""') for each in (f"{name} {'w' * 300}", name))
    lines = ["id,part,label,direction,before,after,text", f'1,task test,"{label}",fall,0.9,0.2,"{text}"']
    write_run(folder, about, rows, [], ["plans.csv", "predictions/"])
    write_text(folder / "changes.csv", "\n".join(lines) + "\n")
    return folder


def study(folder: Path, name: str) -> Path:
    cells = [
        {"data": "posts", "space": space, "family": family, "model": name, "own": True, "test": 0.1, "dev": 0.1}
        for space, family in (("", "random"), (name, "closest"))
    ]
    rows = []
    for cell, value in zip(cells, (0.8, 0.5), strict=True):
        tags = {"data": "posts", "family": cell["family"], "model": name, "part": "test", "seed": "mean"}
        rows.append(number(METRIC, value, **tags | ({"space": name} if cell["space"] else {})))
    fall = {"data": "posts", "family": "closest", "model": name, "space": name, "part": "test"}
    rows.append(number(f"fall.{METRIC}", 0.3, **fall))
    about = {
        "kind": "study", "title": name, "command": name, "baseline": "random", "cells": cells, "failures": {},
        "datasets": {"posts": {"rows": 90, "independent": 9, "counts": {name: 90}, "label_names": [name]}},
        "models": {}, "settings": {"metric": METRIC, "file": f"</pre>{name}"}, "versions": {name: name},
        "wall_seconds": 3.0, "joules": None, "variants": {},
    }  # fmt: skip
    write_measurements([], folder / "properties.csv")
    return write_run(folder, about, rows, [Finding(name, "warn", name, 1, (name,), name)], ["splits/", "card.md"])


def pretraining(folder: Path, name: str) -> Path:
    doses = [(AS_IT_COMES, 0), *((of, texts) for texts in (10, 90) for of in (DOMAIN, CONTROL))]
    rows = [Measurement(f"contamination.{kind}", 0.1, 90, tags={"data": name, "corpus": of})
            for kind in ("exact", "normalised", "near") for of in (DOMAIN, CONTROL)]  # fmt: skip
    for of, texts in doses:
        tags = {"encoder": of, "texts": texts}
        rows += [number(f"pretraining.{what}", 3.0, **tags) for what in ("steps", "tokens", "passes") if texts]
        rows += [number("masked_loss", 2.0, **tags, held_out=held_out) for held_out in (DOMAIN, CONTROL)]
        for where in ("all", UNREAD):
            own = {**tags, "data": name}
            rows.append(Measurement(METRIC, 0.7, 90, 0.6, 0.8, where, {**own, "seed": "mean"}))
            rows += [Measurement(f"difference.{METRIC}", 0.1, 90, 0.05, 0.15, where, {**own, "than": than})
                     for than in (CONTROL, AS_IT_COMES) if texts and than != of]  # fmt: skip
    corpus = {"source": name, "rows": 100, "train": 90, "held_out": 10}
    about = {
        "kind": "pretraining", "command": name, "model": name, "datasets": {name: {"rows": 90}},
        "corpora": {DOMAIN: corpus, CONTROL: corpus}, "versions": {name: name},
        "settings": {"metric": METRIC, "sizes": [10, 90], "trainings": 1, "seed": 42, name: name},
    }  # fmt: skip
    found = [Finding(f"contamination[domain → {name}]", "fail", f"{name} was read.", 9, (name,), name),
             Finding("head", "warn", name, advice=name)]  # fmt: skip
    return write_run(folder, about, rows, found, ["models/", "splits/", "predictions/"])


def stress(folder: Path, name: str) -> Path:
    if name.isalnum():
        return FakeRun(rows=200, name=name).write(folder)
    return hostile_run(folder)


def forecast(folder: Path, name: str) -> Path:
    rows = [
        Measurement(f"labelled.{METRIC}", 0.7, 90, 0.6, 0.8, tags={"labels": 30, "trust": 0.5}),
        Measurement(f"labelled.{METRIC}", None, 0, slice=f"{name}=x", tags={"labels": 2, "why_not": name}),
        Measurement(f"home.{METRIC}", 0.8, 60),
        Measurement(f"forecast.{METRIC}", None, 0, tags={"by": name, "why_not": name}),
        Measurement(f"forecast.if_topic.{METRIC}", 0.72, 90, 0.6, 0.84, tags={"by": name}),
        Measurement(f"rung.{METRIC}", 0.7, 60, tags={"rung": name, "kind": name}),
        Measurement(f"estimate.{METRIC}", 0.75, 60, tags={"estimator": name, "rung": name, "kind": name}),
        Measurement(f"estimate.{METRIC}", 0.75, 60, tags={"estimator": name}),
        Measurement(f"error.{METRIC}", 0.05, 1, tags={"estimator": name}),
        Measurement("sets.labels", 1.2, 90, tags={"kind": "split"}),
        Measurement("sets.single", 0.8, 90, tags={"kind": "split"}),
        Measurement("sets.covered", 0.9, 60, tags={"kind": "split", "rung": name}),
    ]
    about = {
        "kind": "forecast", "command": name, "data": {"name": name, "rows": 90, "counts": {}}, "model": name,
        "settings": {"metric": METRIC, name: name}, "texts": 90, "labels": 30, "to_label": 40, "width": None,
        "versions": {name: name},
    }  # fmt: skip
    return write_run(folder, about, rows, [Finding("meaning", "warn", name)], ["to_label.csv", "predictions/"])


def explain(folder: Path, name: str) -> Path:
    metrics = ("comprehensiveness.aopc", "sufficiency.aopc", "tau.leave_one_out", "token_f1", "iou_f1.merged", "auprc")
    rows = [
        Measurement(metric, value, 90, value - 0.1, value + 0.1, where, {"method": method})
        for metric in metrics
        for where in ("all", "right", f"{name}={name}")
        for method, value in ((name, 0.5), ("random", 0.1))
    ]
    rows += [Measurement("auprc", 0.7, 90, tags={"method": "constant", "floor": "yes"})]
    rows += [Measurement("false_alarms", 0.2, 30, slice=f"term={name}")]
    rows += [
        Measurement("difference.auprc", 0.4, 90, 0.2, 0.5,
                    tags={"method": name, "reference": "random", "p": 0.01, "p.holm": 0.02})
    ]  # fmt: skip
    about = {
        "kind": "explain", "command": name, "data": {"name": name, "rows": 90, "counts": {}}, "model": name,
        "settings": {name: name}, "texts": 90, "erased": name, "asked": 900, "explains": {name: name},
        "passes": {name: 3}, "versions": {name: name},
    }  # fmt: skip
    text = {
        "id": name, "label": name, "predicted": "calm", "explained": name, "probability": 0.7, "words": [name, name],
        "scores": {name: [0.5, -0.2]}, "people": [True, False],
    }  # fmt: skip
    write_json(folder / "highlights.json", {"texts": [text]})
    return write_run(folder, about, rows, [Finding("attributions", "warn", name)], ["attributions.parquet"])


def attack(folder: Path, name: str) -> Path:
    shares = {
        "success.raw": 0.6,
        "success.valid": 0.2,
        "accuracy": 0.9,
        "accuracy.attacked": 0.3,
        "check.readable": 0.4,
    }
    rows = [
        Measurement(metric, value, 90, value - 0.1, value + 0.1, where, {"attack": name})
        for metric, value in {**shares, "queries": 80.0, "edit_rate": 0.1}.items()
        for where in ("all", f"{name}={name}", "part=test")
    ]
    rows += [
        Measurement("difference.success.valid", 0.2, 90, 0.1, 0.3, tags={"attack": name, "parts": "test - independent"})
    ]
    about = {
        "kind": "attack", "command": name, "data": {"name": name, "rows": 90, "counts": {}}, "model": name,
        "settings": {name: name}, "texts": 90, "unchecked": ["antonyms"], "what": {name: name}, "keeps_texts": True,
        "versions": {name: name},
    }  # fmt: skip
    example = {
        "attack": name, "id": name, "label": name, "original": f"{name} rain", "changed": f"{name} snow",
        "predicted": name, "valid": True, "objections": [],
    }  # fmt: skip
    write_json(folder / "examples.json", {"examples": [example, example | {"valid": False, "objections": [name]}]})
    return write_run(folder, about, rows, [], ["attacks.csv", "suite.csv"])


def invariance(folder: Path, name: str) -> Path:
    gold = np.tile([0, 1], 45)
    after = np.where(np.arange(90) % 3 == 0, 1, gold)
    pairs = AnsweredPairs(
        gold, np.eye(2)[gold], np.eye(2)[after], (name, "other"), {"identity": np.zeros(90), name: gold / 10},
        np.ones(90, bool), [(np.eye(2)[gold], np.eye(2)[after])],
    )  # fmt: skip
    tags = {"transformation": name}
    rows = pairs.measurements(tags, draws=20)
    rows += [Measurement(metric, 0.5, 90, tags=tags) for metric in ("unchanged", "empty", "length_ratio", "longer")]
    rows += [Measurement("f1.macro", 0.7, 90, 0.6, 0.8, tags={**tags, "side": side}) for side in SIDES]
    rows += [Measurement("fall.f1.macro", 0.1, 90, 0.0, 0.2, tags=tags)]
    rows += [Measurement("held_out.f1.macro", 0.7, 90, tags={"classifier": "original"})]
    data = {"name": name, "rows": 90, "counts": {name: 45, "other": 45}, "label_names": [name, "other"]}
    about = {
        "kind": "invariance", "command": name, "data": data, "transformed": {name: data}, "texts": False,
        "classifiers": {"original": {"model": name}}, "settings": {"trial": "transformation", name: name},
        "versions": {name: name},
    }  # fmt: skip
    findings = findings_of(name, outcome(pairs, rows), rows, single=True)
    write_run(folder, about, rows, findings, ["predictions/"])
    with (folder / "flips.csv").open("w", encoding="utf-8", errors="replace", newline="") as file:
        csv.writer(file).writerows([("transformation", "id", "gold"), (name, name, name)])
    return folder


def bias(folder: Path, name: str) -> Path:
    rows = []
    for split, value in ((name, 0.7), ("hard", 0.65)):
        tags = {"grouping": name, "split": split, "part": "test"}
        against: dict[str, Any] = {**tags, "background": "all", "positives": 9, "negatives": 9}
        rows += [Measurement(metric, value, 18, 0.6, 0.8, f"{name}={name}", against) for metric in NAMES]
        rows += [Measurement(metric, 0.7, 18, tags={**against, "groups": "1 of 1"}) for metric in MEANS]
        rows += [Measurement("bias.subgroup_auc", None, 0, slice=f"{name}=other", tags={**against, "undefined": name})]
        extremes = {**tags, "lowest": name, "highest": name, "by_chance": 0.1}
        rows += [Measurement("largest_difference.accuracy", 0.2, 18, tags=extremes)]
        rows += [Measurement(change, 0.1, 18, slice=f"swap={name}", tags=tags) for change in CHANGES]
    about = {
        "kind": "bias", "command": name, "model": name, "data": {"name": name, "rows": 90, "counts": {name: 90}},
        "settings": {"positive": [name], name: name}, "versions": {name: name},
    }  # fmt: skip
    return write_run(folder, about, rows, [Finding(f"bias[{name}]", "warn", name)], ["predictions/"])


def cost(folder: Path, name: str) -> Path:
    rows = []
    for model, value, seconds in ((name, 0.8, 0.2), ("plain", 0.7, 0.1)):
        tags = {"model": model}
        rows += [Measurement(METRIC, value, 90, value - 0.1, value + 0.1, tags={**tags, "view": view})
                 for view in ("ordinary", "hard")]  # fmt: skip
        rows += [Measurement("pass_rate", value, 90, value - 0.1, value + 0.1, tags={**tags, "view": "suite"})]
        timed = ("latency.p50", "latency.p95", "latency.p99", "seconds.training", "processor_seconds.training",
                 "speed.training", "speed.inference", "memory.training", "batch.training")  # fmt: skip
        rows += [Measurement(metric, seconds, 3, seconds / 2, seconds * 2, tags=tags) for metric in timed]
        rows += [Measurement("energy_estimate.training", None, 0, 1.0, 9.0, tags=tags)]
        rows += [Measurement("energy.inference", 3.0, 1, tags={**tags, "source": name, "idle": 1.0})]
    rows += [number(f"difference.{METRIC}", -0.1, model="plain", view="ordinary", than=name)]
    about = {
        "kind": "cost", "command": name, "data": {"name": name, "rows": 90, "counts": {name: 90}},
        "settings": {"trainings": 1, "metric": METRIC, name: name}, "versions": {name: name},
        "candidates": {model: {"base": name, "length": None, "batch": 8} for model in (name, "plain")},
    }  # fmt: skip
    return write_run(folder, about, rows, [Finding(f"dominated[{name}]", "warn", name)])


def score_table(folder: Path, name: str) -> Path:
    tags = {"leave_out": "target"}
    errors = {"xgboost": 0.05, "same-configuration-mean": 0.04, "global-mean": 0.1}
    rows = [
        Measurement("forecast.error", value, 9, slice=where, tags=tags | {"model": model})
        for model, value in errors.items()
        for where in ("all", f"target={name}")
    ]
    rows += [Measurement("forecast.coverage", 0.9, 9, tags=tags | {"model": model}) for model in errors]
    asked = {"model": "xgboost", "task": name}
    rows += [
        Measurement("forecast.score", 0.7, 9, 0.6, 0.8, f"target={name}", asked | {"configuration": f"{name}=5"}),
        Measurement("forecast.score", 0.6, 9, 0.5, 0.7, f"target={name}", asked | {"configuration": "blue=5"}),
        Measurement(
            "forecast.score", None, 9, slice="target=far", tags=asked | {"configuration": "blue=5", "reason": name}
        ),
    ]
    found = [Finding("forecast.model", "warn", f"{name} is off by 5.0 points."), Finding("forecast.best", "ok", name)]
    scores = {"rows": 90, "configurations": 10, "targets": [name, "blue"], "sources": [name, "blue"]}
    about = {"kind": "score-table", "command": name, "model": "xgboost", "settings": tags, "scores": scores}
    return write_run(folder, about | {"versions": {}}, rows, found)


def score(folder: Path, name: str) -> Path:
    metrics = ("accuracy", METRIC, "f1.dodrans", "f1.weighted", f"f1[{name}]", "ece.15", "brier", "log_loss")
    rows = [Measurement(metric, 0.7, 90, 0.6, 0.8) for metric in metrics] + [number(f"chance.{METRIC}", 0.5)]
    data = {"name": name, "rows": 90, "counts": {name: 90}, "label_names": [name]}
    about = {"kind": "score", "command": name, "data": data, "model": name, "hard": False, "settings": {}}
    return write_run(folder, about | {"versions": {}}, rows, [], ["predictions/"])


def _board(name: str, **tags: str) -> list[Measurement]:
    """Two models on two datasets, the first better on both."""
    rows = []
    for model, value in ((name, 0.8), ("plain", 0.7)):
        for data in (name, "blue"):
            rows += [number(METRIC, value, data=data, model=model, seed="mean", **tags)]
            rows += [number(f"f1[{label}]", value, data=data, model=model, **tags) for label in ("no", "yes")]
        rows += [number(f"average_rank.{METRIC}", 1.0 if model == name else 2.0, model=model, **tags)]
        rows += [number(METRIC, value, family="all", model=model, seed="mean", **tags)]
    for data in (name, "blue"):
        row = number(f"difference.{METRIC}", 0.1, data=data, model=name, than="plain", **tags)
        rows += [replace(row, tags={**row.tags, "p": 0.01, "p.holm": 0.01})]
        rows += [number(f"gain.relative.{METRIC}", 0.14, data=data, model=name, than="plain", **tags)]
    flip = {
        "ranked_by": METRIC,
        "than": "accuracy",
        "data": name,
        "pairs": f"{name} > plain",
        "certain": f"{name} > plain",
    }
    ends = {f"critical_difference.{METRIC}": 1.4, f"friedman_p.{METRIC}": 0.2}
    rows += [Measurement(metric, value, 2, tags=tags) for metric, value in ends.items()]
    return [*rows, Measurement("rank_flips", 1, 2, tags={**tags, **flip})]


def bench(folder: Path, name: str) -> Path:
    data = {
        "family": name, "unit": "post", "groups": None, "split": "folds", "splits": 3, "published": 100, "loaded": 90,
        "rows": 90, "together": 80, "label_names": ["no", "yes"],
    }  # fmt: skip
    about = {
        "kind": "bench", "command": name, "title": name, "models": {name: {}, "plain": {}},
        "settings": {"metric": METRIC, "reference": "plain"}, "datasets": {name: data, "blue": data},
        "costs": [{"model": name, "trainings": 3, "seconds": 2.0, "cpu_seconds": 2.0}], "versions": {},
    }  # fmt: skip
    rows = [row for view in ("ordinary", "elsewhere", "hard") for row in _board(name, view=view)]
    rows += [number(f"fall.{METRIC}", 0.2, view="hard", data=name, model=name)]
    return write_run(folder, about, rows, [Finding(f"size[{name}]", "warn", f"{name} has 90 rows.")], ["splits/"])


def leaderboard(folder: Path, name: str) -> Path:
    settings = {"metric": METRIC, "metrics": [METRIC], "reference": "plain"}
    about = {"kind": "leaderboard", "command": name, "settings": settings, "versions": {}}
    about |= {"data": {each: {"tested": 90} for each in (name, "blue")}, "models": {name: [0], "plain": [0]}}
    return write_run(folder, about, _board(name), [Finding(f"left out[{name}]", "fail", name)], ["hub/"])


FOLDERS: dict[str, Callable[[Path, str], Path]] = {
    "stress": stress, "study": study, "validation": validation, "transfer": transfer, "learning": learning,
    "price": price, "authors": authors, "item-effect": item_effect, "check": checked, "audit": audit,
    "pipeline-audit": pipeline_audit, "forecast": forecast, "explain": explain, "attack": attack,
    "invariance": invariance, "score-table": score_table, "score": score, "bench": bench, "leaderboard": leaderboard,
    "pretraining": pretraining, "cost": cost, "bias": bias,
}  # fmt: skip
