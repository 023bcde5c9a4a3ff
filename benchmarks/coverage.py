"""How often intervals hold the truth, and how often a fall is seen where there is none: docs/results/intervals.md.

    python -m benchmarks.coverage

Data are drawn with a truth that is known, and the intervals are those of the package.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.special import expit, logit, ndtr

from benchmarks.setting import ROOT, machine, table
from unseen.audits.price import price_on_test
from unseen.evaluation import Run, fall, level, metric
from unseen.evaluation.bootstrap import bootstrap, percentiles
from unseen.evaluation.intervals import interval, widened
from unseen.functional.rates import difference, rate
from unseen.subgroups import Groups
from unseen.subgroups.subgroup import subgroup_measurements
from unseen.types import Dataset, Measurement, Predictions

SEED = 42
REPEATS = 500
DRAWS = 300
POINTS = (0.017, 0.034, 0.068)
NAMES = ("a", "b", "c")
PRIOR, RIGHT = np.array([0.5, 0.3, 0.2]), np.array([0.75, 0.65, 0.6])
Bounds = tuple[float | None, float | None]
Trial = Callable[[np.random.Generator], tuple[float, Bounds, Bounds]]
"""A truth, the interval, and the percentile bootstrap where it is compared with."""
NOT_COMPARED: Bounds = (None, None)


def main() -> None:
    """Simulate and write the page."""
    rows = [[what, cell, *_coverage(trial, number)] for number, (what, cell, trial) in enumerate(_cells())]
    worst = [[families, *_false_falls(families)] for families in (1, 2, 5)]
    leaks = [[units, f"{_false_prices(given):.3f}"] for units, given in (("rows", None), ("units", "author"))]
    page = (
        "# Do intervals hold?\n\n"
        f"{machine()}. Written by `python -m benchmarks.coverage`, seed {SEED}, {REPEATS} repetitions of each cell: "
        "a coverage of .95 is known to about ± .02. "
        f"Bootstraps have {DRAWS} draws.\n\n"
        "Nominal coverage is .95. *None* is the share of repetitions without an interval, which a tag explains; coverage "
        "is of the others. *Percentile* is the coverage of the plain percentile bootstrap of the same draws.\n\n"
        + table(["interval", "cell", "coverage", "mean width", "none", "percentile"], rows)
        + f"\n{_outside(rows)}\n\n"
        "## The worst of several families\n\n"
        "No family falls; three seeds that differ by 3.4 points (sd), 270 rows. Share of repetitions in which the worst "
        "of the families is said to fall: its interval is above 0.\n\n"
        + table(["families", "as it is", "widened"], worst)
        + "\n## Prices of leaks\n\n"
        "Whole authors leak, which changes nothing. Share of repetitions with p ≤ .05, by what random removals remove.\n\n"
        + table(["removed", "p ≤ .05"], leaks)
    )
    (ROOT / "docs" / "results" / "intervals.md").write_text(page, encoding="utf-8")
    print(page)


def _cells() -> Iterator[tuple[str, str, Trial]]:
    for seeds, n, spreads in ((1, 270, POINTS), (2, 1000, POINTS[1:]), (3, 270, POINTS)):
        for spread in spreads:
            cell = f"{seeds} seed{'s' * (seeds > 1)}, sd {100 * spread:.1f} points, n = {n:,}"
            yield "fall", cell, partial(_fall, seeds=seeds, spread=spread, n=n)
            if seeds > 1:
                yield "fall, own rows for each seed", cell, partial(_fall, seeds=seeds, spread=spread, n=n, own=True)
                yield "fall, paired", cell, partial(_paired, seeds=seeds, spread=spread, n=n)
                yield "level", cell, partial(_level, seeds=seeds, spread=spread, n=n)
    for units in (2, 3, 5, 7, 10, 20):
        yield "rate, p = .5", f"{units} templates × 10", partial(_rate, units=units)
    for units in (3, 5, 10, 20):
        yield "difference of rates", f"{units} templates × 10", partial(_difference, units=units)
    for units in (2, 3, 5, 8, 20):
        yield "macro F1 by groups", f"{units} groups × 40", partial(_grouped, sizes=np.full(units, 40))
    for units in (8, 20, 60):
        sizes = np.ceil(40 * units / np.arange(1, units + 1) / (np.log(units) + 0.6)).astype(int)
        yield "macro F1 by groups", f"{units} groups of Zipf's sizes", partial(_grouped, sizes=sizes)
    for groups in (10, 20):
        yield "bias, generalised mean", f"{groups} groups × 20 texts", partial(_generalised_mean, groups=groups)
    for labels, per_label, drawn in ((77, 4, False), (20, 5, False), (77, 17, True), (77, 8, True), (77, 4, True)):
        how = "on average" if drawn else "each"
        yield "macro F1", f"{labels} labels, {per_label} rows {how}", partial(_labels, labels, per_label, drawn)
    for n in (60, 270):
        yield "macro F1", f"3 labels, {n} rows", partial(_grouped, sizes=np.ones(n, int), spread=0.0)


def _coverage(trial: Trial, number: int) -> list[str]:
    draw = np.random.default_rng([SEED, number])
    found = [trial(draw) for _ in range(REPEATS)]
    known = [(truth, low, high) for truth, (low, high), _ in found if low is not None and high is not None]
    plain = [(truth, low, high) for truth, _, (low, high) in found if low is not None and high is not None]
    share = np.mean([low <= truth <= high for truth, low, high in known]) if known else None
    width = np.mean([high - low for _, low, high in known]) if known else None
    compared = np.mean([low <= truth <= high for truth, low, high in plain]) if plain else None
    none = 1 - len(known) / len(found)
    return [_number(share), _number(width), _number(none) if none else "", _number(compared)]


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:.3f}"


def _outside(rows: Sequence[Sequence[Any]]) -> str:
    """The cells that are not within 93 to 97 %."""
    known = [(f"{row[0]}, {row[1]} ({row[2]})", float(row[2])) for row in rows if row[2] != "–"]
    narrow, wide = [name for name, each in known if each < 0.93], [name for name, each in known if each > 0.97]
    return (
        f"Too narrow, below .93: {'; '.join(narrow) or 'none'}. With one seed nothing tells how trainings differ: the tag "
        f"`seeds` is 1, and no conclusion about training again may rest on such an interval.\n\n"
        f"Too wide, above .97: {'; '.join(wide) or 'none'}."
    )


def _runs(
    name: str, mean: float, skills: Sequence[float], draw: np.random.Generator, n: int, own: bool = False
) -> list[Run]:
    """A text is as easy for all seeds but for some luck of each; `skills` are added to the share of right answers."""
    gold, easy, found = np.arange(n) % 3, draw.random(n), []
    for seed, skill in enumerate(skills):
        easy = draw.random(n) if own else easy
        right = np.where(draw.random(n) < 0.2, draw.random(n), easy) < mean + skill
        p = np.eye(3)[np.where(right, gold, (gold + 1) % 3)]
        found.append(Run(f"{name}-{seed}" if own else name, name, seed, gold, p, NAMES))
    return found


def _fall(draw: np.random.Generator, *, seeds: int, spread: float, n: int, own: bool = False) -> Any:
    easy = _runs("random", 0.7, draw.normal(0, spread, seeds), draw, n, own)
    hard = _runs("closest", 0.5, draw.normal(0, spread, seeds), draw, n)
    return 0.2, _bounds(fall(easy, hard, "accuracy", draws=DRAWS)), NOT_COMPARED


def _paired(draw: np.random.Generator, *, seeds: int, spread: float, n: int) -> Any:
    """The same seeds on the same rows: seen .6, unseen .5, with skills of their own."""
    easy, gold, sides = draw.random(n), np.arange(n) % 3, []
    for name, mean in (("seen", 0.6), ("unseen", 0.5)):
        runs = []
        for seed, skill in enumerate(draw.normal(0, spread, seeds)):
            right = np.where(draw.random(n) < 0.2, draw.random(n), easy) < mean + skill
            p = np.eye(3)[np.where(right, gold, (gold + 1) % 3)]
            runs.append(Run(name, name, seed, gold, p, NAMES, sample="same"))
        sides.append(runs)
    return 0.1, _bounds(fall(sides[0], sides[1], "accuracy", draws=DRAWS)), NOT_COMPARED


def _level(draw: np.random.Generator, *, seeds: int, spread: float, n: int) -> Any:
    runs = _runs("random", 0.7, draw.normal(0, spread, seeds), draw, n, own=True)
    return 0.7, _bounds(level(runs, "accuracy", draws=DRAWS)[0]), NOT_COMPARED


def _rate(draw: np.random.Generator, *, units: int) -> Any:
    """Templates pass with probabilities that are uniform between 0 and 1."""
    passed = (draw.random((units, 10)) < draw.random((units, 1))).astype(float).ravel()
    unit = np.repeat(np.arange(units), 10)
    means = passed.reshape(units, 10).mean(axis=1)[draw.integers(units, size=(DRAWS, units))].mean(axis=1)
    return 0.5, _bounds(rate("pass_rate", passed, unit)), percentiles(means) or NOT_COMPARED


def _difference(draw: np.random.Generator, *, units: int) -> Any:
    easy = draw.uniform(0.2, 1, (units, 1))
    first, second = ((draw.random((units, 10)) < easy - less).astype(float).ravel() for less in (0.0, 0.1))
    found = difference("pass_rate", first, second, np.repeat(np.arange(units), 10))
    return 0.1, _bounds(found), NOT_COMPARED


def _grouped(draw: np.random.Generator, *, sizes: np.ndarray[Any, Any], spread: float = 1.0) -> Any:
    """Groups differ in how easy they are (sd of logits) and in their labels."""
    mixes = PRIOR * np.exp(draw.normal(0, spread / 2, (len(sizes), 3)))
    gold, said, groups = _answers(draw, mixes, draw.normal(0, spread, len(sizes)), sizes)
    p = np.eye(3)[said]
    own = groups if spread else None
    found = interval(metric("f1.macro"), gold, p, NAMES, groups=own, draws=DRAWS)
    plain = bootstrap(metric("f1.macro"), gold, [p], NAMES, groups=own, draws=DRAWS)[0]
    return _truth(spread), (found.low, found.high), percentiles(plain) or NOT_COMPARED


def _answers(draw: np.random.Generator, mixes: Any, skills: Any, sizes: Any) -> tuple[Any, Any, Any]:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    shares = (mixes / mixes.sum(axis=1, keepdims=True)).cumsum(axis=1)[groups]
    gold = np.minimum((draw.random(len(groups))[:, None] > shares).sum(axis=1), 2)
    right = draw.random(len(groups)) < expit(logit(RIGHT)[gold] + skills[groups])
    return gold, np.where(right, gold, (gold + draw.integers(1, 3, len(groups))) % 3), groups


TRUTHS: dict[float, float] = {}


def _truth(spread: float) -> float:
    """The macro F1 of a million groups of one row."""
    if spread not in TRUTHS:
        draw, many = np.random.default_rng(SEED), 1_000_000
        mixes = PRIOR * np.exp(draw.normal(0, spread / 2, (many, 3)))
        gold, said, _ = _answers(draw, mixes, draw.normal(0, spread, many), np.ones(many, int))
        TRUTHS[spread] = metric("f1.macro")(gold, np.eye(3)[said], NAMES) or 0.0
    return TRUTHS[spread]


def _labels(labels: int, per_label: int, drawn: bool, draw: np.random.Generator) -> Any:
    """Labels with recalls of their own; errors fall on all others alike."""
    right = np.random.default_rng(SEED).beta(6, 2, labels)
    gold = draw.integers(labels, size=labels * per_label) if drawn else np.repeat(np.arange(labels), per_label)
    wrong = (gold + draw.integers(1, labels, len(gold))) % labels
    p = np.eye(labels)[np.where(draw.random(len(gold)) < right[gold], gold, wrong)]
    names = [str(each) for each in range(labels)]
    found = interval(metric("f1.macro"), gold, p, names, draws=DRAWS)
    plain = bootstrap(metric("f1.macro"), gold, [p], names, draws=DRAWS)[0]
    said = right + ((1 - right).sum() - (1 - right)) / (labels - 1)  # predicted, for one row of each label
    return float(np.mean(2 * right / (1 + said))), (found.low, found.high), percentiles(plain) or NOT_COMPARED


def _generalised_mean(draw: np.random.Generator, *, groups: int) -> Any:
    """Half of a group's texts are positive and score one standard deviation higher."""
    n, member = groups * 20, np.repeat(np.arange(groups), 20)
    positive = np.arange(n) % 2
    data, said = _scored(positive, expit(draw.normal(positive, 1.0)))
    chosen = Groups("group", tuple(map(str, range(groups))), member[:, None] == np.arange(groups))
    rows = subgroup_measurements(data, said, chosen, np.arange(n), ["b"], draws=DRAWS)
    found = next(row for row in rows if row.metric == "bias.gmb_subgroup_auc")
    return float(ndtr(0.5**0.5)), _bounds(found), NOT_COMPARED


