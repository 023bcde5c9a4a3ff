from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import browser
import pytest
from browser import contrast
from browser import luminance as luminance_of
from html_page import Page
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError
from unseen.reports.heat_map import colours, heat_map, luminance
from unseen.reports.page import environment

browse, probe = browser.browse, browser.probe
HOSTILE = '"><script>it</script>&'


def cells(page):
    """Ground and text of each coloured cell, None for a cell without colour."""
    found = []
    for style, text in re.findall(r'<td class="number[^"]*" style="([^"]*)">([^<]*)</td>', page):
        ground = re.search(r"background:(#\w{6});color:(#\w{6})", style)
        found.append((ground[1], text) if ground else None)
    return found


def test_numbers_names_and_blanks():
    page = heat_map([[0.5, None], [float("nan"), 1.0]], ["a", "b"], ["c", "d"], title="shares", scale=(0, 1))
    assert cells(page) == [(colours(0.5)[0], ".50"), None, None, (colours(1)[0], "1.00")]
    assert re.findall(r'<th scope="(\w+)"[^>]*>(\w)</th>', page) == [
        ("col", "c"),
        ("col", "d"),
        ("row", "a"),
        ("row", "b"),
    ]
    assert re.search(r"<caption[^>]*>shares</caption>", page)
    assert Page(page).open == []


def test_the_scale_is_what_occurs_unless_given():
    grounds = [each[0] for each in cells(heat_map([[10, 20, 30]], ["a"], list("xyz"), title="t"))]
    assert grounds == [colours(share)[0] for share in (0, 0.5, 1)]
    grounds = [each[0] for each in cells(heat_map([[10, 20, 30]], ["a"], list("xyz"), title="t", scale=(0, 20)))]
    assert grounds == [colours(share)[0] for share in (0.5, 1, 1)]


def test_equal_numbers_and_no_numbers_have_a_map_too():
    assert cells(heat_map([[3, 3]], ["a"], ["x", "y"], title="t")) == [(colours(0.5)[0], "3.00")] * 2
    assert cells(heat_map([[None]], ["a"], ["x"], title="t")) == [None]
    assert "<tbody>" in heat_map([], [], [], title="t")


def test_numbers_are_written_as_asked_and_escaped():
    page = heat_map([[0.25]], [HOSTILE], [HOSTILE], title=HOSTILE, write=lambda value: f"<{value}>")
    assert "&lt;0.25&gt;" in page
    parsed = Page(page)
    assert "script" not in parsed.tags
    assert parsed.texts.count(HOSTILE) == 3
    assert ("aria-label", HOSTILE) in parsed.attributes


@given(st.floats(0, 1))
def test_every_number_can_be_read_on_its_ground(share):
    ground, ink = ([int(each[place : place + 2], 16) for place in (1, 3, 5)] for each in colours(share))
    assert luminance(ground) == pytest.approx(luminance_of(str(ground)))
    assert contrast(luminance_of(str(ground)), luminance_of(str(ink))) >= 4.5


@given(st.floats(0, 1), st.floats(0, 1))
def test_higher_is_never_lighter(one, other):
    low, high = sorted([one, other])
    lights = [luminance([int(colours(each)[0][place : place + 2], 16) for place in (1, 3, 5)]) for each in (low, high)]
    assert lights[0] >= lights[1] - 1e-9


@pytest.mark.parametrize("matrix", [[[1, 2]], [[1], [2]], [[1, 2], [3]]])
def test_a_matrix_of_another_shape_is_refused(matrix):
    with pytest.raises(InputError, match="per row and column"):
        heat_map(matrix, ["a", "b"], ["c", "d"], title="t")


@pytest.mark.parametrize("scale", [(1, 0), (1, 1), (0, float("inf")), (float("nan"), 1)])
def test_a_scale_that_does_not_rise_is_refused(scale):
    with pytest.raises(InputError, match="must rise"):
        heat_map([[1]], ["a"], ["c"], title="t", scale=scale)


def on_a_page(content):
    templates = environment()
    css = templates.get_template("run.css").render()
    page = f'<!doctype html><html><head><meta name="viewport" content="width=device-width"><style>{css}</style></head>'
    page += "<body></body></html>"
    return page.replace("</body>", f'<p class="soft">a</p>{content}</body>')


@browser.pytestmark[0]
@browser.pytestmark[1]
def test_it_scrolls_on_a_telephone_and_moves_nothing_else(probe: Callable[..., dict[str, Any]]) -> None:
    names = [f"a-model-with-a-long-name-{n}" for n in range(12)]
    page = on_a_page(heat_map([[0.5] * 12] * 12, names, names, title="a rather long title " * 8))
    found = probe(page, browser.PHONE)
    assert found["width"] == found["scrolls"] == browser.PHONE
    assert found["over"] == []
    assert found["tables"][0] > 0
    unguarded = page.replace('class="wide" style="overflow-x:auto"', "")
    assert probe(unguarded, browser.PHONE)["over"] != [], "what is too wide would be noticed"
