"""What a tool can fill in: counts, sizes, scripts, personal data, mentions and agreement of annotators.

Scripts are the writing systems of the letters. English, Dutch and Turkish share one, so the shares cannot confirm a
language; they can contradict one.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen.bias.terms import Finder
from unseen.cards.annotators import Ratings, evidence_of, label_bias
from unseen.cards.card import Entry
from unseen.cards.personal_data import Scan, precision, scan
from unseen.errors import MismatchError
from unseen.progress import track
from unseen.splits.length import word_lengths
from unseen.types import ROWS_AT_ONCE, Dataset, Measurement, Split, some
from unseen.types.records import versions

ABOUT = "who is talked about, not who speaks"
SCRIPTS = {
    "LATIN": "Latn", "CYRILLIC": "Cyrl", "GREEK": "Grek", "ARABIC": "Arab", "HEBREW": "Hebr", "DEVANAGARI": "Deva",
    "BENGALI": "Beng", "TAMIL": "Taml", "TELUGU": "Telu", "GUJARATI": "Gujr", "GURMUKHI": "Guru", "KANNADA": "Knda",
    "MALAYALAM": "Mlym", "SINHALA": "Sinh", "THAI": "Thai", "LAO": "Laoo", "MYANMAR": "Mymr", "KHMER": "Khmr",
    "TIBETAN": "Tibt", "GEORGIAN": "Geor", "ARMENIAN": "Armn", "ETHIOPIC": "Ethi", "HANGUL": "Hang", "HIRAGANA": "Hira",
    "KATAKANA": "Kana", "CJK": "Hani", "ORIYA": "Orya",
    "FULLWIDTH": "Latn", "MODIFIER": "Latn", "FEMININE": "Latn", "MASCULINE": "Latn",
}  # fmt: skip
"""ISO 15924 codes by the first word of a letter's Unicode name."""
WRITTEN_WITH = {"Jpan": ("Hani", "Hira", "Kana"), "Kore": ("Hang", "Hani"), "Hans": ("Hani",), "Hant": ("Hani",)}
"""Scripts that are several of ours."""


@dataclass(frozen=True, eq=False)
class Measured:
    """Answers that were measured, the numbers behind them, and the scan with its sample."""

    entries: Mapping[str, Entry]
    measurements: tuple[Measurement, ...]
    personal: Scan


def measure_card(
    data: Dataset,
    *,
    split: Split | None = None,
    ratings: Ratings | None = None,
    terms: Mapping[str, Sequence[str]] | None = None,
    checked: str | Path | None = None,
    seed: int = 42,
    date: str = "",
) -> Measured:
    """Everything about `data` that needs no person.

    `split` gives the sizes of its parts, `ratings` the agreement of annotators, `terms` the mentions, and `checked` (a
    sample of the scan that somebody checked) its precision; `date` is noted in the answers. Texts are read, but none
    goes into the answers.
    """
    if ratings is not None:
        _refuse_other_items(data, ratings)
    personal = scan(data)
    precisions = precision(personal, checked) if checked is not None else []
    method = "patterns over every text; texts per 1,000"
    method += "; a checked sample gives the precision" if precisions else ""
    answers = {**_counts(data, split), "personal_sensitive_info": (personal.value(precisions), method)}
    measurements = [*personal.rates(), *precisions]
    if ratings is not None:
        bias = label_bias(ratings, seed)
        answers["label_bias_evidence"] = (evidence_of(bias), "answers of single annotators")
        measurements += bias
    if terms is not None:
        counts = mentions(data, terms)
        answers["identity_mentions"] = (counts, f"texts with the terms as whole words: {ABOUT}")
        measurements += [
            Measurement("mentions", float(count), len(data), slice=f"term={name}") for name, count in counts.items()
        ]
    n, label_counts = len(data), data.label_counts if len(data) else {}
    measurements += [
        Measurement("label_share", count / n, n, slice=f"label={name}") for name, count in label_counts.items()
    ]
    source = f"unseen {versions()['unseen']}"
    entries = {
        name: Entry(value, "measured", "tool", by="unseen", date=date, source=source, method=method)
        for name, (value, method) in answers.items()
    }
    return Measured(entries, tuple(measurements), personal)