def _scored(gold: Any, score: Any, **attributes: Any) -> tuple[Dataset, Predictions]:
    import unseen

    rows = [{"id": str(row), "text": f"text {row}", "label": "ab"[each]} for row, each in enumerate(gold)]
    for name, values in attributes.items():
        rows = [{**row, name: str(value)} for row, value in zip(rows, values, strict=True)]
    data = unseen.load(rows, id="id", attributes=list(attributes))
    ids = pa.chunked_array([[row["id"] for row in rows]])
    return data, Predictions(ids, np.column_stack([1 - score, score]), ("a", "b"))


def _bounds(row: Measurement) -> Bounds:
    return row.low, row.high


def _false_falls(families: int) -> list[str]:
    """How often the worst of families that do not fall is said to fall, as it is and widened."""
    draw, said = np.random.default_rng([SEED, families]), []
    for _ in range(2 * REPEATS):
        easy = _runs("random", 0.7, draw.normal(0, POINTS[1], 3), draw, 270, own=True)
        falls = [
            fall(easy, _runs(f"hard {each}", 0.7, draw.normal(0, POINTS[1], 3), draw, 270), "accuracy", draws=DRAWS)
            for each in range(families)
        ]
        worst = max(falls, key=lambda row: row.value or 0.0)
        error, df = (float(worst.tags[tag]) for tag in ("standard_error", "df"))
        low, high = worst.low or 0.0, worst.high or 0.0
        said.append([low > 0, widened(low, high, error, df, families)[0] > 0])
    return [f"{each:.3f}" for each in np.mean(said, axis=0)]


def _false_prices(units: str | None) -> float:
    """How often p is at most .05 where leaks change nothing, but authors differ."""
    draw, low = np.random.default_rng([SEED, 1]), []
    for _ in range(REPEATS // 2):
        author = np.repeat(np.arange(40), 10)
        gold = np.arange(400) % 2
        right = draw.random(400) < expit(1 + draw.normal(0, 1, 40))[author]
        data, said = _scored(gold, np.where(right, gold, 1 - gold) * 0.8 + 0.1, author=author)
        leaked = np.isin(author, draw.permutation(40)[:12])
        rows = price_on_test(data, [said], np.arange(400), leaked, "accuracy", units=units, draws=DRAWS)
        low.append(float(rows[-1].tags["p"]) <= 0.05)
    return float(np.mean(low))


if __name__ == "__main__":
    main()
