"""Validation studies: folds, caps, prices of leaks and of known authors, and what is counted on the final rows."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import f1_score

from tiny_data import build
from unseen.engines import Inline, Local
from unseen.errors import InfeasibleError, InputError
from unseen.runs.frame import Result
from unseen.runs.validation import is_validation, plan_validation, read_validation, run_validation
from unseen.runs.validation.file import Fold, fold_answers
from unseen.runs.validation.protocols import ValidationMaterials, as_folds, capped, divided, fold_of, load_materials
from unseen.runs.validation.study import ProtocolAnswers, counted_once, on_both_sides, side_findings
from unseen.seeding import generator
from unseen.store import read_findings, read_measurements
from unseen.types import Measurement

STUDY = """
kind = "validation"
title = "by heart"
seed = 7
[data]
source = "posts.csv"
text = "text"
label = "label"
id = "id"
author = "user"
[enrich]
source = "more.csv"
text = "text"
label = "label"
labels = ["no", "yes"]
only = ["yes"]
[foreign]
source = "foreign.csv"
text = "text"
label = "label"
[pipeline.heart]
leaking = "own_pipelines:leaking"
corrected = "own_pipelines:corrected"
depth = 2
[pipeline.copies]
leaking = "own_pipelines:copying"
corrected = "own_pipelines:corrected"
[model.tfidf]
use = "logistic"
[validate]
folds = 3
seeds = [1, 2]
cap = [250, 4]
"""


KIND = 'kind = "validation"'
LIGHT = STUDY.replace('[model.tfidf]\nuse = "logistic"\n', "")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """A study without a model, which trains longest."""
    return made(tmp_path, LIGHT)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The whole study, done once for all tests that only look."""
    return run(made(tmp_path_factory.mktemp("validation"), STUDY))


@pytest.fixture(scope="module")
def materials(ran: Result) -> ValidationMaterials:
    return load_materials(read_validation(ran.folder.parent / "study.toml", trust=True))


def made(folder: Path, content: str) -> Path:
    """Ninety posts by twelve users who each begin with a word of their own and mostly have one label."""
    draw, rows = np.random.default_rng(3), []
    for number in range(90):
        user = min(int(draw.zipf(1.5)), 12)
        label = user % 2 if draw.random() < 0.9 else 1 - user % 2
        rows.append((f"p{number:02}", f"w{user} nr{number}", ["no", "yes"][label], f"u{user}"))
    rows += [("q1", "w1 twice", "no", "u1"), ("q2", "W1 Twice!", "no", "u2"), ("q3", "alone", "yes", "")]
    write(folder / "posts.csv", ("id", "text", "label", "user"), rows)
    write(folder / "more.csv", ("text", "label"), [(f"v{n % 3} m{n}", ["no", "yes"][n % 2]) for n in range(20)])
    write(folder / "foreign.csv", ("text", "label"), [(f"v{n % 3} f{n}", ["no", "yes"][n % 2]) for n in range(10)])
    (folder / "study.toml").write_text(content)
    return folder / "study.toml"


def write(path: Path, columns: tuple[str, ...], rows: list[Any]) -> None:
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([columns, *rows])


def run(study: Path, **given: Any) -> Result:
    options = {"engine": Inline(), "out": study.parent / "out", "store": study.parent / "steps", "trust": True}
    return run_validation(study, **options | given)


def rows_of(ran: Result, metric: str, **tags: str) -> list[Measurement]:
    found = read_measurements(ran.folder / "measurements.csv")
    return [row for row in found if row.metric == metric and tags.items() <= row.tags.items() and row.slice == "all"]


def score(ran: Result, model: str, family: str, metric: str = "f1.macro") -> float:
    (row,) = [row for row in rows_of(ran, metric, model=model, family=family) if "split" not in row.tags]
    assert row.value is not None
    return row.value


