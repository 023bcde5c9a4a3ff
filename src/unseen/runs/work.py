"""What is done in the long steps: learning a space, splitting it, training on the split.

Each function takes a Workspace and leaves files: `vectors.npy`, `model/`, `split.csv`, `predictions.parquet`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen import api, inference
from unseen.audits import seen_fold
from unseen.engines import Workspace
from unseen.naming import recipe_of
from unseen.representations.reduction import reduce as reduced
from unseen.runs.aside import joined
from unseen.runs.lexicon import Lexicon, Marking
from unseen.runs.source import Source
from unseen.splits import SPLITTERS
from unseen.splits.split_records import split_records
from unseen.store import read_embeddings, read_split, write_embeddings, write_predictions, write_split
from unseen.types import Dataset, Embeddings, Split

VECTORS, MODEL, SPLIT, PREDICTIONS = "vectors.npy", "model", "split.csv", "predictions.parquet"


def encode(here: Workspace) -> None:
    """The vectors of an encoder that is taken as it comes."""
    _encode(here, here.settings["encoder"])


def learn_space(here: Workspace) -> None:
    """Train on all rows that are not set aside, validated on those that are, and encode every row."""
    model = learnt(here)
    if hasattr(model, "save"):
        model.save(here.folder / MODEL)
    _encode(here, model if hasattr(model, "encode") else here.settings["encoder"])


def learnt(here: Workspace) -> Any:
    """The model of a step, trained on all rows that are not set aside, validated on those that are."""
    source: Source = here.shared["source"]
    seed = here.settings["seed"]
    train, dev = source.rest, source.independent
    if not len(dev):
        drawn = api.split(train, "random", test=0.1, seed=seed)
        train, dev = train.take(drawn.rows("train")), train.take(drawn.rows("test"))
    return fit(here.settings["model"], train, dev, seed, here.scratch / "training")


def _encode(here: Workspace, encoder: Any) -> None:
    data = here.shared["source"].data
    opening = here.settings.get("opening", {}) if isinstance(encoder, str) else {}
    partial = here.scratch / "encoding" / VECTORS
    found = api.encode(data, encoder, seed=here.settings["seed"], partial=partial, **opening)
    write_embeddings(found, here.folder / VECTORS, data)


def reduce_vectors(here: Workspace) -> None:
    """Fewer numbers per vector."""
    data, settings = here.shared["source"].data, here.settings
    found = vectors(here)
    fewer = reduced(np.asarray(found.vectors), settings["reduce"], settings["dimensions"], seed=settings["seed"])
    params = dict(found.origin.params) | {"reduce": settings["reduce"], "dimensions": settings["dimensions"]}
    write_embeddings(Embeddings(found.ids, fewer, replace(found.origin, params=params)), here.folder / VECTORS, data)


def split(here: Workspace) -> None:
    """Cut the rows that are not set aside into train, validation and test."""
    source: Source = here.shared["source"]
    settings = here.settings
    name = settings["splitter"]
    made = api.split(
        source.data,
        SPLITTERS.make(name, **settings["knobs"]),
        using=vectors(here) if "vectors" in here.needs else None,
        groups=next(iter(settings["groups"]), None),
        dev=settings["dev"],
        independent=source.aside if source.aside.any() else 0,
        seed=settings["seed"],
    )
    write_split(replace(made, origin=replace(made.origin, step=name)), here.folder / SPLIT)


def take_given_split(here: Workspace) -> None:
    """A split that somebody else made, with validation rows drawn where it names none."""
    source: Source = here.shared["source"]
    settings, name = here.settings, here.settings["name"]
    parts = source.given[name]
    dev = 0 if "dev" in parts else round(settings["dev"] * parts.count("train"))
    (made,) = split_records(
        SPLITTERS.make("predefined"), source.data, list(parts), dev=dev, independent=source.aside,
        seed=settings["seed"], name=name, step=SPLITTERS.full_name("predefined"),
    )  # fmt: skip
    write_split(made, here.folder / SPLIT)


def train(here: Workspace) -> None:
    """Train on one split, and predict every row that was not trained on."""
    cut = split_of(here)
    unseen = np.concatenate([cut.rows(part) for part in ("dev", "test", "independent")])
    _train_and_ask(here, cut, cut.rows("train"), np.sort(unseen))


def train_seen(here: Workspace) -> None:
    """Train as on the split, but with all folds of its test part but one, and predict that one."""
    cut, settings = split_of(here), here.settings
    fold = seen_fold(
        here.shared["source"].data, cut, settings["fold"], folds=settings["folds"],
        groups=next(iter(settings["groups"]), None), seed=settings["seed"],
    )  # fmt: skip
    _train_and_ask(here, cut, fold.train, fold.test)


def _train_and_ask(here: Workspace, cut: Split, rows: npt.NDArray[np.intp], asked: npt.NDArray[np.intp]) -> None:
    data, seed = here.shared["source"].data, here.settings["seed"]
    train = data.take(rows)
    if "added" in here.shared:
        train = joined(train, here.shared["added"].data)
    lexicon = Lexicon.of(here.shared["lexicon"].data) if "lexicon" in here.shared else None
    model = fit(here.settings["model"], train, data.take(cut.rows("dev")), seed, here.scratch, lexicon)
    write_predictions(inference.predict(model, data, asked), here.folder / PREDICTIONS)


def fit(
    model: Mapping[str, Any], train: Dataset, dev: Dataset, seed: int, scratch: Path, lexicon: Lexicon | None = None
) -> Any:
    """A trained model; one that can go on after an interruption keeps its progress in `scratch`."""
    recipe = recipe_of(model["model"], **model["params"])
    resumable = "scratch" in inspect.signature(recipe.fit).parameters
    marking = recipe if lexicon is None else Marking(recipe, lexicon)
    return marking.fit(train, dev, seed, **{"scratch": scratch} if resumable else {})


def vectors(here: Workspace) -> Embeddings:
    """The vectors that a step needs."""
    return read_embeddings(here.need("vectors", VECTORS), here.shared["source"].data)


def split_of(here: Workspace, role: str = "split", name: str | None = None) -> Split:
    """The split that a step needs, under the name that its study gives it."""
    found = read_split(here.need(role, SPLIT), here.shared["source"].data)
    return found if name is None else replace(found, name=name)
