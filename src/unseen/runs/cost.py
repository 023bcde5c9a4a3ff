"""What does a score cost? Models trained and asked on one machine: time, memory, energy and operations beside quality.

Quality is the score on an ordinary test part, on a hard split and on a suite. All candidates are measured in the same
way, in fresh processes; with a budget of memory each trains with the largest batch that it allows.
"""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from unseen import api
from unseen.costs.pareto import Contender, Side, dominated_by
from unseen.costs.speed import PERCENTILES, REPEATS, check_repeats
from unseen.engines import Inline
from unseen.engines.steps import carry_out
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.falls import Run
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.metrics import metric as metric_of
from unseen.functional.pass_rates import PASSED
from unseen.functional.pass_rates import check as measured_on_suite
from unseen.functional.tables import suite_of
from unseen.label_maps import refuse_other_labels, renamed
from unseen.machine import cores, usable_threads
from unseen.models import PIPELINES
from unseen.naming import is_place, outline_of
from unseen.runs.cost_steps import (
    ONE_BY_ONE,
    Candidate,
    accepts_batch,
    batch_of,
    cost_rows,
    largest_step,
    measure_step,
    read_largest,
    read_measured,
)
from unseen.runs.experiment import (
    Arm,
    Chosen,
    Contrast,
    Level,
    answers,
    cost_of,
    refuse_without_parts,
    under_labels,
    with_dev,
)
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, named_settings, refuse_unknown, split_of
from unseen.runs.spaces import Model
from unseen.seeding import generator
from unseen.store import read_json
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Finding, Measurement, Origin, Predictions, Split, some
from unseen.types.numbers import in_bytes, quantity

ORDINARY, HARD, SUITE = "ordinary", "hard", "suite"
TEST = "test"
TEST_SHARE, DEV_SHARE = 0.2, 0.1
SAMPLE = 200
"""Texts of the test part that models are timed on."""
COSTS = {"latency.p50": "time for an answer", "processor_seconds.training": "processor time in training"}
"""Costs that models are compared by."""
STEADY = 0.25
"""Share by which costs must differ: that much the same program may take more in another process of a busy machine."""
NO_HARD = "none"
METRIC = "f1.macro"
GATED = (
    *(f"latency.p{share}" for share in PERCENTILES),
    *(f"{name}.{phase}" for name in ("speed", "processor_seconds", "memory", "operations", "energy", "batch")
      for phase in ("training", "inference")),
    "seconds.training", "tokens.true", "tokens.padded", "money.inference",
)  # fmt: skip
"""Costs that a gate may bound, besides scores."""
PRICES = {"call": "a call", "tokens": "1,000 tokens"}
"""What an endpoint may charge for."""


@dataclass(frozen=True)
class CostPlan:
    """What a cost run would do."""

    candidates: tuple[str, ...]
    trainings: int
    done: int
    seconds: float | None
    """Of the trainings, about, the speed tried now; finding the largest batch and asking come on top."""
    asked: Mapping[str, int]
    """Texts that each model which is not trained is asked about: what an endpoint charges for."""


