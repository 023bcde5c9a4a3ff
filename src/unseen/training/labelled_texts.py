"""What recipes read of a dataset: texts, labels and the weight of each label."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.types import Dataset, some

ClassWeights = str | bool | Mapping[str, float] | None
"""None or False: all rows count the same. "balanced" or True: all labels do. "root": by the square root of that. Or a
weight per label."""


@dataclass(frozen=True, eq=False)
class LabelledTexts:
    """Texts and labels in the order of their ids, so that the order of rows decides nothing."""

    texts: list[str]
    labels: npt.NDArray[np.int64]
    """Position of each label in `label_names`."""
    label_names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Positions of the labels that occur."""
        return np.unique(self.labels).astype(np.intp)


def labelled_texts(data: Dataset) -> LabelledTexts:
    """The texts and labels of `data`, by id."""
    return LabelledTexts(data.texts_by_id(), data.labels[data.by_id].astype(np.int64), data.label_names)


def training_texts(train: Dataset, dev: Dataset) -> tuple[LabelledTexts, LabelledTexts]:
    """Both parts, after refusing what nothing can be learnt from."""
    if dev.label_names != train.label_names:
        raise MismatchError(
            "train and dev declare different labels", expected=some(train.label_names), got=some(dev.label_names)
        )
    if not len(train):
        raise InputError("there are no texts to train on", got=f"the training part of {train.name!r} is empty")
    texts = labelled_texts(train)
    if len(texts.present) < 2:
        raise InputError(
            "the training part holds a single label",
            expected="texts of at least two labels",
            got=f"{len(train)} texts labelled {train.label_names[texts.present[0]]!r}",
        )
    return texts, labelled_texts(dev)


def check_class_weights(class_weights: ClassWeights) -> None:
    """Refuse what gives labels no weight; whether labels that it names are there is seen in training."""
    if isinstance(class_weights, Mapping):
        if not all(isinstance(weight, Real) and 0 < weight < math.inf for weight in class_weights.values()):
            raise InputError("class_weights must be above zero", got=str(dict(class_weights)))
    elif not (class_weights is None or isinstance(class_weights, bool) or str(class_weights) in ("balanced", "root")):
        expected = "'balanced', 'root' or {label: weight}"
        raise InputError("class_weights is wrong", expected=expected, got=repr(class_weights))


def label_weights(train: LabelledTexts, class_weights: ClassWeights) -> npt.NDArray[np.float64]:
    """Weight of each declared label; weighted over the rows they average one."""
    counts = np.bincount(train.labels, minlength=len(train.label_names)).astype(np.float64)
    if class_weights is None or class_weights is False:
        return np.ones(len(counts))
    if class_weights is True or class_weights == "balanced":
        weights = np.where(counts > 0, 1 / np.maximum(counts, 1), 0.0)
    elif isinstance(class_weights, Mapping):
        weights = _given_weights(class_weights, train.label_names)
    else:
        weights = np.where(counts > 0, 1 / np.sqrt(np.maximum(counts, 1)), 0.0)
    return weights * counts.sum() / (weights * counts).sum()


def warn_if_worse_than_a_constant(
    predict: Callable[[list[str]], npt.NDArray[np.float64]],
    train: LabelledTexts,
    dev: LabelledTexts,
    class_weights: ClassWeights,
) -> None:
    """Warn when class weights led to a model that does worse on dev than the same probabilities for every text.

    Both are judged by weighted log loss on the dev texts whose label was trained on; the constant is the weighted
    share of each label in train, the best one known there. Without class weights or dev texts nothing is said.
    """
    known = np.isin(dev.labels, train.present)
    if class_weights is None or class_weights is False or not known.any():
        return
    by_label = label_weights(train, class_weights)
    constant = by_label * np.bincount(train.labels, minlength=len(by_label)) / len(train)
    labels = dev.labels[known]
    probabilities = predict([dev.texts[row] for row in np.flatnonzero(known)])[np.arange(len(labels)), labels]
    if log_loss(probabilities, by_label[labels]) > log_loss(constant[labels], by_label[labels]):
        warnings.warn(
            "a model trained with class weights is worse on its validation part than the same probabilities for every "
            "text: trust neither its probabilities nor its threshold; train it longer, take class_weights='root' or "
            "none, or add texts of the rare labels",
            UnseenWarning,
            stacklevel=3,
        )


def log_loss(probabilities: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Weighted mean log loss, given the probability of the right label of each row."""
    return float(np.average(-np.log(np.maximum(probabilities, 1e-15)), weights=weights))


def _given_weights(class_weights: Mapping[str, float], label_names: tuple[str, ...]) -> npt.NDArray[np.float64]:
    for name in class_weights:
        if name not in label_names:
            raise UnknownNameError.of("label", str(name), label_names)
    return np.array([class_weights.get(name, 1.0) for name in label_names], dtype=np.float64)
