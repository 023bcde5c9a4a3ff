"""The main job, top to bottom: settings, the graph of its steps, what they will cost, the work, what is published.

Fine-tune on everything not set aside, cut the space, train on every split and again for its seen control, measure. What
decides each step and what is done in it is in `training_steps.py` and `measurement_steps.py`.
"""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from dataclasses import replace as changed
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from unseen.audits import FOLDS
from unseen.audits.reviewed_labels import reviews_of
from unseen.costs.meter import summed_costs
from unseen.data.catalogue import cards
from unseen.data.tables import load_texts
from unseen.duplicates import same_forms
from unseen.engines import Inline, Local, Step, in_order
from unseen.engines.steps import carry_out, folders_of, timings
from unseen.errors import InfeasibleError, InputError, UnknownNameError
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.metrics import METRICS, find_metric
from unseen.evaluation.metrics import metric as metric_of
from unseen.functional import load_suite
from unseen.label_maps import refuse_other_labels
from unseen.progress import stages, track
from unseen.reports.actions import SUSPECTS
from unseen.reports.explain_page import HIGHLIGHTS
from unseen.reports.points import LEAKS, TEXTS
from unseen.roles import Engine
from unseen.runs.estimate import FASTER, Estimate, besides_seconds, label_noise_seconds, scoring_seconds, speed
from unseen.runs.explain import RATIONALES
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.measurement_steps import (
    CLUSTERS,
    DEPLOYMENT,
    EXAMPLES,
    FINDINGS,
    MAP,
    MEASUREMENTS,
    PROPERTIES,
    SUITE,
    Scoring,
    behaviour_step,
    bias_step,
    clusters_step,
    explain_step,
    findings_step,
    forecast_step,
    label_noise_step,
    leaks_step,
    map_step,
    metrics_of,
    properties_step,
    scores_step,
    stability_step,
)
from unseen.runs.source import LOADING, DataSettings, Source, load_source, refuse_unknown
from unseen.runs.spaces import MODEL, Model, Space
from unseen.runs.training_steps import (
    BASELINE,
    PREDICTIONS,
    SPLIT,
    TRANSFORMER_FOLDS,
    VECTORS,
    Cut,
    PlannedTraining,
    check_splitter,
    given_split_step,
    kept_whole,
    reads_vectors,
    seen_steps,
    space_cut,
    space_step,
    split_step,
    train_step,
)
from unseen.splits import SPLITTERS
from unseen.splits.quotas import OR, UNMIXED, quotas, rows_asked
from unseen.store import (
    read_findings,
    read_measurements,
    read_split,
    read_suspects,
    write_measurements,
    write_split,
    write_suspects,
)
from unseen.store.files import atomic, file_name
from unseen.store.reviews import REVIEWS, add_reviews
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, as_names

SEEDS = (42, 55, 83)
BUDGETS: Mapping[str, Mapping[str, Any]] = {
    "small": {"params": {}},
    "thesis": {"seeds": SEEDS, "crossed": True, "seen_folds": FOLDS, "space_seeds": 2, "params": {"preset": "thesis"}},
}
"""`small`: three trainings per split of light models, one of transformers. `thesis`: three seeds on every split, with
the published settings."""
TRANSFORMER: Mapping[str, Any] = {"seeds": SEEDS[:1], "seen_folds": TRANSFORMER_FOLDS, "space_seeds": 1}
"""What a transformer, whose trainings take minutes, does less of unless told otherwise."""
MEASURED = ("findings", "label_noise", "suspect_labels", "leaked", "conflicting", "test_overlap", "chance", "pass_rate",
            "failures_explained", "bias", "subgroup_auc", "forecast", "sets", "comprehensiveness", "sufficiency", "tau",
            "sign", "token_f1", "iou_f1", "auprc", "depth")  # fmt: skip
