"""What programs can do to a model: attacks on texts that it gets right, judged by whether the label still holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen import inference
from unseen.attacks import ATTACKS
from unseen.attacks.dictionaries import read_pairs, read_tags
from unseen.attacks.rating_sheet import ATTEMPTS, EXAMPLES
from unseen.attacks.ratings import mean_row
from unseen.attacks.recipes import prepare_for
from unseen.attacks.search import Attempt, Informants, attack_texts
from unseen.attacks.validity import CHECKS, ChangedText, Knowledge, judged, learn_label_words
from unseen.attacks.worded_text import edit_rate
from unseen.errors import InputError, installed
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.evaluation.intervals import newcombe
from unseen.functional.rates import rate
from unseen.functional.suite import suite_of
from unseen.functional.tables import write_suite
from unseen.models import as_classifier
from unseen.reports.attack_page import RAW, SUITE, VALID
from unseen.runs.chosen_texts import registered, slices_of, some_texts
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, split_of
from unseen.store import read_json, write_json
from unseen.store.files import content_of, harmless, write_rows
from unseen.store.results import key_of
from unseen.store.run_folder import RunFolder
from unseen.types import Dataset, Measurement, Origin, Split, bounded
from unseen.types.arrays import Floats, Mask

LIMIT = 100
"""Texts that are attacked when nothing is said."""
AT_ONCE = 50
"""Texts that are searched side by side, and what an interruption may lose."""


@dataclass(frozen=True, eq=False)
class Attacked:
    """What one attack did to the texts."""

    name: str
    changes: str
    """words or characters."""
    data: Dataset
    attempts: Sequence[Attempt]
    known: Knowledge

    @cached_property
    def attacked(self) -> Mask:
        """Texts that the model got right, which alone are attacked."""
        return np.array([attempt.status != "skipped" for attempt in self.attempts])

    @cached_property
    def flipped(self) -> Mask:
        """Texts that were changed so that the model gives another label."""
        return np.array([attempt.status == "flipped" for attempt in self.attempts])

    @cached_property
    def checks(self) -> dict[str, Floats]:
        """What each check says of each flip: 1 it holds, 0 it does not, NaN it cannot be told, or nothing flipped."""
        rows, texts, names = np.flatnonzero(self.flipped), self.data.texts, self.data.label_names
        changes = [
            ChangedText(
                texts[row].as_py(), self.attempts[row].text, names[self.data.labels[row]], self.changes == "characters"
            )
            for row in rows.tolist()
        ]
        verdicts = {name: np.full(len(self.data), np.nan) for name in CHECKS}
        for name, of_flips in judged(changes, self.known).items():
            verdicts[name][rows] = [np.nan if one is None else float(one) for one in of_flips]
        return verdicts

    @cached_property
    def valid(self) -> Mask:
        """Flips that no check objects to."""
        return self.flipped & ~np.any([verdicts == 0 for verdicts in self.checks.values()], axis=0)

    @cached_property
    def edit_rates(self) -> Floats:
        """Share of words that were changed in each flip; NaN elsewhere."""
        return np.array(
            [
                edit_rate(text, attempt.text) if attempt.status == "flipped" else np.nan
                for text, attempt in zip(self.data.texts.to_pylist(), self.attempts, strict=True)
            ]
        )

    def measurements(self, slices: Mapping[str, Mask]) -> list[Measurement]:
        """Success raw and valid, accuracy before and under attack, queries and changed words, on every slice."""
        queries = np.array([attempt.queries for attempt in self.attempts], np.float64)
        shares = {
            RAW: np.where(self.attacked, self.flipped, np.nan), VALID: np.where(self.attacked, self.valid, np.nan),
            "accuracy": self.attacked.astype(float), "accuracy.attacked": (self.attacked & ~self.flipped).astype(float),
        }  # fmt: skip
        shares |= {f"check.{name.replace(' ', '_')}": verdicts for name, verdicts in self.checks.items()}
        tags: dict[str, str | int | float] = {"attack": self.name}
        texts, rows = np.arange(len(self.data)), list[Measurement]()
        for name, within in slices.items():
            rows += [
                rate(metric, values[within], texts[within], slice=name, tags=tags) for metric, values in shares.items()
            ]
            means = {"queries": queries[within & self.attacked], "edit_rate": self.edit_rates[within & self.flipped]}
            rows += [replace(mean_row(metric, values.tolist(), tags), slice=name) for metric, values in means.items()]
        return rows

    def part_difference(self, slices: Mapping[str, Mask]) -> list[Measurement]:
        """By how much the hard part of a split is easier to attack than the part that was set aside at random."""
        hard, aside = (slices.get(f"part={name}") for name in ("test", "independent"))
        if hard is None or aside is None or not ((hard & self.attacked).any() and (aside & self.attacked).any()):
            return []
        rows = []
        for metric, hits in ((RAW, self.flipped), (VALID, self.valid)):
            counts = [(int((hits & part).sum()), int((self.attacked & part).sum())) for part in (hard, aside)]
            value = counts[0][0] / counts[0][1] - counts[1][0] / counts[1][1]
            low, high = newcombe(*counts[0], *counts[1])
            tags = {"attack": self.name, "parts": "test - independent"}
            n = counts[0][1] + counts[1][1]
            rows.append(Measurement(f"difference.{metric}", value, n, low, high, tags=tags))
        return rows


def attack(
    data: Any,
    *,
    model: Any,
    attacks: Sequence[str] = (),
    params: Mapping[str, Mapping[str, Any]] | None = None,
    limit: int | None = LIMIT,
    queries: int | None = None,
    slices: Sequence[str] = (),
    split: Split | str | Path | None = None,
    antonyms: Sequence[str | Path] = (),
    tags: str | Path | None = None,
    language: str | None = "en",
    texts: bool = False,
    rename: Mapping[str, str] | None = None,
    opening: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """Attack texts of `data` that `model` gets right, and tell how many flips keep the label.

    `data` is what `unseen.load` takes, or a Dataset, `model` what `unseen.open_model` takes, or a classifier, `split` a
    Split or a file. Without `attacks` those that need no further files. `params` are parameters of attacks, {"pwws":
    {"wordnet": …}}. `queries` is what one text may cost. `slices` and the parts of `split` are judged apart. `antonyms`
    (files with two words on each line) and `tags` (parts of speech) are what checks of validity know beside the data;
    words that carry a label are learnt from the data. `texts` writes changed texts: a suite of the valid ones,
    examples, and an interrupted run goes on. `opening` are parameters of `unseen.models.open_model`.
    """
    bounds = parsed_gates(gates)
    data = load_data(data, {}, slices)
    split = split_of(data, split)
    opened = inference.ready(as_classifier(model, rename=rename, **(opening or {})), data.label_names)
    if queries is not None and queries < 1:
        raise InputError("queries must be at least 1", got=repr(queries))
    chosen = some_texts(data, limit, seed, split)
    within = slices_of(chosen, slices, split) | _labels(chosen)
    made = registered(ATTACKS, list(attacks) or default_attacks(), params or {}, "attack")
    for one in made.values():
        prepare_for(one, opened)
    known = Knowledge(
        learn_label_words(data), _pairs(antonyms), None if tags is None else read_tags(tags),
        "minilm" if installed("models") else None, language,
    )  # fmt: skip
    about = {
        "data": described_data(chosen), "model": inference.name_of(model), "split": described_split(split),
        "settings": {
            "attacks": {name: params_of(one) for name, one in made.items()}, "queries": queries, "slices": list(slices),
            "antonyms": [Path(file).name for file in antonyms], "tags": None if tags is None else Path(tags).name,
            "language": language, "seed": seed,
        },
    }  # fmt: skip
    mark = content_of(model) if isinstance(model, str | Path) else ""

    def work(folder: RunFolder) -> Output:
        keeping = folder if texts and mark else None
        every = [
            Attacked(name, one.changes, chosen, _attempts(name, one, opened, chosen, queries, keeping, mark), known)
            for name, one in made.items()
        ]
        rows = [row for one in every for row in (*one.measurements(within), *one.part_difference(within))]
        _write_attempts(every, folder / ATTEMPTS)
        if texts:
            _write_texts(every, folder)
        more = {
            "texts": len(chosen), "unchecked": known.unchecked,
            "what": {name: ATTACKS.summary(name) for name in made}, "keeps_texts": texts,
        }  # fmt: skip
        return Output(rows, (), more, chosen)

    return carry_through("attack", about, work, out=out, command=command, gates=bounds)


def default_attacks() -> list[str]:
    """Attacks that need nothing but what is installed."""
    return ["characters", *(["textfooler-minilm"] if installed("models") else [])]


def params_of(one: Any) -> dict[str, Any]:
    """The parameters of an attack, paths by their last part: where a file lies decides nothing."""
    params = {name: value for name, value in vars(one).items() if name in type(one).__dataclass_fields__}
    return {
        name: Path(value).name if isinstance(value, str) and "/" in value else value for name, value in params.items()
    }


def _pairs(files: Sequence[str | Path]) -> Mapping[str, tuple[str, ...]] | None:
    if not files:
        return None
    partners: dict[str, tuple[str, ...]] = {}
    for file in files:
        for word, others in read_pairs(file).items():
            partners[word] = (*partners.get(word, ()), *others)
    return partners


def _labels(data: Dataset) -> dict[str, Mask]:
    return {f"label={name}": data.labels == code for code, name in enumerate(data.label_names)}


def _attempts(
    name: str, one: Any, model: Any, data: Dataset, queries: int | None, folder: RunFolder | None, mark: str
) -> list[Attempt]:
    """What an attack does to all texts, some at a time; what is done is kept where a run may keep texts."""
    columns = inference.matched(model.classes_, data.label_names)
    source = getattr(one, "source", None)
    informants = Informants(
        lambda texts: inference.answers(model, texts)[:, columns],
        None if source is None else source.candidates, getattr(one, "similarity", None),
    )  # fmt: skip
    every = bounded(data.texts.to_pylist(), data.ids.to_pylist())
    attempts: list[Attempt] = []
    for start in range(0, len(every), AT_ONCE):
        texts, labels = every[start : start + AT_ONCE], data.labels[start : start + AT_ONCE].tolist()
        make = partial(attack_texts, texts, labels, one.search, informants, queries, f"attack by {name}")
        if folder is None:
            attempts += make()
            continue
        settings = {"attack": name, "params": params_of(one), "texts": key_of("texts", texts), "queries": queries}
        key, step = key_of("attack", [settings, mark]), {"step": f"attack by {name}", "settings": settings, "needs": {}}
        kept = folder.results.made(key, step, partial(_keep, make)) / "attempts.json"
        attempts += [_attempt(**one) for one in read_json(kept)["attempts"]]
    return attempts


def _keep(make: Any, folder: Path) -> None:
    write_json(folder / "attempts.json", {"attempts": [asdict(attempt) for attempt in make()]})


def _attempt(before: Sequence[float], after: Sequence[float], **fields: Any) -> Attempt:
    return Attempt(before=tuple(before), after=tuple(after), **fields)


def _write_attempts(every: Sequence[Attacked], path: Path) -> None:
    """A line a text and attack, without the text."""
    names, lines = every[0].data.label_names, []
    for one in every:
        for row, (key, attempt) in enumerate(zip(one.data.ids.to_pylist(), one.attempts, strict=True)):
            label, flipped = int(one.data.labels[row]), attempt.status == "flipped"
            objections = ", ".join(name for name, verdicts in one.checks.items() if verdicts[row] == 0)
            lines.append([
                one.name, harmless(key), harmless(names[label]), attempt.status,
                harmless(names[int(np.argmax(attempt.after))]), f"{attempt.before[label]:.4f}",
                f"{attempt.after[label]:.4f}", attempt.queries, attempt.repeated,
                f"{one.edit_rates[row]:.3f}" if flipped else "", str(bool(one.valid[row])) if flipped else "",
                objections,
            ])  # fmt: skip
    columns = (
        "attack", "id", "label", "status", "predicted", "probability_before", "probability_after", "queries",
        "repeated", "edit_rate", "valid", "objections",
    )  # fmt: skip
    write_rows(path, columns, lines)


def _write_texts(every: Sequence[Attacked], folder: RunFolder) -> None:
    """The valid flips as a suite, with their originals, and examples for the page, valid ones first."""
    data, cases = every[0].data, dict[str, dict[str, str | None]]()
    names, ids, texts = data.label_names, data.ids.to_pylist(), data.texts.to_pylist()
    examples = []
    for one in every:
        for row in sorted(np.flatnonzero(one.flipped).tolist(), key=lambda row: not one.valid[row]):
            original = {"id": ids[row], "text": texts[row], "label": names[data.labels[row]], "template": ids[row]}
            changed = one.attempts[row]
            if one.valid[row]:
                cases[ids[row]] = original | {"functionality": "original", "kind": "functional"}
                version = {"id": f"{ids[row]}-{one.name}", "text": changed.text, "functionality": one.name}
                cases[f"{ids[row]}-{one.name}"] = original | version | {"kind": "functional", "reference": ids[row]}
            examples.append({
                "attack": one.name, "id": ids[row], "label": names[data.labels[row]], "original": texts[row],
                "changed": changed.text, "predicted": names[int(np.argmax(changed.after))],
                "valid": bool(one.valid[row]),
                "objections": [name for name, verdicts in one.checks.items() if verdicts[row] == 0],
            })  # fmt: skip
    if cases:
        origin = Origin("attack", {"attacks": [one.name for one in every]}, inputs={"data": data.fingerprint})
        write_suite(suite_of(f"{data.name}-attacked", list(cases.values()), names, origin), folder / SUITE)
    write_json(folder / EXAMPLES, {"examples": examples})
