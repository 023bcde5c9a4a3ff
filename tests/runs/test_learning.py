"""Learning from a suite: every number recounted from the files, resumable, and no label guessed."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import binomtest
from sklearn.metrics import accuracy_score, f1_score, roc_auc_score

from learning_suite import LABELS, small_suite, small_task
from tiny_data import build
from unseen.errors import InputError, MismatchError, UnknownNameError, UnseenWarning
from unseen.evaluation.bootstrap import times_drawn
from unseen.evaluation.contrasts import holm
from unseen.runs.experiment import relabelled
from unseen.runs.frame import Result
from unseen.runs.learning import CONFIGURATIONS, LearningMaterials, learn_from_suite, parts_of
from unseen.runs.source import by_id
from unseen.seeding import generator
from unseen.store import read_json, read_measurements
from unseen.types import Dataset, Measurement

SCHEMES = ("all", "class", "target", "pair")
TASK, SUITE, BOTH = CONFIGURATIONS
GIVEN: dict[str, Any] = {
    "labels": LABELS, "schemes": SCHEMES, "folds": 2, "params": {"epochs": 12, "rate": 0.01},
}  # fmt: skip


@pytest.fixture(scope="module")
def elsewhere() -> Dataset:
    return small_task(60, 3, names=("rude", "other"))


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory, elsewhere: Dataset) -> Result:
    out = tmp_path_factory.mktemp("learning") / "out"
    return learn_from_suite(small_suite(), small_task(), elsewhere=elsewhere, out=out, **GIVEN)


def lines(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def said(folder: Path, configuration: str, name: str) -> dict[str, np.ndarray]:
    """Probabilities by id of one file of predictions; columns fine, rude."""
    table = pq.read_table(folder / "predictions" / configuration.replace(" ", "-") / f"{name}.parquet")
    return dict(zip(table["id"].to_pylist(), np.column_stack([table["fine"], table["rude"]]), strict=True))


def row(done: Result, metric: str, slice: str = "all", **tags: str) -> Measurement:
    wanted = {"scheme": None, "part": None, "configuration": None, "than": None, "of": None} | tags
    (found,) = [
        each
        for each in done.measurements
        if each.metric == metric and each.slice == slice and all(each.tags.get(k) == v for k, v in wanted.items())
    ]
    return found


class Recount:
    """Right or wrong, from the files alone."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.plans = lines(folder / "plans.csv")
        self.files = {name: about["file"] for name, about in read_json(folder / "run.json")["plans"].items()}
        suite = small_suite()
        self.gold = dict(zip(suite.ids.to_pylist(), suite.labels.tolist(), strict=True))

    def of(self, scheme: str) -> list[str]:
        return [name for name in self.files if name == scheme or name.startswith(f"{scheme}=")]

    def right(self, configuration: str, plan: str, part: str) -> dict[str, bool]:
        file = "all" if configuration == TASK else self.files[plan]
        answers = said(self.folder, configuration, f"{file}.suite")
        return {
            each["id"]: int(answers[each["id"]].argmax()) == self.gold[each["id"]]
            for each in self.plans
            if each[plan] == part
        }


@pytest.mark.parametrize("configuration", CONFIGURATIONS)
@pytest.mark.parametrize("scheme", SCHEMES[1:])
def test_covered_is_a_mean_over_plans_and_held_out_is_pooled(done: Result, scheme: str, configuration: str) -> None:
    recount = Recount(done.folder)
    covered = [recount.right(configuration, plan, "covered") for plan in recount.of(scheme)]
    pooled = [each for plan in recount.of(scheme) for each in recount.right(configuration, plan, "held-out").values()]
    expected = float(np.mean([np.mean(list(each.values())) for each in covered]))
    found = row(done, "accuracy", scheme=scheme, part="covered", configuration=configuration)
    assert found.value == pytest.approx(expected)
    assert found.n == sum(map(len, covered))
    held_out = row(done, "accuracy", scheme=scheme, part="held-out", configuration=configuration)
    assert (held_out.value, held_out.n) == (pytest.approx(np.mean(pooled)), len(pooled))
    gap = row(done, "fall.accuracy", scheme=scheme, part="held-out", configuration=configuration, than="covered")
    assert gap.value == pytest.approx(expected - np.mean(pooled))
    assert gap.low <= gap.value <= gap.high
    assert found.low <= found.value <= found.high


