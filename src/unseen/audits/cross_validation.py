"""What a light model says about rows it was not trained on, for all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen.errors import InputError
from unseen.inference import predict
from unseen.progress import track
from unseen.seeding import child_seed, generator
from unseen.types import Dataset, Origin, Predictions

DEV = 10
"""One of so many training rows is for tuning."""


def cross_validated(
    data: Dataset,
    rows: npt.NDArray[np.intp] | None = None,
    *,
    recipe: Any = None,
    folds: int = 5,
    seed: int = 42,
) -> Predictions:
    """Out-of-fold probabilities of `rows` (default: all), in their order.

    Each fold is predicted by a model trained on the others; folds have equal class mixes. Rows with
    the same text are in one fold, so that no text is judged by a model that has seen it with its label.
    `recipe` is a recipe or the name of one; by default logistic regression on TF-IDF.
    """
    from unseen.training import RECIPES

    rows = np.arange(len(data)) if rows is None else np.asarray(rows)
    if not 2 <= folds <= len(rows):
        raise InputError("folds must be at least 2 and at most the rows", got=f"{folds} folds of {len(rows)} rows")
    recipe = "logistic" if recipe is None else recipe
    name, made = (recipe, RECIPES.make(recipe)) if isinstance(recipe, str) else (type(recipe).__name__, recipe)
    chosen = data.take(rows)
    fold = dealt(chosen, folds, seed)
    probabilities = np.empty((len(rows), len(data.label_names)))
    for number in track(range(folds), "cross-validation", folds):
        held, others = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if not len(held):
            continue
        tuned = dealt(chosen.take(others), DEV, child_seed(seed, "dev", number)) == 0
        train, dev = chosen.take(others[~tuned]), chosen.take(others[tuned])
        classifier = made.fit(train, dev, child_seed(seed, "fold", number))
        probabilities[held] = predict(classifier, chosen, held, work=f"fold {number + 1}").probabilities
    origin = Origin("cross_validated", {"folds": folds, "recipe": name}, seed, {"dataset": data.fingerprint})
    return Predictions(chosen.ids, probabilities, data.label_names, origin)


def dealt(data: Dataset, folds: int, seed: int, groups: str | None = None) -> npt.NDArray[np.intp]:
    """The fold of each row: distinct texts of one label (that of their first id) dealt out in random order.

    With `groups`, what is dealt out are the values of that attribute. The order of rows decides nothing.
    """
    by_id = data.by_id
    units = (data.texts if groups is None else data.attribute(groups)).take(pa.array(by_id)).combine_chunks()
    codes = units.dictionary_encode("encode").indices.to_numpy(zero_copy_only=False)
    first = np.unique(codes, return_index=True)[1]  # codes are 0, 1, …: the place in `first` is the code
    labels = data.labels[by_id[first]]
    shuffled = generator(seed, "folds").permutation(len(first))
    of_text = np.empty(len(first), np.intp)
    of_text[shuffled[np.argsort(labels[shuffled], kind="stable")]] = np.arange(len(first)) % folds
    fold = np.empty(len(data), np.intp)
    fold[by_id] = of_text[codes]
    return fold
