"""Transformers that stop early on Davidson's tweets: docs/results/depth.md.

python -m studies.depth FOLDER [train] [static] [mean] [time] [page]

`train` trains every arm on a random and on a hard split and keeps what each layer says about every text, `static`
trains MiniLM cut to three layers, `mean` trains the arms that read every layer by the mean of its tokens, `time` asks
some of the models with a clock, `page` writes the page. Without names all of it is done. What is done is kept in
FOLDER.
The real data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured
from scipy.stats import spearmanr

import unseen
from unseen import inference
from unseen.data.tables import load_table
from unseen.evaluation.measurements import aligned
from unseen.reports.figures import CurvePoint, Series, curve_chart
from unseen.representations.checkpoints import find_checkpoint
from unseen.runs.chosen_texts import some_texts
from unseen.seeding import generator
from unseen.store import (
    read_exits,
    read_json,
    read_predictions,
    read_split,
    write_exits,
    write_json,
    write_predictions,
    write_split,
)
from unseen.training.adaptive import Adaptive, AdaptiveClassifier
from unseen.training.halting import NEVER
from unseen.training.transformer import Transformer
from unseen.training.transformer_classifier import TransformerClassifier
from unseen.types import Dataset, ExitTrace, Split
from unseen.types.arrays import Codes, Floats

SEEDS = (42, 55, 83)
TEXTS, TEST, DEV = 4_000, 2_000, 400
EPOCHS, HALTING_EPOCHS = 3, 2
TAUS = (5e-3, 5e-2, 1e-1, 5e-1)
"""Three of the five published operating points and one between the last of them; below, nothing stops early."""
TAUGHT = (5e-3, 2e-2, 5e-2, 1e-1)
"""Where every layer is taught to answer; above, everything collapses into the first layers."""
HARD_TAU = 5e-2
"""The one that is trained on the hard split too."""
TIMED, REPEATS, DRAWS = 200, 5, 400
CLOCKS = ("clock", "processor")
PAGE = ROOT / "docs" / "results" / "depth.md"
PICTURE, MEAN_PICTURE = PAGE.with_suffix(".svg"), PAGE.with_name("depth-mean.svg")


@dataclass(frozen=True)
class Arm:
    """One model of the comparison."""

    halting: str
    tau: float | None = None
    taught: bool = False
    """Whether the loss of all layers is added to that of dact."""
    split: str = "random"
    """`closest` is the hard one."""
    pooling: str = "class"
    """How a layer is read."""

    @property
    def name(self) -> str:
        """Its name in files."""
        rule = f"{self.halting}-taught" if self.taught else self.halting
        read = "" if self.pooling == "class" else f".{self.pooling}"
        return f"{self.split}{read}.{rule}" + (f"-{self.tau:g}" if self.tau else "")

    def recipe(self) -> Adaptive:
        """How it is trained, from a network that is fine-tuned already."""
        given = {"tau": self.tau, "layer_loss": float(self.taught)} if self.tau else {}
        return Adaptive(
            halting=self.halting, epochs=EPOCHS, halting_epochs=HALTING_EPOCHS, pooling=self.pooling, **given
        )


RULES = (
    *(Arm("dact", tau, taught=True) for tau in TAUGHT), Arm("entropy"), Arm("patience"),
    *(Arm("dact", tau) for tau in TAUS),
)  # fmt: skip
HARD = (
    Arm("dact", HARD_TAU, taught=True, split="closest"), Arm("entropy", split="closest"),
    Arm("patience", split="closest"),
)  # fmt: skip


MEAN_ARMS = (
    Arm("entropy", pooling="mean"), Arm("patience", pooling="mean"), *(Arm("dact", tau, pooling="mean") for tau in TAUS),
)  # fmt: skip
MEAN_HARD = (
    Arm("dact", 1e-1, split="closest", pooling="mean"), Arm("entropy", split="closest", pooling="mean"),
    Arm("patience", split="closest", pooling="mean"),
)  # fmt: skip
TIMED_ARMS = (
    Arm("dact", HARD_TAU, taught=True), Arm("entropy"), Arm("patience"), *(replace(arm, split="random") for arm in MEAN_HARD),
)  # fmt: skip


@cache
def tweets() -> Dataset:
    """The tweets, drawn from all."""
    path = real_file("davidson", "labeled_data.csv")
    names = {"0": "hate", "1": "offensive", "2": "neither"}
    return some_texts(load_table(path, text="tweet", label="class", labels=names), TEXTS, SEEDS[0])


def split_of(folder: Path, kind: str) -> Split:
    """The random split, or the hard one, cut in the space of the network that was trained on the random one."""
    path, data = folder / f"{kind}.csv", tweets()
    if not path.exists():
        more = {"using": unseen.encode(data, network(folder, "random", SEEDS[0]))} if kind == "closest" else {}
        write_split(unseen.split(data, kind, test=TEST, dev=DEV, seed=SEEDS[0], **more), path)
    return read_split(path, data)


def network(folder: Path, kind: str, seed: int, pooling: str = "class") -> TransformerClassifier:
    """The first phase of every arm: MiniLM fine-tuned on a split."""
    name = kind if pooling == "class" else f"{kind}.{pooling}"
    return network_at(folder / "networks" / f"{name}.seed-{seed}", folder, kind, seed, "minilm", pooling)


def network_at(
    place: Path, folder: Path, kind: str, seed: int, encoder: str, pooling: str = "class"
) -> TransformerClassifier:
    """An encoder fine-tuned on a split, as it was kept, or trained now."""
    if not (place / "unseen.json").exists():
        data, split = tweets(), split_of(folder, kind)
        train, dev = data.take(split.rows("train")), data.take(split.rows("dev"))
        recipe = Transformer(encoder, epochs=EPOCHS, pooling=pooling)
        recipe.fit(train, dev, seed, scratch=folder / "scratch" / place.name).save(place)
    return TransformerClassifier.load(place)


def train(folder: Path, arms: Sequence[Arm] = (*HARD, *RULES), seeds: Sequence[int] = SEEDS) -> None:
    """Every arm with every seed: what it says, and what each of its layers says, about all texts it has not learnt."""
    for seed in seeds:
        for arm in arms:
            data = tweets()
            kept = folder / "arms" / f"{arm.name}.seed-{seed}"
            if (kept / "predictions.parquet").exists():
                continue
            split = split_of(folder, arm.split)
            start = network(folder, arm.split, seed, arm.pooling)
            model = arm.recipe().fit(data.take(split.rows("train")), data.take(split.rows("dev")), seed, start=start)
            if seed == SEEDS[0]:
                model.save(folder / "models" / arm.name)
            asked = data.take(np.sort(np.concatenate([split.rows("dev"), split.rows("test")])))
            write_exits(model.trace(asked.texts.to_pylist(), asked.ids.to_pylist()), kept / "exits.parquet")
            write_predictions(inference.predict(model, asked), kept / "predictions.parquet")
            print(arm.name, seed, flush=True)


def read_by_the_mean(folder: Path) -> None:
    """Is it the class token? The same rules, each layer read by the mean of its tokens, as MiniLM was trained to be."""
    train(folder, (*MEAN_ARMS, *MEAN_HARD))


def static(folder: Path) -> None:
    """MiniLM cut to three layers, fine-tuned in the same way: what half the depth is worth without early exits."""
    from transformers import AutoModel, AutoTokenizer

    cut = folder / "minilm-3"
    if not (cut / "config.json").exists():
        place = find_checkpoint("minilm").place
        network = AutoModel.from_pretrained(place)
        network.encoder.layer = network.encoder.layer[:3]
        network.config.num_hidden_layers = 3
        network.save_pretrained(cut)
        AutoTokenizer.from_pretrained(place).save_pretrained(cut)
    for seed in SEEDS:
        network_of_three = network_at(
            folder / "networks" / f"three-layers.seed-{seed}", folder, "random", seed, str(cut)
        )
        kept = folder / "arms" / f"random.three-layers.seed-{seed}" / "predictions.parquet"
        if not kept.exists():
            test = tweets().take(split_of(folder, "random").rows("test"))
            write_predictions(inference.predict(network_of_three, test), kept)


def clock(folder: Path) -> None:
    """Seconds for a text at batches of 1 and 64, by the clock and of the processor: early and to the end, in turns."""
    texts = tweets().take(split_of(folder, "random").rows("test")).texts.to_pylist()[:TIMED]
    times: dict[str, dict[str, list[float]]] = {}
    for arm in TIMED_ARMS:
        model = AdaptiveClassifier.load(folder / "models" / arm.name)
        own = float(model.exits.threshold)
        for batch in (1, 64):
            for _ in range(REPEATS):
                for way, threshold in (("early", own), ("full", NEVER)):
                    model.exits.threshold.fill_(threshold)
                    begun = time.perf_counter(), time.process_time()
                    for start in range(0, len(texts), batch):
                        model.predict_proba(texts[start : start + batch])
                    for kind, now, then in zip(CLOCKS, (time.perf_counter(), time.process_time()), begun, strict=True):
                        spent = (now - then) / len(texts)
                        times.setdefault(arm.name, {}).setdefault(f"{way} {batch} {kind}", []).append(spent)
    write_json(folder / "times.json", times)


# -- the page ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Operating points of one rule: depth as a share [seeds, points, texts], and whether answers are right."""

    depths: Floats
    right: Floats

    def area(self, low: float, times: Floats, seeds: Sequence[int]) -> Floats:
        """Mean accuracy over compute from `low` to 1 [draws], each text counted `times` [draws, texts]."""
        weights = times / times.sum(axis=1, keepdims=True)
        depth, right = (
            np.mean([weights @ values[seed].T for seed in seeds], axis=0) for values in (self.depths, self.right)
        )
        grid = np.linspace(low, 1, 101)
        areas = []
        for x, y in zip(depth, right, strict=True):
            order = np.argsort(x, kind="stable")
            areas.append(np.interp(grid, x[order], y[order]).mean())
        return np.array(areas)


