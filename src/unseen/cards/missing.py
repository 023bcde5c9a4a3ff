"""When a section of a document says nothing: empty, a placeholder, or the template as it came.

The prose of the Hugging Face templates is known by the hashes of its sentences, in template_sentences.txt.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from functools import cache

from unseen.cards.fields import FOLDER

COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")
PLACEHOLDERS = re.compile(
    r"\[?\s*(?:more information needed|needs more information|information needed|optional|n/?a|tbd|to be (?:added|done|"
    r"determined)|to do|todo|none given|unknown|not (?:specified|available|provided|known)|\?+|-+|\.\.\.|…)\s*\]?\.?",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n+")
WORD = re.compile(r"[^\W_]+")
COMMONEST = (
    "a an and are as at be by for from has have in is it its of on or that the their there these they this to was were "
    "which will with we our not but been can may more such than then also into about all any some no yes"
)
STOP = frozenset(COMMONEST.split())
SUBSTANTIAL = 5
"""Content words from which on an answer in words is more than a token one."""


def said(body: str) -> str:
    """What a section says itself: without comments, placeholders and sentences of the template; may be empty."""
    text = COMMENT.sub("", body).strip()
    kept = [each.strip() for each in SENTENCE.split(text) if not _says_nothing(each)]
    if not kept:
        return ""
    return text if all(not _is_template(each) for each in SENTENCE.split(text)) else " ".join(kept)


def why_missing(body: str | None) -> str | None:
    """Why this section counts as unknown: absent, empty, placeholder or template; None when it says something."""
    if body is None:
        return "absent"
    if said(body):
        return None
    text = COMMENT.sub("", body)
    if not WORD.search(text):
        return "empty"
    return "template" if any(_is_template(each) for each in SENTENCE.split(text)) else "placeholder"


def content_words(text: str) -> int:
    """How many different words other than the commonest function words stand in `text`."""
    return len({word for word in WORD.findall(text.casefold()) if word not in STOP})


def substantial(text: str) -> bool:
    """Whether an answer in words is more than a token one."""
    return content_words(said(text)) >= SUBSTANTIAL


def sentence_hash(sentence: str) -> str:
    """A short hash of the words of a sentence, whatever its case, links and marks."""
    words = " ".join(WORD.findall(LINK.sub(r"\1", sentence).casefold()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def sentences(text: str) -> Iterator[str]:
    """The sentences and lines of a text that hold a word."""
    return (each.strip() for each in SENTENCE.split(text) if WORD.search(each))


def _says_nothing(sentence: str) -> bool:
    return not WORD.search(sentence) or bool(PLACEHOLDERS.fullmatch(sentence.strip())) or _is_template(sentence)


def _is_template(sentence: str) -> bool:
    return bool(WORD.search(sentence)) and sentence_hash(sentence) in _template()


@cache
def _template() -> frozenset[str]:
    lines = (FOLDER / "template_sentences.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
