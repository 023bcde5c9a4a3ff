"""One word, one meaning: names that the glossary left are not used for modules, classes, functions and parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "unseen"
GLOSSARY = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
HIDING = {"each", "found", "said", "told", "wanted"}
"""Names that say how something came about, not what it holds."""


def left_words() -> set[str]:
    """The words of the third column, which stand for nothing."""
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]+) \|$", GLOSSARY, re.M)
    return {word.strip() for row in rows for word in row.split(",")} - {"", "not", "---"}


def public_names() -> Iterator[tuple[str, str]]:
    """Where a public name stands, and the name: of modules, classes, functions, methods and their parameters."""
    for path in sorted(SOURCE.rglob("*.py")):
        place = str(path.relative_to(SOURCE))
        if not path.stem.startswith("_"):
            yield place, path.stem
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{place}:{node.lineno}", node.name
                if isinstance(node, ast.FunctionDef):
                    arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
                    yield from ((f"{place}:{node.lineno} {node.name}", argument.arg) for argument in arguments)


def assigned_names() -> Iterator[tuple[str, str]]:
    """Every name that is given a value, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.id


def test_no_public_name_is_a_word_that_the_glossary_left() -> None:
    left = left_words()
    assert len(left) > 20
    used = [(place, name) for place, name in public_names() if name.lower().removesuffix("s") in left]
    assert used == []


def test_a_local_says_what_it_holds() -> None:
    assert [(place, name) for place, name in assigned_names() if name in HIDING] == []