def done(folder: Path) -> list[int]:
    """The seeds with which every arm is trained."""
    return [
        seed
        for seed in SEEDS
        if all(
            (folder / "arms" / f"{arm.name}.seed-{seed}" / "predictions.parquet").exists()
            for arm in (*HARD, *RULES, *MEAN_ARMS, *MEAN_HARD)
        )
    ]


def traces(folder: Path, arm: Arm, seeds: Sequence[int] | None = None) -> list[tuple[ExitTrace, Codes]]:
    """Of these seeds, or of every one with which all is done: what layers say about the test texts, the right labels."""
    test = tweets().take(split_of(folder, arm.split).rows("test"))
    known = done(folder) if seeds is None else seeds
    places = [folder / "arms" / f"{arm.name}.seed-{seed}" / "exits.parquet" for seed in known]
    return [(read_exits(place).of(test.ids), test.labels) for place in places]


def confidences(folder: Path, arm: Arm, seeds: Sequence[int] | None = None) -> list[Floats]:
    """How probable the answers to the test texts are that each seed's model gives, stopped early."""
    test = tweets().take(split_of(folder, arm.split).rows("test"))
    places = [folder / "arms" / f"{arm.name}.seed-{seed}" for seed in (done(folder) if seeds is None else seeds)]
    every = np.arange(len(test))
    return [aligned(test, read_predictions(at / "predictions.parquet", test), every).max(axis=1) for at in places]