@dataclass(frozen=True, eq=False)
class CostSetting:
    """Everything that is settled before something is measured."""

    data: Dataset
    candidates: tuple[Candidate, ...]
    ordinary: Split
    hard: Split | None
    suite: Dataset | None
    suite_map: Mapping[str, str]
    metric: str
    trainings: int
    repeats: int
    sample: int
    budget: float | None
    batches: tuple[int, ...]
    price: Mapping[str, float]
    seed: int

    @cached_property
    def texts(self) -> list[str]:
        """Test texts that all models are timed on."""
        rows = generator(self.seed, "cost").permutation(self.ordinary.rows(TEST))[: self.sample]
        return [str(text) for text in self.data.take(rows).texts.to_pylist()]

    @cached_property
    def train(self) -> Dataset:
        """The training rows of the ordinary split, without dev."""
        return self.data.take(with_dev(self.data, self.ordinary, self.seed)[0])

    def arm(self, view: str, seed: int) -> Arm:
        """The training on the split of a view."""
        split = self.ordinary if view == ORDINARY else self.hard
        assert split is not None
        train, dev = with_dev(self.data, split, self.seed)
        ask: dict[str, Any] = {TEST: Chosen(self.data, split.rows(TEST))}
        if view == ORDINARY and self.suite is not None:
            ask[SUITE] = Chosen(under_labels(self.suite, self.data.label_names))
        return Arm(f"{view}, seed {seed}", Chosen(self.data, train), Chosen(self.data, dev), ask, seed)

    @cached_property
    def first(self) -> Arm:
        """The training that is measured."""
        return self.arm(ORDINARY, self.seed)

    @cached_property
    def others(self) -> list[tuple[str, Arm]]:
        """Trainings of which only the score is asked, by their view."""
        seeds = range(self.seed, self.seed + self.trainings)
        arms = [(ORDINARY, self.arm(ORDINARY, seed)) for seed in seeds[1:]]
        return arms + ([] if self.hard is None else [(HARD, self.arm(HARD, seed)) for seed in seeds])

    def described(self) -> dict[str, Any]:
        """What decides the numbers, as run.json says it."""
        return {
            "data": described_data(self.data),
            "split": described_split(self.ordinary),
            "hard": described_split(self.hard),
            "suite": None if self.suite is None else described_data(self.suite),
            "models": {one.name: one.described() for one in self.candidates},
            "settings": {
                "metric": self.metric, "trainings": self.trainings, "repeats": self.repeats, "texts": self.sample,
                "budget": self.budget, "batches": list(self.batches), "price": dict(self.price),
                "suite_map": dict(self.suite_map), "seed": self.seed, "threads": usable_threads(),
            },
        }  # fmt: skip


def cost(
    data: Any,
    models: Sequence[Any] | Mapping[str, Any],
    *,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    **settings: Any,
) -> Result:
    """What each of several models costs on this machine, and what it scores: on a test part, a hard split, a suite.

    `data` is what `unseen.load` takes, or a Dataset. `models` are recipes and transformers, which are trained, and
    models that are there (a folder of ours, a classifier of Hugging Face's, a pipeline file, a function, an endpoint),
    which are asked as they are; by name, or a list. `settings` are: `params`, {model: parameters} of recipes or of
    `open_model`; `lengths`, limits of tokens to try of transformers; `batches`, further batches to train with;
    `budget`, bytes of memory or "memory=2GB", within which the largest batch is looked for; `split`, the ordinary split
    (a random one is made); `hard`, a split, its file or the name of a splitter ("closest"; "none" for none); `suite`
    and `suite_map` (labels of the data in the words of the suite); `price`, {"call": …} or {"tokens": …} per 1,000, of
    endpoints; `metric`, `trainings`, `repeats`, `texts` (how many of the test part are timed) and `seed`. Interrupted
    and called again, it goes on where it stopped.
    """
    refuse_unknown(settings, cost, SETTINGS)
    bounds = parsed_gates(gates)
    for gate in bounds:
        _refuse_gate(gate)
    setting = settled(data, models, **settings)

    def work(folder: RunFolder) -> Output:
        return _measured(setting, folder.results)

    return carry_through("cost", setting.described(), work, out=out, gates=bounds, command=command)


def plan_cost(
    data: Any, models: Sequence[Any] | Mapping[str, Any], *, out: str | Path | None = None, **settings: Any
) -> CostPlan:
    """What `cost` would do; nothing is trained but a few batches that tell the speed."""
    refuse_unknown(settings, plan_cost, SETTINGS)
    setting = settled(data, models, **settings)
    results = None if out is None else RunFolder(out).results
    arms = [setting.first, *(arm for _, arm in setting.others)]
    estimates = [cost_of(arms, one.model, results) for one in setting.candidates if one.model is not None]
    seconds = [estimate.seconds for estimate in estimates]
    timed = len(setting.texts) * (4 * (setting.repeats + 1) + 2)
    timed += min(ONE_BY_ONE, len(setting.texts)) * setting.repeats
    asked = len(setting.ordinary.rows(TEST)) + (0 if setting.suite is None else len(setting.suite))
    return CostPlan(
        tuple(one.name for one in setting.candidates),
        sum(estimate.trainings for estimate in estimates),
        sum(estimate.done for estimate in estimates),
        None if None in seconds else sum(filter(None, seconds)),
        {one.name: timed + asked for one in setting.candidates if one.model is None},
    )


