"""A session of attacks and blind ratings as a person meets them, in Debian's chromium."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from attacked_posts import DeletionAttack, fitted, posts
from unseen.attacks.rating_sheet import ASKED, AttackedText, read_ratings, write_sheet
from unseen.attacks.session_log import read_sessions
from unseen.attacks.sessions import AttackSession
from unseen.viewer.rating_task import RatingTask
from unseen.viewer.server import Viewer, serve
from unseen.viewer.session_task import SessionTask
from unseen.viewer.tasks import Task

EVIL = " <img src=x onerror=\"document.title='it ran'\"><script>document.title='it ran'</script>"


@pytest.fixture
def page_of(browser: Any) -> Iterator[Callable[..., Any]]:
    """`page_of(task, width)` serves a task in a thread and opens it; whatever goes wrong in the page fails the test."""
    pages, problems = [], list[str]()

    def start(task: Task, width: int = 1200) -> Any:
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(address_of(task))
        page.wait_for_function("() => document.querySelector('#progress').textContent.length > 0")
        pages.append(page)
        return page

    yield start
    for page in pages:
        page.close()
    assert [problem for problem in problems if "status of 400" not in problem] == []  # what is refused is told so


def address_of(task: Task) -> str:
    addresses: list[str] = []
    threading.Thread(target=serve, args=(Viewer([], task), 0, addresses.append), daemon=True).start()
    for _ in range(600):
        if addresses:
            return addresses[0]
        time.sleep(0.05)
    raise AssertionError("the viewer does not start")


@pytest.fixture(scope="module")
def made() -> tuple[Any, Any]:
    data = posts(evil=EVIL)
    return data, fitted(data)


def session_of(made: tuple[Any, Any], folder: Path, *modes: str, limit: int = 1) -> AttackSession:
    data, model = made
    return AttackSession.begin(
        data, model, DeletionAttack(), out=folder, participant="ann", modes=modes, limit=limit, simulated=True
    )


def rate(page: Any, value: int) -> None:
    for name in page.evaluate("() => [...new Set([...document.querySelectorAll('#ratings input')].map(i => i.name))]"):
        page.check(f"#ratings input[name={name}][value='{value}']")
    page.click("text=Hand it in")


@pytest.mark.browser
def test_words_are_chosen_edited_submitted_and_rated(
    made: tuple[Any, Any], page_of: Callable[..., Any], tmp_path: Path
) -> None:
    session = session_of(made, tmp_path, "select", "saliency", limit=2)
    turns = session.log.turns
    page = page_of(SessionTask(session))
    for mode, _ in turns:
        assert page.locator("body").inner_text().count("Simulated") == 1
        assert "it ran" not in page.title()
        assert "<script>" in page.locator("#original").inner_text()
        if mode == "select":
            assert page.locator(".keyword").count() <= 5
            row = page.locator(".keyword").first
            row.locator("input[type=text]").fill("okay")
            page.click("#attempt")
            page.wait_for_function("() => document.querySelector('#feedback').textContent.includes('%')")
        else:
            before = page.locator("#map mark").evaluate_all("marks => marks.map(mark => mark.title)")
            page.fill("#text", page.locator("#text").input_value().replace("The", "Some", 1) + " Really.")
            page.click("#attempt")
            page.wait_for_function("() => document.querySelector('#feedback').textContent.length > 0")
            after = page.locator("#map mark").evaluate_all("marks => marks.map(mark => mark.title)")
            assert before != after
            assert "%" not in page.locator("#feedback").inner_text()
        done = page.locator("#progress").inner_text()
        rate(page, 3)
        page.wait_for_function("before => document.querySelector('#progress').textContent !== before", arg=done)
    assert "That was all" in page.locator("#mode").inner_text()
    assert not page.locator("#attempt").is_visible()
    (log,) = read_sessions(session.path)
    assert [*log.ends] == turns
    assert all(end.attempt == 1 and {*end.ratings.values()} == {3} for end in log.ends.values())
    assert log.simulated


@pytest.mark.browser
def test_auto_and_manual_show_no_probability_and_a_telephone_shows_all(
    made: tuple[Any, Any], page_of: Callable[..., Any], tmp_path: Path
) -> None:
    session = session_of(made, tmp_path, "auto", "manual", limit=6)
    page = page_of(SessionTask(session), 400)
    for _ in range(12):
        if "That was all" in page.locator("#mode").inner_text():
            break
        assert page.evaluate("document.documentElement.scrollWidth") <= 400
        done = page.locator("#progress").inner_text()
        if page.locator("#made").is_visible():
            assert not page.locator("#reference").is_visible()
            assert not page.locator("#attempt").is_visible()  # a program wrote it
            rate(page, 5)
        else:
            page.click("#attempt")
            page.wait_for_function(
                "() => document.querySelector('#feedback').textContent.includes('nothing was changed')"
            )
            page.fill("#text", "Something else")
            page.click("#attempt")
            page.wait_for_function("() => document.querySelector('#tries').children.length === 1")
            assert "%" not in page.locator("#task").inner_text()
            page.click("#skip")
        page.wait_for_function("before => document.querySelector('#progress').textContent !== before", arg=done)
    (log,) = read_sessions(session.path)
    assert len(log.ends) == 12


@pytest.mark.browser
@pytest.mark.parametrize("width", [1200, 400])
def test_changed_texts_are_rated_blind_by_keys(page_of: Callable[..., Any], tmp_path: Path, width: int) -> None:
    one = AttackedText("a", "good", True, "manual", "person", "pwws", "m", 3, f"fine{EVIL}", f"okay{EVIL}")
    write_sheet(tmp_path, [one, replace(one, mode="auto", source="program", changed="finee")])
    page = page_of(RatingTask(tmp_path, "ann", simulated=True), width)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert not any(word in page.locator("body").inner_text() for word in ("manual", "pwws", "auto"))
    assert "Simulated: a program fills this in" in page.locator("body").inner_text()
    for key in "12345121111112":  # two texts, seven questions each
        assert "it ran" not in page.title()
        assert "<script>" in page.locator("#reference").inner_text()
        done = page.locator("#progress").inner_text()
        page.keyboard.press(key)
        page.wait_for_function("before => document.querySelector('#progress').textContent !== before", arg=done)
    page.keyboard.press("z")
    page.wait_for_selector("#progress:has-text('13 of 14 questions')")
    page.keyboard.press("1")
    page.wait_for_selector("#text:has-text('All of them')")
    answers = [(rating.item, rating.question, rating.answer) for rating in read_ratings(tmp_path / "ratings.jsonl")]
    given = [value[0] for value in ("yes", "2", "3", "4", "5", "1", "program", "yes", *"11111", "person")]
    assert [answer[0] for _, _, answer in answers] == given
    assert [question for _, question, _ in answers] == [*ASKED] * 2
    assert all(rating.simulated for rating in read_ratings(tmp_path / "ratings.jsonl"))


def test_what_a_page_sends_is_checked(made: tuple[Any, Any], tmp_path: Path) -> None:
    session = session_of(made, tmp_path, "manual")
    address = address_of(SessionTask(session))
    turn = httpx.get(f"{address}/next").json()["item"]["turn"]
    for action, content in (
        ("attempt", {}), ("attempt", {"turn": turn}), ("attempt", {"turn": turn, "text": 3}), ("dream", {"turn": turn}),
        ("attempt", {"turn": turn, "changes": [1]}), ("attempt", {"turn": turn, "text": "x" * 5_000}), ("submit", {}),
        ("submit", {"turn": turn, "ratings": {}}), ("skip", {"turn": "manual/other"}),
        ("attempt", {"turn": turn, "text": "a", "simulated": False, "mode": "auto", "changes": {}}),
    ):  # fmt: skip
        assert httpx.post(f"{address}/{action}", json=content).status_code == 400, (action, content)
    assert httpx.post(f"{address}/skip", content=json.dumps({"turn": turn})).status_code == 400  # not sent as JSON
    assert len(session.path.read_text(encoding="utf-8").splitlines()) == 1