def curves(folder: Path, pooling: str = "class") -> dict[str, Curve]:
    """The operating points of each rule, as published; every rule also at full depth."""
    entropies = [-threshold for threshold in np.arange(0, np.log(3) + 0.05, 0.05)]
    made: dict[str, Curve] = {}
    for name, thresholds in (("entropy", entropies), ("patience", [1.0, 2.0, 3.0, 4.0, 5.0])):
        known = traces(folder, Arm(name, pooling=pooling), SEEDS)
        made[name] = _curve([[(trace, gold, at) for at in (*thresholds, NEVER)] for trace, gold in known])
    taught = (("dact, layers taught", TAUGHT, True),) if pooling == "class" else ()
    for name, taus, is_taught in (("dact", TAUS, False), *taught):
        by_tau = [traces(folder, Arm("dact", tau, is_taught, pooling=pooling), SEEDS) for tau in taus]
        made[name] = _curve([[(*one, 0.0) for one in of_seed] for of_seed in zip(*by_tau, strict=True)])
    return made


def points_table(known: Mapping[str, Curve], picture: Path) -> str:
    """Every operating point of every rule: compute and accuracy, means over seeds; also drawn."""
    points = {
        name: sorted(zip(curve.depths.mean(axis=(0, 2)).tolist(), curve.right.mean(axis=(0, 2)).tolist(), strict=True))
        for name, curve in known.items()
    }
    series = [Series(name, tuple(CurvePoint(x, y) for x, y in of_rule)) for name, of_rule in points.items()]
    picture.write_text(curve_chart(series, "share of layers that ran", "accuracy"), encoding="utf-8")
    rows = [[name, " ".join(f"{x:.2f}:{y:.3f}" for x, y in dict.fromkeys(of_rule))] for name, of_rule in points.items()]
    return table(["rule", "compute:accuracy at each operating point"], rows)


