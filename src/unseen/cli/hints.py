"""What errors and warnings advise, in the language of the command line.

Errors speak Python, `drop=['empty']`, because they are raised where nobody knows who asked. Whatever the command line
prints goes through `as_typed`, which writes such settings as options of the command that was typed.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import sys
from functools import cache
from typing import Any

from typer.main import get_command

SETTING = re.compile(
    r"\b(?P<name>[a-z][a-z_]*)=(?P<value>'[^']*'|\[[^]]*\]|\([^)]*\)|\{(?:[^{}]|\{[^}]*\})*\}|True\b|False\b|…|\d[\d.]*\b)"
    r"(?: \((?P<option>--[^)]*?)(?: on the command line)?\))?"
)
TYPED = re.compile(r"--[a-z-]+ (\S*[,-])?$")
"""What stands before a setting that is an option's value already."""
PROGRAM: list[Any] = []
"""The program whose commands are typed; it puts itself here, because it is made of modules that print hints."""


@cache
def program() -> Any:
    """All commands with their options, made once: putting them together takes longer than most mistakes."""
    return get_command(PROGRAM[0])


def as_typed(text: str) -> str:
    """`text` with each Python setting in it as an option, where the command has one; `--set` takes the others."""
    if not SETTING.search(text):
        return text
    options = _options()

    def typed(found: re.Match[str]) -> str:
        if TYPED.search(text[: found.start()]) or text[found.end() :].startswith(" in Python"):
            return found[0]
        return found["option"] or _typed(found["name"], found["value"], options, found[0])

    return SETTING.sub(typed, text)


def _options() -> dict[str, Any]:
    """The options of the command that was typed, by their names without dashes and as Python calls them."""
    command = program()
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    named = {name.lstrip("-"): option for option in command.params for name in option.opts if name.startswith("--")}
    return {option.name.replace("_", "-"): option for option in named.values()} | named


def _typed(name: str, value: str, options: dict[str, Any], as_it_was: str) -> str:
    dashed = name.replace("_", "-")
    named = next((name for name in (dashed, dashed.removesuffix("s")) if name in options), None)
    try:
        setting = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        setting = "…"
    if named is None:
        value = setting if isinstance(setting, str) else json.dumps(setting, ensure_ascii=False)
        return f"--set {_quoted(f'{name}={value}')}" if "set" in options else as_it_was
    spelt = [name for name in options[named].opts if name.startswith("--")]
    option = f"--{named}" if f"--{named}" in spelt else spelt[0]
    if options[named].is_flag:
        return option
    words = ",".join(f"{raw}={text}" for raw, text in setting.items()) if isinstance(setting, dict) else setting
    words = list(words) if isinstance(words, list | tuple) else [words]
    words = words if options[named].multiple else [",".join(map(str, words))]
    return " ".join(f"{option} {_quoted(str(word))}" for word in words)


def _quoted(word: str) -> str:
    return word if "…" in word else shlex.quote(word)
