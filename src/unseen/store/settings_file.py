"""Files that people write, read through pydantic models: every mistake in one error, with its place and near names.

A table of such a file is a subclass of `SettingsTable`, or a dataclass whose numbers and truth values are `StrictInt`,
`StrictFloat` and `StrictBool`. `read_settings` reads a whole file; a reader that has checks of its own takes
`read_content` and a `Problems`, which collects what is wrong until `Problems.refuse`.
"""

from __future__ import annotations

import datetime
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    TypeAdapter,
    ValidationError,
)

from unseen.errors import InputError, UnseenError, hint
from unseen.store.files import read_json, read_parsed, read_toml
from unseen.store.plain_yaml import plain_yaml

KeyPath = tuple[str | int, ...]
"""The keys and positions that lead from the top of a file to one of its values."""
Item = TypeVar("Item")
Listed = Annotated[tuple[Item, ...], Strict(False)]
"""A list in a file, held as a tuple: `Listed[str]`; whether it is one is checked, what is in it as strictly as ever."""
NOT_BLANK = r"\S"
Text = Annotated[str, Field(pattern=NOT_BLANK)]
"""A text that says something."""
FileName = Annotated[str, Field(pattern=r"\S.*", description="the name of a file")]
Share = Annotated[float, Field(gt=0, lt=1)]


def each_once(values: tuple[Item, ...]) -> tuple[Item, ...]:
    """The values of a list; refuses one that stands there twice."""
    if repeated := sorted(repr(value) for value, times in Counter(values).items() if times > 1):
        raise InputError(f"{', '.join(repeated)} must not stand there twice")
    return values


