"""How many items of each group the pages of platforms show, after Park and Jeoung (2022).

An item that is a part of another (annotators within annotations) is not counted again. The pages in `platforms/` show
what the four platforms of the paper show; of Hugging Face, the sections that the paper looked at, which leave out
summary and structure. Counted is what a page has a place for, not whether anything is written there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unseen.cards.coverage import required
from unseen.cards.documents import Document
from unseen.cards.fields import FOLDER, GROUPS
from unseen.cards.pages import read_document

PAGES = ("hugging_face.md", "papers_with_code.json", "tfds.md", "torchtext.txt")
"""One small page of each platform of the paper, in its order."""


@dataclass(frozen=True)
class Surveyed:
    """One page of a survey."""

    page: str
    platform: str
    titles: dict[str, tuple[str, ...]]
    """Items that the page has a place for, by group."""
    answered: dict[str, int]
    """How many of them say something."""

    @property
    def counts(self) -> tuple[int, ...]:
        """Items by group, in the order of GROUPS."""
        return tuple(len(self.titles[group]) for group in GROUPS)


def survey(paths: Iterable[str | Path]) -> list[Surveyed]:
    """What each page shows, in the order given."""
    return [surveyed(read_document(path), str(path)) for path in paths]


def builtin_pages() -> Sequence[Path]:
    """The pages that stand for the platforms of the paper."""
    return [FOLDER / "platforms" / name for name in PAGES]


def surveyed(document: Document, page: str) -> Surveyed:
    """The items of one page by group; of a card of ours these are its required fields."""
    if not document.items:
        shown = [(about.id, about.group, document.card[about.id].known) for about in required(document.card)]
    else:
        whole = {item.title: item for item in document.items if item.within is None}
        shown = [(title, item.group, _answered(document, title)) for title, item in whole.items()]
    titles = {group: tuple(title for title, of, _ in shown if of == group) for group in GROUPS}
    answered = Counter(group for _, group, is_answered in shown if is_answered)
    return Surveyed(page, document.platform, titles, {group: answered[group] for group in GROUPS})


def _answered(document: Document, title: str) -> bool:
    """Whether the item, or a part of it, says something."""
    parts = [item.title for item in document.items if title in (item.title, item.within)]
    return any(part not in document.missing for part in parts)