def test_intervals_draw_whole_templates(done: Result) -> None:
    """Against loops over the same draws."""
    recount, suite = Recount(done.folder), small_suite()
    template = dict(zip(suite.ids.to_pylist(), suite.attribute("template").to_pylist(), strict=True))
    covered = [recount.right(BOTH, plan, "covered") for plan in recount.of("target")]
    held_out = {each: ok for plan in recount.of("target") for each, ok in recount.right(BOTH, plan, "held-out").items()}
    names = sorted({template[each] for answers in (*covered, held_out) for each in answers})
    drawn = []
    for times in times_drawn(len(names), 1000, generator(42, "templates")):
        for counts in times:
            often = dict(zip(names, counts.tolist(), strict=True))
            means = [
                np.average(list(answers.values()), weights=[often[template[each]] for each in answers])
                for answers in (*covered, held_out)
            ]
            drawn.append(np.mean(means[:-1]) - means[-1])
    gap = row(done, "fall.accuracy", scheme="target", part="held-out", configuration=BOTH, than="covered")
    assert (gap.low, gap.high) == pytest.approx(tuple(np.quantile(drawn, [0.025, 0.975])))


def test_covered_and_held_out_differ_as_they_are_counted(done: Result) -> None:
    """Otherwise the test above could not tell a mean over plans from one over cases."""
    recount = Recount(done.folder)
    sizes = {len(recount.right(BOTH, plan, "held-out")) for plan in recount.of("class")}
    assert len(sizes) > 1


def test_the_effect_is_on_the_same_cases_with_the_exact_test(done: Result) -> None:
    recount = Recount(done.folder)
    for scheme in SCHEMES[1:]:
        after, before = (
            {
                each: ok
                for plan in recount.of(scheme)
                for each, ok in recount.right(configuration, plan, "held-out").items()
            }
            for configuration in (BOTH, TASK)
        )
        assert after.keys() == before.keys()
        gained = sum(after[each] and not before[each] for each in after)
        lost = sum(before[each] and not after[each] for each in after)
        found = row(done, "difference.accuracy", scheme=scheme, part="held-out", configuration=BOTH, than=TASK)
        assert found.value == pytest.approx((gained - lost) / len(after))
        exact = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert found.tags["p.mcnemar"] == pytest.approx(exact)
        assert 0 < found.tags["p"] <= 1


def test_each_held_out_value_has_its_numbers(done: Result) -> None:
    recount = Recount(done.folder)
    tests = []
    for plan in recount.of("class"):
        after, before = (recount.right(each, plan, "held-out") for each in (BOTH, TASK))
        where = {"scheme": "class", "part": "held-out"}
        assert row(done, "accuracy", plan, configuration=BOTH, of=BOTH, **where).value == np.mean(list(after.values()))
        assert row(done, "accuracy", plan, configuration=TASK, of=BOTH, **where).value == np.mean(list(before.values()))
        tests.append(row(done, "difference.accuracy", plan, configuration=BOTH, than=TASK, **where))
    for name in ("p", "p.mcnemar"):
        assert [each.tags[f"{name}.holm"] for each in tests] == holm([each.tags[name] for each in tests])
    assert [each.tags["p"] for each in tests] != [each.tags["p.mcnemar"] for each in tests]


def test_random_halves_compare_every_two_configurations(done: Result) -> None:
    recount = Recount(done.folder)
    right = {each: recount.right(each, "all", "covered") for each in CONFIGURATIONS}
    for each, answers in right.items():
        assert row(done, "accuracy", scheme="all", part="test", configuration=each).value == np.mean(
            list(answers.values())
        )
    for than, each in ((TASK, SUITE), (TASK, BOTH), (SUITE, BOTH)):
        only = Counter((right[each][case], right[than][case]) for case in right[each])
        gained, lost = only[True, False], only[False, True]
        found = row(done, "difference.accuracy", scheme="all", part="test", configuration=each, than=than)
        assert found.tags["p.mcnemar"] == pytest.approx(
            binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        )


