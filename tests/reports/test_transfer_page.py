"""The page of a transfer: what it says of its numbers."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from kind_folders import OWN_SCORES, number, transfer

from unseen.reports.record import read_record
from unseen.runs.frame import report
from unseen.runs.transfer import ALL, OTHERS, OWN
from unseen.runs.transfer_page import (
    TransferRun,
    badge,
    matrix_table,
    same_test_table,
    same_training_table,
    transfer_verdict,
)
from unseen.store import write_findings, write_measurements
from unseen.types import Finding


def read(folder: Path) -> TransferRun:
    return TransferRun(read_record(folder, "transfer"))


def test_the_verdict_comes_first_and_says_what_was_measured(tmp_path: Path) -> None:
    result = report(transfer(tmp_path))
    page, said = tmp_path / "report.html", result.verdict
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
    order = ("falls by 18", "<h2>Trained on each", "<h2>Falls", "<h2>Each label", "<h2>Was it seen", "<h2>Data and")
    places = [content.index(each) for each in order]
    assert places == sorted(places)


def changed(folder: Path, sign: float, wide: float) -> TransferRun:
    """The run with every fall times `sign`, its interval so wide to either side, and nothing seen in training."""
    write_findings([Finding("overlap[red → blue]", "ok", "None.")], folder / "findings.csv")
    run = read(folder)
    rows = [
        replace(row, value=sign * row.value, low=sign * row.value - wide, high=sign * row.value + wide)
        if row.metric.startswith("fall.") and row.value is not None else row
        for row in run.record.measurements
    ]  # fmt: skip
    return TransferRun(replace(run.record, measurements=rows))


def test_a_fall_that_may_be_chance_is_no_fall(tmp_path: Path) -> None:
    run = changed(transfer(tmp_path), 1.0, 0.5)
    said = transfer_verdict(run)
    assert (badge(run), said.level, said.headline) == (
        "no clear fall", "ok", "Trained elsewhere, macro F1 does not clearly fall: by 18 [−32, 68] points on average.",
    )  # fmt: skip
    assert "more than chance" not in str(said)


def test_a_clear_fall_of_one_pair_is_no_green_badge(tmp_path: Path) -> None:
    run = read(transfer(tmp_path, low=-0.01))
    said = transfer_verdict(run)
    assert (badge(run), said.level) == ("some fall", "warn")
    assert said.headline == "Trained elsewhere, macro F1 does not clearly fall: by 18 [−1.0, 23] points on average."
    assert said.sentences[0] == "2 of 2 fall by more than chance: red → blue, blue → red."


def test_texts_that_were_seen_are_no_green_badge(tmp_path: Path) -> None:
    run = changed(transfer(tmp_path), 1.0, 0.5)
    seen = TransferRun(replace(run.record, findings=[Finding("overlap[red → blue]", "fail", "12 texts.", 12)]))
    assert (badge(seen), transfer_verdict(seen).level) == ("look closer", "warn")


def test_a_negative_fall_is_a_rise(tmp_path: Path) -> None:
    run = changed(transfer(tmp_path), -1.0, 0.03)
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
    run = read(transfer(tmp_path))
    rows = [row for row in run.record.measurements if (row.metric, row.tags["train"]) != ("accuracy", "majority")]
    for test in OWN_SCORES:
        rows.append(number("accuracy", 0.55, train="majority", test=test, seed="mean"))
    write_measurements(rows, tmp_path / "measurements.csv")
    said = transfer_verdict(read(tmp_path)).sentences
    wanted = (
        "1 of 2 are right no more often than always giving the most frequent label: red → blue. "
        "Of those trained on the tested dataset itself, it is 0 of 2."
    )
    assert wanted in said


def test_tables_have_the_numbers_of_their_places(tmp_path: Path) -> None:
    run = read(transfer(tmp_path))
    matrix = {str(line[0]): line for line in matrix_table(run, "f1.macro").rows}
    assert matrix["red"][2:4] == (".80 [.75, .85]", ".50 [.45, .55]")
    assert matrix["majority"][2:4] == (".40 [.35, .45]", ".45 [.40, .50]")
    falls = {str(line[0]): line for line in same_test_table(run).rows}
    assert falls["red"][1:3] == ("–", "20 [15, 25]")
    assert falls[OTHERS][-1] == "18 [13, 23]"
    assert same_training_table(run).rows[0] == ("red", "–", "30 [25, 35]")


def test_files_are_written_for_other_programs(tmp_path: Path) -> None:
    report(transfer(tmp_path))
    names = {each.stem for each in (tmp_path / "tables").iterdir()}
    assert {"matrix-f1.macro", "matrix-f1_yes_", "falls-same-test", "overlap", "without-overlap", "labels"} <= names
    assert {each.suffix for each in (tmp_path / "tables").iterdir()} == {".csv", ".md", ".tex"}
    with (tmp_path / "tables" / "labels.csv").open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file))[1:] == [
            ["red", "fine", "no"], ["red", "odd", "left out (7 texts)"], ["blue", "every label", "the same"],
        ]  # fmt: skip


def test_the_mean_of_a_set_is_told_whatever_its_name(tmp_path: Path) -> None:
    run = read(transfer(tmp_path, name="unmerged"))
    means = {"unmerged": (OTHERS, 0.5), "unmerged capped": (OTHERS, 0.55), "merged": (ALL, 0.74)}
    rows = [number("f1.macro", value, train=train, test=test) for train, (test, value) in means.items()]
    rows += [number("fall.f1.macro", value, train=train, test=test, than_train=OWN, than_test=test)
             for train, (test, value) in means.items() if train != "merged"]  # fmt: skip
    write_measurements([*run.record.measurements, *rows], tmp_path / "measurements.csv")
    run = read(tmp_path)
    cells = {str(line[0]): str(line[-1]) for line in matrix_table(run, "f1.macro").rows}
    assert [cells[train][:3] for train in means] == [".50", ".55", ".74"]
    falls = {str(line[0]): str(line[-1]) for line in same_test_table(run).rows}
    assert [falls[train].split()[0] for train in means] == ["50", "55", "1.0"]
