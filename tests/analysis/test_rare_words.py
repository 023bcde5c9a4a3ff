from __future__ import annotations

import sys

import pytest

import unseen
from unseen.analysis import rare_words
from unseen.analysis import rare_words as module_function
from unseen.analysis.words import english_words
from unseen.errors import InputError

TEXTS = ["the trebuchet and the TREBUCHET", "a table, a trebuchet", "edifice of zzyzxqq", "a chair"]


@pytest.fixture
def data(tiny):
    return tiny(texts=TEXTS, part=["train", "train", "test", "test"])


@pytest.fixture
def split(data):
    return unseen.split(data, "predefined", by="part", name="mine")


def test_rare_words_are_listed_and_seldom(data, split):
    listed = ["trebuchet", "Table", "edifice", "chair", "zzyzxqq"]
    train, test = rare_words(data, split, english=listed)
    assert train.value == 1.5  # twice, then once; a table is not rare
    assert test.value == 1.0  # what wordfreq has never seen is rare too, when it is a word
    assert train.tags == {"split": "mine", "part": "train", "list": "own"}
    assert test.tags["part"] == "test"
    assert test.n == 2
    assert rare_words(data, split, english=["table"])[0].value == 0


def test_once_per_million_is_rare(monkeypatch, data, split):
    zipf = {"trebuchet": 3.0, "table": 3.01}
    monkeypatch.setattr(sys.modules[module_function.__module__], "_zipf", lambda word: zipf.get(word, 9.0))
    assert rare_words(data, split, english=["trebuchet", "table", "chair"])[0].value == 1.5


def test_words_from_a_file(tmp_path, data, split):
    path = tmp_path / "words.txt"
    path.write_text("Trebuchet\n\ntable\n", encoding="utf-8")
    assert english_words(path) == ("words.txt", {"trebuchet", "table"})
    assert rare_words(data, split, english=str(path))[0].value == 1.5
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no words"):
        english_words(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match=r"cannot read words from .*words\.txt"):
        english_words(path)
    with pytest.raises(InputError, match="cannot read words"):
        english_words(tmp_path / "none.txt")


def test_the_list_is_wordfreqs_unless_another_is_named():
    name, listed = english_words()
    assert name == "wordfreq-large"
    assert {"trebuchet", "table", "edifice"} <= listed
    assert "zzyzxqq" not in listed
    assert [word for word in listed if not word.isalpha()] == []


def test_names_and_misspellings_of_that_list_count_too(data, split):
    assert rare_words(data, split)[0].tags["list"] == "wordfreq-large"
    assert rare_words(data, split)[0].value == 1.5
    assert "dissapointed" in english_words()[1]