"""First words of what is measured besides scores of metrics."""
SCORED = ("model", "split", "family", "part", "seed", "against", "grouping", "slice")
"""Tags of scores and falls, by which a gate may ask for some of them."""
PREFIXES = re.compile(r"^(fall\.)?((selection|novelty|corrected|seen|standard_error)\.)?")
PUBLISHED = (
    ("witness", PREDICTIONS, "predictions/cross-validated.parquet"),
    ("behaviour", PREDICTIONS, "predictions/suite.parquet"),
    ("forecast", PREDICTIONS, "predictions/deployment.parquet"),
    ("map", MAP, MAP),
    ("leaks", LEAKS, LEAKS),
    ("clusters", CLUSTERS, CLUSTERS),
    ("clusters", EXAMPLES, EXAMPLES),
)
"""Of the steps that measure: by what they tell, the file that people look for, and where."""
TOLD = ("scores", "findings", "stability", "leaks", "bias", "behaviour", "forecast", "explanations")
"""Steps whose measurements are those of the run, in their order there."""
ASKED = 400
"""Questions about a text that is explained, about: of a post of 23 words, by the methods that are used unasked."""
PASSES = 3
"""How often a test part is scored: alone, in the mean over trainings, and in the fall."""


# -- settings ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StressSettings(DataSettings):
    """The settings of one run; everything that decides a number is in here."""

    model: str
    params: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe."""
    representation: str = ""
    """full, bottleneck-D, pca-D, umap-D, pretrained, pretrained-pca-D, pretrained-umap-D; empty: the default."""
    splits: tuple[str, ...] = (BASELINE, "subset-sum", "closest", "novel")
    random_splits: int = 3
    test: float = 0.1
    dev: float = 0.1
    """Share of the training rows that serves as validation data."""
    seeds: tuple[int, ...] = SEEDS
    seen_folds: int = FOLDS
    """Folds of every hard test part that are scored again with the rest of it in training; 0: none."""
    space_seeds: int = 2
    """Further seeds of the latent space, to see whether its splits would be the same."""
    crossed: bool = False
    """Every seed on every random split; else each random split has a seed of its own where there are enough."""
    seed: int = 42
    """Of everything but the trainings on the splits."""
    clusters: tuple[int, ...] = ()
    """Numbers of clusters that splits of the latent space try; empty: each splitter's own."""
    metric: str = "f1.macro"
    texts: bool = False
    bias: str | None = None
    """Attribute that says which groups a text is about."""
    positive: tuple[str, ...] = ()
    """Labels that count as positive when groups are compared."""
    fewest: int = 20
    """Texts that a group needs to be compared."""
    suite: str | None = None
    """Test cases that the model trained on all rows is asked about: a file, or a known suite."""
    suite_map: Mapping[str, str] = field(default_factory=dict)
    """The model's labels in the suite's words, where they differ."""
    deployment: str | None = None
    """File of texts that the model will meet, for a forecast of its score there."""
    explain: int | None = None
    """Texts of each part whose explanations are judged, by a model trained once more."""

    def __post_init__(self) -> None:
        self.space.model.check()  # a mistake should be seen before anything is done
        object.__setattr__(self, "metric", metric_of(self.metric).id)
        checks = [
            (not self.seeds or len(set(self.seeds)) < len(self.seeds), "seeds must be there, each once"),
            (not 0 <= self.seen_folds <= FOLDS, f"seen_folds must be from 0 to {FOLDS}, not {self.seen_folds}"),
            (self.space_seeds < 0, f"space_seeds must be at least 0, not {self.space_seeds}"),
            (self.random_splits < 1, f"random_splits must be at least 1, not {self.random_splits}"),
            (len(set(self.families)) < len(self.splits) + len(self.split_files), "a split is named twice"),
            (not 0 < self.test < 1, f"test must be a share between 0 and 1, not {self.test}"),
            (not 0 < self.dev < 1, f"dev must be a share between 0 and 1, not {self.dev}"),
            (
                not isinstance(self.independent, str) and not 0 <= self.independent < 1,
                f"independent must be a share below 1, 0 for none, or a file, not {self.independent}",
            ),
            (self.limit is not None and self.limit < 50, f"limit must be at least 50, not {self.limit}"),
            (
                bool(self.positive) != (self.bias is not None),
                "bias needs both: the attribute with the groups, and the labels that are positive",
            ),
            (self.explain is not None and self.explain < 1, f"explain must be at least 1 text, not {self.explain}"),
            (bool(self.suite_map) and self.suite is None, "suite_map has no effect without a suite"),
        ]
        problems = [message for is_wrong, message in checks if is_wrong]
        if problems:
            raise InputError("a run cannot be set up like this", problems=problems)
        for name in self.splits:
            check_splitter(name, self.groups)
        if BASELINE not in self.splits:
            raise InputError("a fall is measured against random splits", fix="keep random among the splits")

    @property
    def named(self) -> list[str]:
        """The attributes that are read."""
        taught = self.params.get("supervise")
        return super().named + [name for name in (self.bias, taught) if isinstance(name, str)]

    @property
    def families(self) -> tuple[str, ...]:
        """Every family of splits: those that are made, then those that were given."""
        return (*self.splits, *self.given_splits)

    @property
    def hard(self) -> tuple[str, ...]:
        """The families that are compared with random splits."""
        return tuple(family for family in self.families if family != BASELINE)

    @property
    def space(self) -> Space:
        """The latent space that is split."""
        return Space(Model(self.model, self.params), self.representation)

    @property
    def runs(self) -> list[tuple[str, str, int]]:
        """Trainings on splits: name of the split, its family, seed."""
        runs = []
        for family in self.families:
            for number, name in enumerate(self.split_names(family)):
                paired = family == BASELINE and not self.crossed and len(self.seeds) == self.random_splits
                for seed in (self.seeds[number],) if paired else self.seeds:
                    runs.append((name, family, seed))
        return runs

    @property
    def family_of(self) -> dict[str, str]:
        """Every split with its family."""
        return {name: family for family in self.families for name in self.split_names(family)}

    def split_names(self, family: str) -> list[str]:
        """The splits of one family."""
        return [f"random-{number}" for number in range(1, self.random_splits + 1)] if family == BASELINE else [family]

    def described(self) -> dict[str, Any]:
        """The settings as plain values, those of the recipe and the content of its files included."""
        space = self.space
        return asdict(self) | {"representation": space.resolved} | space.model.noted


