"""The sentences and tables of a comparison say what the numbers are."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from kind_folders import price_rows, write_run
from scipy.stats import ttest_rel

from two_runs import BETTER, HARD, LETTERS, RANDOM, run_folder, trainings, two_runs
from unseen.reports.comparison import compare_runs
from unseen.reports.comparison_text import (
    changes,
    differences_table,
    falls_table,
    findings_table,
    headline,
    remarks,
    tables,
    warnings,
)
from unseen.types import Finding, Measurement


def of_kind(folder: Path, kind: str, a, b, **options):
    """Two runs of a kind without single trainings, with these rows."""
    for name, rows in (("a", a), ("b", b)):
        (folder / name).mkdir(parents=True)
        write_run(folder / name, {"kind": kind, "settings": {}, "versions": {}}, rows)
    return compare_runs(folder / "a", folder / "b", **options)


def compared(folder: Path, a, b, **options):
    return compare_runs(run_folder(folder / "a", {}, a), run_folder(folder / "b", {}, b), **options)


def test_better_first_then_what_is_not_clear(tmp_path: Path) -> None:
    said = headline(compare_runs(*two_runs(tmp_path)))
    ends = ttest_rel(BETTER, HARD).confidence_interval(0.95)
    low, high = (f"{100 * end:.1f}" for end in (ends.low, ends.high))
    assert said.startswith(f"B is better on closest by 4.3 points [{low}, {high}] over 3 pairs; no clear change on ")
    assert said.endswith("random (B − A 0 points [−2.5, 2.5] over 3 pairs) (macro F1, test part).")


def test_worse_is_said_by_its_size_with_turned_bounds(tmp_path: Path) -> None:
    said = headline(compared(tmp_path, trainings("closest", BETTER), trainings("closest", HARD)))
    ends = ttest_rel(BETTER, HARD).confidence_interval(0.95)
    low, high = (f"{100 * end:.1f}" for end in (ends.low, ends.high))
    assert said == f"B is worse on closest by 4.3 points [{low}, {high}] over 3 pairs (macro F1, test part)."


def test_less_log_loss_is_better(tmp_path: Path) -> None:
    a, b = trainings("closest", [0.7], "log_loss"), trainings("closest", [0.5], "log_loss")
    said = headline(compared(tmp_path, a, b, metrics=["log_loss"]))
    assert said == "B is better on closest by .20 in 1 pair (too few for an interval) (log loss, test part)."


def test_pairs_that_do_not_vary(tmp_path: Path) -> None:
    a, b = trainings("closest", [0.1, 0.2, 0.3]), trainings("closest", [0.2, 0.3, 0.4])
    assert "by 10 points in 3 pairs (they do not vary, so no interval)" in headline(compared(tmp_path, a, b))


def test_no_change_and_no_pair(tmp_path: Path) -> None:
    rows = trainings("closest", HARD)
    assert headline(compared(tmp_path / "x", rows, rows)) == "No change at all on closest (macro F1, test part)."
    found = compared(tmp_path / "y", rows, trainings("closest", HARD, seeds=(1, 2, 3)))
    assert headline(found) == "A and B have no training in common (macro F1, test part)."
    assert warnings(found) == ["not compared, because A and B have no split and seed in common: closest"]


def test_many_groups_are_counted(tmp_path: Path) -> None:
    a, b = (
        [row for each in range(8) for row in trainings("closest", values, data=f"d{each}")] for values in (HARD, BETTER)
    )
    assert headline(compared(tmp_path, a, b)) == "B is better in 8 of 8 groups (macro F1, test part)."


def test_groups_of_one_family_are_told_apart(tmp_path: Path) -> None:
    a, b = (
        [row for each in ("mails", "posts") for row in trainings("closest", values, data=each)]
        for values in (HARD, BETTER)
    )
    found = compared(tmp_path, a, b)
    assert "on closest (mails) by" in headline(found)
    assert "on closest (posts) by" in headline(found)
    assert differences_table(found).columns[:3] == ("family", "data", "part")


def test_how_trainings_were_paired(tmp_path: Path) -> None:
    b = trainings("closest", BETTER, seeds=(42, 7, 83), model="neural")
    assert remarks(compared(tmp_path, trainings("closest", HARD), b)) == [
        "Paired by family, split, seed.",
        "The model is not the same: minilm in A, neural in B.",
        "Seeds of A: 42, 55, 83; of B: 7, 42, 83. Only those of both make pairs.",
        "Same test rows on closest.",
    ]


def test_other_rows_and_families_without_a_pair_are_warned_of(tmp_path: Path) -> None:
    a = run_folder(tmp_path / "a", {}, [*trainings("random", RANDOM), *trainings("closest", HARD)])
    rows = [*trainings("closest", BETTER), *trainings("length", BETTER)]
    b = run_folder(tmp_path / "b", {}, rows, letters=LETTERS | {"closest": "RRTTRDII"})
    assert warnings(compare_runs(a, b)) == [
        "test rows differ on closest; the difference is of the texts as well",
        "only in A: random",
        "only in B: length",
    ]


def test_a_metric_that_only_one_run_has_is_named(tmp_path: Path) -> None:
    more = [*trainings("closest", BETTER, "ece.15"), *(replace(row, slice="x=1") for row in trainings("closest", HARD))]
    found = compared(tmp_path, trainings("closest", HARD), [*trainings("closest", BETTER), *more], everything=True)
    assert warnings(found) == ["only in B: ece.15 on closest, x=1 on closest"]


def test_the_sentence_itself_says_that_rows_are_other_ones(tmp_path: Path) -> None:
    said = headline(compare_runs(*two_runs(tmp_path, letters=LETTERS | {"closest": "RRTTRDII"})))
    assert re.match(r"B is better on closest by 4.3 points \[.*\] over 3 pairs, other test rows; no clear", said)
    assert said.count("other") == 1


def test_changes_are_a_line_each(tmp_path: Path) -> None:
    found = compare_runs(*two_runs(tmp_path, data="def", groups="author"))
    assert changes(found) == [
        "groups: – → author",
        "data: mails, 8 rows, abc… → mails, 8 rows, def…",
        "split random: of other data",
        "split closest: of other data",
    ]  # fmt: skip


def test_a_long_setting_is_one_short_line(tmp_path: Path) -> None:
    (line,) = changes(compare_runs(*two_runs(tmp_path, file="a\n" * 90)))
    assert line == f"file: – → {'a ' * 15}…{' a' * 14} "


def test_tables_hold_rounded_or_exact_numbers(tmp_path: Path) -> None:
    found = compare_runs(*two_runs(tmp_path))
    row = differences_table(found).rows[1]
    assert (*row[:6], *row[7:]) == ("closest", "test", "f1.macro", ".510", ".553", ".043", 3, "same")
    exact = differences_table(found, exact=True)
    assert exact.columns[-4:] == ("low", "high", "pairs", "rows")
    assert exact.rows[1][5] == pytest.approx(sum(BETTER) / 3 - sum(HARD) / 3, abs=1e-15)
    assert falls_table(found).rows == (("closest", "f1.macro", "30 [25, 35]", "26 [21, 31]", "−4.3"),)


def test_prices_of_other_repeats_are_compared_and_told_apart(tmp_path: Path) -> None:
    a, b = (price_rows("near", p=p, removals=removals) for p, removals in ((0.047619047619047616, 20), (1 / 6, 5)))
    found = of_kind(tmp_path, "price", a, b)
    table = falls_table(found)
    assert table.columns == ("side", "metric", "fall in A", "fall in B", "B − A")
    assert [row[0] for row in table.rows] == ["test", "train"]
    table = differences_table(found)
    assert table.columns == ("side", "rows", "removed", "metric", "A", "B", "B − A")
    scores = [row[1] for row in table.rows if row[3] == "f1.macro"]
    assert scores == ["all", "leaked", "unleaked", "random", "all", "all"]
    assert "rows=all & side=train & removed=leaked" in headline(found)
    assert len(set(table.rows)) == len(table.rows)


def test_falls_of_slices_are_told_apart(tmp_path: Path) -> None:
    rows = [Measurement("fall.f1.macro", 0.1, 9, slice=where) for where in ("all", "x=1")]
    found = of_kind(
        tmp_path, "transfer", [Measurement("f1.macro", 0.5, 9), *rows], [Measurement("f1.macro", 0.5, 9), *rows]
    )
    assert [row[:2] for row in falls_table(found).rows] == [("f1.macro", "all"), ("f1.macro", "x=1")]


@pytest.mark.parametrize(
    ("tags", "about"), [({}, "(macro F1)."), ({"part": "test", "split": "mine"}, "(macro F1, test part).")]
)
def test_a_kind_without_trainings_is_said_to_have_none(tmp_path: Path, tags, about: str) -> None:
    rows = [Measurement("f1.macro", 0.5, 9, tags=tags)]
    found = of_kind(tmp_path / "same", "audit", rows, rows)
    assert headline(found) == f"No change at all {about}"
    assert (remarks(found), warnings(found)) == ([], [])
    assert not {"family", "95 % interval", "pairs", "rows"} & {*differences_table(found).columns}
    assert not {"low", "high", "pairs", "rows"} & {*differences_table(found, exact=True).columns}
    better = of_kind(tmp_path / "better", "audit", rows, [replace(row, value=0.6) for row in rows])
    assert headline(better) == f"B is better by 10 points {about}"
    assert headline(of_kind(tmp_path / "none", "audit", rows, [replace(rows[0], slice="x=1")])) == (
        f"A and B have no number in common {about}"
    )


def test_pairs_of_a_suite_are_told_apart(tmp_path: Path) -> None:
    rows = [Measurement("pair_accuracy", 0.5, 9, tags={"pairs": kind}) for kind in ("contrast", "alteration")]
    found = of_kind(tmp_path, "check", rows, rows)
    assert headline(found) == "No change at all on contrast, alteration (pair accuracy)."
    assert [row[0] for row in differences_table(found).rows] == ["contrast", "alteration"]


def test_counts_are_written_as_counts_and_long_tags_short(tmp_path: Path) -> None:
    lorenz = {"authors": 0.09090909090909091}
    a, b = (
        [Measurement("authors.count", count, 9), Measurement("author_lorenz", 0.5, 9, tags=lorenz)]
        for count in (615.0, 1640.0)
    )
    found = of_kind(tmp_path, "audit", a, b)
    assert headline(found) == "B is higher (615 → 1,640) (count authors)."
    assert differences_table(found).rows == (
        ("", "authors.count", "615", "1,640", "1,025"),
        (".091", "author_lorenz", ".500", ".500", ".000"),
    )


def test_a_number_that_only_one_run_has_is_named_by_what_tells_it_from_those_of_both(tmp_path: Path) -> None:
    both, more = (
        [Measurement("f1.macro", 0.5, 9, tags={"transformation": name, "side": side}) for side in ("original", "new")]
        for name in ("lower", "swap")
    )
    found = of_kind(tmp_path, "invariance", both, [*both, *more])
    assert headline(found) == (
        "No change at all on side=original & transformation=lower, side=new & transformation=lower (macro F1)."
    )
    assert warnings(found) == ["only in B: side=original & transformation=swap, side=new & transformation=swap"]
    assert differences_table(found).columns[:2] == ("side", "transformation")


def test_all_numbers_of_a_run_without_trainings_stand_in_the_table(tmp_path: Path) -> None:
    rows = [
        Measurement(metric, 0.5, 9, tags={"model": model})
        for metric in ("f1.macro", "latency.p50")
        for model in ("svm", "minilm")
    ]
    found = of_kind(tmp_path, "cost", rows, rows)
    assert headline(found) == "No change at all on svm, minilm (macro F1)."
    table = differences_table(found)
    assert table.columns[:2] == ("model", "metric")
    assert len(table.rows) == 4


def test_the_only_model_of_each_run_is_one_thing(tmp_path: Path) -> None:
    a, b = ([Measurement("pass_rate", value, 9, tags={"model": name})] for name, value in (("old", 0.5), ("new", 0.6)))
    found = of_kind(tmp_path, "check", a, b)
    assert headline(found) == "B is better by 10 points (pass rate)."
    assert remarks(found) == ["The model is not the same: old in A, new in B."]
    assert warnings(found) == []


def test_findings_are_new_gone_or_of_another_level(tmp_path: Path) -> None:
    both = {"sizes": "ok"}
    levels = {"a": both | {"author": "fail", "near": "warn"}, "b": both | {"author": "ok", "time": "warn"}}
    for name, of_run in levels.items():
        (tmp_path / name).mkdir()
        findings = [Finding(check, level, f"{check} is {level}") for check, level in of_run.items()]
        write_run(tmp_path / name, {"kind": "audit"}, [Measurement("leaked.near", 0.1, 9)], findings)
    found = compare_runs(tmp_path / "a", tmp_path / "b")
    assert remarks(found) == ["Findings: 1 of another level, 1 only in A, 1 only in B."]
    assert findings_table(found).rows == (("author", "fail", "ok"), ("near", "warn", "–"), ("time", "–", "warn"))
    assert findings_table(found) in tables(found)
