"""Packs of rules by name, and rules of the user's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from unseen.audits.items.rule import Items, Mask, Rule
from unseen.errors import InputError, UnknownNameError, UnseenError
from unseen.registry import VERSION, Registry

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
