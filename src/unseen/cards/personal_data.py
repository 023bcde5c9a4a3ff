"""Texts that hold personal data, counted by category, with a sample to check by hand; the matches are never kept.

Every repetition of a pattern is bounded, so that a text made to be slow is not. The patterns find what has a form; a
name, an address in words or a story that gives somebody away has none.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.errors import TableError
from unseen.evaluation.measurements import share_of
from unseen.progress import track
from unseen.seeding import generator
from unseen.store.files import harmless, read_rows, unharmed, write_rows
from unseen.types import ROWS_AT_ONCE, Dataset, Measurement, some
from unseen.types.arrays import Mask

SAMPLE = 50
"""Texts of each category that are drawn for checking by hand."""
PER_THOUSAND = "personal_texts_per_1000"
COLUMNS = ("id", "category", "right")

MASKED = ("user", "username", "user_name", "mention", "handle", "name", "usermention", "anonymous", "anon")
"""Handles that stand for a handle that was taken out."""
SITES = r"(?:twitter|x|facebook|instagram|tiktok|github|vk|soundcloud|pinterest)\.com"
PAGES = "about events explore groups hashtag home i intent login p pages photo search share sharer status watch user"
NO_NAMES = frozenset(PAGES.split())
"""Pages of these sites that are nobody's."""
DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
SSN = r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"


@dataclass(frozen=True)
class Pattern:
    """One form of personal data."""

    category: str
    hint: str
    """What a text must hold to be looked at closely, in the syntax of RE2, which is never slow."""
    form: re.Pattern[str]
    right: Callable[[re.Match[str]], bool] = lambda match: True

    def in_text(self, text: str) -> bool:
        """Whether the text holds it."""
        return any(self.right(match) for match in self.form.finditer(text))


def _is_handle(match: re.Match[str]) -> bool:
    return match[1].casefold() not in MASKED and not match[1].isdigit()


def _is_masked(match: re.Match[str]) -> bool:
    return match[1] is None or match[1].casefold() in MASKED


def _is_phone(match: re.Match[str]) -> bool:
    text = match.group()
    groups, digits = re.findall(r"\d+", text), sum(map(str.isdigit, text))
    if not 9 <= digits <= 15 or re.fullmatch(SSN, text):
        return False
    thousands = all(len(group) == 3 for group in groups[1:]) and len(groups[0]) < 3
    grouped_number = thousands and not re.search(r"[+(-]", text)
    years = all(len(group) == 4 and group[:2] in ("18", "19", "20") for group in groups)
    date = len(groups) == 3 and sorted(map(len, groups)) in ([1, 2, 4], [2, 2, 4])
    return not (grouped_number or years or date)


def _is_address(match: re.Match[str]) -> bool:
    text = match.group()
    if ":" in text and text.count(":") < 4:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_user_page(match: re.Match[str]) -> bool:
    name = match["site"] or match["page"] or match["login"] or match["query"]
    page = name.casefold().rstrip(".")
    return page not in NO_NAMES and page not in MASKED and not page.endswith((".php", ".html", ".htm", ".aspx"))


def _is_dni(match: re.Match[str]) -> bool:
    return match["dni"] is None or DNI_LETTERS[int(match["dni"][:8]) % 23] == match["dni"][8]


def _is_place(match: re.Match[str]) -> bool:
    if match["latitude"] is None:
        return True
    return abs(float(match["latitude"])) <= 90 and abs(float(match["longitude"])) <= 180


EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}(?!\w)"
PHONE = (
    r"(?<![\w.,/+-])(?:\+\d{9,15}"
    r"|(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,5}\)[ .-]?|\d{2,5}[ .-])\d{2,5}(?:[ .-]\d{2,5}){0,3})(?![\w/-]|[.,]\d)"
)
HANDLE = r"(?<![\w@./+-])@(\w{2,50})(?![\w@]|\.\w)"
PLACEHOLDER = r"[<\[{]@?user(?:name|_name|mention)?[>\]}]"
IP_ADDRESS = r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]{6,39})(?![\w:]|\.\d)"
USER_FOLDERS = "u|user|users|profile|profiles|member|members|people|channel|in"
USER_PAGE = (
    r"(?:https?://|www\.)(?:(?P<login>[\w.%+-]{1,50})(?::[^\s@/]{0,50})?@[\w.-]{3,100}"
    rf"|(?:www\.|m\.|mobile\.)?{SITES}/@?(?P<site>[\w.-]{{2,50}})"
    rf"|[\w.-]{{3,100}}(?::\d{{1,5}})?/(?:[\w%.-]{{1,50}}/){{0,4}}(?:@|~|(?:{USER_FOLDERS})/)(?P<page>[\w.%-]{{2,50}})"
    r"|[^\s?]{3,100}\?[^\s]{0,100}?\b(?:user|username|user_id|uid|member)=(?P<query>[\w.%-]{2,50}))"
)
NATIONAL_ID = (
    rf"{SSN}|\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{{2}} ?\d{{2}} ?\d{{2}} ?[A-D]\b|\b(?P<dni>\d{{8}}[A-Z])\b"
)
PLACE = (
    r"(?<![\w.])(?P<latitude>[+-]?\d{1,2}\.\d{3,10})\s{0,2}[,;]\s{0,2}(?P<longitude>[+-]?\d{1,3}\.\d{3,10})(?![\w.])"
    r"|\d{1,3} ?° ?\d{1,2} ?[′'’](?: ?\d{1,2}(?:\.\d{1,6})? ?[″\"”]| ?)? ?[NSEWO]\b"
)