# -- folds and caps ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_folds_hold_whole_authors_and_equal_shares_of_each_class(seed: int) -> None:
    draw = np.random.default_rng(seed)
    units, labels = np.minimum(draw.zipf(1.6, size=600), 80), draw.integers(2, size=600)
    number = fold_of(labels, units, 5, seed)
    for author in np.unique(units):
        assert len(set(number[units == author])) == 1
    largest = Counter(units.tolist()).most_common(1)[0][1]
    for label in (0, 1):
        counts = np.bincount(number[labels == label], minlength=5)
        assert counts.max() <= max(largest, (labels == label).sum() / 5 + 2)


def test_random_folds_are_even_and_cover_every_row_once() -> None:
    labels = np.random.default_rng(0).integers(3, size=101)
    folds = as_folds(fold_of(labels, None, 4, 1))
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(101))
    assert sorted(len(each.test) for each in folds) == [25, 25, 25, 26]
    for each in folds:
        assert set(each.train) | set(each.test) == set(range(101))
        assert np.ptp([(labels[fold.test] == 1).sum() for fold in folds]) <= 1


def test_another_seed_is_another_division_and_the_same_is_the_same() -> None:
    labels, units = np.arange(200) % 2, np.arange(200) // 4
    first, again, other = (fold_of(labels, units, 5, seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_too_few_authors_for_the_folds() -> None:
    with pytest.raises(InfeasibleError, match="3 authors cannot make 5 folds"):
        fold_of(np.arange(30) % 2, np.arange(30) % 3, 5, 1)


def test_a_cap_leaves_so_many_of_each_author_and_class() -> None:
    draw = np.random.default_rng(5)
    cells, rows = draw.integers(12, size=300), np.sort(draw.permutation(300)[:200])
    kept = capped(rows, cells, 7, seed=3)
    assert kept.tolist() == sorted(kept)
    assert set(kept) <= set(rows)
    before, after = Counter(cells[rows].tolist()), Counter(cells[kept].tolist())
    assert after == {cell: min(7, count) for cell, count in before.items()}
    assert (kept != capped(rows, cells, 7, seed=4)).any()


@pytest.mark.parametrize("seed", range(5))
def test_a_cap_draws_the_rows_it_always_drew(seed: int) -> None:
    """Step keys hold these rows: another draw would train everything again."""
    draw = np.random.default_rng(seed)
    cells, rows, most = draw.integers(9, size=200), np.flatnonzero(draw.random(200) < 0.7), 4 + seed
    drawn = generator(seed, "cap").permutation(rows)
    drawn = drawn[np.argsort(cells[drawn], kind="stable")]
    starts = np.searchsorted(cells[drawn], cells[drawn], side="left")
    expected = np.sort(drawn[np.arange(len(drawn)) - starts < most])
    assert capped(rows, cells, most, seed).tolist() == expected.tolist()


def test_rows_to_choose_by_share_no_author_with_training() -> None:
    units, labels, rows = np.arange(300) // 5, np.arange(300) % 2, np.arange(0, 300, 2)
    train, dev = divided(rows, labels, units, 1)
    assert sorted([*train, *dev]) == rows.tolist()
    assert 10 <= len(dev) <= 20
    assert not set(units[train]) & set(units[dev])


def test_what_is_on_both_sides() -> None:
    codes = np.array([1, 1, 2, 3, 3, 4])
    assert on_both_sides(Fold(np.array([0, 2, 3]), np.array([1, 4, 5])), codes).tolist() == [1, 4]


# -- the file ----------------------------------------------------------------------------------------------------------


def test_all_mistakes_of_a_file_are_told_at_once(study: Path) -> None:
    wrong = (
        STUDY.replace('author = "user"', 'autor = "user"').replace("folds = 3", "folds = 1")
        .replace("depth = 2", "dept = 2").replace('"foreign.csv"', '"nowhere.csv"').replace("[250, 4]", "[0]")
        .replace('use = "logistic"', 'use = "logistik"').replace("seeds = [1, 2]", "seeds = [1, 1]")
    )  # fmt: skip
    wrong = 'gates = ["fall.f1.macro where split=leek <= 0.1"]\n' + wrong
    study.write_text(wrong.replace("own_pipelines:copying", "own_pipelines:coping"))
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    said = "\n".join(caught.value.problems)
    for part in (
        "'autor' is not known here; did you mean 'author'?", "[data] author is missing", "dept",
        "[validate] folds must be a whole number from 2 on, not 1",
        "nowhere.csv", "[validate] cap: a number of texts is at least 1, not 0", "logistik",
        "[validate] seeds: 1 must not stand there twice", "'own_pipelines:coping' cannot be imported",
        "gates: split: 'leek' is not one of leak, authors",
    ):  # fmt: skip
        assert part in said


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('corrected = "own_pipelines:corrected"\n[model', 'corrected = "own_pipelines:copying"\n[model', "take folds"),
        ("depth = 2", "depth = 2\ntest = 0.1", "test has no effect"),
        ("own_pipelines:copying", "own_pipelines:np", "is no function"),
        ("[model.tfidf]", "[model.heart]", "both a pipeline and a model"),
        ('kind = "validation"', 'kind = "other"', "kind must be"),
        (KIND, f'{KIND}\ngates = ["fall.f1.macro where split=leek <= 0.1"]', "'leek' is not one of"),
        (KIND, f'{KIND}\ngates = "f1.macro where model=hart >= 0.1"', "gates: model: 'hart' is not one of heart"),
        (KIND, f'{KIND}\ngates = ["drop.f1.macro <= 0.1"]', "gates: no metric is called 'drop.f1.macro'"),
        (KIND, f'{KIND}\ngates = ["fall.f1.macro"]', "gates: 'fall.f1.macro' is not a gate"),
        (KIND, f'{KIND}\ngates = ["fall.f1.macro <= x"]', "gates: 'fall.f1.macro <= x' is not a gate"),
        (KIND, f"{KIND}\ngates = [1]", "gates item 1 must be a text, not 1; put it in quotes"),
        (KIND, f'{KIND}\ngate = "x"', "'gate' is not known here; did you mean 'gates'?"),
        (
            "[model.tfidf]\nuse",
            "[pipeline.tfidf]\nuse",
            "[pipeline.tfidf] leaking is missing: package.module",
        ),
        ('source = "posts.csv"', 'source = "sampel"', "did you mean 'sample'?"),
    ],
)
def test_what_cannot_be_meant_is_refused(study: Path, old: str, new: str, message: str) -> None:
    assert old in STUDY
    study.write_text(STUDY.replace(old, new, 1))
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    assert message in "\n".join(caught.value.problems)