def settled(
    model: Any, budget: str = "small", *, params: Mapping[str, Any] | None = None, **given: Any
) -> StressSettings:
    """Settings from a budget and what was given beside it; None means not given."""
    if budget not in BUDGETS:
        raise UnknownNameError.of("budget", budget, BUDGETS)
    trained = Model.of(model)
    chosen = (dict(TRANSFORMER) if trained.is_transformer else {}) | dict(BUDGETS[budget])
    preset = chosen.pop("params")
    given = {name: value for name, value in given.items() if value is not None}
    for name in ("seeds", "splits", "slices", "positive", "split_files", "clusters"):
        if name in given:
            given[name] = as_names(given[name]) if isinstance(given[name], Sequence) else given[name]
    if given.get("split_files"):
        given.setdefault("splits", (BASELINE,))
    return StressSettings(
        trained.use, dict(preset if trained.is_transformer else {}) | dict(params or {}), **chosen | given
    )


SETTINGS = {setting.name for setting in fields(StressSettings)} - {"model", "params"}


# -- the graph of its steps --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Graph:
    """The steps of one stress run."""

    source: Source
    settings: StressSettings
    suite: Dataset | None = None
    deployment: Dataset | None = None

    @cached_property
    def space(self) -> Step:
        """The latent space that is split."""
        return space_step(self.source, self.settings.space, self.settings.seed)

    @cached_property
    def cuts(self) -> dict[str, Step]:
        """Every split by name."""
        return {name: self._cut(name, family) for name, family in self.settings.family_of.items()}

    def _cut(self, name: str, family: str) -> Step:
        settings = self.settings
        if family in settings.given_splits:
            return given_split_step(self.source, name, settings.dev, settings.seed)
        number = int(name.rpartition("-")[2]) if family == BASELINE else 0
        return self._made(name, family, settings.seed + number, settings.seed)

    def _made(self, name: str, family: str, random_state: int, space_seed: int) -> Step:
        settings, space = self.settings, space_cut(self.settings.space, family)
        takes = "n_clusters" in inspect.signature(SPLITTERS.get(family)).parameters
        knobs = {"n_clusters": settings.clusters} if settings.clusters and takes else {}
        cut = Cut(name, family, space, random_state, settings.seed, settings.test, settings.dev, settings.groups, knobs)
        return split_step(self.source, cut, space_seed)

    @cached_property
    def stability(self) -> list[Step]:
        """How far the splits of a latent space stay the same when the space is made from other seeds."""
        seeds = [self.settings.seed + number for number in range(1, self.settings.space_seeds + 1)]
        latent = [family for family in self.settings.splits if reads_vectors(family)]
        cuts = {
            family: [self.cuts[family], *(self._made(f"{family} seed {seed}", family, seed, seed) for seed in seeds)]
            for family in latent
        }
        return [stability_step(self.source, cuts)] if seeds and latent else []

    @cached_property
    def trainings(self) -> list[PlannedTraining]:
        """Every training on a split."""
        settings, trainings = self.settings, []
        for name, family, seed in settings.runs:
            cut = self.cuts[name]
            training = train_step(self.source, cut, settings.space.model, seed, f"{name}-seed{seed}")
            folds = 0 if family == BASELINE else settings.seen_folds
            # a split of others may hold groups out
            groups = None if family in settings.given_splits else settings.groups
            seen = seen_steps(training, folds, kept_whole(self.source, family, groups))
            trainings.append(PlannedTraining(name, family, seed, cut, training, seen))
        return trainings

    def of_family(self, family: str) -> list[PlannedTraining]:
        """The trainings on splits of one family."""
        return [planned for planned in self.trainings if planned.family == family]

    @cached_property
    def scoring(self) -> Scoring:
        """What is measured."""
        settings = self.settings
        return Scoring(
            settings.metric, settings.slices, settings.groups, settings.agreement, settings.seed,
            tags={"model": settings.model},
        )  # fmt: skip

    @cached_property
    def measuring(self) -> dict[str, list[Step]]:
        """The steps that measure, by what they tell; none for what the run was not asked about."""
        source, settings, scoring, seed = self.source, self.settings, self.scoring, self.settings.seed
        trainings = {family: self.of_family(family) for family in settings.families}
        control, suite, deployment = trainings[BASELINE], self.suite, self.deployment
        return {
            "scores": [
                scores_step(source, runs, control if family != BASELINE else [], scoring)
                for family, runs in trainings.items()
            ],
            "witness": [label_noise_step(source, seed)],
            "findings": [findings_step(source, trainings[family], control, scoring) for family in settings.hard],
            "leaks": [leaks_step(source, self.cuts, settings.groups, seed)],
            "bias": [
                bias_step(source, runs, settings.bias, settings.positive, settings.fewest, scoring)
                for runs in trainings.values()
                if settings.bias is not None
            ],
            "behaviour": [] if suite is None else [
                behaviour_step(source, suite, settings.space, settings.suite_map, seed, scoring.tags)
            ],
            "forecast": [] if deployment is None else [
                forecast_step(source, deployment, settings.space, self.trainings, scoring)
            ],
            "explanations": [
                explain_step(source, runs[0], settings.space.model, settings.explain, settings.texts, scoring)
                for runs in trainings.values()
                if settings.explain is not None
            ],
            "stability": self.stability,
            "properties": [
                properties_step(source, cut, self.space, name, settings.neutral) for name, cut in self.cuts.items()
            ],
            "map": [map_step(source, self.space, self.cuts, seed)],
            "clusters": [clusters_step(source, self.space, self.cuts, settings.texts)],
        }  # fmt: skip

    @property
    def shared(self) -> dict[str, Any]:
        """What steps share in memory."""
        more = {SUITE: self.suite, DEPLOYMENT: self.deployment}
        return {self.source.name: self.source} | {name: data for name, data in more.items() if data is not None}

    @property
    def splitting_steps(self) -> list[Step]:
        """The space and the splits, which tell whether the rest is possible."""
        return in_order([self.space, *self.cuts.values()])

    @property
    def training_steps(self) -> list[Step]:
        """Everything that is trained: spaces, also those of other seeds with their splits, and models on the splits."""
        trainings = [step for planned in self.trainings for step in (planned.training, *planned.seen)]
        others = [step for stability in self.stability for step in stability.needs.values()]
        return in_order([*self.splitting_steps, *trainings, *others])

    @property
    def measuring_steps(self) -> list[Step]:
        """What is measured afterwards, the witness of label noise included."""
        done = {step.key for step in self.training_steps}
        steps = [step for several in self.measuring.values() for step in several]
        return [step for step in in_order(steps) if step.key not in done]


