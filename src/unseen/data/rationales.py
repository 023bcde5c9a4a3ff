"""Rationales: the words that annotators highlighted, carried by a dataset as an attribute.

The attribute holds one string per annotator: spans of characters, `0-4 10-15` (the end is not part of a span), or a
mask of 0 and 1 over the white-space tokens of the text, `00101`. A text that nobody highlighted has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.data.columns import as_text
from unseen.errors import InputError
from unseen.types import Dataset
from unseen.types.arrays import is_list

TOKEN = re.compile(r"\S+")
SPAN = re.compile(r"([0-9]{1,9})-([0-9]{1,9})", re.ASCII)
MASK = re.compile(r"[01]+")

Span = tuple[int, int]
"""First character and the one after the last."""


def white_space_tokens(text: str) -> list[Span]:
    """Where the tokens of a text are that white space separates."""
    return [token.span() for token in TOKEN.finditer(text)]


def rationales_of(data: Dataset, column: str = "rationales") -> list[list[list[Span]]]:
    """What each annotator of each text highlighted: text, annotator, spans; an empty list for a text without any."""
    values = data.attribute(column)
    if pa.types.is_floating(values.type):
        raise InputError(
            f"the rationales in {column!r} were read as numbers", fix="write them as spans, '0-4 10-15', or as lists"
        )
    several = is_list(values.type)
    rationales, problems = [], []
    for row, (name, text, value) in enumerate(
        zip(data.ids.to_pylist(), data.texts.to_pylist(), values.to_pylist(), strict=True)
    ):
        written = [] if value is None else value if several else [as_text(value)]
        try:
            rationales.append([_spans(rationale or "", text) for rationale in written])
        except ValueError as cause:
            place = data.place(row)
            problems.append(f"{name}{f' ({place})' if place else ''}: {cause}")
    if problems:
        raise InputError(
            f"{len(problems)} rows of {column!r} hold no rationales",
            problems=problems,
            expected="for each annotator spans of characters, '0-4 10-15', or one digit per token, '00101'",
        )
    return rationales


def _spans(written: str, text: str) -> list[Span]:
    """The spans that one annotator's string means; ValueError says what is wrong with it."""
    if MASK.fullmatch(written):
        tokens = white_space_tokens(text)
        if len(written) != len(tokens):
            raise ValueError(f"a mask of {len(written)} digits for {len(tokens)} tokens")
        return [token for token, digit in zip(tokens, written, strict=True) if digit == "1"]
    spans: list[Span] = []
    for word in written.split():
        match = SPAN.fullmatch(word)
        if match is None:
            raise ValueError(f"{word[:40]!r} is neither a span nor a mask")
        start, end = map(int, match.groups())
        if not start < end <= len(text):
            raise ValueError(f"the span {word} is not within the {len(text)} characters of its text")
        if spans and start < spans[-1][1]:
            raise ValueError(f"the span {word} begins before {spans[-1][0]}-{spans[-1][1]} has ended")
        spans.append((start, end))
    return spans


def written_spans(mask: Sequence[int], tokens: Sequence[str]) -> str:
    """One annotator's mask as spans in the text that joins `tokens` by blanks; as it is where it does not fit them."""
    if len(mask) != len(tokens) or not set(mask) <= {0, 1}:
        return "".join(map(str, mask))  # for `rationales_of` to refuse: whoever does not need it can load the rest
    ends = np.cumsum([len(token) + 1 for token in tokens]) - 1
    spans = zip(ends, tokens, mask, strict=True)
    return " ".join(f"{end - len(token)}-{end}" for end, token, marked in spans if marked and token)


def mask_of(spans: Sequence[Span], token_spans: Sequence[Span]) -> npt.NDArray[np.bool_]:
    """Which tokens are highlighted: those that spans cover at least half of, counted in characters."""
    highlighted = [
        end > start and 2 * sum(max(0, min(end, last) - max(start, first)) for first, last in spans) >= end - start
        for start, end in token_spans
    ]
    return np.asarray(highlighted, dtype=np.bool_)


def ground_truth_attention(masks: npt.ArrayLike, scale: float = 1.0) -> npt.NDArray[np.float64]:
    """Softmax of `scale` times the mean of masks [annotators, tokens]; the same for all tokens without a highlight."""
    given = np.asarray(masks, dtype=np.float64)
    powers = np.exp(scale * (given.mean(axis=0) if len(given) else np.zeros(given.shape[1])))
    return powers / powers.sum() if len(powers) else powers
