"""What forecasts are worth on real shifts: docs/results/forecast.md.

python -m studies.forecast FOLDER [SHIFT.MODEL…]

A shift is a group of labelled datasets of one task; every one is learnt from, and the model is asked about all others.
Answers are kept in FOLDER, so a run that was interrupted goes on; the page is written from all that is there. The real
data is looked for in $UNSEEN_DATA or in shared/data beside the checkout.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.setting import ROOT, machine, real_file, table, write_measured

import unseen
from unseen.evaluation.intervals import interval
from unseen.evaluation.metrics import metric
from unseen.forecasts.estimators import Answers, estimates, score_of, true_score
from unseen.forecasts.label_sample import ranking, strata_of
from unseen.forecasts.labelled import PartlyLabelled
from unseen.forecasts.ladder import ELSEWHERE, LEFT_OUT, Ladder, Rung, rungs_of_dropped_words
from unseen.forecasts.meaning import meaning_test, together
from unseen.naming import recipe_of
from unseen.representations import ENCODERS
from unseen.runs.experiment import relabelled
from unseen.types import Dataset

SEED = 42
MOST = 4_000
"""Texts of a dataset, drawn with the seed."""
MOST_ASKED = 2_000
"""Texts of a target that a model is asked about."""
LABELS, DRAWS = 100, 20
"""Labels of a sample, and how often a sample is drawn for each pair."""
WIDTH, MOST_LABELS = 0.07, 400
"""Of samples that grow by a quarter of `LABELS` until the interval is no wider (±)."""
PAGE = ROOT / "docs" / "results" / "forecast.md"
METRIC = metric("accuracy")


# -- the data ----------------------------------------------------------------------------------------------------------


def some_of(data: Dataset) -> Dataset:
    """Repeated texts once, and at most so many."""
    first = np.unique(np.array(data.texts.to_pylist(), dtype=object), return_index=True)[1]
    rows = np.random.default_rng(SEED).permutation(np.sort(first))[:MOST]
    return data.take(np.sort(rows))


def binary(data: Dataset, fine: Sequence[str]) -> Dataset:
    """Labels as fine and abusive."""
    renamed = {name: "fine" if name in fine else "abusive" for name in data.label_names}
    return some_of(relabelled(data, renamed, ("fine", "abusive")))


def reviews() -> dict[str, Dataset]:
    """Seven domains of reviews: the topic changes."""
    data = unseen.load(real_file("reviews", "reviews.csv"), attributes=["domain"])
    domains = np.array(data.attribute("domain").to_pylist())
    return {name: some_of(data.take(np.flatnonzero(domains == name))) for name in sorted(set(domains))}


def hate() -> dict[str, Dataset]:
    """Four corpora of abuse: what the label means changes."""
    hatexplain = unseen.load(real_file("hatexplain", "train_test.csv"), text="example")
    davidson = unseen.load(real_file("davidson", "labeled_data.csv"), text="tweet", label="class")
    stormfront = unseen.load(
        real_file("stormfront", "stormfront.csv"), labels={"hate": "hate", "noHate": "noHate"}, drop=["undeclared"]
    )
    offensive = unseen.load(real_file("tweeteval", "offensive.csv"))
    return {
        "hatexplain": binary(hatexplain, ["noHate"]),
        "davidson": binary(davidson, ["2"]),
        "stormfront": binary(stormfront, ["noHate"]),
        "offensive": binary(offensive, [name for name in offensive.label_names if name.startswith("no")]),
    }


def platforms() -> dict[str, Dataset]:
    """HateXplain's two platforms: one annotation, two places."""
    data = unseen.load(real_file("hatexplain", "train_test.csv"), text="example", attributes=["dataset"])
    places = np.array(data.attribute("dataset").to_pylist())
    return {name: binary(data.take(np.flatnonzero(places == name)), ["noHate"]) for name in ("gab", "twitter")}


SHIFTS: dict[str, Callable[[], dict[str, Dataset]]] = {"reviews": reviews, "hate": hate, "platforms": platforms}
TITLES = {
    "reviews": "the topic changes (seven domains of reviews)",
    "hate": "the meaning of the label changes (four corpora of abuse)",
    "platforms": "the platform changes (HateXplain, gab and twitter)",
}