def _graph(source: Any, model: Any, budget: str, params: Mapping[str, Any] | None, given: Mapping[str, Any]) -> Graph:
    chosen = {name: value for name, value in given.items() if name in SETTINGS}
    columns = {name: value for name, value in given.items() if name not in SETTINGS}
    refuse_unknown(columns, stress, [*sorted(SETTINGS), *LOADING])
    settings = settled(model, budget, params=params, **chosen)
    data_dir = columns.get("data_dir")
    if settings.suite is not None and settings.suite in cards() and not (isinstance(source, str) and source in cards()):
        columns.pop("data_dir", None)  # it is of the suite alone
    loaded = load_source(source, columns, settings, settings.seed)
    if loaded.given and given.get("test") is None:  # random splits as large as the first split that was given
        parts = np.array(next(iter(loaded.given.values())))[~loaded.aside]
        settings = changed(settings, test=float((parts == "test").mean()))
    _refuse_small_test(loaded.rest, settings.test)
    names, text = loaded.data.label_names, columns.get("text", "text")
    deployment = None if settings.deployment is None else load_texts(settings.deployment, names, text=text)[0]
    return Graph(loaded, settings, _suite(settings, names, data_dir), deployment)


def _refuse_small_test(rest: Dataset, test: float) -> None:
    """Refuse a test part that cannot have the classes, before anything is trained or a folder is begun."""
    codes, counts = np.unique(rest.labels, return_counts=True)
    try:
        if len(codes) > 1:
            quotas(counts, rows_asked(test, len(rest), "test"), [rest.label_names[code] for code in codes])
    except InfeasibleError as error:
        # no option of a stress run says how a splitter is to mix classes
        error.fix = (error.fix or "").replace(f"{OR}{UNMIXED}", "").replace(UNMIXED, "bring more rows")
        raise


