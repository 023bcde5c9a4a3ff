"""Minority classes copied in the training part of given folds: the corrected form of `oversampled_before_split`.

`oversampled_in_training` makes its own test part; here the folds are somebody else's, so that they can hold new
authors, capped training rows or another dataset.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.examples import BILSTM, COPIES
from unseen.audits.pipelines.word_network import WordNetwork
from unseen.progress import track
from unseen.registry import check_parameters
from unseen.runs.validation.folds import Rows
from unseen.types import Dataset


def oversampled_in_each_fold(
    data: Dataset, folds: Sequence[tuple[Rows, Rows]], seed: int = 42, copies: int = COPIES, **settings: Any
) -> list[tuple[Rows, npt.NDArray[np.float64]]]:
    """For each fold the rows it tests and what a BiLSTM says that has read minority rows `copies` times.

    `settings` are those of `WordNetwork`. Every class but the largest of the training rows is copied.
    """
    check_parameters("the pipeline (besides 'copies')", WordNetwork, settings)
    network, texts, found = replace(BILSTM, **settings), data.texts.to_pylist(), []
    for train, test in track(folds, "folds", len(folds)):
        labels = data.labels[train]
        largest = np.bincount(labels).argmax()
        rows = np.repeat(train, np.where(labels == largest, 1, copies))
        learnt = network.fit([texts[row] for row in rows], data.labels[rows], len(data.label_names), seed)
        found.append((test, learnt.probabilities([texts[row] for row in test])))
    return found
