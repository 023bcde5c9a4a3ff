"""The report is one file that shows everything, runs nothing and asks nobody."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from unseen.reports.page import verdict
from unseen.types import Certificate, Measurement

VOID = {"meta", "br", "image", "use", "path", "link", "img"}


class Page(HTMLParser):
    """Elements, attributes and texts of a page, as a browser would read them."""

    def __init__(self, content: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(content)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def read(page: Path) -> Page:
    return Page(page.read_text(encoding="utf-8"))


def test_hostile_names_are_shown_as_they_are(read: Page, hostile: tuple[str, ...]) -> None:
    said = "".join(read.texts)
    for each in hostile:
        assert each in said


def test_hostile_names_become_no_element_and_no_attribute(read: Page) -> None:
    assert not {"script", "img", "iframe", "object", "embed", "form", "base"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert read.open == []


def test_everything_is_inside_the_file(page: Path, read: Page) -> None:
    asking = {"src", "href", "srcset", "data", "action"}
    addresses = [value for name, value in read.attributes if name.rpartition(":")[2] in asking]
    assert addresses
    assert all(each.startswith(("data:image/png;base64,", "#")) for each in addresses)
    content = page.read_text(encoding="utf-8")
    assert "@import" not in content
    assert not re.search(r"url\((?!#|['\"]?data:)", content)
    assert set(re.findall(r"https?://[^\s\"'<]*", content)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_no_text_of_the_data_is_in_the_file(page: Path) -> None:
    assert "secret words" not in page.read_text(encoding="utf-8")


def test_every_split_has_a_row_and_a_described_picture(read: Page) -> None:
    assert read.tags.count("table") == 1
    assert read.tags.count("svg") == 3
    assert read.tags.count("tr") == 1 + 3
    described = [value for name, value in read.attributes if name == "aria-label"]
    assert len(described) == 3
    assert all("test rows in orange" in each for each in described)


def test_the_report_is_small(page: Path) -> None:
    assert page.stat().st_size < 2_000_000


class Named:
    """What a verdict reads of a split."""

    def __init__(self, name: str, **certificate: Any) -> None:
        self.name = name
        self.certificate = Certificate({"a": 10}, {"a": 10}, **certificate)


def row(ratio: float | None, **split: Any) -> dict[str, Any]:
    return {"split": Named(**split), "ratio": Measurement("ratio", ratio, 0 if ratio is None else 10)}


def test_the_verdict_names_the_farthest_split_and_how_it_was_made() -> None:
    rows = [row(1.0, name="random"), row(1.5, name="closest", n_clusters=7, completed=2), row(None, name="odd")]
    assert "“closest” a test text is 1.50 times" in verdict(rows)
    assert verdict(rows).endswith("made of whole clusters and 20% single rows.")
    assert verdict([row(1.5, name="sums", n_clusters=7)]).endswith("made of whole clusters only.")


def test_the_verdict_speaks_of_clusters_only_where_there_are_some() -> None:
    assert "cluster" not in verdict([row(1.2, name="length")])
    assert verdict([row(None, name="random")]) == verdict([]) == "No distances were measured."