def _curve(points: Sequence[Sequence[tuple[ExitTrace, Codes, float]]]) -> Curve:
    depths = [[trace.depths(at) / trace.layers for trace, _, at in of_seed] for of_seed in points]
    right = [[trace.at(trace.depths(at)) == gold for trace, gold, at in of_seed] for of_seed in points]
    return Curve(np.array(depths, float), np.array(right, float))


def areas(known: Mapping[str, Curve]) -> str:
    """Areas over the compute that all rules reach, and differences to `dact` as published, over texts and seeds."""
    low = max(float(curve.depths.mean(axis=(0, 2)).min()) for curve in known.values())
    seeds, texts = min(len(curve.right) for curve in known.values()), known["dact"].right.shape[2]
    draw = generator(SEEDS[0], "area")
    everything, all_seeds = np.ones((1, texts)), range(seeds)
    drawn: dict[str, list[float]] = {name: [] for name in known}
    for _ in range(DRAWS):
        times = np.bincount(draw.integers(texts, size=texts), minlength=texts)[None].astype(float)
        chosen = draw.integers(seeds, size=seeds).tolist()
        for name, curve in known.items():
            drawn[name].append(float(curve.area(low, times, chosen)[0]))
    rows = []
    for name, curve in known.items():
        value = float(curve.area(low, everything, all_seeds)[0])
        ends = np.percentile(drawn[name], [2.5, 97.5])
        apart = np.percentile(np.array(drawn[name]) - np.array(drawn["dact"]), [2.5, 97.5])
        least = float(curve.depths.mean(axis=(0, 2)).min())
        against = "" if name == "dact" else f"[{100 * apart[0]:.1f}, {100 * apart[1]:.1f}]"
        rows.append([name, f"{value:.3f} [{ends[0]:.3f}, {ends[1]:.3f}]", against, f"{least:.2f}"])
    heads = ["rule", f"area, compute from {low:.2f} to 1", "points apart from dact", "smallest compute"]
    return table(heads, rows)


def arm_rows(folder: Path, arms: Sequence[Arm], seeds: Sequence[int] | None = None) -> list[list[str]]:
    """Compute, accuracy and changed answers of arms at their own thresholds, the mean and range over seeds."""
    rows = []
    for arm in arms:
        known = traces(folder, arm, seeds)
        depths = [trace.depths() for trace, _ in known]
        stopped = [trace.at(depth) for (trace, _), depth in zip(known, depths, strict=True)]
        numbers = {
            "compute": [depth.mean() / trace.layers for (trace, _), depth in zip(known, depths, strict=True)],
            "accuracy": [(answer == gold).mean() for answer, (_, gold) in zip(stopped, known, strict=True)],
            "full": [(trace.answers[:, -1] == gold).mean() for trace, gold in known],
            "changed": [(answer != trace.answers[:, -1]).mean() for answer, (trace, _) in zip(stopped, known, strict=True)],
            "confidence": [spearmanr(depth, sure).statistic if len(set(depth.tolist())) > 1 else np.nan
                           for depth, sure in zip(depths, confidences(folder, arm, seeds), strict=True)],
            "error": [spearmanr(depth, answer != gold).statistic if len(set(depth.tolist())) > 1 else np.nan
                      for depth, answer, (_, gold) in zip(depths, stopped, known, strict=True)],
        }  # fmt: skip
        exits = np.mean([np.bincount(depth, minlength=7)[1:] / len(depth) for depth in depths], axis=0)
        after = np.mean([(trace.answers == gold[:, None]).mean(axis=0) for trace, gold in known], axis=0)
        rows.append([arm.name.partition(".")[2], *(ranged(values) for values in numbers.values()),
                     " ".join(f"{share:.0%}" for share in exits), " ".join(f"{share:.3f}" for share in after),
                     str(len(known))])  # fmt: skip
    return rows


