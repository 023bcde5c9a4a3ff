"""Blind ratings of attacks, with ratings that are made up and say so; numbers by hand."""

from __future__ import annotations

import csv
import itertools
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attacked_posts import DeletionAttack, fitted, posts
from finished_runs import write_rows
from unseen.attacks.rating_sheet import (
    ASKED,
    AttackedText,
    Rating,
    append_rating,
    attacked_texts,
    read_key,
    read_ratings,
    read_sheet,
    undo_rating,
    write_sheet,
)
from unseen.attacks.ratings import accepted, notice, rating_measurements, success, words_apart
from unseen.attacks.session_log import RATINGS
from unseen.attacks.sessions import AttackSession
from unseen.errors import InputError, TableError
from unseen.functional.agreement import krippendorff_alpha
from unseen.types import Measurement

BASE = AttackedText("a", "good", True, "manual", "person", "pwws", "m", 3, "a fine film", "a nice film", 2, 10.0, "ann")
"""Made up."""


def made_up(item: str, rater: str, label: str = "yes", grammar: int = 5, source: str = "person") -> list[Rating]:
    """What a rater who does not exist answers."""
    given = {"label": label, "grammar": str(grammar), "source": source}
    return [Rating(item, question, answer, rater, simulated=True) for question, answer in given.items()]


def value(rows: list[Measurement], metric: str, **tags: Any) -> Measurement:
    (row,) = [
        row for row in rows if row.metric == metric and all(row.tags.get(name) == tag for name, tag in tags.items())
    ]
    return row


def test_a_flip_is_a_success_where_most_keep_the_label_and_grammar_is_good() -> None:
    assert accepted({"label": ["yes", "yes", "no"], "grammar": ["4", "5", "3"]}) is True  # mean 4
    assert accepted({"label": ["yes", "yes", "no"], "grammar": ["4", "4", "3"]}) is False
    assert accepted({"label": ["yes", "no"], "grammar": ["5", "5"]}) is False  # no majority
    assert accepted({"label": ["cannot tell"], "grammar": ["5"]}) is False
    assert accepted({"label": ["yes"]}) is None


def test_success_by_hand() -> None:
    manual = [replace(BASE, item=str(at), sheet=f"t{at}", flipped=at < 3, queries=2 + at) for at in range(4)]
    auto = [replace(BASE, item=str(at), mode="auto", source="program", sheet=f"u{at}", person="", seconds=None,
                    flipped=True, queries=100) for at in range(2)]  # fmt: skip
    ratings = [
        *made_up("t0", "x"), *made_up("t0", "y", grammar=4), *made_up("t1", "x", label="no"), *made_up("t1", "y"),
        *made_up("t2", "x", grammar=3, source="program"), *made_up("u0", "x", source="program"),
        *made_up("u1", "x", label="no", source="person"),
    ]  # fmt: skip
    rows = rating_measurements([*manual, *auto], ratings)
    assert all(row.tags["simulated"] == "yes" for row in rows)
    raw, rated = value(rows, "success.raw", mode="manual"), value(rows, "success.rated", mode="manual")
    assert (raw.value, raw.n) == (0.75, 4)
    assert (rated.value, rated.n, rated.tags["rated"], rated.tags["grammar"]) == (0.25, 4, 3, 4.0)
    assert value(rows, "success.rated", mode="auto").value == 0.5
    peers = value(rows, "rating.grammar", mode="manual", rated_by="peers")
    assert peers.value == pytest.approx((4.5 + 5 + 3) / 3)  # raters of one text first
    assert peers.tags["standard_error"] == pytest.approx(((0.3333**2 + 0.8333**2 + 1.1667**2) / 2 / 3) ** 0.5, abs=1e-3)
    assert value(rows, "queries", mode="manual").value == 3.5
    assert value(rows, "queries", mode="auto").value == 100
    assert value(rows, "attempts", mode="manual").value == 2
    people = value(rows, "source_guess.accuracy", source="person")
    assert people.value == pytest.approx(2 / 3)
    assert value(rows, "source_guess.accuracy", source="program").value == 0.5
    both = value(rows, "source_guess.accuracy", source="both")
    assert both.value == pytest.approx((2 / 3 + 0.5) / 2)
    assert both.low is not None
    assert both.low < 0.5 < (both.high or 0)
    agreed = value(rows, "krippendorff_alpha.nominal", question="label")
    table = [["yes", "yes"], ["no", "yes"], ["yes"], ["yes"], ["no"]]
    assert agreed.value == pytest.approx(krippendorff_alpha([[*row, None][:2] for row in table]))
    assert value(rows, "rater_agreement", question="label").value == 0.5


