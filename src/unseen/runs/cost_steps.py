"""The steps of a cost run: the largest batch that memory allows, and one candidate measured from training to answers.

Both work in fresh processes: a model is trained in one, and asked in another, which has never trained anything.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen import inference
from unseen.costs.energy import Energy
from unseen.costs.meter import Cost, measure_cost
from unseen.costs.operations import counted_by_torch, operations, token_counts, training_tokens
from unseen.costs.speed import (
    LargestBatch,
    Repeated,
    ask_in_batches,
    in_fresh_process,
    largest_batch,
    latencies,
    texts_per_second,
    timed,
)
from unseen.engines import Step, Workspace
from unseen.errors import UnseenError
from unseen.machine import usable_threads
from unseen.models import as_classifier, open_model
from unseen.progress import reporting, track
from unseen.redaction import redacted
from unseen.runs.experiment import Arm, predictions_of
from unseen.runs.spaces import MODEL, Model, fit
from unseen.seeding import generator
from unseen.store import read_json, write_json, write_predictions
from unseen.store.files import file_name
from unseen.store.results import Results, key_of
from unseen.types import Dataset, Measurement, Predictions
from unseen.types.arrays import Rows

LARGEST = 256
"""Texts in the largest batch that is tried."""
LONGEST, OTHERS = 8, 24
"""Batches of the longest texts, and of texts of all other lengths, that a size is tried with: what a training takes
grows with the shapes that it meets."""
SHARE = 0.85
"""What a trial may take of the budget: whole trainings take more steps and keep their best weights, so more memory."""
FIT_SAMPLE = 1_000
"""Texts on which recipes without a clock of their own are timed."""
ASK_BATCHES = (1, 8, 32, 128)
ASKED_AT_ONCE = 32
"""The batch whose speed stands in the table of all candidates."""
ONE_BY_ONE = 100
COUNTED = 32
"""Texts asked about one at a time, and texts whose operations are counted."""
TOKENS_A_WORD = (1, 2)
"""Of a server's tokenizer, which nobody here knows."""
NUMBERS, LARGEST_FILE = "numbers.json", "largest.json"


@dataclass(frozen=True, eq=False)
class Candidate:
    """One setting of one model: a recipe that is trained, or a model that is asked as it is."""

    name: str
    base: str
    """The model as the user calls it; settings of one model share it."""
    model: Model | None = None
    """What is trained; None for a model that is there already."""
    place: Any = None
    """Of a model that is there: its place, or the classifier."""
    opening: Mapping[str, Any] = field(default_factory=dict)
    length: int | None = None
    """The limit of tokens, where it is one of several."""
    batch: int | None = None
    """The batch of training; None where the recipe has none, or the largest is looked for."""
    looks_for_batch: bool = False
    """Whether it is to train with the largest batch that the budget allows, which is not known yet."""

    @property
    def tags(self) -> dict[str, Any]:
        """What tells its numbers apart."""
        return {"model": self.name}

    def described(self) -> dict[str, Any]:
        """What decides its answers and its cost, the machine apart."""
        if self.model is not None:
            return self.model.described
        return {"model": redacted(inference.name_of(self.place))}

    @property
    def is_endpoint(self) -> bool:
        """Whether another machine answers."""
        return str(self.place).startswith(("http://", "https://"))

    def opened(self, folder: Path | None = None) -> Any:
        """The classifier: the one that was trained into `folder`, or the one that is there."""
        if folder is not None:
            return open_model(folder, **(self.model.opening.get("opening", {}) if self.model else {}))
        return as_classifier(self.place, **self.opening)


def batch_of(model: Model) -> int | None:
    """The batch that a recipe trains with; None where it has none."""
    outline = model.outline
    value = getattr(getattr(outline, "settings", outline), "batch", None)
    return value if isinstance(value, int) else None


# -- the largest batch -------------------------------------------------------------------------------------------------


def largest_step(candidate: Candidate, train: Dataset, budget: float) -> Step:
    """Look for the largest batch whose training stays within the budget of memory."""
    settings = {"model": candidate.described(), "train": [train.fingerprint, train.order], "budget": budget}
    shared = {"candidate": candidate.name, "train": "train"}
    return Step(f"largest batch of {candidate.name}", f"{__name__}:find_largest", settings, shared=shared)


