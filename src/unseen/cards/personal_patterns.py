"""What personal data looks like in a text: patterns by category, each with a check of what it matched.

Every repetition is bounded, so that a text made to be slow is not. The patterns find what has a form; a name, an
address in words or a story that gives somebody away has none.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass

MASKED = ("user", "username", "user_name", "mention", "handle", "name", "usermention", "anonymous", "anon")
"""Handles that stand for a handle that was taken out."""
SITES = r"(?:twitter|x|facebook|instagram|tiktok|github|vk|soundcloud|pinterest)\.com"
PAGES = "about events explore groups hashtag home i intent login p pages photo search share sharer status watch user"
NO_NAMES = frozenset(PAGES.split())
"""Pages of these sites that are nobody's."""
DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
SSN = r"(?<![\w-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])"


@dataclass(frozen=True)
class Pattern:
    """One form of personal data."""

    category: str
    hint: str
    """What a text must hold to be looked at closely, in the syntax of RE2, which is never slow."""
    form: re.Pattern[str]
    right: Callable[[re.Match[str]], bool] = lambda found: True

    def in_text(self, text: str) -> bool:
        """Whether the text holds it."""
        return any(self.right(found) for found in self.form.finditer(text))


def _is_handle(found: re.Match[str]) -> bool:
    return found[1].casefold() not in MASKED and not found[1].isdigit()


def _is_masked(found: re.Match[str]) -> bool:
    return found[1] is None or found[1].casefold() in MASKED


def _is_phone(found: re.Match[str]) -> bool:
    text = found.group()
    groups, digits = re.findall(r"\d+", text), sum(map(str.isdigit, text))
    if not 9 <= digits <= 15 or re.fullmatch(SSN, text):
        return False
    grouped_number = all(len(each) == 3 for each in groups[1:]) and not re.search(r"[+(-]", text) and len(groups[0]) < 3
    years = all(len(each) == 4 and each[:2] in ("18", "19", "20") for each in groups)
    date = len(groups) == 3 and sorted(map(len, groups)) in ([1, 2, 4], [2, 2, 4])
    return not (grouped_number or years or date)


def _is_address(found: re.Match[str]) -> bool:
    text = found.group()
    if ":" in text and text.count(":") < 4:
        return False
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_user_page(found: re.Match[str]) -> bool:
    name = found["site"] or found["page"] or found["login"] or found["query"]
    page = name.casefold().rstrip(".")
    return page not in NO_NAMES and page not in MASKED and not page.endswith((".php", ".html", ".htm", ".aspx"))


def _is_dni(found: re.Match[str]) -> bool:
    return found["dni"] is None or DNI_LETTERS[int(found["dni"][:8]) % 23] == found["dni"][8]


def _is_place(found: re.Match[str]) -> bool:
    if found["latitude"] is None:
        return True
    return abs(float(found["latitude"])) <= 90 and abs(float(found["longitude"])) <= 180


EMAIL = r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,24}(?!\w)"
PHONE = (
    r"(?<![\w.,/+-])(?:\+\d{9,15}"
    r"|(?:\+\d{1,3}[ .-]?)?(?:\(\d{2,5}\)[ .-]?|\d{2,5}[ .-])\d{2,5}(?:[ .-]\d{2,5}){0,3})(?![\w/-]|[.,]\d)"
)
HANDLE = r"(?<![\w@./+-])@(\w{2,50})(?![\w@]|\.\w)"
PLACEHOLDER = r"[<\[{]@?user(?:name|_name|mention)?[>\]}]"
IP_ADDRESS = r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9A-Fa-f:]{6,39})(?![\w:]|\.\d)"
USER_FOLDERS = "u|user|users|profile|profiles|member|members|people|channel|in"
USER_PAGE = (
    r"(?:https?://|www\.)(?:(?P<login>[\w.%+-]{1,50})(?::[^\s@/]{0,50})?@[\w.-]{3,100}"
    rf"|(?:www\.|m\.|mobile\.)?{SITES}/@?(?P<site>[\w.-]{{2,50}})"
    rf"|[\w.-]{{3,100}}(?::\d{{1,5}})?/(?:[\w%.-]{{1,50}}/){{0,4}}(?:@|~|(?:{USER_FOLDERS})/)(?P<page>[\w.%-]{{2,50}})"
    r"|[^\s?]{3,100}\?[^\s]{0,100}?\b(?:user|username|user_id|uid|member)=(?P<query>[\w.%-]{2,50}))"
)
NATIONAL_ID = (
    rf"{SSN}|\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{{2}} ?\d{{2}} ?\d{{2}} ?[A-D]\b|\b(?P<dni>\d{{8}}[A-Z])\b"
)
PLACE = (
    r"(?<![\w.])(?P<latitude>[+-]?\d{1,2}\.\d{3,10})\s{0,2}[,;]\s{0,2}(?P<longitude>[+-]?\d{1,3}\.\d{3,10})(?![\w.])"
    r"|\d{1,3} ?° ?\d{1,2} ?[′'’](?: ?\d{1,2}(?:\.\d{1,6})? ?[″\"”]| ?)? ?[NSEWO]\b"
)

PATTERNS = (
    Pattern("email", "@", re.compile(EMAIL)),
    Pattern("phone", r"\d[\d .()-]{5,}\d", re.compile(PHONE), _is_phone),
    Pattern("handle", "@", re.compile(HANDLE), _is_handle),
    Pattern("handle_masked", r"(?i)@|[<\[{]user", re.compile(f"{HANDLE}|{PLACEHOLDER}", re.IGNORECASE), _is_masked),
    Pattern("ip_address", r"\d\.\d|:[0-9a-fA-F]*:", re.compile(IP_ADDRESS), _is_address),
    Pattern("url_with_user", r"(?i)https?://|www\.", re.compile(USER_PAGE, re.IGNORECASE), _is_user_page),
    Pattern("national_id", r"\d{3}-\d{2}-\d{4}|[A-Z]{2} ?\d{2}|\d{8}[A-Z]", re.compile(NATIONAL_ID), _is_dni),
    Pattern("coordinates", r"\d\.\d{3}|\d ?°", re.compile(PLACE), _is_place),
)
CATEGORIES = tuple(each.category for each in PATTERNS)
NOT_MEASURED = ("person_name", "postal_address")
"""What would need a model that is not among the dependencies."""
HARMLESS = ("handle_masked",)
"""Categories that show that something was taken out."""
