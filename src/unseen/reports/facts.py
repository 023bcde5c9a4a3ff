"""What cards are written from: the facts of a run folder, whichever kind of run made it. No texts are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from unseen.data.catalogue import CatalogueCard, cards
from unseen.errors import InputError
from unseen.registry import VERSION
from unseen.reports.record import DEFAULT_METRIC, tried
from unseen.reports.run import BASELINE, SplitCard
from unseen.store import read_findings, read_json, read_measurements, read_split, sha256_of
from unseen.store.manifest import way_out
from unseen.types import PARTS, Finding, Measurement, Origin

Read = TypeVar("Read")
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
class PublishedSplit:
    """A split as it lies in the folder."""

    dataset: str
    """Key of its dataset."""
    card: SplitCard
    origin: Origin
    path: str
    """Place in the run folder."""
    bytes: int

    @property
    def method(self) -> str:
        """Name of the splitter without its version."""
        return VERSION.sub("", self.card.step)

    @property
    def rows(self) -> int:
        """Rows in all parts."""
        return sum(self.card.sizes.values())


@dataclass(frozen=True)
class CardFacts:
    """Everything the cards of a run say."""

    folder: Path
    title: str
    datasets: Mapping[str, DataFacts]
    splits: tuple[PublishedSplit, ...]
    """Random ones first."""
    measurements: tuple[Measurement, ...] = ()
    findings: tuple[Finding, ...] = ()
    about: Mapping[str, Any] = field(default_factory=dict)
    """run.json as it is."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Settings of the run; empty when it wrote none."""
        return self.about.get("settings") or {}

    @property
    def recipe(self) -> Mapping[str, Any]:
        """Resolved settings of the training; empty when the run wrote none."""
        found = self.settings.get("recipe")
        return found if isinstance(found, Mapping) else {}

    @property
    def metric(self) -> str:
        """Id of the main metric."""
        return str(self.settings.get("metric") or DEFAULT_METRIC)

    @property
    def families(self) -> tuple[str, ...]:
        """Families of splits in the order of the splits."""
        return tuple(dict.fromkeys(split.card.family for split in self.splits))


def read_card_facts(folder: str | Path) -> CardFacts:
    """The facts of the run in `folder`; everything that is missing or damaged is named in one error.

    Measurements and findings may be absent. Every split is read whole, so its checksum is known to hold.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"there is no run folder {folder}", fix="name the folder that a run of unseen wrote")
    if not (folder / "run.json").is_file():
        raise InputError(
            f"{folder} is not a run folder",
            problems=["run.json is missing"],
            fix=way_out(folder),
        )
    problems: list[str] = []
    said = tried(_about, folder / "run.json", problems)
    about = said or {}
    measured = tried(read_measurements, folder / "measurements.csv", problems, optional=True) or []
    findings = tried(read_findings, folder / "findings.csv", problems, optional=True) or []
    datasets = None if said is None else tried(lambda path: _datasets(about), folder / "run.json", problems)
    paths = _split_paths(folder, about.get("splits"))
    if not paths:
        problems.append("splits/*.json is missing")
    families = _families(about, measured)
    # Without its data no split can be placed, and that is one problem, not one per split.
    read = [tried(lambda path: _split(path, datasets, families), path, problems) for path in paths] if datasets else []
    if problems or datasets is None:
        raise InputError(f"files of the run folder {folder} are damaged", problems=problems, fix=way_out(folder))
    title = ", ".join(data.name for data in datasets.values())
    splits = sorted(filter(None, read), key=lambda each: (each.dataset, each.card.family != BASELINE, each.card.name))
    return CardFacts(folder, title, datasets, tuple(splits), tuple(measured), tuple(findings), about)


def _about(path: Path) -> dict[str, Any]:
    about = read_json(path)
    if not isinstance(about.get("settings", {}), dict):
        raise InputError(f"{path} does not say its settings")
    return about


def _datasets(about: Mapping[str, Any]) -> dict[str, DataFacts]:
    """The one dataset of a stress run, or the several of a study."""
    several = about.get("datasets")
    found = several if isinstance(several, dict) and several else {"": about.get("data")}
    return {str(key): _data(str(key), content) for key, content in found.items()}


def _data(key: str, content: Any) -> DataFacts:
    if not isinstance(content, dict):
        raise InputError("run.json does not say its data", expected="data, or datasets by name")
    name, labels, counts = str(content.get("name") or key), content.get("label_names"), content.get("counts")
    if not isinstance(labels, list) or not labels or not isinstance(counts, dict):
        raise InputError(f"run.json does not say the labels of {name!r} and their counts")
    if not isinstance(content.get("rows"), int) or not isinstance(content.get("fingerprint"), str):
        raise InputError(f"run.json does not say the rows and the fingerprint of {name!r}")
    held = {str(label): int(counts.get(label, 0)) for label in labels}
    return DataFacts(name, content["rows"], held, content["fingerprint"], _known(name, held))


def _known(name: str, counts: Mapping[str, int]) -> CatalogueCard | None:
    """The catalogue's card; a file of somebody else's may have the same name, hardly the same labels too."""
    card = cards().get(name.partition("/")[0])
    return card if card is not None and {*card.labels} == {*counts} else None


def _families(about: Mapping[str, Any], measured: list[Measurement]) -> dict[str, str]:
    """Family of each split, as far as the run says."""
    found = {str(row.tags["split"]): str(row.tags["family"]) for row in measured if {"split", "family"} <= {*row.tags}}
    named = about.get("splits")
    return found | ({str(name): str(family) for name, family in named.items()} if isinstance(named, dict) else {})


def _split_paths(folder: Path, named: Any) -> list[Path]:
    """Files of the splits; where the run names its own, only those, as a folder may hold earlier ones too."""
    stems = list(named) if isinstance(named, dict | list) else [path.stem for path in folder.glob("splits/*.json")]
    return [folder / "splits" / f"{Path(stem).name}.csv" for stem in sorted(map(str, stems))]


def _split(path: Path, datasets: Mapping[str, DataFacts], families: Mapping[str, str]) -> PublishedSplit:
    split = read_split(path)
    step, groups = split.origin.step, split.certificate.groups
    for content in (split.origin.params, split.origin.inputs, split.origin.versions, groups or {}):
        if not isinstance(content, Mapping):
            raise InputError(f"{path.with_suffix('.json')} is not the certificate of a split")
    sizes = {part: split.sizes.get(part, 0) for part in PARTS}
    family = families.get(split.name, VERSION.sub("", step))
    card = SplitCard(split.name, family, sizes, split.certificate, step, split.origin.seed, sha256_of(path))
    dataset = _dataset_of(split.name, split.dataset, datasets)
    return PublishedSplit(dataset, card, split.origin, f"splits/{path.name}", path.stat().st_size)


def _dataset_of(name: str, fingerprint: str, datasets: Mapping[str, DataFacts]) -> str:
    """Key of the data that was split: by its content, and by the name of the split where contents are the same."""
    same = [key for key, data in datasets.items() if data.fingerprint == fingerprint]
    if not same:
        known = ", ".join(data.fingerprint for data in datasets.values())
        raise InputError(f"the split {name!r} was made from other data: {fingerprint}, run.json has {known}")
    return max(same, key=lambda key: (name.startswith(f"{key}."), len(key)))
