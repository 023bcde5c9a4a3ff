"""A page as a parser reads it."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

from unseen.runs.frame import report

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


def written(folder: Path) -> Path:
    """The page of the run in `folder`, written anew."""
    path = report(folder).report
    assert path == folder / "report.html"
    return path
