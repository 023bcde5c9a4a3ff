"""Partition SHAP: Owen values over a tree of neighbouring units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unseen.errors import InputError
from unseen.explanations.subject import Attributions, ExplainedTexts, Kept


class Branch(NamedTuple):
    """Neighbouring units of a text, with and without which the model was asked, beside some others."""

    text: int
    start: int
    end: int
    beside: Kept
    """The units outside that are kept."""
    without: float
    within: float
    weight: float


@dataclass
class PartitionShap:
    """Owen values: each half of the text, each half of these, and so on, with the other half there and gone. Any model.

    Halves are neighbouring units. With `most` questions a text the branches with the largest effect are followed
    first, and the effect of one that is not followed is shared by its units alike; 0 follows all of them.
    """

    most: int = 500

    explains, needs, signed = "probability", "answers", True

    def __post_init__(self) -> None:
        if self.most < 0:
            raise InputError("most is a number of questions, 0 for all that there are", got=repr(self.most))

    def passes(self, units: int) -> int:
        """How often the model is asked about a text of so many units, at most."""
        levels = max(1, int(np.ceil(np.log2(max(units, 2)))))
        every = 2 + sum(2 * 4**level for level in range(levels))
        return min(every, self.most) if self.most else every

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The Owen value of each unit."""
        values = [np.zeros(size) for size in subject.sizes]
        rows = np.arange(len(subject))
        empty = subject.ask(rows, [np.zeros(size, bool) for size in subject.sizes])
        branches = [
            Branch(int(row), 0, int(size), np.zeros(size, bool), without, within, 1.0)
            for row, size, without, within in zip(rows, subject.sizes, empty, subject.whole, strict=True)
            if size
        ]
        asked = np.full(len(subject), 2)
        while branches:
            followed = []
            for branch in sorted(branches, key=lambda one: -abs(one.within - one.without) * one.weight):
                more = asked[branch.text] + 2 <= self.most or not self.most
                if branch.end - branch.start > 1 and more:
                    asked[branch.text] += 2
                    followed.append(branch)
                else:
                    share = branch.weight * (branch.within - branch.without) / (branch.end - branch.start)
                    values[branch.text][branch.start : branch.end] += share
            branches = _halved(subject, followed)
        return Attributions(values)


def _halved(subject: ExplainedTexts, branches: list[Branch]) -> list[Branch]:
    """Both halves of each branch, each beside the other and without it: half of the weight for either."""
    sides = [(branch, *_halves(branch)) for branch in branches]
    kept = [half for _, left, right in sides for half in (left, right)]
    answers = subject.ask(np.repeat([branch.text for branch in branches], 2).astype(np.intp), kept)
    made: list[Branch] = []
    for (branch, left, right), (of_left, of_right) in zip(sides, np.reshape(answers, (-1, 2)), strict=True):
        text, start, end, beside, without, within, weight = branch
        middle, half = (start + end + 1) // 2, weight / 2
        made += [
            Branch(text, start, middle, beside, without, of_left, half),
            Branch(text, start, middle, right, of_right, within, half),
            Branch(text, middle, end, beside, without, of_right, half),
            Branch(text, middle, end, left, of_left, within, half),
        ]
    return made


def _halves(branch: Branch) -> tuple[Kept, Kept]:
    left, right = branch.beside.copy(), branch.beside.copy()
    middle = (branch.start + branch.end + 1) // 2
    left[branch.start : middle] = right[middle : branch.end] = True
    return left, right
