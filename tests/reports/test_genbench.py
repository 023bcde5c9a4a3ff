"""The axes of GenBench are settled by the method, measured, or left to the author."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_run import split_of, stress_folder

from unseen.reports import genbench
from unseen.reports.facts import read_card_facts
from unseen.reports.split_card import write_cards
from unseen.store import read_json, write_json, write_measurements, write_split


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return stress_folder(tmp_path / "run")


def axes_of(folder: Path) -> dict[str, dict[str, tuple[str, str]]]:
    found = genbench.axes(read_card_facts(folder))
    return {
        family: {axis.name: (axis.value, axis.basis) for axis in axes}
        for families, axes in found.items()
        for family in families
    }


def test_axes_of_genbench(folder: Path) -> None:
    axes = axes_of(folder)
    assert axes["random"]["shift type"] == ("no shift", "by construction")
    assert axes["closest"] == {
        "motivation": ("practical", "to be stated by the author"),
        "generalisation type": ("robustness", "by construction"),
        "shift type": ("covariate, label shift not excluded", "measured"),
        "shift source": ("partitioned natural data", "by construction"),
        "shift locus": ("finetune train–test", "by construction"),
    }


def test_axes_that_the_method_does_not_settle_are_blank_and_listed(folder: Path) -> None:
    about = read_json(folder / "run.json")
    write_json(folder / "run.json", about | {"splits": {"theirs": "theirs"}, "settings": {}, "model": "their model"})
    write_split(split_of("theirs", "predefined.v1"), folder / "splits" / "theirs.csv")
    blank = ("", "to be stated by the author")
    axes = axes_of(folder)["theirs"]
    assert [axes[name] for name in ("generalisation type", "shift type", "shift source", "shift locus")] == [blank] * 4
    card = write_cards(folder)[0].read_text(encoding="utf-8")
    assert "\n17. GenBench shift source of theirs\n" in card
    assert "| shift locus | **not stated** | to be stated by the author |" in card


def test_a_shift_without_wrong_labels_is_covariate_and_a_changed_class_mix_is_said(folder: Path) -> None:
    write_measurements([], folder / "measurements.csv")
    write_split(split_of("closest", "closest.v1", got={"spam": 2, "ham": 0}), folder / "splits" / "closest.csv")
    facts = read_card_facts(folder)
    shift = genbench.axes(facts)[("closest",)][2]
    assert shift.value == "covariate"
    assert "but the class mix too: a label's share in the test part is at most 50 points" in shift.why
    assert "is not known" in shift.why
