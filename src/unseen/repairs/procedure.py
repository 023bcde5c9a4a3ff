"""A sound split from an unsound one: the repairs in their order, every change, an audit before and after, the files."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from unseen.audits.audit import audit
from unseen.audits.reviewed_labels import INVALID, UNCLEAR, review_codes
from unseen.audits.subject import BY_ID, Subject, with_links
from unseen.errors import InputError
from unseen.progress import track
from unseen.repairs.copies import drop_copies, settle_conflicts
from unseen.repairs.draft import Draft, RepairChange
from unseen.repairs.groups import cap_rows, draw_anew, move_minimally, on_both_sides, refuse_one_side, units_of
from unseen.repairs.recipe import KINDS, RepairRecipe, renews, resolved
from unseen.store.datasets import read_dataset, write_dataset
from unseen.store.files import harmless, write_json, write_rows
from unseen.store.reviews import Review
from unseen.store.splits import write_split
from unseen.types import DEV, TEST, TRAIN, Certificate, Dataset, Finding, Origin, Split, as_names
from unseen.types.records import versions

GRAVITY = ("ok", "warn", "fail")
SIDES = {"test": (TEST,), "training": (TRAIN, DEV)}
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
COLUMNS = ["id", "action", "reason", "from", "to", "like", "row", "like_row"]


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
    recipe: RepairRecipe
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
        graver = {
            finding.check: GRAVITY[GRAVITY.index(finding.level) + 1 :]
            for finding in self.before
            if finding.level in GRAVITY
        }
        return tuple(finding for finding in self.after if finding.level in graver.get(finding.check, ()))


def repair(
    data: Dataset,
    split: Split | None = None,
    *,
    reviews: Sequence[Review] = (),
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
    typed: tuple[str, str] = ("", ""),
) -> Repaired:
    """A split without the faults that were asked to be removed.

    The order is fixed. First `reviews`, of `read_reviews`: rows are relabelled, or taken out as invalid, where all who
    read them agree. 1. `conflicts`: texts with several labels are dropped, relabelled by majority, or kept; in a
    split that is kept, without `dedupe` or `together`, each side votes for itself. 2. `dedupe`: of exact, normalised or
    near copies one stays, and only rows that are directly like one that stays go. 3. `minimal` (move or drop): groups
    on both sides of the given split go to one. 4. `cap`: rows per value of `cap_by` and class. 5. Without a split, or
    with `groups` or `together` and no `minimal`, the parts are drawn anew: whole groups, `test` of the rows that are
    left. What is taken out is in the part `unused`; rows that were independent or unused before take no part.

    `groups` are attributes whose values stay on one side, several of them joined; where the values are ids of other
    rows, rows that are linked do. `together` (exact, normalised, near) keeps copies on one side without taking them
    out; `keep` is the side that keeps its rows (default: test); `cap_parts` is train or all; `columns` gives the audit
    its attributes by role, such as author. It misleads where the attribute is not what makes rows alike: one person
    with two names is two groups. `typed` are data and split as arguments of a command, for advice: with the split that
    is given, and with the repaired one.
    """
    groups = as_names(groups)
    columns = with_links(data, columns or {}, groups)
    linked = {attribute for role, attribute in columns.items() if role in BY_ID}
    asked = RepairRecipe(
        reviews=_hash_of(reviews) if reviews else None,
        groups=groups, links=tuple(attribute for attribute in groups if attribute in linked), together=together,
        dedupe=dedupe, keep=keep, conflicts=conflicts, cap=cap, cap_by=cap_by, cap_parts=cap_parts, minimal=minimal,
        test=test, seed=seed,
    )  # fmt: skip
    given = None if split is None else split.of(data)
    recipe = resolved(asked, data, given)
    draft = apply_reviews(Draft.of(data, given), reviews) if reviews else Draft.of(data, given)
    draft, certificate = _repaired(draft, recipe, given)
    made = _record(draft, certificate, recipe, data, given, name)
    before = () if given is None else audited(data, given, recipe, columns, typed[0])
    is_as_typed = draft.data.fingerprint == data.fingerprint
    after = audited(draft.data, made, recipe, columns, typed[1] if is_as_typed else "")
    return Repaired(draft.data, made, draft.changes, before, after, recipe, columns)


def _repaired(draft: Draft, recipe: RepairRecipe, given: Split | None) -> tuple[Draft, Certificate]:
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
        refuse_one_side(draft)
        certificate = _kept(draft, given)
    if units is None:
        return draft, certificate
    groups = {
        "attribute": units.by,
        "count": units.count,
        "largest": units.largest,
        "on_both_sides": on_both_sides(draft, units, recipe),
    }
    return replace(draft, notes=(*draft.notes, *units.notes)), replace(certificate, groups=groups)


def _steps(recipe: RepairRecipe, kept: bool) -> list[Callable[[Draft], Draft]]:
    """The steps before new parts; `kept`: the given split stays.

    In a kept split whose copies may stay on both sides, the sides settle their conflicts each for itself.
    """
    apart = kept and not (recipe.dedupe or recipe.together)
    stands = (recipe.keep or "test") if apart else None
    steps: list[Callable[[Draft], Draft]] = [partial(settle_conflicts, how=recipe.conflicts, stands=stands)]
    if recipe.dedupe:  # conflicts that nobody settles are told after it, those that it leaves
        copies = partial(drop_copies, kind=recipe.dedupe, keep=recipe.keep, seed=recipe.seed)
        steps.insert(0 if recipe.conflicts in (None, "keep") else 1, copies)
    if recipe.minimal:
        steps.append(partial(move_minimally, recipe=recipe))
    if recipe.cap is not None:
        by, parts = str(recipe.cap_by), str(recipe.cap_parts)
        steps.append(partial(cap_rows, cap=recipe.cap, by=by, parts=parts, seed=recipe.seed))
    return steps


def _kept(draft: Draft, given: Split) -> Certificate:
    """Asked: the test rows of the given split, per label; got: the test rows after the repair."""
    asked, got = (draft.data.take(np.flatnonzero(parts == TEST)).label_counts for parts in (given.parts, draft.parts))
    return Certificate(asked, got)


def _record(
    draft: Draft, certificate: Certificate, recipe: RepairRecipe, data: Dataset, given: Split | None, name: str | None
) -> Split:
    asked, got = (
        {label: counts[label] for label in draft.data.label_names if label in counts}
        for counts in (certificate.asked, certificate.got)
    )
    notes = (*certificate.notes, *draft.notes, *_losses(draft, given))
    inputs = {"dataset": data.fingerprint} | ({} if given is None else {"split": _fingerprint(given)})
    clusters = np.full(len(data), -1) if given is None else given.clusters
    return Split(
        name=name or f"{data.name if given is None else given.name}-repaired",
        ids=draft.data.ids,
        parts=draft.parts,
        clusters=clusters,
        certificate=replace(certificate, notes=notes, asked=asked, got=got),
        dataset=draft.data.fingerprint,
        origin=Origin("repair", recipe.settings, recipe.seed, inputs, versions()),
    )


def _losses(draft: Draft, given: Split | None) -> list[str]:
    """Labels without a row on one side, and sides that lost more than half of their rows, as notes."""
    labels, shrunk = [], []
    for side, parts in SIDES.items():
        rows = np.flatnonzero(np.isin(draft.parts, parts))
        missing = [label for label, count in draft.data.take(rows).label_counts.items() if not count]
        if missing:
            labels.append(f"the {side} part has no row of {', '.join(missing)}")
        before = 0 if given is None else int(np.isin(given.parts, parts).sum())
        if 2 * len(rows) < before:
            left = f"{len(rows):,} of {before:,} rows left"
            shrunk.append(f"the {side} part has {left}: parts drawn anew would lose fewer")
    return labels + shrunk


def _hash_of(reviews: Sequence[Review]) -> str:
    """Content hash of who said what; order and times do not matter."""
    answers = sorted(repr((review.id, review.reviewer, review.answer, review.label)) for review in reviews)
    return hashlib.sha256("".join(answers).encode()).hexdigest()[:32]


def _fingerprint(split: Split) -> str:
    """Content hash of a split's ids and parts; the order of rows does not matter."""
    lines = sorted(
        f"{len(name)}:{name}{part}" for name, part in zip(split.ids.to_pylist(), split.parts.tolist(), strict=True)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:32]


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


