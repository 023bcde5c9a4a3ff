"""Linear models on TF-IDF or on the vectors of an encoder: logistic regression and a support vector machine."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from unseen.errors import InputError
from unseen.progress import track
from unseen.registry import check_numbers
from unseen.seeding import child_seed
from unseen.store import atomic, read_json, write_json
from unseen.store.files import door
from unseen.training.features import Vectors, Vocabulary
from unseen.training.labelled_texts import (
    ClassWeights,
    LabelledTexts,
    check_class_weights,
    label_weights,
    log_loss,
    training_texts,
    warn_if_worse_than_a_constant,
)
from unseen.types import Dataset

Features = str | Any
"""`tfidf`, `characters`, the name of an encoder, an object with `encode`, or a function from texts to vectors."""

TEMPERATURES = np.geomspace(0.1, 20, 60)
"""Factors of the margins among which dev chooses."""
DENSE = 0.01
"""Standardised vectors are as long as they have dimensions, rows of TF-IDF have length one: C is smaller there."""
TEXTS_AT_ONCE = 8192
VOCABULARIES = {"tfidf": Vocabulary.of, "characters": Vocabulary.of_characters}
"""Features that are made of the training texts, by name."""


class LinearClassifier:
    """Probabilities from a weighted sum of features; labels that were not trained on get zero."""

    def __init__(
        self,
        classes: Sequence[str],
        present: npt.NDArray[np.intp],
        weights: npt.NDArray[np.float64],
        features: Any,
        settings: dict[str, Any],
    ) -> None:
        self.classes_ = tuple(classes)
        self.present = present
        """Positions of the trained labels."""
        self.weights = weights
        """[features + 1, trained labels]; the last row is the constant."""
        self.features = features
        self.settings = settings
        self.source = settings.get("recipe", "linear.v1")

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        probabilities = np.zeros((len(texts), len(self.classes_)))
        for start in range(0, len(texts), TEXTS_AT_ONCE):
            rows = self.features.transform(texts[start : start + TEXTS_AT_ONCE])
            probabilities[start : start + rows.shape[0], self.present] = softmax(_scores(rows, self.weights), axis=1)
        return probabilities

    def save(self, folder: Path) -> None:
        """Write the model as JSON and numbers; features that are an object of the user's cannot be saved."""
        arrays: dict[str, Any] = {"weights": self.weights, "present": self.present}
        if isinstance(self.features, Vocabulary):
            arrays |= {f"idf_{name}": values for name, values in self.features.weights.items()}
            with atomic(Path(folder) / "vocabulary.json") as path:
                path.write_text(json.dumps(self.features.terms, ensure_ascii=True), encoding="utf-8")
        elif self.features.name is None:
            raise InputError(
                "a model on features of your own cannot be saved",
                expected="features='tfidf', 'characters' or the name of an encoder",
                got=f"features={self.settings['features']}",
            )
        with atomic(Path(folder) / "weights.npz") as path, path.open("wb") as file:
            np.savez(file, **arrays)
        content = {"classifier": "linear.v1", "label_names": list(self.classes_), "settings": self.settings}
        write_json(Path(folder) / "unseen.json", content)

    @classmethod
    def load(cls, folder: Path) -> LinearClassifier:
        """The model saved in `folder`; gives the same probabilities."""
        about = read_json(Path(folder) / "unseen.json")
        with door(folder, "a whole linear model"):
            settings = about["settings"]
            with np.load(Path(folder) / "weights.npz", allow_pickle=False) as arrays:
                if settings["features"] in VOCABULARIES:
                    terms = read_json(Path(folder) / "vocabulary.json")
                    features: Any = Vocabulary(terms, {name: arrays[f"idf_{name}"] for name in terms})
                else:
                    features = Vectors.named(settings["features"])
                return cls(about["label_names"], arrays["present"], arrays["weights"], features, settings)


