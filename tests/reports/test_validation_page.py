"""The page of a validation study: verdict first, tables, and nothing in the data that could harm a reader."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from harmless import assert_harmless

from unseen.errors import InputError
from unseen.reports.validation_page import (
    capped_table,
    price_name,
    price_table,
    read_validation_run,
    score_table,
    validation_verdict,
    write_validation_page,
)
from unseen.store import write_findings, write_json, write_measurements
from unseen.types import Finding, Measurement

HOSTILE = "<img src=x onerror=alert(1)>"
SCORES = {
    ("trees", "published"): 0.93, ("trees", "random"): 0.73, ("trees", "authors"): 0.44, ("plain", "random"): 0.70,
    ("plain", "authors"): 0.69,
}  # fmt: skip
PRICES = {("trees", "leak"): 0.2, ("trees", "total"): 0.49, ("plain", "authors"): 0.01}
ENDS = {
    "leak": {"from": "published", "to": "random"}, "total": {"from": "published", "to": "authors"},
    "authors": {"from": "random", "to": "authors"},
}  # fmt: skip


def measured() -> list[Measurement]:
    rows = [
        Measurement("f1.macro", value, 90, value - 0.02, value + 0.02, tags=tags(model, family) | {"seed": "mean"})
        for (model, family), value in SCORES.items()
    ]
    rows += [Measurement("f1.macro", 0.5, 90, tags=tags("trees", "authors") | {"split": "authors", "seed": 1})]
    rows += [
        Measurement("fall.f1.macro", value, 90, value - 0.03, value + 0.03, tags=tags(model, price) | ENDS[price])
        for (model, price), value in PRICES.items()
    ]
    return [*rows, Measurement("f1.macro", 0.4, 70, 0.3, 0.5, "cap=5", tags("trees", "authors"))]


def tags(model: str, family: str) -> dict[str, Any]:
    return {"data": "posts", "model": model, "family": family, "part": "test"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path)
    return tmp_path


def write(folder: Path, **more: Any) -> None:
    write_measurements(measured(), folder / "measurements.csv")
    found = [Finding("authors on both sides", "ok", "none", 0), Finding("copies", "warn", HOSTILE, 1, ("p1",), "look")]
    write_findings([*found, *more.pop("findings", [])], folder / "findings.csv")
    about: dict[str, Any] = {
        "kind": "validation", "title": HOSTILE, "command": "unseen run", "failures": {}, "gates": [], "versions": {},
        "settings": {"metric": "f1.macro", "seeds": [1, 2], "folds": 5, "file": "</pre>" + HOSTILE},
        "data": {
            "name": "posts", "rows": 90, "label_names": ["no", "yes"], "counts": {"no": 50, "yes": 40}, "authors": 12,
            "added": 0, "foreign": 0,
        },
        "learners": {"trees": "pipeline", "plain": "model"},
        "protocols": ["published", "random", "authors", "capped-5"],
        "prices": ["leak", "total", "authors", "capped-5", "enriched", "foreign-enriched"],
        "timings": [{"step": "a", "seconds": 2.5}], "finished": "2026-11-01T00:00:00+00:00",
    }  # fmt: skip
    write_json(folder / "run.json", about | more)


def test_the_verdict_tells_the_claim_and_what_is_left(folder: Path) -> None:
    said = validation_verdict(read_validation_run(folder))
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
    write(folder, **more)
    assert validation_verdict(read_validation_run(folder)).level == level


def test_nothing_measured_is_said(folder: Path) -> None:
    write(folder, learners={"other": "model"})
    assert validation_verdict(read_validation_run(folder)).headline == "Nothing could be measured."


def test_tables(folder: Path) -> None:
    run = read_validation_run(folder)
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
    kept = [row for row in measured() if row.tags["family"] != "total"]
    write_measurements([*kept, once, price], folder / "measurements.csv")
    run = read_validation_run(folder)
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
    ((_, said, ends, _),) = price_table(read_validation_run(folder)).rows
    assert said == name
    assert ("random texts left out, as many as the cap of 5 does" in str(ends)) == (before == "thinned-5")


def test_without_a_cap_enriching_is_all_that_differs(folder: Path) -> None:
    write(folder, protocols=["authors", "enriched"])
    assert price_name(read_validation_run(folder), "enriched", "authors") == "enriching"


def test_the_page_is_harmless_and_the_same_each_time(folder: Path) -> None:
    page, said = write_validation_page(folder)
    content = page.read_text()
    assert_harmless(page, HOSTILE)
    assert content.count("&lt;img") == 4  # title twice, a finding, the study file
    assert content.index(said.headline.partition(" [")[0]) < content.index("Scores")
    assert {each.name for each in (folder / "tables").iterdir()} == {
        f"{name}.{suffix}" for name in ("scores", "prices", "capped-tests") for suffix in ("csv", "md", "tex")
    }
    assert write_validation_page(folder)[0].read_text() == content


def test_other_folders_are_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "run.json", {"kind": "check"})
    with pytest.raises(InputError, match="does not hold a validation study"):
        write_validation_page(tmp_path)