PATTERNS = (
    Pattern("email", "@", re.compile(EMAIL)),
    Pattern("phone", r"\d[\d .()-]{5,}\d", re.compile(PHONE), _is_phone),
    Pattern("handle", "@", re.compile(HANDLE), _is_handle),
    Pattern("handle_masked", r"(?i)@|[<\[{]user", re.compile(f"{HANDLE}|{PLACEHOLDER}", re.IGNORECASE), _is_masked),
    Pattern("ip_address", r"\d\.\d|:[0-9a-fA-F]*:", re.compile(IP_ADDRESS), _is_address),
    Pattern("url_with_user", r"(?i)https?://|www\.", re.compile(USER_PAGE, re.IGNORECASE), _is_user_page),
    Pattern("national_id", r"\d{3}-\d{2}-\d{4}|[A-Z]{2} ?\d{2}|\d{8}[A-Z]", re.compile(NATIONAL_ID), _is_dni),
    Pattern("coordinates", r"\d\.\d{3}|\d ?°", re.compile(PLACE), _is_place),
)
CATEGORIES = tuple(pattern.category for pattern in PATTERNS)
NOT_MEASURED = ("person_name", "postal_address")
"""What would need a model that is not among the dependencies."""
HARMLESS = ("handle_masked",)
"""Categories that show that something was taken out."""


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

    @property
    def masked(self) -> int:
        """Texts with a placeholder of what was taken out."""
        return sum(int(self.rows[category].sum()) for category in HARMLESS)

    def rates(self) -> list[Measurement]:
        """Texts per 1,000 that hold it, by category and for any, with Wilson's 95 % interval.

        A text counts once, however often it holds something. What the patterns miss is not in the rate, and what they
        take for personal data by mistake is: see `precision`.
        """
        if not len(self.data):
            return []
        masks = {**self.rows, "any": self.any}
        return [_share(PER_THOUSAND, mask, category, 1000.0) for category, mask in masks.items()]

    def sample(self, most: int = SAMPLE, seed: int = 42) -> list[tuple[str, str]]:
        """Ids and categories to check by hand; the order of rows decides nothing."""
        sample = []
        for category, mask in self.rows.items():
            ids = sorted(self.data.ids.filter(pa.array(mask)).to_pylist())
            places = generator(seed, "personal", category).permutation(len(ids))[:most]
            sample += [(ids[place], category) for place in sorted(places.tolist())]
        return sample

    def value(self, precision: Sequence[Measurement] = ()) -> dict[str, Any]:
        """The answer to the card's question on personal information, as far as a tool can give it."""
        value = {
            "categories": [name for name, mask in self.rows.items() if mask.any() and name not in HARMLESS],
            "rate_per_1000": {_category(row): round(row.value or 0.0, 3) for row in self.rates()},
            "not_measured": list(NOT_MEASURED),
            "assessed_after_collection": False,
        }
        if self.masked:
            value["text"] = f"{self.masked:,} texts hold a placeholder for a user name that was taken out."
        if precision:
            value["precision"] = {
                _category(row): {"right": row.value, "low": row.low, "high": row.high, "n": row.n} for row in precision
            }
        return value


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


def write_sample(scan: Scan, path: str | Path, *, texts: bool = False, seed: int = 42) -> Path:
    """Write ids to check by hand, with an empty column `right` for yes or no; the texts only when asked for."""
    sample = scan.sample(seed=seed)
    ids = [name for name, _ in sample]
    text_of = _texts_of(scan.data, ids) if texts else {}
    places = scan.data.places_of(ids)
    rows = (
        [harmless(name), category, "", places[name], *([harmless(text_of[name])] if texts else [])]
        for name, category in sample
    )
    return write_rows(path, [*COLUMNS, "row", *(["text"] if texts else [])], rows)


def precision(scan: Scan, path: str | Path) -> list[Measurement]:
    """How many of the texts checked by hand hold what the scan says, with Wilson's interval, by category.

    The file has id, category and right (yes, no, or blank for not looked at); all its problems are one error.
    """
    checked = [row for row in read_rows(path, "checked texts", COLUMNS, _checked_row) if row[2] != ""]
    known = {category: set(scan.data.ids.filter(pa.array(mask)).to_pylist()) for category, mask in scan.rows.items()}
    problems = [
        f"{name!r} {category}: the scan does not say so" for name, category, _ in checked if name not in known[category]
    ]
    twice = len(checked) - len({row[:2] for row in checked})
    problems += [f"{twice} rows repeat the id and category of another"] if twice else []
    problems += [] if checked else ["no row says yes or no"]
    if problems:
        raise TableError(f"{path} does not check this scan", problems=problems)
    answers = {category: [right == "yes" for _, of, right in checked if of == category] for category in CATEGORIES}
    return [_share("personal_precision", np.array(right), category) for category, right in answers.items() if right]


def _checked_row(row: dict[str, str]) -> tuple[str, str, str]:
    category, right = row["category"], row["right"].strip().casefold()
    if category not in CATEGORIES:
        raise ValueError(f"category: expected one of {some(CATEGORIES, 20)}, got {category!r}")
    if right not in ("yes", "no", ""):
        raise ValueError(f"right: expected yes, no or nothing, got {row['right']!r}")
    return unharmed(row["id"]), category, right


def _texts_of(data: Dataset, ids: Sequence[str]) -> dict[str, str]:
    places = pc.index_in(pa.array(ids, data.ids.type), value_set=data.ids.combine_chunks())
    return dict(zip(ids, data.texts.take(places).to_pylist(), strict=True))


def _share(metric: str, where: Mask, category: str, scale: float = 1.0) -> Measurement:
    """How many of the rows are true, with Wilson's interval, times `scale`."""
    row = share_of(metric, where, slice=f"category={category}")
    value, low, high = (None if side is None else scale * side for side in (row.value, row.low, row.high))
    return replace(row, value=value, low=low, high=high)


def _category(row: Measurement) -> str:
    return row.slice.removeprefix("category=")
