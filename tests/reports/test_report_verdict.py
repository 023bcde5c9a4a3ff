"""The verdict says what the numbers say, in every case, and no more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_run import FakeRun

from unseen.reports.case import hardest
from unseen.reports.run import Run, SplitCard, read_run
from unseen.reports.verdict import verdict
from unseen.reports.wording import called, points
from unseen.store import read_measurements, write_measurements
from unseen.types import Certificate, Measurement

Score = tuple[float, float | None, float | None]


def card(name: str, family: str, clustered: bool = True) -> SplitCard:
    counts = {"a": 100, "b": 100, "c": 100}
    certificate = Certificate(counts, counts, n_clusters=9 if clustered and family != "random" else None)
    return SplitCard(name, family, {"train": 900, "dev": 100, "test": 300}, certificate, f"{family}.v1", 42, "")


def rows(family: str, part: str, score: Score | None, runs: int, **where: Any) -> list[Measurement]:
    if score is None:
        return []
    value, low, high = score
    tags = {"family": family, "part": part, "model": "m"}
    slice_, metric = where.get("slice", "all"), where.get("metric", "f1.macro")
    each = [
        Measurement(metric, value, 300, slice=slice_, tags={**tags, "split": family, "seed": str(seed)})
        for seed in range(runs)
    ]
    return [*each, Measurement(metric, value, 300, low, high, slice_, {**tags, "seed": "mean"})]


def run_of(
    *,
    random: Score | None = (0.66, 0.64, 0.68),
    hard: Score | None = (0.27, 0.25, 0.30),
    fall: Score | None = (0.39, 0.36, 0.41),
    independent: Score | None = (0.65, 0.63, 0.67),
    usual: Score | None = (0.66, 0.64, 0.68),
    runs: int = 3,
    family: str = "closest",
    clustered: bool = True,
    conflict: float | None = None,
    rest: Score | None = None,
    chance: float | None = None,
    metric: str = "f1.macro",
    settings: dict[str, Any] | None = None,
    properties: tuple[Measurement, ...] = (),
) -> Run:
    """A run with one hard family, or with none."""
    found = rows("random", "test", random, 3, metric=metric) + rows(family, "test", hard, runs, metric=metric)
    found += rows("random", "independent", usual, 3, metric=metric)
    found += rows(family, "independent", independent, runs, metric=metric)
    shares: dict[str, Score | None] = {
        "label_conflict": None if conflict is None else (conflict, None, None),
        "label_conflict.control": None if conflict is None else (0.08, None, None),
        f"{metric}.without_conflict": rest,
        f"chance.{metric}": None if chance is None else (chance, None, None),
    }
    tags = {"split": family, "family": family, "part": "test"}
    found += [Measurement(name, one[0], 300, one[1], one[2], tags=tags) for name, one in shares.items() if one]
    if fall is not None:
        tags = {"family": family, "against": "random", "part": "test"}
        found.append(Measurement(f"fall.{metric}", fall[0], 300, fall[1], fall[2], tags=tags))
    about = {"settings": {"metric": metric, **(settings or {})}, "data": {"label_names": ["a", "b", "c"]}, "model": "m"}
    splits = (card("random", "random"), card(family, family, clustered))
    return Run(Path(), about, splits, tuple(found), properties, ())


def said(run: Run) -> str:
    return " ".join(verdict(run).sentences)


def test_a_fall_is_told_as_the_issue_tells_it() -> None:
    found = verdict(run_of(hard=(0.37, 0.35, 0.40), fall=(0.29, 0.26, 0.31)))
    assert found.level == "fail"
    assert found.headline == "Macro F1 falls by 29 points on the region this model finds hardest (“closest”)."
    assert found.sentences == [
        "On a random split macro F1 is .66 [.64, .68].",
        "On the region this model finds hardest (“closest”) it is .37 [.35, .40]: a fall of 29 points [26, 31].",
        "Trained on that split it still reaches .65 on independent data (.66 when trained on a random split), so the "
        "task was learnt; the hard part is different, not missing.",
    ]
    assert str(found).splitlines() == [found.headline, *found.sentences]


def test_what_is_different_is_said_last() -> None:
    properties = [
        Measurement("length.words", value, 300, value - 1, value + 1, tags={"split": split, "part": "test"})
        for split, value in (("random", 20.0), ("closest", 40.0))
    ]
    last = verdict(run_of(properties=tuple(properties))).sentences[-1]
    assert last == "What is different: test texts are longer (40 words against 20)."
    assert "What is different" not in said(run_of())


@pytest.mark.parametrize(
    ("fall", "level", "limit"),
    [(0.21, "fail", None), (0.19, "warn", None), (0.19, "fail", 0.1), (0.5, "warn", 0.6), (0.001, "fail", 0)],
)
def test_the_level_follows_the_limit(fall: float, level: str, limit: float | None) -> None:
    settings = {} if limit is None else {"fail_above": limit}
    run = run_of(hard=(0.66 - fall, None, None), fall=(fall, fall - 0.0005, fall + 0.1), settings=settings)
    assert verdict(run).level == level


def test_an_interval_with_zero_is_no_fall() -> None:
    found = verdict(run_of(hard=(0.63, 0.58, 0.68), fall=(0.032, -0.02, 0.084)))
    assert found.level == "ok"
    assert found.headline.startswith("No certain fall: ")
    assert "3.2 points [−2.0, 8.4] lower, which may be chance: the interval includes zero." in found.sentences[1]
    assert "independent" not in " ".join(found.sentences)


def test_a_wide_interval_is_no_comfort() -> None:
    found = verdict(run_of(hard=(0.5, 0.2, 0.8), fall=(0.16, -0.2, 0.5)))
    assert found.level == "warn"
    assert found.headline.startswith("No conclusion: ")


def test_no_fall_at_all() -> None:
    found = verdict(run_of(hard=(0.66, 0.64, 0.68), fall=(0.0, -0.02, 0.02)))
    assert (found.level, found.headline[:8]) == ("ok", "No fall:")
    assert "no difference that is more than chance" in found.sentences[1]


def test_a_split_that_is_easier() -> None:
    found = verdict(run_of(hard=(0.76, 0.74, 0.78), fall=(-0.1, -0.12, -0.08)))
    assert found.level == "ok"
    assert "10 points [8.0, 12] better" in found.sentences[1]


@pytest.mark.parametrize(
    ("independent", "level", "phrase"),
    [
        (0.65, "fail", "so the task was learnt"),
        (0.62, "fail", "so the task was learnt"),
        (0.60, "fail", "a part of the fall is that less was learnt"),
        (0.48, "fail", "a part of the fall is that less was learnt"),  # 18 of 39 points
        (0.46, "warn", "The split is broken or leaves too little data"),
        (None, "fail", "Nothing was measured on independent data"),
    ],
)
def test_independent_data_tells_hard_from_broken(independent: float | None, level: str, phrase: str) -> None:
    found = verdict(run_of(independent=None if independent is None else (independent, None, None)))
    assert phrase in " ".join(found.sentences)
    assert found.level == level
    assert ("teaches too little" in found.headline) == (level == "warn")


def test_a_small_loss_on_independent_data_is_not_held_against_a_small_fall() -> None:
    run = run_of(hard=(0.61, 0.6, 0.62), fall=(0.05, 0.03, 0.07), independent=(0.62, 0.6, 0.64))
    assert "so the task was learnt" in said(run)


def test_a_measured_independent_fall_is_preferred() -> None:
    run = run_of()
    tags = {"family": "closest", "against": "random", "part": "independent"}
    measured = Measurement("fall.f1.macro", 0.3, 300, 0.2, 0.4, tags=tags)
    assert verdict(replace(run, measurements=(*run.measurements, measured))).level == "warn"


def test_an_independent_score_alone_is_compared_with_nothing() -> None:
    assert "no such score of a random split" in said(run_of(usual=None))


def test_label_conflict_explains_a_part_of_the_fall() -> None:
    run = run_of(hard=(0.4, 0.38, 0.42), fall=(0.26, 0.24, 0.28), conflict=0.34, rest=(0.58, 0.55, 0.61))
    assert "34 % of its test texts (8 % on a random split) contradict both" in said(run)
    assert "label noise or ambiguity. On the rest macro F1 is .58 [.55, .61]." in said(run)
    unknown = said(run_of(conflict=0.34, rest=None))
    assert "label noise or ambiguity." in unknown
    assert "On the rest" not in unknown


@pytest.mark.parametrize("conflict", [0.05, 0.12])
def test_usual_label_conflict_explains_nothing(conflict: float) -> None:
    assert "label noise or ambiguity" not in said(run_of(hard=(0.4, None, None), conflict=conflict))


def test_a_score_below_chance_is_explained_by_the_labels_or_not() -> None:
    assert "worse than guessing by the class mix (.33)" in said(run_of(chance=0.33))
    assert "was not measured: look at the labels first" in said(run_of(chance=0.33))
    assert "(60 %) explain it." in said(run_of(chance=0.33, conflict=0.6, rest=(0.4, 0.3, 0.5)))
    assert "(60 %) do not explain it" in said(run_of(chance=0.33, conflict=0.6, rest=(0.3, 0.2, 0.4)))
    assert "no better than guessing" in said(run_of(chance=0.29))
    assert "guessing" not in said(run_of(chance=0.27))
    assert "guessing" not in said(run_of())


def test_one_run_has_no_luck_in_its_interval() -> None:
    assert "one training run only on “closest”" in said(run_of(runs=1))
    assert "one training run" not in said(run_of(runs=2))


def test_without_intervals_the_fall_is_the_difference() -> None:
    run = run_of(random=(0.66, None, None), hard=(0.27, None, None), fall=None)
    assert "it is .27: a fall of 39 points (no interval was computed)." in said(run)
    assert verdict(run).level == "fail"


@pytest.mark.parametrize(("random", "hard"), [(None, (0.3, None, None)), ((0.66, 0.64, 0.68), None), (None, None)])
def test_missing_scores_give_no_verdict(random: Score | None, hard: Score | None) -> None:
    found = verdict(run_of(random=random, hard=hard, fall=None))
    assert found.level == "warn"
    assert found.headline.startswith("No verdict")
    assert (".66" in found.sentences[0]) == (random is not None)


def test_a_split_without_clusters_is_no_region() -> None:
    run = run_of(family="length", clustered=False)
    assert "on the split this model finds hardest (“length”)" in verdict(run).headline


def test_the_hardest_family_is_the_one_that_falls_most() -> None:
    one, other = run_of(family="closest"), run_of(family="time", hard=(0.2, None, None), fall=(0.46, 0.4, 0.5))
    run = replace(one, splits=(*one.splits, other.splits[1]), measurements=(*one.measurements, *other.measurements))
    case = hardest(run)
    assert case is not None
    assert case.family == "time"


def test_a_metric_where_less_is_better_rises() -> None:
    run = run_of(metric="log_loss", random=(0.7, 0.6, 0.8), hard=(1.9, 1.8, 2.0), fall=(1.2, 1.1, 1.3),
                 usual=(0.7, None, None), independent=(0.72, None, None))  # fmt: skip
    found = verdict(run)
    assert found.headline.startswith("Log loss rises by 1.20 on")
    assert "a rise of 1.20 [1.10, 1.30]." in found.sentences[1]
    assert "so the task was learnt" in " ".join(found.sentences)


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("accuracy", "accuracy"),
        ("f1.weighted", "weighted F1"),
        ("roc_auc.ovo.macro", "one-vs-one ROC AUC"),
        ("roc_auc.binary", "ROC AUC"),
        ("ece.15", "calibration error"),
        ("recall[x.y]", "recall of “x.y”"),
        ("new_thing.odd", "odd new thing"),
    ],
)
def test_metrics_have_names_for_people(metric: str, name: str) -> None:
    assert called(metric) == name


def test_points_have_a_decimal_only_below_ten() -> None:
    assert [points(each / 1000) for each in (4, 99, 99.6, 100, 354, -4)] == ["0.4", "9.9", "10", "10", "35", "−0.4"]


@pytest.mark.parametrize(("single", "said"), [(60, True), (10, False)])
def test_many_texts_added_singly_are_named(tmp_path: Path, single: int, said: bool) -> None:
    folder = FakeRun().write(tmp_path / "run")
    rows = read_measurements(folder / "measurements.csv")
    tags = {"split": "closest", "family": "closest", "seed": "42", "part": "test"}
    for kind, n, value in (("whole clusters", 90, 0.645), ("added singly", single, 0.211)):
        rows.append(Measurement("accuracy", value, n, slice=f"test part={kind}", tags=tags))
    write_measurements(rows, folder / "measurements.csv")
    sentence = (
        "40 % of that test part was added text by text, to keep size and class mix: accuracy is .21 there and .65"
    )
    assert (sentence in str(verdict(read_run(folder)))) == said