def _suite(settings: StressSettings, label_names: Sequence[str], data_dir: str | Path | None) -> Dataset | None:
    """The suite of a run, whose labels must be those of the data, under the names that the run gives them."""
    if settings.suite is None:
        return None
    suite = load_suite(settings.suite, data_dir=data_dir)
    refuse_other_labels(label_names, suite.name, suite.label_names, settings.suite_map)
    return suite


# -- what it will cost -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class StressPlan(Estimate):
    """What a run will do, and about how long it takes; its trainings include those of spaces and the seen control."""

    counted = "All of it, splits and measuring too,"
    rows: Mapping[str, int]
    """Rows to be split, and rows set aside."""
    seen: int
    """Trainings of the seen control."""
    stages: Mapping[str, float]
    """About how long each takes beside the others."""


def plan(
    source: Any,
    *,
    model: Any = "minilm",
    out: str | Path = "out",
    budget: str = "small",
    params: Mapping[str, Any] | None = None,
    workers: int | None = 1,
    gates: Sequence[Gate | str] = (),
    **given: Any,
) -> StressPlan:
    """What `stress` with these arguments would do and cost; nothing is written."""
    bounds, graph = parsed_gates(gates), _graph(source, model, budget, params, given)
    for gate in bounds:
        _checked(gate, graph.settings)
    return plan_of(graph, RunFolder(out), _engine(graph, workers))


