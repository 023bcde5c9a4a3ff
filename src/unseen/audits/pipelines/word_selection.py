"""Words chosen by their labels: on all rows, as it must not be, and on the training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.types import Dataset, Split

Probabilities = npt.NDArray[np.float64]


def words_chosen_on_all_data(data: Dataset, split: Split, seed: int = 42, share: float = 0.25) -> Probabilities:
    """LEAKS: TF-IDF, and the choice of the `share` of words that tell labels apart, see the test rows and labels."""
    train = trained_on(split)
    texts, labels = data.texts.to_pylist(), data.labels
    vectors = _chosen(share).fit(texts, labels).transform(texts)
    return _answered(_linear(seed).fit(vectors[train], labels[train]), vectors, len(data.label_names))


def words_chosen_in_training(data: Dataset, split: Split, seed: int = 42, share: float = 0.25) -> Probabilities:
    """The corrected form: both are fitted on the training rows, as steps of one pipeline."""
    from sklearn.pipeline import make_pipeline

    train = trained_on(split)
    texts = data.texts.to_pylist()
    model = make_pipeline(_chosen(share), _linear(seed)).fit([texts[row] for row in train], data.labels[train])
    return _answered(model, texts, len(data.label_names))


def vocabulary_of_all_data(data: Dataset, split: Split, seed: int = 42) -> Probabilities:
    """LEAKS, though no label: words and their weights come from all texts, the classifier from the training rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    train, texts = trained_on(split), data.texts.to_pylist()
    vectors = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b").fit(texts).transform(texts)
    return _answered(_linear(seed).fit(vectors[train], data.labels[train]), vectors, len(data.label_names))


def trained_on(split: Split) -> npt.NDArray[np.intp]:
    """Rows for training and for tuning."""
    return np.sort(np.concatenate([split.rows("train"), split.rows("dev")]))


def _chosen(share: float) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.feature_selection import SelectPercentile, chi2
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfVectorizer(token_pattern=r"(?u)\b\w+\b"), SelectPercentile(chi2, percentile=100 * share))


def _linear(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, random_state=seed)


def _answered(model: Any, asked: Any, n_labels: int) -> Probabilities:
    found = np.zeros((asked.shape[0] if hasattr(asked, "shape") else len(asked), n_labels))
    found[:, model.classes_.astype(np.intp)] = model.predict_proba(asked)
    return found
