"""Schemas of the files that people write: they hold for what can be read, and find what cannot."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from unseen import file_schema
from unseen.errors import InputError
from unseen.file_schemas import FILES

READY = sorted(Path(__file__).parents[1].glob("studies/*.toml"))
OTHERS = {"arango2019": "validation", "transfer-hate": "transfer", "bench-smoke": "bench", "bench-large": "bench"}
WRONG = {
    "study": {"title": 3},
    "validation": {"kind": "validation", "data": {"source": "posts.csv"}},
    "transfer": {"labels": ["yes"], "data": {}},
    "bench": {"data": {}, "model": {}, "folds": 1},
    "suite": {"lables": ["yes", "no"]},
    "card": {"unseen_card": 2, "name": "x", "fields": {}},
}


def mistakes(kind: str, content: Any) -> list[str]:
    jsonschema = pytest.importorskip("jsonschema")
    return [error.message for error in jsonschema.Draft202012Validator(file_schema(kind)).iter_errors(content)]


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_the_ready_files_keep_to_their_schema(path: Path) -> None:
    assert mistakes(OTHERS.get(path.stem, "study"), tomllib.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("kind", FILES)
def test_every_kind_of_file_has_a_schema_that_finds_mistakes(kind: str) -> None:
    assert json.loads(json.dumps(file_schema(kind)))["type"] == "object"
    assert len(mistakes(kind, WRONG[kind])) == 1


def test_an_unknown_kind_of_file() -> None:
    with pytest.raises(InputError, match="did you mean 'study'"):
        file_schema("studi")
