"""Labelled texts that cannot teach or test what they are labelled with: the label in them, no words, copies.

Texts that others repeat are counted on the training part and looked up elsewhere. A row is never its own copy, and
rows outside the training part are nobody's copies: whatever is tested together, each row is flagged as if it were
tested alone.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.quotes import quotes_only
from unseen.audits.items.rule import HANDLE, LINK, Items, Rule, codes_of, matches
from unseen.audits.items.scrape_noise import HANDLES_ONLY, LINKS_ONLY, MISDECODED, WRONG_LANGUAGE
from unseen.duplicates import near_pairs
from unseen.seeding import generator
from unseen.types.arrays import Codes, Mask, Rows

PACK = "label-text"
PARTS = re.compile(r"[^\W\d_]+|\d+")
OUTSIDE, BETWEEN = r"[^\p{L}\p{N}]", r"[\s_-]*"
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
SIMILAR = 0.8
"""Jaccard similarity of the character 5-grams of near-duplicates."""
RUN_WORDS, RUN_TEXTS = 8, 4
"""Boilerplate is a run of so many words that so many other training texts hold too."""
TEMPLATE_TEXTS = 2
"""A template is a text that so many other training texts repeat with other numbers."""


def own_label(items: Items) -> Mask:
    """The text holds the name of its own label as a word; names of one character or of figures prove nothing."""
    flagged = np.zeros(len(items), bool)
    for code, name in enumerate(items.data.label_names):
        rows = np.flatnonzero(items.data.labels == code)
        pattern = _as_words(name)
        if pattern and len(rows):
            flagged[rows] = matches(items.lower.take(pa.array(rows)), pattern)
    return flagged


def _as_words(label: str) -> str:
    """A pattern for the label's words, in a row or written as one; empty when it has no word."""
    words = [word.lower() for part in CAMEL.split(label) for word in PARTS.findall(part)]
    if len("".join(words)) < 2 or all(word.isdigit() for word in words):
        return ""
    return rf"(?:^|{OUTSIDE}){BETWEEN.join(map(re.escape, words))}(?:$|{OUTSIDE})"


def empty(items: Items) -> Mask:
    """No word, no link, no handle: punctuation, emoji or nothing."""
    return (items.words == 0) & ~matches(items.texts, LINK) & ~matches(items.texts, HANDLE)


def exact_duplicate(items: Items) -> Mask:
    """Another training row has the very same text."""
    return _others(codes_of(items.data.texts), items.counted) > 0


def near_duplicate(items: Items) -> Mask:
    """A training row has nearly the same text, not the same.

    Nearly: the same but for case, punctuation, links and handles, or at least .8 of the character 5-grams in common.
    Among more than 64 texts that are alike, each is compared with 64 only, so that one of a crowd of tested texts
    may go unflagged that would be flagged alone.
    """
    codes, raw = items.form_codes, codes_of(items.data.texts)
    same_form = _others(codes, items.counted) > _others(raw, items.counted)
    return items.filled & (same_form | _near(items)[codes])


def conflicting_duplicate(items: Items) -> Mask:
    """A training row has the same text, but for trifles, and another label."""
    labelled = items.form_codes * len(items.data.label_names) + items.data.labels
    labelled = np.unique(labelled, return_inverse=True)[1].reshape(-1)
    return items.filled & (_count(items.form_codes, items.counted) > _count(labelled, items.counted))


def repeated_template(items: Items) -> Mask:
    """At least two other training texts are the same but for the numbers in them."""
    forms = items.forms
    templates = codes_of(pc.replace_substring_regex(forms, r"\p{N}+", "0"))
    return matches(forms, r"\p{L}") & (_other_forms(items, templates) >= TEMPLATE_TEXTS)


