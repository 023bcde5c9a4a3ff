"""`unseen attack session`: a person changes texts until the model errs, in the browser or in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, notes_at_once, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    KeyEnv,
    Map,
    NoBrowser,
    Port,
    Quiet,
    Seed,
    Simulated,
    Trust,
    listed,
    named_parameters,
    out_option,
    pairs,
    parameters,
)
from unseen.cli.served import own_name, serve_here
from unseen.errors import InputError

TOLD = {
    "auto": "A program wrote this text. :submit rates it.",
    "manual": "Type the whole text anew, so that people still read the same and the model does not.",
    "select": "Type 1=word; 2=word … to change some of the words, five at most.",
    "saliency": "The higher the number after a word, the more the model holds on to it. Type the whole text anew.",
}
"""What is done in each mode, in the terminal."""


@takes_data
def session(
    data: Any,
    model: Annotated[str, typer.Option(help="A model folder, a hub name, a pipeline file, module:function, or a URL.")],
    out: Annotated[Path, out_option("Folder of the session; one that was begun there goes on")],
    attack: Annotated[str, typer.Option("--with", help="The attack that helps ('unseen attack ls').")] = "characters",
    mode: Annotated[
        str, typer.Option(help="Some of auto, manual, select, saliency, 'manual,select'; their order is drawn.")
    ] = "manual",
    participant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Who attacks; a hash is kept. (default: your name here)")
    ] = None,
    limit: Annotated[int, typer.Option("-n", "--limit", help="At most so many texts, drawn with the seed.")] = 10,
    terminal: Annotated[bool, typer.Option("--terminal", help="Ask here, not in a browser.")] = False,
    consent: Annotated[
        bool, typer.Option("--consent", help="The participant agrees that all of it is kept and studied.")
    ] = False,
    simulated: Simulated = False,
    rename: Map = None,
    trust: Trust = False,
    key_env: KeyEnv = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the attack, pwws.wordnet=dict; repeatable."),
    ] = None,
    port: Port = 0,
    no_browser: NoBrowser = False,
    seed: Seed = 42,
    quiet: Quiet = False,
) -> None:
    """Attack texts that a model gets right by hand, helped by an attack; every try is kept in session.jsonl.

    What is typed by no terminal is marked as simulated. 'unseen attack rate' has others rate what came of it.

    Example: unseen attack session posts.csv --model model --mode select -o session
    """
    from unseen.attacks.sessions import AttackSession
    from unseen.models import open_model
    from unseen.redaction import redacted
    from unseen.registry import VERSION

    name, params = VERSION.sub("", attack), named_parameters(settings, "ATTACK", "pwws.wordnet=dict")
    if set(params) - {attack, name}:
        raise InputError(f"--set is for the attack {name}", got=", ".join(sorted(params)))
    with notes(quiet), progress(quiet):
        opening = parameters(None, trust=trust, key_env=key_env)
        begun = AttackSession.begin(
            data, open_model(model, rename=pairs(rename, "--map"), **opening), attack, out=out,
            participant=participant or own_name(), modes=listed(mode), params=params.get(attack) or params.get(name),
            limit=limit, seed=seed, model=redacted(str(model)), consent=consent,
            simulated=simulated or (terminal and not sys.stdin.isatty()),
        )  # fmt: skip
    if not begun.offers_words and "select" in begun.log.modes:
        say(f"note: {name} changes letters, so it has no words to offer: type your own", err=True)
    if terminal:
        in_terminal(begun)
        return
    from unseen.viewer.session_task import SessionTask

    with notes_at_once(quiet):
        serve_here([], SessionTask(begun), port, no_browser, quiet)


def in_terminal(session: Any) -> None:
    """Ask for one try after the other until the session or the input ends."""
    if session.log.simulated:
        say("Simulated: a program fills this in, nobody does.")
    say("Commands: :submit, :skip, :quit. Every try is kept; the same command goes on after :quit.")
    shown = None
    while (item := session.state()["item"]) is not None:
        if (item["turn"], len(item.get("attempts", ()))) != shown:
            _print_item(session, item, is_new=shown is None or shown[0] != item["turn"])
            shown = (item["turn"], len(item.get("attempts", ())))
        typed = _line("> ")
        if typed is None or typed == ":quit":
            say("stopped; what was tried is kept")
            return
        try:
            if typed == ":skip":
                session.skip(item["turn"])
            elif typed == ":submit":
                _submit(session, item)
            elif item["mode"] == "select":
                session.attempt(item["turn"], changes=_changes(item, typed))
            else:
                session.attempt(item["turn"], typed)
        except InputError as error:
            say(f"not kept: {error}")
    say("That was all. Thank you.")


def _print_item(session: Any, item: dict[str, Any], is_new: bool) -> None:
    """The text and what the mode offers where it was not shown yet, and what came of the last try."""
    from unseen.types.numbers import percent

    attempts = item.get("attempts", ())
    if is_new:
        say(f"\n{len(session.log.ends) + 1} of {len(session.log.turns)}, {item['mode']}: {TOLD[item['mode']]}")
        if "label" in item:
            sure = f", {percent(item['p'])} sure" if "p" in item else ""
            say(f"The model says “{item['label']}”{sure}:\n  {item['original']}")
        else:
            say(f"  {item['text']}")
        for number, keyword in enumerate(item.get("keywords", ()), start=1):
            say(f"  {number} {keyword['word']}: {', '.join(keyword['candidates']) or 'nothing is offered'}")
    if attempts:
        last = attempts[-1]
        sure = f", {percent(last['p'])} sure" if "p" in last else ""
        flipped = "It errs (:submit hands it in)" if last["flipped"] else "Not yet"
        say(f"{flipped}: the model says “{last['predicted']}”{sure}:\n  {last['text']}")
    if "scores" in item:
        most = max(1e-9, *item["scores"], 1e-9)
        words = zip(item["words"], item["scores"], strict=True)
        say("  " + " ".join(f"{word}[{max(0, round(9 * score / most))}]" for word, score in words))


def _submit(session: Any, item: dict[str, Any]) -> None:
    """Ask for every rating, then hand in the last try."""
    if item["mode"] != "auto" and not item["attempts"]:
        raise InputError("nothing was tried yet", fix="type a text, or :skip")
    ratings = {}
    for name, question in item["ratings"].items():
        typed = _line(f"{question} (1-5) > ", lambda text: text in {"1", "2", "3", "4", "5"})
        if typed is None:
            raise InputError("the input ended before all ratings were given")
        ratings[name] = int(typed)
    session.submit(item["turn"], ratings)


def _changes(item: dict[str, Any], typed: str) -> dict[str, str]:
    """`1=word; 2=word` as words for places."""
    changes = {}
    for part in typed.split(";"):
        number, middle, word = (piece.strip() for piece in part.partition("="))
        if not middle or not number.isdecimal() or not 1 <= int(number) <= len(item["keywords"]):
            raise InputError("this changes no word", expected="NUMBER=WORD; NUMBER=WORD", got=repr(typed))
        changes[str(item["keywords"][int(number) - 1]["place"])] = word
    return changes


def _line(prompt: str, fits: Callable[[str], bool] = bool) -> str | None:
    """What is typed, without the blanks around it, asked for until it fits; None where the input ends."""
    while True:
        say(prompt, nl=False)
        line = sys.stdin.readline()
        if not line:
            say()
            return None
        if fits(line.strip()):
            return line.strip()
