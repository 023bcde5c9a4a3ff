"""Runs as Python functions: what the commands take, files and names as much as loaded data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unseen
from unseen.errors import InputError, UnknownNameError

WORDS = ["storm", "rain", "wind", "snow", "hail", "sun", "fog", "frost", "cloud", "mist"]


@pytest.fixture
def posts(tmp_path: Path) -> Path:
    """Posts with the label in a word, some of them copied from training to test."""
    rows = [f"p{n},{WORDS[n % 10]} {WORDS[n % 7]} {n // 2} {'ab'[n % 2]},{'ab'[n % 2]},u{n % 9}" for n in range(60)]
    rows += [row.replace(f"p{n},", f"q{n},", 1) for n, row in enumerate(rows[:12])]
    path = tmp_path / "posts.csv"
    path.write_text("\n".join(["id,text,label,user", *rows]), encoding="utf-8")
    split = tmp_path / "hard.csv"
    names = [f"p{n}" for n in range(60)] + [f"q{n}" for n in range(12)]
    split.write_text("\n".join(["id,part", *(f"{name},{'test' if name < 'p2' else 'train'}" for name in names)]))
    return path


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    path = tmp_path / "suite.csv"
    cases = [f"c{n},it is {WORDS[n]} {'ab'[n % 2]},{'ab'[n % 2]},weather" for n in range(10)]
    path.write_text("\n".join(["id,text,label,functionality", *cases]), encoding="utf-8")
    return path


@pytest.fixture
def model(posts: Path) -> Any:
    return unseen.train(unseen.load(posts), "logistic")


def test_a_price_needs_a_file_and_a_split(posts: Path) -> None:
    result = unseen.price(
        posts, posts.with_name("hard.csv"), leaks=["exact", "author"], author="user", model="logistic", trainings=2,
        repeats=1, params={"C": 2.0},
    )  # fmt: skip
    assert result.kind == "price"
    assert result.record.about["leaks"] == ["exact", "author"]
    settings = result.record.about["settings"]
    assert (settings["trainings"], settings["repeats"], settings["model"]["params"]) == (2, 1, {"C": 2.0})
    data = unseen.load(posts, attributes=["user"])
    split = unseen.split(data, "predefined", by=posts.with_name("hard.csv"), name="hard")
    again = unseen.price(data, split, leaks=["exact", "author"], author="user", trainings=2, repeats=1, params={"C": 2})
    assert again.measurements == result.measurements


def test_a_price_of_predictions_trains_nothing(posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unseen.runs.experiment.fit", lambda *given: pytest.fail("trained"))
    said = posts.with_name("said.csv")
    rows = [*(f"p{n},{'ab'[n % 2]}" for n in range(60)), *(f"q{n},a" for n in range(12))]
    said.write_text("\n".join(["id,prediction", *rows]))
    result = unseen.price(posts, posts.with_name("hard.csv"), leaks=["exact"], predictions=said, metric="accuracy")
    assert {row.tags["side"] for row in result.measurements if row.metric.startswith("fall.")} == {"test"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "no split is named"),
        ({"split": "hard.csv", "parts": "user"}, "parts has no effect with a split"),
        ({"split": "hard.csv", "modle": "logistic"}, "'modle'; did you mean 'model'"),
        ({"split": "hard.csv", "autor": "user"}, "'autor'; did you mean 'author'"),
        ({"split": "hard.csv", "leaks": ["exact"], "conversation": "user"}, "conversation='user' has no effect"),
        ({"split": "hard.csv", "predictions": "said.csv", "trainings": 2}, "trainings=2 has no effect"),
    ],
)
def test_a_price_that_cannot_be_meant(
    given: dict[str, Any], message: str, posts: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(posts.parent)
    with pytest.raises(InputError, match=message):
        unseen.price("posts.csv", **given)


def test_authors_need_a_file_and_a_column(posts: Path) -> None:
    described = unseen.authors(posts, author="user")
    assert "authors.count" in {row.metric for row in described.measurements}
    trained = unseen.authors(posts, author="user", model="logistic", trainings=1, test=0.3, cap=3)
    settings = trained.record.about["settings"]
    assert (settings["trainings"], settings["share"], settings["cap"]) == (1, 0.3, 3)
    with pytest.raises(InputError, match=r"test=0.3 has no effect without model=…\n.*cap=3 has no effect"):
        unseen.authors(posts, author="user", cap=3, test=0.3)
    with pytest.raises(InputError, match="go together"):
        unseen.authors(posts, calibrate=posts)


def test_a_check_needs_a_model_and_a_suite(model: Any, suite: Path, posts: Path) -> None:
    place = posts.with_name("weather")
    model.save(place)
    by_place = unseen.check(str(place), suite)
    assert list(by_place.record.about["models"]) == ["weather"]
    cases = unseen.load(suite, attributes=["functionality"])
    rates = [
        unseen.check(models, cases).value("pass_rate", model="weather")
        for models in ([place], {"weather": model}, {"weather": place})
    ]
    assert rates == [by_place.value("pass_rate", model="weather")] * 3
    renamed = unseen.check({"m": place}, suite, rename={"a": "b", "b": "a"})
    assert renamed.value("pass_rate", model="m") == pytest.approx(1 - (rates[0] or 0.0))


def test_a_check_of_what_is_no_suite_or_no_model(model: Any, suite: Path) -> None:
    with pytest.raises(UnknownNameError, match="'hatechek'; did you mean 'hatecheck'"):
        unseen.check(model, "hatechek")
    with pytest.raises(InputError, match="this is no suite"):
        unseen.check(model, 42)
    with pytest.raises(InputError, match="not a classifier"):
        unseen.check(42, suite)
    with pytest.raises(InputError, match="two models are called"):
        unseen.check(["here/m", "there/m"], suite)


def test_a_forecast_needs_texts_and_a_model(model: Any, posts: Path) -> None:
    by_file = unseen.forecast(posts, model, draw=10)
    loaded = unseen.forecast(unseen.load(posts), model, draw=10)
    assert loaded.measurements == by_file.measurements
    named = unseen.forecast("sample", unseen.train(unseen.load("sample"), "logistic"), draw=10)
    assert named.record.about["texts"] == len(unseen.load("sample"))


RUNS: dict[str, Callable[[Any, Any], Any]] = {
    "attack": lambda data, model: unseen.attack(data, model=model, limit=2),
    "audit": lambda data, model: unseen.audit(data, gates=()),
    "authors": lambda data, model: unseen.authors(data, author="user"),
    "explain": lambda data, model: unseen.explain(data, model=model, methods=["occlusion"], limit=2, normalised=0),
    "forecast": lambda data, model: unseen.forecast(data, model),
    "invariance": lambda data, model: unseen.invariance(data, perturbations=["swap"], model=model),
    "price": lambda data, model: unseen.price(data, "hard.csv", leaks=["exact"], trainings=1, repeats=1),
}


@pytest.mark.parametrize("name", RUNS)
def test_every_run_takes_data_in_one_way(name: str, model: Any, posts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(posts.parent)
    assert RUNS[name]("posts.csv", model).measurements
    mistakes = {"postss.csv": "there is no file", "sampel": "did you mean 'sample'", 42: "cannot be loaded"}
    for wrong, message in mistakes.items():
        with pytest.raises(InputError, match=message):
            RUNS[name](wrong, model)


@pytest.mark.parametrize(
    ("name", "near"), [("modle", "model"), ("independant", "independent"), ("atributes", "attributes")]
)
def test_an_unknown_setting_of_a_stress_run_has_a_nearest_name(name: str, near: str, posts: Path) -> None:
    for source in (posts, "sample", unseen.load(posts)):
        with pytest.raises(UnknownNameError, match=f"no setting is called '{name}'; did you mean '{near}'"):
            unseen.stress(source, out=posts.with_name("out"), **{name: "x"})
    assert not posts.with_name("out").exists()


def test_a_secret_in_a_command_that_python_gives_is_not_written(model: Any, suite: Path, tmp_path: Path) -> None:
    unseen.check(model, suite, out=tmp_path / "out", command="check https://host/ask?key=hunter2")
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any(b"host/ask" in path.read_bytes() for path in written)
    assert not any(b"hunter2" in path.read_bytes() for path in written)


def test_a_label_that_is_one_word_is_not_its_letters(posts: Path, model: Any) -> None:
    one, listed = (unseen.bias(posts, positive, about="user", model=model, seed=3) for positive in ("b", ["b"]))
    assert one.record.about["settings"]["positive"] == ["b"]
    assert one.measurements == listed.measurements


def test_an_audited_pipeline_gets_a_split_as_its_command_does(posts: Path) -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    words = make_pipeline(CountVectorizer(token_pattern=r"\w+"), MultinomialNB())
    result = unseen.audit_pipeline(words, posts, experiments=["repeatable"])
    assert result.kind == "pipeline-audit"
    with pytest.raises(InputError, match="no effect with a split"):
        unseen.audit_pipeline(words, posts, posts.with_name("hard.csv"), test=0.2)


def test_a_study_without_a_folder_says_what_is_missing_and_nothing_else(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"study\.toml"):
        unseen.run_study(tmp_path / "study.toml")


def test_a_mistyped_setting_of_a_cost_is_named(posts: Path) -> None:
    with pytest.raises(InputError, match="limit"):
        unseen.cost(posts, ["logistic"], limit=3)
