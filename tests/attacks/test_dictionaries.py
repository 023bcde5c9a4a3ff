"""WordNet's files, pairs and tags, read from wherever they lie."""

from __future__ import annotations

import shutil
import tarfile
from pathlib import Path

import pytest

from unseen.attacks.dictionaries import WordNet, read_pairs, read_tags
from unseen.errors import InputError

DATA = {
    "noun": [
        "00000100 06 n 03 cloud 0 mist 0 cloud_bank 1 001 @ 00000200 n 0000 | what hangs in the sky",
        "00000200 06 n 02 sky 0 Heavens 0 000 | above",
    ],
    "verb": ["00000100 30 v 02 rain 0 pour 1 001 + 00000100 n 0101 01 + 02 00 | water comes down"],
    "adj": [
        "00000100 00 a 02 hot 0 warm(p) 0 001 ! 00000200 a 0101 | of high temperature",
        "00000200 00 a 02 cold 0 icy 0 001 ! 00000100 a 0101 | of low temperature",
    ],
    "adv": [],
}
INDEX = {
    "noun": ["cloud n 1 1 @ 1 0 00000100", "mist n 1 0 1 0 00000100", "sky n 1 0 1 0 00000200"],
    "verb": ["rain v 1 1 + 1 0 00000100", "pour v 1 0 1 0 00000100"],
    "adj": [
        "hot a 1 1 ! 1 0 00000100", "warm a 1 0 1 0 00000100", "cold a 1 1 ! 1 0 00000200", "icy a 1 0 1 0 00000200",
    ],
    "adv": [],
}  # fmt: skip


@pytest.fixture
def dictionary(tmp_path: Path) -> Path:
    folder = tmp_path / "wordnet" / "dict"
    folder.mkdir(parents=True)
    for part, lines in DATA.items():
        notice = "  1 This is a licence.\n"
        (folder / f"data.{part}").write_text(notice + "".join(f"{line}\n" for line in lines))
        (folder / f"index.{part}").write_text(notice + "".join(f"{line}\n" for line in INDEX[part]))
    (folder / "adj.exc").write_text("hotter hot\n")
    return folder.parent


@pytest.mark.parametrize("form", ["folder", "tgz", "zip"])
def test_words_that_share_a_meaning_are_synonyms_wherever_the_files_lie(dictionary: Path, form: str) -> None:
    path = dictionary
    if form == "tgz":
        path = dictionary.parent / "wordnet.tgz"
        with tarfile.open(path, "w:gz") as archive:
            archive.add(dictionary, "package")
    elif form == "zip":
        path = Path(shutil.make_archive(str(dictionary.parent / "packed"), "zip", dictionary))
    words = WordNet(path)
    assert words.synonyms("cloud") == ["mist"]  # what is several words is left out
    assert words.synonyms("Clouds") == ["cloud", "mist"]
    assert words.synonyms("raining") == ["rain", "pour"]
    assert words.synonyms("hotter") == ["hot", "warm"]
    assert words.synonyms("nothing") == []


def test_of_several_dictionaries_the_files_are_not_mixed(dictionary: Path) -> None:
    newer = dictionary / "dict-4"
    shutil.copytree(dictionary / "dict", newer)
    changed = (newer / "data.noun").read_text().replace("mist", "haze")
    (newer / "data.noun").write_text(changed)
    assert WordNet(dictionary).synonyms("cloud") == ["haze"]


@pytest.mark.parametrize("damage", ["missing", "cut", "archive", "nothing"])
def test_what_is_no_dictionary_is_told(dictionary: Path, damage: str) -> None:
    path = dictionary
    if damage == "missing":
        (dictionary / "dict" / "data.adv").unlink()
    elif damage == "cut":
        (dictionary / "dict" / "data.noun").write_text("00000100 06 n zz cloud")
    elif damage == "archive":
        path = dictionary.parent / "broken.tgz"
        path.write_bytes(b"\x1f\x8bnothing")
    else:
        path = dictionary.parent / "nowhere"
    with pytest.raises(InputError, match="does not hold WordNet's dictionary"):
        WordNet(path).synonyms("cloud")


def test_pairs_hold_both_ways(tmp_path: Path) -> None:
    file = tmp_path / "pairs.txt"
    file.write_text("rain drizzle\nrain shower \n\ndrizzle rain\n")
    assert read_pairs(file) == {"rain": ("drizzle", "shower"), "drizzle": ("rain",), "shower": ("rain",)}


@pytest.mark.parametrize("content", ["", "rain\n", "rain drizzle shower\n"])
def test_what_are_no_pairs_is_refused(tmp_path: Path, content: str) -> None:
    file = tmp_path / "pairs.txt"
    file.write_text(content)
    with pytest.raises(InputError, match="pair"):
        read_pairs(file)


def test_tags_of_a_word(tmp_path: Path) -> None:
    file = tmp_path / "tags.txt"
    file.write_text(";;; a comment\nrain NN VB\nRain NNP\nrain VBP\n")
    assert read_tags(file) == {"rain": ("NN", "VB", "VBP"), "Rain": ("NNP",)}
    file.write_text("rain\n")
    with pytest.raises(InputError, match="no parts of speech"):
        read_tags(file)
