"""A text without end costs no memory without end: models read its beginning, and the user is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tiny_data import build
from unseen import api, inference
from unseen.errors import UnseenWarning
from unseen.training.labelled_texts import labelled_texts
from unseen.types import LONGEST_TEXT, Dataset

LONG = "rain " * LONGEST_TEXT


@pytest.fixture
def data() -> Dataset:
    return build(texts=["rain", LONG, "wind", "soup"])


class Measuring:
    """Notes how long the texts are that it is asked about."""

    classes_ = ("no", "yes")

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def predict_proba(self, texts: list[str]) -> Any:
        self.lengths += map(len, texts)
        return np.full((len(texts), 2), 0.5)

    def encode(self, texts: list[str]) -> Any:
        self.lengths += map(len, texts)
        return np.eye(len(texts))


DOORS: dict[str, Callable[[Measuring, Dataset], Any]] = {
    "train": lambda model, data: model.predict_proba(labelled_texts(data).texts),
    "predict": inference.predict,
    "encode": lambda model, data: api.encode(data, model),
}


@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS)
def test_long_texts_are_cut_for_models_and_named(data: Dataset, door: Callable[[Measuring, Dataset], Any]) -> None:
    model = Measuring()
    with pytest.warns(UnseenWarning, match=rf"{LONGEST_TEXT:,} characters.*: {data.ids[1].as_py()}$"):
        door(model, data)
    assert model.lengths == [4, LONGEST_TEXT, 4, 4]