def apply_reviews(draft: Draft, reviews: Sequence[Review]) -> Draft:
    """The draft in which rows have the label that people say is right, without those that are no valid items.

    Where reviewers disagree, or cannot tell, nothing is changed; a note counts these rows.
    """
    codes = review_codes(reviews, draft.data)
    read = [row for row in draft.active.tolist() if row in codes]
    agreed = {row: codes[row][0] for row in read if len({*codes[row]}) == 1}
    changed = [row for row, code in agreed.items() if code not in (UNCLEAR, draft.data.labels[row])]
    for people in sorted({len(codes[row]) for row in changed}):
        by = "1 reviewer says" if people == 1 else f"{people} reviewers say"
        rows = np.array([row for row in changed if len(codes[row]) == people], np.intp)
        to = np.array([agreed[row] for row in rows], np.intp)
        draft = draft.dropped(rows[to == INVALID], f"{by} that it is not a valid item")
        draft = draft.relabelled(rows[to != INVALID], to[to != INVALID], f"{by} that this label is right")
    unclear = sum(code == UNCLEAR for code in agreed.values())
    return draft.noted(
        f"{len(read):,} rows were reviewed; {len(read) - len(agreed):,} on which reviewers disagree and {unclear:,} "
        "that cannot be told were left as they are"
    )