def _refuse_other_items(data: Dataset, ratings: Ratings) -> None:
    strange = sorted(set(ratings.items) - set(data.ids.to_pylist()))
    if strange:
        raise MismatchError(
            f"{len(strange)} of {len(ratings.items)} annotated items are not in {data.name}",
            expected="ids of the data in the column item", got=some(strange), fix="name the column of ids with --id",
        )  # fmt: skip


def _counts(data: Dataset, split: Split | None) -> dict[str, tuple[Any, str]]:
    """What can be counted, each with how."""
    parts = {"all": len(data)} if split is None else dict(split.sizes)
    file_hash = data.origin.inputs.get("file")
    answers: dict[str, tuple[Any, str]] = {
        "n_items": (len(data), "rows that were loaded"),
        "splits": (
            {name: int(n) for name, n in parts.items()},
            "one table; no parts were given" if split is None else f"parts of the split {split.name}",
        ),
        "n_classes": (len(data.label_names), "labels that were declared or found"),
        "class_counts": (dict(data.label_counts), "rows of each label"),
        "label_names": (list(data.label_names), ""),
        "columns": (list(data.table.column_names), "columns that were loaded"),
        "sizes": (text_sizes(data), "words are separated by white space"),
        "checksum": (f"sha256:{file_hash}", "of the file")
        if file_hash
        else (f"unseen:{data.fingerprint}", "of ids, texts and labels"),
    }
    if shares := script_shares(data):
        visible = {name: round(share, 4) for name, share in shares.items() if share >= 0.0001}
        answers["scripts"] = (visible, "share of letters by script; not a language")
    return answers


def text_sizes(data: Dataset) -> dict[str, float]:
    """Characters, bytes and words of the texts; of words the median, the middle 90 % and the longest."""
    if not len(data):
        return {"characters": 0, "bytes": 0}
    words = word_lengths(data)
    low, middle, high = map(float, np.quantile(words, [0.05, 0.5, 0.95]))
    return {
        "characters": int(pc.sum(pc.utf8_length(data.texts)).as_py()),
        "bytes": int(pc.sum(pc.binary_length(data.texts)).as_py()),
        "words_median": middle,
        "words_5_percent": low,
        "words_95_percent": high,
        "words_longest": int(words.max()),
    }


def mentions(data: Dataset, terms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Texts that hold a term of each list, as whole words in any case: who is talked about, not who speaks."""
    members = [(name, term) for name, own in terms.items() for term in own]
    finder, counts = Finder([term for _, term in members]), dict.fromkeys(terms, 0)
    batches = -(-len(data) // ROWS_AT_ONCE)
    for (texts,) in track(data.batches("text"), "mentions", batches):
        for text in texts:
            for name in {members[number][0] for number in finder.terms_in(text)}:
                counts[name] += 1
    return counts


def script_shares(data: Dataset) -> dict[str, float]:
    """The share of letters in each script, the largest first; empty when there is no letter."""
    counts = np.zeros(0x110000, dtype=np.int64)
    for (texts,) in data.batches("text"):
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        counts += np.bincount(codes, minlength=len(counts))
    letters: dict[str, int] = {}
    for code in np.flatnonzero(counts).tolist():
        if unicodedata.category(chr(code))[0] == "L":
            script = SCRIPTS.get(unicodedata.name(chr(code), "OTHER").split()[0], "Zyyy")
            letters[script] = letters.get(script, 0) + int(counts[code])
    total = sum(letters.values())
    order = sorted(letters, key=lambda script: (-letters[script], script))
    return {script: letters[script] / total for script in order}


def scripts_of(languages: Iterable[str]) -> set[str]:
    """The scripts that these languages are commonly written in."""
    from langcodes import Language

    scripts: set[str] = set()
    for tag in languages:
        script = Language.get(tag).maximize().script
        scripts.update(WRITTEN_WITH.get(script, (script,)) if script else ())
    return scripts