# -- the models --------------------------------------------------------------------------------------------------------


class Remembered:
    """MiniLM as it comes, which encodes a text once."""

    def __init__(self) -> None:
        self.encoder = ENCODERS.make("minilm")
        self.known: dict[str, Any] = {}

    def encode(self, texts: Sequence[str]) -> Any:
        """One vector per text."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known |= dict(zip(new, self.encoder.encode(new), strict=True))
        return np.array([self.known[text] for text in texts])


MODELS: dict[str, Callable[[], Any]] = {
    "logistic": lambda: recipe_of("logistic"),
    "neural": lambda: recipe_of("neural"),
    "minilm-frozen": lambda: recipe_of("logistic", features=Remembered()),
    "minilm": lambda: recipe_of("minilm"),
}
FINE_TUNED = {"reviews": ("books", "kitchen"), "hate": ("hatexplain",)}
"""Of fine-tuning these sources alone."""
FEWER = {"reviews.minilm-frozen": 1_500, "reviews.minilm": 1_000, "hate.minilm": 1_000}
"""Texts of a dataset where a transformer reads many or long ones."""
RUNS = [*(f"{shift}.{model}" for shift in SHIFTS for model in list(MODELS)[:3]), "reviews.minilm", "hate.minilm"]


def sets_of(shift: str, model: str) -> dict[str, Dataset]:
    """The datasets of a shift, shorter where a model takes long."""
    most, sets = FEWER.get(f"{shift}.{model}"), SHIFTS[shift]()
    draw = np.random.default_rng(SEED)
    return (
        sets if most is None else {name: data.take(draw.permutation(len(data))[:most]) for name, data in sets.items()}
    )


def ask_all(recipe: Any, name: str, sets: Mapping[str, Dataset], file: Path) -> None:
    """Learn from four fifths of one dataset, and keep what the model says about the rest and about all others."""
    data, draw = sets[name], np.random.default_rng(SEED)
    rows = draw.permutation(len(data))
    home, dev, train = np.split(rows, [len(rows) // 5, len(rows) // 5 + len(rows) // 10])
    model = recipe.fit(data.take(train), data.take(dev), SEED)
    texts = data.texts.to_pylist()
    at_home = Answers(
        model.predict_proba([texts[row] for row in home]), data.labels[home], [texts[row] for row in home]
    )
    kept = {"home": at_home.probabilities, "rows": home}
    for share, rung in zip(
        LEFT_OUT, rungs_of_dropped_words(at_home, lambda asked: [model.predict_proba(asked)], seed=SEED), strict=True
    ):
        kept[f"left out {share}"] = rung.target.probabilities
    for other, target in sets.items():
        if other != name:
            kept[other] = model.predict_proba(target.texts.to_pylist()[:MOST_ASKED])
    np.savez(file, **kept)


@dataclass(frozen=True, eq=False)
class Pair:
    """What a model of one dataset says about another, its own ladder, and labelled answers from further places."""

    source: str
    target: str
    home: Answers
    made: list[Rung]
    elsewhere: list[Rung]
    answers: Answers
    """With labels: the truth."""
    label_names: tuple[str, ...]

    @cached_property
    def unlabelled(self) -> Answers:
        """What a forecast may see."""
        return Answers(self.answers.probabilities, None, self.answers.texts)

    @property
    def truth(self) -> float:
        """The accuracy that is to be forecast."""
        return true_score(self.answers, METRIC, self.label_names)


def pairs_of(name: str, sets: Mapping[str, Dataset], file: Path) -> list[Pair]:
    """The pairs of one source, from what was kept."""
    kept, data = np.load(file), sets[name]
    texts = data.texts.to_pylist()
    home = Answers(kept["home"], data.labels[kept["rows"]], [texts[row] for row in kept["rows"]])
    again = iter(kept[f"left out {share}"] for share in LEFT_OUT)
    made = rungs_of_dropped_words(home, lambda _: [next(again)], seed=SEED)
    others = {
        other: Answers(kept[other], target.labels[:MOST_ASKED], target.texts.to_pylist()[:MOST_ASKED])
        for other, target in sets.items()
        if other != name
    }
    return [
        Pair(
            name, target, home, made,
            [Rung(other, ELSEWHERE, home, far) for other, far in others.items() if other != target],
            answers, data.label_names,
        )
        for target, answers in others.items()
    ]  # fmt: skip


# -- what is measured --------------------------------------------------------------------------------------------------


def forecast_lines(pairs: Sequence[Pair]) -> list[list[str]]:
    """A line for each estimator as it comes, for the constant, and for ours with and without labels from elsewhere."""
    errors: dict[str, list[float]] = {}
    ours: dict[str, list[tuple[float, bool, float, bool]]] = {"words left out": [], "and labels from elsewhere": []}
    truths = [pair.truth for pair in pairs]
    for pair in pairs:
        tables = estimates(pair.home, pair.unlabelled)
        errors.setdefault("score at home", []).append(true_score(pair.home, METRIC, pair.label_names) - pair.truth)
        for name, joint in tables.items():
            errors.setdefault(name, []).append(score_of(joint, METRIC, pair.label_names) - pair.truth)
        for title, rungs in (("words left out", pair.made), ("and labels from elsewhere", pair.made + pair.elsewhere)):
            forecast = Ladder(rungs, pair.label_names).forecast(METRIC, pair.home, pair.unlabelled, tables)
            holds = forecast.low <= pair.truth <= forecast.high
            ours[title].append(
                (forecast.value - pair.truth, holds, (forecast.high - forecast.low) / 2, forecast.stands)
            )
    constant = [truth - (sum(truths) - truth) / (len(truths) - 1) for truth in truths]
    lines = [[name, *_errors(values), "–", "–", "–"] for name, values in (*errors.items(), ("constant", constant))]
    for title, rows in ours.items():
        error, holds, half, stands = np.array(rows, dtype=np.float64).T
        lines.append([
            f"**ours, {title}**", *_errors(error), f"{100 * holds.mean():.0f} %", f"± {100 * half.mean():.1f}",
            f"{int(len(rows) - stands.sum())} of {len(rows)}",
        ])  # fmt: skip
    return lines


def _errors(values: Sequence[float] | Any) -> list[str]:
    sizes = 100 * np.abs(np.asarray(values))
    return [f"{sizes.mean():.1f}", f"{sizes.max():.1f}"]


def label_lines(pairs: Sequence[Pair]) -> list[list[str]]:
    """Samples of labels: the mean error, the coverage and the width of each way to use them, for two metrics."""
    lines = []
    for name in ("accuracy", "f1.macro"):
        chosen, rows = metric(name), dict[str, list[tuple[float, float, float]]]()
        for pair in pairs:
            truth = true_score(pair.answers, chosen, pair.label_names)
            forecast = Ladder(pair.made, pair.label_names).forecast(
                chosen, pair.home, pair.unlabelled, estimates(pair.home, pair.unlabelled)
            )
            for draw in range(DRAWS):
                for title, low, value, high in _by_labels(pair, chosen, forecast, draw):
                    known = (abs(value - truth), float(low <= truth <= high), (high - low) / 2)
                    rows.setdefault(title, []).append(known)
        plain = np.mean([width for _, _, width in rows["plain"]])
        for title, values in rows.items():
            error, holds, width = np.array(values).T
            lines.append([
                name, title, f"{100 * error.mean():.1f}", f"{100 * holds.mean():.1f} %", f"± {100 * width.mean():.1f}",
                f"{100 * (1 - width.mean() / plain):.0f} %", f"{100 * len(values) / (DRAWS * len(pairs)):.0f} %",
            ])  # fmt: skip
    return lines


def _by_labels(pair: Pair, chosen: Any, forecast: Any, draw: int) -> list[tuple[str, float, float, float]]:
    probabilities, labels, names = pair.answers.probabilities, pair.answers.known, pair.label_names
    drawn = np.random.default_rng([SEED, draw]).permutation(len(labels))[:LABELS]
    plain = interval(chosen, labels[drawn], probabilities[drawn], names, draws=300, seed=draw)
    value = chosen(labels[drawn], probabilities[drawn], names)
    rows = [("plain", plain.low, value, plain.high)]
    for title, stratified in (("prediction-powered, at random", False), ("prediction-powered, stratified", True)):
        first = ranking(probabilities, LABELS, seed=draw, stratified=stratified)
        known = np.full(len(labels), -1)
        known[first] = labels[first]
        strata = strata_of(probabilities) if stratified else np.zeros(len(labels), np.int64)
        score = PartlyLabelled(probabilities, strata, known).score(chosen, names)
        rows.append((title, score.low, score.value, score.high))
        both = together(score, forecast)
    order = ranking(probabilities, MOST_LABELS, seed=draw)
    for count in range(LABELS // 2, MOST_LABELS + 1, LABELS // 4):
        known = np.full(len(labels), -1)
        known[order[:count]] = labels[order[:count]]
        grown = PartlyLabelled(probabilities, strata, known).score(chosen, names)
        if grown.width is not None and grown.width <= WIDTH:
            break
    rows.append((f"stratified, until ± {100 * WIDTH:.0f} points", grown.low, grown.value, grown.high))
    if both is not None:
        rows.append(("with the ladder (words left out)", both[1], both[0], both[2]))
    return [row for row in rows if None not in row]


def meaning_share(pairs: Sequence[Pair]) -> str:
    """How often labels are said to disagree more than a change of topic explains."""
    changed = []
    for pair in pairs:
        first = ranking(pair.answers.probabilities, LABELS, seed=SEED)
        known = np.full(len(pair.answers), -1)
        known[first] = pair.answers.known[first]
        sample = PartlyLabelled(pair.answers.probabilities, strata_of(pair.answers.probabilities), known)
        test = meaning_test(sample, pair.home, pair.made)
        changed.append(test is not None and test.changed)
    return f"{sum(changed)} of {len(changed)}"


# -- the page ----------------------------------------------------------------------------------------------------------


def write_page(out: Path) -> None:
    """The page with its tables made anew."""
    parts = [f"{machine()}; seed {SEED}.\n"]
    for shift in SHIFTS:
        for model in MODELS:
            sets = sets_of(shift, model)
            pairs = [pair for name in sets for pair in _kept_pairs(out, shift, model, name, sets)]
            if not pairs:
                continue
            mean = 100 * np.mean([pair.truth for pair in pairs])
            header = ["accuracy by", "mean error", "worst", "90 % interval holds", "its half", "refused"]
            parts.append(
                f"## {shift}, {model}\n\nWhere {TITLES[shift]}; {len(pairs)} pairs, mean accuracy {mean:.0f} %.\n"
            )
            parts.append(table(header, forecast_lines(pairs)))
            header = [
                "metric",
                f"{LABELS} labels",
                "mean error",
                "95 % interval holds",
                "its half",
                "narrower",
                "has one",
            ]
            parts.append(table(header, label_lines(pairs)))
            parts.append(f"Labels disagree more than a change of topic explains: {meaning_share(pairs)}.\n")
            print(shift, model, "written", flush=True)
    write_measured(PAGE, "Forecasts", "\n".join(parts))


def _kept_pairs(out: Path, shift: str, model: str, name: str, sets: Mapping[str, Dataset]) -> list[Pair]:
    file = out / f"{shift}.{model}.{name}.npz"
    return pairs_of(name, sets, file) if file.exists() else []


def main() -> None:
    """Ask what is missing, then write the page."""
    out, names = Path(sys.argv[1]), sys.argv[2:] or RUNS
    out.mkdir(parents=True, exist_ok=True)
    for run in names:
        if run == "page":
            continue
        shift, _, model = run.partition(".")
        sets, recipe = sets_of(shift, model), MODELS[model]()
        for name in sets if model != "minilm" else FINE_TUNED[shift]:
            file = out / f"{run}.{name}.npz"
            if not file.exists():
                print(run, name, flush=True)
                ask_all(recipe, name, sets, file)
    write_page(out)


if __name__ == "__main__":
    main()
