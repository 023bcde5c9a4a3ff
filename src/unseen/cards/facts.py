"""What a tool can fill in: counts, sizes, scripts, personal data, mentions and agreement of annotators.

Scripts are the writing systems of the letters. English, Dutch and Turkish share one, so the shares cannot confirm a
language; they can contradict one.

Labels of single annotators: how far they agree, overall and within groups, and whether groups label differently.

The difference of two groups is the mean, over items that both labelled, of the share of one group that gave a label
less that of the other. Its p-value shuffles who is of which group among the annotators of each item: if groups do not
matter, this changes nothing but by chance. Groups differ in more than their name, so a difference is no cause.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.compute as pc

from unseen.cards.card import Entry
from unseen.cards.personal_data import Scan, precision, scan
from unseen.data.tables import column_names, read_strings
from unseen.errors import TableError
from unseen.evaluation.bootstrap import DRAWS, percentiles
from unseen.evaluation.contrasts import holm
from unseen.functional.agreement import agreement
from unseen.progress import track
from unseen.seeding import generator
from unseen.splits.length import word_lengths
from unseen.subgroups.groups import Finder
from unseen.types import ROWS_AT_ONCE, Dataset, Measurement, Split, some, string_array
from unseen.types.arrays import Codes, Rows, blocks, places_among
from unseen.types.records import versions

SHUFFLES = 10_000
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
class Ratings:
    """One row per answer of an annotator."""

    items: tuple[str, ...]
    labels: tuple[str, ...]
    groups: tuple[str, ...]
    """Names of the groups; empty when none were given."""
    item: Codes
    label: Codes
    group: Codes

    def counts(self, group: int | None = None) -> Rows:
        """How often each item got each label [items, labels], from one group or from all."""
        rows = slice(None) if group is None else self.group == group
        table = np.zeros((len(self.items), len(self.labels)), dtype=np.intp)
        np.add.at(table, (self.item[rows], self.label[rows]), 1)
        return table


def read_ratings(path: str | Path) -> Ratings:
    """The answers in a table with the columns item, annotator, label and, where it is there, group."""
    names = ["item", "annotator", "label", *(["group"] if "group" in column_names(path) else [])]
    columns = {name: column.to_pylist() for name, column in read_strings(path, names, "annotations").items()}
    _refuse_wrong_rows(columns, path)
    coded = {name: np.unique(np.array(values, dtype=str), return_inverse=True) for name, values in columns.items()}
    no_groups = (np.empty(0, dtype=str), np.zeros(len(columns["item"]), dtype=np.intp))
    parts = [coded["item"], coded["label"], coded.get("group", no_groups)]
    texts = [tuple(values.tolist()) for values, _ in parts]
    return Ratings(*texts, *(codes.reshape(-1).astype(np.intp) for _, codes in parts))  # type: ignore[arg-type]


def label_bias(ratings: Ratings, seed: int = 42) -> list[Measurement]:
    """Agreement overall and within groups, and the difference of every pair of groups in every label."""
    measurements = agreement(ratings.counts(), ratings.labels, seed=seed)
    for code, group in enumerate(ratings.groups):
        own = agreement(ratings.counts(code), ratings.labels, seed=seed)
        measurements += [replace(row, slice=f"group={group}") for row in own]
    return measurements + group_effects(ratings, seed)


def group_effects(ratings: Ratings, seed: int = 42) -> list[Measurement]:
    """`group_effect` for each pair of groups and label, with interval, p and p adjusted by Holm's method (`p_holm`)."""
    counts = [ratings.counts(code) for code in range(len(ratings.groups))]
    # with two labels the second says what the first says, with the other sign
    labels = range(1, 2) if len(ratings.labels) == 2 else range(len(ratings.labels))
    effects = [
        _effect(counts[a][:, label], counts[a].sum(axis=1), counts[b][:, label], counts[b].sum(axis=1),
                (ratings.groups[a], ratings.groups[b], ratings.labels[label]), seed)
        for a, b in combinations(range(len(ratings.groups)), 2)
        for label in labels
    ]  # fmt: skip
    adjusted = iter(holm([float(row.tags["p"]) for row in effects if row.value is not None]))
    return [
        replace(row, tags={**row.tags, "p_holm": next(adjusted)}) if row.value is not None else row for row in effects
    ]


def evidence_of(measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The answer to the card's question on label bias."""
    evidence: dict[str, Any] = {"agreement": {}, "group_effects": []}
    for row in measurements:
        figures = {"value": row.value, "low": row.low, "high": row.high, "n": row.n}
        if row.metric == "group_effect":
            evidence["group_effects"].append({**row.tags, **figures})
        elif row.metric.startswith("krippendorff_alpha"):
            evidence["agreement"][row.slice] = {"metric": row.metric, **figures}
    return evidence


def _effect(
    yes_a: Codes, all_a: Codes, yes_b: Codes, all_b: Codes, names: tuple[str, str, str], seed: int
) -> Measurement:
    tags: dict[str, str | int | float] = dict(zip(("first", "second", "label"), names, strict=True))
    both = (all_a > 0) & (all_b > 0)
    yes_a, all_a, yes_b, all_b = yes_a[both], all_a[both], yes_b[both], all_b[both]
    if not both.any():
        return Measurement("group_effect", None, 0, tags=tags)
    apart = yes_a / all_a - yes_b / all_b
    draw = generator(seed, "groups", *names)
    tags["p"] = _shuffle_p(yes_a + yes_b, all_a, all_b, abs(float(apart.mean())), draw)
    means = np.concatenate([apart[draw.integers(len(apart), size=(size, len(apart)))].mean(axis=1)
                            for size in blocks(DRAWS, len(apart))])  # fmt: skip
    low, high = percentiles(means) or (None, None)
    return Measurement("group_effect", float(apart.mean()), len(apart), low, high, tags=tags)


def _shuffle_p(yes: Codes, all_a: Codes, all_b: Codes, observed: float, draw: np.random.Generator) -> float:
    """Share of shuffles within items that part the groups at least as far; the observed one is among them."""
    hits, everyone = 0, all_a + all_b
    for size in blocks(SHUFFLES, len(yes)):
        # shuffling groups among the annotators of an item draws those of the first group without replacement
        first = draw.hypergeometric(yes, everyone - yes, all_a, size=(size, len(yes)))
        means = (first / all_a - (yes - first) / all_b).mean(axis=1)
        hits += int((np.abs(means) >= observed - 1e-9).sum())
    return (1 + hits) / (1 + SHUFFLES)


def _refuse_wrong_rows(columns: dict[str, list[str | None]], path: str | Path) -> None:
    problems = []
    for name, values in columns.items():
        blank = [row for row, value in enumerate(values, start=1) if value is None]
        problems += [f"{len(blank)} rows have no {name}: rows {some(blank)}"] if blank else []
    pairs = list(zip(columns["item"], columns["annotator"], strict=True))
    twice = len(pairs) - len(set(pairs))
    problems += [f"{twice} rows repeat an annotator's answer about an item"] if twice else []
    if "group" in columns:
        memberships = Counter(name for name, _ in set(zip(columns["annotator"], columns["group"], strict=True)))
        several = sorted(str(name) for name, groups in memberships.items() if groups > 1)
        problems += [f"{len(several)} annotators are of several groups: {some(several)}"] if several else []
    problems += [] if pairs else ["there is no row"]
    if problems:
        raise TableError(f"{path} has wrong rows", problems=problems)


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
        places_among(
            string_array(ratings.items), data.ids, f"annotated items are not in {data.name}",
            expected="ids of the data in the column item", fix="name the column of ids with --id",
        )  # fmt: skip
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
