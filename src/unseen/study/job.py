"""The main job from data to report, and what it will cost."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from unseen import api
from unseen.errors import InputError, UnknownNameError
from unseen.reports.run import read_run
from unseen.reports.stress_page import write_stress_page
from unseen.reports.verdict import Verdict, hardest, verdict
from unseen.splits.partition import versions
from unseen.splits.quotas import rows_asked
from unseen.store import write_json
from unseen.study import measuring
from unseen.study.aside import limited, set_aside
from unseen.study.folder import RunFolder
from unseen.study.pipeline import REPRESENTATION, Pipeline, content_of
from unseen.study.settings import Settings, settled
from unseen.types import Dataset

SETTINGS = {each.name for each in fields(Settings)} - {"model", "params"}
FASTER = 3.0
"""How many times faster predicting is than training."""


@dataclass(frozen=True)
class Stress:
    """A finished run."""

    folder: Path
    report: Path
    verdict: Verdict
    fall: float | None
    """Of the main metric, from random splits to the hardest; positive is worse."""
    family: str | None
    """The hardest family of splits."""


@dataclass(frozen=True)
class Plan:
    """What a run will do, and about how long it takes."""

    rows: Mapping[str, int]
    """Rows to be split, and rows set aside."""
    trainings: int
    """All of them, the one that gives the vectors included."""
    done: int
    """Trainings that are done already."""
    texts: int
    """Texts that go through the model in training, epochs counted, at most."""
    texts_per_second: float | None
    """Measured now; None for recipes that take seconds."""
    seconds: float | None
    """At most: training often stops early."""


def stress(
    source: Any,
    *,
    model: str = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    command: str | None = None,
    announce: Callable[[Plan], None] | None = None,
    fail_above: float | None = None,
    **given: Any,
) -> Stress:
    """Measure how far `model` falls on the regions of its own latent space it was not trained on, and say why.

    `source` is what `unseen.load` takes, or a Dataset. `model` is a recipe, a transformer's name or folder;
    `params` are the recipe's. Whatever else is given is a setting of the run (see `unseen.study.Settings`) or a
    parameter of `unseen.load`. Interrupted and called again, it goes on where it stopped. `announce` is called
    with the plan before the long work begins.
    """
    pipeline, source_name = _pipeline(source, model, out, budget, params, given)
    folder = pipeline.folder
    with folder.locked():
        about = _about(pipeline, source_name, command, fail_above)
        write_json(folder / "run.json", about)
        if announce is not None:
            announce(plan_of(pipeline))
        steps = _run(pipeline)
        about |= {"timings": folder.timings(steps), "finished": datetime.now(UTC).isoformat(timespec="seconds")}
        write_json(folder / "run.json", about)
        report = write_stress_page(folder.path)
    run = read_run(folder.path)
    worst = hardest(run)
    return Stress(
        folder.path,
        report,
        verdict(run),
        None if worst is None else worst.drop,
        None if worst is None else worst.family,
    )


def plan(
    source: Any,
    *,
    model: str = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    **given: Any,
) -> Plan:
    """What `stress` with these arguments would do and cost; nothing is written."""
    return plan_of(_pipeline(source, model, out, budget, params, given)[0])


def plan_of(pipeline: Pipeline) -> Plan:
    """What a run will do, its speed measured on a few batches."""
    settings, aside = pipeline.settings, int(pipeline.aside.sum())
    rest = len(pipeline.data) - aside
    trained = rest - rows_asked(settings.test, rest, "test")
    sizes = {} if pipeline.encodes_untrained else {REPRESENTATION: rest}
    sizes |= {f"{name}-seed{seed}": round(trained * (1 - settings.dev)) for name, _, seed in settings.runs}
    open_ = {step: size for step, size in sizes.items() if not pipeline.folder.has(step)}
    recipe = settings.recipe()
    epochs = int(getattr(getattr(recipe, "settings", None), "epochs", 1))
    texts = sum(open_.values()) * epochs
    predicted = len(open_) * (len(pipeline.data) - trained) + len(pipeline.data)
    speed = recipe.speed(pipeline.data) if open_ and hasattr(recipe, "speed") else None
    seconds = None if speed is None else (texts + predicted / FASTER) / speed
    return Plan({"split": rest, "independent": aside}, len(sizes), len(sizes) - len(open_), texts, speed, seconds)


def _pipeline(
    source: Any, model: str, out: str | Path, budget: str, params: Mapping[str, Any] | None, given: Mapping[str, Any]
) -> tuple[Pipeline, str]:
    chosen = {name: value for name, value in given.items() if name in SETTINGS}
    columns = {name: value for name, value in given.items() if name not in SETTINGS}
    settings = settled(model, budget, params=params, **chosen)
    if isinstance(source, Dataset):
        if columns:
            raise InputError(f"{', '.join(columns)} has no effect on a Dataset", fix="leave it out")
        data = source
    else:
        named = [*settings.slices, *filter(None, (settings.groups, settings.agreement))]
        if named and (not isinstance(source, str) or Path(source).exists()):
            columns["attributes"] = list(dict.fromkeys([*(columns.get("attributes") or ()), *named]))
        data = api.load(source, **columns)
    settings.recipe()  # a mistake should be seen before anything is done
    for name in filter(None, (*settings.slices, settings.groups, settings.agreement)):
        data.attribute(name)
    if settings.neutral is not None and settings.neutral not in data.label_names:
        raise UnknownNameError.of("label", settings.neutral, data.label_names)
    data = limited(data, settings.limit, settings.seed)
    data, aside = set_aside(data, settings.independent, settings.groups, settings.seed)
    return Pipeline(data, aside, settings, RunFolder(out)), data.name


def _run(pipeline: Pipeline) -> list[str]:
    """All steps, in order; returns their names."""
    folder, settings = pipeline.folder, pipeline.settings
    trained = pipeline.train_all()
    vectors = pipeline.encode()
    splits = {name: pipeline.split(name, family) for name, family in settings.families}
    cut: dict[str, Any] = {"vectors": vectors, "splits": splits, "version": versions()["unseen"], "seed": settings.seed}
    with_attributes = cut | {"attributes": content_of(pipeline.data, pipeline.data.attributes)}
    asked = {name: getattr(settings, name) for name in ("metric", "groups", "slices", "agreement")}
    steps: list[tuple[str, Any, list[str], Callable[[Pipeline], None]]] = [
        ("cross-validation", pipeline.basis | {"seed": settings.seed}, ["predictions/cross-validated.parquet"],
         measuring.out_of_fold),
        ("scores", with_attributes | asked | {"trained": trained}, ["measurements.csv", "findings.csv"],
         measuring.write_scores),
        ("properties", with_attributes | {"neutral": settings.neutral}, ["properties.csv"], measuring.write_properties),
        ("map", cut, ["map.parquet"], measuring.write_map),
        ("clusters", cut | {"texts": settings.texts}, ["clusters.json"], measuring.write_clusters),
    ]  # fmt: skip
    for name, key, files, make in steps:
        folder.step(name, key, files, lambda make=make: make(pipeline))  # type: ignore[misc]
    runs = [f"{name}-seed{seed}" for name, _, seed in settings.runs]
    return [REPRESENTATION, "vectors", *(f"split-{name}" for name in splits), *runs, *(step[0] for step in steps)]


def _about(pipeline: Pipeline, name: str, command: str | None, fail_above: float | None) -> dict[str, Any]:
    data, settings = pipeline.data, pipeline.settings
    held: dict[str, Any] = {
        "name": data.name,
        "rows": len(data),
        "label_names": data.label_names,
        "counts": data.label_counts,
    }
    return {
        "command": command or f"unseen.stress({name!r}, model={settings.model!r}, …)",
        "settings": settings.described() | {"fail_above": fail_above},
        "data": held | {"fingerprint": data.fingerprint},
        "model": settings.model,
        "splits": dict(settings.families),
        "versions": versions() | _versions() | {"python": platform.python_version()},
        "host": {"system": platform.system(), "machine": platform.machine()},
        "timings": [],
        "finished": None,
    }


def _versions() -> dict[str, str]:
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in ("torch", "transformers"):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found
