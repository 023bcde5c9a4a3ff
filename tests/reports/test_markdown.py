"""No name gets out of its cell, its line or its paragraph."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hostile_run import EVERY, hostile_run
from html_page import Page
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from small_run import data_of, stress_folder

from unseen.reports.formats import escaped
from unseen.reports.split_card import write_cards

OURS = {f"h{level}" for level in (1, 2, 3)} | {"p", "strong", "a", "ul", "ol", "li", "code", "pre"}
OURS |= {"table", "thead", "tbody", "tr", "th", "td"}
"""Elements that the templates make."""


def page_of(card: str) -> Page:
    return Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(card))


def shown(text: str) -> str:
    """A name as one line of what can be printed."""
    return " ".join("".join(each if each.isprintable() else " " for each in text).split())


@pytest.mark.parametrize("which", [0, 1])
def test_hostile_names_stay_names(tmp_path: Path, which: int) -> None:
    folder = hostile_run(tmp_path / "run")
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    about["data"]["name"] = "a\n\n# b\n---\n- c | d | ![x](http://y) <script>z</script> `e` \u202ef \ud800 ```"
    (folder / "run.json").write_text(json.dumps(about), encoding="utf-8")
    page = page_of(write_cards(folder)[which].read_text(encoding="utf-8"))
    assert {*page.tags} <= OURS
    assert {(name, value) for name, value in page.attributes if name not in ("style", "class")} <= {
        ("href", "#what-a-person-has-still-to-fill-in")
    }
    words = shown(" ".join(page.texts))
    assert shown(about["data"]["name"]) in words
    if which == 0:
        names = [name for name in EVERY if name.startswith(('"><img', "it's", "</title", "-->", "<details"))]
        assert [name for name in names if shown(name) not in words] == []


def test_cells_of_hostile_tables_are_as_many_as_their_heads(tmp_path: Path) -> None:
    folder = stress_folder(tmp_path / "run", data=data_of("a|b", labels=("x|y\\|z", "\\")))
    for path in write_cards(folder)[:2]:
        rendered = MarkdownIt("commonmark").enable("table").render(path.read_text(encoding="utf-8"))
        for table in re.findall(r"<table>.*?</table>", rendered, re.DOTALL):
            assert len({row.count("</t") for row in re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)}) == 1
    assert "| x\\|y\\\\\\|z | 4 |" in (folder / "card.md").read_text(encoding="utf-8")


@given(st.text(alphabet=st.sampled_from("ab1 .-+=*_`#>|<&[]()!\\~:/@w'\"\n\t")))
def test_escaped_text_is_one_paragraph_that_shows_the_text(text: str) -> None:
    line = escaped(text)
    page = Page(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(line))
    assert page.tags == (["p"] if shown(text) else [])
    assert "".join(page.texts).strip() == shown(text)


@given(st.text(alphabet=st.sampled_from("ab|\\` *<")))
def test_escaped_text_stays_in_its_cell(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {escaped(text)} | end |\n"
    page = Page(MarkdownIt("commonmark", {"html": True}).enable("table").render(table))
    assert page.tags.count("td") == 2
    assert [shown(each) for each in page.texts if shown(each)][-1] == "end"
