"""`unseen.attack`: what is measured of attempts, what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unseen
from unseen.attacks.search import Attempt
from unseen.attacks.validity import Knowledge
from unseen.errors import InputError, UnknownNameError
from unseen.functional import load_suite
from unseen.runs.attack import Attacked, attack

CALM, LOUD = (0.9, 0.1), (0.1, 0.9)


class Counting:
    """Loud where a text has the word goal."""

    classes_ = ("calm", "loud")

    def __init__(self) -> None:
        self.asked: list[str] = []

    def predict_proba(self, texts: list[str]) -> Any:
        self.asked += texts
        return np.array([LOUD if "goal" in text.split() else CALM for text in texts])


@pytest.fixture(autouse=True)
def without_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compared by MiniLM, as where it is not installed."""
    monkeypatch.setattr("unseen.runs.attack.installed", lambda extra: False)


@pytest.fixture
def data(tiny: Any) -> Any:
    texts = ["a goal today", "the goal again", "some rain today", "more rain again", "a goal for rain", "soup"]
    labels = ["loud", "loud", "calm", "calm", "calm", "calm"]
    return tiny(ids=list("abcdef"), texts=texts, labels=labels, label_names=("calm", "loud"))


@pytest.fixture
def words(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "words.txt").write_text("goal score\nrain goal\nsoup stew\n")
    return {"pwws-synonyms": {"synonyms": str(tmp_path / "words.txt")}}


def attacked(data: Any, words: Any, **options: Any) -> Any:
    return attack(data, model=Counting(), attacks=["pwws-synonyms"], params=words, **options)


def test_success_is_of_texts_that_were_right(data: Any, words: Any) -> None:
    result = attacked(data, words)
    raw = result.row("success.raw", attack="pwws-synonyms")
    assert (raw.value, raw.n) == (4 / 5, 5)  # e is wrong before, soup cannot be made loud
    assert result.value("accuracy", attack="pwws-synonyms") == 5 / 6
    assert result.value("accuracy.attacked", attack="pwws-synonyms") == 1 / 6
    assert result.value("success.raw", "label=loud", attack="pwws-synonyms") == 1.0
    assert result.value("edit_rate", attack="pwws-synonyms") == pytest.approx(1 / 3)


def test_labels_of_a_classifier_that_is_given_are_renamed(data: Any, words: Any, tiny: Any) -> None:
    names = {"calm": "ruhig", "loud": "laut"}
    labels = [names[data.label_names[code]] for code in data.labels]
    theirs = tiny(ids=data.ids.to_pylist(), texts=data.texts.to_pylist(), labels=labels, label_names=("ruhig", "laut"))
    renamed = attacked(theirs, words, rename=names)
    assert renamed.value("success.raw") == attacked(data, words).value("success.raw")
    assert renamed.value("success.raw", "label=laut") == 1.0


def test_flips_that_a_check_objects_to_are_not_valid(data: Any, words: Any, tmp_path: Path) -> None:
    before = attacked(data, words).value("success.valid", attack="pwws-synonyms")
    (tmp_path / "opposites.txt").write_text("rain goal\n")
    result = attacked(data, words, antonyms=[tmp_path / "opposites.txt"])
    assert result.value("success.valid", attack="pwws-synonyms") == pytest.approx(before - 2 / 5)
    assert result.value("check.antonyms", attack="pwws-synonyms") == 2 / 4
    assert "antonyms" not in result.record.about["unchecked"]


def test_parts_of_a_split_are_compared(tiny: Any) -> None:
    data = tiny(
        ids=[f"r{row}" for row in range(20)], texts=["x"] * 20, labels=["calm"] * 20, label_names=("calm", "loud")
    )
    attempts = [Attempt("flipped" if row < 8 else "failed", "y", CALM, LOUD, 3, 0) for row in range(20)]
    one = Attacked("any", "words", data, attempts, Knowledge(language=None))
    hard = np.arange(20) < 10
    rows = one.part_difference({"part=test": hard, "part=independent": ~hard})
    raw = next(row for row in rows if row.metric == "difference.success.raw")
    assert raw.value == pytest.approx(0.8)
    assert raw.low is not None
    assert raw.low > 0.3
    assert one.part_difference({"part=test": hard}) == []


