"""Known datasets: one card each, saying where the data is, what is in it and what to beware of.

A card is a TOML file in `cards/`. Its files lie in a data folder under the paths the card names,
put there by hand or by `unseen.data.fetch`; nothing here touches the network.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import StrictBool, StrictInt

from unseen.errors import InputError, UnknownNameError, UnseenWarning
from unseen.registry import Registry
from unseen.store import sha256_of
from unseen.store.settings_file import NO_OTHER_KEYS, read_settings

if TYPE_CHECKING:
    from unseen.types import Dataset

FOLDER = Path(__file__).parent / "cards"
Access = Literal["public", "on request", "ids only"]
ACCESS: tuple[str, ...] = get_args(Access)
STATES = ("absent", "as published", "local copy", "as fetched", "unchecked", "changed")
"""What is known of a file on this machine; the last is the only one that is wrong."""

READERS = Registry(
    "reader",
    {
        "hatexplain.v1": "unseen.data.layouts:hatexplain_posts",
        "numbered-turns.v1": "unseen.data.layouts:numbered_turns",
        "text-files.v1": "unseen.data.layouts:text_files",
    },
)
"""Layouts that are not a table with one text per row: path -> rows."""


@dataclass(frozen=True)
class CardFile:
    """One file of a dataset."""

    __pydantic_config__ = NO_OTHER_KEYS

    path: str
    """Place inside the data folder."""
    url: str | None = None
    """Public address; None when there is none."""
    sha256: str | None = None
    """Checksum of what `url` serves; None when nobody here has seen those bytes."""
    bytes: StrictInt | None = None
    local_sha256: str | None = None
    """Checksum of another copy that is known to differ from what `url` serves, as `note` says."""
    local_bytes: StrictInt | None = None
    reader: str | None = None
    """`table`, or a name in READERS; None when the file does not hold texts."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the reader."""
    default: StrictBool = False
    """Loaded when no file is asked for; of several, the first that is there."""
    attributes: tuple[str, ...] | None = None
    """Where they differ from the card's."""
    rows: StrictInt | None = None
    """Rows counted in the copy at hand."""
    loaded: StrictInt | None = None
    """Rows that become a dataset, where it is fewer."""
    unpack: str | None = None
    """Folder inside the data folder into which this archive is unpacked."""
    note: str = ""
    """How the copies relate and how address and checksum are known."""

    @property
    def name(self) -> str:
        """Last component of the path."""
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class CatalogueCard:
    """What is known about one dataset."""

    __pydantic_config__ = NO_OTHER_KEYS

    name: str
    title: str
    task: str
    language: str
    homepage: str
    licence: str
    citation: str
    access: Access
    rows: StrictInt
    """As published."""
    labels: tuple[str, ...]
    """Label names in their declared order."""
    files: tuple[CardFile, ...]
    text: str = "text"
    label: str = "label"
    id: str | None = None
    attributes: tuple[str, ...] = ()
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Label name of each raw value, where they differ."""
    undeclared: tuple[str, ...] = ()
    """Raw label values that stand for no label."""
    drop: tuple[str, ...] = ()
    instructions: str = ""
    """How to get the data when it cannot be downloaded."""
    traps: tuple[str, ...] = ()

    def file(self, name: str) -> CardFile:
        """The file with this path or file name."""
        for file in self.files:
            if name in (file.path, file.name):
                return file
        raise UnknownNameError.of(f"file of {self.name}", name, [file.path for file in self.files])

    def raw_labels(self) -> dict[str, str]:
        """Label name of every raw value, in the declared order of labels."""
        pairs = self.mapping.items() if self.mapping else zip(self.labels, self.labels, strict=True)
        return dict(sorted(pairs, key=lambda pair: self.labels.index(pair[1])))

    def as_dict(self) -> dict[str, Any]:
        """Every field, as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Copy:
    """What lies on this machine for one file of a card."""

    file: CardFile
    path: Path
    state: str
    """One of STATES."""
    sha256: str | None = None


@cache
def cards() -> dict[str, CatalogueCard]:
    """Every card by name, in alphabetical order."""
    known = [read_card(path) for path in FOLDER.glob("*.toml")]
    return {card.name: card for card in sorted(known, key=lambda card: card.name)}