def test_the_task_is_scored_on_its_test_part(done: Result) -> None:
    task = relabelled(small_task(), LABELS, ("fine", "rude"))
    gold = dict(zip(task.ids.to_pylist(), task.labels.tolist(), strict=True))
    ordered = by_id(task)
    parts = parts_of(ordered, 42)
    test = ordered.ids.take(parts.rows("test")).to_pylist()
    assert read_json(done.folder / "run.json")["task_parts"] == {"train": 192, "dev": 24, "test": 24}
    for each in CONFIGURATIONS:
        answers = said(done.folder, each, "all.task")
        assert len(answers) == 48
        predicted = [int(answers[name].argmax()) for name in test]
        truth = [gold[name] for name in test]
        assert row(done, "f1.macro", part="task test", configuration=each).value == pytest.approx(
            f1_score(truth, predicted, average="macro")
        )
        assert row(done, "roc_auc.binary", part="task test", configuration=each).value == pytest.approx(
            roc_auc_score(truth, [answers[name][1] for name in test])
        )
    change = row(done, "difference.f1.macro", part="task test", configuration=BOTH, than=TASK)
    before, after = (row(done, "f1.macro", part="task test", configuration=each).value for each in (TASK, BOTH))
    assert change.value == pytest.approx(after - before)
    assert change.value != 0
    assert change.tags["p"] * 10_001 == pytest.approx(round(change.tags["p"] * 10_001))


def test_training_goes_on_from_the_task_model(done: Result) -> None:
    """The models of the random split, trained again by hand."""
    from unseen.training.neural import HashedNetwork

    suite, task = small_suite(), by_id(relabelled(small_task(), LABELS, ("fine", "rude")))
    recipe, parts = HashedNetwork(**GIVEN["params"]), parts_of(task, 42)
    first = recipe.fit(task.take(parts.rows("train")), task.take(parts.rows("dev")), 42)
    part = {each["id"]: each["all"] for each in lines(done.folder / "plans.csv")}
    train, dev, test = (
        suite.take(np.array([row for row, name in enumerate(suite.ids.to_pylist()) if part[name] == wanted]))
        for wanted in ("train", "dev", "covered")
    )
    models = {TASK: first, SUITE: recipe.fit(train, dev, 42), BOTH: recipe.fit(train, dev, 42, start=first)}
    for configuration, model in models.items():
        found = said(done.folder, configuration, "all.suite")
        expected = model.predict_proba(test.texts.to_pylist())
        np.testing.assert_allclose([found[name] for name in test.ids.to_pylist()], expected, atol=1e-6)


def test_elsewhere_only_tests(done: Result, elsewhere: Dataset) -> None:
    answers = said(done.folder, BOTH, "all.elsewhere")
    assert len(answers) == len(elsewhere)
    gold = [{"rude": 1, "other": 0}[elsewhere.label_names[code]] for code in elsewhere.labels]
    predicted = [int(answers[name].argmax()) for name in elsewhere.ids.to_pylist()]
    found = row(done, "accuracy", part="elsewhere", configuration=BOTH)
    assert found.value == pytest.approx(accuracy_score(gold, predicted))


def test_the_largest_changes_by_brute_force(done: Result) -> None:
    task = relabelled(small_task(), LABELS, ("fine", "rude"))
    gold = dict(zip(task.ids.to_pylist(), task.labels.tolist(), strict=True))
    before, after = (said(done.folder, each, "all.task") for each in (TASK, BOTH))
    change = {name: after[name][gold[name]] - before[name][gold[name]] for name in after}
    found = lines(done.folder / "changes.csv")
    assert list(found[0]) == ["label", "direction", "rank", "id", "part", "before", "after", "change"]
    for code, label in enumerate(("fine", "rude")):
        own = sorted(((value, name) for name, value in change.items() if gold[name] == code))
        falls = [value for value, _ in own[:5] if value < 0]
        rises = [value for value, _ in own[::-1][:5] if value > 0]
        for direction, expected in (("fall", falls), ("rise", rises)):
            cell = [each for each in found if (each["label"], each["direction"]) == (label, direction)]
            assert [float(each["change"]) for each in cell] == pytest.approx(expected, abs=1e-5)
            assert all(abs(change[each["id"]] - float(each["change"])) < 1e-5 for each in cell)
        mean = row(done, "change.gold_probability", f"label={label}", part="task", configuration=BOTH, than=TASK)
        assert mean.value == pytest.approx(np.mean([value for value, _ in own]))
        assert mean.low < mean.value < mean.high


