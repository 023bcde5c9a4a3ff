"""JSON Schemas of the files that people write, for editors that complete and check while somebody types."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from unseen.errors import UnknownNameError
from unseen.store.settings_file import settings_schema

FILES = {
    "study": "unseen.runs.study_file:StudyFile",
    "validation": "unseen.runs.validation.file:ValidationFile",
    "transfer": "unseen.runs.transfer_file:TransferFile",
    "bench": "unseen.runs.bench_file:BenchFile",
    "suite": "unseen.functional.suite_file:SuiteFile",
    "card": "unseen.cards.card:card_model",
}
"""The model of every kind of file, or the function that makes it."""


def file_schema(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file: study, validation, transfer (its label maps), bench, suite or card.

    What one part of a file says of another, such as a name that is defined nowhere, is found only when it is read.

    >>> sorted(file_schema("transfer")["properties"])
    ['data', 'labels', 'positive']
    """
    if kind not in FILES:
        raise UnknownNameError.of("kind of file", kind, FILES)
    module, _, name = FILES[kind].partition(":")
    model = getattr(import_module(module), name)
    return settings_schema(model() if inspect.isroutine(model) or hasattr(model, "cache_info") else model)
