"""Why a model decided so, and whether the why can be trusted: explanations of texts, judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from unseen import inference
from unseen.data.rationales import mask_of, rationales_of
from unseen.data.rows import IfThere
from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.explanations import EXPLAINERS
from unseen.explanations.attribution_file import read_attributions, write_attributions
from unseen.explanations.baselines import FEWEST, LexiconScores
from unseen.explanations.faithfulness import ErasureBounds, Faithfulness, erasure_bounds, faithfulness, leave_one_out
from unseen.explanations.measurements import faithfulness_metrics, measured, plausibility_metrics, wrong_reasons
from unseen.explanations.plausibility import floors_and_ceilings, plausibility, union
from unseen.explanations.probes import false_alarms, swap_probe
from unseen.explanations.subject import PREDICTED, Attributions, ExplainedTexts
from unseen.models import as_classifier
from unseen.registry import VERSION
from unseen.reports.explain_page import HIGHLIGHTS
from unseen.runs.chosen_texts import registered, slices_of, some_texts
from unseen.runs.frame import Output, Result, carry_through, described_data, described_split
from unseen.runs.source import load_data, split_of
from unseen.store import write_json
from unseen.store.files import content_of
from unseen.store.results import key_of
from unseen.store.run_folder import RunFolder
from unseen.subgroups.groups import checked_terms
from unseen.types import Dataset, Explanation, Measurement, Split, as_names, bounded
from unseen.types.arrays import Floats, Mask, Rows

RATIONALES, ATTRIBUTIONS = "rationales", "attributions.npz"
LIMIT = 200
"""Texts that are explained when nothing is said."""
AT_ONCE = 50
"""Texts of a step: what an interruption may lose."""
NORMALISED, WIDTH = 50, 2
"""Texts whose best and worst order is searched for, the first ones, and the width of the search: it asks the most."""
SHOWN = 30
"""Texts that the page shows with their words highlighted."""
DEFAULT = {"answers": ("occlusion", "partition-shap"), "gradients": ("gradient-input",), "attention": ("attention",)}
"""Methods by what they need, when none is named; chance stands beside them."""


@dataclass(frozen=True, eq=False)
class Explanations:
    """Texts with what methods say about them."""

    data: Dataset
    subject: ExplainedTexts
    scores: Mapping[str, Sequence[Floats]]
    notes: Mapping[str, Mapping[str, Floats]] = field(default_factory=dict)

    @cached_property
    def right(self) -> Mask:
        """Whether the model gives the label of the data."""
        return self.subject.probabilities.argmax(axis=1) == self.data.labels

    @cached_property
    def annotators(self) -> list[list[Mask]] | None:
        """The units that each annotator of each text highlighted; None without rationales."""
        return annotators_of(self.data, self.subject)

    def slices(self, columns: Sequence[str] = (), split: Split | None = None) -> dict[str, Mask]:
        """All texts, right and wrong answers, the values of columns, and the parts of a split."""
        every, *others = slices_of(self.data, columns, split).items()
        return dict([every, ("right", self.right), ("wrong", ~self.right), *others])

    def judged(self, normalised: int = NORMALISED) -> dict[str, Faithfulness]:
        """The faithfulness of each method; the search for best and worst orders is for the first texts alone."""
        ask, sizes = self.subject.ask, self.subject.sizes.tolist()
        drops, some = leave_one_out(ask, sizes), min(normalised, len(sizes))
        bounds = _for_all(erasure_bounds(ask, sizes[:some], width=WIDTH), len(sizes)) if some else None
        return {name: faithfulness(ask, of_texts, drops=drops, bounds=bounds) for name, of_texts in self.scores.items()}

    def measurements(self, slices: Mapping[str, Mask], normalised: int, seed: int) -> list[Measurement]:
        """Faithfulness and, where people highlighted words, plausibility, on every slice."""
        rows = measured(faithfulness_metrics(self.judged(normalised)), slices, seed=seed)
        for name, notes in self.notes.items():
            rows += [
                Measurement(note, float(values.mean()), len(values), tags={"method": name})
                for note, values in notes.items()
            ]
        if self.annotators is not None:
            rows += self._plausibility(self.annotators, slices, seed)
        return rows

    def _plausibility(self, annotators: list[list[Mask]], slices: Mapping[str, Mask], seed: int) -> list[Measurement]:
        with_any = np.array([bool(masks) for masks in annotators])
        texts = np.flatnonzero(with_any).tolist()
        gold = union([annotators[row] for row in texts])
        some = {name: [of_texts[row] for row in texts] for name, of_texts in self.scores.items()}
        judged = {name: plausibility(gold, of_texts) for name, of_texts in some.items()}
        floors = floors_and_ceilings([annotators[row] for row in texts], seed=seed)
        if len(texts) >= FEWEST:
            lexicon = LexiconScores().attributions(self.subject, seed).scores
            floors["lexicon"] = plausibility(gold, [lexicon[row] for row in texts])
        within = {name: inside[texts] for name, inside in slices.items()}
        rows = measured(plausibility_metrics(judged), within, seed=seed)
        for name, floor in floors.items():
            own = {"all": np.ones(len(floor.token_f1), bool)}
            named = {name: floor}
            rows += [
                row for row in measured(plausibility_metrics(named), own, tags={"floor": "yes"}, seed=seed)
                if not row.metric.startswith("difference.")
            ]  # fmt: skip
        return rows + measured([wrong_reasons(gold, some, self.right[texts])], {"all": np.ones(len(texts), bool)})


def _for_all(bounds: ErasureBounds, texts: int) -> ErasureBounds:
    """Bounds of the first texts, with none for the others."""
    more = texts - len(bounds.lowest)
    lowest, highest, emptied = (
        np.append(values, np.full(more, np.nan)) for values in (bounds.lowest, bounds.highest, bounds.emptied)
    )
    return ErasureBounds(lowest, highest, emptied, np.append(bounds.exact, np.zeros(more, bool)))


def annotators_of(data: Dataset, subject: ExplainedTexts) -> list[list[Mask]] | None:
    """The units that each annotator of each text highlighted; None where the data has no rationales."""
    if RATIONALES not in data.attributes:
        return None
    highlighted = [
        [mask_of(one, spans) for one in of_text if one]
        for of_text, spans in zip(rationales_of(data, RATIONALES), subject.spans, strict=True)
    ]
    return highlighted if any(highlighted) else None


# -- the run -----------------------------------------------------------------------------------------------------------


def explain(
    data: Any,
    *,
    model: Any,
    methods: Sequence[str] = (),
    attributions: Sequence[str | Path] = (),
    params: Mapping[str, Mapping[str, Any]] | None = None,
    label: str = PREDICTED,
    units: str = "words",
    erase: str = "delete",
    limit: int | None = LIMIT,
    normalised: int = NORMALISED,
    slices: Sequence[str] = (),
    split: Split | str | Path | None = None,
    corpus: Sequence[str] | None = None,
    terms: Mapping[str, Sequence[str]] | None = None,
    positive: Sequence[str] = (),
    texts: bool = False,
    rename: Mapping[str, str] | None = None,
    opening: Mapping[str, Any] | None = None,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """Explain what `model` says about texts of `data`, by several methods, and judge the explanations.

    `data` is what `unseen.load` takes, or a Dataset, `model` what `unseen.open_model` takes, or a classifier, `split` a
    Split or a file. Without `methods` those that the model allows, and chance. `attributions` are files of somebody
    else's, judged in the same way. `params` are parameters of methods, {"lime": {"samples": 500}}. `label` is the label
    that is explained, by default what the model gives to each text. With a column `rationales` in `data` explanations
    are compared with what people highlighted. `slices` and the parts of `split` are judged apart, as are right and
    wrong answers. `corpus` are the texts from which sampling and occlusion draws contexts. `terms` are lists of terms
    that are put in each other's place, `positive` the labels that count as an alarm about them. `texts` writes texts
    into the folder and onto the page. `opening` are parameters of `unseen.models.open_model`.
    """
    bounds, positive = parsed_gates(gates), as_names(positive)
    data = load_data(data, {}, [*slices, IfThere(RATIONALES)])
    split = split_of(data, split)
    opened = inference.ready(as_classifier(model, rename=rename, **(opening or {})), data.label_names)
    chosen = some_texts(data, limit, seed, split)
    subject = _subject(opened, chosen, label, units, erase)
    made = explainers(subject, methods, params or {}, corpus or data.texts.to_pylist())
    if terms is not None and not positive:
        raise InputError("terms need to know which labels are an alarm", fix="positive=[…] (--positive)")
    unknown = [name for name in positive if name not in data.label_names]
    if unknown:
        raise UnknownNameError.of("label", unknown[0], data.label_names)
    about = {
        "data": described_data(chosen),
        "model": inference.name_of(model),
        "split": described_split(split),
        "settings": {
            "methods": {name: described_explainer(one) for name, one in made.items()}, "label": label, "units": units,
            "erase": erase, "slices": list(slices), "seed": seed, "normalised": normalised, "texts": texts,
            "attributions": [Path(file).name for file in attributions],
            "terms": None if terms is None else checked_terms(terms), "positive": list(positive),
        },
    }  # fmt: skip
    mark = content_of(model) if isinstance(model, str | Path) else ""

    def work(folder: RunFolder) -> Output:
        by_method = {name: _attributed(name, one, subject, folder, mark, seed) for name, one in made.items()}
        scores = {name: one.scores for name, one in by_method.items()}
        for file in attributions:
            scores |= _complete(read_attributions(file, chosen, subject.spans), chosen)
        notes = {name: one.notes for name, one in by_method.items() if one.notes}
        explained = Explanations(chosen, subject, scores, notes)
        rows = explained.measurements(explained.slices(slices, split), normalised, seed)
        if terms is not None:
            rows += _probed(explained, terms, positive, made, seed)
        explains = {name: one.explains for name, one in made.items()}
        write_attributions(_records(explained, explains), folder / "attributions.parquet", texts)
        if texts:
            write_json(folder / HIGHLIGHTS, {"texts": highlights(explained)})
        more = {
            "texts": len(chosen), "erased": subject.erased_by, "asked": subject.asked, "explains": explains,
            "passes": {name: _mean_passes(one, subject.sizes) for name, one in made.items()},
            "signed": {name: one.signed for name, one in made.items()},
        }  # fmt: skip
        return Output(rows, (), more, chosen)

    return carry_through("explain", about, work, out=out, command=command, gates=bounds)


def described_explainer(explainer: Any) -> dict[str, Any]:
    """The parameters of a method; of texts that it draws from a hash, because texts are written only when asked for."""
    params = dict(vars(explainer))
    return params | ({"corpus": key_of("corpus", list(params["corpus"]))} if params.get("corpus") else {})


def _mean_passes(explainer: Any, sizes: Rows) -> int:
    return round(float(np.mean([explainer.passes(size) for size in sizes.tolist()]))) if len(sizes) else 0


def explained_by_default(model: Any, data: Dataset, corpus: Sequence[str], seed: int) -> Explanations:
    """What the methods that a model allows say about texts, when nobody asks for others."""
    subject = _subject(inference.ready(model, data.label_names), data)
    made = explainers(subject, (), {}, corpus)
    attributed = {name: one.attributions(subject, seed) for name, one in made.items()}
    notes = {name: one.notes for name, one in attributed.items() if one.notes}
    return Explanations(data, subject, {name: one.scores for name, one in attributed.items()}, notes)


def _subject(model: Any, data: Dataset, *options: Any) -> ExplainedTexts:
    subject = ExplainedTexts(model, bounded(data.texts.to_pylist(), data.ids.to_pylist()), data.label_names, *options)
    highlighted = annotators_of(data, subject)
    if highlighted is None:
        return subject
    golds = [
        np.any(masks, axis=0) if masks else np.zeros(size, bool)
        for masks, size in zip(highlighted, subject.sizes, strict=True)
    ]
    return replace(subject, rationales=golds)


def explainers(
    subject: ExplainedTexts,
    methods: Sequence[str],
    params: Mapping[str, Mapping[str, Any]],
    corpus: Sequence[str],
) -> dict[str, Any]:
    """The methods that are named, or those that the model allows, chance always among them; refuses what cannot be."""
    network = subject.network
    able = ["answers", *(["gradients"] if network else []), *(["attention"] if network and network.attends else [])]
    names = list(methods) or [name for need in able for name in DEFAULT[need]]
    given = dict(params)
    if "sampling-occlusion" in {VERSION.sub("", name) for name in names}:
        given["sampling-occlusion"] = {"corpus": list(corpus), **params.get("sampling-occlusion", {})}
    made = registered(EXPLAINERS, list(dict.fromkeys([*names, "random"])), given, "method")
    refused = [name for name, one in made.items() if one.needs in ("gradients", "attention") and one.needs not in able]
    if refused:
        raise InputError(
            f"this model does not allow {', '.join(refused)}: they read gradients or attention",
            expected="of a model that can only be asked: occlusion, lime, partition-shap, sampling-occlusion",
        )
    return made


def _attributed(
    name: str, explainer: Any, subject: ExplainedTexts, folder: RunFolder, mark: str, seed: int
) -> Attributions:
    """What a method says about all texts, some at a time; what is done is kept in the folder of the run."""
    if explainer.needs == "rationales":
        return explainer.attributions(subject, seed)  # type: ignore[no-any-return]
    parts = []
    for rows in np.array_split(np.arange(len(subject)), max(1, -(-len(subject) // AT_ONCE))):
        part = subject.of(rows)
        settings = {
            "method": name, "params": described_explainer(explainer), "texts": key_of("texts", part.texts),
            "label": subject.label, "units": subject.units, "erase": subject.erase, "seed": seed,
        }  # fmt: skip
        key = key_of("explain", [settings, mark])
        if not mark:
            parts.append(explainer.attributions(part, seed))
            continue
        about = {"step": f"explain by {name}", "settings": settings, "needs": {}}
        make = partial(_save, explainer, part, seed)
        parts.append(_read(folder.results.made(key, about, make) / ATTRIBUTIONS))
    notes = {note: np.concatenate([part.notes[note] for part in parts]) for note in parts[0].notes}
    return Attributions([scores for part in parts for scores in part.scores], notes)


def _save(explainer: Any, part: ExplainedTexts, seed: int, folder: Path) -> None:
    made = explainer.attributions(part, seed)
    arrays = {"sizes": np.array([len(scores) for scores in made.scores]), "scores": np.concatenate(made.scores)}
    np.savez(folder / ATTRIBUTIONS, **arrays, **{f"note/{name}": values for name, values in made.notes.items()})  # type: ignore[arg-type]


def _read(path: Path) -> Attributions:
    kept = np.load(path)
    notes = {name.removeprefix("note/"): kept[name] for name in kept.files if name.startswith("note/")}
    return Attributions(np.split(kept["scores"], np.cumsum(kept["sizes"])[:-1]), notes)


def _complete(given: Mapping[str, Sequence[Floats | None]], data: Dataset) -> dict[str, list[Floats]]:
    """Somebody's attributions; refuses methods that leave out texts, which could not be compared with the others."""
    for name, scores in given.items():
        missing = [data.ids[row].as_py() for row, one in enumerate(scores) if one is None]
        if missing:
            raise InputError(
                f"the attributions of {name!r} leave out {len(missing)} of {len(data)} texts",
                got=f"nothing about {', '.join(missing[:5])}",
                fix="attributions of all texts that are explained: --limit, the same seed, or all texts",
            )
    return {name: [one for one in scores if one is not None] for name, scores in given.items()}