def test_some_rated_flips_stand_for_all_of_their_kind() -> None:
    group = [replace(BASE, item=str(at), sheet=f"t{at}" if at < 4 else "", flipped=at < 8) for at in range(10)]
    ratings = [one for at in range(4) for one in made_up(f"t{at}", "x", label="yes" if at else "no")]
    rated = value(rating_measurements(group, ratings), "success.rated")
    assert rated.value == pytest.approx(0.8 * 0.75)
    assert (rated.low or 0) < 0.6 < (rated.high or 0)
    unrated = value(rating_measurements(group, []), "success.rated")
    assert (unrated.value, unrated.n) == (None, 0)


def test_the_interval_of_partly_rated_flips_holds_raw_success_too() -> None:
    draw, held = np.random.default_rng(1), {}
    for flips, kept in ((0.3, 0.95), (0.6, 0.7), (0.9, 0.3)):  # all that is known is that 20 of the flips were rated
        rows = []
        for _ in range(400):
            n, good = draw.binomial(100, flips), draw.binomial(20, kept)
            group = [replace(BASE, sheet=f"t{at}" if at < 20 else "", flipped=at < n) for at in range(100)]
            answers = {f"t{at}": {"label": ["yes" if at < good else "no"], "grammar": ["5"]} for at in range(20)}
            rows.append(success(group, answers, 4.0, {})[1])
        held[flips] = float(np.mean([(row.low or 0) <= flips * kept <= (row.high or 0) for row in rows]))
    assert all(share >= 0.93 for share in held.values()), held


def test_intervals_stay_where_values_can_be() -> None:
    group = [replace(BASE, item=str(at), sheet=f"t{at}", queries=1 + 99 * at, seconds=9.0 * at) for at in range(2)]
    ratings = [one for at in range(2) for one in made_up(f"t{at}", "x", grammar=4 + at)]
    rows = rating_measurements(group, ratings)
    assert (value(rows, "rating.grammar", rated_by="peers").low, value(rows, "rating.grammar").high) == (1, 5)
    assert [value(rows, name).low for name in ("queries", "seconds")] == [0, 0]


def test_variety_is_what_people_do_differently_to_the_same_text() -> None:
    assert words_apart("a fine film", "a nice film") == pytest.approx(1 / 3)
    assert words_apart("a fine film", "a fine film") == 0
    texts = {"ann": "a nice film", "bob": "a good film", "eve": "a nice film"}
    group = [replace(BASE, person=person, changed=text) for person, text in texts.items()]
    given_up = replace(BASE, person="joe", changed=BASE.original, flipped=False)
    rows = rating_measurements([*group, given_up], [])
    assert value(rows, "variety").value == pytest.approx((1 / 3 + 0 + 1 / 3) / 3)
    assert "simulated" not in value(rows, "variety").tags


def test_what_a_program_made_up_is_said() -> None:
    assert notice([BASE], []) == ""
    assert "attacks by people" in notice([replace(BASE, simulated=True)], [])
    assert "the ratings;" in notice([BASE], made_up("t1", "x"))


