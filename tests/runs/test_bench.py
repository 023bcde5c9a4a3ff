"""Benchmarks: suites, folds, views, and going on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import unseen
from unseen.engines import Inline
from unseen.errors import InputError
from unseen.reports.record import RunRecord
from unseen.runs.bench import ELSEWHERE, HARD, ORDINARY, bench, in_family, plan_bench
from unseen.runs.bench_file import UNIT, dealt, load_members, read_bench

TOPICS = {"fine": ("tea", "rain", "walk", "book"), "rude": ("fool", "liar", "shut", "hate")}
SUITE = """
title = "Small"
trainings = 2
folds = 3
elsewhere = 40
{more}

[family.manners]
labels = ["fine", "rude"]

[data.posts]
source = "posts.csv"
family = "manners"
unit = "post"
groups = "user"
published = 91

[data.forum]
source = "forum.csv"
family = "manners"
split = "part"
map = {{ civil = "fine", abusive = "rude", odd = "drop" }}

[model.logistic]
C = 1.0
trainings = 1
[model.svm]
C = 1.0
trainings = 1
"""


def write(path: Path, name: str, rows: int, names: dict[str, str], seed: int, shared: str = "") -> None:
    draw = np.random.default_rng(seed)
    lines = ["id,text,label,user,part"]
    for row in range(rows):
        label = list(TOPICS)[row % 2]
        words = [
            *draw.choice(TOPICS[label], 2),
            *draw.choice(TOPICS["fine"], 1),
            f"w{draw.integers(60)}",
            f"{name}{row}",
        ]
        part = "test" if row % 4 == 3 else "train"
        lines.append(f"{name}-{row},{' '.join(words)},{names[label]},u{row % 30},{part}")
    if shared:
        lines.append(f"{name}-copy,{shared},{names['rude']},u99,test")
    (path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


COPY = "nobody ever wrote this very sentence about fools and liars before us two"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "posts", 90, {"fine": "fine", "rude": "rude"}, 1, COPY)
    write(tmp_path, "forum", 80, {"fine": "civil", "rude": "abusive"}, 2, COPY)
    with (tmp_path / "forum.csv").open("a", encoding="utf-8") as file:
        file.write("forum-odd,nobody knows what that is,odd,u98,train\nforum-odd2,that neither,odd,u97,test\n")
    (tmp_path / "suite.toml").write_text(SUITE.format(more=""), encoding="utf-8")
    return tmp_path


def run(folder: Path, **more: Any) -> RunRecord:
    return bench(folder / "suite.toml", out=folder / "run", engine=Inline(), **more).record


def test_three_views_of_the_same_models(folder: Path) -> None:
    record = run(folder)
    for view, data in ((ORDINARY, "posts"), (HARD, "posts"), (ELSEWHERE, "posts → forum")):
        row = record.row("f1.macro", view=view, data=data, model="logistic")
        assert row is not None, view
        assert (row.value or 0) > 0.5, view
    # every row of folds is tested once, the published split on its test part
    assert record.row("accuracy", view=ORDINARY, data="posts", model="svm").n == 91
    assert record.row("accuracy", view=ORDINARY, data="forum", model="svm").n == 22
    # in the family's labels, without the odd text and without the sentence that both datasets have
    assert record.about["tested_elsewhere"]["forum"] == 20
    assert record.row("fall.f1.macro", view=ELSEWHERE, data="posts → forum", model="svm") is not None
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "Where it was not trained" in page
    assert "critical difference" in page


def test_a_further_model_trains_nothing_again_and_the_numbers_stay(folder: Path) -> None:
    alone = run(folder, models=["logistic"])
    made = {path for path in (folder / "run" / ".steps").glob("*/*") if path.is_dir()}
    times = {path: path.stat().st_mtime_ns for path in made}
    both = run(folder)
    assert {path: path.stat().st_mtime_ns for path in made} == times
    row = {"view": ORDINARY, "data": "posts", "model": "logistic"}
    assert alone.value("f1.macro", **row) == both.value("f1.macro", **row)
    assert not list(alone.rows("rank.f1.macro"))
    assert list(both.rows("rank.f1.macro"))
    assert plan_bench(folder / "suite.toml", out=folder / "run").done == 8


def test_a_finished_benchmark_loses_no_model_and_one_model_leads_nobody(folder: Path) -> None:
    alone = bench(folder / "suite.toml", models=["svm"], out=folder / "run", engine=Inline(), gates=["accuracy>=2"])
    assert alone.verdict.headline == "Only svm was tested: there is no other model to compare it with."
    assert "lead" not in str(alone.verdict)
    assert {outcome.gate for outcome in alone.gates} == {"accuracy>=2"}
    assert not alone.passed
    run(folder)
    page = (folder / "run" / "report.html").read_bytes()
    for again in (bench, plan_bench):
        with pytest.raises(InputError, match="holds this benchmark with more models: logistic"):
            again(folder / "suite.toml", models=["svm"], out=folder / "run")
    assert (folder / "run" / "report.html").read_bytes() == page


def test_what_fails_costs_its_own_cells(folder: Path) -> None:
    with (folder / "suite.toml").open("a", encoding="utf-8") as file:
        file.write("\n[model.broken]\nuse = 'logistic'\nclass_weights = { elsewhere = 2 }\ntrainings = 1\n")
    record = run(folder)
    assert record.row("f1.macro", view=ORDINARY, data="posts", model="logistic") is not None
    assert record.row("f1.macro", view=ORDINARY, data="posts", model="broken") is None
    failed = [finding for finding in record.findings if finding.check.startswith("failed[")]
    assert failed
    assert all("no label is called 'elsewhere'" in finding.message for finding in failed)


def test_what_belongs_together_stays_on_one_side(folder: Path) -> None:
    members = load_members(read_bench(folder / "suite.toml"))
    posts = members["posts"]
    units = posts.data.attribute(UNIT).to_numpy()
    users = np.array(posts.data.attribute("user").to_pylist())
    for split in posts.splits:
        inside, outside = split.rows("test"), split.rows("train", "dev")
        assert not set(units[inside]) & set(units[outside])
        assert not set(users[inside]) & set(users[outside])
        assert len(split.rows("dev"))
    tested = np.concatenate([split.rows("test") for split in posts.splits])
    assert sorted(tested) == list(range(len(posts.data)))


def test_a_published_split_with_leaks_and_other_sizes_is_told(folder: Path) -> None:
    lines = (folder / "forum.csv").read_text(encoding="utf-8").splitlines()
    first = next(line for line in lines[1:] if line.endswith("train"))
    leaks = [f"leak-{number},{first.split(',')[1]},{first.split(',')[2]},u1,test" for number in range(3)]
    (folder / "forum.csv").write_text("\n".join([*lines, *leaks]) + "\n", encoding="utf-8")
    findings = load_members(read_bench(folder / "suite.toml"))["forum"].findings()
    assert [(finding.level, finding.count) for finding in findings] == [("fail", 3)]
    text = (folder / "suite.toml").read_text(encoding="utf-8").replace("published = 91", "published = 100")
    (folder / "suite.toml").write_text(text, encoding="utf-8")
    (size,) = load_members(read_bench(folder / "suite.toml"))["posts"].findings()
    assert "91 rows here, 100 as published" in size.message


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 6), st.integers(1, 60), st.integers(1, 4), st.integers(0, 99))
def test_dealing_keeps_units_whole_and_classes_even(hands: int, number: int, classes: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    units = np.repeat(np.arange(number), draw.integers(1, 4, number))
    labels = draw.integers(0, classes, len(units))
    hand = dealt(labels, units, hands, seed)
    assert all(len(set(hand[units == unit])) == 1 for unit in range(number))
    counts = np.array([np.bincount(labels[hand == place], minlength=classes) for place in range(hands)])
    assert (counts.max(axis=0) - counts.min(axis=0)).max() <= 3 + 3  # no unit has more than three rows


def test_probabilities_in_the_labels_of_a_family(folder: Path) -> None:
    forum = load_members(read_bench(folder / "suite.toml"))["forum"]
    order = [forum.data.label_names.index(name) for name in ("civil", "abusive", "odd")]
    probabilities = np.zeros((2, 3))
    probabilities[0, order], probabilities[1, order] = (0.2, 0.3, 0.5), (0.0, 0.0, 1.0)
    assert in_family(probabilities, forum) == pytest.approx(np.array([[0.4, 0.6], [0.5, 0.5]]))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('unit = "post"', 'unit = "pots"', "did you mean 'post'?"),
        ("[model.svm]", "[model.swm]", "swm"),
        ("folds = 3", "folds = 1", "folds"),
        ("folds = 3", 'folds = 3\nreference = "svn"', "did you mean 'svm'?"),
        ("folds = 3", "folds = 3\n[hard]\nsplit = 'random'", "ordinary view"),
        ('source = "posts.csv"', 'source = "post.csv"', "no file and no known dataset"),
        ("[family.manners]", "[family.manner]", "no dataset is of this family"),
        ("published = 91", "published = 0", "published"),
    ],
)
def test_mistakes_of_a_suite_are_told_with_their_place(folder: Path, old: str, new: str, message: str) -> None:
    text = (folder / "suite.toml").read_text(encoding="utf-8")
    assert old in text
    (folder / "suite.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        read_bench(folder / "suite.toml")
    assert message in str(refused.value)


def test_a_label_that_the_family_lacks_must_be_mapped(folder: Path) -> None:
    text = (folder / "suite.toml").read_text(encoding="utf-8")
    (folder / "suite.toml").write_text(text.replace(', odd = "drop"', ""), encoding="utf-8")
    with pytest.raises(InputError, match="not those of its family; nobody says what its label 'odd'"):
        load_members(read_bench(folder / "suite.toml"))


def test_the_function_and_the_schema_are_public() -> None:
    assert unseen.bench is bench
    assert {"data", "model", "family", "hard"} <= set(unseen.file_schema("bench")["properties"])