def find_largest(here: Workspace) -> None:
    """Train a little with larger and larger batches, each in a process of its own."""
    candidate: Candidate = here.shared["candidate"]
    train: Dataset = here.shared["train"]
    assert candidate.model is not None
    by_length = train.take(np.argsort(-pc.utf8_length(train.texts).to_numpy(), kind="stable"))

    def peak(batch: int) -> float:
        try:
            return in_fresh_process(peak_of_training, candidate.model, by_length, batch)
        except UnseenError:
            return math.inf  # the process died for want of memory

    largest = largest_batch(peak, SHARE * here.settings["budget"], max(1, min(LARGEST, len(train) // 2)))
    content = {"batch": largest.batch, "limited": largest.limited, "tried": [*largest.tried.items()]}
    write_json(here.folder / LARGEST_FILE, content)


def read_largest(step: Step, results: Results) -> LargestBatch:
    """What `find_largest` wrote."""
    content = read_json(results.folder(step.key) / LARGEST_FILE)
    return LargestBatch(content["batch"], dict(map(tuple, content["tried"])), content["limited"])


def peak_of_training(model: Model, by_length: Dataset, batch: int) -> float:
    """Bytes at most while a recipe trains for an epoch on some batches, and validates on the longest texts.

    `by_length` are the training texts, the longest first. A whole training takes more steps and may take more memory;
    the page then says so.
    """
    once = {"epochs": 1} if "epochs" in inspect.signature(type(model.outline)).parameters else {}
    recipe = replace(model, params={**model.params, **once, "batch": batch}).recipe()
    longest, others = tried_texts(len(by_length), batch)
    train, dev = by_length.take(np.concatenate([longest, others])), by_length.take(longest)
    with measure_cost(idle_seconds=0) as cost, reporting(None), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few texts teach nothing
        recipe.fit(train, dev, 0)
    assert cost.peak_memory is not None
    return cost.peak_memory


def tried_texts(texts: int, batch: int) -> tuple[Rows, Rows]:
    """Places among texts by length: the first, and others in even steps."""
    longest = min(texts, LONGEST * batch)
    others = min(texts - longest, OTHERS * batch)
    return np.arange(longest), np.linspace(longest, texts - 1, others).astype(np.intp)


# -- one candidate -----------------------------------------------------------------------------------------------------


def measure_step(candidate: Candidate, arm: Arm, texts: Sequence[str], repeats: int) -> Step:
    """Train a candidate, ask it about the test sets of the arm, and measure both; `texts` are those it is timed on."""
    trained = {} if candidate.model is None else {"arm": arm.step(candidate.model).key}
    settings = {
        "model": candidate.described(), "ask": {name: key_of("ask", chosen.identity[:1])
                                                for name, chosen in arm.ask.items()},
        "texts": key_of("texts", list(texts)), "repeats": repeats, "threads": usable_threads(), **trained,
    }  # fmt: skip
    shared = {"candidate": candidate.name, "arm": f"arm of {candidate.name}", "texts": "texts"}
    uses_gpu = candidate.model is not None and candidate.model.is_transformer
    return Step(f"measure {candidate.name}", f"{__name__}:measure", settings, shared=shared, uses_gpu=uses_gpu)


def measure(here: Workspace) -> None:
    """Train in one fresh process and ask in another; a model that cannot be written is asked where it was trained."""
    candidate, arm, texts = here.shared["candidate"], here.shared["arm"], here.shared["texts"]
    repeats = here.settings["repeats"]
    numbers: dict[str, Any] = {}
    folder = None if candidate.model is None else here.scratch / MODEL
    if folder is not None:
        numbers = in_fresh_process(trained, candidate, arm, texts, repeats, folder, here.folder)
    if folder is None or folder.is_dir():
        numbers |= in_fresh_process(asked_afresh, candidate, arm, texts, repeats, folder, here.folder)
    write_json(here.folder / NUMBERS, numbers)


def read_measured(arm: Arm, step: Step, results: Results) -> tuple[Any, dict[str, Predictions]]:
    """The numbers of a candidate, and what it said about each test set."""
    return read_json(results.folder(step.key) / NUMBERS), predictions_of(arm, step, results)


def trained(candidate: Candidate, arm: Arm, texts: list[str], repeats: int, folder: Path, out: Path) -> dict[str, Any]:
    """Train it, write it to `folder`, and time its training steps."""
    model, train = candidate.model, arm.train.taken()
    assert model is not None
    with measure_cost() as cost, reporting(None):
        classifier = fit(model.described, train, arm.dev.taken(), arm.seed, folder.parent / "training")
    numbers: dict[str, Any] = {"training": _costs(cost)}
    numbers |= _training_speed(model, train, repeats)
    if (counts := training_tokens(classifier, train.texts.to_pylist())) is not None:
        numbers["tokens.training"] = [counts.true / counts.texts, counts.padded / counts.texts]
    if hasattr(classifier, "save"):
        classifier.save(folder)
        return numbers
    return numbers | _asked(candidate, classifier, arm, texts, repeats, out, {})


def asked_afresh(
    candidate: Candidate, arm: Arm, texts: list[str], repeats: int, folder: Path | None, out: Path
) -> dict[str, Any]:
    """Open it, ask about all test sets, and time its answers."""
    names = next(iter(arm.ask.values())).data.label_names
    with measure_cost(idle_seconds=0) as cost:
        classifier = inference.ready(candidate.opened(folder), names)
        ask_in_batches(classifier.predict_proba, texts, ASKED_AT_ONCE)
    memory = {} if candidate.is_endpoint else {"memory.inference": [cost.peak_memory]}
    return _asked(candidate, classifier, arm, texts, repeats, out, memory)


def _asked(
    candidate: Candidate, classifier: Any, arm: Arm, texts: list[str], repeats: int, out: Path, numbers: dict[str, Any]
) -> dict[str, Any]:
    names = next(iter(arm.ask.values())).data.label_names
    classifier = inference.ready(classifier, names)
    with reporting(None):
        for name, chosen in arm.ask.items():
            predictions = inference.predict(classifier, chosen.taken())
            write_predictions(predictions, out / f"{file_name(name)}.parquet")

        with measure_cost() as cost:
            ask_in_batches(classifier.predict_proba, texts, ASKED_AT_ONCE)
        speeds = {
            str(batch): texts_per_second(classifier.predict_proba, texts, batch, repeats).values
            for batch in ASK_BATCHES
        }
        slow = latencies(classifier.predict_proba, texts[:ONE_BY_ONE], repeats)
        numbers |= {
            "inference": _costs(cost), "texts": len(texts), "speed.inference": speeds,
            "latency": {str(share): repeated.values for share, repeated in slow.items()},
        }  # fmt: skip
        used = {str(batch): token_counts(classifier, texts, batch) for batch in ASK_BATCHES}
        numbers["batches"] = {batch: counts.batch for batch, counts in used.items() if counts is not None}
        if (counts := used[str(ASKED_AT_ONCE)]) is not None:
            numbers["tokens.inference"] = [counts.true / counts.texts, counts.padded / counts.texts]
        if not candidate.is_endpoint:
            counted = operations(classifier, texts[:COUNTED])
            numbers["operations.inference"] = counted / len(texts[:COUNTED]) if counted else None
    return numbers


def _training_speed(model: Model, train: Dataset, repeats: int) -> dict[str, Any]:
    """Texts per second in training, and operations per text where torch counts them.

    A transformer is timed over its own steps; another recipe is trained without dev texts, so that nothing is
    validated and no epoch is left out, and all its epochs count.
    """
    recipe, empty = model.recipe(), train.take([])
    sample = train.take(np.sort(generator(0, "cost").permutation(len(train))[:FIT_SAMPLE]))
    if hasattr(recipe, "speed"):
        few = train.take(np.arange(min(len(train), 2 * recipe.settings.batch)))
        steps = len(few) if len(few) > recipe.settings.batch else 2 * len(few)
        counted = counted_by_torch(lambda: recipe.speed(few, 1))
        speeds = tuple(recipe.speed(sample) for _ in track(range(repeats), "time the training", repeats))
        return {"speed.training": speeds, "operations.training": counted / steps or None}
    epochs = int(getattr(recipe, "epochs", 1))
    with reporting(None):
        spent = timed(lambda: recipe.fit(sample, empty, 0), repeats)
    return {"speed.training": tuple(len(sample) * epochs / seconds for seconds in spent.values)}


def _costs(cost: Cost) -> dict[str, Any]:
    """A cost as plain values."""
    return {
        "processor_seconds": cost.processor_seconds, "peak_memory": cost.peak_memory, "seconds": cost.seconds,
        "energy": vars(cost.energy),
    }  # fmt: skip


# -- as measurements ---------------------------------------------------------------------------------------------------


def cost_rows(
    candidate: Candidate, numbers: Mapping[str, Any], price: Mapping[str, float], words: float
) -> list[Measurement]:
    """The measurements of a candidate; `words` are those of a text, for the price of tokens."""
    tags, rows = candidate.tags, list[Measurement]()

    def add(metric: str, values: Sequence[float | None], **more: Any) -> None:
        known = Repeated(tuple(value for value in values if value is not None))
        if known.values:
            low, high = known.quartiles if len(known.values) > 1 else (None, None)
            rows.append(Measurement(metric, known.median, len(known.values), low, high, tags={**tags, **more}))

    for phase in ("training", "inference"):
        spent = numbers.get(phase)
        if spent is None:
            continue
        texts = numbers["texts"] / 1_000 if phase == "inference" else 1.0
        if not candidate.is_endpoint:
            add(f"processor_seconds.{phase}", [spent["processor_seconds"] / texts])
            rows += _energy_rows(phase, Energy(**spent["energy"]), texts, tags)
        for kind, value in zip(("true", "padded"), numbers.get(f"tokens.{phase}") or (), strict=False):
            add(f"tokens.{kind}", [value], phase=phase)
        add(f"operations.{phase}", [numbers.get(f"operations.{phase}")])
    if "training" in numbers:
        add("seconds.training", [numbers["training"]["seconds"]])
        add("memory.training", [numbers["training"]["peak_memory"]])
        add("speed.training", numbers["speed.training"])
        add("batch.training", [candidate.batch])
    add("memory.inference", numbers.get("memory.inference") or [])
    for batch, values in (numbers.get("speed.inference") or {}).items():
        used = (numbers.get("batches") or {}).get(batch)
        mark = {} if int(batch) == ASKED_AT_ONCE else {"asked_at_once": int(batch)}
        add("speed.inference", values, **mark)
        add("batch.inference", [used], **mark)
    for share, values in (numbers.get("latency") or {}).items():
        add(f"latency.p{share}", values)
    if candidate.is_endpoint:
        rows += _money_rows(candidate, price, words)
    return rows


def _energy_rows(phase: str, energy: Energy, texts: float, tags: Mapping[str, Any]) -> list[Measurement]:
    """Measured joules, or the range of an estimate under another name; per 1,000 texts of inference."""
    if energy.joules is not None:
        idle = {} if energy.idle is None else {"idle": round(energy.idle / texts, 3)}
        own = {**tags, "source": energy.source, **idle}
        return [Measurement(f"energy.{phase}", energy.joules / texts, 1, tags=own)]
    if energy.low is None or energy.high is None:
        return []
    low, high = energy.low / texts, energy.high / texts
    return [Measurement(f"energy_estimate.{phase}", None, 0, low, high, tags=tags)]


def _money_rows(candidate: Candidate, price: Mapping[str, float], words: float) -> list[Measurement]:
    """What 1,000 texts cost at an endpoint: by calls a number, by tokens, which only the server knows, a range."""
    rows, tags = [], candidate.tags
    if "call" in price:
        texts = min(ASKED_AT_ONCE, int(candidate.opening.get("batch", ASKED_AT_ONCE)))
        rows.append(Measurement("money.inference", 1_000 / texts * price["call"], 1, tags=tags))
    if "tokens" in price:
        low, high = (words * tokens * price["tokens"] for tokens in TOKENS_A_WORD)  # the price is of 1,000 tokens
        rows.append(Measurement("money_estimate.inference", None, 0, low, high, tags=tags))
    return rows


def accepts_batch(model: Model) -> bool:
    """Whether the batch of a recipe can be set."""
    return batch_of(model) is not None and "batch" in inspect.signature(type(model.outline)).parameters