def test_the_sheet_is_blind_and_the_key_is_elsewhere(tmp_path: Path) -> None:
    attacked = [
        replace(BASE, item=f"{mode}{at}", mode=mode, source="program" if mode == "auto" else "person",
                flipped=at % 3 > 0, changed=f"=a film {mode[0]}{at}")
        for mode, n in (("auto", 30), ("manual", 9)) for at in range(n)
    ]  # fmt: skip
    write_sheet(tmp_path, attacked, limit=10)
    rows = read_sheet(tmp_path)
    assert {*rows[0]} == {"id", "original", "changed", "label"}
    assert sorted(row["changed"][8] for row in rows) == ["a"] * 5 + ["m"] * 5  # of every kind alike
    with (tmp_path / "sheet.csv").open(encoding="utf-8") as file:
        assert all(row["changed"].startswith("'=") for row in csv.DictReader(file))  # no formula for a spreadsheet
    raw = (tmp_path / "sheet.csv").read_text(encoding="utf-8")
    assert not any(word in raw for word in ("manual", "auto", "program", "person", "pwws"))
    key = {one.sheet: one for one in read_key(tmp_path) if one.sheet}
    assert all(key[row["id"]].changed == row["changed"] for row in rows)
    sources = [key[row["id"]].source for row in rows]
    assert any(one == other for one, other in itertools.pairwise(sources))  # no pattern gives the source away
    assert len(read_key(tmp_path)) == 39  # failed attacks too, to count by
    assert [one.sheet for one in read_key(tmp_path) if one.sheet] != sorted(key)  # shuffled
    with pytest.raises(InputError, match="already"):
        write_sheet(tmp_path, attacked)
    with pytest.raises(InputError, match="nothing to rate"):
        write_sheet(tmp_path / "new", [replace(BASE, flipped=False)])


def test_attacks_come_from_sessions_and_runs_but_for_texts_that_were_wrong_before(tmp_path: Path) -> None:
    data = posts(40)
    session = AttackSession.begin(
        data, fitted(data), DeletionAttack(), out=tmp_path / "s", participant="ann", modes=["manual"], limit=2,
        simulated=True,
    )  # fmt: skip
    turn = session.state()["item"]["turn"]
    session.attempt(turn, "first")
    session.attempt(turn, "second")
    turn = session.submit(turn, dict.fromkeys(RATINGS["manual"], 2), 1)["item"]["turn"]
    session.skip(turn)
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text(json.dumps({"kind": "attack", "model": "m", "finished": "2026"}), encoding="utf-8")
    columns = ["attack", "id", "label", "status", "queries"]
    statuses = [("1", "flipped"), ("2", "failed"), ("3", "skipped")]
    write_rows(run / "attacks.csv", columns, [["characters", id, "good", status, 7] for id, status in statuses])
    example = {"attack": "characters", "id": "1", "original": "fine", "changed": "fi ne", "label": "good"}
    (run / "examples.json").write_text(json.dumps({"examples": [example]}), encoding="utf-8")
    attacked = attacked_texts([tmp_path / "s", run])
    assert [(one.mode, one.source, one.attempts, one.simulated) for one in attacked] == [
        ("manual", "program", 2, True), ("manual", "program", 0, True), ("auto", "program", 1, False),
        ("auto", "program", 1, False),
    ]  # fmt: skip
    assert attacked[0].changed == "first"
    assert attacked[0].queries == 3
    assert attacked[0].ratings["effort"] == 2
    assert [one.flipped for one in attacked[2:]] == [True, False]
    assert attacked[2].changed == "fi ne"
    (run / "examples.json").write_text('{"examples": []}', encoding="utf-8")
    with pytest.raises(TableError, match="no text of it"):
        attacked_texts([run])
    with pytest.raises(InputError, match="holds no attacks"):
        attacked_texts([tmp_path])


def test_the_last_answer_that_was_not_taken_back_counts(tmp_path: Path) -> None:
    path = tmp_path / "ratings.jsonl"
    first = Rating("t1", "label", "yes", "x", simulated=True)
    for rating in (first, replace(first, answer="no"), replace(first, rater="y")):
        append_rating(path, rating)
    assert [(one.answer, one.rater) for one in read_ratings(path)] == [("no", "x"), ("yes", "y")]
    undo_rating(path, "t1", "label", "x")
    assert [one.rater for one in read_ratings(path)] == ["y"]
    assert len(path.read_text(encoding="utf-8").splitlines()) == 4


@pytest.mark.parametrize(
    "wrong",
    [{"answer": "6"}, {"question": "taste"}, {"item": ""}, {"rater": 3}, {"seconds": -1}, {"simulated": "no"}],
    ids=str,
)
def test_what_is_no_rating_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    line = {"item": "t1", "question": "grammar", "answer": "5", "rater": "x"} | wrong
    path = tmp_path / "ratings.jsonl"
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with pytest.raises(TableError, match="line 1"):
        read_ratings(path)
    assert {*ASKED} == {"label", "source", *RATINGS["auto"]}
