"""Known datasets: one card each, saying where the data is, what is in it and what to beware of.

A card is a TOML file in `cards/`. Its files lie in a data folder under the paths the card names, put there by hand or
by `unseen.data.fetch`; nothing here touches the network. Published layouts that are not a table with one text per row
are turned into rows here.
"""

from __future__ import annotations

import csv
import os
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal, get_args

from pydantic import StrictBool, StrictInt

from unseen.data.rationales import written_spans
from unseen.errors import InputError, TableError, UnknownNameError, UnseenWarning
from unseen.registry import Registry
from unseen.store import read_json, sha256_of
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
        "hatexplain.v1": "unseen.data.catalogue:hatexplain_posts",
        "numbered-turns.v1": "unseen.data.catalogue:numbered_turns",
        "text-files.v1": "unseen.data.catalogue:text_files",
    },
)
"""Layouts that are not a table with one text per row: path -> rows."""
NUMBERED = re.compile(r"^(\d+)\. ?", re.MULTILINE)
HATEXPLAIN_SOURCE = re.compile(r"_(gab|twitter)$")
HATEXPLAIN_PARTS = {"train": "train", "val": "dev", "test": "test"}
HATEXPLAIN_DIVISIONS = "post_id_divisions.json"
NOBODY = "None"
"""What an annotator of HateXplain writes who sees no target."""


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


def find_card(name: str) -> CatalogueCard | None:
    """The card of the dataset called `name`; None where there is none. A card's file is called like its dataset."""
    return next((read_card(path) for path in FOLDER.glob("*.toml") if path.stem == name), None)


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


def text_files(path: str | Path, texts: str) -> list[dict[str, Any]]:
    """Rows of the table in `path` with a column `text`, read from one file per row.

    `texts` is the place of that file beside the table, with columns in braces: `texts/{id}.txt`.
    """
    path = Path(path)
    folder = path.parent.resolve()
    rows, problems = [], []
    for line, row in _csv_rows(path):
        place = (folder / texts.format(**row)).resolve()
        if not place.is_relative_to(folder):
            raise TableError(f"line {line} of {path} names a text outside its folder", got=str(place))
        try:
            rows.append({**row, "text": place.read_text(encoding="utf-8").strip()})
        except (OSError, UnicodeDecodeError) as cause:
            problems.append(f"line {line}: {place.name}: {cause}")
    if problems:
        raise TableError(f"{len(problems)} texts of {path} cannot be read", problems=problems)
    return rows


def numbered_turns(path: str | Path, marked: str, labels: Sequence[str]) -> list[dict[str, Any]]:
    """One row per turn of the conversations in `path`: id, text, label, conversation, post_id.

    The columns `id` and `text` hold numbered lines, one per turn; the column `marked` lists the numbers of the
    turns with the second of `labels`, the others have the first. A row's id is conversation and turn.
    """
    rows: list[dict[str, Any]] = []
    for conversation, (_, row) in enumerate(_csv_rows(Path(path))):
        if not {"id", "text", marked} <= row.keys():
            raise InputError(
                f"{path} cannot be read as conversations",
                expected=f"the columns id, text, {marked}",
                got=", ".join(row),
                fix="a copy without texts holds ids only: get the revision with texts",
            )
        marked_turns = set(map(int, re.findall(r"\d+", row[marked])))
        post_ids = turns(row["id"])
        for number, text in turns(row["text"]).items():
            rows.append(
                {
                    "id": f"{conversation}.{number}",
                    "text": text,
                    "label": labels[number in marked_turns],
                    "conversation": str(conversation),
                    "post_id": post_ids.get(number, ""),
                }
            )
    return rows


def turns(numbered: str) -> dict[int, str]:
    """Text by number of `1. first` and `2. second` on lines of their own; a number out of turn is text."""
    starts: list[re.Match[str]] = []
    for start in NUMBERED.finditer(numbered):
        if int(start[1]) == len(starts) + 1:
            starts.append(start)
    ends = [start.start() for start in starts[1:]] + [len(numbered)]
    spans = zip(starts, ends, strict=False)
    return {number: numbered[start.end() : end].strip() for number, (start, end) in enumerate(spans, 1)}


def _csv_rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row, by column name."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            for row in reader:
                row.pop(None, None)
                yield reader.line_num, row
    except (OSError, UnicodeDecodeError, csv.Error) as cause:
        raise InputError(f"cannot read {path}: {cause}") from cause


def hatexplain_posts(path: str | Path, divisions: str | Path | None = None, least: int = 1) -> list[dict[str, Any]]:
    """One row per post of HateXplain's official file, in its order: id, text, label, target, source, part, rationales.

    A post has the label that at least two of its three annotators gave (Mathew et al. 2021, section 3). A post
    without a majority has the label None: load with `drop=["unlabelled"]`, which counts what it drops.
    `part` comes from the id lists in `divisions`, by default the file of that name beside `path`; it is empty
    when there are none, or when they do not name the post. `target` are the communities that at least `least`
    annotators name. `rationales` are the tokens that each annotator highlighted, a span of the text for each token;
    posts that most call normal have none.
    """
    if not isinstance(least, int) or least < 1:
        raise InputError("least must be a number of annotators, at least 1", got=repr(least))
    posts = read_json(path)
    beside = Path(path).with_name(HATEXPLAIN_DIVISIONS) if divisions is None else Path(divisions)
    parts = hatexplain_parts(beside) if divisions is not None or beside.is_file() else {}
    rows, problems = [], []
    for post_id, post in posts.items():
        try:
            row = {
                "id": post_id,
                "text": " ".join(post["post_tokens"]),
                "label": majority([annotator["label"] for annotator in post["annotators"]]),
                "target": targets(post["annotators"], least),
                "source": hatexplain_source(post_id),
                "part": parts.get(post_id, ""),
                "rationales": [written_spans(mask, post["post_tokens"]) for mask in post.get("rationales") or []],
            }
            rows.append(row)
        except (KeyError, TypeError, AttributeError) as cause:
            problems.append(f"post {post_id}: {type(cause).__name__} {cause}")
    if problems:
        raise TableError(
            f"{len(problems)} posts of {path} cannot be read",
            problems=problems,
            expected="post_tokens, and annotators with label and target",
        )
    return rows


def hatexplain_parts(path: str | Path) -> dict[str, str]:
    """Part of each post id, from the official id lists; the list `val` is the part dev."""
    lists = {name: ids for name, ids in read_json(path).items() if name in HATEXPLAIN_PARTS}
    return {post_id: HATEXPLAIN_PARTS[name] for name, ids in lists.items() for post_id in ids}


def hatexplain_source(post_id: str) -> str:
    """Where a post is from, by the end of its id; `unknown` for ids that do not say."""
    source = HATEXPLAIN_SOURCE.search(post_id)
    return source[1] if source else "unknown"


def majority(labels: list[str]) -> str | None:
    """The label that more than half of the annotators gave, or None."""
    label, votes = Counter(labels).most_common(1)[0] if labels else ("", 0)
    return label if votes * 2 > len(labels) else None


def targets(annotators: list[Mapping[str, Any]], least: int = 1) -> list[str]:
    """Every community that at least `least` annotators named, in alphabetical order; empty when there is none.

    The paper's bias figures count a community only when two annotators name it; the union of one is wider.
    """
    votes = Counter(name for annotator in annotators for name in set(annotator["target"]))
    return sorted(name for name, times in votes.items() if times >= least and name != NOBODY)
