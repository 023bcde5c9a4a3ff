"""Whether a property of texts survives a transformation, and whose fault it is where it does not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from unseen import inference
from unseen.errors import InputError, MismatchError
from unseen.evaluation import measure
from unseen.evaluation.contrasts import paired_over_rows
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.invariance import (
    IDENTITY,
    MARGIN,
    RETRAINED,
    SIDES,
    AnsweredPairs,
    BiasVerdict,
    HeldOut,
    held_out_f1,
    outcome,
)
from unseen.evaluation.measurements import groups_of_rows
from unseen.functional.transformations import Transform, column_texts, function_texts, perturbed_texts, with_texts
from unseen.models import as_classifier
from unseen.redaction import redacted
from unseen.registry import VERSION
from unseen.reports.invariance_page import FLIPS, TRIALS, findings_of, side_findings
from unseen.runs.experiment import Arm, Chosen, answers, in_order
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.source import load_data
from unseen.runs.spaces import Model
from unseen.seeding import child_seed
from unseen.splits.split_records import dealt, random_rows
from unseen.store.files import file_name, harmless, write_rows
from unseen.store.results import Results
from unseen.store.run_folder import RunFolder
from unseen.training import RECIPES
from unseen.types import Dataset, Measurement, Predictions, some
from unseen.types.arrays import Floats, Mask, Rows

RECIPE = "char-ngrams"
FLOORS = ("lower", "swap")
"""Perturbations that change no property: the text in small letters, two letters of one word swapped."""
FOLDS = 5
DEV = 0.1
ORIGINAL = SIDES[0]
SCORES = ("accuracy", "f1.macro")
Answers = Mapping[str, Predictions]
"""What a classifier says, by the name of what it was asked about."""


class Asked(NamedTuple):
    """What a classifier said: at once, when it was trained again, and about held-out texts of its own."""

    main: Answers
    again: Sequence[Answers] = ()
    held: HeldOut | None = None


@dataclass(frozen=True, eq=False)
class Instrument:
    """A classifier of the property: one that is trained, and again without each fold of its texts; or one as it is."""

    name: str
    model: Any
    """A recipe, or without `train` a model's place or a classifier."""
    train: Dataset | None
    params: Mapping[str, Any] = field(default_factory=dict)
    """Of the recipe, or of `unseen.models.open_model`."""
    folds: int = FOLDS

    def described(self) -> dict[str, Any]:
        """What decides its answers."""
        if self.train is not None:
            return {"model": self.recipe.described, "train": described_data(self.train), "folds": self.folds}
        return {"model": redacted(inference.name_of(self.model)), "train": None, "folds": 0}

    def check(self) -> None:
        """Refuse a recipe that cannot be made, or that has nothing to learn from."""
        if self.train is not None:
            self.recipe.check()
        elif isinstance(self.model, str) and VERSION.sub("", self.model) in RECIPES:
            raise InputError(
                f"the recipe {self.model!r} needs texts to learn the property from",
                fix="train=… (--train FILE), or a model that has learnt it: model=… (--model)",
            )

    @property
    def recipe(self) -> Model:
        """What is trained."""
        return replace(Model.of(self.model), params=dict(self.params))

    def ask(self, texts: Mapping[str, Dataset], results: Results, workers: int, seed: int) -> Asked:
        """What it says about texts."""
        if self.train is None:
            model = as_classifier(self.model, **self.params)
            return Asked(
                {name: inference.predict(model, data, work=f"ask about {name}") for name, data in texts.items()}
            )
        arms = self._arms(self.train, texts, seed)
        asked = answers(arms, self.recipe, results, workers=workers)
        main, *again = (asked[arm.name] for arm in arms)
        if not again:
            return Asked(main)
        held = [part["held out"] for part in again]
        golds = [arm.ask["held out"].taken().labels for arm in arms[1:]]
        probabilities = np.concatenate([part.probabilities for part in held])
        return Asked(main, again, HeldOut(np.concatenate(golds), probabilities))

    def _arms(self, train: Dataset, texts: Mapping[str, Dataset], seed: int) -> list[Arm]:
        """The training on everything, and one without each fold, which asks about the fold too."""
        everything = in_order(train, np.arange(len(train)))
        fold = dealt(train, self.folds, child_seed(seed, "invariance"))[everything] if self.folds else np.empty(0)
        whole = {name: Chosen(data) for name, data in texts.items()}
        arms = [self._arm(f"{self.name} classifier", everything, whole, seed)]
        for number in range(self.folds):
            held = everything[fold == number]
            asked = {**whole, "held out": Chosen(train, held)}
            name = f"{self.name} classifier without fold {number + 1}"
            arms.append(self._arm(name, everything[fold != number], asked, seed + 1 + number))
        return arms

    def _arm(self, name: str, rows: Rows, asked: Mapping[str, Chosen], seed: int) -> Arm:
        assert self.train is not None
        dev = np.zeros(len(rows), bool)
        if getattr(self.recipe.outline, "needs_dev", True):
            dev, _ = random_rows(self.train.take(rows), "dev", DEV, seed=seed)
        return Arm(name, Chosen(self.train, rows[~dev]), Chosen(self.train, rows[dev]), asked, seed)


