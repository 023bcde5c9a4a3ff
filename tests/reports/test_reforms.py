"""Every item of REFORMS is filled from the run or visibly blank."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import data_of, stress_folder

from unseen.reports import reforms
from unseen.reports.facts import read_card_facts
from unseen.reports.split_card import write_cards
from unseen.store import write_json, write_measurements

NUMBERS = [f"{section}{letter}" for section, last in enumerate("cegcfccb", 1) for letter in "abcdefg"[: ord(last) - 96]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stress_folder(tmp_path / "run")


def test_every_item_of_reforms_is_there_once(folder: Path) -> None:
    found = reforms.items(read_card_facts(folder))
    assert [item.number for _, some in found for item in some] == NUMBERS
    assert len(found) == 8
    assert all(item.number[0] == str(number) for number, (_, some) in enumerate(found, 1) for item in some)


def test_items_of_reforms_are_filled_from_the_run_or_visibly_blank(folder: Path) -> None:
    listed = write_cards(folder)[1].read_text(encoding="utf-8")
    for line in (
        "| 1a | whom or what the claim is about | **not stated** |",
        "| filled | mails: 8 rows; spam 4, ham 4 |",
        "| partly | system Linux; the steps took 1 min 30 s;",
        "the epoch that is best on the dev part: epochs 3, patience 2",
        "training seeds 7 |",
        "from the file other.csv, is in no training or test part",
        "may have been trained on test rows",
    ):
        assert line in listed
    assert "/home/me" not in listed, "folders of a machine are nobody's business"
    assert f"**{listed.count('**not stated**')} are blank**" in listed


def test_items_of_reforms_are_blank_when_the_run_says_little(tmp_path: Path) -> None:
    folder = stress_folder(tmp_path / "run")
    write_measurements([], folder / "measurements.csv")
    bare = {"data": data_of("mails"), "timings": 5, "host": None, "splits": ["random-1"]}
    write_json(folder / "run.json", bare)
    states = {item.number: item.state for _, some in reforms.items(read_card_facts(folder)) for item in some}
    assert [number for number, state in states.items() if state != "blank"] == [
        "2a",
        "3d",
        "3e",
        "3g",
        "5c",
        "5f",
        "6a",
        "8a",
        "8b",
    ]