def _listed(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


Names = Annotated[
    tuple[str, ...], Strict(False), BeforeValidator(_listed, json_schema_input_type=str | tuple[str, ...]),
    AfterValidator(each_once),
]  # fmt: skip
"""One name, or a list of several, each once."""
Numbers = Annotated[
    tuple[int, ...], Strict(False), Field(min_length=1),
    BeforeValidator(_listed, json_schema_input_type=int | Annotated[tuple[int, ...], Field(min_length=1)]),
    AfterValidator(each_once),
]  # fmt: skip
"""One whole number, or a list of several, each once."""
UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument", "invalid_key")
NO_TABLE = ("model_type", "dict_type", "dataclass_type")
SHOWN = 80
"""Characters of a file name in a message."""
PLURALS = {"a text": "texts", "a whole number": "whole numbers", "a number": "numbers", "a table": "tables"}


class SettingsTable(BaseModel):
    """One table of a file: unknown keys are refused, nothing is converted (`"3"` is no number), nothing changes later.

    A table that takes further keys says `model_config = ConfigDict(extra="allow")` and finds them in `model_extra`.
    The description of a field follows `… is missing: `. A validator refuses with an InputError or a ValueError.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


NO_OTHER_KEYS = ConfigDict(extra="forbid")
"""For a dataclass that is a table of a file: `__pydantic_config__ = NO_OTHER_KEYS`."""
Table = TypeVar("Table")
Naming = Callable[[KeyPath], str]
"""How the table at a path is called in messages, with a colon where one belongs; empty for the file as a whole."""


def toml_table(path: KeyPath) -> str:
    """`[data.posts]` for a table, `[[gate]] 2` for the second of several, nothing for the file as a whole."""
    if not path:
        return ""
    names = ".".join(str(part) for part in path if isinstance(part, str))
    return f"[[{names}]] {path[-1] + 1}" if isinstance(path[-1], int) else f"[{names}]"


def read_content(path: str | Path) -> dict[str, Any]:
    """The tables and values of a TOML, JSON or YAML file, told apart by its name; TOML unless it says otherwise."""
    path = Path(path)
    if path.suffix == ".json":
        return read_json(path)
    if path.suffix in (".yaml", ".yml"):
        return read_parsed(path, lambda text: plain_yaml(text, str(path), typed=True), "YAML")
    return read_toml(path)


def read_settings(
    path: str | Path, model: type[Table], message: str = "cannot be used as it is", naming: Naming = toml_table
) -> Table:
    """The file at `path` as a `model`; all its mistakes in one InputError, `path` and `message` before them."""
    problems = Problems(naming)
    settings = problems.read(model, read_content(path))
    problems.refuse(f"{path} {message}")
    assert settings is not None
    return settings


def settings_schema(model: type) -> dict[str, Any]:
    """The JSON Schema of files of this model, for editors that complete and check while somebody types."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **TypeAdapter(model).json_schema()}


class Problems:
    """What is wrong with one file, collected while it is read."""

    def __init__(self, naming: Naming = toml_table) -> None:
        self.lines: list[str] = []
        self.naming = naming
        self.omitted: set[KeyPath] = set()
        """Where something wrong stood, which was left out."""

    def add(self, line: str) -> None:
        """Note a problem, once."""
        if line not in self.lines:
            self.lines.append(line)

    def missing(self, path: KeyPath, description: str) -> None:
        """Note that nothing stands at `path`, unless something wrong did."""
        if path not in self.omitted:
            self.add(f"{self._place(path, is_table=False)} is missing: {description}")

    @contextmanager
    def noted(self, place: str) -> Iterator[None]:
        """Note what goes wrong inside as a problem of this place."""
        try:
            yield
        except (UnseenError, TypeError, ValueError, AttributeError, OSError) as cause:
            self.add(f"{place} {_message_of(cause)}")

    def read(self, model: type[Table], content: Any, path: KeyPath = ()) -> Table | None:
        """The table `content`, which stands at `path` of the file, as a `model`; its problems are noted.

        Wrong keys are left out and the rest is read again, so that other tables are checked as a whole, and this one
        if all that was left out are keys that it does not have. None when the rest is no `model`.
        """
        adapter = TypeAdapter(model)
        omitted: set[KeyPath] = set()
        incomplete: set[KeyPath] = set()
        while True:
            try:
                return adapter.validate_python(content)
            except ValidationError as cause:
                errors: dict[KeyPath, Any] = {}
                for error in cause.errors():
                    errors.setdefault(_path_of(error["loc"], content), error)
            outline = _Outline(adapter.json_schema())
            for inner, error in errors.items():
                holds_another = any(other != inner and other[: len(inner)] == inner for other in errors)
                if not holds_another and inner not in omitted | incomplete:
                    self.add(self._line(error, inner, path, outline))
            wrong = {_removable(inner): error["type"] for inner, error in errors.items()}
            if () in wrong or wrong.keys() <= omitted or "missing" in wrong.values():
                return None
            omitted |= wrong.keys()
            self.omitted |= {(*path, *inner) for inner in wrong}
            for inner in (inner for inner, kind in wrong.items() if kind not in UNKNOWN_KEY):
                incomplete |= {inner[:depth] for depth in range(len(inner))}
            content = _without(content, omitted)

    def refuse(self, message: str) -> None:
        """Raise an InputError with all problems, if there are any."""
        if self.lines:
            raise InputError(message, problems=self.lines)

    def _line(self, error: Any, inner: KeyPath, path: KeyPath, outline: _Outline) -> str:
        """The sentence about what pydantic found at `inner` of the table at `path`."""
        value, schema = error["input"], outline.at(inner)
        if error["type"] in UNKNOWN_KEY:
            table = self.naming((*path, *inner[:-1])).removesuffix(":") or "the file"
            return f"{table}: {inner[-1]!r} is not known here{hint(str(inner[-1]), outline.keys(inner[:-1]))}"
        is_table = isinstance(value, Mapping) or error["type"] in NO_TABLE
        place = self._place((*path, *inner), is_table and error["type"] != "missing")
        if error["type"] == "missing":
            description = schema.get("description")
            return f"{place} is missing" + (f": {description}" if description else "")
        if error["type"] == "value_error":
            message = _message_of(error["ctx"]["error"])
            return f"{place} {message}".strip() if is_table or not place else f"{place}: {message}"
        expected = outline.expected(schema)
        is_unquoted = expected.startswith("a text") and isinstance(value, int | float | datetime.date)
        advice = "; put it in quotes" if is_unquoted else hint(str(value), outline.choices(schema))
        return f"{place} must be {expected}, not {value!r}{advice}".strip()

    def _place(self, path: KeyPath, is_table: bool) -> str:
        """How a value is called: its table, its key and, in a list, its number."""
        if is_table or not path:
            return self.naming(path)
        at = max((n for n, part in enumerate(path) if isinstance(part, str)), default=0)
        words = [self.naming(path[:at]), str(path[at]), *(f"item {int(part) + 1}" for part in path[at + 1 :])]
        return " ".join(filter(None, words))


class _Outline:
    """What is expected where, from a JSON Schema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._schema, self._definitions = schema, schema.get("$defs", {})

    def at(self, path: KeyPath) -> Mapping[str, Any]:
        """The schema of the value at `path`; empty where none is known."""
        schemas = [self._schema]
        for part in path:
            schemas = [inner for schema in schemas for form in self._forms(schema) for inner in _inner(form, part)]
        return schemas[0] if schemas else {}

    def keys(self, path: KeyPath) -> list[str]:
        """The keys that the table at `path` may have."""
        return [key for form in self._forms(self.at(path)) for key in form.get("properties", {})]

    def choices(self, schema: Mapping[str, Any]) -> list[str]:
        """The names that a value may be one of."""
        return [str(name) for form in self._forms(schema) for name in form.get("enum", [])]

    def expected(self, schema: Mapping[str, Any]) -> str:
        """What a value must be, in words."""
        forms = [self._in_words(form) for form in self._forms(schema) if form.get("type") != "null"]
        return " or ".join(dict.fromkeys(forms)) or "something else"

    def _forms(self, schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The alternatives of a schema, references followed."""
        if "$ref" in schema:
            return self._forms(self._definitions[schema["$ref"].rpartition("/")[2]])
        alternatives = schema.get("anyOf") or schema.get("oneOf")
        return [form for alternative in alternatives for form in self._forms(alternative)] if alternatives else [schema]

    def _in_words(self, form: Mapping[str, Any]) -> str:
        if "const" in form:
            return json.dumps(form["const"])
        if "enum" in form:
            return f"one of {', '.join(map(str, form['enum']))}"
        kind = form.get("type")
        if kind == "array":
            items = PLURALS.get(self.expected(form.get("items", {})), "values")
            least = form.get("minItems")
            return f"a list of {items}" + (f" with at least {'one' if least == 1 else least} in it" if least else "")
        if kind == "string":
            pattern = form.get("pattern", NOT_BLANK)
            return "a text" if pattern == NOT_BLANK else form.get("description", f"a text of the form {pattern}")
        words = {"integer": "a whole number", "number": "a number", "boolean": "true or false", "object": "a table"}
        return words.get(str(kind), "a value") + _bounds(form)


def _bounds(form: Mapping[str, Any]) -> str:
    above, least, below, most = (
        form.get(key) for key in ("exclusiveMinimum", "minimum", "exclusiveMaximum", "maximum")
    )
    if above is not None and below is not None:
        return f" between {above:g} and {below:g}"
    if least is not None and most is not None:
        return f" from {least:g} to {most:g}"
    bounds = {" above {:g}": above, " from {:g} on": least, " below {:g}": below, " up to {:g}": most}
    return " and".join(words.format(bound) for words, bound in bounds.items() if bound is not None)


def _inner(form: Mapping[str, Any], part: str | int) -> list[Any]:
    """The schemas of what stands under a key or at a position."""
    if isinstance(part, int):
        return [form["items"]] if isinstance(form.get("items"), Mapping) else []
    if part in form.get("properties", {}):
        return [form["properties"][part]]
    return [form["additionalProperties"]] if isinstance(form.get("additionalProperties"), Mapping) else []


def _path_of(location: Sequence[str | int], content: Any) -> KeyPath:
    """A location of pydantic's without the names of alternatives that it tried; the last key may be a missing one."""
    path: list[str | int] = []
    for position, part in enumerate(location):
        is_key = isinstance(content, Mapping) and (part in content or position == len(location) - 1)
        if is_key or (isinstance(content, list) and isinstance(part, int)):
            path.append(part)
            content = content.get(part) if isinstance(content, Mapping) else content[part]
    return tuple(path)


def _removable(path: KeyPath) -> KeyPath:
    """What is left out with a wrong value: an item takes its list along, so that positions keep their meaning."""
    while path and isinstance(path[-1], int):
        path = path[:-1]
    return path


def _without(content: Any, paths: set[KeyPath], path: KeyPath = ()) -> Any:
    if isinstance(content, Mapping):
        kept = {key: value for key, value in content.items() if (*path, key) not in paths}
        return {key: _without(value, paths, (*path, key)) for key, value in kept.items()}
    if isinstance(content, list):
        return [_without(value, paths, (*path, position)) for position, value in enumerate(content)]
    return content


def _message_of(cause: Exception) -> str:
    if isinstance(cause, OSError):
        return f"{cause.strerror or cause}: {str(cause.filename)[:SHOWN]}"
    return "; ".join([cause.message, *cause.problems]) if isinstance(cause, UnseenError) else str(cause)