def settled(
    data: Any,
    models: Sequence[Any] | Mapping[str, Any],
    *,
    params: Mapping[str, Mapping[str, Any]] | None = None,
    lengths: Sequence[int] = (),
    batches: Sequence[int] = (),
    budget: float | str | None = None,
    split: Split | str | Path | None = None,
    hard: Split | str | Path = "closest",
    suite: Any = None,
    suite_map: Mapping[str, str] | None = None,
    price: Mapping[str, float] | None = None,
    metric: str = METRIC,
    trainings: int = 1,
    repeats: int = REPEATS,
    texts: int = SAMPLE,
    seed: int = 42,
) -> CostSetting:
    """The settings of a run, checked; splits are made here, because everything else follows from them."""
    data, suite = load_data(data, {}, ()), None if suite is None else suite_of(suite)
    split = split_of(data, split)
    check_repeats(repeats)
    memory = budget_of(budget)
    metric_of(metric).refuse_labels(data.label_names)
    for name, numbers in (("lengths", lengths), ("batches", batches), ("trainings and texts", (trainings, texts))):
        if any(number < 1 for number in numbers):
            raise InputError(f"{name} must be at least 1", got=some([str(number) for number in numbers]))
    candidates = tuple(_candidates(models, params or {}, lengths, batches, memory is not None))
    for name, amount in (price or {}).items():
        if name not in PRICES:
            raise UnknownNameError.of("price", name, PRICES)
        if not 0 <= amount < np.inf:
            raise InputError(f"the price of {PRICES[name]} must be a number, 0 or more", got=str(amount))
    if not any(one.is_endpoint for one in candidates) and price:
        raise InputError("a price has no effect without an endpoint among the models", fix="leave it out")
    if suite is not None:
        refuse_other_labels(data.label_names, suite.name, suite.label_names, suite_map or {})
    elif suite_map:
        raise InputError("suite_map has no effect without a suite", fix="name a suite, or leave it out")
    ordinary = api.split(data, "random", test=TEST_SHARE, dev=DEV_SHARE, seed=seed) if split is None else split
    trained = any(one.model is not None for one in candidates)
    return CostSetting(
        data, candidates, refuse_without_parts(data, ordinary), _hard(data, hard, seed) if trained else None, suite,
        dict(suite_map or {}), metric_of(metric).id, trainings, repeats, texts, memory, tuple(batches),
        dict(price or {}), seed,
    )  # fmt: skip


SETTINGS = named_settings(settled)


def _refuse_gate(gate: Gate) -> None:
    """Refuse a gate on a cost that is not measured."""
    is_cost = gate.metric.partition(".")[0] in {name.partition(".")[0] for name in GATED}
    if is_cost and gate.metric not in GATED:
        raise UnknownNameError.of("number of a cost run", gate.metric, GATED)


def budget_of(budget: float | str | None) -> float | None:
    """Bytes of memory: a number, or as it is typed, `memory=2GB`."""
    if budget is None or isinstance(budget, int | float):
        return budget
    name, middle, amount = budget.partition("=")
    size, kind = quantity(amount if middle else name)
    if (middle and name.strip() != "memory") or kind != "bytes" or size <= 0:
        raise InputError("a budget is one of memory", expected="memory=2GB", got=budget)
    return size


def _hard(data: Dataset, hard: Split | str | Path, seed: int) -> Split | None:
    if isinstance(hard, Split) or Path(hard).is_file():
        made = split_of(data, hard)
        assert made is not None
        return refuse_without_parts(data, made)
    return None if hard == NO_HARD else api.split(data, hard, test=TEST_SHARE, dev=DEV_SHARE, seed=seed)