GATE = 'gates = ["{} where split={}{} <= 0.1"]\n'
NO_PIPELINE = STUDY.partition("[pipeline.heart]")[0] + "[model" + STUDY.partition("[model")[2]


@pytest.mark.parametrize(
    ("content", "gate", "names"),
    [
        (NO_PIPELINE, ("fall.f1.macro", "leak", ""), "authors, capped-250, capped-4, enriched, foreign, foreign-enr"),
        (
            NO_PIPELINE,
            ("f1.macro", "published", ""),
            "random, authors, capped-250, capped-4, thinned-250, thinned-4, e",
        ),
        (STUDY, ("fall.f1.macro", "total", ", model=tfidf"), "authors, capped-250"),
        (STUDY, ("f1.macro", "published", ", model=tfidf"), "random, authors, capped"),
        (
            STUDY,
            ("f1.macro", "thinned-4", ", model=heart"),
            "published, random, authors, capped-250, capped-4, enriched",
        ),
        (LIGHT, ("f1.macro", "thinned-4", ""), "published, random, authors, capped-250, capped-4, enriched"),
    ],
)
def test_a_gate_names_what_its_learner_can_have(
    study: Path, content: str, gate: tuple[str, str, str], names: str
) -> None:
    study.write_text(GATE.format(*gate) + content)
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    (said,) = caught.value.problems
    assert said.startswith(f"gates: split: {gate[1]!r} is not one of {names}")


