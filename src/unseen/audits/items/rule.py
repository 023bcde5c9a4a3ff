"""Rules that flag items, what they look at, and packs of them by name, with rules of the user's own.

Rules look at texts as they were meant: UTF-8 that was read as Latin-1 or Windows-1252 is found and put right. A run of
characters that are the bytes of well-formed UTF-8 hardly stands in a text by itself. It can: a capital Ã before a
closing quotation mark reads the same. Sequences that begin otherwise than those of accented letters, punctuation and
emoji count only where two stand side by side, as they do in mis-read Cyrillic or Greek.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.duplicates import normal_forms
from unseen.errors import InputError, UnknownNameError, UnseenError
from unseen.registry import VERSION, Registry
from unseen.types import Dataset
from unseen.types.arrays import Codes, Mask

LINK = r"(?i:https?://\S+|www\.\S+|<(?:url|link)>)"
HANDLE = r"@\S+|<user>"
OTHER_MARKS = r"<\w+>"
WORD = r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*"
RULE_PACKS = Registry(
    "pack",
    {
        "scrape-noise.v1": "unseen.audits.items.scrape_noise:RULES",
        "label-text.v1": "unseen.audits.items.label_text:RULES",
        "strapline.v1": "unseen.audits.items.strapline:RULES",
        "strapline-code.v1": "unseen.audits.items.strapline:RULES_OF_CODE",
    },
)
DEFAULT_PACKS = ("scrape-noise", "label-text")


def _bytes_by_character() -> dict[str, int]:
    """The byte of every character that a byte from 80 on is read as, in either encoding."""
    bytes_of = {chr(byte): byte for byte in range(0x80, 0x100)}
    for byte in range(0x80, 0xA0):
        character = bytes([byte]).decode("cp1252", errors="ignore")
        bytes_of |= {character: byte} if character else {}
    return bytes_of


BYTES = _bytes_by_character()
FOLLOWING = "".join(character for character, byte in BYTES.items() if byte < 0xC0)
BEGINNING = "".join(character for character, byte in BYTES.items() if 0xC2 <= byte <= 0xF4)
SURE = frozenset("ÂÃâïð")
"""What bytes C2, C3, E2, EF and F0 are read as: they begin accented letters, punctuation and emoji."""
CANDIDATE = f"[{BEGINNING}][{FOLLOWING}]"
RUN = re.compile(f"(?:[{BEGINNING}][{FOLLOWING}]{{1,3}})+")
LOST = "\ufffd"
ENTITY = r"&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);"


def repaired(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts with every such run read as the UTF-8 it is; other texts as they are."""
    return _where(texts, CANDIDATE, put_right_in)


