"""The audit of a split before and after its repair."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from unseen.audits.audit import audit
from unseen.audits.subject import Subject
from unseen.repairs.recipe import KINDS, RepairRecipe
from unseen.types import Dataset, Finding, Split

COPIES = dict(zip(KINDS, ("exact_duplicates", "normalised_duplicates", "near_duplicates"), strict=True))
REPAIRABLE = (
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


def audited(
    data: Dataset, split: Split, recipe: RepairRecipe, columns: Mapping[str, str] | None, typed: str = ""
) -> tuple[Finding, ...]:
    """The findings on one split, with advice for who `typed` it.

    Grouping attributes that `columns` does not name have the roles of `roles_of`.
    """
    return audit(Subject(data, split, roles_of(recipe, columns), seed=recipe.seed, typed=typed), REPAIRABLE).findings


def roles_of(recipe: RepairRecipe, columns: Mapping[str, str] | None = None) -> dict[str, str]:
    """Role -> attribute: as given, then for the attributes of a recipe as their names suggest, while roles are left.

    >>> roles_of(RepairRecipe(groups=("user_id", "thread", "town"), cap=9, cap_by="user_id"))
    {'author': 'user_id', 'conversation': 'thread', 'source': 'town'}
    >>> roles_of(RepairRecipe(groups=("matched", "user"), links=("matched",)), {"author": "user"})
    {'author': 'user', 'partner': 'matched'}
    """
    roles = dict(columns or {})
    for attribute in recipe.attributes:
        if attribute in roles.values():
            continue
        free = ["partner"] if attribute in recipe.links else [role for role in SOUNDS_LIKE if role not in roles]
        likely = [role for role in free if any(word in attribute.casefold() for word in SOUNDS_LIKE.get(role, ()))]
        if free:
            roles.setdefault(likely[0] if likely else free[-1], attribute)
    return roles


def unrepaired(
    findings: Iterable[Finding], recipe: RepairRecipe, columns: Mapping[str, str] | None
) -> tuple[Finding, ...]:
    """Leaks that fail, and whatever of copies, conflicts and groups the recipe should have removed."""
    gone = {role for role, attribute in roles_of(recipe, columns).items() if attribute in recipe.groups}
    for kind in (recipe.dedupe, recipe.together):
        gone |= {COPIES[narrower] for narrower in KINDS[: KINDS.index(kind) + 1]} if kind else set()
    if recipe.conflicts in ("drop", "relabel"):
        gone |= {"conflicting_labels", "conflicting_labels.normalised"}
    return tuple(
        finding
        for finding in findings
        if (finding.level == "fail" and finding.check in LEAKS)
        or (finding.level in ("warn", "fail") and finding.check in gone)
    )