def test_a_gate_on_a_pipeline_that_is_wrong_adds_no_second_mistake(study: Path) -> None:
    wrong = NO_PIPELINE.replace(
        "[model", '[pipeline.heart]\nleaking = "nowhere"\ncorrected = "own_pipelines:corrected"\n[model'
    )
    study.write_text(GATE.format("fall.f1.macro", "leak", ", model=heart") + wrong)
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    (said,) = caught.value.problems
    assert said.startswith("[pipeline.heart] leaking: no pipeline is called 'nowhere'")


def test_built_in_pipelines_go_by_their_names(study: Path) -> None:
    """What an example that is given one split says in a fold is what it says given that split."""
    from unseen import split
    from unseen.audits.pipelines.examples import words_chosen_in_training

    names = 'leaking = "words-chosen-on-all-data"\ncorrected = "words-chosen-in-training.v1"\nshare = 0.5'
    head, rest = LIGHT.split("[pipeline.heart]")
    study.write_text(f"{head}[pipeline.words]\n{names}\n[validate]{rest.partition('[validate]')[2]}")
    found = read_validation(study, trust=True)
    assert found.pipelines["words"].leaking == "words-chosen-on-all-data.v1"
    assert not found.pipelines["words"].divides
    ran = run(study)
    assert not ran.failures
    assert score(ran, "words", "published") > score(ran, "words", "authors")
    pool = load_materials(found).pool
    cut = split(pool, "random", test=0.3, seed=1)
    fold = Fold(cut.rows("train"), cut.rows("test"))
    ((rows, said),) = fold_answers("words-chosen-in-training", pool, [fold], 42, {})
    assert rows.tolist() == cut.rows("test").tolist()
    assert said == pytest.approx(words_chosen_in_training(pool, cut)[rows])


@pytest.mark.parametrize(
    ("corrected", "message"),
    [
        ("words-chosen-in-trainin", "did you mean 'words-chosen-in-training'?"),
        ("oversampled-in-training", "oversampled-in-training.v1 does not take folds"),
    ],
)
def test_a_built_in_pipeline_that_does_not_fit_is_refused(study: Path, corrected: str, message: str) -> None:
    study.write_text(LIGHT.replace('corrected = "own_pipelines:corrected"', f'corrected = "{corrected}"', 1))
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    (said,) = caught.value.problems
    assert message in said


def test_the_kind_of_a_file(study: Path, tmp_path: Path) -> None:
    assert is_validation(study)
    study.write_text(STUDY.replace('kind = "validation"', ""))
    assert not is_validation(study)
    assert not is_validation(tmp_path / "nowhere.toml")


def test_the_study_of_the_paper_can_be_read() -> None:
    found = read_validation(Path(__file__).parents[2] / "studies" / "arango2019.toml")
    assert list(found.pipelines) == ["features", "oversampled"]
    assert found.file.data.author == "user_id"


def test_what_is_no_table_is_refused(study: Path) -> None:
    study.write_text(LIGHT.partition("[validate]")[0].replace('kind = "v', 'validate = 3\nmodel = "m"\nkind = "v'))
    with pytest.raises(InputError) as caught:
        read_validation(study, trust=True)
    assert caught.value.problems == ("[model] must be a table, not 'm'", "[validate] must be a table, not 3")


def test_the_sample_is_a_source(study: Path) -> None:
    file, sample = 'source = "posts.csv"\ntext = "text"\nlabel = "label"\nid = "id"', 'source = "sample"\nlimit = 300'
    head = LIGHT.partition("[enrich]")[0].replace(file, sample).replace('"user"', '"author"')
    study.write_text(head + "[pipeline.heart]" + LIGHT.partition("[pipeline.heart]")[2])
    found = load_materials(read_validation(study, trust=True))
    assert (found.pool.name, len(found.own)) == ("sample", 300)


