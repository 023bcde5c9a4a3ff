"""The page of a transfer: from the files alone, verdict first, escaped, and readable on a telephone."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import browser
import pytest
from harmless import EVIL, assert_fits_and_runs_nothing, assert_harmless

from unseen.errors import InputError
from unseen.reports.kinds import kind_of
from unseen.reports.transfer import ALL, OTHERS, OWN, WITHOUT, TransferRun, badge, read_transfer_run, transfer_verdict
from unseen.reports.transfer_page import matrix_table, same_test_table, same_training_table, write_transfer_page
from unseen.store import read_json, write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement

browse, probe = browser.browse, browser.probe
SCORES = {
    ("red", "red"): 0.80,
    ("red", "blue"): 0.50,
    ("blue", "blue"): 0.70,
    ("blue", "red"): 0.64,
    ("merged", "red"): 0.78,
    ("merged", "blue"): 0.70,
    ("red capped", "red"): 0.75,
    ("red capped", "blue"): 0.55,
    ("majority", "red"): 0.40,
    ("majority", "blue"): 0.45,
}
OWN_SCORES = {"red": 0.80, "blue": 0.70}


def number(metric: str, value: float, where: str = "all", **tags: str) -> Measurement:
    return Measurement(metric, value, 100, value - 0.05, value + 0.05, where, tags)


def measured(low: float) -> list[Measurement]:
    rows = [
        number(metric, value, train=train, test=test, seed="mean")
        for (train, test), value in SCORES.items()
        for metric in ("f1.macro", "accuracy", "f1[no]", "f1[yes]")
    ]
    for (train, test), value in SCORES.items():
        if train not in (test, "majority"):
            rows.append(
                number(
                    "fall.f1.macro", OWN_SCORES[test] - value, train=train, test=test, than_train=test, than_test=test
                )
            )
    rows += [
        number("fall.f1.macro", 0.30, train="red", test="blue", than_train="red", than_test="red"),
        number("fall.f1.macro", -0.05, train="red capped", test="blue", than_train="red", than_test="blue"),
        number("fall.f1.macro", 0.01, train="merged", test=ALL, than_train=OWN, than_test=ALL),
        number("fall.f1[yes]", 0.25, train=OTHERS, test=OTHERS, than_train=OWN, than_test=OTHERS),
        Measurement(
            "fall.f1.macro", 0.18, 200, low, 0.23, "all",
            {"train": OTHERS, "test": OTHERS, "than_train": OWN, "than_test": OTHERS},
        ),
        number("fall.f1.macro", 0.12, WITHOUT, train=OTHERS, test=OTHERS, than_train=OWN, than_test=OTHERS),
        number("f1.macro", 0.49, WITHOUT, train="red", test="blue"),
        number("overlap.near", 0.12, train="red", test="blue"),
        number("overlap.conflict", 0.03, train="red", test="blue"),
    ]  # fmt: skip
    return rows


def written(folder: Path, low: float = 0.13, name: str = "red") -> Path:
    """A run folder with numbers of our own; `name` stands for the first dataset."""
    counts = {part: {"no": 60, "yes": 40} for part in ("train", "dev", "test")}
    data = {"source": "x.csv", "rows": 300, "left_out": {"odd": 7}, "groups": None, "split": None, "counts": counts}
    made_of = {name: [name], "blue": ["blue"], "merged": [name, "blue"]}
    sets = {each: {"of": of, "rows": 100, "dev": 10, "uncapped": None, "counts": {}} for each, of in made_of.items()}
    sets[f"{name} capped"] = sets[name] | {"uncapped": name}
    about = {
        "kind": "transfer", "command": "unseen transfer", "model": "logistic",
        "settings": {"labels": ["no", "yes"], "positive": "yes", "seeds": 3, "matched": False},
        "datasets": {name: data | {"map": {"fine": "no", "odd": "drop"}}, "blue": data | {"map": {}, "groups": "user"}},
        "training_sets": sets, "versions": {}, "timings": [{"step": "train", "seconds": 3.0}],
        "finished": "2026-01-02T03:04:05+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about)
    rows = [
        Measurement(row.metric, row.value, row.n, row.low, row.high, row.slice,
                    {tag: str(value).replace("red", name) for tag, value in row.tags.items()})
        for row in measured(low)
    ]  # fmt: skip
    write_measurements(rows, folder / "measurements.csv")
    found = Finding(f"overlap[{name} → blue]", "fail", f"12 test texts of blue are in {name}.", 12, (f"blue/{name}",))
    write_findings([found], folder / "findings.csv")
    return folder


def test_the_verdict_comes_first_and_says_what_was_measured(tmp_path: Path) -> None:
    page, said = write_transfer_page(written(tmp_path))
    assert said.level == "warn"
    assert said.headline == "Trained elsewhere, macro F1 falls by 18 [13, 23] points on average."
    assert said.sentences == [
        "Worst: on blue, .70 [.65, .75] when trained on its own texts and .50 [.45, .55] when trained on red, "
        "a fall of 20 [15, 25] points.",
        "F1 of “yes” falls by 25 [20, 30] points on average.",
        "A model trained on all together is neither clearly better nor worse than those trained on each dataset's own "
        "texts: macro F1 falls by 1.0 [−4.0, 6.0] points on average.",
        "Capping red changes macro F1 elsewhere, in points: blue 5.0.",
        "Test texts stand in training data for 1 of 4 pairs, at most 12 % (red → blue).",
        "Without such texts the mean fall is 12 [7.0, 17] points.",
    ]
    content = page.read_text(encoding="utf-8")
    places = [content.index(said) for said in ("falls by 18", "1. Trained on each", "2. Falls", "4. Was it seen")]
    assert places == sorted(places)


def changed(folder: Path, sign: float, wide: float) -> TransferRun:
    """The run with every fall times `sign`, its interval so wide to either side, and nothing seen in training."""
    write_findings([Finding("overlap[red → blue]", "ok", "None.")], folder / "findings.csv")
    run = read_transfer_run(folder)
    rows = [
        replace(row, value=sign * row.value, low=sign * row.value - wide, high=sign * row.value + wide)
        if row.metric.startswith("fall.") and row.value is not None else row
        for row in run.measurements
    ]  # fmt: skip
    return replace(run, measurements=rows)


def test_a_fall_that_may_be_chance_is_no_fall(tmp_path: Path) -> None:
    run = changed(written(tmp_path), 1.0, 0.5)
    said = transfer_verdict(run)
    assert (badge(run), said.level, said.headline) == (
        "no clear fall", "ok", "Trained elsewhere, macro F1 does not clearly fall: by 18 [−32, 68] points on average.",
    )  # fmt: skip
    assert "more than chance" not in str(said)


def test_a_clear_fall_of_one_pair_is_no_green_badge(tmp_path: Path) -> None:
    run = read_transfer_run(written(tmp_path, low=-0.01))
    said = transfer_verdict(run)
    assert (badge(run), said.level) == ("some fall", "warn")
    assert said.headline == "Trained elsewhere, macro F1 does not clearly fall: by 18 [−1.0, 23] points on average."
    assert said.sentences[0] == "2 of 2 fall by more than chance: red → blue, blue → red."


def test_texts_that_were_seen_are_no_green_badge(tmp_path: Path) -> None:
    run = changed(written(tmp_path), 1.0, 0.5)
    seen = replace(run, findings=[Finding("overlap[red → blue]", "fail", "12 texts.", 12)])
    assert (badge(seen), transfer_verdict(seen).level) == ("look closer", "warn")


def test_a_negative_fall_is_a_rise(tmp_path: Path) -> None:
    run = changed(written(tmp_path), -1.0, 0.03)
    said = transfer_verdict(run)
    assert (said.level, said.headline) == (
        "ok", "Trained elsewhere, macro F1 rises by 18 [15, 21] points on average.",
    )  # fmt: skip
    assert "a rise of 16 [13, 19] points" in said.sentences[0]
    assert "F1 of “yes” rises by 25 [22, 28] points on average." in said.sentences
    assert said.sentences[2].endswith("texts: macro F1 rises by 1.0 [−2.0, 4.0] points on average.")
    assert said.sentences[-1] == "Without such texts the mean rise is 12 [9.0, 15] points."
    assert transfer_verdict(changed(tmp_path, -1.0, 0.5)).headline == (
        "Trained elsewhere, macro F1 does not clearly rise: by 18 [−32, 68] points on average."
    )


def test_models_below_the_majority_are_named(tmp_path: Path) -> None:
    run = read_transfer_run(written(tmp_path))
    rows = [row for row in run.measurements if not (row.metric == "accuracy" and row.tags["train"] == "majority")]
    for test in OWN_SCORES:
        rows.append(number("accuracy", 0.55, train="majority", test=test, seed="mean"))
    write_measurements(rows, tmp_path / "measurements.csv")
    said = transfer_verdict(read_transfer_run(tmp_path)).sentences
    wanted = (
        "1 of 2 are right no more often than always giving the most frequent label: red → blue. "
        "Of those trained on the tested dataset itself, it is 0 of 2."
    )
    assert wanted in said


def test_tables_have_the_numbers_of_their_places(tmp_path: Path) -> None:
    run = read_transfer_run(written(tmp_path))
    matrix = {str(line[0]): line for line in matrix_table(run, "f1.macro").rows}
    assert matrix["red"][2:4] == (".80 [.75, .85]", ".50 [.45, .55]")
    assert matrix["majority"][2:4] == (".40 [.35, .45]", ".45 [.40, .50]")
    falls = {str(line[0]): line for line in same_test_table(run).rows}
    assert falls["red"][1:3] == ("–", "20 [15, 25]")
    assert falls[OTHERS][-1] == "18 [13, 23]"
    assert same_training_table(run).rows[0] == ("red", "–", "30 [25, 35]")


def test_files_are_written_for_other_programs(tmp_path: Path) -> None:
    write_transfer_page(written(tmp_path))
    names = {each.stem for each in (tmp_path / "tables").iterdir()}
    assert {"matrix-f1.macro", "matrix-f1_yes_", "falls-same-test", "overlap", "without-overlap", "labels"} <= names
    assert {each.suffix for each in (tmp_path / "tables").iterdir()} == {".csv", ".md", ".tex"}
    with (tmp_path / "tables" / "labels.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [
            ["red", "fine", "no"], ["red", "odd", "left out (7 texts)"], ["blue", "every label", "the same"],
        ]  # fmt: skip


def test_the_mean_of_a_set_is_told_whatever_its_name(tmp_path: Path) -> None:
    run = read_transfer_run(written(tmp_path, name="unmerged"))
    means = {"unmerged": (OTHERS, 0.5), "unmerged capped": (OTHERS, 0.55), "merged": (ALL, 0.74)}
    rows = [number("f1.macro", value, train=train, test=test) for train, (test, value) in means.items()]
    rows += [number("fall.f1.macro", value, train=train, test=test, than_train=OWN, than_test=test)
             for train, (test, value) in means.items() if train != "merged"]  # fmt: skip
    write_measurements([*run.measurements, *rows], tmp_path / "measurements.csv")
    run = read_transfer_run(tmp_path)
    cells = {str(line[0]): str(line[-1]) for line in matrix_table(run, "f1.macro").rows}
    assert [cells[train][:3] for train in means] == [".50", ".55", ".74"]
    falls = {str(line[0]): str(line[-1]) for line in same_test_table(run).rows}
    assert [falls[train].split()[0] for train in means] == ["50", "55", "1.0"]


def test_the_same_folder_gives_the_same_page(tmp_path: Path) -> None:
    page, _ = write_transfer_page(written(tmp_path))
    before = page.read_bytes()
    assert write_transfer_page(tmp_path)[0].read_bytes() == before


def test_other_folders_are_refused(tmp_path: Path) -> None:
    assert kind_of(written(tmp_path)) == "transfer"
    about = read_json(tmp_path / "run.json")
    write_json(tmp_path / "run.json", {key: value for key, value in about.items() if key != "datasets"})
    with pytest.raises(InputError, match="is damaged"):
        read_transfer_run(tmp_path)
    write_json(tmp_path / "run.json", about | {"kind": "check"})
    with pytest.raises(InputError, match="is not a transfer"):
        read_transfer_run(tmp_path)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """The same run with a name that wants to run."""
    return write_transfer_page(written(tmp_path, name=EVIL))[0]


def test_nothing_in_a_run_becomes_markup(hostile: Path) -> None:
    assert_harmless(hostile)


@pytest.mark.browser
@pytest.mark.skipif(not browser.CHROMIUM.exists(), reason="no browser: chromium is missing")
def test_it_fits_a_telephone_and_runs_nothing(hostile: Path, probe: Callable[..., dict[str, Any]]) -> None:
    found = probe(hostile.read_text(encoding="utf-8"), browser.PHONE)
    assert_fits_and_runs_nothing(found)
