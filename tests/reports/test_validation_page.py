"""The page of a validation study: verdict first, tables, and nothing in the data that could harm a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harmless import assert_harmless
from kind_folders import ENDS, validation, validation_rows
from kind_folders import validation_tags as tags

from unseen.reports.record import RunRecord, read_record
from unseen.runs.frame import report
from unseen.runs.validation.page import (
    capped_table,
    price_name,
    price_table,
    score_table,
    validation_verdict,
)
from unseen.store import write_measurements
from unseen.types import Finding, Measurement

HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return validation(tmp_path, HOSTILE)


def read(folder: Path) -> RunRecord:
    return read_record(folder, "validation")


def test_the_verdict_tells_the_claim_and_what_is_left(folder: Path) -> None:
    said = validation_verdict(read(folder))
    assert said.headline == (
        "trees: The published protocol says .93 (macro F1); on new authors the same model has .44 [.42, .46], "
        "49 points less [46, 52]."
    )
    assert said.sentences == [
        "plain: Random folds say .70 (macro F1); on new authors the same model has .69 [.67, .71], 1.0 points less "
        "[−2.0, 4.0], which may be chance."
    ]
    assert said.level == "warn"


@pytest.mark.parametrize(
    ("more", "level"),
    [
        ({"gates": [{"passed": False}]}, "fail"),
        ({"findings": [Finding("authors on both sides", "fail", "some", 3)]}, "fail"),
        ({"findings": [Finding("copied before the split", "fail", "as it was published", 3)]}, "warn"),
        ({"learners": {"plain": "model"}}, "ok"),
    ],
)
def test_what_decides_the_level(folder: Path, more: dict[str, Any], level: str) -> None:
    validation(folder, HOSTILE, **more)
    assert validation_verdict(read(folder)).level == level


def test_nothing_measured_is_said(folder: Path) -> None:
    validation(folder, HOSTILE, learners={"other": "model"})
    assert validation_verdict(read(folder)).headline == "Nothing could be measured."


def test_tables(folder: Path) -> None:
    run = read(folder)
    assert score_table(run).rows[2] == ("trees", "new authors", ".44 [.42, .46]", "–", "–", 90)
    assert len(score_table(run).rows) == 5
    assert price_table(run).rows[0] == (
        "trees", "the leak", "as published, leaking → corrected, random folds", "20 [17, 23]",
    )  # fmt: skip
    assert capped_table(run).rows == (("trees", "new authors", "5", ".40 [.30, .50]", 70),)


def test_copied_rows_are_scored_beside_the_published_score(folder: Path) -> None:
    once = Measurement("f1.macro", 0.90, 50, 0.88, 0.92, "once", tags("trees", "published") | {"seed": "mean"})
    price = Measurement(
        "fall.f1.macro", 0.46, 90, 0.4, 0.5, tags=tags("trees", "total") | ENDS["total"] | {"counted": "once"}
    )
    kept = [row for row in validation_rows() if row.tags["family"] != "total"]
    write_measurements([*kept, once, price], folder / "measurements.csv")
    run = read(folder)
    assert [row[1:3] for row in score_table(run).rows[:2]] == [
        ("as published, leaking", ".93 [.91, .95]"),
        ("as published, each text once, classes as in the data", ".90 [.88, .92]"),
    ]
    assert price_table(run).rows[1] == (
        "trees", "leak and known authors together",
        "as published, each text once, classes as in the data → new authors", "46 [40, 50]",
    )  # fmt: skip
    assert validation_verdict(run).headline == (
        "trees: The published protocol says .93 (macro F1), .90 with each text once and the data's class mix; on new "
        "authors the same model has .44 [.42, .46], 46 points less than that [40, 50]."
    )


@pytest.mark.parametrize(
    ("price", "before", "name"),
    [
        ("capped-5", "thinned-5", "the cap of 5"),
        ("enriched", "capped-5", "enriching"),
        ("enriched", "authors", "the cap of 5 and enriching"),
        ("foreign-enriched", "foreign", "the cap of 5 and enriching, on another dataset"),
    ],
)
def test_a_price_is_named_after_all_that_differs(folder: Path, price: str, before: str, name: str) -> None:
    row = Measurement("fall.f1.macro", 0.1, 90, tags=tags("plain", price) | {"from": before, "to": price})
    write_measurements([row], folder / "measurements.csv")
    ((_, said, ends, _),) = price_table(read(folder)).rows
    assert said == name
    assert ("random texts left out, as many as the cap of 5 does" in str(ends)) == (before == "thinned-5")


def test_without_a_cap_enriching_is_all_that_differs(folder: Path) -> None:
    validation(folder, HOSTILE, protocols=["authors", "enriched"])
    assert price_name(read(folder), "enriched", "authors") == "enriching"


def test_the_page_is_harmless_and_shows_every_name(folder: Path) -> None:
    result = report(folder)
    page = folder / "report.html"
    content = page.read_text(encoding="utf-8")
    assert_harmless(page, HOSTILE)
    assert content.count("&lt;img") == 4  # title twice, a finding, the study file
    assert content.index(result.verdict.headline.partition(" [")[0]) < content.index("Scores")
    assert [*result.tables] == ["scores", "prices", "capped-tests"]
    assert "5 folds, 2 seeds; every seed draws its own folds." in content