def unescaped(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """The texts with HTML's names and numbers of characters, such as &amp;, as the characters they are."""
    return _where(texts, ENTITY, html.unescape)


def _where(texts: pa.ChunkedArray, pattern: str, change: Callable[[str], str]) -> pa.ChunkedArray:
    """The texts, those with the pattern changed."""
    where = pc.match_substring_regex(texts, pattern)
    if not pc.any(where).as_py():
        return texts
    changed = pa.array([_sound(change(text)) for text in texts.filter(where).to_pylist()], type=texts.type)
    return pa.chunked_array([pc.replace_with_mask(texts.combine_chunks(), where.combine_chunks(), changed)])


def _sound(text: str) -> str:
    """Without half characters, which an entity may name and no column of text may hold."""
    return text.encode("utf-8", "replace").decode()


def put_right_in(text: str) -> str:
    """One text, put right.

    >>> put_right_in("It â€™s a cafÃ©")
    'It ’s a café'
    """
    return RUN.sub(lambda run: _decoded(run[0]), text)


def _decoded(run: str) -> str:
    try:
        decoded = bytes(BYTES[character] for character in run).decode("utf-8")
    except UnicodeDecodeError:
        return run
    return decoded if run[0] in SURE or len(decoded) > 1 else run


@dataclass(frozen=True, eq=False)
class Items:
    """The rows that rules look at, each with what several rules need; everything is computed once."""

    data: Dataset
    counted: Mask
    """Rows that rules may count on: those of the training side. All others are only looked up."""
    language: str = "en"
    seed: int = 42

    def __len__(self) -> int:
        return len(self.data)

    @cached_property
    def texts(self) -> pa.ChunkedArray:
        """Texts as they were meant: UTF-8 that was read as Latin-1 put right, HTML's &amp; read, no space around."""
        return pc.utf8_trim_whitespace(unescaped(repaired(self.data.texts.cast(pa.large_string()))))

    @cached_property
    def lower(self) -> pa.ChunkedArray:
        """`texts` in lower case, with straight apostrophes."""
        return pc.replace_substring(pc.utf8_lower(self.texts), "’", "'")

    @cached_property
    def plain(self) -> pa.ChunkedArray:
        """`texts` without links, handles and placeholders in angle brackets."""
        texts = self.texts
        for pattern in (LINK, HANDLE, OTHER_MARKS):
            texts = pc.replace_substring_regex(texts, pattern, " ")
        return pc.utf8_trim_whitespace(texts)

    @cached_property
    def words(self) -> Codes:
        """How many words each text has; links, handles and punctuation are none."""
        return counts(self.plain, WORD)

    @cached_property
    def forms(self) -> pa.ChunkedArray:
        """What is left of each text when trifles are taken out."""
        return normal_forms(self.texts)

    @cached_property
    def filled(self) -> Mask:
        """Rows of which something is left in their form."""
        return as_mask(pc.not_equal(self.forms, ""))

    @cached_property
    def form_codes(self) -> Codes:
        """A number per row, the same for equal forms."""
        return codes_of(self.forms)

    @cached_property
    def form_words(self) -> tuple[pa.Array, Codes, Codes]:
        """The distinct words of all forms, the code of every word in row order, and where each row begins [rows + 1].

        A row with an empty form has no words.
        """
        split = pc.split_pattern(self.forms.combine_chunks(), " ")
        lengths = np.where(self.filled, _as_codes(pc.list_value_length(split)), 0)
        words = pc.filter(split.flatten(), pc.not_equal(split.flatten(), "")).dictionary_encode()
        begins = np.concatenate([[0], np.cumsum(lengths)]).astype(np.intp)
        return words.dictionary, _as_codes(words.indices), begins


@dataclass(frozen=True)
class Rule:
    """One reason to doubt that a text is what the task means. It flags or abstains; it never vouches for a text."""

    name: str
    pack: str
    trait: str
    """What is wrong with a text that is flagged."""
    fires: Callable[[Items], Mask]
    """One truth value per row."""
    needs: tuple[str, ...] = ()
    """Beyond the text: `train` (counts of training texts), `label`, `language`, `english` (lists of English words)."""


def matches(texts: pa.ChunkedArray, pattern: str) -> Mask:
    """Which texts hold the pattern."""
    return as_mask(pc.match_substring_regex(texts, pattern))


def counts(texts: pa.ChunkedArray, pattern: str) -> Codes:
    """How often each text holds the pattern."""
    return _as_codes(pc.count_substring_regex(texts, pattern))


def codes_of(texts: pa.ChunkedArray) -> Codes:
    """A number per row, the same for equal texts, from 0 without gaps."""
    return _as_codes(texts.combine_chunks().dictionary_encode().indices)


def as_mask(truths: pa.Array | pa.ChunkedArray) -> Mask:
    """Truth values of Arrow as those of numpy."""
    return np.asarray(truths.to_numpy(zero_copy_only=False), dtype=bool)


def _as_codes(numbers: pa.Array | pa.ChunkedArray) -> Codes:
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.intp)


def rules_of(packs: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of these packs, each once, in their order.

    `package.module:attribute` is a rule of the user's own: a Rule, several, or a function of a list of texts that
    answers with one truth value per text.
    """
    if not packs:
        raise InputError("there is no rule pack", expected=f"some of {', '.join(RULE_PACKS)}, or module:function")
    rules: dict[str, Rule] = {}
    for pack in packs:
        for rule in _rules(pack):
            if rule.name in rules and rules[rule.name].fires is not rule.fires:
                raise InputError(f"two rules are called {rule.name!r}", fix="name one of them otherwise")
            rules.setdefault(rule.name, rule)
    return tuple(rules.values())


def _rules(pack: str) -> tuple[Rule, ...]:
    if ":" not in pack and VERSION.sub("", pack) not in RULE_PACKS:
        raise UnknownNameError.of("rule pack", pack, RULE_PACKS, fix="or a rule of your own: module:function")
    rules = RULE_PACKS.get(pack)
    if isinstance(rules, Rule):
        return (rules,)
    if isinstance(rules, Sequence) and rules and all(isinstance(rule, Rule) for rule in rules):
        return tuple(rules)
    if callable(rules):
        return (_own(rules, pack),)
    expected = "a function of a list of texts, a Rule, or several"
    raise InputError(f"{pack} is no rule", expected=expected, got=repr(rules))


def _own(function: Callable[[list[str]], Any], place: str) -> Rule:
    """A function of the user's as a rule, its answers checked."""

    def fires(items: Items) -> Mask:
        try:
            answer = np.asarray(function(items.data.texts.to_pylist()))
        except UnseenError:
            raise
        except Exception as cause:
            raise InputError(f"{place} failed on {len(items)} texts: {type(cause).__name__}: {cause}") from cause
        if answer.shape != (len(items),) or answer.dtype.kind not in "biu" or not np.isin(answer, (0, 1)).all():
            raise InputError(
                f"{place} does not answer like a rule",
                expected=f"one truth value for each of {len(items)} texts",
                got=f"{answer.dtype} of shape {answer.shape}",
            )
        return answer.astype(bool)

    trait = (inspect.getdoc(function) or "").partition("\n")[0]
    return Rule(place.rpartition(":")[2], place, trait or "flagged by a rule of your own", fires)
