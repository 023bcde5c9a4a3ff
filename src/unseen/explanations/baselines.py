"""What every explanation should beat: chance, and a list of words that people highlighted elsewhere."""

from __future__ import annotations

import numpy as np

from unseen.errors import InputError
from unseen.explanations.plausibility import RationaleLexicon
from unseen.explanations.subject import Attributions, ExplainedTexts
from unseen.seeding import generator

FOLDS = 5
FEWEST = 10
"""Texts with rationales, at least, to learn a lexicon from."""


class Random:
    """Scores at random: the floor. Any model."""

    explains, needs, signed = "nothing", "answers", True

    def passes(self, units: int) -> int:
        """The model is not asked."""
        return 0

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """Normal numbers, the same for the same text."""
        draws = (
            generator(seed, "random", text).normal(size=size)
            for text, size in zip(subject.texts, subject.sizes, strict=True)
        )
        return Attributions(list(draws))


class LexiconScores:
    """How often people highlight the word in *other* texts: what a list of words explains. Texts with rationales."""

    explains, needs, signed = "nothing", "rationales", False

    def passes(self, units: int) -> int:
        """The model is not asked."""
        return 0

    def attributions(self, subject: ExplainedTexts, seed: int = 42) -> Attributions:
        """The share of each word, learnt from the other folds."""
        if subject.rationales is None or sum(mask.any() for mask in subject.rationales) < FEWEST:
            raise InputError(
                f"a lexicon is learnt from at least {FEWEST} texts with rationales",
                fix="data with a column of rationales",
            )
        golds, words = subject.rationales, [subject.words(row) for row in range(len(subject))]
        folds = generator(seed, "lexicon").permutation(len(subject)) % FOLDS
        highlighted = np.array([mask.any() for mask in golds])
        others = [np.flatnonzero(highlighted & (folds != fold)).tolist() for fold in range(FOLDS)]
        lexicons = [
            RationaleLexicon.learnt([words[row] for row in rows], [golds[row] for row in rows]) for rows in others
        ]
        return Attributions([lexicons[folds[row]].scores([words[row]])[0] for row in range(len(subject))])
