"""Croissant: the splits of a run as JSON-LD that other tools read (MLCommons, format version 1.0).

Nothing is invented: properties that nobody has said are left out, and `unstated` lists them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from unseen.reports.facts import CardFacts, DataFacts
from unseen.reports.record import SplitFile

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"
TERMS = (
    "citeAs", "column", "equivalentProperty", "extract", "field", "fileObject", "fileProperty", "fileSet", "format",
    "includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references", "regex",
    "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",
)  # fmt: skip
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "rai": "http://mlcommons.org/croissant/RAI/",
    "sc": "https://schema.org/",
    **{term: f"cr:{term}" for term in TERMS},
}
MEANINGS = {"train": "cr:TrainingSplit", "dev": "cr:ValidationSplit", "test": "cr:TestSplit", "independent": None}
"""Croissant has no word for rows that are set aside before the split."""
PEOPLE_SAY = {
    "license": "licence of the splits",
    "url": "address where the splits are published",
    "creator": "who made the splits",
    "datePublished": "date of publication",
    "version": "version of the published splits",
    "citeAs": "how to cite the splits",
}
"""Properties that the format requires or recommends and that no file of a run knows."""
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def croissant(facts: CardFacts) -> dict[str, Any]:
    """The JSON-LD of the splits: a file and a record set for each, and a record set of what the parts mean."""
    names = _identifiers([split.path.stem for split in facts.splits])
    parts = "parts"
    while parts in names:
        parts += "-"
    sets = [_record_set(split, name, parts) for split, name in zip(facts.splits, names, strict=True)]
    described: dict[str, Any] = {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "name": f"splits of {facts.title}",
        "description": _description(facts),
        "conformsTo": CONFORMS_TO,
        "isBasedOn": [_based_on(data) for data in facts.datasets.values()],
    }
    if facts.about.get("finished"):
        described["dateCreated"] = str(facts.about["finished"])
    files = [_file(split, name) for split, name in zip(facts.splits, names, strict=True)]
    return described | {"distribution": files, "recordSet": [_parts(parts), *sets]}


def unstated() -> list[str]:
    """What a person has to add to croissant.json, in words."""
    return [f"{meaning} ({name} in croissant.json)" for name, meaning in PEOPLE_SAY.items()]


def _identifiers(stems: Sequence[str]) -> list[str]:
    """An identifier per file that is safe in an address; numbered where two would be the same."""
    names: list[str] = []
    for stem in stems:
        plain = UNSAFE.sub("-", stem).strip("-") or "split"
        name, number = plain, 2
        while name in names:
            name, number = f"{plain}-{number}", number + 1
        names.append(name)
    return names


def _description(facts: CardFacts) -> str:
    count, rows = len(facts.splits), sum(data.rows for data in facts.datasets.values())
    return (
        f"{count} divisions of {rows} labelled texts ({facts.title}) into training, validation, test and independent "
        "parts, by id. The texts are not included. How each was made and how far to trust it: card.md."
    )


def _based_on(data: DataFacts) -> dict[str, Any]:
    """The texts; their licence and address are those of the catalogue, where it has the dataset."""
    work = {"@type": "sc:CreativeWork", "name": data.name, "identifier": f"unseen fingerprint {data.fingerprint}"}
    if data.known is not None:
        work |= {"url": data.known.homepage, "citation": data.known.citation}
    return work | ({"license": data.licence} if data.licence else {})


def _file(split: SplitFile, name: str) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": f"{name}.csv",
        "name": split.path.name,
        "contentUrl": f"splits/{split.path.name}",
        "contentSize": f"{split.path.stat().st_size} B",
        "encodingFormat": "text/csv",
        "sha256": split.sha256,
    }


def _parts(name: str) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": "What each part is for; the independent part is set aside before the split and takes no part.",
        "dataType": "cr:Split",
        "key": {"@id": f"{name}/name"},
        "field": [
            {"@type": "cr:Field", "@id": f"{name}/name", "name": "name", "dataType": "sc:Text"},
            {"@type": "cr:Field", "@id": f"{name}/url", "name": "url", "dataType": "sc:URL"},
        ],
        "data": [{f"{name}/name": part, f"{name}/url": meaning} for part, meaning in MEANINGS.items()],
    }


def _record_set(split: SplitFile, name: str, parts: str) -> dict[str, Any]:
    sizes = ", ".join(f"{count} {part}" for part, count in split.sizes.items() if count)
    fields: list[tuple[str, str, str | list[str]]] = [
        ("id", "Id of a text. A leading apostrophe is not part of it: it stops spreadsheets.", "sc:Text"),
        ("part", "Part the text is in.", ["sc:Text", "cr:Split"]),
        ("cluster", "Cluster of the latent space; empty where the text was not clustered.", "sc:Integer"),
    ]  # fmt: skip
    described = [_field(name, column, meaning, kind) for column, meaning, kind in fields]
    described[1]["references"] = {"field": {"@id": f"{parts}/name"}}
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": split.name,
        "description": f"Family {split.family}, made with {split.origin.step}: {sizes} rows.",
        "key": {"@id": f"{name}/id"},
        "field": described,
    }


def _field(name: str, column: str, meaning: str, kind: str | list[str]) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"{name}/{column}",
        "name": column,
        "description": meaning,
        "dataType": kind,
        "source": {"fileObject": {"@id": f"{name}.csv"}, "extract": {"column": column}},
    }
