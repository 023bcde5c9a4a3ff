"""Numbers that cannot follow from the others are found, and those that can be right never are."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.result_tables import ResultTable, read_all_tables
from unseen.result_tables.markdown import markdown_tables
from unseen.result_tables.table_audit import audit_tables
from unseen.types import Finding

HERE = Path(__file__).parent


def audited(*names: str, relations: str | None = None) -> list[Finding]:
    return audit_tables(read_all_tables([HERE / name for name in names]), relations and HERE / relations)


def of(findings: list[Finding], check: str) -> list[Finding]:
    return [finding for finding in findings if finding.check == check]


def grid(columns: list[str], rows: list[list[str]]) -> list[ResultTable]:
    lines = [columns, ["---"] * len(columns), *rows]
    return markdown_tables("\n".join(f"| {' | '.join(line)} |" for line in lines), "made.md")


def test_a_gain_of_fractions_given_percent_is_named_for_both_columns() -> None:
    slips = of(audited("phs.md"), "scale-slip")
    assert [slip.message.split(" is 100 ")[0] for slip in slips] == ["ΔMP vs BERT", "ΔMP vs second best"]
    assert "R-SSD, ΔMP vs BERT: 18.45 is printed; the gain is 17.69 to 17.77 %" in slips[0].message
    assert "the share of error removed 6.13 to 6.15 %" in slips[0].message


def test_one_slip_that_repairs_an_average_and_a_gain_is_told_with_its_value() -> None:
    findings = audited("phs.md")
    (slip,) = of(findings, "one-slip")
    assert slip.evidence == ("74.20", "5.48", "85.07")
    assert slip.advice == "See whether 73.20 was meant."
    (average,) = of(findings, "average")
    assert average.evidence == ("87.38",)
    assert "which gives 87.88" in average.message
    assert {finding.check for finding in findings} == {"scale-slip", "one-slip", "average"}


def test_the_repaired_table_has_its_scale_slips_alone() -> None:
    text = (HERE / "phs.md").read_text(encoding="utf-8").replace("74.20", "73.20").replace("87.38", "87.88")
    assert {finding.check for finding in audit_tables(markdown_tables(text, "phs.md"))} == {"scale-slip"}


def test_numbers_of_the_text_that_are_not_those_of_the_table() -> None:
    differs, gain = audited("phs_gains.md", relations="phs_gains.toml")
    assert (differs.check, differs.evidence) == ("differs", ("4.471", "1.49"))
    assert (gain.check, gain.evidence) == ("gain", ("4.71",))
    assert gain.message.endswith("which gives 4.46 to 4.63; over CT-BERT alone it is right")


def test_counts_of_the_same_datasets_that_differ() -> None:
    findings = audited("phs_counts.md")
    assert {finding.check for finding in findings} == {"differs"}
    assert [finding.evidence for finding in findings] == [
        ("4635", "7192"), ("15393", "19558"), ("9261", "9212"), ("18522", "18503"), ("3204", "6761"),
    ]  # fmt: skip


def test_counts_that_are_three_times_those_released() -> None:
    (finding,) = audited("survey.md", "survey_released.csv")
    assert (finding.check, finding.level, finding.evidence) == ("exact-multiple", "fail", ("300", "100"))
    assert "exactly 3 ×" in finding.message
    assert audited("survey.md") == audited("survey_released.csv") == []


def test_a_wrong_percentage_of_a_total_that_is_named() -> None:
    text = (HERE / "survey.md").read_text(encoding="utf-8").replace("23.2", "32.2")
    (finding,) = audit_tables(markdown_tables(text, "survey.md"))
    assert (finding.check, finding.evidence, finding.advice) == ("share", ("32.2",), "See whether 23.2 was meant.")
    asides = [[name, f"{n} ({share} %)"] for name, n, share in (("a", 50, 25.0), ("b", 30, 15.0), ("c", 20, 10.1))]
    (aside,) = audit_tables(grid(["metric", "datasets, of 200"], [*asides, ["d", "100 (50.0 %)"]]))
    assert (aside.check, aside.evidence) == ("share", ("20 (10.1 %)",))


def test_a_table_that_is_right_has_nothing() -> None:
    assert audited("harbecke.tex") == []


def rounded(value: Decimal, places: int) -> str:
    return str(value.quantize(Decimal(1).scaleb(-places)))


tables_of_scores = st.tuples(
    st.integers(3, 7), st.integers(2, 6), st.integers(0, 3), st.integers(0, 2**32 - 1), st.booleans()
)


def scores_with_averages(
    rows: int, columns: int, places: int, seed: int, by_row: bool
) -> tuple[list[str], list[list[str]]]:
    """Scores with more digits than are printed, and their averages, each rounded for itself."""
    rng = np.random.default_rng(seed)
    exact = [[Decimal(int(v)) / 10**6 for v in row] for row in rng.integers(20 * 10**6, 99 * 10**6, (rows, columns))]
    lines = [[f"m{row}", *(rounded(v, places) for v in exact[row])] for row in range(rows)]
    names = ["model", *(f"d{column}" for column in range(columns))]
    if by_row:
        means = [sum(column, Decimal(0)) / rows for column in zip(*exact, strict=True)]
        return names, [*lines, ["Average", *(rounded(mean, places) for mean in means)]]
    for line, row in zip(lines, exact, strict=True):
        line.append(rounded(sum(row, Decimal(0)) / columns, places))
    return [*names, "Avg."], lines


@given(tables_of_scores)
def test_right_averages_are_never_flagged(shape: tuple[int, int, int, int, bool]) -> None:
    assert of(audit_tables(grid(*scores_with_averages(*shape))), "average") == []


@given(tables_of_scores, st.integers(0, 10**6))
def test_one_changed_cell_is_flagged(shape: tuple[int, int, int, int, bool], draw: int) -> None:
    names, lines = scores_with_averages(*shape)
    means = len(lines[0]) - 1 if shape[4] else len(lines)
    if means < 4:
        return  # of three means one that is wrong leaves two, too few to believe the header
    row, column = draw % len(lines), 1 + draw // 7 % (len(lines[0]) - 1)
    lines[row][column] = str(Decimal(lines[row][column]) + 37)
    findings = audit_tables(grid(names, lines))
    place = f"made.md:{row + 3 if not shape[4] else len(lines) + 2}"
    assert any(finding.level in ("fail", "warn") and finding.rows[0].startswith(place) for finding in findings)


def test_what_no_reading_explains_is_not_an_error() -> None:
    rows = [["a", "10", "20", "99.5"], ["b", "30", "40", "98.5"], ["c", "50", "60", "97.5"]]
    (finding,) = audit_tables(grid(["model", "x", "y", "Avg"], rows))
    assert (finding.check, finding.level) == ("not-recomputable", "skipped")


def test_means_of_means_family_means_and_sums() -> None:
    rows = [["a1", "10.0", "1.0"], ["a2", "20.0", "2.0"], ["Average a", "15.0", "1.5"], ["b1", "40.0", "3.0"],
            ["b2", "50.0", "5.0"], ["Average b", "45.0", "4.0"], ["Average", "30.0", "2.8"]]  # fmt: skip
    assert audit_tables(grid(["data", "x", "y"], rows)) == []
    rows[5][1] = "46.0"
    (finding,) = audit_tables(grid(["data", "x", "y"], rows))
    assert finding.evidence == ("46.0",)
    sums = [["a", "120", "30"], ["b", "130", "40"], ["c", "150", "50"], ["Total", "400", "120"]]
    assert audit_tables(grid(["data", "train", "test"], sums)) == []


def test_a_weighted_average_is_held_against_nothing() -> None:
    rows = [["no", "0.90", "0.80", "0.85", "300"], ["yes", "0.70", "0.84", "0.76", "200"],
            ["accuracy", "", "", "0.82", "500"], ["macro avg", "0.80", "0.82", "0.81", "500"],
            ["weighted avg", "0.82", "0.82", "0.81", "500"]]  # fmt: skip
    assert of(audit_tables(grid(["", "precision", "recall", "f1-score", "support"], rows)), "average") == []


def test_a_fraction_among_percent_is_a_slip_of_scale() -> None:
    rows = [["a", "80.0", "90.0", "85.0"], ["b", "70.0", "90.0", "80.0"], ["c", "60.0", "70.0", "65.0"],
            ["d", "50.0", "60.0", "0.550"]]  # fmt: skip
    (finding,) = audit_tables(grid(["model", "x", "y", "Avg"], rows))
    assert (finding.check, finding.evidence) == ("scale-slip", ("0.550",))


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ('kind = "mean"\ntarget = "Avg"\nof = ["x", "z"]', "no column is called 'z'"),
        ('kind = "mean"\ntarget = "Avg"\nof = ["x"]\ntable = 2', "there is no table 2"),
        ('kind = "mean"\ntarget = "Avg"', "does not say what it is of"),
        ('kind = "median"\ntarget = "Avg"', "kind"),
    ],
)
def test_wrong_relations_are_refused(tmp_path: Path, relation: str, words: str) -> None:
    (tmp_path / "r.toml").write_text(f"[[relation]]\n{relation}\n")
    with pytest.raises(InputError, match=words):
        audit_tables(grid(["model", "x", "y", "Avg"], [["a", "1", "2", "1.5"]]), tmp_path / "r.toml")