def test_texts_are_written_only_when_asked_for(data: Any, words: Any, tmp_path: Path) -> None:
    attacked(data, words, out=tmp_path / "plain")
    written = "".join(path.read_text(errors="replace") for path in (tmp_path / "plain").rglob("*") if path.is_file())
    assert "some goal today" not in written
    assert "some rain today" not in written
    attacked(data, words, out=tmp_path / "texts", texts=True)
    suite = load_suite(tmp_path / "texts" / "suite.csv")
    assert set(suite.attribute("functionality").to_pylist()) == {"original", "pwws-synonyms"}
    assert suite.attribute("reference").to_pylist().count(None) == len(suite) // 2


def test_an_interrupted_run_with_texts_goes_on(data: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "words.txt").write_text("goal score\nrain goal\n")
    params = {"pwws-synonyms": {"synonyms": str(tmp_path / "words.txt")}}
    model = unseen.train(data, "logistic", dev=data, C=1.0)
    model.save(tmp_path / "model")
    options: dict[str, Any] = {"attacks": ["pwws-synonyms", "characters"], "params": params, "texts": True}
    whole = attack(data, model=str(tmp_path / "model"), out=tmp_path / "whole", **options)

    from unseen.attacks.characters import Characters

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Characters, "search", stop)
        with pytest.raises(KeyboardInterrupt):
            attack(data, model=str(tmp_path / "model"), out=tmp_path / "run", **options)
    kept = list((tmp_path / "run").rglob("attempts.json"))
    assert len(kept) == 1
    again = attack(data, model=str(tmp_path / "model"), out=tmp_path / "run", **options)
    assert [row.value for row in again.measurements] == [row.value for row in whole.measurements]


def test_words_for_unknown_are_the_models_own_or_one_that_nobody_knows(data: Any, words: Any) -> None:
    model = Counting()
    attack(data, model=model, attacks=["pwws-synonyms"], params=words)
    assert any("qzxqz" in text for text in model.asked)


def test_a_budget_that_ends_searches_is_said(data: Any, words: Any) -> None:
    said = " ".join(attacked(data, words, queries=2).verdict.sentences)
    assert "No attack flips a label. " in said
    assert "No text was given more than 2 queries (--queries)" in said
    assert "--queries" not in " ".join(attacked(data, words).verdict.sentences)


def test_a_gate_can_be_about_valid_success(data: Any, words: Any) -> None:
    assert not attacked(data, words, gates=["success.raw<=0.5"]).passed
    assert attacked(data, words, gates=["success.raw<=0.9"]).passed


@pytest.mark.parametrize(
    ("options", "error", "complaint"),
    [
        ({"attacks": ["charcters"]}, UnknownNameError, "characters"),
        ({"attacks": ["pwws"]}, InputError, "needs wordnet"),
        ({"attacks": ["characters"], "params": {"pwws": {"wordnet": "x"}}}, UnknownNameError, "attack that is used"),
        ({"attacks": ["characters"], "queries": 0}, InputError, "queries must be at least 1"),
        ({"attacks": ["characters"], "limit": 0}, InputError, "limit must be at least 1"),
    ],
    ids=["name", "resource", "idle", "queries", "limit"],
)
def test_what_cannot_be_is_refused(data: Any, options: Any, error: type[Exception], complaint: str) -> None:
    with pytest.raises(error, match=complaint):
        attack(data, model=Counting(), **options)


def test_a_model_that_is_never_right_is_told(tiny: Any) -> None:
    data = tiny(ids=["a", "b"], texts=["a goal", "two goal"], labels=["calm", "calm"], label_names=("calm", "loud"))
    result = attack(data, model=Counting(), attacks=["characters"])
    assert result.verdict.headline == "No text was attacked: the model gets none of them right."
    json.dumps(result.described(), default=str)
