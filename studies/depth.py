"""Transformers that stop early on Davidson's tweets: docs/results/depth.md.

python -m studies.depth FOLDER [train] [time] [page]

`train` trains every arm on a random and on a hard split and keeps what each layer says about every text, `time` asks
some of the models with a clock, `page` writes the page; all of it without names. What is done is kept in FOLDER. The
real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import real_file

import unseen
from unseen import inference
from unseen.data.tables import load_table
from unseen.runs.chosen_texts import some_texts
from unseen.store import read_split, write_exits, write_predictions, write_split
from unseen.training.adaptive import Adaptive
from unseen.training.transformer import Transformer
from unseen.training.transformer_classifier import TransformerClassifier
from unseen.types import Dataset, Split

SEEDS = (42, 55, 83)
TEXTS, TEST, DEV = 4_000, 2_000, 400
EPOCHS, HALTING_EPOCHS = 3, 2
TAUS = (5e-3, 5e-2, 1e-1, 5e-1)
"""Three of the five published operating points and one between the last of them; below, nothing stops early."""
TAUGHT = (5e-3, 2e-2, 5e-2, 1e-1)
"""Where every layer is taught to answer; above, everything collapses into the first layers."""
HARD_TAU = 5e-2
"""The one that is trained on the hard split too."""


@dataclass(frozen=True)
class Arm:
    """One model of the comparison."""

    halting: str
    tau: float | None = None
    taught: bool = False
    """Whether the loss of all layers is added to that of dact."""
    split: str = "random"

    @property
    def name(self) -> str:
        """Its name in files."""
        rule = f"{self.halting}-taught" if self.taught else self.halting
        return f"{self.split}.{rule}" + (f"-{self.tau:g}" if self.tau else "")

    def recipe(self) -> Adaptive:
        """How it is trained, from a network that is fine-tuned already."""
        given = {"tau": self.tau, "layer_loss": float(self.taught)} if self.tau else {}
        return Adaptive(halting=self.halting, epochs=EPOCHS, halting_epochs=HALTING_EPOCHS, **given)


RULES = (
    *(Arm("dact", tau, taught=True) for tau in TAUGHT), Arm("entropy"), Arm("patience"),
    *(Arm("dact", tau) for tau in TAUS),
)  # fmt: skip
HARD = (
    Arm("dact", HARD_TAU, taught=True, split="closest"), Arm("entropy", split="closest"),
    Arm("patience", split="closest"),
)  # fmt: skip


@cache
def tweets() -> Dataset:
    """The tweets of the study, drawn from all."""
    path = real_file("davidson", "labeled_data.csv")
    names = {"0": "hate", "1": "offensive", "2": "neither"}
    return some_texts(load_table(path, text="tweet", label="class", labels=names), TEXTS, SEEDS[0])


def split_of(folder: Path, kind: str) -> Split:
    """The random split, or the hard one, cut in the space of the network that was trained on the random one."""
    path, data = folder / f"{kind}.csv", tweets()
    if not path.exists():
        using = None
        if kind == "closest":
            using = unseen.encode(data, network(folder, "random", SEEDS[0]))
        more = {} if using is None else {"using": using}
        write_split(unseen.split(data, kind, test=TEST, dev=DEV, seed=SEEDS[0], **more), path)
    return read_split(path, data)


def network(folder: Path, kind: str, seed: int, **settings: Any) -> TransformerClassifier:
    """The first phase of every arm: MiniLM fine-tuned on a split."""
    name = "-".join([kind, *map(str, settings.values())]).replace("/", "-")
    place = folder / "networks" / f"{name}.seed-{seed}"
    if not (place / "unseen.json").exists():
        data, split = tweets(), split_of(folder, kind)
        recipe = Transformer(epochs=EPOCHS, **settings)
        train, dev = data.take(split.rows("train")), data.take(split.rows("dev"))
        recipe.fit(train, dev, seed, scratch=folder / "scratch" / place.name).save(place)
    return TransformerClassifier.load(place)


def train(folder: Path) -> None:
    """Every arm with every seed: what it says, and what each of its layers says, about all texts it has not learnt."""
    data = tweets()
    for seed in SEEDS:
        for arm in (*HARD, *RULES):
            kept = folder / "arms" / f"{arm.name}.seed-{seed}"
            if (kept / "predictions.parquet").exists():
                continue
            split = split_of(folder, arm.split)
            start = network(folder, arm.split, seed)
            model = arm.recipe().fit(data.take(split.rows("train")), data.take(split.rows("dev")), seed, start=start)
            if seed == SEEDS[0]:
                model.save(folder / "models" / arm.name)
            asked = data.take(np.sort(np.concatenate([split.rows("dev"), split.rows("test")])))
            write_exits(model.trace(asked.texts.to_pylist(), asked.ids.to_pylist()), kept / "exits.parquet")
            write_predictions(inference.predict(model, asked), kept / "predictions.parquet")
            print(arm.name, seed, flush=True)


def main(folder: Path, *asked: str) -> None:
    """Do what was asked for."""
    if not asked or "train" in asked:
        train(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