def boilerplate(items: Items) -> Mask:
    """A run of eight words stands in at least four other training texts that are not the same."""
    _, codes, begins = items.form_words
    rows, trained = _forms(items)
    window, form = _windows(codes, begins, rows, items.seed)
    run = np.unique(window, return_inverse=True)[1].reshape(-1)
    holders = _distinct_holders(run[trained[form]], form[trained[form]], int(run.max(initial=-1)) + 1)
    common = np.zeros(len(rows), bool)
    common[form[holders[run] - trained[form] >= RUN_TEXTS]] = True
    return common[items.form_codes]


def _forms(items: Items) -> tuple[Rows, Mask]:
    """One row for each form, and whether a training row has it."""
    rows = np.unique(items.form_codes, return_index=True)[1]
    trained = np.zeros(len(rows), bool)
    trained[items.form_codes[items.counted]] = True
    return rows, trained


def _count(codes: Codes, counted: Mask) -> Codes:
    """Training rows with the code of each row."""
    return np.bincount(codes[counted], minlength=int(codes.max(initial=0)) + 1)[codes]


def _others(codes: Codes, counted: Mask) -> Codes:
    """Training rows with the code of each row, itself not counted."""
    return _count(codes, counted) - counted


def _other_forms(items: Items, groups: Codes) -> Codes:
    """How many different training forms each row's group has, that of the row itself not counted."""
    rows = np.flatnonzero(items.counted)
    forms, first = np.unique(items.form_codes[rows], return_index=True)
    held = np.bincount(groups[rows[first]], minlength=int(groups.max(initial=0)) + 1)
    return np.asarray(held[groups] - np.isin(items.form_codes, forms))


def _near(items: Items) -> Mask:
    """For each form, whether another form that a training row has is near."""
    rows, trained = _forms(items)
    texts, near = items.forms.take(pa.array(rows)), np.zeros(len(rows), bool)
    alone = np.flatnonzero(trained)  # by themselves, so that no other row can come between them
    pairs = near_pairs(texts.take(pa.array(alone)), SIMILAR, items.seed)
    near[alone[np.concatenate([pairs.first, pairs.second])]] = True
    if not trained.all():
        pairs = near_pairs(texts, SIMILAR, items.seed)
        for one, other in ((pairs.first, pairs.second), (pairs.second, pairs.first)):
            near[one[~trained[one] & trained[other]]] = True
    return near


def _windows(codes: Codes, begins: Codes, rows: Rows, seed: int) -> tuple[npt.NDArray[np.uint64], Codes]:
    """The hash of every run of words in these rows, and the place of its row among them."""
    lengths = np.maximum(np.diff(begins)[rows] - RUN_WORDS + 1, 0)
    form = np.repeat(np.arange(len(rows)), lengths)
    within = np.arange(len(form)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    start = begins[rows][form] + within
    marks = generator(seed, "word-runs").integers(0, 2**64, int(codes.max(initial=0)) + 1, dtype=np.uint64)
    window = np.zeros(len(start), np.uint64)
    for step in range(RUN_WORDS):
        window = window * np.uint64(0x9E3779B97F4A7C15) + marks[codes[start + step]]
    return window, form


def _distinct_holders(run: Codes, form: Codes, runs: int) -> Codes:
    """How many different forms hold each run."""
    forms = int(form.max(initial=0)) + 1
    return np.bincount(np.unique(run * forms + form) // forms, minlength=runs)


RULES = (
    Rule("own_label", PACK, "the label stands in the text", own_label, ("label",)),
    Rule("empty", PACK, "no words", empty),
    LINKS_ONLY,
    HANDLES_ONLY,
    Rule("boilerplate", PACK, "words that many texts share", boilerplate, ("train",)),
    Rule("repeated_template", PACK, "one sentence with other numbers", repeated_template, ("train",)),
    Rule("exact_duplicate", PACK, "a copy", exact_duplicate, ("train",)),
    Rule("near_duplicate", PACK, "nearly a copy", near_duplicate, ("train",)),
    Rule("conflicting_duplicate", PACK, "a copy with another label", conflicting_duplicate, ("train", "label")),
    WRONG_LANGUAGE,
    MISDECODED,
    Rule("quotes_only", PACK, "somebody else's words", quotes_only),
)