def plan_of(graph: Graph, folder: RunFolder, engine: Inline | Local) -> StressPlan:
    """What a run will do, and how long it takes by what is tried now."""
    settings, data, aside = graph.settings, graph.source.data, int(graph.source.aside.sum())
    rest = len(data) - aside
    trained = rest - rows_asked(settings.test, rest, "test")
    model = settings.space.model
    seen_keys = [step.key for planned in graph.trainings for step in planned.seen]
    on_splits = [*(planned.training.key for planned in graph.trainings), *seen_keys]
    sizes = dict.fromkeys(on_splits, round(trained * (1 - settings.dev)))
    sizes |= {step.key: rest for step in graph.training_steps if step.work.endswith(":learn_space")}
    left = {key: size for key, size in sizes.items() if not folder.results.has(key)}
    texts = sum(left.values()) * model.epochs
    predicted = len(left) * (len(data) - trained) + len(data)
    fast = speed(model, data) if left else None
    seconds = None
    seconds_of = {"splits": 1.0, "trainings": float(len(left)), "measuring": 1.0}
    if fast is not None:
        tested, runs = len(data) - trained, len(graph.trainings)
        names = metrics_of(data, settings.metric, [])
        space = left.get(graph.space.key, 0) * model.epochs
        seconds_of = {
            "splits": space / fast,
            "trainings": (texts - space + predicted / FASTER) / fast,
            "measuring": label_noise_seconds(data, rest)
            + PASSES * runs * scoring_seconds(data, tested, names)
            + explaining_seconds(graph, folder, trained * model.epochs, fast)
            + besides_seconds(rest),
        }
        seconds = sum(seconds_of.values()) / getattr(engine, "workers", 1)
    rows = {"split": rest, "independent": aside}
    return StressPlan(len(sizes), len(sizes) - len(left), texts, fast, seconds, rows, len(seen_keys), seconds_of)


def explaining_seconds(graph: Graph, folder: RunFolder, texts: int, fast: float) -> float:
    """How long explanations take that are not made yet: a training of so many texts, and the questions asked, each."""
    left = sum(not folder.results.has(step.key) for step in graph.measuring["explanations"])
    asked = 2 * (graph.settings.explain or 0) * ASKED
    return left * (texts + asked / FASTER) / fast


# -- the work ----------------------------------------------------------------------------------------------------------


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
    reviews: Sequence[str | Path] = (),
    replace: bool = False,
    **given: Any,
) -> Result:
    """Measure how far `model` falls on the regions of its own latent space it was not trained on, and say why.

    `source` is what `unseen.load` takes, or a Dataset. `model` is a recipe, a transformer's name or folder,
    `module:factory`, or an object: a Recipe, or an estimator with `fit(texts, labels)` and `predict_proba`, such as
    scikit-learn's; `params` are the recipe's. Whatever else is given is a setting of the run, a field of
    `StressSettings`, or a parameter of `unseen.load`. Interrupted and called again, it goes on where it
    stopped. More than one of `workers` train side by side, one thread each; None is one a core for light models and
    one in all for transformers, which use all threads. `command` and `typed` are what was typed: all of it, and the
    data with how to read it. `announce` is called with the plan before the long work begins. A folder that holds
    another run is refused, or with `replace` given over to this one. `reviews` are files of what people said about
    texts of this data in other runs; they join the reviews of this one.
    """
    graph = _graph(source, model, budget, params, given)
    metric_of(graph.settings.metric).refuse_labels(graph.source.data.label_names)
    engine = _engine(graph, workers)
    answers = reviews_of(reviews, graph.source.data) if reviews else []

    def work(folder: RunFolder) -> Output:
        weights: Mapping[str, float] = {}
        if announce is not None:
            planned = plan_of(graph, folder, engine)
            announce(planned)
            weights = planned.stages
        with stages(weights):
            possible, impossible = _possible(graph, engine, folder)
            carry_out(possible.training_steps, engine, folder.results, possible.shared, "trainings")
            carry_out(possible.measuring_steps, engine, folder.results, possible.shared, "measuring")
        rows, findings = publish(possible, folder, None if graph.settings.limit is not None else typed)
        if answers:
            add_reviews(folder / REVIEWS, answers)
        return Output(
            rows, findings,
            {
                "splits": possible.settings.family_of, "impossible": impossible,
                "timings": timings(possible.training_steps + possible.measuring_steps, folder.results),
                "speeds": summed_costs(folders_of(possible.training_steps, folder.results)),
            },
            possible.source.data,
        )  # fmt: skip

    bounds = [_checked(gate, graph.settings) for gate in parsed_gates(gates)]
    command = command or f"unseen.stress({graph.source.data.name!r}, model={graph.settings.model!r}, …)"
    about = {
        "typed": typed,
        "settings": graph.settings.described(),
        "data": described_data(graph.source.data),
        "model": graph.settings.model,
        "splits": graph.settings.family_of,
    }
    return carry_through("stress", about, work, out=out, command=command, gates=bounds, replace=replace, cards=True)


