from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

import pytest

from unseen.data import catalogue
from unseen.data.catalogue import (
    ACCESS,
    READERS,
    CardFile,
    CatalogueCard,
    card,
    cards,
    copy_of,
    data_folder,
    load_card,
    locate,
)
from unseen.errors import InputError, UnknownNameError, UnseenWarning

HERE = Path(os.environ.get("UNSEEN_DATA") or Path(__file__).parents[3] / "shared" / "data")
NAMES = {
    "davidson",
    "founta",
    "hatecheck",
    "hateval",
    "hatexplain",
    "hatexplain-thesis",
    "identity-templates",
    "qian-gab",
    "qian-reddit",
    "stormfront",
    "waseem-hovy",
}
FILES = [(each.name, file.path) for each in cards().values() for file in each.files]
SUMMED = [
    (each.name, file.path) for each in cards().values() for file in each.files if file.sha256 or file.local_sha256
]
COUNTED = [(each.name, file.path) for each in cards().values() for file in each.files if file.reader and file.rows]


def at_hand(path: str) -> Path:
    if not (HERE / path).is_file():
        pytest.skip(f"{path} is not in {HERE}; set UNSEEN_DATA to the folder of the data")
    return HERE / path


def test_every_card_is_read_under_the_name_of_its_file() -> None:
    assert set(cards()) == NAMES == {path.stem for path in catalogue.FOLDER.glob("*.toml")}
    assert list(cards()) == sorted(cards())


def test_unknown_name_hints_at_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'hatexplain'"):
        card("hatexplian")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_card_is_complete(name: str) -> None:
    known = card(name)
    assert known.access in ACCESS
    assert all((known.title, known.task, known.language, known.homepage, known.licence, known.citation, known.traps))
    assert known.access == "public" or known.instructions
    assert [each for each in known.files if each.default], "no file to load"
    assert len({each.path for each in known.files}) == len(known.files)
    assert len({each.name for each in known.files}) == len(known.files)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_labels_and_raw_values_cover_each_other(name: str) -> None:
    known = card(name)
    raw = known.raw_labels()
    assert tuple(dict.fromkeys(raw.values())) == known.labels
    assert len(set(known.labels)) == len(known.labels) > 1
    assert not set(raw) & set(known.undeclared)
    assert ("undeclared" in known.drop) == bool(known.undeclared)


@pytest.mark.parametrize(("name", "path"), FILES)
def test_file_is_inside_the_folder_and_claims_only_what_is_known(name: str, path: str) -> None:
    file = card(name).file(path)
    assert not PurePosixPath(path).is_absolute()
    assert ".." not in PurePosixPath(path).parts
    assert file.reader in (None, "table", *READERS)
    assert file.note
    assert (file.sha256 is None) == (file.bytes is None)
    assert (file.local_sha256 is None) == (file.local_bytes is None)
    assert file.url is None or urlsplit(file.url).scheme == "https"
    assert file.sha256 is None or file.url, "a checksum of nothing public is a local one"
    for digest in (file.sha256, file.local_sha256):
        assert digest is None or (len(digest) == 64 and int(digest, 16))


@pytest.mark.parametrize(("name", "path"), SUMMED)
def test_checksums_are_those_of_the_files_at_hand(name: str, path: str) -> None:
    file, size = card(name).file(path), at_hand(path).stat().st_size
    expected = ("as published", file.bytes) if file.sha256 else ("local copy", file.local_bytes)
    assert (copy_of(file, HERE).state, size) == expected


@pytest.mark.parametrize(("name", "path"), COUNTED)
def test_rows_are_as_many_as_the_card_says(name: str, path: str) -> None:
    at_hand(path)
    file = card(name).file(path)
    data = load_card(name, HERE, path)
    assert len(data) == (file.loaded or file.rows)
    assert data.label_names == card(name).labels
    assert all(data.label_counts.values())


def test_attributes_of_the_data_at_hand_mean_what_they_should() -> None:
    at_hand("hatexplain/train_test.csv")
    data = load_card("hatexplain-thesis", HERE)
    assert data.name == "hatexplain-thesis"
    assert data.attribute("target").to_pylist()[:2] == [["Caucasian"], ["Homosexual", "Jewish"]]
    official = load_card("hatexplain", HERE, "dataset_val_test.json")
    parts = official.attribute("part").to_pylist()
    assert (parts.count("dev"), parts.count("test")) == (1922, 1924)
    assert official.name == "hatexplain/dataset_val_test.json"


def test_class_numbers_of_the_data_at_hand_are_not_confused() -> None:
    at_hand("davidson/labeled_data.csv")
    counts = load_card("davidson", HERE).label_counts
    assert counts == {"neither": 4163, "offensive": 19190, "hate": 1430}


