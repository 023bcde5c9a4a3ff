"""croissant.json is read by MLCommons' own library, from the local files, without a network."""

from __future__ import annotations

import csv
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from hostile_run import hostile_run
from small_run import IDS, data_of, split_of, stress_folder, study_folder

from unseen.reports.croissant import PEOPLE_SAY
from unseen.reports.split_card import write_cards
from unseen.store import write_split

mlc = pytest.importorskip("mlcroissant")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a test wants the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def opened(folder: Path) -> Any:
    return mlc.Dataset(jsonld=write_cards(folder)[2])


def test_it_is_valid_and_every_warning_is_a_blank_of_the_card(tmp_path: Path) -> None:
    folder = stress_folder(tmp_path / "run")
    issues = opened(folder).metadata.ctx.issues
    assert not issues.errors
    missing = re.findall(r'Property "\S+/(\w+)" is recommended', issues.report())
    assert missing
    assert {*missing} <= {*PEOPLE_SAY}
    card = (folder / "card.md").read_text(encoding="utf-8")
    assert all(f"({name} in croissant.json)" in card for name in PEOPLE_SAY)


def test_nothing_unknown_is_invented(tmp_path: Path) -> None:
    path = write_cards(stress_folder(tmp_path / "run"))[2]
    described = json.loads(path.read_text(encoding="utf-8"))
    assert not PEOPLE_SAY.keys() & described.keys()
    based = {"@type": "sc:CreativeWork", "name": "mails", "identifier": "unseen fingerprint abc"}
    assert described["isBasedOn"] == [based]
    assert described["dateCreated"] == "2026-11-16T01:00:00+00:00"


def test_the_licence_of_the_texts_is_not_that_of_the_splits(tmp_path: Path) -> None:
    known = data_of("davidson", labels=("hate", "offensive", "neither"))
    found = opened(stress_folder(tmp_path / "run", data=known))
    assert found.metadata.license is None
    described = json.loads((tmp_path / "run" / "croissant.json").read_text(encoding="utf-8"))
    assert described["isBasedOn"][0]["license"] == "MIT"


def test_records_are_the_rows_of_the_split(tmp_path: Path) -> None:
    folder = stress_folder(tmp_path / "run")
    records = list(opened(folder).records("closest"))
    assert records[0] == {"closest/id": b"007", "closest/part": b"test", "closest/cluster": 0}
    assert [each["closest/id"].decode().removeprefix("'") for each in records] == IDS
    assert records[-1] == {"closest/id": b"h", "closest/part": b"independent", "closest/cluster": None}
    with (folder / "splits" / "closest.csv").open() as file:
        assert [each["closest/part"].decode() for each in records] == [row["part"] for row in csv.DictReader(file)]


def test_parts_have_the_meanings_of_the_format(tmp_path: Path) -> None:
    found = {each["parts/name"]: each["parts/url"] for each in opened(stress_folder(tmp_path / "run")).records("parts")}
    assert found["train"] == "cr:TrainingSplit"
    assert found["test"] == "cr:TestSplit"
    assert found["independent"] != found["independent"], "the format has no word for it"


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    folder = stress_folder(tmp_path / "run")
    found = opened(folder)
    (folder / "splits" / "closest.csv").write_text("id,part,cluster\nx,train,\n")
    with pytest.raises(mlc.GenerationError) as caught:
        next(iter(found.records("closest")))
    assert "not identical" in str(caught.value.__cause__)


def test_every_split_of_a_study_can_be_read(tmp_path: Path) -> None:
    found = opened(study_folder(tmp_path / "study"))
    sets = [each.id for each in found.metadata.record_sets]
    assert sets == ["parts", *(f"{data}.full.{way}.1" for data in ("mails", "posts") for way in ("random", "closest"))]
    assert all(len(list(found.records(name))) == 8 for name in sets[1:])


def test_hostile_names_can_be_read(tmp_path: Path) -> None:
    found = opened(hostile_run(tmp_path / "run"))
    assert not found.metadata.ctx.issues.errors
    assert len(found.metadata.record_sets) == 4
    assert len(list(found.records("1"))) == 400


def test_names_that_would_be_the_same_identifier_are_told_apart(tmp_path: Path) -> None:
    names = {"a b": "closest", "a*b": "closest", "a-b": "closest", "parts": "closest", "***": "closest"}
    folder = stress_folder(tmp_path / "run", splits=names)
    for name in names:
        write_split(split_of(name, "closest.v1"), folder / "splits" / f"{name}.csv")
    found = opened(folder)
    sets = {each.id: each.name for each in found.metadata.record_sets}
    assert sets == {"parts-": "parts-", "split": "***", "a-b": "a b", "a-b-2": "a*b", "a-b-3": "a-b", "parts": "parts"}
    assert all(len(list(found.records(name))) == 8 for name in sets if name != "parts-")
