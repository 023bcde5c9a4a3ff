"""Tables of anybody's: the numbers of a cell, and the tables of a file of every format."""

from __future__ import annotations

from pathlib import Path

import pytest

from unseen.errors import InputError
from unseen.result_tables import ResultTable, read_all_tables, read_result_tables
from unseen.result_tables.table import printed_number


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("71.5", 71.5, 0.05), (".66", 0.66, 0.005), ("−.05", -0.05, 0.005), ("+2.3", 2.3, 0.05), ("1,478", 1478, 0.5),
        ("3e-3", 0.003, 0.0005), ("2.50e-04", 0.00025, 5e-7), ("61.1 %", 61.1, 0.05), ("88.6†", 88.6, 0.05),
        ("42.9 [33, 54] ↓", 42.9, 0.05), ("500", 500, 0.5),
    ],
)  # fmt: skip
def test_a_number_and_what_its_digits_leave_open(text: str, value: float, half: float) -> None:
    number = printed_number(text)
    assert number is not None
    assert (number.value, number.half) == (pytest.approx(value), pytest.approx(half))


@pytest.mark.parametrize("text", ["", "–", "12 posts", "BERT", "v2.0.1", "2026-11-18", "1 / 2", ">10k", "e5", "[1, 2]"])
def test_words_are_no_numbers(text: str) -> None:
    assert printed_number(text) is None


def test_spread_interval_and_a_second_number() -> None:
    assert getattr(printed_number("71.5 ± 0.4 %"), "spread", None) == 0.4
    assert getattr(printed_number(".61 [−.02, .70]"), "interval", None) == (-0.02, 0.70)
    share = getattr(printed_number("300 (61.1 %)"), "bracketed", None)
    assert share is not None
    assert (share.value, share.percent) == (61.1, True)


def only(path: Path, content: str) -> ResultTable:
    path.write_text(content, encoding="utf-8")
    (table,) = read_result_tables(path)
    return table


MARKDOWN = """# Page
Seeds 1 to 5.

## Scores
**Macro F1**
<!-- lint: single-metric, no-interval: published so -->

| model | a \\| b | `c` |
|:--|--:|---|
| [x](http://y) | **71.5** | 2 % |
| z | – |

```
| no | table |
|--|--|
```
"""


def test_markdown(tmp_path: Path) -> None:
    table = only(tmp_path / "page.md", MARKDOWN)
    assert table.columns == ("model", "a | b", "c")
    assert [[cell.text for cell in row] for row in table.rows] == [["x", "71.5", "2 %"], ["z", "–", ""]]
    assert [cell.marked for cell in table.rows[0]] == [False, True, False]
    assert (table.line, table.rows[0][1].line, table.numeric) == (8, 10, (1, 2))
    assert table.title == "Scores. Macro F1"
    assert "Seeds 1 to 5." in table.context
    assert table.ignored == {"single-metric", "no-interval"}


LATEX = r"""
\begin{table}[t]
% lint: no-interval: published so
\begin{tabular}{l cc@{}c}
\toprule
 & \multicolumn{2}{c}{Dev F$_1$} & \begin{tabular}[c]{@{}c@{}}Acc.\\(\%)\end{tabular} \\ \cmidrule(lr){2-3}
Model & macro & micro & \\
\midrule
BERT \& co & 71.5$_{\pm 0.4}$ & \textbf{72.1} & 90\% \\ % a comment & more
\multirow{2}{*}{PTR} & $72.5 \pm 0.3$ & 72.0 & 91\% \\[2pt]
\bottomrule
\end{tabular}
\caption{Results on \textbf{TACRED}.}
\end{table}
"""


def test_latex(tmp_path: Path) -> None:
    table = only(tmp_path / "paper.tex", LATEX)
    assert table.columns == ("Model", "Dev F1 macro", "Dev F1 micro", "Acc. (%)")
    assert [table.label(row) for row in (0, 1)] == ["BERT & co", "PTR"]
    numbers = [[cell.number for cell in row[1:]] for row in table.rows]
    assert [[number and number.value for number in row] for row in numbers] == [[71.5, 72.1, 90], [72.5, 72, 91]]
    assert [row[0] and row[0].spread for row in numbers] == [0.4, 0.3]
    assert [cell.marked for cell in table.rows[0]] == [False, False, True, False]
    assert (table.rows[0][0].line, table.title, table.ignored) == (9, "Results on TACRED.", {"no-interval"})


def test_separated_values(tmp_path: Path) -> None:
    for name, separator in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t")):
        table = only(tmp_path / name, f'model{separator}f1\n"two\nlines"{separator}.5\nb{separator}.6\n')
        assert (table.columns, table.rows[1][1].line) == (("model", "f1"), 4)


def test_what_cannot_be_read_is_told_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.tex").write_text("\\begin{tabular}{l} a & b")
    (tmp_path / "b.md").write_bytes(b"\xff\xfe")
    (tmp_path / "c.pdf").touch()
    with pytest.raises(InputError) as error:
        read_all_tables([tmp_path / name for name in ("a.tex", "b.md", "c.pdf", "d.csv")])
    assert [Path(problem.split()[0].split(":")[0]).name for problem in error.value.problems] == [
        "a.tex", "b.md", "c.pdf", "d.csv",
    ]  # fmt: skip
