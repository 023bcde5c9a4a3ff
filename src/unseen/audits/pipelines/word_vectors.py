"""Features learnt with labels: on all rows, as it must not be, and inside each training fold.

The pipeline of Badjatiya et al. (2017) as Arango, Pérez & Poblete (SIGIR 2019, section 3.1) took it apart: a network
learns word vectors with the labels, a text is the mean of its words' vectors, and boosted trees are cross-validated
on these means. With the vectors learnt on all rows every fold has seen its test labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.word_networks import WordNetwork
from unseen.errors import InputError
from unseen.progress import track
from unseen.registry import check_parameters
from unseen.seeding import child_seed
from unseen.types import Dataset

Rows = npt.NDArray[np.intp]
Fold = tuple[Rows, Rows]
OutOfFold = list[tuple[Rows, npt.NDArray[np.float64]]]
"""For each fold the rows it tested and their probabilities, columns in the order of the data's labels."""

TREES = 100


def features_on_all_data(data: Dataset, folds: Sequence[Fold], seed: int = 42, **settings: Any) -> OutOfFold:
    """LEAKS: word vectors learnt from the texts and labels of all rows of the folds, test rows included.

    `settings` are those of `WordNetwork`, and `trees`.
    """
    network, trees = _made(settings)
    _refuse(data, folds)
    texts = data.texts.to_pylist()
    every = np.unique(np.concatenate([rows for fold in folds for rows in fold]))
    learnt = network.fit([texts[row] for row in every], data.labels[every], len(data.label_names), seed)
    vectors = learnt.mean_vectors(texts)
    return [
        (test, _boosted(vectors[train], data.labels[train], vectors[test], len(data.label_names), trees, seed))
        for train, test in track(folds, "boosted trees", len(folds))
    ]


def features_in_each_fold(data: Dataset, folds: Sequence[Fold], seed: int = 42, **settings: Any) -> OutOfFold:
    """The corrected form: word vectors learnt from the training rows of each fold alone."""
    network, trees = _made(settings)
    _refuse(data, folds)
    texts, found = data.texts.to_pylist(), []
    for number, (train, test) in enumerate(track(folds, "folds", len(folds))):
        seen, labels = [texts[row] for row in train], data.labels[train]
        learnt = network.fit(seen, labels, len(data.label_names), child_seed(seed, "fold", number))
        asked = learnt.mean_vectors([texts[row] for row in test])
        found.append((test, _boosted(learnt.mean_vectors(seen), labels, asked, len(data.label_names), trees, seed)))
    return found


def _made(settings: dict[str, Any]) -> tuple[WordNetwork, int]:
    """The network and the number of trees that `settings` ask for."""
    given = dict(settings)
    trees = given.pop("trees", TREES)
    check_parameters("the pipeline (besides 'trees')", WordNetwork, given)
    if trees < 1:
        raise InputError("trees must be at least 1", got=repr(trees))
    return WordNetwork(**given), trees


def _refuse(data: Dataset, folds: Sequence[Fold]) -> None:
    problems = []
    for number, (train, test) in enumerate(folds, start=1):
        if not len(train) or not len(test):
            problems.append(f"fold {number} has {len(train)} training and {len(test)} test rows")
        elif len(np.unique(data.labels[train])) < 2:
            problems.append(f"the training rows of fold {number} hold a single label")
        elif len(np.intersect1d(train, test)):
            problems.append(f"fold {number} has {len(np.intersect1d(train, test))} rows on both sides")
    if problems or not len(folds):
        raise InputError("the folds cannot be used", expected="pairs of training and test rows", problems=problems)


def _boosted(
    train: npt.NDArray[Any], labels: npt.NDArray[Any], test: npt.NDArray[Any], n_labels: int, trees: int, seed: int
) -> npt.NDArray[np.float64]:
    """What gradient-boosted trees say about `test` [rows, labels]."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    model = HistGradientBoostingClassifier(
        max_iter=trees, early_stopping=False, random_state=child_seed(seed, "trees")
    ).fit(train, labels)
    found = np.zeros((len(test), n_labels))
    found[:, model.classes_.astype(np.intp)] = model.predict_proba(test)
    return found
