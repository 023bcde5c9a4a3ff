"""What may be secret in the words of a user, struck out before they are written or shown."""

from __future__ import annotations

import re

STRUCK = "***"
ADDRESS = re.compile(r"(https?://)([^\s/?#'\"]*@)?([^\s?#'\"]*)([?#][^\s'\"]*)?", re.IGNORECASE)
SECRET = "(?:api)?key|token|secret|passw(?:or)?d|pwd|credentials?"
NAMED = re.compile(rf"((?<![a-z])(?:\w*[_-])?(?:{SECRET})[\"']?\s*[=:]\s*[\"']?)[^\s\"',&}}]+", re.IGNORECASE)


def redacted(text: str) -> str:
    """`text` without passwords and query values of web addresses, and without values that are called a key or token.

    >>> redacted("unseen check https://me:pw@host/ask?key=abc --set token=xyz")
    'unseen check https://***@host/ask?*** --set token=***'
    """
    return NAMED.sub(rf"\g<1>{STRUCK}", ADDRESS.sub(_address, text))


def _address(match: re.Match[str]) -> str:
    scheme, user, place, rest = match.groups()
    return f"{scheme}{STRUCK + '@' if user else ''}{place}{rest[0] + STRUCK if rest else ''}"
