"""An estimator of a user's own, and a function that makes one of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np


class Counting:
    """Knows how frequent each label is, and nothing else."""

    def fit(self, texts: list[str], labels: list[str]) -> Counting:
        self.classes_, counts = np.unique(labels, return_counts=True)
        self.shares = counts / counts.sum()
        return self

    def predict_proba(self, texts: list[str]) -> Any:
        return np.tile(self.shares, (len(texts), 1))


def words(C: float = 1.0) -> Any:
    """Words and their weights."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(), LogisticRegression(C=C))