def _candidates(
    models: Sequence[Any] | Mapping[str, Any],
    params: Mapping[str, Mapping[str, Any]],
    lengths: Sequence[int],
    batches: Sequence[int],
    budgeted: bool,
) -> Iterator[Candidate]:
    """Every model at every length and batch; with a budget, the batch that is looked for is not named yet."""
    named = models if isinstance(models, Mapping) else {_name(model): model for model in models}
    if not named or len(named) < len(models):
        raise InputError("a cost run needs models with names of their own", got=some([_name(one) for one in models]))
    if unknown := [name for name in params if name not in named]:
        raise InputError(f"parameters are given for no model: {some(unknown)}", expected=some(list(named), 20))
    can_be_cut = can_be_batched = False
    for name, source in named.items():
        given = dict(params.get(name, {}))
        if not is_trained(source):
            yield Candidate(name, name, place=source, opening=given)
            continue
        model = replace(Model.of(str(source) if isinstance(source, Path) else source), params=given, name=name)
        model.check()
        can_be_cut, own = can_be_cut or model.is_transformer, accepts_batch(model)
        can_be_batched = can_be_batched or own
        for length in (lengths if model.is_transformer else ()) or (None,):
            cut = {} if length is None else {"max_tokens": length}
            tried = dict.fromkeys(batches if budgeted else [batch_of(model), *batches])
            if budgeted and own:
                yield _variant(model, name, cut, length, None, looks_for_batch=True)
            for batch in tried if own else [None]:
                yield _variant(model, name, cut, length, batch)
    if lengths and not can_be_cut:
        raise InputError("lengths have no effect without a transformer that is trained", fix="leave them out")
    if batches and not can_be_batched:
        raise InputError("no model has a batch that can be set", fix="leave the batches out")


def _variant(
    model: Model,
    base: str,
    cut: Mapping[str, int],
    length: int | None,
    batch: int | None,
    looks_for_batch: bool = False,
) -> Candidate:
    """A model at one length and batch, under a name that tells both where they are not its own."""
    apart = [] if length is None else [f"{length} tokens"]
    apart += [] if batch in (None, batch_of(model)) else [f"batch {batch}"]
    apart += ["largest batch"] if looks_for_batch else []
    changed = {**model.params, **cut} | ({} if batch is None else {"batch": batch})
    name = f"{base} ({', '.join(apart)})" if apart else base
    return Candidate(
        name, base, replace(model, params=changed, name=name), length=length, batch=batch,
        looks_for_batch=looks_for_batch,
    )  # fmt: skip


def is_trained(source: Any) -> bool:
    """Whether a model is a recipe that is trained here; else it is there already, and asked as it is."""
    if not isinstance(source, str | Path):
        return hasattr(source, "fit") and not hasattr(source, "classes_")
    place, path = str(source), Path(source)
    if place.startswith(("http://", "https://")) or path.suffix in PIPELINES:
        return False
    if path.is_dir():
        return not (path / "unseen.json").is_file() and not _is_classifier(path)
    if is_place(place):
        outline = outline_of(place)
        return hasattr(outline, "fit") and not hasattr(outline, "classes_")
    return True


def _is_classifier(folder: Path) -> bool:
    """Whether a folder of Hugging Face's has a head for labels."""
    file = folder / "config.json"
    kinds = read_json(file).get("architectures") or () if file.is_file() else ()
    return any(str(kind).endswith("ForSequenceClassification") for kind in kinds)


def _name(model: Any) -> str:
    if isinstance(model, str | Path):
        return Path(str(model).rstrip("/")).name if "://" not in str(model) else str(model).split("?")[0]
    return type(model).__name__


# -- suites ------------------------------------------------------------------------------------------------------------


