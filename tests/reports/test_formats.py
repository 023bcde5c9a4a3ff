from __future__ import annotations

import csv
import html
import io
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from unseen.errors import InputError
from unseen.reports.formats import FORMATS, LATEX, Table, to_csv, to_latex, to_markdown
from unseen.store.files import unharmed

TABLE = Table(
    "Scores & more",
    ("split", "macro F1", "rows"),
    (("closest", ".29 [.25, .33]", 1730), ("random_1", ".66", None)),
    "100 % of a|b",
)
texts = st.text(st.characters(codec="utf-8"), max_size=12)
printable = st.text(st.sampled_from("ab 1.\\|*_`<>&#;[]()~!$%^{}−–-=+@'\""), max_size=12)


def test_the_three_forms():
    assert to_csv(TABLE) == 'split,macro F1,rows\nclosest,".29 [.25, .33]",1730\nrandom_1,.66,\n'
    assert to_markdown(TABLE) == (
        "**Scores & more**\n\n"
        "| split | macro F1 | rows |\n| --- | ---: | ---: |\n"
        "| closest | .29 [.25, .33] | 1730 |\n| random_1 | .66 |  |\n\n"
        "100 % of a\\|b\n"
    )
    assert to_latex(TABLE).splitlines() == [
        r"\begin{table}",
        r"\centering",
        r"\caption{Scores \& more}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"split & macro F1 & rows \\",
        r"\midrule",
        r"closest & .29 {[}.25, .33] & 1730 \\",
        r"random\_1 & .66 &  \\",
        r"\bottomrule",
        r"\end{tabular}",
        "",
        r"\smallskip{\footnotesize 100 \% of a\textbar{}b\par}",
        r"\end{table}",
    ]
    assert list(FORMATS) == ["csv", "md", "tex"]
    assert [write(TABLE) for write in FORMATS.values()] == [to_csv(TABLE), to_markdown(TABLE), to_latex(TABLE)]


def test_without_title_and_note():
    bare = Table("", ("a",), ((1,),))
    assert to_markdown(bare) == "| a |\n| ---: |\n| 1 |\n"
    assert "caption" not in to_latex(bare)
    assert "footnotesize" not in to_latex(bare)


@pytest.mark.parametrize("formula", ["=1+1", "+a", "-a", "@sum", "\tx", "'quoted"])
def test_no_spreadsheet_runs_a_cell(formula):
    header, cell = csv.reader(io.StringIO(to_csv(Table("t", (formula,), ((formula,),))), newline=""))
    assert header == cell == [f"'{formula}"]


@given(st.lists(st.tuples(texts, st.floats(allow_nan=False)), min_size=1))
def test_csv_gives_every_cell_back(rows):
    written = to_csv(Table("t", ("name", "value"), tuple(rows)))
    _, *read = csv.reader(io.StringIO(written, newline=""))
    assert [(unharmed(name), float(value)) for name, value in read] == rows


@example([("<b>a</b>", "[a](b)"), ("&amp;", "~~a~~"), ("a\\|b", "![a](b)")])
@given(st.lists(st.tuples(printable, printable), min_size=1, max_size=4))
def test_markdown_shows_every_cell_as_it_is(rows):
    page = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(to_markdown(Table("", ("a", "b"), rows)))
    shown = [html.escape(" ".join(each.split())).replace("&#x27;", "'") for row in rows for each in row]
    assert re.findall(r"<td[^>]*>(.*?)</td>", page) == shown


def read_latex(text):
    """What LaTeX sets: the inverse of the escapes, refusing any character that is a command by itself."""
    names = {code: each for each, code in LATEX.items()}
    token = re.compile("|".join(re.escape(code) for code in sorted(names, key=len, reverse=True)) + r"|[^\\&%$#_{}~^]")
    found, place = "", 0
    while place < len(text):
        match = token.match(text, place)
        assert match, f"LaTeX would run {text[place:]!r}"
        found, place = found + names.get(match[0], match[0]), match.end()
    return found


@given(st.text(st.sampled_from("ab 1.\\|*_`<>&#;[]()~!$%^{}−=+@'\"±"), max_size=12))
def test_latex_sets_every_cell_as_it_is(cell):
    line = to_latex(Table("", ("a",), ((cell,),))).splitlines()[6]
    assert read_latex(line.removesuffix(r" \\")) == " ".join(cell.split())
    assert not line.startswith(("[", "*")), "it would be an argument of the line break before it"


def test_numbers_stay_numbers():
    table = Table("t", ("a", "b", "c"), ((-0.5, 3, 1e-7), (0.1, -20, float("nan"))))
    assert to_csv(table) == "a,b,c\n-0.5,3,1e-07\n0.1,-20,\n"
    assert r"$-$0.5 & 3 & 1e-07 \\" in to_latex(table)
    assert "| 0.1 | -20 |  |" in to_markdown(table)
    assert r"\begin{tabular}{rrr}" in to_latex(table)


@pytest.mark.parametrize(
    ("cells", "right"),
    [
        (["−.05", "3"], True),
        (["–", ".5"], True),
        (["67 %", ""], True),
        (["1", "one"], False),
        (["", ""], False),
        (["9 of 20 rows have no text."], False),
    ],
)
def test_columns_of_numbers_stand_right(cells, right):
    assert Table("t", ("a",), tuple((each,) for each in cells)).numeric(0) == right


def test_line_breaks_and_control_characters_become_spaces():
    table = Table("a\nb", ("c\r\nd",), (("e\n\n\u202ef\x00g",),))
    assert to_markdown(table) == "**a b**\n\n| c d |\n| --- |\n| e f g |\n"
    assert r"e f g \\" in to_latex(table).splitlines()


@pytest.mark.parametrize(
    ("columns", "rows", "got"), [(("a",), ((1,), (1, 2)), "2 in row 1"), ((), (), "no columns")]
)  # fmt: skip
def test_a_table_has_a_cell_per_row_and_column(columns, rows, got):
    with pytest.raises(InputError, match=got):
        Table("t", columns, rows)
