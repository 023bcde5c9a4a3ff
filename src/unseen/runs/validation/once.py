"""Answers about rows that were copied before the split: each row once, and each class as often as in the data.

Copies of a class make it more frequent among the tested rows, and a row with more copies is more often tested; a
score on these rows differs from one on all data even where nothing leaks.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from unseen.runs.validation.folds import Rows
from unseen.runs.validation.materials import ValidationMaterials
from unseen.runs.validation.steps import ProtocolAnswers
from unseen.seeding import generator

ONCE = "once"
"""Slice of the scores in which no row counts twice."""


def tests_copies(answers: ProtocolAnswers) -> bool:
    """Whether some row is tested several times."""
    return len(np.unique(answers.rows)) < len(answers.rows)


def counted_once(answers: ProtocolAnswers, materials: ValidationMaterials) -> ProtocolAnswers:
    """The answers with every row once, by its mean probabilities, and the class mix of the study's own texts.

    Of classes that are tested more often than that, rows are left out at random.
    """
    rows, place, times = np.unique(answers.rows, return_inverse=True, return_counts=True)
    sums = np.zeros((len(rows), answers.probabilities.shape[1]))
    np.add.at(sums, place, answers.probabilities)
    kept = _in_mix(rows, materials, answers.seed)
    return replace(answers, rows=rows[kept], probabilities=(sums / times[:, None])[kept])


def _in_mix(rows: Rows, materials: ValidationMaterials, seed: int) -> Rows:
    """Places in `rows`, in order, as many as the class mix of the study's own texts allows."""
    labels = materials.pool.labels[rows]
    tested = np.bincount(labels, minlength=len(materials.pool.label_names))
    natural = np.bincount(materials.pool.labels[materials.own], minlength=len(tested))
    present = np.flatnonzero(tested)
    share = float((tested[present] / natural[present]).min())
    drawn = []
    for code in present.tolist():
        places = generator(seed, ONCE, code).permutation(np.flatnonzero(labels == code))
        drawn.append(places[: max(1, round(share * int(natural[code])))])
    return np.sort(np.concatenate(drawn))
