"""The main job from data to report, and what it will cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import numpy as np

from unseen.engines import Inline, Local
from unseen.errors import InfeasibleError, InputError, MismatchError
from unseen.evaluation import metric
from unseen.evaluation.gates import Gate
from unseen.functional import load_suite
from unseen.label_maps import guessed_map
from unseen.naming import ObjectName
from unseen.progress import track
from unseen.roles import Engine
from unseen.runs.cost import FASTER, Cost, label_noise_seconds, scoring_seconds, speed
from unseen.runs.folder import RunFolder
from unseen.runs.frame import Output, Result, carry_through
from unseen.runs.graph import Graph, carry_out, timings
from unseen.runs.measuring import metrics_of
from unseen.runs.provenance import described_data
from unseen.runs.settings import BASELINE, Settings, settled
from unseen.runs.source import load_source
from unseen.splits.quotas import rows_asked
from unseen.store.predictions import ALL_OTHERS
from unseen.types import Dataset, some

PASSES = 3
"""How often a test part is scored: alone, in the mean over trainings, and in the fall."""
SETTINGS = {each.name for each in fields(Settings)} - {"model", "params"}


@dataclass(frozen=True)
class StressPlan(Cost):
    """What a run will do, and about how long it takes; its trainings include those of spaces and the seen control."""

    rows: Mapping[str, int]
    """Rows to be split, and rows set aside."""
    seen: int
    """Trainings of the seen control."""


def stress(
    source: Any,
    *,
    model: Any = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    command: str | None = None,
    typed: str | None = None,
    workers: int | None = 1,
    announce: Callable[[StressPlan], None] | None = None,
    gates: Sequence[Gate | str] = (),
    replace: bool = False,
    **given: Any,
) -> Result:
    """Measure how far `model` falls on the regions of its own latent space it was not trained on, and say why.

    `source` is what `unseen.load` takes, or a Dataset. `model` is a recipe, a transformer's name or folder,
    `module:factory`, or an object: a Recipe, or an estimator with `fit(texts, labels)` and `predict_proba`, such as
    scikit-learn's; `params` are the recipe's. Whatever else is given is a setting of the run (see
    `unseen.runs.Settings`) or a parameter of `unseen.load`. Interrupted and called again, it goes on where it stopped.
    More than one of `workers` train side by side, one thread each; None is one a core for light models and one in all
    for transformers, which use all threads. `command` and `typed` are what was typed: all of it, and the data with how
    to read it. `announce` is called with the plan before the long work begins. A folder that holds another run is
    refused, or with `replace` given over to this one.
    """
    graph = _graph(source, model, budget, params, given)
    engine = _engine(graph, workers)

    def work(folder: RunFolder | None) -> Output:
        assert folder is not None
        if announce is not None:
            announce(plan_of(graph, folder, engine))
        possible, impossible = _possible(graph, engine, folder)
        carry_out(possible.long, engine, folder.results, possible.shared, "trainings")
        carry_out(possible.short, engine, folder.results, possible.shared, "measuring")
        rows, findings = possible.publish(folder)
        return Output(
            rows, findings,
            {
                "splits": dict(possible.settings.families), "impossible": impossible,
                "timings": timings(possible.long + possible.short, folder.results),
            },
            possible.source.data,
        )  # fmt: skip

    bounds = [_checked(Gate.parsed(gate) if isinstance(gate, str) else gate) for gate in gates]
    command = command or f"unseen.stress({graph.source.data.name!r}, model={graph.settings.model!r}, …)"
    about = {
        "typed": typed,
        "settings": graph.settings.described(),
        "data": described_data(graph.source.data),
        "model": graph.settings.model,
        "splits": dict(graph.settings.families),
    }
    return carry_through("stress", about, work, out=out, command=command, gates=bounds, replace=replace, cards=True)


def plan(
    source: Any,
    *,
    model: Any = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    workers: int | None = 1,
    **given: Any,
) -> StressPlan:
    """What `stress` with these arguments would do and cost; nothing is written."""
    graph = _graph(source, model, budget, params, given)
    return plan_of(graph, RunFolder(out), _engine(graph, workers))


def _checked(gate: Gate) -> Gate:
    """The gate; refuses a fall that no metric can be above, such as one in points."""
    name = gate.metric.removeprefix("fall.")
    if name != gate.metric and gate.bound in ("<=", "<"):
        chosen = metric(name)
        if gate.limit >= chosen.high - chosen.low:
            raise InputError(
                f"no fall of {name} can be above {gate.limit:g}", expected="a share: 0.2 is 20 points", got=str(gate),
                fix=f"--gate 'fall.{name}<=0.2' on the command line, gates=['fall.{name}<=0.2'] in Python",
            )  # fmt: skip
    return gate


def _engine(graph: Graph, workers: int | None) -> Inline | Local:
    alone = workers == 1 or (workers is None and graph.settings.space.model.is_transformer)
    return Inline() if alone else Local(workers)


def plan_of(graph: Graph, folder: RunFolder, engine: Inline | Local) -> StressPlan:
    """What a run will do, and how long it takes by what is tried now."""
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
    fast, seconds = speed(model, data) if open_ else None, None
    if fast is not None:
        tested, runs = len(data) - trained, len(graph.trained)
        names = metrics_of(data, settings.metric, [])
        measuring = label_noise_seconds(data, rest) + PASSES * runs * scoring_seconds(data, tested, names)
        seconds = ((texts + predicted / FASTER) / fast + measuring) / getattr(engine, "workers", 1)
    rows = {"split": rest, "independent": aside}
    return StressPlan(len(sizes), len(sizes) - len(open_), texts, fast, seconds, rows, len(seen))


def _graph(source: Any, model: Any, budget: str, params: Mapping[str, Any] | None, given: Mapping[str, Any]) -> Graph:
    chosen = {name: value for name, value in given.items() if name in SETTINGS}
    columns = {name: value for name, value in given.items() if name not in SETTINGS}
    settings = settled(ObjectName.of(model), budget, params=params, **chosen)
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
            fix=f"--map {said} on the command line, suite_map={guess!r} in Python",
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