def ranged(values: Sequence[float]) -> str:
    """The mean over seeds, and the lowest and highest."""
    if not np.isfinite(values).all():
        return "–"
    return f"{np.mean(values):.3f} ({min(values):.3f} to {max(values):.3f})"


HEADS = [
    "rule",
    "compute",
    "accuracy",
    "at full depth",
    "answers changed",
    "depth × confidence",
    "depth × error",
    "stops after layer 1 … 6",
    "accuracy if all stopped there",
    "seeds",
]


def page(folder: Path) -> None:
    """Write what is known between the marks of the page; what people wrote around them stays."""
    parts = [
        f"{machine()}. {TEXTS:,} of Davidson's tweets drawn at random (seed {SEEDS[0]}), {TEST:,} of them for testing, "
        f"{DEV} for dev; MiniLM, {EPOCHS} epochs of fine-tuning, {HALTING_EPOCHS} of the rule, trainings from seeds "
        f"{', '.join(map(str, done(folder)))}; compute is the share of layers that ran. In brackets after a mean: the lowest "
        "and highest of the seeds.\n",
        "\n## A random test part\n",
        table(HEADS, arm_rows(folder, RULES)),
    ]
    three = folder / "arms"
    scores = [
        float((read_predictions(place, test).probabilities.argmax(1) == test.labels).mean())
        for test in [tweets().take(split_of(folder, "random").rows("test"))]
        for place in sorted(three.glob("random.three-layers.seed-*/predictions.parquet"))
    ]
    if scores:
        parts.append(f"\nMiniLM cut to three layers, half the compute for every text: {ranged(scores)}.\n")
    known = curves(folder)
    parts += ["\n## Area under accuracy over compute\n", areas(known), "\n", points_table(known, PICTURE)]
    parts.append(f"\n![Accuracy over compute, a line for each rule]({PICTURE.name})\n")
    parts += ["\n## The hard split (closest)\n", table(HEADS, arm_rows(folder, HARD))]
    by_mean = curves(folder, "mean")
    parts += ["\n## Layers read by the mean of their tokens\n", table(HEADS, arm_rows(folder, MEAN_ARMS)), "\n"]
    parts += [areas(by_mean), "\n", points_table(by_mean, MEAN_PICTURE)]
    parts.append(f"\n![Accuracy over compute, each layer read by the mean]({MEAN_PICTURE.name})\n")
    parts += ["\nOn the hard split:\n", table(HEADS, arm_rows(folder, MEAN_HARD))]
    if (folder / "times.json").exists():
        rows = []
        for name, ways in read_json(folder / "times.json").items():
            ratios = [
                [early / full for early, full in zip(ways[f"early {at}"], ways[f"full {at}"], strict=True)]
                for at in (f"{batch} {kind}" for kind in CLOCKS for batch in (1, 64))
            ]
            rows.append(
                [name.partition(".")[2], *(f"{np.median(of):.2f} ({min(of):.2f} to {max(of):.2f})" for of in ratios)]
            )
        heads = ["rule", *(f"{kind}, batch {batch}: early ÷ full" for kind in CLOCKS for batch in (1, 64))]
        parts += ["\n## Time\n\nSeconds for a text, by the clock and of the processor, the median of "
                  f"{REPEATS} turns of {TIMED} tweets, one thread (seed {SEEDS[0]}).\n\n", table(heads, rows)]  # fmt: skip
    write_measured(PAGE, "Stopping early: what was measured", "\n".join(parts))


def main(folder: Path, *asked: str) -> None:
    """Do what was asked for."""
    steps = {"train": train, "static": static, "mean": read_by_the_mean, "time": clock, "page": page}
    for name, work in steps.items():
        if name in asked or not asked:
            work(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