def test_leaks_are_measured_for_every_scheme(done: Result) -> None:
    assert row(done, "leak.any", scheme="pair", part="held-out").value == 0
    assert row(done, "leak.reference", scheme="class", part="held-out").value > 0
    assert row(done, "leak.task_text", part="suite").value == 0


def test_the_files_of_a_run_hold_no_text(done: Result) -> None:
    names = {path.name for path in done.folder.iterdir()}
    assert names == {
        ".steps", "run.json", "measurements.csv", "findings.csv", "plans.csv", "changes.csv", "predictions", "tables",
        "report.html",
    }  # fmt: skip
    for path in (
        path for path in done.folder.rglob("*") if path.is_file() and path.suffix in (".csv", ".html", ".json")
    ):
        assert "dinner" not in path.read_text(encoding="utf-8"), path
    assert [each.metric for each in read_measurements(done.folder / "measurements.csv")] == [
        each.metric for each in done.measurements
    ]


def test_called_again_nothing_is_trained_and_the_numbers_stay(
    done: Result, elsewhere: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.training.neural import HashedNetwork

    def train(*_: Any, start: Any = None) -> None:
        raise AssertionError("it was trained before")

    monkeypatch.setattr(HashedNetwork, "fit", train)
    plans = []
    page = done.report.read_text(encoding="utf-8")
    again = learn_from_suite(
        small_suite(), small_task(), elsewhere=elsewhere, out=done.folder, announce=plans.append, **GIVEN
    )
    assert again.measurements == done.measurements
    assert plans[0].trainings == plans[0].done == 1 + 2 * (1 + 4 + 2 + 2)
    assert plans[0].schemes == {"all": 1, "target": 2, "class": 4, "pair": 2}
    pages = [page, again.report.read_text(encoding="utf-8")]
    first, second = (re.sub(r"\d+-\d+-\d+ \d+:\d+ UTC", "", each.partition("Files and how")[0]) for each in pages)
    assert first == second


SMALLER: dict[str, Any] = GIVEN | {"schemes": ["all", "target"], "configurations": [TASK, BOTH], "folds": None}


def test_interrupted_it_goes_on_and_ends_the_same(
    tmp_path: Path, done: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    from unseen.runs import experiment

    train, begun = experiment.train, []

    def dying(here: Any) -> None:
        begun.append(here)
        if len(begun) == 3:
            raise KeyboardInterrupt
        train(here)

    monkeypatch.setattr(experiment, "train", dying)
    with pytest.raises(KeyboardInterrupt):
        learn_from_suite(small_suite(), small_task(), out=tmp_path / "out", **SMALLER)
    monkeypatch.setattr(experiment, "train", train)
    plans = []
    resumed = learn_from_suite(small_suite(), small_task(), out=tmp_path / "out", announce=plans.append, **SMALLER)
    assert (plans[0].trainings, plans[0].done) == (4, 2)
    for where in ({"scheme": "target", "part": "held-out"}, {"scheme": "all", "part": "test"}):
        assert row(resumed, "accuracy", configuration=BOTH, **where) == row(
            done, "accuracy", configuration=BOTH, **where
        )


@pytest.mark.slow
def test_in_two_processes_it_ends_the_same(tmp_path: Path) -> None:
    one, two = (
        learn_from_suite(small_suite(), small_task(), out=tmp_path / str(workers), workers=workers, **SMALLER)
        for workers in (1, 2)
    )
    assert one.measurements == two.measurements


def test_other_data_or_settings_are_other_steps() -> None:
    from unseen.functional.holdout import plans
    from unseen.runs.spaces import Model

    def keys(suite: Dataset, task: Dataset, seed: int = 1, strict: bool = True, **params: Any) -> list[str]:
        found = {plan.name: plan for plan in plans(suite, "target", strict=strict)}
        arms = LearningMaterials(suite, task, parts_of(task, seed), found).arms([TASK, BOTH], 7)
        return [arm.step(Model("neural", params)).key for arm in arms.values()]

    suite, task = small_suite(), small_task(names=("fine", "rude"))
    same = keys(suite, task)
    assert keys(suite, task) == same
    for other in (
        keys(suite, small_task(seed=5, names=("fine", "rude"))),
        keys(suite, task, seed=2),
        keys(suite, task, epochs=3),
    ):
        assert not set(other) & set(same)
    assert not set(keys(small_suite(7), task)) & set(same)
    other = keys(suite, task, strict=False)
    assert other[0] == same[0]  # the model of the task serves other plans too
    assert not set(other[1:]) & set(same[1:])


def test_a_map_that_leaves_a_label_without_texts_is_refused_before_anything(tmp_path: Path) -> None:
    both = {"insult": "rude", "other": "rude"}
    with pytest.raises(MismatchError, match="to train on has the label 'fine'") as caught:
        learn_from_suite(small_suite(), small_task(), out=tmp_path / "out", **GIVEN | {"labels": both})
    assert "--map theirs=ours" in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_a_model_that_cannot_go_on_is_refused_before_anything(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'logistic' cannot go on(.|\n)*transformer, adaptive, neural"):
        learn_from_suite(small_suite(), small_task(), model="logistic", labels=LABELS, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    done = learn_from_suite(
        small_suite(), small_task(), model="logistic", labels=LABELS, schemes=["class"], configurations=[SUITE],
        out=tmp_path / "out",
    )  # fmt: skip
    assert row(done, "accuracy", scheme="class", part="held-out", configuration=SUITE).n == len(small_suite())
    assert "the task was not measured" in " ".join(done.verdict.lines()).lower()


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ({"labels": {"insult": "rude"}}, MismatchError, r"'other' \(\d+ texts\) is none of the suite's"),
        ({"labels": {"insult": "rud", "other": "fine"}}, UnknownNameError, "did you mean 'rude'"),
        ({"labels": LABELS | {"insul": "rude"}}, UnknownNameError, "did you mean 'insult'"),
        ({"schemes": ["clas"]}, UnknownNameError, "did you mean 'class'"),
        ({"configurations": ["task"]}, InputError, "nothing is trained on the suite"),
        ({"configurations": ["tasks"]}, UnknownNameError, "did you mean 'task'"),
        ({"schemes": ["class"], "folds": 3}, InputError, "folds has no effect"),
        ({"schemes": ["pair"], "folds": 0}, InputError, "cannot make 0 folds"),
        ({"params": {"epoch": 3}}, InputError, "did you mean 'epochs'"),
    ],
)
def test_wrong_input(tmp_path: Path, given: Mapping[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        learn_from_suite(small_suite(), small_task(), out=tmp_path / "out", **{"labels": LABELS, **given})
    assert not (tmp_path / "out").exists()


def test_cases_without_a_label_of_their_own_are_left_out(tmp_path: Path) -> None:
    suite = small_suite()
    kinds = [
        "invariance" if name == "spell_swap" else "functional" for name in suite.attribute("functionality").to_pylist()
    ]
    columns = {name: suite.attribute(name).to_pylist() for name in suite.attributes} | {"kind": kinds}
    labelled = [suite.label_names[code] for code in suite.labels]
    marked = build(suite.ids.to_pylist(), suite.texts.to_pylist(), labelled, suite.label_names, **columns)
    with pytest.warns(UnseenWarning, match="18 invariance and directional cases are left out"):
        done = learn_from_suite(
            marked, small_task(), labels=LABELS, schemes=["all"], configurations=[SUITE], out=tmp_path / "out",
            params={"epochs": 1},
        )  # fmt: skip
    assert (
        sum(value for name, value in read_json(done.folder / "run.json")["plans"]["all"].items() if name != "file")
        == 108
    )
