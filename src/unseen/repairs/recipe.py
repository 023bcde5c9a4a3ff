"""What to repair and how: one checked record."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from unseen.data.groups import alone, group_codes, holds_links
from unseen.errors import InputError
from unseen.registry import require_known
from unseen.types import Dataset, Split
from unseen.types.arrays import is_list

KINDS = ("exact", "normalised", "near")
"""How alike copies are, the narrowest first; each includes the one before it."""
CHOICES = {
    "together": KINDS,
    "dedupe": KINDS,
    "keep": ("train", "test"),
    "conflicts": ("drop", "relabel", "keep"),
    "cap_parts": ("train", "all"),
    "minimal": ("move", "drop"),
}
DEFAULT_TEST = 0.2


@dataclass(frozen=True)
class RepairRecipe:
    """What was asked for; `resolved` fills in what was left open."""

    reviews: str | None = None
    """Hash of what people said about rows, where that is to be applied."""
    groups: tuple[str, ...] = ()
    """Attributes whose values stay on one side."""
    links: tuple[str, ...] = ()
    """Those of them whose values are ids of other rows, said to be or found so: what is linked stays on one side."""
    together: str | None = None
    """Texts that are alike in this way stay on one side, none of them taken out."""
    dedupe: str | None = None
    """Of texts that are alike in this way, one stays."""
    keep: str | None = None
    """The side on which a row stays when the other side has to give it up."""
    conflicts: str | None = None
    cap: int | None = None
    """Rows per value of `cap_by` and class."""
    cap_by: str | None = None
    cap_parts: str | None = None
    minimal: str | None = None
    """Keep the given split and move, or drop, only what leaks."""
    test: float | None = None
    """Size of a new test part: a share, or rows."""
    dev: float | None = None
    """Share of a new development part: that of the given split."""
    seed: int = 42

    @property
    def divides(self) -> bool:
        """Whether something has to stay on one side."""
        return bool(self.groups or self.together)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that it groups or caps by, each once."""
        return tuple(dict.fromkeys((*self.groups, *([self.cap_by] if self.cap_by else []))))

    @property
    def settings(self) -> dict[str, Any]:
        """What is not left open, as plain values."""
        plain = {name: value for name, value in asdict(self).items() if value is not None and value != ()}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in plain.items()}


def resolved(recipe: RepairRecipe, data: Dataset, split: Split | None) -> RepairRecipe:
    """The recipe with its defaults; refuses, all at once, what cannot be done or would have no effect."""
    for name, known in CHOICES.items():
        if (choice := getattr(recipe, name)) is not None:
            require_known(f"choice for {name}", known, choice)
    for attribute in recipe.attributes:
        data.attribute(attribute)
    links = tuple(name for name in recipe.groups if name in recipe.links or holds_links(data, name))
    recipe = replace(recipe, links=links)
    new = renews(recipe, split)
    problems = [*_lacking(recipe, data, split), *_idle(recipe, split, new)]
    if problems:
        raise InputError("the repair cannot be done as asked", problems=problems)
    by = recipe.groups[0] if recipe.cap is not None and recipe.cap_by is None else recipe.cap_by
    return replace(
        recipe,
        keep=recipe.keep or (None if new or not (recipe.dedupe or recipe.minimal) else "test"),
        cap_by=by,
        cap_parts=recipe.cap_parts or (None if recipe.cap is None else "all" if new else "train"),
        **(_sizes(recipe, split) if new else {}),
    )


def renews(recipe: RepairRecipe, split: Split | None) -> bool:
    """Whether train and test are drawn anew: nothing was given, or groups are asked for and moving is not."""
    return split is None or (recipe.divides and recipe.minimal is None)


def _sizes(recipe: RepairRecipe, split: Split | None) -> dict[str, Any]:
    """Sizes of the new parts: as asked, else those of the given split, else the default."""
    if split is None:
        return {"test": DEFAULT_TEST if recipe.test is None else recipe.test}
    rows = {part: split.sizes.get(part, 0) for part in ("train", "dev", "test")}
    shares: dict[str, Any] = {part: count / sum(rows.values()) for part, count in rows.items()}
    if split.origin.step == "repair":
        shares |= split.origin.params  # what was asked for, not what whole groups gave: no row is missed twice
    return {"test": shares["test"] if recipe.test is None else recipe.test, "dev": shares["dev"] or None}


def _lacking(recipe: RepairRecipe, data: Dataset, split: Split | None) -> list[str]:
    problems = []
    settles = recipe.conflicts in ("drop", "relabel") or recipe.reviews
    if not (recipe.divides or recipe.dedupe or recipe.cap is not None or settles):
        problems.append(
            "nothing to repair: ask for groups, together, dedupe, cap, reviews, or conflicts drop or relabel"
        )
    for attribute in recipe.attributes:
        kind = data.attribute(attribute).type
        if is_list(kind):
            problems.append(f"the attribute {attribute!r} has several values per row, so it does not group rows")
        elif attribute in recipe.groups and not _ties(data, attribute, attribute in recipe.links):
            problems.append(
                f"no two rows share a value of {attribute!r}, and no value is the id of another row: it ties nothing "
                "together (if its values are ids, name the column of the ids: --id)"
            )
    if len(set(recipe.groups)) < len(recipe.groups):
        problems.append(f"groups names an attribute twice: {', '.join(recipe.groups)}")
    if recipe.cap is not None and recipe.cap < 1:
        problems.append(f"cap must be at least 1 row, got {recipe.cap}")
    if recipe.cap is not None and recipe.cap_by is None and len(recipe.groups) != 1:
        problems.append("cap needs cap_by: the attribute whose values may have so many rows")
    if recipe.minimal and not recipe.divides:
        problems.append("minimal needs groups or together: what must not be on both sides")
    if split is not None and not ("test" in split.sizes and {"train", "dev"} & split.sizes.keys()):
        problems.append(f"the split {split.name!r} lacks a side: it has {', '.join(split.sizes)}")
    return problems


def _ties(data: Dataset, attribute: str, links: bool) -> bool:
    """Whether two rows share a value, or are linked."""
    return len(np.unique(alone(group_codes(data, attribute, links)))) < len(data)


def _idle(recipe: RepairRecipe, split: Split | None, new: bool) -> list[str]:
    """What would have no effect."""
    problems = []
    if recipe.minimal and split is None:
        problems.append("minimal has no effect without a split to keep")
    if recipe.test is not None and not new:
        problems.append("test has no effect on a split that is kept")
    if recipe.keep is not None and new:
        problems.append("keep has no effect when the parts are drawn anew")
    elif recipe.keep is not None and not (recipe.dedupe or recipe.minimal):
        problems.append("keep has no effect without dedupe or minimal")
    for name in ("cap_by", "cap_parts"):
        if getattr(recipe, name) is not None and recipe.cap is None:
            problems.append(f"{name} has no effect without cap")
    if recipe.cap is not None and recipe.cap_parts == "train" and new:
        problems.append("cap_parts train has no effect when the parts are drawn anew: who trains is not known before")
    if recipe.together and recipe.dedupe and KINDS.index(recipe.together) <= KINDS.index(recipe.dedupe):
        problems.append(f"together {recipe.together} has no effect: dedupe {recipe.dedupe} leaves no such texts")
    return problems
