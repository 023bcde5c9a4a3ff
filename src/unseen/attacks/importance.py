"""Which words matter: the orders in which attacks try them (You and Lowd 2022, section 3; Ren et al. 2019)."""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

from unseen.types.arrays import Floats


def deletion_importance(whole: Floats, without: Floats, label: int) -> Floats:
    """How much each word holds the label: `whole` [labels] about the text, `without` [words, labels] without each word.

    Where the label changes, what the new label gains counts too.
    """
    importance = whole[label] - without[:, label]
    new = without.argmax(axis=1)
    gains = without[np.arange(len(without)), new] - whole[new]
    return np.asarray(importance + np.where(new == label, 0.0, gains))


def weighted_importance(unknown: Floats, substituted: Floats) -> Floats:
    """PWWS: what the label loses when each word becomes `unknown`, and when it is `substituted` by its best candidate.

    softmax(unknown) × substituted, the softmax over all words of the text.
    """
    return np.asarray(softmax(unknown) * substituted)
