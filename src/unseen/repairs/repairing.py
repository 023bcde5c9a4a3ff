"""A sound split from an unsound one, with every change and an audit before and after."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from unseen.audits.subject import BY_ID
from unseen.repairs.auditing import audited, unrepaired
from unseen.repairs.draft import DEV, TEST, TRAIN, Draft, RepairChange
from unseen.repairs.recipe import Recipe, resolved
from unseen.repairs.sides import undivided
from unseen.repairs.steps import repaired
from unseen.splits.partition import versions
from unseen.types import Certificate, Dataset, Finding, Origin, Split

GRAVITY = ("ok", "warn", "fail")
SIDES = {"test": (TEST,), "training": (TRAIN, DEV)}


@dataclass(frozen=True, eq=False)
class Repaired:
    """The repaired split, and what a reader needs to trust it."""

    data: Dataset
    """The dataset that the split belongs to: a new one when rows were relabelled."""
    split: Split
    changes: tuple[RepairChange, ...]
    """Every row that is not what or where it was, in the order of the repairs."""
    before: tuple[Finding, ...]
    """The audit of the given split; empty when none was given."""
    after: tuple[Finding, ...]
    recipe: Recipe
    """What was asked for, with what was left open filled in."""
    columns: Mapping[str, str] | None = None
    """Roles of attributes in the audits; None: those that the names of the grouping attributes suggest."""

    @property
    def counts(self) -> dict[str, int]:
        """Changes by action."""
        return dict(Counter(change.action for change in self.changes))

    @property
    def relabelled(self) -> bool:
        """Whether the split belongs to a new dataset."""
        return "relabelled" in self.counts

    @property
    def remaining(self) -> tuple[Finding, ...]:
        """Leaks that still fail the audit, and whatever else the recipe should have removed."""
        return unrepaired(self.after, self.recipe, self.columns)

    @property
    def worse(self) -> tuple[Finding, ...]:
        """Findings after the repair of a graver level than before; checks that were skipped before do not count."""
        before = {each.check: GRAVITY.index(each.level) for each in self.before if each.level in GRAVITY}
        return tuple(
            each for each in self.after if each.check in before and each.level in GRAVITY[before[each.check] + 1 :]
        )


def repair(
    data: Dataset,
    split: Split | None = None,
    *,
    groups: str | Sequence[str] = (),
    together: str | None = None,
    dedupe: str | None = None,
    keep: str | None = None,
    conflicts: str | None = None,
    cap: int | None = None,
    cap_by: str | None = None,
    cap_parts: str | None = None,
    minimal: str | None = None,
    test: float | None = None,
    seed: int = 42,
    columns: Mapping[str, str] | None = None,
    name: str | None = None,
) -> Repaired:
    """A split without the faults that were asked to be removed.

    The order is fixed. 1. `conflicts`: texts with several labels are dropped, relabelled by majority, or kept; in a
    split that is kept, without `dedupe` or `together`, each side votes for itself. 2. `dedupe`: of exact, normalised or
    near copies one stays, and only rows that are directly like one that stays go. 3. `minimal` (move or drop): groups
    on both sides of the given split go to one. 4. `cap`: rows per value of `cap_by` and class. 5. Without a split, or
    with `groups` or `together` and no `minimal`, the parts are drawn anew: whole groups, `test` of the rows that are
    left. What is taken out is in the part `unused`; rows that were independent or unused before take no part.

    `groups` are attributes whose values stay on one side, several of them joined; where the values are ids of other
    rows, rows that are linked do. `together` (exact, normalised, near)
    keeps copies on one side without taking them out; `keep` is the side that keeps its rows (default: test);
    `cap_parts` is train or all; `columns` gives the audit its attributes by role, such as author. It misleads where the
    attribute is not what makes rows alike: one person with two names is two groups.
    """
    chosen = (groups,) if isinstance(groups, str) else tuple(groups)
    linked = {attribute for role, attribute in (columns or {}).items() if role in BY_ID}
    asked = Recipe(
        groups=chosen, links=tuple(each for each in chosen if each in linked), together=together, dedupe=dedupe,
        keep=keep, conflicts=conflicts, cap=cap, cap_by=cap_by, cap_parts=cap_parts, minimal=minimal, test=test,
        seed=seed,
    )  # fmt: skip
    given = None if split is None else split.of(data)
    recipe = resolved(asked, data, given)
    start = Draft(data, undivided(len(data)) if given is None else given.parts)
    draft, certificate = repaired(start, recipe, given)
    made = _record(draft, certificate, recipe, data, given, name)
    before = () if given is None else audited(data, given, recipe, columns)
    after = audited(draft.data, made, recipe, columns)
    return Repaired(draft.data, made, draft.changes, before, after, recipe, columns)


def _record(
    draft: Draft, certificate: Certificate, recipe: Recipe, data: Dataset, given: Split | None, name: str | None
) -> Split:
    names = draft.data.label_names
    ordered = {each: getattr(certificate, each) for each in ("asked", "got")}
    ordered = {each: {label: found[label] for label in names if label in found} for each, found in ordered.items()}
    notes = (*certificate.notes, *draft.notes, *_lost(draft), *([] if given is None else _shrunk(draft, given)))
    inputs = {"dataset": data.fingerprint} | ({} if given is None else {"split": _fingerprint(given)})
    clusters = np.full(len(data), -1) if given is None else given.clusters
    return Split(
        name=name or f"{data.name if given is None else given.name}-repaired",
        ids=draft.data.ids,
        parts=draft.parts,
        clusters=clusters,
        certificate=replace(certificate, notes=notes, **ordered),
        dataset=draft.data.fingerprint,
        origin=Origin("repair", recipe.said, recipe.seed, inputs, versions()),
    )


def _lost(draft: Draft) -> list[str]:
    """Labels without a row on one side, as notes."""
    notes = []
    for side, parts in SIDES.items():
        there = np.unique(draft.data.labels[np.isin(draft.parts, parts)])
        missing = [label for code, label in enumerate(draft.data.label_names) if code not in there]
        notes += [f"the {side} part has no row of {', '.join(missing)}"] if missing else []
    return notes


def _shrunk(draft: Draft, given: Split) -> list[str]:
    """Sides that lost more than half of their rows, as notes."""
    notes = []
    for side, parts in SIDES.items():
        before, left = (int(np.isin(found, parts).sum()) for found in (given.parts, draft.parts))
        if 2 * left < before:
            notes.append(f"the {side} part has {left:,} of {before:,} rows left: parts drawn anew would lose fewer")
    return notes


def _fingerprint(split: Split) -> str:
    """Content hash of a split's ids and parts; the order of rows does not matter."""
    lines = sorted(
        f"{len(name)}:{name}{part}" for name, part in zip(split.ids.to_pylist(), split.parts.tolist(), strict=True)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]
