"""Attention taught by rationales: what a network should look at, and what it loses by looking elsewhere."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.data.rationales import Span, ground_truth_attention, mask_of, rationales_of, white_space_tokens
from unseen.errors import InputError
from unseen.types import Dataset


@dataclass(frozen=True, eq=False)
class AttentionTargets:
    """The share of attention that each token of each training text should get; all zero where nothing is known."""

    shares: npt.NDArray[np.float32]
    starts: npt.NDArray[np.int64]
    """Text i, in the order of the ids, is `shares[starts[i]:starts[i + 1]]`."""

    @classmethod
    def of(cls, train: Dataset, column: str, tokens: Sequence[Sequence[Span]], scale: float) -> AttentionTargets:
        """Targets for `tokens`, the spans of what a model reads of each text in the order of the ids.

        A text with rationales is to be read as they say. So is a text of a label that never has any ("normal"): all
        its words alike. A text without rationales whose label has some elsewhere teaches no attention.
        """
        rationales = rationales_of(train, column)
        explained = {label for label, given in zip(train.labels.tolist(), rationales, strict=True) if given}
        if not explained:
            raise InputError(f"no training text has rationales in {column!r}, so nothing can be taught by them")
        texts = train.texts.to_pylist()
        shares = [
            token_shares(texts[row], rationales[row], spans, scale)
            if rationales[row] or int(train.labels[row]) not in explained
            else np.zeros(len(spans))
            for row, spans in zip(train.by_id.tolist(), tokens, strict=True)
        ]
        starts = np.cumsum([0, *map(len, shares)], dtype=np.int64)
        return cls(np.concatenate(shares).astype(np.float32), starts)

    def padded(self, rows: npt.NDArray[np.intp], real: npt.NDArray[np.bool_]) -> Any:
        """Tensor of the shares of `rows`, in the places that are `real`."""
        import torch

        shares = np.zeros(real.shape, np.float32)
        shares[real] = np.concatenate([self.shares[self.starts[row] : self.starts[row + 1]] for row in rows])
        return torch.from_numpy(shares)

    @property
    def digest(self) -> str:
        """Hash of all shares."""
        return hashlib.sha256(self.shares.tobytes()).hexdigest()


def token_shares(
    text: str, rationales: Sequence[Sequence[Span]], tokens: Sequence[Span], scale: float
) -> npt.NDArray[np.float64]:
    """The ground-truth attention of the words of a text, on the tokens that a model reads of them.

    Words are what white space separates. The share of a word is spread evenly over its tokens; a token within no
    word, such as a special one, has none; what is left sums to one.
    """
    words = white_space_tokens(text)
    shares = np.zeros(len(tokens))
    if not words or not len(tokens):
        return shares
    masks = [mask_of(spans, words) for spans in rationales]
    truth = ground_truth_attention(np.reshape(masks, (len(masks), len(words))), scale)
    ends = np.asarray([end for _, end in tokens])
    word = np.searchsorted([start for start, _ in words], ends - 1, side="right") - 1
    inside = (word >= 0) & (ends <= np.asarray([end for _, end in words])[word])
    pieces = np.bincount(word[inside], minlength=len(words))
    shares[inside] = truth[word[inside]] / pieces[word[inside]]
    return shares / shares.sum() if inside.any() else shares


def attention_loss(attention: Any, shares: Any) -> Any:
    """Mean over texts and heads of the cross-entropy between attention [texts, heads, tokens] and shares.

    Texts whose shares are all zero lose nothing but count: every supervised text pulls with the same strength,
    whatever else is in its batch. Attention that dropout has set to zero teaches nothing in that step.
    """
    logs = attention.where(attention > 0, 1.0).log()
    return -(shares[:, None] * logs).sum() / logs[:, :, 0].numel()
