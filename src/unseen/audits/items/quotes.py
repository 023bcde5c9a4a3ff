"""How much of a text is quoted.

Two published rules exist for "mostly quotes" (Keleg et al. 2022): the paper compares the share of words in quotation
marks with .35, the released code the sum of squared lengths of the quotations over the squared number of words with
.36, which for one quotation is a share of .60. In that code a straight quotation mark never opens a quotation; here
it does, whenever none is open.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from unseen.audits.items.rule import Items, matches
from unseen.types.arrays import Floats, Mask

LINEAR, SQUARED = 0.35, 0.36
MARKS = '["“”„«»]'
TOKEN = re.compile(rf"\w+(?:['’]\w+)*|{MARKS}")
CLOSED_BY = {'"': '"”', "“": '”"', "„": "“”", "«": "»", "»": "«"}
"""What ends a quotation that was begun by each mark."""


def quotations(text: str) -> tuple[list[int], int]:
    """Words in each quotation that is begun and ended, and words in all.

    >>> quotations('This summary "contains words between two double quotes"')
    ([6], 8)
    """
    quoted: list[int] = []
    words, begun, inside = 0, "", 0
    for token in TOKEN.findall(text):
        if token[0] not in MARKS[1:-1]:
            words, inside = words + 1, inside + bool(begun)
        elif not begun:
            begun, inside = (token if token in CLOSED_BY else ""), 0
        elif token in CLOSED_BY[begun]:
            quoted.append(inside)
            begun = ""
    return quoted, words


def linear_share(quoted: Sequence[int], words: int) -> float:
    """Share of the words that stand in quotation marks."""
    return sum(quoted) / words if words else 0.0


def squared_share(quoted: Sequence[int], words: int) -> float:
    """Squared lengths of the quotations over the squared number of words."""
    return sum(length**2 for length in quoted) / words**2 if words else 0.0


def mostly_quotes(items: Items) -> Mask:
    """More than .35 of the words are quoted."""
    return _shares(items)[:, 0] > LINEAR


def mostly_quotes_squared(items: Items) -> Mask:
    """The squared share of the released code is above .36."""
    return _shares(items)[:, 1] > SQUARED


def quotes_only(items: Items) -> Mask:
    """Every word is quoted."""
    return _shares(items)[:, 0] == 1


def _shares(items: Items) -> Floats:
    """Linear and squared share of each text [rows, 2]; only texts with quotation marks are taken apart."""
    shares = np.zeros((len(items), 2))
    rows = np.flatnonzero(matches(items.plain, MARKS))
    for row, text in zip(rows, items.plain.take(pa.array(rows)).to_pylist(), strict=True):
        quoted, words = quotations(text)
        shares[row] = linear_share(quoted, words), squared_share(quoted, words)
    return shares
