"""The audit of a split before and after its repair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unseen.audits.audit import audit
from unseen.audits.subject import Subject
from unseen.repairs.recipe import KINDS, Recipe
from unseen.types import Dataset, Finding, Split

COPIES = dict(zip(KINDS, ("exact_duplicates", "normalised_duplicates", "near_duplicates"), strict=True))
CHECKS = (
    *COPIES.values(), "conflicting_labels", "author", "conversation", "template", "partner", "source", "time_order",
    "class_mix", "sizes", "author_concentration",
)  # fmt: skip
"""What a repair can better or worsen; a look at models and vectors is left to the audit proper."""
SOUNDS_LIKE = {
    "author": ("author", "user", "writer", "speaker"),
    "conversation": ("conversation", "thread", "comment", "dialog", "post"),
    "template": ("template",),
    "source": (),
}
"""Roles of grouping attributes, and what their names may contain."""


def audited(data: Dataset, split: Split, recipe: Recipe, columns: Mapping[str, str] | None) -> tuple[Finding, ...]:
    """The findings on one split; without `columns`, the grouping attributes have the roles that their names suggest."""
    named = roles_of(recipe) if columns is None else columns
    return tuple(audit(Subject(data, split, named, seed=recipe.seed), CHECKS).findings)


def roles_of(recipe: Recipe) -> dict[str, str]:
    """Role -> attribute for the attributes of a recipe, as far as there are roles.

    >>> roles_of(Recipe(groups=("user_id", "thread", "town"), cap=9, cap_by="user_id"))
    {'author': 'user_id', 'conversation': 'thread', 'source': 'town'}
    """
    found: dict[str, str] = {}
    for attribute in dict.fromkeys((*recipe.groups, *([recipe.cap_by] if recipe.cap_by else []))):
        free = [role for role in SOUNDS_LIKE if role not in found]
        heard = [role for role in free if any(word in attribute.casefold() for word in SOUNDS_LIKE[role])]
        if free:
            found[heard[0] if heard else free[-1]] = attribute
    return found


def unrepaired(findings: Iterable[Finding], recipe: Recipe, columns: Mapping[str, str] | None) -> tuple[Finding, ...]:
    """Findings that the recipe should have removed: of copies, conflicts and groups that it names."""
    named = roles_of(recipe) if columns is None else columns
    gone = {role for role, attribute in named.items() if attribute in recipe.groups}
    for kind in (recipe.dedupe, recipe.together):
        gone |= {COPIES[each] for each in KINDS[: KINDS.index(kind) + 1]} if kind else set()
    if recipe.conflicts in ("drop", "relabel"):
        gone |= {"conflicting_labels", "conflicting_labels.normalised"}
    return tuple(each for each in findings if each.check in gone and each.level in ("warn", "fail"))
