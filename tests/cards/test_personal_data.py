"""Personal data in texts: what has the form of it, and what only looks like it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binomtest

from unseen import load
from unseen.cards.personal_data import CATEGORIES, PATTERNS, precision, scan, write_sample
from unseen.errors import TableError
from unseen.types import Dataset

Builder = Callable[..., Dataset]

HOLD = {
    "email": ["write to ann.lee+x@mail.example.org now", "a@b.co."],
    "phone": ["call +44 20 7946 0958", "(555) 010-0199", "555-010-0199.", "+442079460958", "030 1234 5678"],
    "handle": ["hi @ann_lee!", "@bob: no", "(@carla)"],
    "handle_masked": ["RT @user: hi", "@USER yes", "<user> said", "[USER] no", "@mention"],
    "ip_address": ["from 192.168.0.1.", "2001:db8:0:0:0:0:2:1 is up"],
    "url_with_user": [
        "https://twitter.com/annlee/status/3", "http://a.example/~ann", "www.example.com/user/ann",
        "https://ann:secret@example.org/x", "https://example.org/p?user=ann", "http://www.example.fi/@ann",
    ],
    "national_id": ["123-45-6789", "AB 12 34 56 C", "12345678Z"],
    "coordinates": ["48.8584, 2.2945", "at 51°28' N", "-33.8568;151.2153"],
}  # fmt: skip
HOLD_NOT = {
    "email": ["a @ b", "@ann", "5@5", "me@home"],
    "phone": ["in 1990 - 1995", "2014-03-13", "10 000 000 000", "1999-2004-2010", "3.14159265358",
              "123-45-6789", "12 3"],
    "handle": ["a@b.org", "@user", "@ 5", "http://a.org/@ann", "@12"],
    "handle_masked": ["@ann", "user", "a@user.org"],
    "ip_address": ["1.2.3", "999.1.1.1", "12:30:45", "dead::beef", "version 1.2.3.4.5"],
    "url_with_user": ["https://example.org/news/today", "https://twitter.com/search", "/user/x",
                      "www.facebook.com/photo.php"],
    "national_id": ["000-12-3456", "12345678A", "123-456-789", "1123-45-6789"],
    "coordinates": ["3.5, 4.5", "99.1234, 5.1234", "1.2345 and 2.3456"],
}  # fmt: skip


@pytest.mark.parametrize("category", CATEGORIES)
def test_what_has_the_form_is_found(category: str, tiny: Builder) -> None:
    texts = [*HOLD[category], *HOLD_NOT[category]]
    found = scan(tiny(ids=[str(row) for row in range(len(texts))], texts=texts)).rows[category]
    assert found.tolist() == [True] * len(HOLD[category]) + [False] * len(HOLD_NOT[category])


def test_the_hint_never_hides_a_match(tiny: Builder) -> None:
    texts = [text for each in (*HOLD.values(), *HOLD_NOT.values()) for text in each]
    found = scan(tiny(ids=[str(row) for row in range(len(texts))], texts=texts)).rows
    for pattern in PATTERNS:
        assert found[pattern.category].tolist() == [pattern.in_text(text) for text in texts]


@pytest.mark.parametrize(
    "unit", ["a", "a.", "@", "a@", "http://", "http://aaa?", "1 ", "12-34-", ":", "ab:", "1° ", "1.2345,"]
)
def test_cost_grows_with_the_length_of_a_text_and_no_faster(unit: str, tiny: Builder) -> None:
    def seconds(repeats: int) -> float:
        data = tiny(ids=["1"], texts=[unit * repeats], labels=["no"])
        times = []
        for _ in range(3):
            start = time.process_time()
            scan(data)
            times.append(time.process_time() - start)
        return min(times)

    seconds(10)
    assert seconds(20_000) < 40 * seconds(2_000)  # with the square it would be 100 times


@pytest.fixture
def mixed(tiny: Builder) -> Dataset:
    texts = ["a@b.co and c@d.co", "@ann", "@user hi", "@bob a@b.co", "nothing", "nothing"]
    return tiny(ids=list("abcdef"), texts=texts)


def test_rates_are_texts_per_thousand(mixed: Dataset) -> None:
    rates = {row.slice: row for row in scan(mixed).rates()}
    assert rates["category=email"].value == pytest.approx(2000 / 6)
    assert rates["category=handle"].value == pytest.approx(2000 / 6)
    assert rates["category=handle_masked"].value == pytest.approx(1000 / 6)
    assert rates["category=any"].value == pytest.approx(3000 / 6)
    wilson = binomtest(3, 6).proportion_ci(method="wilson")
    assert rates["category=any"].low == pytest.approx(1000 * wilson.low, rel=1e-5)
    assert rates["category=any"].high == pytest.approx(1000 * wilson.high, rel=1e-5)


def test_the_answer_holds_no_match(mixed: Dataset) -> None:
    value = scan(mixed).value()
    assert value["categories"] == ["email", "handle"]
    assert value["assessed_after_collection"] is False
    assert "person_name" in value["not_measured"]
    assert value["text"].startswith("1 texts hold a placeholder")
    assert not any(word in str(value) for word in ("ann", "bob", "b.co"))


def test_the_sample_does_not_follow_the_order_of_rows(mixed: Dataset) -> None:
    drawn = scan(mixed).sample(most=1)
    assert drawn == scan(mixed.take(np.arange(6)[::-1])).sample(most=1)
    assert [category for _, category in drawn] == ["email", "handle", "handle_masked"]
    assert len(scan(mixed).sample()) == 5


def test_a_sample_checked_by_hand_gives_the_precision(mixed: Dataset, tmp_path: Path) -> None:
    path = write_sample(scan(mixed), tmp_path / "check.csv")
    assert (
        path.read_text() == "id,category,right,row\na,email,,\nd,email,,\nb,handle,,\nd,handle,,\nc,handle_masked,,\n"
    )
    path.write_text("id,category,right\na,email,yes\nd,email,No\nb,handle,YES\nd,handle,\n")
    found = {row.slice: row for row in precision(scan(mixed), path)}
    assert {name: (row.value, row.n) for name, row in found.items()} == {
        "category=email": (0.5, 2),
        "category=handle": (1.0, 1),
    }
    wilson = binomtest(1, 2).proportion_ci(method="wilson")
    assert (found["category=email"].low, found["category=email"].high) == pytest.approx(
        (wilson.low, wilson.high), rel=1e-5
    )
    assert scan(mixed).value(list(found.values()))["precision"]["email"]["n"] == 2


def test_texts_go_into_the_sample_only_when_asked_for(tiny: Builder, tmp_path: Path) -> None:
    data = tiny(ids=["=a"], texts=["=x a@b.co"], labels=["no"])
    assert "a@b.co" not in write_sample(scan(data), tmp_path / "a.csv").read_text()
    assert (
        write_sample(scan(data), tmp_path / "b.csv", texts=True).read_text().splitlines()[1] == "'=a,email,,,'=x a@b.co"
    )
    path = tmp_path / "c.csv"
    path.write_text("id,category,right\n'=a,email,yes\n")
    assert precision(scan(data), path)[0].n == 1


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a,email,maybe\nb,mail,yes", ["line 2: right", "line 3: category"]),
        ("b,email,yes\nz,email,no", ["'b' email: the scan does not say so", "'z' email"]),
        ("a,email,yes\na,email,no", ["1 rows repeat"]),
        ("a,email,", ["no row says yes or no"]),
    ],
)
def test_wrong_checks_are_refused(rows: str, said: list[str], mixed: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "check.csv"
    path.write_text(f"id,category,right\n{rows}\n")
    with pytest.raises(TableError) as refused:
        precision(scan(mixed), path)
    assert all(part in str(refused.value) for part in said)


def test_real_forums_and_tweets(shared_data: Path) -> None:
    forum = {row.slice: row.value for row in scan(load("stormfront", data_dir=shared_data)).rates()}
    tweets = scan(load("davidson", data_dir=shared_data))
    rates = {row.slice: row.value for row in tweets.rates()}
    assert 1 < forum["category=email"] < 5
    assert forum["category=handle_masked"] == 0
    assert rates["category=handle"] == 0
    handles = sum("@user" in text for text in tweets.data.texts.to_pylist())
    assert 0.95 * handles < tweets.rows["handle_masked"].sum() <= handles
    assert rates["category=phone"] < 2