def in_words_of_suite(predictions: Predictions, suite: Dataset, suite_map: Mapping[str, str]) -> Predictions:
    """Answers under the labels of the suite; several of ours may be one of its."""
    sums = np.zeros((len(predictions.ids), len(suite.label_names)))
    for place, name in enumerate(renamed(predictions.label_names, suite_map)):
        sums[:, suite.label_names.index(name)] += predictions.probabilities[:, place]
    origin = Origin("predict", dict(predictions.origin.params), inputs={"dataset": suite.fingerprint})
    return Predictions(suite.ids, sums, suite.label_names, origin)


# -- the work ----------------------------------------------------------------------------------------------------------


def _measured(setting: CostSetting, results: Results) -> Output:
    setting, findings = _with_largest_batches(setting, results)
    steps = {one.name: measure_step(one, setting.first, setting.texts, setting.repeats) for one in setting.candidates}
    shared: dict[str, Any] = {"texts": setting.texts}
    for one in setting.candidates:
        shared |= {one.name: one, f"arm of {one.name}": setting.first}
    carry_out(list(steps.values()), Inline(), results, shared, "measure")
    words = float(np.mean([len(text.split()) for text in setting.texts]))
    rows: list[Measurement] = []
    runs: dict[str, dict[str, list[Run]]] = {}
    for one in setting.candidates:
        numbers, answered = read_measured(setting.first, steps[one.name], results)
        rows += [*cost_rows(one, numbers, setting.price, words), *_suite_rows(setting, one, answered)]
        runs[one.name] = {ORDINARY: [_run(setting, setting.first, ORDINARY, answered[TEST])]}
        if one.model is not None and setting.others:
            by_arm = answers([arm for _, arm in setting.others], one.model, results, work=f"train {one.name} again")
            for view, arm in setting.others:
                runs[one.name].setdefault(view, []).append(_run(setting, arm, view, by_arm[arm.name][TEST]))
    rows += _quality_rows(setting, runs)
    findings += [*_over_budget(setting, rows), *dominance_findings(setting.metric, rows)]
    if any(row.metric.startswith("energy_estimate.") for row in rows):
        message = "No counter of energy can be read on this machine: joules are ranges by an assumption."
        findings.append(Finding("energy", "skipped", message))
    machine = {"cores": cores(), "threads": usable_threads(), "processor": platform.machine()}
    settings = {one.name: {"base": one.base, "length": one.length, "batch": one.batch} for one in setting.candidates}
    return Output(rows, findings, {"machine": machine, "candidates": settings}, setting.data)


def _with_largest_batches(setting: CostSetting, results: Results) -> tuple[CostSetting, list[Finding]]:
    """The candidates with the largest batch that the budget allows each, instead of one that is not named yet."""
    if setting.budget is None:
        return setting, []
    open_ = {one.name: one for one in setting.candidates if one.looks_for_batch}
    steps = {name: largest_step(one, setting.train, setting.budget) for name, one in open_.items()}
    shared: dict[str, Any] = {"train": setting.train, **open_}
    carry_out(list(steps.values()), Inline(), results, shared, "look for the largest batch")
    candidates: dict[str, Candidate] = {}
    findings = []
    for one in setting.candidates:
        if not one.looks_for_batch:
            candidates.setdefault(one.name, one)
            continue
        largest, model = read_largest(steps[one.name], results), one.model
        peaks = "; ".join(f"{batch}: {in_bytes(peak)}" for batch, peak in sorted(largest.tried.items()))
        if largest.batch is None:
            message = f"{one.name} does not fit into {in_bytes(setting.budget)}, not even one text at a time ({peaks})."
            findings.append(Finding(f"budget[{one.name}]", "fail", message))
            continue
        assert model is not None
        bare = replace(model, params={name: value for name, value in model.params.items() if name != "batch"})
        made = _variant(bare, one.base, {}, one.length, largest.batch)
        candidates.setdefault(made.name, made)
        limit = "the budget" if largest.limited else "the number of texts, or the largest batch that is tried"
        message = f"{made.name} trains with batches of {largest.batch}; {limit} sets the limit. Peaks: {peaks}."
        findings.append(Finding(f"budget[{made.name}]", "ok", message))
    if not candidates:
        raise InputError(f"no model fits into {in_bytes(setting.budget)}", fix="a larger budget, or smaller models")
    return replace(setting, candidates=tuple(candidates.values())), findings


