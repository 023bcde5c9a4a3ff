"""`unseen attack session` in a terminal, and `unseen attack rate`: what is typed, printed and kept."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from attacked_posts import SYNONYMS, fitted, posts
from finished_runs import write_rows
from unseen.attacks.rating_sheet import Rating, append_rating, read_key
from unseen.attacks.session_log import RATINGS, read_sessions

Typed = Callable[..., Any]


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unseen: Callable[..., Any]) -> Typed:
    """`typed("line\\n…", "--mode", "manual")` is a session in the terminal whose input is these lines."""
    monkeypatch.chdir(tmp_path)
    data = posts(40, evil=" \x1b[31m")
    rows = zip(data.ids.to_pylist(), data.texts.to_pylist(), data.labels.tolist(), strict=True)
    write_rows(
        Path("posts.csv"), ["id", "text", "label"], [[id, text, data.label_names[code]] for id, text, code in rows]
    )
    fitted(data).save(Path("model"))
    Path("synonyms.txt").write_text(SYNONYMS, encoding="utf-8")

    def run(lines: str, *options: str) -> Any:
        with patch.object(sys, "stdin", StringIO(lines)):
            return unseen("attack", "session", "posts.csv", "--model", "model", "-o", "out", "--terminal", "-n", "1",
                          "--participant", "ann", *options)  # fmt: skip

    return run


def test_a_session_is_typed_stopped_and_gone_on_with(typed: Typed) -> None:
    first = typed("\n:submit\nan awful fine cold film\n:quit\n", "--mode", "manual")
    assert first.code == 0
    assert "Simulated: a program fills this in" in first.out  # nobody sits at a pipe
    assert "nothing was tried yet" in first.out
    assert "% sure" not in first.out
    assert "\x1b" not in first.out  # what could steer a terminal is shown as an escape
    assert "stopped; what was tried is kept" in first.out
    ratings = "".join(f"{line}\n" for line in ["x", "7", *["3"] * len(RATINGS["manual"])])
    second = typed(f":submit\n{ratings}", "--mode", "manual")
    assert "That was all" in second.out
    (log,) = read_sessions("out/session.jsonl")
    (end,) = log.ends.values()
    assert {*end.ratings.values()} == {3}
    assert [one.text for one in log.attempts[log.turns[0]]] == ["an awful fine cold film"]
    assert log.simulated
    assert "ann" not in Path("out/session.jsonl").read_text(encoding="utf-8")


def test_words_are_selected_and_maps_are_printed(typed: Typed) -> None:
    select = typed("nonsense\n9=word\n1=okayish\n", "--mode", "select", "--with", "pwws-synonyms", "--set",
                   "pwws-synonyms.synonyms=synonyms.txt")  # fmt: skip
    assert select.out.count("this changes no word") == 2
    assert "% sure" in select.out
    again = typed("", "--mode", "select", "--with", "pwws-synonyms", "--set", "pwws-synonyms.synonyms=synonyms.txt")
    for line in select.out.splitlines()[2:5]:  # whoever goes on must see what the text was, and the words by number
        assert line in again.out
    assert "okayish" in again.out
    typed("some fine awful thing\n", "--mode", "saliency", "--quiet")
    maps = [line for line in typed("some cold fine thing\n", "--mode", "saliency").out.splitlines() if "fine[" in line]
    assert len({*maps}) == 2  # another map after the try
    letters = typed(":skip\n", "--mode", "select", "--with", "characters")
    assert "changes letters, so it has no words to offer" in letters.err
    assert "nothing is offered" in letters.out
    logs = read_sessions("out/session.jsonl")
    assert [log.attack for log in logs] == ["pwws-synonyms.v1", "characters.v1", "characters.v1"]
    (attempt,) = logs[0].attempts[logs[0].turns[0]]
    assert attempt.edits[0]["source"] == "typed"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--mode", "sideways"), "sideways"), (("--mode", ""), "at least one"), (("--with", "pwws"), "needs wordnet"),
        (("--with", "characters", "--set", "pwws.wordnet=x"), "--set is for the attack characters"),
        (("--participant", " "), "needs a name"),
    ],
    ids=["mode", "none", "wordnet", "set", "name"],
)  # fmt: skip
def test_wrong_options_are_refused(typed: Typed, options: tuple[str, ...], message: str) -> None:
    done = typed("", *options)
    assert done.code == 2
    assert message in done.err


def test_what_came_of_ratings_is_printed_and_says_that_it_is_simulated(
    typed: Typed, unseen: Callable[..., Any]
) -> None:
    ratings = "3\n" * len(RATINGS["manual"])
    typed(f"an awful bitter cold film\na lovely bright fine film\n:submit\n{ratings}", "--mode", "manual")
    (end,) = read_sessions("out/session.jsonl")[0].ends.values()
    if not end.flipped:
        typed(f"an awful bitter cold film\n:submit\n{ratings}", "--mode", "manual", "--participant", "bob")
    assert "-o FOLDER" in unseen("attack", "rate", "out", "out", "--results").err
    before = unseen("attack", "rate", "out", "-o", "rated", "--results")
    assert before.code == 0
    assert before.out.startswith("Simulated: a program made up the attacks by people")
    assert "0 raters" in before.out
    sheet = next(one.sheet for one in read_key("rated") if one.sheet)
    for question, answer in (("label", "yes"), ("grammar", "5")):
        append_rating("rated/ratings.jsonl", Rating(sheet, question, answer, "made up", simulated=True))
    done = json.loads(unseen("attack", "rate", "rated", "--json").out)
    assert done["simulated"] is True
    assert done["raters"] == 1
    (rated,) = [row for row in done["measurements"] if row["metric"] == "success.rated"]
    assert rated["value"] in (0.5, 1.0)
    assert all(row["simulated"] == "yes" for row in done["measurements"])
    assert unseen("attack", "rate", "nowhere").code == 2