def test_folder_is_the_argument_then_the_variable_then_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSEEN_DATA", str(tmp_path / "named"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder(tmp_path / "given") == tmp_path / "given"
    assert data_folder() == tmp_path / "named"
    monkeypatch.setenv("UNSEEN_DATA", "")
    assert data_folder() == tmp_path / "cache/unseen/data"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert data_folder() == tmp_path / "home/.cache/unseen/data"


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CatalogueCard:
    """A card with a table, a part of it, and a list; only the part and the list are there."""
    files = (
        CardFile("toy/all.csv", reader="table", default=True, local_sha256="0" * 64, local_bytes=1),
        CardFile("toy/part.csv", reader="table"),
        CardFile("toy/list.txt"),
    )
    known = CatalogueCard(
        *("toy", "Toy", "t", "en", "h", "MIT", "c", "public", 2, ("calm", "loud"), files),
        label="class",
        attributes=("who",),
        mapping={"1": "loud", "0": "calm"},
    )
    monkeypatch.setattr(catalogue, "cards", lambda: {"toy": known})
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy/part.csv").write_text("text,class,who\nhello,0,ann\nHELLO,1,bob\n")
    (tmp_path / "toy/list.txt").write_text("1\n")
    return known


def test_files_that_are_there_are_located(toy: CatalogueCard, tmp_path: Path) -> None:
    assert locate(toy, tmp_path) == [tmp_path / "toy/part.csv", tmp_path / "toy/list.txt"]
    assert locate(toy, tmp_path / "nowhere") == []


def test_absent_dataset_says_where_it_should_be_and_what_else_is_there(toy: CatalogueCard, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="toy is not in") as error:
        load_card("toy", tmp_path)
    assert error.value.expected == "toy/all.csv"
    assert "part.csv" in str(error.value.got)
    assert "unseen data fetch toy" in str(error.value.fix)


def test_file_is_loaded_by_name_with_the_labels_of_the_card(toy: CatalogueCard, tmp_path: Path) -> None:
    data = load_card("toy", tmp_path, "part.csv")
    assert data.name == "toy/part.csv"
    assert data.label_counts == {"calm": 1, "loud": 1}
    assert data.attribute("who").to_pylist() == ["ann", "bob"]
    assert load_card("toy", tmp_path, "part.csv", attributes=(), name="mine").attributes == ()


def test_file_without_texts_or_without_a_name_is_refused(toy: CatalogueCard, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not hold the texts"):
        load_card("toy", tmp_path, "list.txt")
    with pytest.raises(UnknownNameError, match="did you mean"):
        load_card("toy", tmp_path, "toy/parts.csv")


def test_changed_file_is_loaded_with_a_warning(toy: CatalogueCard, tmp_path: Path) -> None:
    (tmp_path / "toy/part.csv").rename(tmp_path / "toy/all.csv")
    with pytest.warns(UnseenWarning, match="not the file the card of toy describes"):
        assert len(load_card("toy", tmp_path)) == 2


@pytest.mark.parametrize(
    ("changes", "noted", "state"),
    [
        ({}, False, "unchecked"),
        ({}, True, "as fetched"),
        ({"url": "https://x", "sha256": "right"}, False, "as published"),
        ({"url": "https://x", "sha256": "wrong"}, False, "changed"),
        ({"url": "https://x", "local_sha256": "right"}, False, "local copy"),
        ({"url": "https://x", "local_sha256": "wrong"}, False, "unchecked"),
        ({"local_sha256": "wrong"}, False, "changed"),
    ],
)
def test_state_follows_from_the_checksums_that_are_known(
    tmp_path: Path, changes: dict[str, str], noted: bool, state: str
) -> None:
    digests = {"right": hashlib.sha256(b"1").hexdigest(), "wrong": "0" * 64}
    file = CardFile("a.csv", **{name: digests.get(value, value) for name, value in changes.items()})
    assert copy_of(file, tmp_path).state == "absent"
    (tmp_path / "a.csv").write_bytes(b"1")
    if noted:
        (tmp_path / "a.csv.sha256").write_text(f"{digests['right']}  a.csv\n")
    assert copy_of(file, tmp_path).state == state


def test_file_that_is_no_card_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "card.toml"
    for content in ("name = ", 'name = "x"', 'name = "x"\nfiles = []\nshoe_size = 3'):
        path.write_text(content)
        with pytest.raises(InputError, match=r"is not the card of a dataset|is not TOML"):
            catalogue.read_card(path)


def test_all_mistakes_of_a_card_are_told_at_once(tmp_path: Path) -> None:
    content = (catalogue.FOLDER / "founta.toml").read_text(encoding="utf-8")
    for right, wrong in (("title =", "titel ="), ("rows = ", "rows = 1.5 # "), ('access = "', 'access = "not ')):
        content = content.replace(right, wrong, 1)
    path = tmp_path / "card.toml"
    path.write_text(content.replace("reader =", "raeder =", 1))
    with pytest.raises(InputError) as refused:
        catalogue.read_card(path)
    assert refused.value.problems == (
        "title is missing",
        "access must be one of public, on request, ids only, not 'not on request'; did you mean 'on request'?",
        "rows must be a whole number, not 1.5",
        "[[files]] 1: 'raeder' is not known here; did you mean 'reader'?",
        "the file: 'titel' is not known here; did you mean 'title'?",
    )


def test_card_has_plain_values(toy: CatalogueCard) -> None:
    assert json.loads(json.dumps(toy.as_dict()))["files"][1]["path"] == "toy/part.csv"
