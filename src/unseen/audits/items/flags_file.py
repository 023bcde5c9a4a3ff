"""Flags as a CSV of one row per item and rule that flags it, with what else is known beside it as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.flags import Flags, RuleName
from unseen.errors import InputError, MismatchError
from unseen.store import atomic, read_json, write_json
from unseen.store.files import csv_rows, harmless, holds, read_rows, twin_of, unharmed
from unseen.types import Dataset, some

COLUMNS = ["id", "rule", "pack", "trait"]
KEYS = {"rules", "dataset", "counted_on"}


def check_flags_path(path: str | Path) -> None:
    """Refuse a place where flags would replace a file of somebody else's."""
    path = Path(path)
    if path.suffix != ".csv":
        raise InputError(f"flags are written as CSV, not to {path.name}", fix=f"name it {path.stem}.csv")
    twin_of(path, KEYS)
    if path.exists() and not holds(path.with_suffix(".json"), KEYS):
        raise InputError(f"{path} is there already and does not hold flags", fix="name another file")


def write_flags(flags: Flags, path: str | Path) -> Path:
    """Write the flags; texts are not in them. The description comes first: flags without one are nobody's."""
    path = Path(path)
    check_flags_path(path)
    about = {
        "rules": [asdict(rule) for rule in flags.rules], "skipped": dict(flags.skipped), "dataset": flags.dataset,
        "counted_on": flags.counted_on, "items": len(flags), "flagged": int(flags.flagged().sum()),
    }  # fmt: skip
    write_json(path.with_suffix(".json"), about)
    ids = flags.ids.to_pylist()
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row(COLUMNS)
        for row, place in np.argwhere(flags.fired).tolist():
            rule = flags.rules[place]
            write_row([harmless(ids[row]), *map(harmless, (rule.name, rule.pack, rule.trait))])
    return path


def read_flags(path: str | Path, data: Dataset) -> Flags:
    """The flags in `path`, for the rows of `data`. Without the JSON beside it, rules that never fired are unknown."""
    path = Path(path)
    lines = read_rows(path, "flags", COLUMNS, lambda line: tuple(unharmed(line[name]) for name in COLUMNS))
    twin = path.with_suffix(".json")
    about: Mapping[str, Any] = read_json(twin) if holds(twin, KEYS) else {}
    rules = _rules(about, twin) or tuple(dict.fromkeys(RuleName(*line[1:]) for line in lines))
    place = {rule.name: at for at, rule in enumerate(rules)}
    rows = pc.index_in(pa.array([line[0] for line in lines], data.ids.type), value_set=data.ids)
    strange = sorted({line[1] for line in lines} - place.keys())
    if rows.null_count or strange:
        unknown = list(dict.fromkeys(line[0] for line, row in zip(lines, rows.to_pylist(), strict=True) if row is None))
        ids = "1 flagged id is" if len(unknown) == 1 else f"{len(unknown):,} flagged ids are"
        what = f"{ids} not in {data.name}: {some(unknown)}" if unknown else ""
        more = f"{twin.name} does not know the rules {some(strange)}" if strange else ""
        raise MismatchError(f"{path} does not fit", problems=[each for each in (what, more) if each])
    fired = np.zeros((len(data), len(rules)), bool)
    if lines:
        fired[rows.to_numpy(zero_copy_only=False).astype(np.intp), [place[line[1]] for line in lines]] = True
    flags = Flags(data.ids, rules, fired, about.get("skipped", {}), str(about.get("dataset", "")), _counted(about))
    return flags.of(data)


def _counted(about: Mapping[str, Any]) -> str:
    return str(about.get("counted_on", "all"))


def _rules(about: Mapping[str, Any], twin: Path) -> tuple[RuleName, ...]:
    try:
        return tuple(RuleName(**each) for each in about.get("rules", ()))
    except TypeError as cause:
        raise InputError(f"{twin} does not describe flags: {cause}") from cause