def _probed(
    explained: Explanations,
    terms: Mapping[str, Sequence[str]],
    positive: Sequence[str],
    made: Mapping[str, Any],
    seed: int,
) -> list[Measurement]:
    """Swaps of terms, and false alarms about texts that hold them."""
    subject, data = explained.subject, explained.data
    lists = checked_terms(terms)
    first = next(one for one in made.values() if one.needs != "rationales")
    columns = [data.label_names.index(name) for name in positive]
    alarms = subject.probabilities[:, columns].sum(axis=1) >= 0.5
    rows = false_alarms(subject.texts, alarms, ~np.isin(data.labels, columns), lists)
    swapped = {name: group for name, group in lists.items() if len(group) > 1}
    if swapped:
        rows += swap_probe(subject, data, swapped, positive, first, most=len(data), seed=seed)
    return rows


def _records(explained: Explanations, explains: Mapping[str, str]) -> list[tuple[Explanation, str]]:
    subject, names = explained.subject, explained.data.label_names
    records = []
    for row, key in enumerate(explained.data.ids.to_pylist()):
        words, spans, label = tuple(subject.words(row)), tuple(subject.spans[row]), names[subject.explained[row]]
        for method, scores in explained.scores.items():
            one = Explanation(key, words, spans, tuple(scores[row].tolist()), label, method)
            records.append((one, explains.get(method, "given")))
    return records


def highlights(explained: Explanations) -> list[dict[str, Any]]:
    """The texts that the page shows, wrong answers first, with their scores by method and what people highlighted."""
    data, subject, names = explained.data, explained.subject, explained.data.label_names
    order = np.argsort(explained.right, kind="stable")[:SHOWN]
    golds = explained.annotators
    return [
        {
            "id": data.ids[row].as_py(), "label": names[data.labels[row]], "explained": names[subject.explained[row]],
            "predicted": names[int(subject.probabilities[row].argmax())],
            "probability": float(subject.probabilities[row, subject.explained[row]]),
            "words": subject.words(row),
            "scores": {method: scores[row].tolist() for method, scores in explained.scores.items()},
            "people": [] if golds is None or not golds[row] else np.any(golds[row], axis=0).tolist(),
        }
        for row in order.tolist()
    ]  # fmt: skip
