"""What cards are written from: the facts of a run folder, whichever kind of run made it. No texts are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unseen.data.catalogue import CatalogueCard, find_card
from unseen.errors import InputError
from unseen.reports.record import BASELINE, RunRecord, SplitFile, read_record, tried
from unseen.store.run_folder import ABOUT, way_out

NOWHERE = ("", "not stated")
"""What the catalogue writes where it does not know a licence."""


@dataclass(frozen=True)
class DataFacts:
    """A dataset that was split."""

    name: str
    rows: int
    counts: Mapping[str, int]
    """Rows per label, labels in their declared order."""
    fingerprint: str
    known: CatalogueCard | None = None
    """What the catalogue says about the dataset of this name, when its labels are the same."""

    @property
    def licence(self) -> str:
        """Licence of the texts; empty when nobody has said it."""
        return "" if self.known is None or self.known.licence in NOWHERE else self.known.licence


@dataclass(frozen=True)
class CardFacts:
    """Everything the cards of a run say."""

    record: RunRecord
    datasets: Mapping[str, DataFacts]
    splits: tuple[SplitFile, ...]
    """By dataset, random ones first."""
    keys: Mapping[str, str]
    """Key of the dataset of each split, by the split's name."""

    @property
    def title(self) -> str:
        """The names of the datasets."""
        return ", ".join(data.name for data in self.datasets.values())

    @property
    def about(self) -> Mapping[str, Any]:
        """run.json as it is."""
        return self.record.about

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the run; empty when it wrote none."""
        return self.about.get("settings") or {}

    @property
    def recipe(self) -> Mapping[str, Any]:
        """Resolved settings of the training; empty when the run wrote none."""
        recipe = self.settings.get("recipe")
        return recipe if isinstance(recipe, Mapping) else {}

    @property
    def families(self) -> tuple[str, ...]:
        """Families of splits in the order of the splits."""
        return tuple(dict.fromkeys(split.family for split in self.splits))


def read_card_facts(folder: str | Path) -> CardFacts:
    """The facts of the run in `folder`; every split is read whole, so its checksum is known to hold."""
    record, problems = read_record(folder, whole=True), list[str]()
    if not record.splits:
        raise InputError(
            f"the run in {record.place} made no splits to publish", got=f"a run of the kind {record.kind}",
            fix=f"its page says what it found: unseen runs report {record.place}",
        )  # fmt: skip
    datasets = tried(lambda path: _datasets(record.about), record.place / ABOUT, problems) or {}
    # Without its data no split can be placed, and that is one problem, not one per split.
    splits = record.splits if datasets else {}
    keys: dict[str, str] = {}
    for name, split in splits.items():
        key = tried(lambda path, split=split: _dataset_of(split, datasets), split.path, problems)  # type: ignore[misc]
        keys[name] = key or ""
    if problems:
        raise InputError(
            f"files of the run folder {record.place} are damaged", problems=problems, fix=way_out(record.place)
        )
    ordered = sorted(
        splits.values(),
        key=lambda split: (keys[split.name], split.family != BASELINE, split.method != BASELINE, split.name),
    )
    return CardFacts(record, datasets, tuple(ordered), keys)


def _datasets(about: Mapping[str, Any]) -> dict[str, DataFacts]:
    """The one dataset of a stress run, or the several of a study."""
    several = about.get("datasets")
    contents = several if isinstance(several, dict) and several else {"": about.get("data")}
    settings = about.get("settings")
    shared = settings.get("labels") if isinstance(settings, dict) else None
    return {str(key): _data(str(key), content, shared) for key, content in contents.items()}


def _data(key: str, content: Any, shared: Any) -> DataFacts:
    """What run.json says of one dataset; its labels may be those that all datasets share, its counts by part."""
    if not isinstance(content, dict):
        raise InputError("run.json does not say its data", expected="data, or datasets by name")
    name, labels, counts = str(content.get("name") or key), content.get("label_names", shared), content.get("counts")
    if not isinstance(labels, list) or not labels or not isinstance(counts, dict):
        raise InputError(f"run.json does not say the labels of {name!r} and their counts")
    if not isinstance(content.get("rows"), int) or not isinstance(content.get("fingerprint"), str):
        raise InputError(f"run.json does not say the rows and the fingerprint of {name!r}")
    parts = [part for part in counts.values() if isinstance(part, dict)] or [counts]
    held = {str(label): sum(int(part.get(label, 0)) for part in parts) for label in labels}
    return DataFacts(name, content["rows"], held, content["fingerprint"], _known(name, held))


def _known(name: str, counts: Mapping[str, int]) -> CatalogueCard | None:
    """The catalogue's card; a file of somebody else's may have the same name, hardly the same labels too."""
    card = find_card(name.partition("/")[0])
    return card if card is not None and {*card.labels} == {*counts} else None


def _dataset_of(split: SplitFile, datasets: Mapping[str, DataFacts]) -> str:
    """Key of the data that was split: by its content, and by the name of the split where contents are the same."""
    same = [key for key, data in datasets.items() if data.fingerprint == split.data]
    if not same:
        known = ", ".join(data.fingerprint for data in datasets.values())
        raise InputError(f"the split {split.name!r} was made from other data: {split.data}, run.json has {known}")
    return max(same, key=lambda key: (split.name.startswith(f"{key}."), len(key)))
