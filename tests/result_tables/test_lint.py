"""Each rule finds its fault and nothing beside it; tables of papers and our own pages are judged as a reader would."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from finished_runs import KINDS as MADE
from unseen.errors import UnknownNameError
from unseen.result_tables import read_all_tables
from unseen.result_tables.lint import RULES, lint_tables
from unseen.result_tables.markdown import markdown_tables
from unseen.runs.frame import KINDS
from unseen.types import Finding

HERE = Path(__file__).parent
PAGES = HERE.parents[1] / "docs" / "results"
SURE = "Intervals are over 5 seeds.\n"


def lint(text: str, *skip: str) -> list[Finding]:
    return lint_tables(markdown_tables(text, "page.md"), skip)


def page(header: str, *rows: str, above: str = SURE) -> str:
    """A page with one table: cells separated by blanks, `_` a blank within one."""
    lines = [header, " ".join(["---"] * len(header.split())), *rows]
    cells = [[cell.replace("_", " ") for cell in line.split()] for line in lines]
    return above + "\n" + "\n".join(f"| {' | '.join(line)} |" for line in cells) + "\n"


GOOD = page("model macro_F1 accuracy texts", "a .71 .80 100", "b .68 .79 100")
FAULTS = {
    "ambiguous-metric": [
        page("model F1 accuracy", "a .71 .80", "b .68 .79"),
        page("model AUC accuracy", "a .71 .80", "b .68 .79"),
        page("model P R macro_F1", "a .71 .80 .7", "b .68 .79 .6"),
        page("model score accuracy", "a .71 .80", "b .68 .79"),
        page("metric value", "F1 .71", "accuracy .80"),
        page("_ BERT PTR", "F1 .71 .72", "accuracy .80 .81"),
        page("model BERT PTR", "a .71 .72", "b .80 .81", above=f"{SURE}## F1 on the test set\n"),
    ],
    "unnamed-mean": [
        page("model macro_F1 accuracy Average", "a .71 .80 .41", "b .68 .79 .42", "c .61 .72 .33"),
        page("model mean_macro_F1 accuracy", "a .71 .80", "b .68 .79"),
    ],
    "percent-and-fraction": [
        page("model macro_F1 accuracy", "a 71.0 .80", "b .68 .79", "c 66.1 .70"),
        page("model dev_macro_F1 test_macro_F1 accuracy", "a 71.0 .70 .8", "b 68.0 .66 .8"),
        page("model macro_F1 accuracy", "a 71 .80", "b 0.7 .79"),
        page("data metric value", "a macro_F1 .71", "a accuracy .81", "b macro_F1 81.20", "b accuracy 93.10"),
    ],
    "out-of-range": [
        page("model macro_F1 accuracy", "a .71 .80", "b 680 .79", "c .61 .70"),
        page("model macro_F1 accuracy", "a 71.0 80", "b 108.0 79", "c 66.1 70"),
        page("model MCC accuracy", "a −1.20 .8", "b .50 .7"),
    ],
    "best-mark": [
        page("model macro_F1 log_loss", "a **.71** .30", "b .74 **.21**"),
        page("model BERT PTR XLM", "a .71 **.72** .6", "b **.80** .81 .7", "c **.95** .4 .5",
             above=f"{SURE}## Accuracy and more\n\n**macro F1**\n"),
    ],
    "single-metric": [page("model macro_F1", "a .71", "b .68")],
    "no-interval": [page("model macro_F1 accuracy", "a .71 .80", "b .68 .79", above="")],
    "no-direction": [page("model accuracy macro_F1 flip_rate", "a .8 .7 **.1**", "b .7 .6 .2")],
    "duplicate-row": [page("model macro_F1 accuracy", "a .71 .80", "b .68 .79", "a .71 .80")],
    "unknown-metric": [page("model macro_F1 accuracy token_F1", "a .71 .80 .3", "b .68 .79 .4")],
}  # fmt: skip
CASES = [(rule, number) for rule, texts in FAULTS.items() for number in range(len(texts))]


@pytest.mark.parametrize(("rule", "number"), CASES, ids=[f"{rule}-{number}" for rule, number in CASES])
def test_a_rule_finds_its_fault_alone(rule: str, number: int) -> None:
    text = FAULTS[rule][number]
    assert {finding.check for finding in lint(text)} - {"single-metric"} == {rule} - {"single-metric"}
    assert rule in {finding.check for finding in lint(text)}
    assert rule not in {finding.check for finding in lint(text, rule)}
    table = text.replace("\n| ", f"\n<!-- lint: {rule}: known -->\n| ", 1)
    assert rule not in {finding.check for finding in lint(table)}
    assert all(finding.rows[0].startswith("page.md:") for finding in lint(text))


def test_every_rule_has_a_fault() -> None:
    assert FAULTS.keys() == RULES.keys()


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        page("model F1 accuracy", "a .71 .80", "b .68 .79", above="F1 is macro-averaged. Intervals by bootstrap.\n"),
        page("setting value", "epochs 3", "rate 0.1"),
        page("step seconds share p", "train 30.5 .5 .01", "load 2.1 .1 .8"),
        page("metric datasets %", "BLEU 300 61.1", "ROUGE 114 23.2"),
        page("model macro_F1 accuracy Average", "a .71 .81 .76", "b .68 .78 .73", "c .61 .71 .66"),
        page("model macro_F1 accuracy", "a **.71** **.80**", "b .74 .79", "c .60 .70"),
        page("_ precision recall", "no .9 .8", "yes .7 .84", "macro_avg .8 .82"),
        page("class F1 accuracy", "no .9 .8", "yes .7 .84"),
        page("model F1_of_“spam” accuracy", "a .71 .80", "b .68 .79"),
        page("model macro_F1 fall_of_macro_F1 accuracy", "a .71 −.20 .8", "b .68 .30 .7"),
    ],
    ids=[
        "good",
        "said",
        "settings",
        "times",
        "counts",
        "recomputable",
        "bold-row",
        "report",
        "classes",
        "of-label",
        "fall",
    ],
)
def test_what_is_clear_is_left_alone(text: str) -> None:
    assert lint(text, "unknown-metric") == []


def test_ranks_by_metrics_are_no_scores(tmp_path: Path) -> None:
    ranks = page("model macro_F1 accuracy", "a 1.50 1.00", "b 1.50 2.00", above="**Average rank by metric**\n")
    assert lint(ranks) == []
    assert lint(ranks.replace("2.00", "4.00"))[0].check == "out-of-range"
    (tmp_path / "ranks.csv").write_text("model,macro F1,accuracy\na,1.50,1.00\nb,1.50,2.00\n", encoding="utf-8")
    assert lint_tables(read_all_tables([tmp_path / "ranks.csv"])) == []


def test_rules_that_do_not_exist_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="no rule is called 'ambiguous'"):
        lint(GOOD, "ambiguous")


def test_a_published_table_without_the_average_of_its_f1() -> None:
    findings = lint_tables(read_all_tables([HERE / "phs.md"]))
    assert [(finding.check, finding.level) for finding in findings] == [
        ("ambiguous-metric", "fail"), ("single-metric", "warn"), ("no-interval", "warn"),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["harbecke.tex", "survey.md", "survey_released.csv", "phs_counts.md"])
def test_published_tables_with_named_averages_and_seeds_or_with_counts(name: str) -> None:
    assert lint_tables(read_all_tables([HERE / name])) == []


def test_our_own_results_have_no_errors() -> None:
    tables = read_all_tables([PAGES])
    assert len(tables) > 100
    assert [finding for finding in lint_tables(tables) if finding.level == "fail"] == []


@pytest.mark.parametrize("kind", [kind for kind in MADE if kind in KINDS])
def test_our_own_runs_say_what_their_numbers_are(kind: str, finished: Callable[[str], Path]) -> None:
    findings = lint_tables(read_all_tables([finished(kind)]))
    assert [finding for finding in findings if finding.level == "fail"] == []


def test_the_advice_names_a_metric_that_has_no_name_of_its_own() -> None:
    header = f"{SURE}\n| metric | value |\n| --- | --- |\n"
    (finding,) = lint(f"{header}| know_top_authors.f1 | .71 |\n| accuracy | .80 |\n")
    assert finding.advice == "Write macro, micro or weighted know_top_authors.f1, or know_top_authors.f1 of “label”."


def test_a_note_below_a_table_in_latex_says_what_a_mean_is_over(tmp_path: Path) -> None:
    rows = "model & macro F1 & accuracy & mean \\\\ \\midrule a & .71 & .80 & .41 \\\\ b & .68 & .79 & .42"
    table = f"\\begin{{table}}\\begin{{tabular}}{{lrrr}} {rows} \\end{{tabular}} NOTE \\end{{table}}"
    (tmp_path / "a.tex").write_text(table.replace("NOTE", "Mean: over the other datasets."), encoding="utf-8")
    (tmp_path / "b.tex").write_text(table.replace("NOTE", ""), encoding="utf-8")
    found = {finding.rows[0] for finding in lint_tables(read_all_tables([tmp_path])) if finding.check == "unnamed-mean"}
    assert [Path(place.partition(":")[0]).name for place in found] == ["b.tex"]