def _checked(gate: Gate, settings: StressSettings) -> Gate:
    """The gate; refuses what this run does not measure, and a fall that no metric can be above, such as in points."""
    name, scored = gate.metric.removeprefix("fall."), PREFIXES.sub("", gate.metric)
    if gate.metric.partition(".")[0] not in MEASURED and find_metric(scored) is None:
        known = [*METRICS, *(f"fall.{known}" for known in METRICS)]
        raise UnknownNameError.of("number of a stress run", gate.metric, known)
    _refuse_about_nothing(gate, settings)
    if name != gate.metric and gate.bound in ("<=", "<"):
        bounded = metric_of(scored)
        if gate.limit >= bounded.high - bounded.low:
            raise InputError(
                f"no fall of {name} can be above {gate.limit:g}", expected="a share: 0.2 is 20 points", got=str(gate),
                fix=f"--gate 'fall.{name}<=0.2' on the command line, gates=['fall.{name}<=0.2'] in Python",
            )  # fmt: skip
    return gate


def _refuse_about_nothing(gate: Gate, settings: StressSettings) -> None:
    """Refuse a gate on a tag that no score has, or on a split that is not made: no number would ever keep it."""
    made = settings.hard if gate.metric.startswith("fall.") else settings.families
    if gate.metric.partition(".")[0] in MEASURED:  # which has tags of its own, and tells single splits apart
        made = tuple(dict.fromkeys((*made, *settings.family_of)))
    else:
        known = list(dict.fromkeys([*SCORED, *settings.named]))
        for tag in gate.where.keys() - known:
            raise UnknownNameError.of("tag of a score", tag, known)
    for tag in gate.where.keys() & {"split", "family"}:
        asked = gate.where[tag]
        if not any(name == asked or fnmatchcase(name, asked) for name in made):
            raise UnknownNameError.of(f"split that {gate.metric} is measured on", asked, made)


def _engine(graph: Graph, workers: int | None) -> Inline | Local:
    alone = workers == 1 or (workers is None and graph.settings.space.model.is_transformer)
    return Inline() if alone else Local(workers)


def _possible(graph: Graph, engine: Engine, folder: RunFolder) -> tuple[Graph, dict[str, str]]:
    """The graph without the families of splits that this data does not allow, and why it does not."""
    names = {step.key: name for name, step in graph.cuts.items()}
    steps, impossible = graph.splitting_steps, dict[str, str]()
    for outcome in track(engine.run(steps, folder.results, graph.shared), "splits", len(steps)):
        family = graph.settings.family_of.get(names.get(outcome.step.key, ""))
        if isinstance(outcome.error, InfeasibleError) and family not in (None, BASELINE):
            impossible[str(family)] = str(outcome.error)
        elif outcome.error is not None:
            raise outcome.error
    left = tuple(name for name in graph.settings.splits if name not in impossible)
    if impossible and left == (BASELINE,) and not graph.settings.given_splits:
        raise InfeasibleError("no hard split of this data exists", problems=list(impossible.values()))
    return changed(graph, settings=changed(graph.settings, splits=left)), impossible


# -- what is published -------------------------------------------------------------------------------------------------


