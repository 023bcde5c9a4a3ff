"""Labels that are given from a probability on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unseen.errors import InputError, UnknownNameError
from unseen.evaluation.thresholds import at_threshold
from unseen.types import Predictions, string_array


def of(*yes: float) -> Predictions:
    p = np.array(yes)
    ids = string_array([str(each) for each in range(len(yes))])
    return Predictions(ids, np.column_stack([1 - p, p]), ("no", "yes"))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.01, 0.99))
def test_a_label_is_given_exactly_from_the_threshold_on(yes: list[float], threshold: float) -> None:
    given = of(*yes)
    found = at_threshold(given, "yes", threshold).probabilities
    assert (found.argmax(axis=1) == 1).tolist() == (given.probabilities[:, 1] >= threshold).tolist()
    order = np.argsort(given.probabilities[:, 1], kind="stable")
    assert (np.diff(found[order, 1]) >= 0).all()


def test_the_threshold_belongs_to_the_label_it_is_for() -> None:
    assert at_threshold(of(0.5, 0.7), "yes", 0.5).probabilities.argmax(axis=1).tolist() == [1, 1]
    assert at_threshold(of(0.2, 0.4), "no", 0.7).probabilities.argmax(axis=1).tolist() == [0, 1]


def test_what_cannot_have_a_threshold_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="yes"):
        at_threshold(of(0.5), "yess", 0.5)
    with pytest.raises(InputError, match="between 0 and 1"):
        at_threshold(of(0.5), "yes", 1.0)
    three = Predictions(string_array(["a"]), np.array([[0.2, 0.3, 0.5]]), ("a", "b", "c"))
    with pytest.raises(InputError, match="two labels"):
        at_threshold(three, "a", 0.5)