def card(name: str) -> CatalogueCard:
    """The card of the dataset called `name`."""
    if name not in cards():
        raise UnknownNameError.of("known dataset", name, cards(), fix="'unseen data ls' lists them")
    return cards()[name]


def read_card(path: str | Path) -> CatalogueCard:
    """The card in a TOML file; all its mistakes in one error."""
    return read_settings(path, CatalogueCard, "is not the card of a dataset")


def data_folder(data_dir: str | Path | None = None) -> Path:
    """The folder of downloaded data: `data_dir`, else $UNSEEN_DATA, else `unseen/data` in the user's cache."""
    if data_dir is not None:
        return Path(data_dir).expanduser()
    if named := os.environ.get("UNSEEN_DATA"):
        return Path(named).expanduser()
    cached = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (cached if cached.is_absolute() else Path.home() / ".cache") / "unseen" / "data"


def locate(card: CatalogueCard, data_dir: str | Path | None = None) -> list[Path]:
    """Those files of `card` that are in the data folder, in the order of the card."""
    paths = [data_folder(data_dir) / file.path for file in card.files]
    return [path for path in paths if path.is_file()]


def verify(card: CatalogueCard, data_dir: str | Path | None = None) -> list[Copy]:
    """What lies in the data folder for each file of `card`, compared with every checksum that is known."""
    return [copy_of(file, data_folder(data_dir)) for file in card.files]


def copy_of(file: CardFile, folder: Path) -> Copy:
    """What lies in `folder` for one file. Reads the whole file."""
    path = folder / file.path
    if not path.is_file():
        return Copy(file, path, "absent")
    sha256 = sha256_of(path)
    known = {file.local_sha256: "local copy", recorded_sha256(path): "as fetched", file.sha256: "as published"}
    known.pop(None, None)
    # A checksum of a copy that differs from the public file says nothing about the public file.
    decides = bool(known) and (file.url is None or set(known.values()) != {"local copy"})
    return Copy(file, path, known.get(sha256, "changed" if decides else "unchecked"), sha256)


def recorded_sha256(path: Path) -> str | None:
    """The checksum that was noted when `path` was downloaded, if it was."""
    try:
        words = path.with_name(f"{path.name}.sha256").read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return None
    return words[0] if words else None


def load_card(name: str, /, data_dir: str | Path | None = None, file: str | None = None, **overrides: Any) -> Dataset:
    """The dataset called `name`, from its file in the data folder.

    Without `file`, the default file of the card. `overrides` go to `unseen.data.tables.load_table` in
    place of what the card says. Warns when the file is not the one whose checksum the card knows.
    """
    from unseen.data.tables import load_table

    known = card(name)
    copy = _copy_to_load(known, data_folder(data_dir), file)
    if copy.state == "changed":
        warnings.warn(
            f"{copy.path} is not the file the card of {name} describes (sha256 {copy.sha256}); its counts may not hold",
            UnseenWarning,
            stacklevel=2,
        )
    settings: dict[str, Any] = {
        "text": known.text,
        "label": known.label,
        "id": known.id,
        "attributes": known.attributes if copy.file.attributes is None else copy.file.attributes,
        "labels": known.raw_labels(),
        "drop": known.drop,
        "name": name if copy.file.default else f"{name}/{copy.file.name}",
    }
    if copy.file.reader == "table":
        return load_table(copy.path, **{**settings, **copy.file.options, **overrides})
    rows = READERS.get(str(copy.file.reader))(copy.path, **copy.file.options)
    return load_table(rows, **{**settings, **overrides})


def _copy_to_load(card: CatalogueCard, folder: Path, name: str | None) -> Copy:
    files = [card.file(name)] if name else [file for file in card.files if file.default]
    if name and files[0].reader is None:
        texts = [file.path for file in card.files if file.reader]
        raise InputError(f"{name} does not hold the texts of {card.name}", expected=f"one of {', '.join(texts)}")
    for file in files:
        if (folder / file.path).is_file():
            return copy_of(file, folder)
    others = [file.name for file in card.files if file.reader and (folder / file.path).is_file()]
    raise InputError(
        f"{card.name} is not in {folder}",
        expected=" or ".join(file.path for file in files),
        got=f"{', '.join(others)}, which is loaded only when asked for with file=" if others else None,
        fix=card.instructions
        or f"unseen data fetch {card.name} --data-dir {folder}, or set UNSEEN_DATA to where it is",
    )
