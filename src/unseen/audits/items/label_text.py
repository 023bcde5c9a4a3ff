"""Labelled texts that cannot teach or test what they are labelled with."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa

from unseen.audits.items.copies import (
    boilerplate,
    conflicting_duplicate,
    exact_duplicate,
    near_duplicate,
    repeated_template,
)
from unseen.audits.items.quotes import quotes_only
from unseen.audits.items.rule import HANDLE, LINK, Items, Mask, Rule, matches
from unseen.audits.items.scrape_noise import HANDLES_ONLY, LINKS_ONLY, MISDECODED, WRONG_LANGUAGE

PACK = "label-text"
PARTS = re.compile(r"[^\W\d_]+|\d+")
OUTSIDE, BETWEEN = r"[^\p{L}\p{N}]", r"[\s_-]*"
CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def own_label(items: Items) -> Mask:
    """The text holds the name of its own label as a word; names of one character or of figures prove nothing."""
    found = np.zeros(len(items), bool)
    for code, name in enumerate(items.data.label_names):
        rows = np.flatnonzero(items.data.labels == code)
        pattern = _as_words(name)
        if pattern and len(rows):
            found[rows] = matches(items.lower.take(pa.array(rows)), pattern)
    return found


def _as_words(label: str) -> str:
    """A pattern for the label's words, in a row or written as one; empty when it has no word."""
    words = [word.lower() for part in CAMEL.split(label) for word in PARTS.findall(part)]
    if len("".join(words)) < 2 or all(word.isdigit() for word in words):
        return ""
    return rf"(?:^|{OUTSIDE}){BETWEEN.join(map(re.escape, words))}(?:$|{OUTSIDE})"


def empty(items: Items) -> Mask:
    """No word, no link, no handle: punctuation, emoji or nothing."""
    return (items.words == 0) & ~matches(items.texts, LINK) & ~matches(items.texts, HANDLE)


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
