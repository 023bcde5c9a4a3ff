"""What is explained: texts in units, the label in question, and a model that is asked about texts with units erased."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from unseen import inference
from unseen.errors import InputError, UnknownNameError
from unseen.explanations.networks import Network, network_of
from unseen.seeding import generator
from unseen.types.arrays import Floats, Rows

Spans = Sequence[tuple[int, int]]
Kept = npt.NDArray[np.bool_]
UNITS, ERASURES = ("words", "pieces"), ("delete", "mask")
PREDICTED = "predicted"
MASK = "…"
"""What stands for an erased unit where a model has no mask of its own."""
TRIED = 20
"""Texts on which it is tried whether a model reads the rest of a text as before when words are gone."""
WORD = re.compile(r"\S+")


@dataclass(frozen=True, eq=False)
class Attributions:
    """A score for each unit of each text; the more it speaks for the label, the higher."""

    scores: Sequence[Floats]
    notes: dict[str, Floats] = field(default_factory=dict)
    """What the explainer says about itself, a number a text, such as `completeness_error`."""


@dataclass(frozen=True, eq=False)
class ExplainedTexts:
    """Texts whose units get scores, and the model that gave each its label.

    `units` are `words`, parts of a text between blanks, as given tokens are; or `pieces`, the tokens of the model.
    Erasing is deleting, or putting a mask in its place. Answers are kept: nothing is asked twice.
    """

    model: Any
    texts: Sequence[str]
    label_names: tuple[str, ...]
    label: str = PREDICTED
    """Which label is explained; by default the one that the model gives to the text."""
    units: Literal["words", "pieces"] = "words"
    erase: Literal["delete", "mask"] = "delete"
    rationales: Sequence[Kept] | None = None
    """The units that people highlighted, where that is known."""
    answered: dict[tuple[str, int, bytes], float] = field(default_factory=dict, repr=False)
    """What was asked already, by text, label and the units that were kept."""

    def __post_init__(self) -> None:
        if self.units not in UNITS:
            raise UnknownNameError.of("kind of units", self.units, UNITS)
        if self.erase not in ERASURES:
            raise UnknownNameError.of("way to erase", self.erase, ERASURES)
        if self.label != PREDICTED and self.label not in self.label_names:
            raise UnknownNameError.of("label", self.label, (PREDICTED, *self.label_names))
        if self.units == "pieces" and self.network is None:
            raise InputError(
                "only a network that reads tokens has pieces", got=inference.name_of(self.model), fix="units='words'"
            )

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def network(self) -> Network | None:
        """The inside of the model, where it can be reached."""
        return network_of(self.model)

    @cached_property
    def columns(self) -> Rows:
        """The column of each label in what the model answers."""
        return inference.matched(self.model.classes_, self.label_names)

    @cached_property
    def probabilities(self) -> Floats:
        """What the model says about the whole texts [texts, labels]."""
        return inference.answers(self.model, self.texts, "ask about the texts")[:, self.columns]

    @cached_property
    def explained(self) -> Rows:
        """The position of the label that is explained, of each text."""
        if self.label == PREDICTED:
            return self.probabilities.argmax(axis=1)
        return np.full(len(self), self.label_names.index(self.label))

    @cached_property
    def spans(self) -> list[Spans]:
        """Character positions of the units of each text."""
        if self.units == "pieces" and self.network is not None:
            return [[span for span in pieces.spans if span is not None] for pieces in self.network.pieces(self.texts)]
        return [[match.span() for match in WORD.finditer(text)] for text in self.texts]

    @cached_property
    def sizes(self) -> Rows:
        """Units of each text."""
        return np.array([len(spans) for spans in self.spans], np.intp)

    def of(self, rows: Rows) -> ExplainedTexts:
        """Some of the texts; what was asked about them is known to both."""
        golds = None if self.rationales is None else [self.rationales[row] for row in rows]
        some = replace(self, texts=[self.texts[row] for row in rows], rationales=golds)
        some.__dict__["probabilities"] = self.probabilities[rows]
        return some

    def words(self, row: int) -> list[str]:
        """The units of a text as they are written."""
        return [self.texts[row][start:end] for start, end in self.spans[row]]

    def ask(self, rows: Rows, kept: Sequence[Kept]) -> Floats:
        """The probability of the explained label of each of these texts when only some of its units are kept."""
        labels, whole = self.explained, self.whole
        keys = [(self.texts[row], int(labels[row]), units.tobytes()) for row, units in zip(rows, kept, strict=True)]
        for place, row in enumerate(rows):
            if kept[place].all():
                self.answered[keys[place]] = float(whole[row])
        new = list({key: place for place, key in enumerate(keys) if key not in self.answered}.values())
        if new:
            asked = self._by_pieces(rows, kept, new) if self._reads_pieces else self._by_texts(rows, kept, new)
            self.answered.update((keys[place], float(p)) for place, p in zip(new, asked, strict=True))
        return np.array([self.answered[key] for key in keys])

    @cached_property
    def whole(self) -> Floats:
        """The probability of the explained label of each whole text."""
        return self.probabilities[np.arange(len(self)), self.explained]

    @property
    def erased_by(self) -> str:
        """How units are erased, in words."""
        if self.erase == "delete":
            return "deleted"
        return f"replaced by {self.network.mask_name if self.network is not None else MASK}"

    @property
    def asked(self) -> int:
        """How many different texts the model was asked about."""
        return len(self.answered)

    def ask_texts(self, rows: Rows, texts: Sequence[str]) -> Floats:
        """The probability of the explained label of `rows` for other texts in their place."""
        answers = inference.answers(self.model, texts)[:, self.columns]
        return answers[np.arange(len(texts)), self.explained[rows]]

    # -- erasing -------------------------------------------------------------------------------------------------------

    def _by_texts(self, rows: Rows, kept: Sequence[Kept], places: Sequence[int]) -> Floats:
        texts = [self.erased_text(int(rows[place]), kept[place]) for place in places]
        return self.ask_texts(rows[places], texts)

    def erased_text(self, row: int, kept: Kept) -> str:
        """A text of which only some units are kept."""
        pieces = self.words(row) if self.units == "words" else self._with_blanks(row)
        mask = (self.network.mask_name if self.network is not None else MASK) if self.erase == "mask" else None
        shown = [piece if stays else mask for piece, stays in zip(pieces, kept, strict=True)]
        return (" " if self.units == "words" else "").join(piece for piece in shown if piece is not None)

    def _with_blanks(self, row: int) -> list[str]:
        """The units with what stands before each of them."""
        ends = [0, *(end for _, end in self.spans[row])]
        return [self.texts[row][before:end] for before, (_, end) in zip(ends, self.spans[row], strict=False)]

    @cached_property
    def _pieces(self) -> list[tuple[npt.NDArray[np.int32], Rows]]:
        """The piece numbers of each text, and the unit that each belongs to; -1 for special tokens."""
        assert self.network is not None
        every = self.network.pieces(self.texts)
        return [(pieces.ids, units_of(pieces.spans, spans)) for pieces, spans in zip(every, self.spans, strict=True)]

    def units_of_pieces(self, row: int) -> Rows:
        """The unit that each piece of a text belongs to; -1 for special tokens."""
        return self._pieces[row][1]

    @cached_property
    def _reads_pieces(self) -> bool:
        """Whether erasing pieces is the same as erasing units and reading the text anew; tried, not believed."""
        network = self.network
        if network is None or (self.erase == "mask" and network.mask is None):
            return False
        if self.units == "pieces":
            return True
        draw = generator(0, "erasing")
        rows = draw.permutation(len(self))[:TRIED].tolist()
        kept = [draw.random(self.sizes[row]) < 0.7 for row in rows]
        # a text that was cut would be read further when words are gone; pieces are cut once
        texts = [self.erased_text(row, units) for row, units in zip(rows, kept, strict=True)]
        anew = network.pieces(texts)
        return all(
            np.array_equal(self._erased_pieces(row, units), pieces.ids) or len(self._pieces[row][0]) >= network.longest
            for row, units, pieces in zip(rows, kept, anew, strict=True)
        )

    def _erased_pieces(self, row: int, kept: Kept) -> npt.NDArray[np.int32]:
        ids, units = self._pieces[row]
        stays = np.concatenate([kept, [True]])[units]  # the last is for special tokens
        assert self.network is not None
        if self.erase == "mask":
            return np.where(stays, ids, np.int32(self.network.mask or 0))
        return ids[stays] if stays.any() else np.array([self.network.nothing], np.int32)

    def _by_pieces(self, rows: Rows, kept: Sequence[Kept], places: Sequence[int]) -> Floats:
        assert self.network is not None
        pieces = [self._erased_pieces(int(rows[place]), kept[place]) for place in places]
        answers = self.network.probabilities(pieces)[:, self.columns]
        return answers[np.arange(len(places)), self.explained[rows[list(places)]]]


def units_of(pieces: Sequence[tuple[int, int] | None], spans: Spans) -> Rows:
    """The unit in which each piece ends, as some begin with a blank; -1 for special tokens, which have no place."""
    starts = np.array([start for start, _ in spans], np.intp)
    lasts = np.array([-1 if piece is None else piece[1] - 1 for piece in pieces], np.intp)
    units = np.searchsorted(starts, lasts, side="right") - 1
    return np.where(lasts < 0, -1, np.maximum(units, 0))


def summed(pieces: Floats, units: Rows, size: int) -> Floats:
    """Scores of pieces as scores of units: their sum; special tokens count for none."""
    real = units >= 0
    return np.bincount(units[real], weights=pieces[real], minlength=size).astype(np.float64)