def _scores(rows: Any, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    from threadpoolctl import threadpool_limits

    if rows.shape[1] != len(weights) - 1:
        raise InputError(
            "the features are not those the model was trained on",
            expected=f"{len(weights) - 1} numbers per text",
            got=str(rows.shape[1]),
        )
    with threadpool_limits(1, user_api="blas"):  # the same sums on one thread and on many
        return np.asarray(rows @ weights[:-1] + weights[-1])


@dataclass(eq=False)
class _Linear(ABC):
    """What the two recipes share: features, the choice of C on dev, class weights."""

    has_space: ClassVar = False
    """A weighted sum has no latent space of its own: its features are all there is."""
    name: ClassVar = ""
    default: ClassVar = 1.0
    """C on TF-IDF where dev is empty."""
    choices: ClassVar[tuple[float, ...]] = (0.01, 0.1, 1.0, 10.0)
    """Values of C on TF-IDF among which dev chooses; vectors, which are not sparse, need `DENSE` times these."""

    features: Features = "tfidf"
    _: KW_ONLY
    C: float | None = None
    class_weights: ClassWeights = None

    def __post_init__(self) -> None:
        check_numbers(f"the recipe {self.name}", type(self), vars(self))
        if self.C is not None and not self.C > 0:
            raise InputError("C must be above zero", got=repr(self.C))
        check_class_weights(self.class_weights)
        if str(self.features) not in VOCABULARIES:
            self._encoder()

    def fit(self, train: Dataset, dev: Dataset, seed: int = 42) -> LinearClassifier:
        """The classifier trained on `train`; C is the value with the lowest log loss on `dev`, unless given.

        With class weights that log loss is weighted like training: else C would be the one that undoes them.
        """
        texts, dev_texts = training_texts(train, dev)
        by_label = label_weights(texts, self.class_weights)
        features = self._features(texts.texts)
        rows = features.transform(texts.texts)
        judge = _Judge(features, dev_texts, texts.present, by_label)
        best: tuple[float, float, npt.NDArray[np.float64]] | None = None
        for C, weights in self._tried(rows, texts.labels, by_label, len(judge) > 0, seed):
            loss, weights = self._calibrated(judge, weights)
            if best is None or loss < best[0]:
                best = (loss, C, weights)
        assert best is not None
        classifier = LinearClassifier(
            train.label_names, texts.present, best[2], features, self._settings(features, best[1], seed)
        )
        warn_if_worse_than_a_constant(classifier.predict_proba, texts, dev_texts, self.class_weights)
        return classifier

    def _tried(
        self, rows: Any, labels: npt.NDArray[np.int64], by_label: npt.NDArray[np.float64], choose: bool, seed: int
    ) -> Iterator[tuple[float, npt.NDArray[np.float64]]]:
        """Each value of C with the weights it leads to, smallest first."""
        from threadpoolctl import threadpool_limits

        scale = _Scale(rows)
        values = [C * (DENSE if scale.dense else 1) for C in (self.choices if choose else (self.default,))]
        values = values if self.C is None else [self.C]
        scaled = scale.transform(rows)
        per_row, count = by_label[labels], len(np.unique(labels))
        for C in track(values, f"train {self.name}", len(values)):
            with threadpool_limits(1, user_api="blas"):
                model = self._solver(C, child_seed(seed, self.name), count)
                model.fit(scaled, labels, sample_weight=per_row)
            yield C, scale.undone(_columns(model))

    def _features(self, texts: Sequence[str]) -> Any:
        made = VOCABULARIES.get(str(self.features))
        return self._encoder() if made is None else made(texts)

    def _encoder(self) -> Vectors:
        """The features that are not made of the training texts."""
        if isinstance(self.features, str):
            return Vectors.named(self.features)
        encode = getattr(self.features, "encode", self.features)
        if not callable(encode) or isinstance(self.features, type):
            raise InputError(
                "features are wrong",
                expected="'tfidf', 'characters', the name of an encoder, an object with encode, or a function of texts",
                got=repr(self.features),
            )
        return Vectors(encode)

    def _settings(self, features: Any, C: float, seed: int) -> dict[str, Any]:
        own = self.features if isinstance(features, Vocabulary) else features.name
        named = own or type(self.features).__name__
        return {
            "recipe": self.name,
            "features": named,
            "C": C,
            "class_weights": dict(self.class_weights) if isinstance(self.class_weights, dict) else self.class_weights,
            "seed": seed,
        }

    @abstractmethod
    def _solver(self, C: float, seed: int, labels: int) -> Any:
        """The estimator of scikit-learn that finds the weights for so many labels."""

    def _calibrated(self, judge: _Judge, weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        return judge.loss(weights), weights


class LogisticRegression(_Linear):
    """Multinomial logistic regression.

    On TF-IDF of words, pairs of words and pieces of words, or on the vectors of an encoder, which are
    standardised. C is chosen on dev by log loss among four values; without dev texts it is 10 (0.1 on vectors).
    """

    name: ClassVar = "logistic.v1"
    default: ClassVar = 10.0
    choices: ClassVar[tuple[float, ...]] = (0.1, 1.0, 10.0, 100.0)

    def _solver(self, C: float, seed: int, labels: int) -> Any:
        from sklearn.linear_model import LogisticRegression as Solver

        return Solver(C=C, max_iter=500, tol=1e-4, random_state=seed)


@dataclass(eq=False)
class CharacterLogistic(LogisticRegression):
    """Logistic regression on pieces of two to six characters, labels balanced: the classifier of Bianchi et al. (2022).

    C is the value with the highest accuracy (their micro F1) in five folds of the training texts, over whose terms the
    vocabulary is made once; dev has no part in it. Two labels are solved by liblinear and more by Newton's method,
    which find within minutes what their solver (saga) looks for.
    """

    name: ClassVar = "char-ngrams.v1"
    default: ClassVar = 1.0
    choices: ClassVar[tuple[float, ...]] = (0.1, 0.5, 1.0, 2.0, 5.0)
    needs_dev: ClassVar = False
    folds: ClassVar = 5

    features: Features = "characters"
    _: KW_ONLY
    class_weights: ClassWeights = "balanced"

    def fit(self, train: Dataset, dev: Dataset, seed: int = 42) -> LinearClassifier:
        """The classifier trained on `train`, with the C that its folds choose unless it is given."""
        recipe = self if self.C is not None else replace(self, C=self._chosen(train, dev, seed))
        return super(CharacterLogistic, recipe).fit(train, dev.take([]), seed)

    def _chosen(self, train: Dataset, dev: Dataset, seed: int) -> float:
        """The C of the most right answers about texts of other folds; the smallest of several."""
        from sklearn.model_selection import StratifiedKFold

        texts, _ = training_texts(train, dev)
        folds = min(self.folds, int(np.bincount(texts.labels)[texts.present].min()))
        if folds < 2:
            return self.default
        rows, by_label = self._features(texts.texts).transform(texts.texts), label_weights(texts, self.class_weights)
        right: dict[float, int] = {}
        dealt = StratifiedKFold(folds, shuffle=True, random_state=child_seed(seed, "folds"))
        for learnt, held in dealt.split(rows, texts.labels):
            for C, weights in self._tried(rows[learnt], texts.labels[learnt], by_label, True, seed):
                predicted = texts.present[_scores(rows[held], weights).argmax(axis=1)]
                right[C] = right.get(C, 0) + int((predicted == texts.labels[held]).sum())
        return max(right, key=lambda C: (right[C], -C))

    def _solver(self, C: float, seed: int, labels: int) -> Any:
        from sklearn.linear_model import LogisticRegression as Solver

        return Solver(C=C, solver="liblinear" if labels == 2 else "newton-cg", max_iter=1000, random_state=seed)


class LinearSVM(_Linear):
    """Linear support vector machine, one label against the rest.

    Probabilities are a softmax over its margins times one factor, the one with the lowest log loss on dev
    (temperature scaling); the order of the labels is that of the margins. Without dev texts the factor is
    1, C is 1 (0.01 on vectors) and the probabilities are rough: only the order of labels is to be trusted.
    """

    name: ClassVar = "svm.v1"

    def _solver(self, C: float, seed: int, labels: int) -> Any:
        from sklearn.svm import LinearSVC

        return LinearSVC(C=C, random_state=seed, max_iter=2000)

    def _calibrated(self, judge: _Judge, weights: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        if not len(judge):
            return judge.loss(weights), weights
        losses = [judge.loss(weights * factor) for factor in TEMPERATURES]
        best = int(np.argmin(losses))
        return losses[best], weights * TEMPERATURES[best]


class _Judge:
    """Log loss, weighted by label, on the dev texts whose label was trained on."""

    def __init__(
        self, features: Any, dev: LabelledTexts, present: npt.NDArray[np.intp], by_label: npt.NDArray[np.float64]
    ) -> None:
        known = np.isin(dev.labels, present)
        self.columns = np.searchsorted(present, dev.labels[known])
        self.per_row = by_label[dev.labels[known]]
        texts = [text for text, keep in zip(dev.texts, known, strict=True) if keep]
        self.rows = features.transform(texts) if texts else None

    def __len__(self) -> int:
        return len(self.columns)

    def loss(self, weights: npt.NDArray[np.float64]) -> float:
        """Weighted mean log loss; zero without texts."""
        if not len(self):
            return 0.0
        return log_loss(softmax(_scores(self.rows, weights), axis=1)[np.arange(len(self)), self.columns], self.per_row)


class _Scale:
    """Dense features as standard scores; sparse ones stay as they are."""

    def __init__(self, rows: Any) -> None:
        self.dense = isinstance(rows, np.ndarray)
        if self.dense:
            self.mean = rows.mean(axis=0)
            self.spread = np.where(rows.std(axis=0) > 0, rows.std(axis=0), 1.0)

    def transform(self, rows: Any) -> Any:
        return (rows - self.mean) / self.spread if self.dense else rows

    def undone(self, weights: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The weights that do to raw features what `weights` do to standard scores."""
        if not self.dense:
            return weights
        raw = weights[:-1] / self.spread[:, None]
        return np.vstack([raw, weights[-1] - self.mean @ raw])


def _columns(model: Any) -> npt.NDArray[np.float64]:
    """Weights [features + 1, labels] of a fitted scikit-learn model; a second label is the first one's opposite."""
    weights = np.vstack([model.coef_.T, model.intercept_[None, :]])
    return np.hstack([np.zeros_like(weights), weights]) if weights.shape[1] == 1 else weights