def write_repaired(repaired: Repaired, path: str | Path) -> dict[str, Path]:
    """Write the split to `path` (.csv and .json) and beside it what was changed and both audits.

    Texts are written only when rows were relabelled: the split then belongs to a dataset that is nowhere else. Such a
    dataset of an earlier repair is removed when this one has none; a file that no repair wrote stays.
    """
    path = Path(path)
    written = {"split": write_split(repaired.split, path), "description": path.with_suffix(".json")}
    names = targets(path)
    written["changes"] = write_changes(repaired.changes, names["changes"], repaired.data)
    audits = {
        "split": repaired.split.name,
        "recipe": repaired.recipe.settings,
        "counts": repaired.counts,
        "before": [asdict(finding) for finding in repaired.before],
        "after": [asdict(finding) for finding in repaired.after],
        "remaining": [finding.check for finding in repaired.remaining],
    }
    written["audit"] = write_json(names["audit"], audits)
    if repaired.relabelled:
        written["data"] = write_dataset(repaired.data, names["data"])
    elif is_relabelled(names["data"]):
        names["data"].unlink()
    return written


def is_relabelled(path: Path) -> bool:
    """Whether a file is a dataset that a repair relabelled and wrote."""
    try:
        return read_dataset(path).origin.step == "repair" if path.is_file() else False
    except InputError:
        return False


def targets(path: Path) -> dict[str, Path]:
    """The files beside the split."""
    endings = {"changes": ".changes.csv", "audit": ".audit.json", "data": ".data.parquet"}
    return {what: path.with_name(path.stem + ending) for what, ending in endings.items()}


def write_changes(changes: Sequence[RepairChange], path: str | Path, data: Dataset) -> Path:
    """Write one line per change: id, action, reason, from, to, the row that stayed in its place, and where both are."""
    places = data.places_of(list({name for change in changes for name in (change.id, change.like)}))
    rows = ([*map(harmless, astuple(change)), places[change.id], places[change.like]] for change in changes)
    return write_rows(path, COLUMNS, rows)
