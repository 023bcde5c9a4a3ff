"""Minority classes copied: before the split, as it must not be, and in the training part only.

The pipeline of Agrawal & Awekar (2018) as Arango, Pérez & Poblete (SIGIR 2019, section 3.2) took it apart: rows of
the smaller classes are there three times, a BiLSTM is trained on one part and tested on the other. Copied before
the split, most of the tested minority texts are in the training part as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.audits.pipelines.word_networks import WordNetwork
from unseen.errors import InputError
from unseen.registry import check_parameters
from unseen.seeding import child_seed
from unseen.splits.random import RandomSplit
from unseen.types import Dataset

Rows = npt.NDArray[np.intp]
COPIES = 3
BILSTM = WordNetwork(embedding=50, hidden=50, both_ways=True)


def oversampled_before_split(
    data: Dataset, test: float = 0.15, seed: int = 42, groups: str | None = None, **settings: Any
) -> tuple[Rows, npt.NDArray[np.float64]]:
    """LEAKS: minority classes copied, then split. The rows tested, a copied one as often as it is tested.

    `settings` are those of `WordNetwork` (by default a BiLSTM of 2 × 50 on an embedding of 50), and `copies`.
    With `groups`, an attribute whose values stay on one side, the copies of a row stay together too, and nothing
    leaks any more.
    """
    network, copies = _made(settings)
    rows = _copied(data, np.arange(len(data)), copies)
    train, tested = _dealt(data, rows, test, seed, groups)
    return rows[tested], _answers(data, network, rows[train], rows[tested], seed)


def oversampled_in_training(
    data: Dataset, test: float = 0.15, seed: int = 42, groups: str | None = None, **settings: Any
) -> tuple[Rows, npt.NDArray[np.float64]]:
    """The corrected form: split first, then minority classes of the training rows copied. The rows tested."""
    network, copies = _made(settings)
    train, tested = _dealt(data, np.arange(len(data)), test, seed, groups)
    return tested, _answers(data, network, _copied(data, train, copies), tested, seed)


def _made(settings: dict[str, Any]) -> tuple[WordNetwork, int]:
    given = dict(settings)
    copies = given.pop("copies", COPIES)
    check_parameters("the pipeline (besides 'copies')", WordNetwork, given)
    if copies < 2:
        raise InputError("copies must be at least 2", got=repr(copies), fix="without copies nothing is oversampled")
    return replace(BILSTM, **given), copies


def _copied(data: Dataset, rows: Rows, copies: int) -> Rows:
    """`rows` with those of every class but the largest (of all data) as often as `copies` says."""
    largest = int(np.bincount(data.labels, minlength=len(data.label_names)).argmax())
    return np.repeat(rows, np.where(data.labels[rows] == largest, 1, copies))


def _dealt(data: Dataset, rows: Rows, test: float, seed: int, groups: str | None) -> tuple[Rows, Rows]:
    """Positions in `rows` for training and for testing, with the class mix of the rows."""
    labels = np.array(data.label_names)[data.labels[rows]]
    values = None if groups is None else np.asarray(data.attribute(groups).to_pylist(), dtype=object)[rows]
    splitter = RandomSplit(test, random_state=child_seed(seed, "deal"))
    train, tested = next(splitter.split(np.zeros(len(rows)), labels, values))
    return np.asarray(train, np.intp), np.asarray(tested, np.intp)


def _answers(data: Dataset, network: WordNetwork, train: Rows, test: Rows, seed: int) -> npt.NDArray[np.float64]:
    texts = data.texts.to_pylist()
    learnt = network.fit([texts[row] for row in train], data.labels[train], len(data.label_names), seed)
    return learnt.probabilities([texts[row] for row in test])
