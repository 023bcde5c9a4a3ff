"""The cards of a run's splits, from the files of its folder alone: card.md, reforms.md, croissant.json."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from unseen.audits.hardness import SINGLES
from unseen.errors import UnseenWarning
from unseen.evaluation.wording import amount_within, called, capital
from unseen.reports import croissant, genbench, reforms
from unseen.reports.facts import CardFacts, DataFacts, read_card_facts
from unseen.reports.formats import Markdown, environment
from unseen.reports.page import sorted_findings
from unseen.reports.record import RunRecord, SplitFile
from unseen.store import read_json, sha256_of, write_json, write_text
from unseen.store.files import json_text
from unseen.types import Measurement
from unseen.types.numbers import percent, scored

LEVELS = {"fail": "failed", "warn": "look closer", "ok": "in order", "skipped": "not checked"}
"""Levels of findings in words."""
TELLING_APART = ("model", "space")
"""Tags by which a study tells apart what it measured on a dataset; scores are compared within one value of each."""
WRITTEN = ".cards.json"
"""Checksums of the cards as they were written."""
PLAIN_FILE = re.compile(r"[A-Za-z0-9_.-]+")
VECTORS = ("encoder", "using")
"""Parameters of a split that name the representation."""


def write_cards(run_folder: str | Path) -> tuple[Path, ...]:
    """Write card.md, reforms.md and croissant.json into the run folder and return their paths.

    The same folder gives the same bytes. Whatever the folder does not know is a visible blank. A file that a
    person has changed since it was written stays as it is, with a warning.
    """
    facts = read_card_facts(run_folder)
    templates, checklist = environment(), reforms.items(facts)
    card = templates.get_template("card.md").render(context(facts))
    listed = templates.get_template("reforms.md").render(
        title=facts.title, sections=checklist, tally=reforms.tally(checklist)
    )
    described = json_text(croissant.croissant(facts))
    return _write_unless_edited(
        facts.record.place, {"card.md": card, "reforms.md": listed, "croissant.json": described}
    )  # fmt: skip


def _write_unless_edited(folder: Path, contents: Mapping[str, str]) -> tuple[Path, ...]:
    """Write the files; those that are not as they were written last time have answers of a person in them."""
    record = folder / WRITTEN
    written: dict[str, Any] = read_json(record) if record.exists() else {}
    for name, content in contents.items():
        path = folder / name
        if path.exists() and sha256_of(path) != written.get(name, sha256_of(path)):
            warnings.warn(f"{path} was changed by hand and stays as it is", UnseenWarning, stacklevel=3)
            continue
        written[name] = sha256_of(write_text(path, content))
    write_json(record, written)
    return tuple(folder / name for name in contents)


def context(facts: CardFacts) -> dict[str, Any]:
    """Everything the template of card.md shows."""
    axes = genbench.axes(facts)
    return {
        "facts": facts,
        "about": facts.about,
        "metric": capital(called(facts.record.metric)),
        "datasets": list(facts.datasets.values()),
        "splits": [_split(facts, split) for split in facts.splits],
        "example": _example(facts),
        "scores": scores(facts),
        "findings": [(LEVELS[finding.level], finding) for finding in sorted_findings(facts.record.findings)],
        "limits": limits(facts),
        "axes": axes,
        "tally": reforms.tally(reforms.items(facts)),
        "blanks": blanks(facts, axes),
    }


def _split(facts: CardFacts, split: SplitFile) -> dict[str, Any]:
    certificate, params = split.certificate, split.origin.params
    used = {name: value for name, value in params.items() if name not in ("dev", "independent", *VECTORS)}
    return {
        "split": split,
        "data": facts.datasets[facts.keys[split.name]].name,
        "representation": next((params[name] for name in VECTORS if params.get(name)), None),
        "vectors": split.origin.inputs.get("vectors"),
        "params": ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in used.items()),
        "versions": ", ".join(f"{name} {version}" for name, version in split.origin.versions.items()),
        "mix": [(label, count, certificate.got.get(label, 0)) for label, count in certificate.asked.items()],
        "completed": _completed(split),
        "proof": _proof(split),
        "groups": ", ".join(f"{name} {value}" for name, value in (certificate.groups or {}).items()),
    }  # fmt: skip


def _completed(split: SplitFile) -> str:
    certificate = split.certificate
    if certificate.n_clusters is None:
        return "no clusters were made"
    singly = f"{certificate.completed:,} test rows ({percent(certificate.completed_share)}) added one by one"
    return f"{singly}; {certificate.n_clusters} clusters"


def _proof(split: SplitFile) -> str:
    certificate = split.certificate
    if certificate.optimal:
        return "proven: no choice comes nearer to the class counts asked for"
    if certificate.missed_at_least is not None:
        return f"proven: no choice misses fewer than {certificate.missed_at_least} rows"
    return "not proven" if certificate.optimal is False else "the method does not optimise"


def _example(facts: CardFacts) -> Markdown:
    """File of the first split that is not random; a made-up name where the real one would need quoting."""
    chosen = sorted(facts.splits, key=lambda split: facts.record.is_random(split.family))
    name = chosen[0].path.name if chosen else ""
    return Markdown(name if PLAIN_FILE.fullmatch(name) else "NAME.csv")


def scores(facts: CardFacts) -> list[dict[str, Any]]:
    """A row per family of each dataset, model and space that were told apart: test score, fall, independent score."""
    metrics = (facts.record.metric, f"fall.{facts.record.metric}")
    measured = [row for row in facts.record.measurements if row.metric in metrics and row.slice == "all"]
    values = [sorted({str(row.tags[tag]) for row in measured if tag in row.tags}) or [""] for tag in TELLING_APART]
    places = [dict(zip(TELLING_APART, chosen, strict=True)) for chosen in product(*values)]
    lines = []
    for key in facts.datasets:
        ours = [row for row in measured if _is_of(facts, row, key)]
        for place in places:
            rows = [row for row in ours if all(str(row.tags.get(tag, value)) == value for tag, value in place.items())]
            compared = _compared(facts, key, rows, [facts.datasets[key].name if key else "", *place.values()])
            # Rows of random splits that name no space belong to each; alone they compare nothing.
            if len(places) == 1 or any(not facts.record.is_random(line["family"]) for line in compared):
                lines += compared
    return lines


def _is_of(facts: CardFacts, row: Measurement, key: str) -> bool:
    """Whether a row was measured on the dataset `key`: by its tag, by its split, or because there is no other."""
    if len(facts.datasets) == 1 or "data" in row.tags:
        return len(facts.datasets) == 1 or str(row.tags["data"]) == key
    return any(split.name == row.tags.get("split") for split in facts.splits if facts.keys[split.name] == key)


def _compared(facts: CardFacts, key: str, rows: Sequence[Measurement], place: Sequence[str]) -> list[dict[str, Any]]:
    """The families that were measured in one place."""
    splits = {split.name: split for split in facts.splits if facts.keys[split.name] == key}
    run = RunRecord({"settings": {"metric": facts.record.metric}}, tuple(rows), splits=splits)
    measured = [family for family in run.families if run.score(family) is not None]
    return [_scored(run, family, ", ".join(filter(None, place))) for family in measured]


def _scored(run: RunRecord, family: str, place: str) -> dict[str, Any]:
    fall = None if run.is_random(family) else run.fall(family)
    return {
        "place": place,
        "family": family,
        "runs": len(run.single(family)),
        "test": scored(run.score(family)),
        "fall": "" if fall is None else amount_within(run.metric, fall),
        "independent": scored(run.score(family, "independent")),
    }


def limits(facts: CardFacts) -> list[str]:
    """What the splits do not show, the general first."""
    sentences = ["A random split is kind to a model and a hard one unkind; neither score is the one to expect in use."]
    latent = [split for split in facts.splits if split.method in genbench.LATENT]
    if latent:
        spaces = sorted({str(name) for split in latent if (name := _split(facts, split)["representation"])})
        whose = f" ({', '.join(spaces)})" if spaces else ""
        sentences.append(
            f"A hard test part is hard for the model whose latent space chose it{whose}; another may not fall."
        )
    sentences += [
        f"{split.name}: {percent(share)} of the test part was added row by row"
        + (", so it is less a region than a selection." if share > SINGLES else ".")
        for split in facts.splits
        if (share := split.certificate.completed_share)
    ]
    sentences += [
        f"{split.name}: the test part misses the class counts that were asked for by {split.certificate.missed} rows."
        for split in facts.splits
        if split.certificate.missed
    ]
    return sentences + _wrong_labels(facts)


def _wrong_labels(facts: CardFacts) -> list[str]:
    """Where more labels are wrong than usual, or nobody knows."""
    hard = [family for family in facts.families if not facts.record.is_random(family)]
    by_family = {family: genbench.wrong_labels(facts, family) for family in hard}
    open_ = [family for family, shares in by_family.items() if shares is None]
    sentences = [
        f"{family}: {shares}, so a part of a fall is label noise."
        for family, shares in by_family.items()
        if shares is not None and shares.notable
    ]
    return sentences + ([f"Whether labels explain a fall is not known: {', '.join(open_)}."] if open_ else [])


def blanks(facts: CardFacts, axes: Mapping[tuple[str, ...], tuple[genbench.Axis, ...]]) -> list[str]:
    """What a person has still to fill in."""
    lacking = [blank for data in facts.datasets.values() for blank in _of_data(data)]
    return [*lacking, *croissant.unstated(), "contact for questions", "intended use", *genbench.unstated(axes)]


def _of_data(data: DataFacts) -> list[str]:
    known = data.known
    facts = {
        "licence": data.licence,
        "source": known and known.homepage,
        "citation": known and known.citation,
        "language": known and known.language,
        "personal data in the texts": "",
    }
    return [f"{name} of the data {data.name}" for name, value in facts.items() if not value]