def _run(setting: CostSetting, arm: Arm, view: str, answered: Predictions) -> Run:
    rows = arm.ask[TEST].rows
    assert rows is not None
    return Run.of(setting.data, answered, rows, split=view, family=view, seed=arm.seed)


def _suite_rows(setting: CostSetting, candidate: Candidate, answered: Mapping[str, Predictions]) -> list[Measurement]:
    """The pass rate of all cases, of the training that is measured."""
    if setting.suite is None:
        return []
    renamed = in_words_of_suite(answered[SUITE], setting.suite, setting.suite_map)
    rates = measured_on_suite(setting.suite, renamed, tags={**candidate.tags, "view": SUITE})
    return [row for row in rates if row.metric == PASSED and row.slice == "all"][:1]


def _quality_rows(setting: CostSetting, runs: Mapping[str, Mapping[str, Sequence[Run]]]) -> Iterator[Measurement]:
    """The score of every candidate in every view, and its difference to the best one, on the same texts and seeds."""
    tags = {one.name: one.tags for one in setting.candidates}
    for view in (ORDINARY, HARD):
        levels = {}
        for name, by_view in runs.items():
            if view in by_view:
                levels[name] = Level(by_view[view], {**tags[name], "view": view}).measured(setting.metric, setting.seed)
                yield from levels[name]
        best = best_of({name: rows[0] for name, rows in levels.items()}, setting.metric)
        for name in levels:
            if best is not None and name != best:
                own = {**tags[name], "view": view, "than": best}
                yield from Contrast(runs[best][view], runs[name][view], own, sign="difference").measured(
                    setting.metric, setting.seed
                )


def best_of(levels: Mapping[str, Measurement], metric: str) -> str | None:
    """The name of the best score; None where there is none."""
    sign = 1 if metric == PASSED or metric_of(metric).higher_is_better else -1
    known = {name: sign * row.value for name, row in levels.items() if row.value is not None}
    return max(known, key=lambda name: known[name]) if known else None


# -- what is found -----------------------------------------------------------------------------------------------------


def _over_budget(setting: CostSetting, rows: Sequence[Measurement]) -> Iterator[Finding]:
    """Candidates whose whole training took more memory than the budget."""
    for row in rows:
        if row.metric == "memory.training" and setting.budget is not None and (row.value or 0) > setting.budget:
            name, taken = row.tags["model"], in_bytes(row.value)
            message = f"{name} took {taken} in training, more than {in_bytes(setting.budget)}."
            yield Finding(f"budget[{name}]", "warn", message)


def contenders(metric: str, rows: Sequence[Measurement], side: str) -> tuple[list[Contender], dict[str, Side]]:
    """Every candidate that has this cost, with its scores; and how each of them is compared."""
    scores = Side(metric_of(metric).higher_is_better)
    sides = {ORDINARY: scores, HARD: scores, SUITE: Side(True), side: Side(False, STEADY)}
    named: dict[str, dict[str, Measurement]] = {}
    for row in rows:
        own = named.setdefault(str(row.tags.get("model", "")), {})
        if row.metric == side:
            own[side] = row
        elif row.metric in (metric, PASSED) and "view" in row.tags and row.slice == "all":
            own.setdefault(str(row.tags["view"]), row)
    return [Contender(name, own) for name, own in named.items() if side in own and len(own) > 1], sides


def dominance_findings(metric: str, rows: Sequence[Measurement]) -> Iterator[Finding]:
    """Candidates that another one makes needless, by each cost."""
    for side, what in COSTS.items():
        for name, better in dominated_by(*contenders(metric, rows, side)).items():
            if better:
                message = f"{name} is dominated by {some(better)}: no better score, and no less {what}."
                yield Finding(f"dominated[{name}]", "warn", message)
