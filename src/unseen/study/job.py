"""The main job from data to report, and what it will cost."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np

from unseen.engines import Inline, Local
from unseen.errors import InfeasibleError, MismatchError
from unseen.functional import load_suite
from unseen.label_maps import guessed_map
from unseen.naming import Given
from unseen.progress import track
from unseen.reports.actions import write_actions
from unseen.reports.card import write_cards
from unseen.reports.case import hardest
from unseen.reports.run import read_run
from unseen.reports.stress_page import write_stress_page
from unseen.reports.verdict import Verdict, verdict
from unseen.roles import Engine
from unseen.splits.quotas import rows_asked
from unseen.store.predictions import ALL_OTHERS
from unseen.study.about import used_versions
from unseen.study.folder import RunFolder
from unseen.study.graph import Graph, carry_out, timings
from unseen.study.settings import BASELINE, Settings, settled
from unseen.study.source import load_source
from unseen.study.spaces import FASTER
from unseen.types import Dataset, some

SETTINGS = {each.name for each in fields(Settings)} - {"model", "params"}


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
    """All of them, those that give vectors and those of the seen control included."""
    seen: int
    """Trainings of the seen control."""
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
    model: Any = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    command: str | None = None,
    workers: int | None = 1,
    announce: Callable[[Plan], None] | None = None,
    fail_above: float | None = None,
    replace: bool = False,
    **given: Any,
) -> Stress:
    """Measure how far `model` falls on the regions of its own latent space it was not trained on, and say why.

    `source` is what `unseen.load` takes, or a Dataset. `model` is a recipe, a transformer's name or folder,
    `module:factory`, or an object: a Recipe, or an estimator with `fit(texts, labels)` and `predict_proba`, such as
    scikit-learn's; `params` are the recipe's. Whatever else is given is a setting of the run (see
    `unseen.study.Settings`) or a parameter of `unseen.load`. Interrupted and called again, it goes on where it stopped.
    More than one of
    `workers` train side by side, one thread each; None is one a core for light models and one in all for transformers,
    which use all threads. `announce` is called with the plan before the long work begins. A folder that holds another
    run is refused, or with `replace` given over to this one.
    """
    graph, folder = _graph(source, model, budget, params, given), RunFolder(out)
    alone = workers == 1 or (workers is None and graph.settings.space.model.is_transformer)
    engine = Inline() if alone else Local(workers)
    with folder.locked():
        about = _about(graph, command, fail_above)
        folder.begin(about, replace)
        if announce is not None:
            announce(plan_of(graph, folder))
        graph, impossible = _possible(graph, engine, folder)
        carry_out(graph.long, engine, folder.results, graph.shared, "trainings")
        carry_out(graph.short, engine, folder.results, graph.shared, "measuring")
        graph.publish(folder)
        about |= {"splits": dict(graph.settings.families), "impossible": impossible}
        folder.finish(about | {"timings": timings(graph.long + graph.short, folder.results)})
        write_cards(folder.path)
        run = read_run(folder.path)
        write_actions(run)
        report = write_stress_page(run)
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
    model: Any = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    **given: Any,
) -> Plan:
    """What `stress` with these arguments would do and cost; nothing is written."""
    return plan_of(_graph(source, model, budget, params, given), RunFolder(out))


def plan_of(graph: Graph, folder: RunFolder) -> Plan:
    """What a run will do, its speed measured on a few batches."""
    settings, data, aside = graph.settings, graph.source.data, int(graph.source.aside.sum())
    rest = len(data) - aside
    trained = rest - rows_asked(settings.test, rest, "test")
    model = settings.space.model
    seen = [step.key for each in graph.trained for step in each.seen]
    on_splits = [*(each.training.key for each in graph.trained), *seen]
    sizes = dict.fromkeys(on_splits, round(trained * (1 - settings.dev)))
    sizes |= {step.key: rest for step in graph.long if step.work.endswith(":learn_space")}
    open_ = {key: size for key, size in sizes.items() if not folder.results.has(key)}
    texts = sum(open_.values()) * model.epochs
    predicted = len(open_) * (len(data) - trained) + len(data)
    speed = model.recipe().speed(data) if open_ and model.is_transformer else None
    seconds = None if speed is None else (texts + predicted / FASTER) / speed
    rows = {"split": rest, "independent": aside}
    return Plan(rows, len(sizes), len(seen), len(sizes) - len(open_), texts, speed, seconds)


def _graph(source: Any, model: Any, budget: str, params: Mapping[str, Any] | None, given: Mapping[str, Any]) -> Graph:
    chosen = {name: value for name, value in given.items() if name in SETTINGS}
    columns = {name: value for name, value in given.items() if name not in SETTINGS}
    settings = settled(Given.of(model), budget, params=params, **chosen)
    settings.space.model.check()  # a mistake should be seen before anything is done
    loaded = load_source(source, columns, settings, settings.seed)
    if loaded.given and given.get("test") is None:  # random splits as large as the first split that was given
        parts = np.array(next(iter(loaded.given.values())))[~loaded.aside]
        settings = changed(settings, test=float((parts == "test").mean()))
    return Graph(loaded, settings, _suite(settings, loaded.data.label_names))


def _suite(settings: Settings, label_names: Sequence[str]) -> Dataset | None:
    """The suite of a run, whose labels must be those of the data, under the names that the run gives them."""
    if settings.suite is None:
        return None
    suite = load_suite(settings.suite)
    rest = settings.suite_map.get(ALL_OTHERS)
    ours = list(dict.fromkeys(settings.suite_map.get(name, rest or name) for name in label_names))
    if set(ours) != set(suite.label_names):
        guess = guessed_map(label_names, suite.label_names) or {"of the data": "of the suite"}
        said = ",".join(f"{theirs}={own}" for theirs, own in guess.items())
        raise MismatchError(
            f"the labels of the data are not those of the suite {suite.name}",
            expected=some(suite.label_names),
            got=some(ours),
            fix=f"--suite-map {said} on the command line, suite_map={guess!r} in Python",
        )
    return suite


def _possible(graph: Graph, engine: Engine, folder: RunFolder) -> tuple[Graph, dict[str, str]]:
    """The graph without the families of splits that this data does not allow, and why it does not."""
    names = {step.key: name for name, step in graph.cuts.items()}
    impossible: dict[str, str] = {}
    for outcome in track(engine.run(graph.first, folder.results, graph.shared), "splits", len(graph.first)):
        family = dict(graph.settings.families).get(names.get(outcome.step.key, ""))
        if isinstance(outcome.error, InfeasibleError) and family not in (None, BASELINE):
            impossible[str(family)] = str(outcome.error)
        elif outcome.error is not None:
            raise outcome.error
    left = tuple(name for name in graph.settings.splits if name not in impossible)
    if impossible and left == (BASELINE,) and not graph.settings.given_splits:
        raise InfeasibleError("no hard split of this data exists", problems=list(impossible.values()))
    return changed(graph, settings=changed(graph.settings, splits=left)), impossible


def _about(graph: Graph, command: str | None, fail_above: float | None) -> dict[str, Any]:
    data, settings = graph.source.data, graph.settings
    held: dict[str, Any] = {
        "name": data.name,
        "rows": len(data),
        "label_names": data.label_names,
        "counts": data.label_counts,
    }
    return {
        "command": command or f"unseen.stress({data.name!r}, model={settings.model!r}, …)",
        "settings": settings.described() | {"fail_above": fail_above},
        "data": held | {"fingerprint": data.fingerprint},
        "model": settings.model,
        "splits": dict(settings.families),
        "versions": used_versions(),
        "host": {"system": platform.system(), "machine": platform.machine()},
        "timings": [],
    }
