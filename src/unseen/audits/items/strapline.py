"""Teasers instead of statements, after section 4 of Keleg et al. (2022): for headlines, summaries and the like.

A social post in the first person is no teaser: on other texts than summaries most of what these rules flag is fine.
The paper's sixth rule, a fine-tuned clickbait classifier, is left out; name a function of your own beside the packs.
"""

from __future__ import annotations

import numpy as np

from unseen.audits.items.quotes import mostly_quotes, mostly_quotes_squared
from unseen.audits.items.rule import Items, Rule, codes_of, matches
from unseen.types.arrays import Mask

PACK, CODE_PACK = "strapline", "strapline-code"
COMMANDS = (
    "ask|avoid|beware|browse|buy|call|check|choose|click|come|consider|discover|download|enjoy|enter|explore|find|"
    "follow|forget|get|give|go|guess|hear|imagine|join|keep|learn|let|listen|look|make|meet|pick|prepare|read|"
    "remember|save|say|see|send|share|shop|sign|stop|subscribe|take|tell|think|try|turn|visit|vote|watch|win"
)
PERSONS = (
    "i|me|mine|myself|we|our|ours|ourself|ourselves|you|your|yours|yourself|yourselves"  # as published: not my, not us
)


def opens_with_command(items: Items) -> Mask:
    """The first word is on a list of English verbs that commands begin with; some are nouns too."""
    return matches(items.lower, rf"^\W*(?:{COMMANDS})\b")


def first_or_second_person(items: Items) -> Mask:
    """A pronoun of the paper's list, which lacks "my" and "us"."""
    return matches(items.lower, rf"\b(?:{PERSONS})\b")


def question_exclamation(items: Items) -> Mask:
    """A question mark or an exclamation mark."""
    return matches(items.plain, r"[?!]")


def repeated(items: Items) -> Mask:
    """The same text stands in the training part more than once."""
    codes = codes_of(items.texts)
    return np.asarray(np.bincount(codes[items.counted], minlength=len(items))[codes] > 1)


def _rules(pack: str, quotes: Rule) -> tuple[Rule, ...]:
    return (
        Rule("opens_with_command", pack, "clickbait, little information", opens_with_command, ("english",)),
        quotes,
        Rule("first_or_second_person", pack, "clickbait, joke, informal", first_or_second_person, ("english",)),
        Rule("question_exclamation", pack, "little information, joke", question_exclamation),
        Rule("repeated", pack, "little information, general statement", repeated, ("train",)),
    )


QUOTES = "little information, comment"
RULES = _rules(PACK, Rule("mostly_quotes", PACK, QUOTES, mostly_quotes))
RULES_OF_CODE = _rules(CODE_PACK, Rule("mostly_quotes_squared", CODE_PACK, QUOTES, mostly_quotes_squared))
"""The same with the quotation rule of the released code."""
