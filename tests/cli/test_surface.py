"""The surface of the program: few names at the top, and one name, one form and one meaning for every option."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import typer

from unseen.cli import app

PROGRAM: Any = typer.main.get_command(app)
CONTRIBUTING = Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"
FEW = 12
SHARED = 2
"""Commands that have an option before it must be in the table."""


def commands(command: Any = PROGRAM, words: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    for name, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, (*words, name))
    if not hasattr(command, "commands"):
        yield " ".join(words), command


def form(option: Any) -> str:
    """What is typed after an option: nothing, a word that stands for it, or a kind of value."""
    if option.is_flag:
        return "–"
    return option.metavar or re.sub(r"list\[(.*)\]", r"\1", option.bare_type().lower())


def options() -> dict[str, dict[str, set[str]]]:
    """By name, the forms of every option and the commands that have it so."""
    forms: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for words, command in commands():
        for option in command.params:
            if option.param_type_name == "option":
                forms[max(option.opts, key=len)][form(option)].add(words)
    return forms


def table() -> dict[str, str]:
    """The options of the table in CONTRIBUTING.md, with their forms."""
    return dict(re.findall(r"^\| `(--[a-z-]+)` \| (\S+) \| \S.* \|$", CONTRIBUTING.read_text(encoding="utf-8"), re.M))


def test_few_names_stand_at_the_top() -> None:
    shown = [name for name, command in PROGRAM.commands.items() if not command.hidden]
    assert len(shown) <= FEW
    assert {command.rich_help_panel for name, command in PROGRAM.commands.items() if name in shown} - {None}


def test_an_option_has_one_form_everywhere() -> None:
    several = {name: dict(forms) for name, forms in options().items() if len(forms) > 1}
    assert several == {}


def test_the_table_has_every_option_that_commands_share() -> None:
    shared = {name: [*forms] for name, forms in options().items() if len(set().union(*forms.values())) >= SHARED}
    assert shared == {name: [written] for name, written in table().items()}


def test_a_short_name_stands_for_one_option() -> None:
    short: dict[str, set[str]] = defaultdict(set)
    for _, command in commands():
        for option in command.params:
            for name in option.opts:
                if re.fullmatch(r"-[a-z]", name):
                    short[name].add(max(option.opts, key=len))
    assert {name: sorted(longs) for name, longs in short.items() if len(longs) > 1} == {}


def test_the_name_of_a_command_is_enough_where_one_group_has_it(unseen: Callable[..., Any]) -> None:
    assert unseen("score", "--help").out == unseen("model", "score", "--help").out
    assert "SUITE" in unseen("bench", "--help").out
    answer = unseen("ls")  # several groups have that
    assert answer.code == 2
    assert "Did you mean 'unseen attack ls'?" in " ".join(answer.err.replace("│", " ").split())


def test_no_option_is_called_by_a_word_that_the_glossary_left() -> None:
    left = {"--units", "--grouping", "--group", "--dry-run", "--fail-on", "--fail-above", "--fail-below", "--suite-map"}
    assert left & options().keys() == set()
