"""The data of a study, as its steps share it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unseen.analysis import Words
from unseen.engines.steps import key_of
from unseen.study.aside import Mask
from unseen.types import Dataset


@dataclass(frozen=True, eq=False)
class Source:
    """Labelled texts, and which of them are independent: set aside before anything is learnt."""

    name: str
    data: Dataset
    aside: Mask

    @cached_property
    def basis(self) -> dict[str, Any]:
        """What decides every step: texts, labels, and which rows are independent."""
        aside = key_of("aside", np.flatnonzero(self.aside).tolist())
        return {"data": self.data.fingerprint, "order": self.data.order, "aside": aside}

    @cached_property
    def words(self) -> Words:
        """The words of all texts, counted once."""
        return Words.of(self.data)

    def content(self, attributes: Iterable[str]) -> dict[str, str]:
        """Hashes of the values of attributes, which the fingerprint of a dataset leaves out."""
        return {name: self._hashes(name) for name in attributes}

    def _hashes(self, name: str) -> str:
        return key_of("attribute", self.data.attribute(name).to_pylist())

    @property
    def rest(self) -> Dataset:
        """The rows that are split."""
        return self.data.take(np.flatnonzero(~self.aside))

    @property
    def independent(self) -> Dataset:
        """The rows that were set aside."""
        return self.data.take(np.flatnonzero(self.aside))
