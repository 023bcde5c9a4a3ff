"""Splits as a CSV of ids and a JSON file with the certificate and the recipe. No texts."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from unseen.errors import InputError, MismatchError, TableError
from unseen.store.files import (
    atomic,
    csv_rows,
    harmless,
    holds,
    origin_from,
    read_json,
    sha256_of,
    twin_of,
    unharmed,
    write_json,
)
from unseen.types import PARTS, Certificate, Dataset, Split, string_array

FORMAT = 1
COLUMNS = ["id", "part", "cluster"]
CLUSTER = re.compile(r"[0-9]{0,9}")


def write_split(split: Split, path: str | Path) -> Path:
    """Write `path` (.csv: id, part, cluster) and its twin .json (certificate, recipe, checksum)."""
    path = Path(path)
    if path.suffix != ".csv":
        raise InputError(f"a split is written as .csv, not as {path.name}", fix=f"-o {path.with_suffix('.csv')}")
    twin = twin_of(path, {"certificate", "csv_sha256"})
    with atomic(path) as temporary:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            write_row = csv_rows(file)
            write_row(COLUMNS)
            clusters = ("" if cluster < 0 else cluster for cluster in split.clusters.tolist())
            for name, part, cluster in zip(split.ids.to_pylist(), split.parts.tolist(), clusters, strict=True):
                write_row([harmless(name), PARTS[part], cluster])
        write_json(twin, description(split) | {"csv_sha256": sha256_of(temporary)})
    return path


def description(split: Split) -> dict[str, Any]:
    """Everything about a split but its rows, as plain values."""
    certificate = split.certificate
    return {
        "format": FORMAT,
        "name": split.name,
        "dataset": split.dataset,
        "sizes": split.sizes,
        "certificate": asdict(certificate)
        | {"missed": certificate.missed, "completed_share": round(certificate.completed_share, 6)},
        "origin": asdict(split.origin),
    }


def read_split(path: str | Path, data: Dataset | None = None) -> Split:
    """The split in `path`; with `data`, in its row order, refused when it was made from other data."""
    asked, path = Path(path), Path(path).with_suffix(".csv")
    about_path = path.with_suffix(".json")
    if not path.exists():
        if asked.exists() and not holds(asked, {"certificate"}):
            raise InputError(
                f"{asked} is not a split of unseen's: a table NAME.csv beside its certificate NAME.json",
                fix=f"a split of somebody else's: unseen.split(data, 'predefined', by={str(asked)!r})",
            )
        raise InputError(f"there is no split {path}")
    if not about_path.exists():
        raise InputError(
            f"{path} has no certificate beside it ({about_path.name})",
            fix=f"a table of somebody else's: unseen split make DATA --with predefined --by {path}",
        )
    about = read_json(about_path)
    missing = {"format", "name", "dataset", "certificate", "origin", "csv_sha256"} - about.keys()
    if missing:
        raise InputError(f"{about_path} is not the certificate of a split", expected=f"the keys {sorted(missing)}")
    if about["format"] != FORMAT:
        raise InputError(f"{about_path} is of another version", expected=f"format {FORMAT}", got=str(about["format"]))
    ids, parts, clusters = _read_rows(path)
    if about["csv_sha256"] != sha256_of(path):
        raise MismatchError(
            f"{path} was changed after it was written",
            expected=f"sha256 {about['csv_sha256']}",
            got=f"sha256 {sha256_of(path)}",
            fix="make the split again, or restore the file",
        )
    split = Split(
        about["name"],
        string_array(ids),
        parts,
        clusters,
        _certificate_from(about["certificate"]),
        about["dataset"],
        origin_from(about["origin"]),
    )
    return split if data is None else split.of(data)


def _certificate_from(content: Any) -> Certificate:
    if not isinstance(content, dict) or not all(_is_counts(content.get(name)) for name in ("asked", "got")):
        raise InputError("the certificate of the split does not say what was asked for and what was got")
    if not content["asked"].keys() <= content["got"].keys():
        raise InputError("the certificate of the split does not say what was got of every label that was asked for")
    wrong = [name for name, of_kind in OF_A_CERTIFICATE.items() if name in content and not of_kind(content[name])]
    if wrong:
        shown = ", ".join(f"{name} = {content[name]!r:.60}" for name in wrong)
        raise InputError("the certificate of the split holds what no certificate does", got=shown)
    known = {field.name: content[field.name] for field in fields(Certificate) if field.name in content}
    return Certificate(**known | {"notes": tuple(content.get("notes", ()))})


OF_A_CERTIFICATE: Mapping[str, Callable[[Any], bool]] = {
    "completed": lambda value: isinstance(value, int),
    "n_clusters": lambda value: value is None or isinstance(value, int),
    "missed_at_least": lambda value: value is None or isinstance(value, int),
    "optimal": lambda value: value is None or isinstance(value, bool),
    "groups": lambda value: value is None or isinstance(value, dict),
    "notes": lambda value: isinstance(value, list) and all(isinstance(note, str) for note in value),
}
"""What the fields that a certificate may have must be."""


def _is_counts(content: Any) -> bool:
    return isinstance(content, dict) and all(isinstance(count, int) for count in content.values())


def _read_rows(path: Path) -> tuple[list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    positions = {part: position for position, part in enumerate(PARTS)}
    ids, parts, clusters, problems = [], [], [], []
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            if next(reader, None) != COLUMNS:
                raise TableError(f"{path} is not a split", expected=f"the header {','.join(COLUMNS)}")
            for row in reader:
                if len(row) != 3 or row[1] not in positions or not CLUSTER.fullmatch(row[2]):
                    problems.append(f"line {reader.line_num}: {','.join(row)}")
                    continue
                ids.append(unharmed(row[0]))
                parts.append(positions[row[1]])
                clusters.append(int(row[2]) if row[2] else -1)
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause
    if problems:
        raise TableError(f"{path} has wrong rows", problems=problems, expected="id, part, cluster number or nothing")
    return ids, np.array(parts, dtype=np.int8), np.array(clusters, dtype=np.int32)
