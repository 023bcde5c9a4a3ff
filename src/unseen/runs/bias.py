"""Whether a model is worse on texts about some groups: AUCs and gaps by group, any metric by group, swapped words."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen import inference
from unseen.errors import InputError, UnknownNameError, UnseenWarning
from unseen.evaluation.gates import Gate, parsed_gates
from unseen.functional.tables import write_suite
from unseen.models import as_classifier
from unseen.runs.frame import Output, Result, carry_through, described_data
from unseen.runs.source import hashes_of, load_data, split_of
from unseen.store import read_predictions
from unseen.store.run_folder import RunFolder
from unseen.subgroups import (
    BACKGROUNDS,
    Groups,
    TaggedRows,
    bias_measurements,
    groups_by_attribute,
    groups_by_terms,
    parts_of_splits,
    read_terms,
    swap_cases,
    swap_measurements,
)
from unseen.subgroups.groups import Terms
from unseen.subgroups.positives import positive_codes
from unseen.types import Dataset, Finding, Measurement, Predictions, Split, as_names
from unseen.types.arrays import Rows
from unseen.types.numbers import scored

SWAPPED = 2_000
"""Texts that are swapped unless more are asked for: with thirty terms that is 58,000 versions for the model."""
BOTH = "both"
SHIFTED = {
    "bias.negative_aeg": ("harmless texts about it score {} than other harmless ones", "false alarms"),
    "bias.positive_aeg": ("harmful texts about it score {} than other harmful ones", "missed texts"),
}
"""What a gap says, and what it leads to."""


def bias(
    data: Any,
    positive: Sequence[str],
    *,
    about: str | None = None,
    terms: Terms | str | Path | None = None,
    model: Any = None,
    predictions: Predictions | str | Path | None = None,
    rename: Mapping[str, str] | None = None,
    opening: Mapping[str, Any] | None = None,
    background: str = "all",
    fewest: int = 1,
    only: Sequence[str] = (),
    splits: Sequence[Split | str | Path] = (),
    part: Sequence[str] = (),
    metrics: Sequence[str] = (),
    swap: Terms | str | Path | None = None,
    limit: int | None = None,
    cases: str | Path | None = None,
    swapped: Predictions | str | Path | None = None,
    groups: str | None = None,
    out: str | Path | None = None,
    gates: Sequence[Gate | str] = (),
    command: str | None = None,
    seed: int = 42,
) -> Result:
    """Compare what a model says about texts of each group with what it says about others.

    `data` is what `unseen.load` takes, or a Dataset; `positive` are the labels that the score speaks for. Groups come
    from the attribute `about`, or from `terms`, lists of words or a file of them; those with `fewest` texts count, or
    `only` some. Either a `model`, which `opening` opens as `unseen.open_model` does, or `predictions`; `rename` maps
    their labels to those of the data. `background` is what a group is compared with: `all` texts that are not about it,
    those about another group (`mentioned`), or `both`, one after the other. With `splits` each `part` is measured on
    its own, by default all but train. `metrics` are measured by group too. `swap` are lists of words that are put in
    each other's place in at most `limit` texts, 2,000 unless told; without a model `cases` is the file that these
    texts are written to, and `swapped` what the model said about them. `groups` is the attribute whose values are drawn
    together in intervals.
    """
    if (about is None) == (terms is None):
        raise InputError("groups come from a column or from words", fix="one of about='column' and terms='FILE'")
    if (model is None) == (predictions is None):
        raise InputError("bias is that of a model or of predictions", fix="one of model='MODEL' and predictions='FILE'")
    _refuse_idle(model, swap, limit, cases, swapped, opening)
    if background not in (*BACKGROUNDS, BOTH):
        raise UnknownNameError.of("background", background, [*BACKGROUNDS, BOTH])
    bounds = parsed_gates(gates)
    data = load_data(data, {}, [*filter(None, [about, groups])])
    positive = as_names(positive)
    positive_codes(data.label_names, positive)
    mentioned = _groups(data, about, terms, fewest, only)
    made = None if swap is None else _terms(swap)
    cuts = [cut for split in splits if (cut := split_of(data, split)) is not None]
    classifier = None if model is None else as_classifier(model, rename=rename, **(opening or {}))
    answers = _read(predictions, data, rename)
    places = parts_of_splits(data, cuts, part, answers)
    about_run = {
        "data": described_data(data),
        "model": "predictions" if model is None else inference.name_of(model),
        "splits": [cut.name for cut in cuts],
        "settings": {
            "positive": list(positive), "about": None if about is None else hashes_of(data, [about]),
            "terms": None if terms is None else _terms(terms), "groups": list(mentioned.names),
            "background": background, "part": list(part), "metrics": list(metrics), "swap": made,
            "limit": limit, "drawn_together": groups, "seed": seed,
        },
    }  # fmt: skip

    def work(folder: RunFolder) -> Output:
        predicted = inference.predict(classifier, data, _rows(places)) if answers is None else answers
        rows = bias_measurements(
            data, predicted, mentioned, places, positive,
            backgrounds=_backgrounds(background, predicted, bool(metrics or swap)), metrics=metrics, units=groups,
            seed=seed,
        )  # fmt: skip
        if made is not None:
            versions = swap_cases(data, made, _rows(places), most=SWAPPED if limit is None else limit, seed=seed)
            if cases is not None:
                write_suite(versions, Path(cases))
            of_versions = inference.predict(classifier, versions) if classifier else _read(swapped, versions, rename)
            if of_versions is None:
                note = f"the swapped texts are in {cases}: predict them for swapped=… (--swapped)"
                warnings.warn(note, UnseenWarning, stacklevel=2)
            else:
                rows += _of_swaps(data, versions, places, predicted, of_versions, positive, seed)
        return Output(rows, list(_shifted(rows)), predictions={} if classifier is None else {"answers": predicted})

    return carry_through("bias", about_run, work, out=out, command=command, gates=bounds)


def _refuse_idle(model: Any, swap: Any, limit: Any, cases: Any, swapped: Any, opening: Any) -> None:
    """Settings that would have no effect, all at once."""
    of_swaps = {"limit": limit, "cases": cases, "swapped": swapped}
    problems = [
        f"{name}=… has no effect without swap=…"
        for name, given in of_swaps.items()
        if given is not None and swap is None
    ]
    if opening and model is None:
        problems.append(f"{', '.join(f'{name}=…' for name in opening)} has no effect without model=…")
    if model is not None and swapped is not None:
        problems.append("swapped=… has no effect with model=…: the model is asked")
    if swap is not None and model is None and cases is None and swapped is None:
        problems.append("swap=… with predictions needs what the model says about the swapped texts")
    if problems:
        fix = "cases=… writes the swapped texts; predict them, then give the answers with swapped=…" if swap else None
        raise InputError("these settings do not go together", problems=problems, fix=fix)


def _terms(given: Terms | str | Path) -> Terms:
    return read_terms(given) if isinstance(given, str | Path) else given


def _groups(data: Dataset, about: str | None, terms: Any, fewest: int, only: Sequence[str]) -> Groups:
    options: dict[str, Any] = {"fewest": fewest, "only": only or None}
    if about is not None:
        return groups_by_attribute(data, about, **options)
    return groups_by_terms(data, _terms(terms), **options)


def _read(given: Any, data: Dataset, rename: Mapping[str, str] | None) -> Predictions | None:
    return read_predictions(given, data, rename) if isinstance(given, str | Path) else given


def _rows(places: Sequence[TaggedRows]) -> Rows:
    """The rows of all places, each once."""
    return np.unique(np.concatenate([place.rows for place in places]))


def _backgrounds(asked: str, predictions: Predictions, something_else: bool) -> tuple[str, ...]:
    """The backgrounds to compare with; none where predictions are labels and something else can be said of them."""
    if predictions.origin.params.get("hard") and something_else:
        warnings.warn("these predictions are labels: there are no AUCs and no gaps", UnseenWarning, stacklevel=2)
        return ()
    return BACKGROUNDS if asked == BOTH else (asked,)


def _of_swaps(
    data: Dataset,
    versions: Dataset,
    places: Sequence[TaggedRows],
    originals: Predictions,
    swapped: Predictions,
    positive: Sequence[str],
    seed: int,
) -> list[Measurement]:
    """What swaps change, place by place."""
    rows = []
    for place in places:
        inside = pc.is_in(versions.attribute("template"), value_set=data.ids.take(pa.array(place.rows)))
        own = versions.take(inside.to_numpy().nonzero()[0])
        if len(own):
            rows += swap_measurements(own, swapped, positive, originals=originals, tags=place.tags, seed=seed)
    return rows


def _shifted(rows: Sequence[Measurement]) -> Iterator[Finding]:
    """A finding for each group whose scores are shifted by more than the interval of the gap; one where none is."""
    gaps = [row for row in rows if row.metric in SHIFTED]
    known = [row for row in gaps if row.low is not None and row.high is not None]
    shifted = [row for row in known if row.low > 0 or row.high < 0]  # type: ignore[operator]
    for row in sorted(shifted, key=lambda row: -abs(row.value or 0.0)):
        says, leads_to = SHIFTED[row.metric]
        higher = (row.value or 0.0) < 0
        harms = higher == (row.metric == "bias.negative_aeg")
        message = f"{called_group(row.slice)}{_beside(row)}: {says.format('higher' if higher else 'lower')}"
        yield Finding(
            f"bias[{row.slice.partition('=')[2]}]", "warn", f"{message}, gap {scored(row)}.", row.n,
            advice=f"Read some: {leads_to} are what it may lead to." if harms else "",
        )  # fmt: skip
    if gaps and not shifted:
        level, message = "ok", f"No gap of {len(known)} that have an interval is clearly above or below zero."
        if not known:
            level, message = "skipped", "No gap has an interval: the groups have too few texts."
        yield Finding("bias", level, message)


def called_group(slice: str) -> str:
    """A group in a sentence.

    >>> called_group("target=cooks"), called_group("target!=cooks")
    ('“cooks”', 'all but “cooks”')
    """
    column, _, group = slice.partition("=")
    return f"all but “{group}”" if column.endswith("!") else f"“{group}”"


def _beside(row: Measurement) -> str:
    """Where a gap was measured, in brackets."""
    part = [f"{row.tags['part']} of {row.tags['split']}"] if "part" in row.tags else []
    return f" ({', '.join([*part, 'background ' + str(row.tags['background'])])})"
