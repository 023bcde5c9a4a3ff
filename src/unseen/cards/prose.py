"""What the sections of a document say: nothing, the template as it came, or statements, sorted by a list of cues.

A section says nothing when it is empty, a placeholder, or prose of the Hugging Face templates, which is known by the
hashes of its sentences, in template_sentences.txt.

Statements about limits mix what is technical (size, noise) with what is contextual (whose language, where, when);
those about impact mix what helps, what enables work, and what hurts (Park and Jeoung 2022). A sentence goes to the
kind with the most cues; one without cues, or with as many for two kinds, is left to a person. Sorting is a proposal
that a person confirms.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from functools import cache

from unseen.cards.fields import FOLDER
from unseen.errors import UnknownNameError

NOT_CONFIRMED = "sorted by a list of cues; not confirmed by a person"
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
LINK = re.compile(r"!?\[([^\]]{0,300})\]\([^)]{0,500}\)")
PLACEHOLDERS = re.compile(
    r"\[?\s*(?:more information needed|needs more information|information needed|optional|n/?a|tbd|to be (?:added|done|"
    r"determined)|to do|todo|none given|unknown|not (?:specified|available|provided|known)|\?+|-+|\.\.\.|…)\s*\]?\.?",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?:])\s+|\n+")
WORD = re.compile(r"[^\W_]+")
COMMONEST = (
    "a an and are as at be by for from has have in is it its of on or that the their there these they this to was were "
    "which will with we our not but been can may more such than then also into about all any some no yes"
)
STOP = frozenset(COMMONEST.split())
SUBSTANTIAL = 5
"""Content words from which on an answer in words is more than a token one."""


def own_words(body: str) -> str:
    """What a section says itself: without comments, placeholders and sentences of the template; may be empty."""
    text = COMMENT.sub("", body).strip()
    sentences = SENTENCE_END.split(text)
    telling = [sentence.strip() for sentence in sentences if not _says_nothing(sentence)]
    if telling and not any(map(_is_template, sentences)):
        return text
    return " ".join(telling)


def why_missing(body: str | None) -> str | None:
    """Why this section counts as unknown: absent, empty, placeholder or template; None when it says something."""
    if body is None:
        return "absent"
    if own_words(body):
        return None
    text = COMMENT.sub("", body)
    if not WORD.search(text):
        return "empty"
    return "template" if any(map(_is_template, SENTENCE_END.split(text))) else "placeholder"


def content_words(text: str) -> int:
    """How many different words other than the commonest function words stand in `text`."""
    return len({word for word in WORD.findall(text.casefold()) if word not in STOP})


def is_substantial(text: str) -> bool:
    """Whether an answer in words is more than a token one."""
    return content_words(own_words(text)) >= SUBSTANTIAL


def kind_of_statement(sentence: str, family: str) -> str | None:
    """The field that a sentence about `limitations` or `impact` belongs to; None where only a person can tell."""
    counts = {field: len({cue.casefold() for cue in cues.findall(sentence)}) for field, cues in _cues(family).items()}
    most = max(counts.values())
    leading = [field for field, count in counts.items() if count == most]
    return leading[0] if most and len(leading) == 1 else None


def sorted_statements(text: str, family: str) -> dict[str | None, list[str]]:
    """The sentences of `text` by the field they belong to."""
    statements: dict[str | None, list[str]] = {}
    for sentence in SENTENCE_END.split(own_words(text)):
        if WORD.search(sentence):
            statements.setdefault(kind_of_statement(sentence, family), []).append(sentence.strip())
    return statements


def sentence_hash(sentence: str) -> str:
    """A short hash of the words of a sentence, whatever its case, links and marks."""
    words = " ".join(WORD.findall(LINK.sub(r"\1", sentence).casefold()))
    return hashlib.sha256(words.encode()).hexdigest()[:16]


def _says_nothing(sentence: str) -> bool:
    return not WORD.search(sentence) or bool(PLACEHOLDERS.fullmatch(sentence.strip())) or _is_template(sentence)


def _is_template(sentence: str) -> bool:
    return bool(WORD.search(sentence)) and sentence_hash(sentence) in _template_hashes()


@cache
def _template_hashes() -> frozenset[str]:
    lines = (FOLDER / "template_sentences.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))


@cache
def _cues(family: str) -> dict[str, re.Pattern[str]]:
    content = tomllib.loads((FOLDER / "statement_cues.toml").read_text(encoding="utf-8"))
    if family not in content:
        raise UnknownNameError.of("kind of statement", family, content)
    return {field: re.compile(rf"\b(?:{'|'.join(cues)})", re.IGNORECASE) for field, cues in content[family].items()}
