"""What a tool can fill in: counts, sizes, scripts, personal data, mentions and agreement of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen.bias.terms import Finder
from unseen.cards.annotators import Ratings, evidence_of, label_bias
from unseen.cards.card import Entry
from unseen.cards.personal import Scan, precision, scan
from unseen.cards.scripts import script_shares
from unseen.errors import MismatchError
from unseen.progress import track
from unseen.splits.partition import versions, word_lengths
from unseen.types import Dataset, Measurement, Split, some

ABOUT = "who is talked about, not who speaks"


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
    found = scan(data)
    right = precision(found, checked) if checked is not None else []
    entries = {name: _entry(value, method) for name, (value, method) in _counted(data, split).items()}
    method = "patterns over every text; texts per 1,000" + ("; a checked sample gives the precision" if right else "")
    entries["personal_sensitive_info"] = _entry(found.value(right), method)
    measured = [*found.rates(), *right]
    if ratings is not None:
        bias = label_bias(ratings, seed)
        entries["label_bias_evidence"] = _entry(evidence_of(bias), "answers of single annotators")
        measured += bias
    if terms is not None:
        texts = mentions(data, terms)
        entries["identity_mentions"] = _entry(texts, f"texts with the terms as whole words: {ABOUT}")
        measured += [Measurement("mentions", float(n), len(data), slice=f"term={name}") for name, n in texts.items()]
    dated = {name: replace(entry, date=date) for name, entry in entries.items()}
    return Measured(dated, (*measured, *_class_shares(data)), found)


def mentions(data: Dataset, terms: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Texts that hold a term of each list, as whole words in any case: who is talked about, not who speaks."""
    names = [(name, term) for name, members in terms.items() for term in members]
    finder, counts = Finder([term for _, term in names]), dict.fromkeys(terms, 0)
    batches = -(-len(data) // 65_536)
    for (texts,) in track(data.batches("text"), "mentions", batches):
        for text in texts:
            for name in {names[number][0] for number in finder.found(text)}:
                counts[name] += 1
    return counts


def _counted(data: Dataset, split: Split | None) -> dict[str, tuple[Any, str]]:
    parts = {"all": len(data)} if split is None else dict(split.sizes)
    how = "one table; no parts were given" if split is None else f"parts of the split {split.name}"
    found: dict[str, tuple[Any, str]] = {
        "n_items": (len(data), "rows that were loaded"),
        "splits": ({name: int(n) for name, n in parts.items()}, how),
        "n_classes": (len(data.label_names), "labels that were declared or found"),
        "class_counts": (dict(data.label_counts), "rows of each label"),
        "label_names": (list(data.label_names), ""),
        "columns": (list(data.table.column_names), "columns that were loaded"),
        "sizes": (text_sizes(data), "words are separated by white space"),
        "checksum": (checksum(data), "of the file" if "file" in data.origin.inputs else "of ids, texts and labels"),
    }
    if shares := script_shares(data):
        told = {name: round(share, 4) for name, share in shares.items() if share >= 0.0001}
        found["scripts"] = (told, "share of letters by script; not a language")
    return found


def text_sizes(data: Dataset) -> dict[str, float]:
    """Characters, bytes and words of the texts; of words the median, the middle 90 % and the longest."""
    if not len(data):
        return {"characters": 0, "bytes": 0}
    words = word_lengths(data)
    low, middle, high = (float(each) for each in np.quantile(words, [0.05, 0.5, 0.95]))
    return {
        "characters": int(pc.sum(pc.utf8_length(data.texts)).as_py()),
        "bytes": int(pc.sum(pc.binary_length(data.texts)).as_py()),
        "words_median": middle,
        "words_5_percent": low,
        "words_95_percent": high,
        "words_longest": int(words.max()),
    }


def checksum(data: Dataset) -> str:
    """The hash of the file that was loaded, or of the content where there was no file."""
    found = data.origin.inputs.get("file")
    return f"sha256:{found}" if found else f"unseen:{data.fingerprint}"


def _class_shares(data: Dataset) -> list[Measurement]:
    n = len(data)
    return [Measurement("label_share", count / n, n, slice=f"label={name}")
            for name, count in data.label_counts.items() if n]  # fmt: skip


def _entry(value: Any, method: str) -> Entry:
    source = f"unseen {versions()['unseen']}"
    return Entry(value, "measured", "tool", by="unseen", source=source, method=method)


def _refuse_other_items(data: Dataset, ratings: Ratings) -> None:
    strange = sorted(set(ratings.items) - set(data.ids.to_pylist()))
    if strange:
        raise MismatchError(
            f"{len(strange)} of {len(ratings.items)} annotated items are not in {data.name}",
            expected="ids of the data in the column item", got=some(strange), fix="name the column of ids with --id",
        )  # fmt: skip