def publish(graph: Graph, folder: RunFolder, typed: str | None) -> tuple[list[Measurement], list[Finding]]:
    """Put the results where people look for them; the measurements and findings."""
    folder.publish(graph.space.key, VECTORS, f"vectors/{graph.settings.space.called}.npy")
    folder.publish(graph.space.key, MODEL, "models/representation")
    tests: dict[str, set[str]] = {}
    for name, cut in graph.cuts.items():
        split = read_split(folder.results.folder(cut.key) / SPLIT, graph.source.data)
        tests[name] = set(split.ids.take(pa.array(split.rows("test"))).to_pylist())
        write_split(changed(split, name=name), folder / "splits" / f"{name}.csv")
    for planned in graph.trainings:
        folder.publish(planned.training.key, PREDICTIONS, f"predictions/{planned.split}-seed{planned.seed}.parquet")
    (folder / EXAMPLES).unlink(missing_ok=True)
    for kind, file, name in PUBLISHED:
        for step in graph.measuring[kind]:
            folder.publish(step.key, file, name)
    for family, step in zip(graph.settings.families, graph.measuring["explanations"], strict=False):
        folder.publish(step.key, HIGHLIGHTS, f"explanations/{file_name(family)}.json")
    _publish_suspects(graph, folder, tests)
    _publish_texts(graph, folder)

    def rows(kinds: Sequence[str], file: str, read: Callable[..., list[Any]]) -> list[Any]:
        steps = [step for kind in kinds for step in graph.measuring[kind]]
        return [row for step in steps for row in read(folder.results.folder(step.key) / file)]

    write_measurements(rows(["properties"], PROPERTIES, read_measurements), folder / PROPERTIES)
    findings = rows(["findings", "leaks", "forecast"], FINDINGS, read_findings)
    return rows(TOLD, MEASUREMENTS, read_measurements), [_as_typed(finding, folder, typed) for finding in findings]


def _as_typed(finding: Finding, folder: RunFolder, typed: str | None) -> Finding:
    """The finding of a split with the data and the split of this run in the commands that it advises.

    Where nobody typed the data, or only a part of it was split, the names stay open.
    """
    if typed is None:
        return finding
    split = folder / "splits" / f"{finding.check.partition('[')[2].removesuffix(']')}.csv"
    advice = finding.advice.replace("DATA --split SPLIT", f"{typed} --split {shlex.quote(str(split))}")
    return changed(finding, advice=advice)


def _publish_texts(graph: Graph, folder: RunFolder) -> None:
    """Label and attributes of each text, for the viewer; the texts too where the run was asked to keep them.

    What groups rows, an author for instance, is not written. Texts that are cases of the suite too have what they test.
    """
    settings, data = graph.settings, graph.source.data
    hidden = {settings.groups, settings.agreement, RATIONALES}
    names = ["id", "label", *(name for name in data.attributes if name not in hidden)]
    table = data.table.select([*names, *(["text"] if settings.texts else [])])
    if (suite := graph.suite) is not None:
        texts = pa.chunked_array([*suite.texts.chunks, *data.texts.chunks])
        first = same_forms(texts)[len(suite) :]  # below the size of the suite where it is a case
        tested = suite.attribute("functionality").take(pa.array(first, mask=first >= len(suite)))
        table = table.append_column(f"case of {suite.name}", tested) if tested.null_count < len(data) else table
    with atomic(folder / TEXTS) as temporary:
        pq.write_table(table, temporary)


def _publish_suspects(graph: Graph, folder: RunFolder, tests: Mapping[str, set[str]]) -> None:
    """The suspect labels, each with its place in the data and the splits that test it."""
    suspects = read_suspects(folder.results.folder(graph.measuring["witness"][0].key) / SUSPECTS)
    places = graph.source.data.places_of([suspect.id for suspect in suspects])
    placed = [
        changed(
            suspect, row=places[suspect.id], test_of=tuple(name for name, ids in tests.items() if suspect.id in ids)
        )
        for suspect in suspects
    ]
    write_suspects(placed, folder / SUSPECTS)
