"""A finished run folder in MLflow or Weights & Biases: settings, scores and files, under names the service takes.

Where it goes is up to the service's own setup (`MLFLOW_TRACKING_URI`, `WANDB_MODE`, `wandb login`…); nothing here
opens a connection of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from unseen.errors import InputError, MissingPackageError, UnknownNameError, UnseenError
from unseen.evaluation.intervals import describes_number
from unseen.reports.comparison import of_whole_run
from unseen.reports.record import RunRecord, read_record
from unseen.store.run_folder import way_out
from unseen.types import Measurement

TITLES = {"mlflow": "MLflow", "wandb": "Weights & Biases"}
BEGINS = {"mlflow": "start_run", "wandb": "init"}
"""What begins a run; a folder of logs that is called like the package, and lies here, does not have it."""
FILES = (
    "report.html", "card.md", "measurements.csv", "splits/*.csv", "splits/*.json", "predictions/**/*.parquet",
)  # fmt: skip
"""Predictions are the table of texts: an id and the probability of each label."""
WITH_TEXTS = ("report.html",)
"""Files that hold texts when the run was asked for some."""
SETUP = ("data", "dataset", "space", "model")
MLFLOW_NAME, MLFLOW_LENGTH, MLFLOW_VALUE, MLFLOW_BATCH = re.compile(r"[^\w.\-/]+", re.ASCII), 250, 5000, 100
WANDB_NAME, WANDB_LENGTH, WANDB_TAG = re.compile(r"[^A-Za-z0-9_]+"), 250, 64
WANDB_ARTIFACT = re.compile(r"[^\w.\-]+", re.ASCII)


@dataclass(frozen=True)
class TrackedRun:
    """What a run has to say to a tracker, under its own names."""

    name: str
    params: Mapping[str, str]
    metrics: Mapping[str, float]
    """Numbers of the whole run, METRIC/FAMILY/PART and what else tells them apart, with `.low` and `.high`."""
    tags: Mapping[str, str]
    files: Mapping[str, Path]
    """Place in the run folder -> file."""


@dataclass(frozen=True)
class Tracked:
    """Where a run was logged."""

    to: str
    run: str
    """Id that the service gave."""
    address: str
    """Where to look: a web address or the store; empty when the service does not say."""
    metrics: int
    files: int


def track(
    run: str | Path,
    to: str = "mlflow",
    *,
    project: str | None = None,
    texts: bool = False,
    **options: Any,
) -> Tracked:
    """Log the run in folder `run` to a service and say where it is.

    `project` is an experiment of MLflow or a project of W&B; without it, the one the service falls back to.
    `options` go to `mlflow.start_run` or `wandb.init` as they are. A report with texts in it is left out
    unless `texts` is true. Logged twice, it is there twice.
    """
    if to not in TITLES:
        raise UnknownNameError.of("tracker", to, TITLES)
    record = read_record(run)
    if not record.about.get("finished"):
        raise InputError(f"the run in {record.place} is not finished", fix=way_out(record.place))
    tracked = record_of(record, texts)
    service = _service(to)
    send = _to_mlflow if to == "mlflow" else _to_wandb
    try:
        return send(service, tracked, project, options)
    except UnseenError:
        raise
    except Exception as cause:  # each version of each service has exceptions of its own
        raise UnseenError(
            f"{TITLES[to]} did not take the run: {type(cause).__name__}: {cause}", fix=f"look at the setup of {to}"
        ) from cause


def _service(to: str) -> Any:
    missing = MissingPackageError.of(to, f"logging to {TITLES[to]}", to)
    try:
        service = import_module(to)
    except ImportError as cause:
        raise missing from cause
    if not hasattr(service, BEGINS[to]):
        raise missing
    return service


def record_of(run: RunRecord, texts: bool = False) -> TrackedRun:
    """What is to be logged of a run; files that are not there are left out, and those with texts unless asked for."""
    hidden = () if texts or run.settings.get("texts") != "True" else WITH_TEXTS
    paths = [path for pattern in FILES if pattern not in hidden for path in sorted(run.place.glob(pattern))]
    tags = {f"version.{name}": version for name, version in run.versions.items()}
    tags |= {f"fingerprint.{name}": str(data.get("fingerprint", "")) for name, data in run.data.items()}
    tags |= {"command": str(run.about.get("command", ""))}
    return TrackedRun(
        run.place.resolve().name,
        run.settings,
        _metrics(run.measurements),
        {name: value for name, value in tags.items() if value},
        {path.relative_to(run.place).as_posix(): path for path in paths},
    )


def allowed(names: Mapping[str, Any], wrong: re.Pattern[str], length: int) -> dict[str, Any]:
    """The same values under names without what is `wrong`; names that become equal are numbered.

    >>> allowed({"f1[a b]": 1, "f1[a_b]": 2, "2x": 3}, WANDB_NAME, 250)
    {'f1_a_b_': 1, 'f1_a_b__2': 2, '_2x': 3}
    """
    clean_names: dict[str, Any] = {}
    for name, value in names.items():
        clean = wrong.sub("_", name)[:length] or "_"
        clean = f"_{clean}"[:length] if clean[0] in "0123456789/." else clean
        candidate, number = clean, 2
        while candidate in clean_names:
            candidate, number = f"{clean[: length - 5]}_{number}", number + 1
        clean_names[candidate] = value
    return clean_names


def _metrics(rows: Sequence[Measurement]) -> dict[str, float]:
    """Means, falls and what was measured once, named after metric, family and part, and what else tells them apart.

    Of single splits and slices only where a run has nothing else.
    """
    whole = of_whole_run(rows)
    of_all_texts = [row for row in whole if row.slice == "all"]
    chosen = [row for row in of_all_texts if row.tags.get("seed") or "split" not in row.tags] or of_all_texts or whole
    several = [tag for tag in SETUP if len({row.tags[tag] for row in chosen if tag in row.tags}) > 1]
    named: dict[str, list[Measurement]] = {}
    for row in chosen:
        sliced = [] if row.slice == "all" else [row.slice]
        parts = [row.metric, *sliced, *(str(row.tags[tag]) for tag in ("family", "part", *several) if tag in row.tags)]
        named.setdefault("/".join(part.replace("/", "_") for part in parts), []).append(row)
    metrics: dict[str, float] = {}
    for name, alike in named.items():
        tags = dict.fromkeys(tag for row in alike for tag in row.tags if not describes_number(tag))
        telling = [tag for tag in tags if len({str(row.tags.get(tag, "")) for row in alike}) > 1]
        for row in alike:
            values = [str(row.tags[tag]).replace("/", "_") for tag in telling if tag in row.tags]
            for end, value in (("", row.value), (".low", row.low), (".high", row.high)):
                if value is not None and math.isfinite(value):
                    metrics["/".join([name, *values]) + end] = value
    return metrics


def _to_mlflow(mlflow: Any, tracked: TrackedRun, project: str | None, options: Mapping[str, Any]) -> Tracked:
    given: dict[str, Any] = {"run_name": tracked.name, "nested": mlflow.active_run() is not None}
    if project is not None:
        known = mlflow.get_experiment_by_name(project)
        given["experiment_id"] = mlflow.create_experiment(project) if known is None else known.experiment_id
    with mlflow.start_run(**given | dict(options)) as run:
        for log, content in ((mlflow.log_params, tracked.params), (mlflow.set_tags, tracked.tags)):
            short = {name: value[:MLFLOW_VALUE] for name, value in content.items()}
            for some in _batches(allowed(short, MLFLOW_NAME, MLFLOW_LENGTH)):
                log(some)
        for some in _batches(allowed(tracked.metrics, MLFLOW_NAME, MLFLOW_LENGTH)):
            mlflow.log_metrics(some)
        for place, path in tracked.files.items():
            folder = Path(place).parent.as_posix()
            mlflow.log_artifact(str(path), artifact_path=None if folder == "." else folder)
    address = str(mlflow.get_tracking_uri())
    return Tracked("mlflow", str(run.info.run_id), address, len(tracked.metrics), len(tracked.files))


def _to_wandb(wandb: Any, tracked: TrackedRun, project: str | None, options: Mapping[str, Any]) -> Tracked:
    fingerprints = [value for name, value in tracked.tags.items() if name.startswith("fingerprint.")]
    given: dict[str, Any] = {
        "name": tracked.name,
        "job_type": "unseen",
        "config": allowed({**tracked.params, **tracked.tags}, WANDB_NAME, WANDB_LENGTH),
        "tags": [f"data {fingerprint}"[:WANDB_TAG] for fingerprint in dict.fromkeys(fingerprints)],
    } | ({} if project is None else {"project": project})
    with wandb.init(**given | dict(options)) as run:
        run.log(allowed(tracked.metrics, WANDB_NAME, WANDB_LENGTH))
        artifact = wandb.Artifact(WANDB_ARTIFACT.sub("_", f"unseen-{tracked.name}")[:128], type="unseen-run")
        for place, path in tracked.files.items():
            artifact.add_file(str(path), name=place)
        run.log_artifact(artifact)
    return Tracked("wandb", str(run.id), str(run.url or ""), len(tracked.metrics), len(tracked.files))


def _batches(content: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """At most as many at a time as one request may hold."""
    items = list(content.items())
    for start in range(0, len(items), MLFLOW_BATCH):
        yield dict(items[start : start + MLFLOW_BATCH])
