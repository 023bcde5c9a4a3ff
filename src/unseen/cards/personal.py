"""Texts that hold personal data, counted by category, with a sample to check by hand; the matches are never kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.cards.personal_patterns import CATEGORIES, HARMLESS, NOT_MEASURED, PATTERNS
from unseen.errors import TableError
from unseen.evaluation.intervals import wilson
from unseen.progress import track
from unseen.seeding import generator
from unseen.store.files import atomic, csv_rows, harmless, read_rows, unharmed
from unseen.types import ROWS_AT_ONCE, Dataset, Measurement, some

SAMPLE = 50
"""Texts of each category that are drawn for checking by hand."""
PER_THOUSAND = "personal_texts_per_1000"
COLUMNS = ("id", "category", "right")
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Scan:
    """Which texts hold personal data of which category."""

    data: Dataset
    rows: Mapping[str, Mask]
    """A mask over the rows for each category."""

    @cached_property
    def any(self) -> Mask:
        """Texts with personal data of any category; placeholders of what was taken out are none."""
        real = [mask for category, mask in self.rows.items() if category not in HARMLESS]
        return np.asarray(np.logical_or.reduce(real))

    def rates(self) -> list[Measurement]:
        """Texts per 1,000 that hold it, by category and for any, with Wilson's 95 % interval.

        A text counts once, however often it holds something. What the patterns miss is not in the rate, and what they
        take for personal data by mistake is: see `precision`.
        """
        if not len(self.data):
            return []
        return [
            _share(PER_THOUSAND, mask, category, 1000.0) for category, mask in {**self.rows, "any": self.any}.items()
        ]

    def sample(self, most: int = SAMPLE, seed: int = 42) -> list[tuple[str, str]]:
        """Ids and categories to check by hand; the order of rows decides nothing."""
        found = []
        for category, mask in self.rows.items():
            ids = sorted(self.data.ids.filter(pa.array(mask)).to_pylist())
            drawn = generator(seed, "personal", category).permutation(len(ids))[:most]
            found += [(ids[place], category) for place in sorted(drawn.tolist())]
        return found

    def value(self, precision: Sequence[Measurement] = ()) -> dict[str, Any]:
        """The answer to the card's question on personal information, as far as a tool can give it."""
        told = {
            "categories": [name for name, mask in self.rows.items() if mask.any() and name not in HARMLESS],
            "rate_per_1000": {row.slice.removeprefix("category="): _rounded(row.value) for row in self.rates()},
            "not_measured": list(NOT_MEASURED),
            "assessed_after_collection": False,
        }
        if masked := sum(int(self.rows[name].sum()) for name in HARMLESS):
            told["text"] = f"{masked:,} texts hold a placeholder for a user name that was taken out."
        if precision:
            told["precision"] = {
                row.slice.removeprefix("category="): {"right": row.value, "low": row.low, "high": row.high, "n": row.n}
                for row in precision
            }
        return told


def scan(data: Dataset) -> Scan:
    """Look for personal data in every text."""
    rows: dict[str, list[Mask]] = {category: [] for category in CATEGORIES}
    batches = data.table.select(["text"]).to_batches(max_chunksize=ROWS_AT_ONCE)
    for batch in track(batches, "personal data", len(batches)):
        for pattern in PATTERNS:
            mask = pc.match_substring_regex(batch.column(0), pattern.hint).to_numpy(zero_copy_only=False).copy()
            places = np.flatnonzero(mask)
            texts = batch.column(0).take(pa.array(places)).to_pylist()
            mask[places] = [pattern.in_text(text) for text in texts]
            rows[pattern.category].append(mask)
    empty = np.zeros(0, dtype=np.bool_)
    return Scan(data, {category: np.concatenate([empty, *masks]) for category, masks in rows.items()})


def write_sample(found: Scan, path: str | Path, *, texts: bool = False, seed: int = 42) -> Path:
    """Write ids to check by hand, with an empty column `right` for yes or no; the texts only when asked for."""
    drawn = found.sample(seed=seed)
    said = _texts_of(found.data, [name for name, _ in drawn]) if texts else {}
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        write_row = csv_rows(file)
        write_row([*COLUMNS, *(["text"] if texts else [])])
        for name, category in drawn:
            write_row([harmless(name), category, "", *([harmless(said[name])] if texts else [])])
    return Path(path)


def precision(found: Scan, path: str | Path) -> list[Measurement]:
    """How many of the texts checked by hand hold what the scan says, with Wilson's interval, by category.

    The file has id, category and right (yes, no, or blank for not looked at); all its problems are one error.
    """
    checked = [each for each in read_rows(path, "checked texts", COLUMNS, _checked) if each[2] != ""]
    known = {category: set(found.data.ids.filter(pa.array(mask)).to_pylist()) for category, mask in found.rows.items()}
    problems = [
        f"{name!r} {category}: the scan does not say so" for name, category, _ in checked if name not in known[category]
    ]
    twice = len(checked) - len({each[:2] for each in checked})
    problems += [f"{twice} rows repeat the id and category of another"] if twice else []
    problems += [] if checked else ["no row says yes or no"]
    if problems:
        raise TableError(f"{path} does not check this scan", problems=problems)
    answers = {category: [right == "yes" for _, of, right in checked if of == category] for category in CATEGORIES}
    return [_share("personal_precision", np.array(right), category) for category, right in answers.items() if right]


def _checked(line: dict[str, str]) -> tuple[str, str, str]:
    category, right = line["category"], line["right"].strip().casefold()
    if category not in CATEGORIES:
        raise ValueError(f"category: expected one of {some(CATEGORIES, 20)}, got {category!r}")
    if right not in ("yes", "no", ""):
        raise ValueError(f"right: expected yes, no or nothing, got {line['right']!r}")
    return unharmed(line["id"]), category, right


def _texts_of(data: Dataset, ids: Sequence[str]) -> dict[str, str]:
    places = pc.index_in(pa.array(ids, data.ids.type), value_set=data.ids.combine_chunks())
    return dict(zip(ids, data.texts.take(places).to_pylist(), strict=True))


def _share(metric: str, where: Mask, category: str, scale: float = 1.0) -> Measurement:
    """How many of the rows are true, with Wilson's interval."""
    n, count = len(where), int(where.sum())
    low, high = wilson(count, n)
    return Measurement(metric, scale * count / n, n, scale * low, scale * high, f"category={category}")


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
