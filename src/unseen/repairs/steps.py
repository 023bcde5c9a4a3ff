"""The repairs in their fixed order: conflicts, copies, groups of a kept split, caps, new parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from unseen.progress import track
from unseen.repairs.caps import cap_rows
from unseen.repairs.conflicts import settle_conflicts
from unseen.repairs.copies import drop_copies
from unseen.repairs.draft import TEST, Draft
from unseen.repairs.recipe import Recipe, renews
from unseen.repairs.sides import Units, draw_anew, move_minimally, on_both_sides, units_of, with_both_sides
from unseen.types import Certificate, Split

Step = Callable[[Draft], Draft]


def repaired(draft: Draft, recipe: Recipe, given: Split | None) -> tuple[Draft, Certificate]:
    """The draft after all repairs of a resolved recipe, and the certificate of its test part.

    Conflicts come first, as a copy that was taken out can no longer vote. A cap comes before new parts, as their size
    is counted in the rows that are left, and after the moves within a kept split, as these fill the training part.
    """
    kept = given is not None and not renews(recipe, given)
    steps = _steps(recipe, kept)
    for step in track(steps, "repairs", len(steps)):
        draft = step(draft)
    units = units_of(draft, recipe) if recipe.divides else None
    if given is None or not kept:
        draft, certificate = draw_anew(draft, units, recipe)
    else:
        draft, certificate = with_both_sides(draft), _kept(draft, given)
    if units is None:
        return draft, certificate
    for note in units.notes:
        draft = draft.noted(note)
    return draft, _grouped(certificate, draft, units, recipe)


def _steps(recipe: Recipe, kept: bool) -> list[Step]:
    """The steps before new parts; `kept`: the given split stays.

    In a kept split whose copies may stay on both sides, the sides settle their conflicts each for itself.
    """
    apart = kept and not (recipe.dedupe or recipe.together)
    stands = (recipe.keep or "test") if apart else None
    steps: list[Step] = [partial(settle_conflicts, how=recipe.conflicts, stands=stands)]
    if recipe.dedupe:
        steps.append(partial(drop_copies, kind=recipe.dedupe, keep=recipe.keep, seed=recipe.seed))
    if recipe.minimal:
        steps.append(partial(_moved, recipe=recipe))
    if recipe.cap is not None:
        by, parts = str(recipe.cap_by), str(recipe.cap_parts)
        steps.append(partial(cap_rows, cap=recipe.cap, by=by, parts=parts, seed=recipe.seed))
    return steps


def _moved(draft: Draft, recipe: Recipe) -> Draft:
    return move_minimally(draft, units_of(draft, recipe), str(recipe.minimal), str(recipe.keep))


def _kept(draft: Draft, given: Split) -> Certificate:
    """Asked: the test rows of the given split, per label; got: the test rows after the repair."""
    asked, got = (
        np.bincount(draft.data.labels[parts == TEST], minlength=len(draft.data.label_names))
        for parts in (given.parts, draft.parts)
    )
    names = draft.data.label_names
    return Certificate(dict(zip(names, asked.tolist(), strict=True)), dict(zip(names, got.tolist(), strict=True)))


def _grouped(certificate: Certificate, draft: Draft, units: Units, recipe: Recipe) -> Certificate:
    """The certificate with the groups, counted on the final parts."""
    groups = {
        "attribute": units.by,
        "count": int(units.codes.max(initial=-1)) + 1,
        "largest": units.largest,
        "on_both_sides": on_both_sides(draft, units, recipe),
    }
    return replace(certificate, groups=groups)