def test_data_without_repeated_authors_are_refused(study: Path) -> None:
    posts = [(f"p{number}", f"text {number}", ["no", "yes"][number % 2], f"u{number}") for number in range(20)]
    write(study.parent / "posts.csv", ("id", "text", "label", "user"), posts)
    with pytest.raises(InputError, match="no author has written two texts"):
        plan_validation(study, store=study.parent / "steps", trust=True)


# -- a study -----------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_the_predictions(ran: Result, materials: ValidationMaterials) -> None:
    assert ran.passed
    gold = dict(zip(materials.pool.ids.to_pylist(), materials.pool.labels.tolist(), strict=True))
    for model, family in (("heart", "published"), ("heart", "authors"), ("copies", "published"), ("tfidf", "enriched")):
        values = []
        for seed in (1, 2):
            table = pq.read_table(ran.folder / "predictions" / f"{model}.{family}-seed{seed}.parquet")
            said = np.column_stack([table["no"], table["yes"]]).argmax(axis=1)
            values.append(f1_score([gold[name] for name in table["id"].to_pylist()], said, average="macro"))
        assert score(ran, model, family) == pytest.approx(np.mean(values))


def test_a_leak_and_known_authors_have_their_price(ran: Result) -> None:
    assert score(ran, "heart", "published") > 0.99  # it has seen every answer but that of the two equal texts
    assert score(ran, "heart", "random") > score(ran, "heart", "authors") + 0.2
    compared = {"leak": ("published", "random"), "authors": ("random", "authors"), "total": ("published", "authors")}
    for family, (before, after) in compared.items():
        (fall,) = rows_of(ran, "fall.f1.macro", model="heart", family=family)
        assert fall.value == pytest.approx(score(ran, "heart", before) - score(ran, "heart", after))
        assert fall.low is not None
        assert fall.high is not None
        assert fall.low <= fall.value <= fall.high
    assert not rows_of(ran, "fall.f1.macro", model="tfidf", family="leak")


def test_the_price_of_copying_is_that_of_texts_counted_once(ran: Result, materials: ValidationMaterials) -> None:
    found = read_measurements(ran.folder / "measurements.csv")
    (once,) = [row for row in found if row.slice == "once" and row.metric == "f1.macro"]
    assert (once.tags["model"], once.tags["family"]) == ("copies", "published")
    values = []
    for seed in (1, 2):
        kept = counted_once(published(ran, materials, "copies", seed), materials)
        values.append(f1_score(materials.pool.labels[kept.rows], kept.probabilities.argmax(axis=1), average="macro"))
    assert once.value == pytest.approx(np.mean(values))
    for family, after in (("leak", "random"), ("total", "authors")):
        (fall,) = rows_of(ran, "fall.f1.macro", model="copies", family=family)
        assert fall.value == pytest.approx(once.value - score(ran, "copies", after))
        assert fall.tags["counted"] == "once"
    assert once.value != pytest.approx(score(ran, "copies", "published"))
    (plain,) = rows_of(ran, "fall.f1.macro", model="heart", family="leak")
    assert "counted" not in plain.tags


def published(ran: Result, materials: ValidationMaterials, learner: str, seed: int) -> ProtocolAnswers:
    place = {name: row for row, name in enumerate(materials.pool.ids.to_pylist())}
    table = pq.read_table(ran.folder / "predictions" / f"{learner}.published-seed{seed}.parquet")
    rows = np.array([place[name] for name in table["id"].to_pylist()])
    return ProtocolAnswers(learner, "published", seed, rows, np.column_stack([table["no"], table["yes"]]))


