"""Which items the rules flag. Nothing is deleted: flags stand beside the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from unseen.audits.items.language import check_language
from unseen.audits.items.packs import DEFAULT_PACKS, rules_of
from unseen.audits.items.rule import Items, Mask
from unseen.errors import InputError, MismatchError
from unseen.progress import track
from unseen.types import Dataset, Split, some
from unseen.types.arrays import frozen


@dataclass(frozen=True)
class RuleName:
    """What is known of a rule once it has voted."""

    name: str
    pack: str
    trait: str


@dataclass(frozen=True, eq=False)
class Flags:
    """The votes of rules on items; a rule flags or abstains."""

    ids: pa.ChunkedArray
    rules: tuple[RuleName, ...]
    fired: npt.NDArray[np.bool_]
    """Whether each rule flags each item [items, rules]."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Rules that were asked for and could not vote, and why."""
    dataset: str = ""
    """Fingerprint of the data."""
    counted_on: str = "all"
    """`train` when rules counted on the training part of a split, else `all`."""

    def __post_init__(self) -> None:
        shape = (len(self.ids), len(self.rules))
        if self.fired.shape != shape:
            raise InputError("flags have the wrong shape", expected=str(shape), got=str(self.fired.shape))
        object.__setattr__(self, "fired", frozen(self.fired, np.bool_))

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def votes(self) -> npt.NDArray[np.intp]:
        """How many rules flag each item."""
        return self.fired.sum(axis=1)

    def flagged(self, threshold: int = 1) -> Mask:
        """Items that at least `threshold` rules flag."""
        self.check_threshold(threshold)
        return np.asarray(self.votes >= threshold)

    def check_threshold(self, threshold: int) -> None:
        """Refuse a threshold that no item can reach."""
        if not 1 <= threshold <= max(1, len(self.rules)):
            raise InputError(
                "the threshold is a number of rules", expected=f"1 to {len(self.rules)}", got=str(threshold)
            )

    def of(self, data: Dataset) -> Flags:
        """The flags of these rows in their order; refuses other data."""
        if self.dataset and self.dataset != data.fingerprint:
            raise MismatchError(
                "the flags belong to other data",
                expected=f"fingerprint {self.dataset}",
                got=f"{data.name}: fingerprint {data.fingerprint}",
                fix="flag this data: unseen items flag",
            )
        places = pc.index_in(data.ids, value_set=self.ids)
        if places.null_count:
            lacking = data.ids.filter(pc.is_null(places)).to_pylist()
            raise MismatchError(f"{len(lacking)} of {len(data)} rows have no flags", got=f"ids {some(lacking)}")
        order = places.to_numpy(zero_copy_only=False).astype(np.intp)
        return replace(self, ids=data.ids, fired=self.fired[order])


def flag_items(
    data: Dataset,
    packs: Sequence[str] = DEFAULT_PACKS,
    split: Split | None = None,
    *,
    language: str = "en",
    seed: int = 42,
) -> Flags:
    """The votes of every rule of these packs on every row.

    With a split, rules that count do so on its training and validation rows alone and look the others up, so that
    no test row changes another's flags; without one they count on all rows. Rules that know only English words do
    not vote on another language. A flag is a reason to read a text, not proof that it is wrong: measure how right
    the rules are on your data with hand labels.
    """
    rules = rules_of(packs)
    check_language(language)
    items = Items(data, counted_rows(data, split), language, seed)
    voting = [rule for rule in rules if language == "en" or "english" not in rule.needs]
    why = "knows English words only"
    skipped = {rule.name: why for rule in rules if rule not in voting}
    columns = [rule.fires(items) for rule in track(voting, "rules", len(voting))]
    fired = np.stack(columns, axis=1) if columns else np.zeros((len(data), 0), bool)
    names = tuple(RuleName(rule.name, rule.pack, rule.trait) for rule in voting)
    return Flags(data.ids, names, fired, skipped, data.fingerprint, "all" if split is None else "train")


def counted_rows(data: Dataset, split: Split | None) -> Mask:
    """Rows that rules may count on."""
    found = np.ones(len(data), bool)
    if split is not None:
        split = split.of(data)
        found[:] = False
        for part in ("train", "dev"):
            found[split.rows(part)] = True
        if not found.any():
            raise InputError(f"the split {split.name!r} has no training rows to count on")
    return found