def invariance(
    data: Any,
    *,
    transformed: Mapping[str, Sequence[str] | Transform] | None = None,
    columns: Sequence[str] = (),
    perturbations: Sequence[str] = (),
    model: Any = RECIPE,
    train: Any = None,
    params: Mapping[str, Any] | None = None,
    model_transformed: Any = None,
    train_transformed: Any = None,
    folds: int = FOLDS,
    margin: float = MARGIN,
    trial: str = TRIALS[0],
    groups: str | None = None,
    texts: bool = False,
    out: str | Path | None = None,
    workers: int = 1,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """Whether the property that is the label of `data` survives transformations of its texts.

    `data`, `train` and `train_transformed` are what `unseen.load` takes, or Datasets, `model` what `unseen.open_model`
    takes, or a classifier. Transformations are `transformed`, by name their texts in the order of the rows or a
    function of a list of texts, `columns` of the data, and `perturbations` by name. With `train` the property is told
    by a recipe, `model`, trained on it, and again without each of `folds` folds; without `train`, by a model that is
    opened or given. `params` are parameters of the recipe or of `unseen.models.open_model`. `train_transformed` or
    `model_transformed` make a second classifier, for transformed texts in another language. Two classifiers are
    compared only if their macro F1 on held-out texts differ by at most `margin`. `trial` is what the verdict is about:
    the transformation, or the model where the transformation keeps the meaning. `texts` writes the texts that flip into
    the folder.
    """
    bounds = parsed_gates(gates)
    data = load_data(data, {}, [*columns, *filter(None, [groups])])
    train, train_transformed = (None if one is None else load_data(one, {}, ()) for one in (train, train_transformed))
    _check(data, train, train_transformed, folds, trial)
    if groups is not None:
        data.attribute(groups)
    versions = versions_of(data, transformed or {}, columns, perturbations, seed)
    first = Instrument(ORIGINAL, model, train, params or {}, folds)
    second = None
    if train_transformed is not None or model_transformed is not None:
        used = model if model_transformed is None else model_transformed
        second = Instrument(SIDES[1], used, train_transformed, params or {}, folds)
    for instrument in filter(None, (first, second)):
        instrument.check()
    floors = {
        name: with_texts(data, perturbed_texts(data, name, seed), name) for name in FLOORS if name not in versions
    }
    about = {
        "data": described_data(data),
        "transformed": {name: described_data(version.data) for name, version in versions.items()},
        "classifiers": {one.name: one.described() for one in filter(None, (first, second))},
        "settings": {"margin": margin, "trial": trial, "groups": groups, "seed": seed, "floors": list(floors)},
    }

    def work(folder: RunFolder) -> Output:
        changed = {name: version.data for name, version in versions.items()}
        sources = {ORIGINAL: data, IDENTITY: data, **floors}
        before = first.ask(sources if second else {**sources, **changed}, folder.results, workers, seed)
        after = None if second is None else second.ask(changed, folder.results, workers, seed)
        rows, outcomes, pairs = judge(data, versions, list(floors), before, after, groups, margin, seed)
        write_flips(folder / FLIPS, data, versions, pairs, texts)
        findings = [
            one for name, kind in outcomes.items() for one in findings_of(name, kind, rows, second is None, trial)
        ]
        findings += side_findings(rows, list(versions), is_retrained=bool(before.again))
        more = {"outcomes": {name: kind._asdict() for name, kind in outcomes.items()}, "texts": texts}
        files = {file_name(name): part for name, part in {**before.main, **(after or before).main}.items()}
        return Output(rows, findings, more, data, predictions=files)

    return carry_through("invariance", about, work, out=out, command=command, gates=bounds)


@dataclass(frozen=True, eq=False)
class Version:
    """What a transformation made of the texts; rows for which it gave nothing are left out."""

    data: Dataset
    rows: Rows
    unchanged: Mask
    lengths: Floats
    """Characters of each version by those of its original."""


def _check(data: Dataset, train: Dataset | None, second: Dataset | None, folds: int, trial: str) -> None:
    if trial not in TRIALS:
        raise InputError("trial says what is on trial", expected=" or ".join(TRIALS), got=repr(trial))
    if folds == 1 or folds < 0:
        raise InputError("folds are at least 2, or 0 for no training again", got=str(folds))
    present = [name for name, count in data.label_counts.items() if count]
    if len(present) < 2:
        raise InputError(
            f"all texts of {data.name} have one property", got=some(present), expected="texts of at least two classes"
        )
    for learnt in filter(None, (train, second)):
        if learnt.label_names != data.label_names:
            raise MismatchError(
                f"{learnt.name} declares other classes than {data.name}", expected=some(data.label_names, 20),
                got=some(learnt.label_names, 20), fix="labels=[…] (--labels) for all of them",
            )  # fmt: skip


def versions_of(
    data: Dataset,
    given: Mapping[str, Sequence[str] | Transform],
    columns: Sequence[str],
    perturbations: Sequence[str],
    seed: int,
) -> dict[str, Version]:
    """The transformed texts by name, after refusing what does not match."""
    made: dict[str, list[str]] = {}
    for name, value in given.items():
        made[name] = function_texts(data, value) if callable(value) else [text or "" for text in value]
    made |= {name: column_texts(data, name) for name in columns}
    made |= {name: perturbed_texts(data, name, seed) for name in perturbations}
    if not made:
        raise InputError(
            "no transformation is named",
            fix="transformed texts (--transformed FILE or COLUMN), a function (--transform), or perturbations (--with)",
        )
    taken = set(made) & {ORIGINAL, IDENTITY, "held out"}
    if taken:
        raise InputError(f"a transformation cannot be called {some(taken)}", fix="name it: NAME=FILE")
    return {name: _version(data, texts, name) for name, texts in made.items()}


def _version(data: Dataset, texts: Sequence[str], name: str) -> Version:
    if len(texts) != len(data):
        raise MismatchError(f"{name!r} has another number of texts", expected=f"{len(data):,}", got=f"{len(texts):,}")
    originals = data.texts.to_pylist()
    kept = [row for row, text in enumerate(texts) if text.strip()]
    if not kept:
        raise InputError(f"all texts of {name!r} are empty")
    unchanged = np.array([texts[row].strip() == originals[row].strip() for row in kept])
    lengths = np.array([len(texts[row]) / max(1, len(originals[row])) for row in kept])
    return Version(with_texts(data, texts, name).take(kept), np.array(kept), unchanged, lengths)


def judge(
    data: Dataset,
    versions: Mapping[str, Version],
    floors: Sequence[str],
    before: Asked,
    second: Asked | None,
    groups: str | None,
    margin: float,
    seed: int,
) -> tuple[list[Measurement], dict[str, BiasVerdict], dict[str, AnsweredPairs]]:
    """Every number, and what can be said of each transformation; a second classifier is asked about its texts."""
    rows, outcomes, judged = list[Measurement](), dict[str, BiasVerdict](), dict[str, AnsweredPairs]()
    for name, version in versions.items():
        tags = {"transformation": name}
        pairs = judged[name] = _pairs(data, version, name, floors, before, second, groups)
        measured = pairs.measurements(tags, seed=seed)
        outcomes[name] = outcome(pairs, measured, margin)
        rows += [*measured, *_scores(version, name, before, second or before, groups, seed)]
        rows += _side_conditions(data, version, tags)
    for side, asked in zip(SIDES, (before, second), strict=True):
        if asked is not None and asked.held is not None:
            value, tags = held_out_f1(asked.held, data.label_names), {"classifier": side}
            rows.append(Measurement("held_out.f1.macro", value, len(asked.held.gold), tags=tags))
    return rows, outcomes, judged


def _pairs(
    data: Dataset, version: Version, name: str, floors: Sequence[str], first: Asked, second: Asked | None,
    groups: str | None,
) -> AnsweredPairs:  # fmt: skip
    of, rows, last = first.main[ORIGINAL].probabilities[version.rows], version.rows, second or first
    before = [one[ORIGINAL].probabilities[rows] for one in first.again]
    after = [one[name].probabilities for one in last.again]
    transformed = last.main[name].probabilities
    flips = {floor: _flipped(of, first.main[floor].probabilities[rows]) for floor in (IDENTITY, *floors)}
    if before:
        flips[RETRAINED] = np.mean([_flipped(of, one) for one in before], axis=0)
    if second is not None and after:
        flips[f"{RETRAINED}, transformed"] = np.mean([_flipped(transformed, one) for one in after], axis=0)
    held = dict(zip(SIDES, (first.held, last.held), strict=True))
    return AnsweredPairs(
        version.data.labels, of, transformed, data.label_names, flips, ~version.unchanged,
        list(zip(before, after, strict=False)), {side: one for side, one in held.items() if one is not None},
        second is not None, groups_of_rows(version.data, np.arange(len(rows)), groups),
    )  # fmt: skip


def _flipped(first: Floats, second: Floats) -> Floats:
    return np.asarray(first.argmax(axis=1) != second.argmax(axis=1), np.float64)


def _scores(version: Version, name: str, first: Asked, last: Asked, groups: str | None, seed: int) -> list[Measurement]:
    """Scores on both sides, and the fall from before to after."""
    data, everything = version.data, np.arange(len(version.data))
    before, after = _on(first.main[ORIGINAL], version), last.main[name]
    rows = []
    for side, predictions in zip(SIDES, (before, after), strict=True):
        tags = {"transformation": name, "side": side}
        rows += measure(data, predictions, everything, SCORES, groups=groups, tags=tags, seed=seed)
    for score in SCORES:
        tags = {"transformation": name}
        row = paired_over_rows(data, before, after, everything, score, groups=groups, tags=tags, seed=seed)
        rows.append(replace(row, metric=f"fall.{score}"))
    return rows


def _on(predictions: Predictions, version: Version) -> Predictions:
    """What was said about the originals of a version."""
    return replace(predictions, ids=version.data.ids, probabilities=predictions.probabilities[version.rows])


def _side_conditions(data: Dataset, version: Version, tags: Mapping[str, Any]) -> list[Measurement]:
    n, kept = len(data), len(version.rows)
    return [
        Measurement("empty", 1 - kept / n, n, tags=tags),
        Measurement("unchanged", float(version.unchanged.mean()), kept, tags=tags),
        Measurement("length_ratio", float(np.median(version.lengths)), kept, tags=tags),
        Measurement("longer", float((version.lengths > 1).mean()), kept, tags=tags),
    ]


def write_flips(
    path: Path, data: Dataset, versions: Mapping[str, Version], judged: Mapping[str, AnsweredPairs], texts: bool
) -> None:
    """Every text whose answer flips, the surest first: its id, gold label and answers; with `texts`, both texts."""
    names, more, lines = data.label_names, ["original", "transformed"] if texts else [], []
    for name, pairs in judged.items():
        version = versions[name]
        moved = np.abs(pairs.original - pairs.transformed).sum(axis=1) / 2
        ids, before, after = version.data.ids.to_pylist(), *pairs.predicted
        for row in sorted(np.flatnonzero(pairs.flips).tolist(), key=lambda row: (-moved[row], ids[row])):
            cells = [name, ids[row], names[pairs.gold[row]], names[before[row]], names[after[row]]]
            both = [data.texts[int(version.rows[row])].as_py(), version.data.texts[row].as_py()] if texts else []
            lines.append([*map(harmless, map(str, cells)), f"{moved[row]:.3f}", *map(harmless, both)])
    write_rows(path, ["transformation", "id", "gold", "before", "after", "moved", *more], lines)
