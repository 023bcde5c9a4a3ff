"""The verdict says what the numbers say, in every case, and no more."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_run import FakeRun

from unseen.evaluation.wording import called
from unseen.reports.actions import write_actions
from unseen.reports.case import hardest, newest
from unseen.reports.record import RunRecord, SplitFile, read_record
from unseen.reports.verdict import verdict
from unseen.store import read_measurements, write_measurements
from unseen.types import Certificate, Finding, Measurement, Origin
from unseen.types.numbers import points

Score = tuple[float, float | None, float | None]


def card(name: str, family: str, clustered: bool = True) -> SplitFile:
    counts = {"a": 100, "b": 100, "c": 100}
    certificate = Certificate(counts, counts, n_clusters=9 if clustered and family != "random" else None)
    sizes = {"train": 900, "dev": 100, "test": 300}
    return SplitFile(name, family, sizes, certificate, Origin(f"{family}.v1", seed=42))


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
    seen: float | None = None,
    novelty: Score | None = None,
    independent: Score | None = (0.65, 0.63, 0.67),
    usual: Score | None = (0.66, 0.64, 0.68),
    runs: int = 3,
    family: str = "closest",
    clustered: bool = True,
    suspects: float | None = None,
    noise: Score | None = None,
    corrected: Score | None = None,
    overlap: float | None = None,
    chance: float | None = None,
    metric: str = "f1.macro",
    gates: tuple[str, ...] = (),
    properties: tuple[Measurement, ...] = (),
) -> RunRecord:
    """A run with one hard family, or with none."""
    found = rows("random", "test", random, 3, metric=metric) + rows(family, "test", hard, runs, metric=metric)
    found += rows("random", "independent", usual, 3, metric=metric)
    found += rows(family, "independent", independent, runs, metric=metric)
    if seen is not None and novelty is not None and fall is not None:
        found += rows(family, "test", (seen, seen - 0.02, seen + 0.02), runs, metric=f"seen.{metric}")
        left = fall[0] - novelty[0]
        of_family = {f"fall.selection.{metric}": (left, left - 0.02, left + 0.02), f"fall.novelty.{metric}": novelty}
    else:
        of_family = {}
    of_family[f"fall.{metric}"] = fall
    of_family["test_overlap.space_seeds"] = None if overlap is None else (overlap, None, None)
    of_split: dict[str, Score | None] = {
        "suspect_labels": None if suspects is None else (suspects, None, None),
        "label_noise": noise,
        "label_noise.control": None if noise is None else (0.04, 0.03, 0.05),
        f"fall.corrected.{metric}": corrected,
        f"chance.{metric}": None if chance is None else (chance, None, None),
    }
    tags = {"family": family, "against": "random", "part": "test"}
    for some, more in ((of_family, {}), (of_split, {"split": family})):
        found += [Measurement(name, one[0], 300, one[1], one[2], tags=tags | more) for name, one in some.items() if one]
    about = {
        "settings": {"metric": metric}, "data": {"label_names": ["a", "b", "c"]}, "model": "m",
        "command": "unseen stress posts.csv", "gates": [{"gate": gate} for gate in gates],
    }  # fmt: skip
    splits = {"random": card("random", "random"), family: card(family, family, clustered)}
    return RunRecord(about, tuple(found), folder=Path(), splits=splits, properties=properties)


def both(one: RunRecord, other: RunRecord) -> RunRecord:
    """A run with the hard families of two."""
    rows = (*one.measurements, *other.measurements)
    return replace(one, measurements=rows, splits={**one.splits, **other.splits})


HARD = run_of(seen=0.25, novelty=(-0.02, -0.05, 0.01))
NEW = run_of(family="novel", hard=(0.5, 0.47, 0.53), fall=(0.16, 0.12, 0.2), seen=0.65, novelty=(0.15, 0.11, 0.19))


def said(run: RunRecord) -> str:
    return " ".join(verdict(run).sentences)


def to_do(run: RunRecord) -> list[str]:
    return [each.action for each in verdict(run).actions]


def test_texts_that_are_hard_anyway() -> None:
    found = verdict(HARD)
    assert found.level == "fail"
    assert found.headline == (
        "Expect macro F1 of about .66 on texts like those it learnt from, hardly less on kinds of text it has not "
        "seen, and .27 on the region it finds hardest (“closest”)."
    )
    assert found.sentences == [
        "On the region it finds hardest (“closest”) macro F1 is .27 [.25, .30], on random splits .66 [.64, .68]: a "
        "fall of 39 points [36, 41]; not because its texts are unseen, but because they are hard, ambiguous or "
        "mislabelled wherever they are.",
        "The same texts reach .25 [.23, .27] when the rest of their region is in training. So 41 points [39, 43] of "
        "the fall are selection: texts like these are hard even then. Nothing of it is novelty (−2.0 points [−5.0, "
        "1.0]): being unseen costs them nothing.",
        "The task was learnt from that split: .65 on independent data, .66 when trained on a random split.",
    ]


def test_texts_that_are_new() -> None:
    found = verdict(NEW)
    assert found.headline == (
        "Expect macro F1 of about .66 on texts like those it learnt from, and .50 on kinds of text it has not seen "
        "(“novel”)."
    )
    assert "because texts like these were not in training" in found.sentences[0]
    assert to_do(NEW) == ["collect"]


def test_the_newest_family_need_not_be_the_hardest() -> None:
    run = both(HARD, NEW)
    assert (hardest(run).family, newest(run).family) == ("closest", "novel")
    assert verdict(run).headline == (
        "Expect macro F1 of about .66 on texts like those it learnt from, .50 on kinds of text it has not seen "
        "(“novel”), and .27 on the region it finds hardest (“closest”)."
    )
    assert "Being unseen costs most on “novel”, 15 points [11, 19]: .65 seen, .50 unseen." in said(run)
    assert "allow for 3 seeds and for taking the worst of 2 splits" in said(run)


def test_without_the_seen_control_new_and_hard_are_not_told_apart() -> None:
    run = run_of()
    assert "how much of it comes from being unseen was not measured" in said(run)
    assert to_do(run) == ["control"]
    assert verdict(run).actions[0].command == "unseen stress posts.csv --seen-folds 2 --replace"


@pytest.mark.parametrize(
    ("novelty", "cause"),
    [
        ((0.3, 0.2, 0.4), "most of that is because texts like these were not in training"),
        ((0.3, -0.1, 0.7), "is open"),  # not certain
        ((0.15, 0.1, 0.2), "partly because"),
        ((0.05, 0.01, 0.09), "not because its texts are unseen"),
        ((0.05, -0.3, 0.35), "is open"),  # being unseen may be nearly all of it
    ],
)
def test_a_fall_is_what_most_of_it_is(novelty: Score, cause: str) -> None:
    assert cause in said(run_of(seen=0.3, novelty=novelty))


def test_labels_that_are_wrong() -> None:
    run = run_of(
        seen=0.25, novelty=(-0.02, -0.05, 0.01), suspects=0.28, noise=(0.22, 0.18, 0.27), corrected=(0.16, 0.1, 0.22)
    )
    assert "most of that is wrong labels" in said(run)
    assert "About 22 % [18 %, 27 %] of its labels are wrong (4 % in random test parts)." in said(run)
    assert "Among right labels alone the fall is 16 points [10, 22]." in said(run)
    action = verdict(run).actions[0]
    assert (action.action, action.count, action.file) == ("relabel", 84, "suspects.csv")
    assert action.points == pytest.approx(0.23)


def test_as_many_wrong_labels_as_elsewhere_explain_nothing() -> None:
    run = run_of(suspects=0.06, noise=(0.05, 0.03, 0.08), corrected=(0.16, 0.1, 0.22))
    assert "About 5 % [3 %, 8 %] of its labels are wrong (4 % in random test parts)." in said(run)
    assert "right labels alone" not in said(run)
    assert "relabel" not in to_do(run)


def test_ambiguous_classes_are_for_people_to_read() -> None:
    run = run_of(suspects=0.4)
    assert "cannot be told from the data" in said(run)
    assert verdict(run).actions[0].what.startswith("Read the first 50 rows of suspects.csv with ")


def test_what_is_different_is_said_last() -> None:
    properties = [
        Measurement("length.words", value, 300, value - 1, value + 1, tags={"split": split, "part": "test"})
        for split, value in (("random", 20.0), ("closest", 40.0))
    ]
    last = verdict(run_of(properties=tuple(properties))).sentences[-1]
    assert last == "What is different there: test texts are longer: 40 words against 20."
    assert "What is different" not in said(run_of())


@pytest.mark.parametrize(
    ("fall", "level", "limit"),
    [(0.21, "fail", None), (0.19, "warn", None), (0.19, "fail", 0.1), (0.5, "warn", 0.6), (0.001, "fail", 0)],
)
def test_the_level_follows_the_limit(fall: float, level: str, limit: float | None) -> None:
    for bound in ("<=", "<"):
        gates = () if limit is None else (f"fall.f1.macro{bound}{limit}",)
        run = run_of(hard=(0.66 - fall, None, None), fall=(fall, fall - 0.0005, fall + 0.1), gates=gates)
        assert verdict(run).level == level


@pytest.mark.parametrize(
    "gate",
    [
        "fall.f1.macro where split=other <= 0.6", "fall.f1.macro where part=independent <= 0.6", "f1.macro<=0.6",
        "fall.f1.macro where site=a <= 0.6", "fall.f1.macro>=0.6", "findings.fail<=0",
    ],
)  # fmt: skip
def test_gates_on_other_numbers_move_no_limit(gate: str) -> None:
    run = run_of(hard=(0.16, None, None), fall=(0.5, 0.4, 0.6), gates=(gate,))
    assert (hardest(run).limit, verdict(run).level) == (0.2, "fail")
    named = run_of(hard=(0.16, None, None), fall=(0.5, 0.4, 0.6), gates=(gate, "fall.f1.macro where split=clos* <= .6"))
    assert (hardest(named).limit, verdict(named).level) == (0.6, "warn")


def test_one_training_proves_nothing() -> None:
    run = run_of(runs=1)
    assert verdict(run).level == "warn"
    assert "one training only on “closest”" in said(run)
    assert "seeds" in to_do(run)
    assert "one training only" not in said(run_of(runs=2))


def test_the_worst_of_many_families_needs_more_to_be_certain() -> None:
    small = run_of(hard=(0.62, 0.6, 0.64), fall=(0.04, 0.002, 0.078))
    tags = {"standard_error": 0.018, "df": 30.0}
    rows = [
        replace(row, tags=dict(row.tags) | tags) if row.metric.startswith("fall.") else row
        for row in small.measurements
    ]
    one = replace(small, measurements=tuple(rows))
    assert hardest(one).certain
    easy = (run_of(family=name, hard=(0.66, 0.64, 0.68), fall=(0.0, -0.02, 0.02)) for name in ("length", "time"))
    run = one
    for other in easy:
        run = both(run, other)
    assert hardest(run).families == 3
    assert not hardest(run).certain
    assert verdict(run).level == "ok"


def test_a_split_that_another_seed_does_not_keep() -> None:
    assert "shares 20 % of its test texts" in said(run_of(overlap=0.2))
    assert "one of many" not in said(run_of(overlap=0.7))


def test_an_interval_with_zero_is_no_fall() -> None:
    found = verdict(run_of(hard=(0.63, 0.58, 0.68), fall=(0.032, -0.02, 0.084)))
    assert found.level == "ok"
    assert found.headline.endswith("; no split was clearly harder than a random one.")
    assert "3.2 points [−2.0, 8.4] lower, which may be chance." in found.sentences[0]
    assert "independent" not in " ".join(found.sentences)


def test_a_wide_interval_is_no_comfort() -> None:
    found = verdict(run_of(hard=(0.5, 0.2, 0.8), fall=(0.16, -0.2, 0.5)))
    assert found.level == "warn"
    assert found.headline.endswith("; whether any split is harder cannot be told.")
    assert "No conclusion: there may be no fall or a large one" in found.sentences[0]


def test_no_fall_at_all() -> None:
    found = verdict(run_of(hard=(0.66, 0.64, 0.68), fall=(0.0, -0.02, 0.02)))
    assert found.level == "ok"
    assert "no difference that is more than chance" in found.sentences[0]


def test_a_split_that_is_easier() -> None:
    found = verdict(run_of(hard=(0.76, 0.74, 0.78), fall=(-0.1, -0.12, -0.08)))
    assert found.level == "ok"
    assert "10 points [8.0, 12] better" in found.sentences[0]


@pytest.mark.parametrize(
    ("independent", "level", "phrase"),
    [
        (0.65, "fail", "The task was learnt from that split"),
        (0.62, "fail", "The task was learnt from that split"),
        (0.60, "fail", "A part of the fall is that less was learnt"),
        (0.48, "fail", "A part of the fall is that less was learnt"),  # 18 of 39 points
        (0.46, "warn", "The split is broken or leaves too little data"),
        (None, "fail", "there are no two scores on independent data"),
    ],
)
def test_independent_data_tells_hard_from_broken(independent: float | None, level: str, phrase: str) -> None:
    found = verdict(run_of(independent=None if independent is None else (independent, None, None)))
    assert phrase in " ".join(found.sentences)
    assert found.level == level
    assert ("teaches too little" in found.sentences[0]) == (level == "warn")


def test_a_measured_independent_fall_is_preferred() -> None:
    run = run_of()
    tags = {"family": "closest", "against": "random", "part": "independent"}
    measured = Measurement("fall.f1.macro", 0.3, 300, 0.2, 0.4, tags=tags)
    assert verdict(replace(run, measurements=(*run.measurements, measured))).level == "warn"


def test_a_score_below_chance_is_named() -> None:
    assert "worse than guessing by the class mix (.33)" in said(run_of(chance=0.33))
    assert "no better than guessing" in said(run_of(chance=0.29))
    assert "guessing" not in said(run_of(chance=0.27))


def test_a_model_that_learnt_nothing_is_not_blamed_on_the_labels() -> None:
    found = verdict(run_of(chance=0.7))
    assert found.headline == "The model has not learnt the task: macro F1 is .66 on random splits, .70 by guessing."
    assert any(each.startswith("Random splits are no better than guessing either") for each in found.sentences)
    assert "look at the labels" not in str(found)


def test_commands_of_actions_can_be_typed() -> None:
    about = {"command": "unseen stress 'my posts.csv' --label class --seeds 42 --seen-folds 0 --out run --replace"}
    run = replace(run_of(runs=1), about=run_of().about | about)
    assert [each.command for each in verdict(run).actions] == [
        "unseen stress 'my posts.csv' --label class --seen-folds 0 --out run --replace --seeds 42,55,83",
        "unseen stress 'my posts.csv' --label class --seeds 42 --out run --replace --seen-folds 2",
    ]
    assert "guessing" not in said(run_of())


def test_without_intervals_the_fall_is_the_difference() -> None:
    run = run_of(random=(0.66, None, None), hard=(0.27, None, None), fall=None)
    assert "a fall of 39 points (no interval was computed);" in said(run)
    assert verdict(run).level == "fail"


@pytest.mark.parametrize(("random", "hard"), [(None, (0.3, None, None)), ((0.66, 0.64, 0.68), None), (None, None)])
def test_missing_scores_give_no_verdict(random: Score | None, hard: Score | None) -> None:
    found = verdict(run_of(random=random, hard=hard, fall=None))
    assert found.level == "warn"
    assert found.headline.startswith("No verdict")
    assert (".66" in found.sentences[0]) == (random is not None)


def test_a_split_without_clusters_is_no_region() -> None:
    run = run_of(family="length", clustered=False)
    assert "on the split it finds hardest (“length”)" in verdict(run).headline


def test_a_metric_where_less_is_better_rises() -> None:
    run = run_of(metric="log_loss", random=(0.7, 0.6, 0.8), hard=(1.9, 1.8, 2.0), fall=(1.2, 1.1, 1.3),
                 usual=(0.7, None, None), independent=(0.72, None, None))  # fmt: skip
    found = verdict(run)
    assert found.headline.startswith("Expect log loss of about .70 on")
    assert "a rise of 1.20 [1.10, 1.30];" in found.sentences[0]
    assert "The task was learnt" in " ".join(found.sentences)


def test_actions_are_written_for_programs(tmp_path: Path) -> None:
    run = both(HARD, NEW)
    write_actions(tmp_path, verdict(run).actions)
    lines = list(csv.DictReader((tmp_path / "actions.csv").open(encoding="utf-8")))
    assert [line["rank"] for line in lines] == ["1"]
    assert lines[0]["action"] == "collect"
    assert float(lines[0]["points"]) == pytest.approx(0.15)
    assert str(verdict(run)).splitlines()[-2:] == ["What to do:", f"1. {verdict(run).actions[0]}"]


def test_weak_slices_are_named() -> None:
    weak = [
        *rows("random", "test", (0.4, 0.35, 0.45), 3, slice="topic=pool"),
        *rows("random", "test", (0.7, 0.65, 0.75), 3, slice="topic=buses"),
        *rows("random", "test", (0.6, 0.4, 0.8), 3, slice="topic=post"),  # the interval holds the score of all texts
    ]
    run = replace(HARD, measurements=(*HARD.measurements, *weak))
    (action,) = [each for each in verdict(run).actions if each.action == "slice"]
    assert action.what == "Look at topic=pool: macro F1 is .40 there on random splits, 26 points worse"


def test_copies_are_to_be_removed() -> None:
    leak = Finding("near_duplicates[random]", "fail", "…", 12)
    leaks = (leak, Finding("near_duplicates[closest]", "fail", "…", 40))
    run = replace(HARD, findings=leaks, about=HARD.about | {"typed": "posts.csv --label class"})
    (action,) = [each for each in verdict(run).actions if each.action == "leak"]
    assert action.what.startswith("Remove copies: 12 test texts of random (4 %)")
    assert action.command.startswith("unseen split repair posts.csv --label class --split ")
    assert action.command.endswith("splits/random.csv --dedupe near -o repaired.csv")
    (silent,) = [each for each in verdict(replace(HARD, findings=leaks)).actions if each.action == "leak"]
    assert silent.command == ""  # nobody typed the data: no command could be typed


@pytest.mark.parametrize(
    ("metric", "name"),
    [
        ("accuracy", "accuracy"),
        ("f1.weighted", "weighted F1"),
        ("roc_auc.ovo.macro", "one-vs-one ROC AUC"),
        ("roc_auc.binary", "ROC AUC"),
        ("ece.15", "15-bin calibration error"),
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
    assert (sentence in str(verdict(read_record(folder, "stress")))) == said
