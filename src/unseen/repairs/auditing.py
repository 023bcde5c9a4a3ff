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
LEAKS = (*COPIES.values(), "author", "conversation", "template", "partner")
"""Those that say that the training part gives test rows away."""
SOUNDS_LIKE = {
    "author": ("author", "user", "writer", "speaker"),
    "conversation": ("conversation", "thread", "comment", "dialog", "post"),
    "template": ("template",),
    "source": (),
}
"""Roles of grouping attributes, and what their names may contain."""


def audited(data: Dataset, split: Split, recipe: Recipe, columns: Mapping[str, str] | None) -> tuple[Finding, ...]:
    """The findings on one split; grouping attributes that `columns` does not name have the roles of `roles_of`."""
    named = roles_of(recipe, columns)
    return tuple(audit(Subject(data, split, named, seed=recipe.seed), CHECKS).findings)


def roles_of(recipe: Recipe, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Role -> attribute: as given, then for the attributes of a recipe as their names suggest, while roles are left.

    >>> roles_of(Recipe(groups=("user_id", "thread", "town"), cap=9, cap_by="user_id"))
    {'author': 'user_id', 'conversation': 'thread', 'source': 'town'}
    >>> roles_of(Recipe(groups=("matched", "user"), links=("matched",)), {"author": "user"})
    {'author': 'user', 'partner': 'matched'}
    """
    found = dict(columns or {})
    for attribute in dict.fromkeys((*recipe.groups, *([recipe.cap_by] if recipe.cap_by else []))):
        if attribute in found.values():
            continue
        free = ["partner"] if attribute in recipe.links else [role for role in SOUNDS_LIKE if role not in found]
        heard = [role for role in free if any(word in attribute.casefold() for word in SOUNDS_LIKE.get(role, ()))]
        if free:
            found.setdefault(heard[0] if heard else free[-1], attribute)
    return found


def unrepaired(findings: Iterable[Finding], recipe: Recipe, columns: Mapping[str, str] | None) -> tuple[Finding, ...]:
    """Leaks that fail, and whatever of copies, conflicts and groups the recipe should have removed."""
    gone = {role for role, attribute in roles_of(recipe, columns).items() if attribute in recipe.groups}
    for kind in (recipe.dedupe, recipe.together):
        gone |= {COPIES[each] for each in KINDS[: KINDS.index(kind) + 1]} if kind else set()
    if recipe.conflicts in ("drop", "relabel"):
        gone |= {"conflicting_labels", "conflicting_labels.normalised"}
    return tuple(
        each
        for each in findings
        if (each.level == "fail" and each.check in LEAKS) or (each.level in ("warn", "fail") and each.check in gone)
    )
