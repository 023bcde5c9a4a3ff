"""YAML from strangers: no tags, no aliases, no deep nesting, no guessing of types; and YAML for the hub."""

from __future__ import annotations

from typing import Any

from unseen.errors import InputError

LARGEST = 1_000_000
DEEPEST = 30


def plain_yaml(text: str, place: str, *, typed: bool = False) -> dict[str, Any]:
    """The mapping in `text`; every scalar a string, so that the language `no` stays one, unless `typed`."""
    content = _loaded(text, place, typed)
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise InputError(f"the YAML in {place} is not a list of names and values", got=type(content).__name__)
    return content


def plain_yaml_list(text: str, place: str) -> list[Any]:
    """The list in `text`, every scalar a string."""
    content = _loaded(text, place, typed=False)
    if not isinstance(content, list):
        raise InputError(f"the YAML in {place} is not a list", got=type(content).__name__)
    return content


def _loaded(text: str, place: str, typed: bool) -> Any:
    import yaml

    if len(text) > LARGEST:
        raise InputError(f"the YAML in {place} is too long", expected=f"at most {LARGEST:,} characters")
    try:
        _refuse_tricks(yaml.parse(text, Loader=yaml.SafeLoader), yaml, place)
        return yaml.load(text, Loader=yaml.SafeLoader if typed else yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as cause:
        if isinstance(cause, InputError):
            raise
        reason = " ".join(str(cause).split())
        raise InputError(f"{place} holds YAML that cannot be read: {reason}") from cause


def front_matter(content: dict[str, Any]) -> str:
    """The head of a README.md that the Hugging Face hub reads."""
    import yaml

    return f"---\n{yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=10_000)}---\n\n"


def _refuse_tricks(events: Any, yaml: Any, place: str) -> None:
    depth = 0
    for event in events:
        if isinstance(event, yaml.AliasEvent):
            raise InputError(f"the YAML in {place} uses aliases", fix="write the value where it is meant")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST:
            raise InputError(f"the YAML in {place} is nested too deeply", expected=f"at most {DEEPEST} levels")
