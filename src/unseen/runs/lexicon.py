"""Marks for telling words: a remedy that gives any model the words by which another dataset's classes are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.analysis.class_words import typical_words
from unseen.analysis.words import Words, words_of
from unseen.types import Dataset

TOP = 300


@dataclass(frozen=True)
class Lexicon:
    """Words that lean to a label."""

    words: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, data: Dataset, top: int = TOP) -> Lexicon:
        """The words of `data` most typical of each label."""
        content = Words.of(data).content
        rows = np.arange(len(data))
        typical = {
            name: typical_words(content, rows, data.labels == code)[:top] for code, name in enumerate(data.label_names)
        }
        return cls({name: frozenset(content.vocabulary[places].tolist()) for name, places in typical.items()})

    def mark(self, text: str) -> str:
        """The text with one mark per label that it has words of.

        >>> Lexicon({"praise": frozenset({"good", "fine"}), "blame": frozenset({"bad"})}).mark("A good one")
        'A good one lexicon0praise'
        """
        present = set(words_of(text))
        marks = [f"lexicon{place}{name}" for place, (name, words) in enumerate(self.words.items()) if present & words]
        return " ".join([text, *marks])

    def marked(self, data: Dataset) -> Dataset:
        """The same rows with marked texts."""
        texts = pa.chunked_array([pa.array([self.mark(text) for text in data.texts.to_pylist()], pa.large_string())])
        place = data.table.column_names.index("text")
        return replace(
            data, table=data.table.set_column(place, "text", texts.cast(data.table.schema.field("text").type))
        )


class Marking:
    """A recipe whose model reads marked texts."""

    def __init__(self, recipe: Any, lexicon: Lexicon) -> None:
        self.recipe, self.lexicon = recipe, lexicon

    def fit(self, train: Dataset, dev: Dataset, seed: int, **more: Any) -> MarkedClassifier:
        """A classifier trained on marked texts; what it is asked about is marked too."""
        classifier = self.recipe.fit(self.lexicon.marked(train), self.lexicon.marked(dev), seed, **more)
        return MarkedClassifier(classifier, self.lexicon)


class MarkedClassifier:
    """A classifier that marks texts before it reads them."""

    def __init__(self, classifier: Any, lexicon: Lexicon) -> None:
        self.classifier, self.lexicon = classifier, lexicon
        self.classes_ = classifier.classes_

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        return np.asarray(self.classifier.predict_proba([self.lexicon.mark(text) for text in texts]))