def test_rows_are_counted_once_in_the_mix_of_the_data(materials: ValidationMaterials) -> None:
    labels, natural = materials.pool.labels, np.bincount(materials.pool.labels[materials.own])
    no, yes = (np.flatnonzero(labels[materials.own] == code) for code in (0, 1))
    rows = np.concatenate([yes, no[:9], yes[:5], yes[:2]])
    said = np.random.default_rng(2).dirichlet([1, 1], len(rows))
    kept = counted_once(ProtocolAnswers("a", "published", 1, rows, said), materials)
    assert len(set(kept.rows)) == len(kept.rows)
    counts = np.bincount(labels[kept.rows])
    tested = np.bincount(labels[np.unique(rows)])
    assert counts[0] == tested[0]  # the scarcer class is whole
    assert counts[1] == round(tested[0] / natural[0] * natural[1]) < tested[1]
    for row, probabilities in zip(kept.rows, kept.probabilities, strict=True):
        assert probabilities == pytest.approx(said[rows == row].mean(axis=0))


def test_copies_without_a_leak_have_no_price(materials: ValidationMaterials) -> None:
    """One classifier that has learnt nothing of the rows: tested with copies, or their rows once, it seems better."""
    draw, every = np.random.default_rng(0), np.arange(6000)
    names = np.where(every % 3 == 0, "yes", "no").tolist()
    data = build([f"r{row:04}" for row in every], [f"t{row}" for row in every], names)
    right = draw.random(6000) < np.where(data.labels == 1, 0.6, 0.75)
    said = np.eye(2)[np.where(right, data.labels, 1 - data.labels)]
    copied = np.repeat(every, np.where(data.labels == 1, 3, 1))
    tested = np.sort(draw.permutation(copied)[: len(copied) // 5])
    once = counted_once(
        ProtocolAnswers("a", "published", 1, tested, said[tested]), replace(materials, pool=data, own=every)
    )

    def hits(rows: Any) -> float:
        return float(f1_score(data.labels[rows], said[rows].argmax(axis=1)))

    assert min(hits(tested), hits(np.unique(tested))) > hits(every) + 0.08
    assert hits(once.rows) == pytest.approx(hits(every), abs=0.03)


def test_a_cap_is_compared_with_as_many_random_rows_left_out(ran: Result, materials: ValidationMaterials) -> None:
    labels = materials.pool.labels
    for seed in (1, 2):
        folds = [materials.folds(name, seed) for name in ("authors", "capped-4", "thinned-4")]
        for plain, under_cap, thinned in zip(*folds, strict=True):
            assert plain.test.tolist() == thinned.test.tolist()
            assert set(thinned.train) < set(plain.train)
            assert Counter(labels[thinned.train].tolist()) == Counter(labels[under_cap.train].tolist())
            assert set(thinned.train) != set(under_cap.train)
    (fall,) = rows_of(ran, "fall.f1.macro", model="tfidf", family="capped-4")
    assert (fall.tags["from"], fall.tags["to"]) == ("thinned-4", "capped-4")
    assert fall.value == pytest.approx(score(ran, "tfidf", "thinned-4") - score(ran, "tfidf", "capped-4"))
    (fall,) = rows_of(ran, "fall.f1.macro", model="heart", family="capped-4")
    assert fall.value == pytest.approx(score(ran, "heart", "authors") - score(ran, "heart", "capped-4"))
    assert not rows_of(ran, "f1.macro", model="heart", family="thinned-4")


def test_enriching_is_compared_with_the_same_cap_without_it(ran: Result) -> None:
    for model in ("heart", "tfidf"):
        (fall,) = rows_of(ran, "fall.f1.macro", model=model, family="enriched")
        assert (fall.tags["from"], fall.tags["to"]) == ("capped-4", "enriched")
        assert fall.value == pytest.approx(score(ran, model, "capped-4") - score(ran, model, "enriched"))
    (fall,) = rows_of(ran, "fall.f1.macro", model="heart", family="foreign-enriched")
    assert (fall.tags["from"], fall.tags["to"]) == ("foreign", "foreign-enriched")
    assert "the cap of 4 and enriching, on another dataset" in (ran.folder / "tables" / "prices.md").read_text()


def test_without_a_cap_that_matters_enriching_is_compared_with_new_authors(study: Path) -> None:
    study.write_text(STUDY.replace("[250, 4]", "[250]"))
    found = load_materials(read_validation(study, trust=True))
    assert found.active.prices_of("tfidf")["enriched"] == ("authors", "enriched")
    assert not {"capped-250", "thinned-250"} & set(found.active.protocols)


def test_sides_are_counted_on_the_final_rows(ran: Result, materials: ValidationMaterials) -> None:
    found = read_findings(ran.folder / "findings.csv")
    users = materials.pool.attribute("user").to_pylist()
    shared = [
        sum(
            bool(users[row]) and users[row] in {users[each] for each in fold.train.tolist()}
            for fold in materials.folds("random", seed)
            for row in fold.test.tolist()
        )
        for seed in (1, 2)
    ]
    by_name = {(each.check, each.message.partition(":")[0]): each for each in found}
    assert by_name["authors on both sides", "random"].count == max(shared) > 0
    for protocol in ("authors", "capped-4", "enriched", "foreign", "foreign-enriched"):
        finding = by_name["authors on both sides", protocol]
        assert (finding.level, finding.count) == ("ok", 0)
    assert next(each.message for each in found if each.level == "skipped").startswith("capped-250 was not run")


@pytest.mark.parametrize("worst", [1, 2])
def test_the_rows_of_every_seed_are_checked(
    materials: ValidationMaterials, worst: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ValidationMaterials.folds

    def broken(self: ValidationMaterials, protocol: str, seed: int) -> tuple[Fold, ...]:
        folds = plain(self, protocol, seed)
        if protocol != "authors" or seed != worst:
            return folds
        return (Fold(np.append(folds[0].train, folds[0].test[:1]), folds[0].test), *folds[1:])

    monkeypatch.setattr(ValidationMaterials, "folds", broken)
    found = {each.check: each for each in side_findings(materials, []) if each.message.startswith("authors:")}
    authors = found["authors on both sides"]
    assert authors.level == "fail"
    assert f"; seed {worst}, the worst of 2)" in authors.message


def test_copies_are_counted_but_for_case_and_punctuation(ran: Result, materials: ValidationMaterials) -> None:
    found = {each.message.partition(":")[0]: each for each in read_findings(ran.folder / "findings.csv")[::-1]
             if each.check == "copies on both sides"}  # fmt: skip
    forms = [text.lower().strip("!") for text in materials.pool.texts.to_pylist()]
    for protocol, finding in found.items():
        both = max(
            sum(forms[row] in {forms[each] for each in fold.train} for fold in folds for row in fold.test)
            for folds in (materials.folds(protocol, 1), materials.folds(protocol, 2))
        )
        assert (finding.count, finding.level) == (both, "warn" if both else "ok")
    assert any(each.count for each in found.values())  # "w1 twice" and "W1 Twice!" are by two users


def test_a_row_copied_before_the_split_is_found_on_both_sides(ran: Result, materials: ValidationMaterials) -> None:
    found = [each for each in read_findings(ran.folder / "findings.csv") if each.check == "copied before the split"]
    for each, seed in zip(found, (1, 2), strict=True):
        ids = pq.read_table(ran.folder / "predictions" / f"copies.published-seed{seed}.parquet")["id"].to_pylist()
        gold = dict(zip(materials.pool.ids.to_pylist(), materials.pool.labels.tolist(), strict=True))
        times = Counter(name for name in ids if gold[name] == 1)
        assert each.count == sum(count < max(times.values()) for count in times.values()) > 0
        assert each.level == "fail"


def test_training_on_more_and_testing_elsewhere(ran: Result, materials: ValidationMaterials) -> None:
    assert (len(materials.own), len(materials.added), len(materials.foreign)) == (93, 10, 10)
    assert set(materials.pool.labels[materials.added]) == {1}
    (fold,) = materials.folds("foreign", 1)
    assert fold.train.tolist() == list(range(93))
    assert fold.test.tolist() == list(range(103, 113))
    for enriched, plain in zip(materials.folds("enriched", 1), materials.folds("authors", 1), strict=True):
        assert set(materials.added) <= set(enriched.train)
        assert enriched.test.tolist() == plain.test.tolist()
        assert max(Counter(materials.cells[np.intersect1d(enriched.train, materials.own)].tolist()).values()) <= 4
    (row,) = [each for each in rows_of(ran, "f1[yes]", model="heart", family="foreign") if "split" not in each.tags]
    assert (row.n, row.value) == (10, 0)  # no word of theirs is known, so all is answered with the first label
    assert score(ran, "heart", "foreign-enriched", "f1[yes]") == pytest.approx(2 / 3)


def test_tests_under_the_cap(ran: Result, materials: ValidationMaterials) -> None:
    found = read_measurements(ran.folder / "measurements.csv")
    kept = len(materials.within(4, materials.own, 7))
    rows = [row for row in found if row.slice == "cap=4" and row.metric == "f1.macro"]
    assert {row.tags["family"] for row in rows} == {"authors", "capped-4", "thinned-4"}
    assert {row.n for row in rows} == {kept}
    assert kept < 93


def test_nothing_is_done_twice(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, steps = plan_validation(study, store=study.parent / "steps", trust=True)
    assert (plan.done, plan.trainings, len(steps)) == (0, sum(plan.steps.values()), plan.trainings)
    first = (run(study).folder / "measurements.csv").read_bytes()
    assert plan_validation(study, store=study.parent / "steps", trust=True)[0].done == plan.trainings
    monkeypatch.setattr("own_pipelines.heart", lambda *given: pytest.fail("done again"))
    again = run(study, out=study.parent / "again")
    assert (again.folder / "measurements.csv").read_bytes() == first


def test_the_order_of_the_file_decides_nothing(study: Path) -> None:
    first = (run(study).folder / "measurements.csv").read_bytes()
    head, *lines = (study.parent / "posts.csv").read_text().splitlines()
    (study.parent / "posts.csv").write_text("\n".join([head, *reversed(lines)]) + "\n")
    again = run(study, out=study.parent / "again", store=study.parent / "other")
    assert (again.folder / "measurements.csv").read_bytes() == first


@pytest.mark.slow
def test_two_workers_find_the_same(study: Path) -> None:
    first = (run(study).folder / "measurements.csv").read_bytes()
    again = run(study, engine=Local(2), out=study.parent / "again", store=study.parent / "other")
    assert (again.folder / "measurements.csv").read_bytes() == first


@pytest.mark.parametrize(("name", "message"), [("failing", "out of luck"), ("elsewhere", "about other rows")])
def test_what_one_pipeline_cannot_do_is_said_and_the_rest_measured(study: Path, name: str, message: str) -> None:
    study.write_text(LIGHT.replace('"own_pipelines:corrected"\ndepth', f'"own_pipelines:{name}"\ndepth'))
    ran = run(study)
    assert not ran.passed
    assert all(message in said for said in ran.failures.values())
    assert score(ran, "heart", "published") > 0.99
    assert not rows_of(ran, "f1.macro", model="heart", family="random")
    assert score(ran, "copies", "authors") > 0
    assert ran.report.is_file()


def test_gates(study: Path) -> None:
    gates = ["fall.f1.macro where split=leak, model=heart <= 0.01", "f1.macro where split=published >= 0.2"]
    study.write_text(f"gates = {gates}\n{LIGHT}")
    ran = run(study)
    outcomes = [(outcome.passed, outcome.place) for outcome in ran.gates]
    assert outcomes == [(False, ""), (True, "heart"), (True, "copies")]
    assert ran.gates[0].value == pytest.approx(score(ran, "heart", "published") - score(ran, "heart", "random"))
    assert not ran.passed
