"""Write docs/cli.md from the commands' own help."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer

from unseen.cli import app

PAGE = Path(__file__).with_name("cli.md")
EXAMPLE = re.compile(r"^Example: (.+)$", re.MULTILINE)


def pages(command: Any, path: str) -> list[str]:
    """One section per command that does something."""
    if hasattr(command, "commands"):
        return [page for name, each in command.commands.items() for page in pages(each, f"{path} {name}")]
    with command.context_class(command, info_name=path) as context:
        rows = ["| option | meaning |", "|---|---|"]
        for parameter in command.params:
            record = parameter.get_help_record(context)
            names = record[0] if record else parameter.human_readable_name
            said = (record[1] if record else getattr(parameter, "help", "")) or ""
            rows.append(f"| `{names}` | {said.replace('|', chr(92) + '|')} |")
        described = EXAMPLE.sub(r"```sh\n\1\n```", (command.help or "").strip())
        return [f"## `{path}`\n\n{described}\n\n" + "\n".join(rows) + "\n"]


def text() -> str:
    """The whole page."""
    head = "# Commands\n\nWritten by `make docs` from the commands' own help.\n\n"
    return head + "\n".join(pages(typer.main.get_command(app), "unseen"))


if __name__ == "__main__":
    if "--check" in sys.argv:
        sys.exit(0 if PAGE.read_text(encoding="utf-8") == text() else "docs/cli.md is old: make docs")
    PAGE.write_text(text(), encoding="utf-8")
