"""The long part of the main job: everything up to the predictions.

Set rows aside, fine-tune on the rest, take the vectors, split, train on every split, measure. Each step leaves
files in the run folder and is done once; see `unseen.study.folder`.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from unseen import api, inference
from unseen.errors import InputError
from unseen.progress import track
from unseen.splits import SPLITTERS
from unseen.splits.quotas import rows_asked
from unseen.store import (
    read_embeddings,
    read_json,
    read_predictions,
    read_split,
    write_embeddings,
    write_predictions,
    write_split,
)
from unseen.study.aside import Mask
from unseen.study.folder import RunFolder, key_of
from unseen.study.settings import Settings
from unseen.training import CLASSIFIERS
from unseen.types import Dataset, Embeddings, Predictions, Split

REPRESENTATION = "representation"


@dataclass(frozen=True, eq=False)
class Trained:
    """One training on a split, and what it said about the parts it was not trained on."""

    split: str
    family: str
    seed: int
    predictions: Predictions


class Pipeline:
    """The steps of one run, each asked for by the next."""

    def __init__(self, data: Dataset, aside: Mask, settings: Settings, folder: RunFolder) -> None:
        if not aside.any() or aside.all():
            raise InputError("the independent part needs rows, and so does the rest", got=f"{int(aside.sum())} rows")
        self.data, self.aside, self.settings, self.folder = data, aside, settings, folder
        self._model: Any = None

    @cached_property
    def basis(self) -> dict[str, Any]:
        """What decides every step: the data and which rows of it are independent."""
        aside = key_of("aside", np.flatnonzero(self.aside).tolist())
        return {"data": self.data.fingerprint, "order": self.data.order, "aside": aside}

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """What decides a training besides its data and seed."""
        described = self.settings.described()
        return {name: described[name] for name in ("model", "params", "recipe")}

    # -- the model whose space is split ---------------------------------------------------------------------------

    def represent(self) -> str:
        """Fine-tune on all rows that are not set aside, validated on those that are."""

        def make() -> None:
            self._model = self._fit_on_the_rest()
            shutil.rmtree(self.folder / "models" / REPRESENTATION, ignore_errors=True)
            if hasattr(self._model, "save"):
                self._model.save(self.folder / "models" / REPRESENTATION)

        decides = self.basis | self.recipe | {"seed": self.settings.seed}
        return self._trained_step(REPRESENTATION, decides, [], make)

    def encode(self) -> str:
        """One vector for every row, by that model or by the encoder that stands in for one without a space."""
        name = self.settings.vectors_name
        file = f"vectors/{name}.npy"
        partial = self.folder.scratch("vectors") / "partial.npy"
        settings = self.settings

        def make() -> None:
            reduction = settings.reduction
            reduced: dict[str, Any] = {"reduce": reduction[0], "dimensions": reduction[1]} if reduction else {}
            found = api.encode(self.data, self._encoder(), seed=settings.seed, partial=partial, **reduced)
            write_embeddings(found, self.folder / file, self.data)

        source = "pretrained" if self.encodes_untrained else self.represent()
        decides = self.basis | {"source": source, "model": settings.model, "as": settings.resolved_representation}
        key = self.folder.step("vectors", decides | {"seed": settings.seed}, [file], make)
        shutil.rmtree(partial.parent, ignore_errors=True)
        return key

    @cached_property
    def encodes_untrained(self) -> bool:
        """Whether the vectors come from a model that has not seen the labels."""
        return self.settings.is_pretrained or not getattr(self.settings.recipe(), "has_space", True)

    def _encoder(self) -> Any:
        if self.encodes_untrained:
            features = getattr(self.settings.recipe(), "features", None)
            stand_in = features if isinstance(features, str) else api.DEFAULT_ENCODER
            return self.settings.model if self.settings.is_transformer else stand_in
        if self._model is None:
            self._model = self._trained_model()
        return self._model if hasattr(self._model, "encode") else api.DEFAULT_ENCODER

    def _trained_model(self) -> Any:
        """The model of an earlier session, trained again if it could not be written."""
        folder = self.folder / "models" / REPRESENTATION
        if (folder / "unseen.json").is_file():
            return CLASSIFIERS.get(read_json(folder / "unseen.json")["classifier"]).load(folder)
        return self._fit_on_the_rest()

    def _fit_on_the_rest(self) -> Any:
        rest, independent = (self.data.take(np.flatnonzero(mask)) for mask in (~self.aside, self.aside))
        return self._fit(REPRESENTATION, rest, independent, self.settings.seed)

    # -- the splits -----------------------------------------------------------------------------------------------

    @cached_property
    def vectors(self) -> Embeddings:
        """The vectors of all rows."""
        return read_embeddings(self.folder / "vectors" / f"{self.settings.vectors_name}.npy", self.data)

    def split(self, name: str, family: str) -> str:
        """Cut the rows that are not set aside into train, validation and test."""
        settings, file = self.settings, f"splits/{name}.csv"
        reads_vectors = getattr(SPLITTERS.get(family), "reads", "vectors") == "vectors"
        decides = self.basis | {"family": family, "test": settings.test, "dev": settings.dev}
        decides |= {"groups": settings.groups, "seed": settings.seed}
        if settings.groups is not None:
            decides["members"] = content_of(self.data, [settings.groups])
        if reads_vectors:
            decides["vectors"] = self.encode()

        def make() -> None:
            rest = int((~self.aside).sum())
            dev = round(settings.dev * (rest - rows_asked(settings.test, rest, "test")))
            number = int(name.rpartition("-")[2]) if family == "random" else 0
            made = api.split(
                self.data,
                SPLITTERS.make(family, **self._knobs(family, number)),
                using=self.vectors if reads_vectors else None,
                groups=settings.groups,
                dev=dev,
                independent=self.aside,
                seed=settings.seed,
                name=name,
            )
            write_split(
                replace(made, origin=replace(made.origin, step=SPLITTERS.full_name(family))), self.folder / file
            )

        return self.folder.step(f"split-{name}", decides, [file, f"splits/{name}.json"], make)

    def _knobs(self, family: str, number: int) -> dict[str, Any]:
        takes = inspect.signature(SPLITTERS.get(family)).parameters
        knobs = {"test_size": self.settings.test, "random_state": self.settings.seed + number}
        return {name: value for name, value in knobs.items() if name in takes}

    def read_split(self, name: str) -> Split:
        """The split of that name."""
        return read_split(self.folder / "splits" / f"{name}.csv", self.data)

    # -- training on the splits -----------------------------------------------------------------------------------

    def train(self, name: str, family: str, seed: int) -> str:
        """Train on one split from one seed, and predict every row that was not trained on."""
        step = f"{name}-seed{seed}"
        file = f"predictions/{step}.parquet"
        decides = {"split": self.split(name, family), "seed": seed} | self.recipe

        def make() -> None:
            split = self.read_split(name)
            model = self._fit(step, self.data.take(split.rows("train")), self.data.take(split.rows("dev")), seed)
            unseen = np.concatenate([split.rows(part) for part in ("dev", "test", "independent")])
            write_predictions(inference.predict(model, self.data, np.sort(unseen)), self.folder / file)

        return self._trained_step(step, decides, [file], make)

    def trained(self) -> Iterator[Trained]:
        """Every training of the run with its predictions."""
        for name, family, seed in self.settings.runs:
            file = self.folder / "predictions" / f"{name}-seed{seed}.parquet"
            yield Trained(name, family, seed, read_predictions(file, self.data))

    def _fit(self, step: str, train: Dataset, dev: Dataset, seed: int) -> Any:
        recipe = self.settings.recipe()
        resumable = "scratch" in inspect.signature(recipe.fit).parameters
        return recipe.fit(train, dev, seed, **{"scratch": self.folder.scratch(step)} if resumable else {})

    def _trained_step(self, step: str, decides: Any, files: list[str], make: Any) -> str:
        key = self.folder.step(step, decides, files, make)
        shutil.rmtree(self.folder.scratch(step), ignore_errors=True)
        return key

    def train_all(self) -> dict[str, str]:
        """Everything that takes long; the key of each training."""
        runs = self.settings.runs
        return {
            f"{name}-seed{seed}": self.train(name, family, seed)
            for name, family, seed in track(runs, "trainings", len(runs))
        }


def content_of(data: Dataset, attributes: Sequence[str]) -> str:
    """Hash of the values of attributes, which the fingerprint of a dataset leaves out."""
    return key_of("attributes", {name: data.attribute(name).to_pylist() for name in attributes})
