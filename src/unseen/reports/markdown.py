"""Markdown in which a name stays a name: whatever comes from a run is escaped unless it says it is Markdown."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

MARKS = re.compile(r"([\\`*_{}\[\]#|~$!^])")
OPENERS = re.compile(r"^([-+=]|\d{1,9}(?=[.)](?:\s|$)))")
ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
LINKS = re.compile(r"(:)(?=//)|(?<=www)(\.)|(@)", re.IGNORECASE)


class Markdown(str):
    """Text that is Markdown already and is not escaped again."""

    __slots__ = ()


NOT_STATED = Markdown("**not stated**")


def escaped(value: Any) -> Markdown:
    """`value` as one line that shows as it is: no markup, HTML, link, table cell or list begins in it.

    >>> print(escaped("a|b <i>*x*"), escaped("- [y](http://z)"))
    a\\|b &lt;i&gt;\\*x\\* &#45; \\[y\\](http&#58;//z)
    """
    if isinstance(value, Markdown):
        return value
    # Direction marks, line breaks and lone surrogates are not printable: a name could hide behind them.
    line = " ".join("".join(letter if letter.isprintable() else " " for letter in str(value)).split())
    line = MARKS.sub(r"\\\1", "".join(ENTITIES.get(letter, letter) for letter in line))
    line = LINKS.sub(lambda match: f"&#{ord(match.group())};", line)
    return Markdown(OPENERS.sub(lambda match: f"&#{ord(match.group()[0])};{match.group()[1:]}", line))


def stated(value: Any) -> Markdown:
    """`value` escaped, or a mark that nobody has said it."""
    return escaped(value) if value not in (None, "") else NOT_STATED


@cache
def environment() -> Environment:
    """Templates whose every expression is escaped, and that miss nothing silently; each is compiled once."""
    templates = Environment(
        loader=PackageLoader("unseen.reports"), finalize=escaped, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    templates.filters |= {"stated": stated, "thousands": lambda count: f"{count:,}"}
    return templates
