"""Sessions of attacks: what each mode shows, what is kept, and what a killed program leaves."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacked_posts import WEAKER, WORDS, DeletionAttack, fitted, posts, write_synonyms
from tiny_data import build
from unseen import inference
from unseen.attacks.session_log import MODES, RATINGS, read_sessions
from unseen.attacks.sessions import AttackSession
from unseen.errors import InputError, TableError, UnseenWarning
from unseen.types import Dataset

Begin = Callable[..., AttackSession]


@pytest.fixture(scope="module")
def data() -> Dataset:
    return posts()


@pytest.fixture(scope="module")
def model(data: Dataset) -> Any:
    return fitted(data)


@pytest.fixture
def begin(data: Dataset, model: Any, tmp_path: Path) -> Begin:
    """`begin("select")` begins a session in one mode, or goes on with it."""

    def start(*modes: str, recipe: Any = None, participant: str = "ann", limit: int = 3, **more: Any) -> AttackSession:
        return AttackSession.begin(
            data, model, recipe or DeletionAttack(), out=tmp_path, participant=participant, modes=modes, limit=limit,
            simulated=True, **more,
        )  # fmt: skip

    return start


def lines(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "session.jsonl").read_text(encoding="utf-8").splitlines()]


def rated(mode: str, value: int = 4) -> dict[str, int]:
    return dict.fromkeys(RATINGS[mode], value)


def probability(model: Any, text: str, label: str) -> float:
    return float(inference.answers(model, [text])[0][list(model.classes_).index(label)])


def lost_without(model: Any, text: str, at: int, label: str) -> float:
    """What the label loses without a word, and what another one gains where that flips it, by brute force."""
    start, end = list(re.finditer(r"\w+", text))[at].span()
    shorter = text[:start] + text[end + 1 :] if text[end : end + 1] == " " else text[: start - 1] + text[end:]
    whole, without = probability(model, text, label), probability(model, shorter, label)
    return 2 * (whole - without) if without < 0.5 else whole - without


def swapped(text: str) -> str:
    """The text with words of the other label for those of its own."""
    pairs = dict(zip(WORDS["good"] + WORDS["bad"], WORDS["bad"] + WORDS["good"], strict=True))
    return "".join(pairs.get(word, word) for word in re.split(r"(\W+)", text))


def test_texts_are_drawn_from_what_the_model_gets_right_and_orders_are_kept(begin: Begin, tmp_path: Path) -> None:
    session, other = begin(*MODES, limit=8), begin(*MODES, limit=8, participant="bob")
    first, second = lines(tmp_path)
    assert first["items"] == second["items"]  # the same texts for everybody
    assert first["participant"] != second["participant"]
    assert "ann" not in json.dumps(first)
    assert {*first["modes"][:2]} == {"auto", "manual"}
    assert any(first["orders"][mode] != second["orders"][mode] for mode in MODES)
    assert first["simulated"] is True
    assert session.log.turns == [tuple(turn) for turn in read_sessions(session.path)[0].turns]
    assert len(other.log.turns) == 32


def test_texts_that_the_model_gets_wrong_are_not_attacked(data: Dataset, model: Any, tmp_path: Path) -> None:
    gold = [data.label_names[int(code) ^ (row % 3 == 0)] for row, code in enumerate(data.labels)]  # every third wrong
    mislabelled = build(data.ids.to_pylist(), data.texts.to_pylist(), gold, data.label_names)
    session = AttackSession.begin(
        mislabelled, model, "characters", out=tmp_path, participant="ann", modes=["manual"], limit=80, simulated=True
    )
    right = inference.predict(model, mislabelled).probabilities.argmax(axis=1) == mislabelled.labels
    assert 40 < right.sum() < 60
    expected = {id for id, one in zip(data.ids.to_pylist(), right, strict=True) if one}
    assert {item.id for item in session.log.items} == expected


def test_manual_tells_the_label_alone_and_counts_failed_tries(begin: Begin, model: Any, tmp_path: Path) -> None:
    session = begin("manual", limit=1)
    item = session.state()["item"]
    assert {*item} == {"turn", "mode", "text", "ratings", "original", "label", "attempts"}
    state = session.attempt(item["turn"], item["text"] + " Truly")
    assert {*state["item"]["attempts"][0]} == {"n", "text", "predicted", "flipped"}  # no probability
    assert state["item"]["attempts"][0]["flipped"] is False
    session.attempt(item["turn"], item["text"] + " Truly")  # asked before: kept, but no new query
    flipped = swapped(item["text"])
    state = session.attempt(item["turn"], flipped)
    assert state["item"]["attempts"][-1]["flipped"] is True
    state = session.submit(item["turn"], rated("manual"))
    assert state == {"done": 1, "size": 1, "simulated": True, "item": None}
    _, *tries, end = lines(tmp_path)
    assert [one["queries"] for one in tries] == [2, 2, 3]
    assert [one["n"] for one in tries] == [1, 2, 3]
    assert tries[2]["p"] == pytest.approx(1 - probability(model, flipped, item["label"]))
    assert tries[2]["p_label"] == pytest.approx(probability(model, flipped, item["label"]))
    assert all(edit["source"] == "typed" for edit in tries[2]["edits"])
    words = item["text"].replace(",", "").replace(".", "").split()
    assert all(words[edit["index"]] == edit["from"] != edit["to"] for edit in tries[2]["edits"])
    assert (end["kind"], end["attempt"], end["flipped"]) == ("submission", 3, True)
    assert end["ratings"] == rated("manual")
    assert all(one["milliseconds"] >= 0 for one in tries)


def test_select_offers_the_words_that_matter_and_tells_the_probability(begin: Begin, model: Any) -> None:
    session = begin("select", limit=6)
    while (item := session.state()["item"]) and not any(one["candidates"] for one in item["keywords"]):
        session.skip(item["turn"])
    keywords = item["keywords"]
    assert 0 < len(keywords) <= 5
    label, size = item["label"], len(re.findall(r"\w+", item["original"]))
    drops = [lost_without(model, item["original"], at, label) for at in range(size)]
    assert keywords[0]["place"] == int(np.argmax(drops))
    keyword = next(one for one in keywords if one["candidates"])
    assert keyword["candidates"] == WEAKER[keyword["word"]]
    state = session.attempt(item["turn"], changes={str(keyword["place"]): keyword["candidates"][0]})
    feedback = state["item"]["attempts"][-1]
    expected = item["original"].replace(keyword["word"], keyword["candidates"][0], 1)
    assert feedback["text"] == expected
    assert feedback["p_label"] == pytest.approx(probability(model, expected, label))
    other = next(one for one in keywords if one is not keyword)
    session.attempt(item["turn"], changes={str(keyword["place"]): keyword["candidates"][0], str(other["place"]): "a b"})
    last = session.log.attempts[session.turn][-1]
    assert [edit["source"] for edit in last.edits] == ["candidate", "typed"]
    assert last.help_queries > 0  # what the list of words cost stands apart
    assert last.queries == 3


def test_five_words_and_no_others_may_be_selected(begin: Begin) -> None:
    session = begin("select", limit=1)
    item = session.state()["item"]
    place = str(item["keywords"][0]["place"])
    for changes, message in (
        ({place: "one two three four five six"}, "at most 5 words"), ({"99": "word"}, "not among those"),
        ({place: " "}, "nothing that could be written"), ({place: item["keywords"][0]["word"]}, "nothing was changed"),
        ({place: "\ud800"}, "nothing that could be written"), ({place: 3}, "nothing that could be written"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message):
            session.attempt(item["turn"], changes=changes)
    with pytest.raises(InputError, match="words for places"):
        session.attempt(item["turn"], "a whole text")
    session.attempt(item["turn"], changes={place: "one two three four five"})
    assert len(session.log.attempts[session.turn]) == 1  # what was refused is no try


@pytest.mark.parametrize("recipe", ["deletion", "weighted", "characters"])
def test_the_map_is_made_anew_for_every_try(begin: Begin, model: Any, tmp_path: Path, recipe: str) -> None:
    made = {"deletion": {"recipe": DeletionAttack()}, "characters": {"recipe": "characters"},
            "weighted": {"recipe": "pwws-synonyms", "params": {"synonyms": str(write_synonyms(tmp_path))}}}  # fmt: skip
    session = begin("saliency", **made[recipe])
    item = session.state()["item"]
    assert len(item["scores"]) == len(item["words"])
    assert "p" not in item
    edited = item["text"].replace(item["words"][int(np.argmax(item["scores"]))], "okay")
    after = session.attempt(item["turn"], edited)["item"]
    assert "p" not in after["attempts"][0]
    assert after["scores"] != item["scores"]
    if recipe != "weighted":
        expected = [lost_without(model, edited, at, item["label"]) for at in range(len(after["words"]))]
        assert after["scores"] == pytest.approx(expected, abs=1e-4)
    else:
        scored = {word for word, score in zip(after["words"], after["scores"], strict=True) if score}
        assert scored <= {*WEAKER, *(other for others in WEAKER.values() for other in others)}


def test_auto_shows_the_text_of_the_recipe_alone_and_what_it_cost(begin: Begin, tmp_path: Path) -> None:
    session = begin("auto", limit=8)
    item = session.state()["item"]
    assert {*item} == {"turn", "mode", "text", "ratings"}
    assert [*item["ratings"]] == [*RATINGS["auto"]]
    with pytest.raises(InputError, match="the recipe makes the text"):
        session.attempt(item["turn"], "my own")
    while item := session.state()["item"]:
        session.submit(item["turn"], rated("auto", 2))
    entries = lines(tmp_path)
    tries = {one["item"]: one for one in entries if one["kind"] == "attempt"}
    assert len(tries) == 8  # each text was attacked, whatever came of it
    ends = {one["item"]: one["kind"] for one in entries if one["kind"] in ("submission", "skip")}
    assert ends == {item: "submission" if one["flipped"] else "skip" for item, one in tries.items()}
    assert {*ends.values()} == {"submission", "skip"}
    assert all(one["queries"] > 3 for one in tries.values())


def test_letters_offer_no_words(begin: Begin) -> None:
    item = begin("select", recipe="characters").state()["item"]
    assert item["offers_words"] is False
    assert [one["candidates"] for one in item["keywords"]] == [[]] * len(item["keywords"])


def test_it_goes_on_where_a_killed_program_stopped(begin: Begin, tmp_path: Path) -> None:
    session = begin("manual", "saliency")
    item = session.state()["item"]
    session.attempt(item["turn"], "first try")
    session.attempt(item["turn"], "second try")
    path = tmp_path / "session.jsonl"
    path.write_bytes(path.read_bytes()[:-20])  # killed while it wrote the second try
    with pytest.warns(UnseenWarning, match="cut off"):
        again = begin("saliency", "manual")
    state = again.state()
    assert state["item"]["turn"] == item["turn"]
    assert [one["text"] for one in state["item"]["attempts"]] == ["first try"]
    again.attempt(item["turn"], "third try")
    again.skip(item["turn"], "too hard")
    resumed = begin("manual", "saliency")
    assert resumed.state()["done"] == 1
    assert resumed.log.ends[resumed.log.turns[0]].reason == "too hard"
    assert [one.text for one in resumed.log.attempts[resumed.log.turns[0]]] == ["first try", "third try"]
    assert len(read_sessions(path)) == 1


def test_wrong_input_is_refused_and_nothing_is_kept(begin: Begin, model: Any, tmp_path: Path) -> None:
    session = begin("manual")
    turn = session.state()["item"]["turn"]
    before = (tmp_path / "session.jsonl").read_bytes()
    wrong: list[tuple[Callable[[], Any], str]] = [
        (lambda: session.submit(turn, rated("manual")), "nothing was tried"),
        (lambda: session.attempt(turn, "  "), "empty"),
        (lambda: session.attempt(turn, "x" * 5_000), "too long"),
        (lambda: session.attempt(turn, "half \ud800"), "cannot be written"),
        (lambda: session.attempt(turn, session.log.item(turn.partition("/")[2]).text), "nothing was changed"),
        (lambda: session.attempt("manual/other", "text"), "not the one"),
        (lambda: session.attempt(turn, changes={"0": "x"}), "a whole text"),
        (lambda: begin("sideways"), "sideways"),
        (lambda: begin(), "at least one"),
        (lambda: begin("manual", limit=0), "at least one"),
        (lambda: begin("manual", participant=" "), "name"),
        (lambda: begin("manual", recipe="pwws"), "needs wordnet"),
        (lambda: begin("manual", model="another"), "other data or another model"),
    ]
    for work, message in wrong:
        with pytest.raises(InputError, match=message):
            work()
    assert (tmp_path / "session.jsonl").read_bytes() == before
    session.attempt(turn, "a try")
    good = rated("manual")
    for ratings in ({}, rated("manual", 6), good | {"fun": 3}, good | {"effort": True}, None, [3]):
        with pytest.raises(InputError, match="from 1 to 5"):
            session.submit(turn, ratings)  # type: ignore[arg-type]
    for number in (0, 2, "1", True):
        with pytest.raises(InputError, match="no such try"):
            session.submit(turn, rated("manual"), number)  # type: ignore[arg-type]


def test_a_line_that_does_not_fit_is_named(begin: Begin, tmp_path: Path) -> None:
    session = begin("manual")
    session.attempt(session.state()["item"]["turn"], "a try")
    path = tmp_path / "session.jsonl"
    whole = path.read_text(encoding="utf-8")
    for old, new in (
        ('"kind": "attempt"', '"kind": "dream"'), ('"n": 1', '"n": 7'), ('"text": "a try"', '"text": 5'),
        ('"mode": "manual"', '"mode": "auto"'), ('"modes": ["manual"]', '"modes": ["auto"]'),
        ('"seed": 42', '"seed": []'),
    ):  # fmt: skip
        path.write_text(whole.replace(old, new), encoding="utf-8")
        with pytest.raises(TableError, match=r"line [12]"):
            read_sessions(path)
