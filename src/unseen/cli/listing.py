"""`ls` of a group of commands: the names that can be typed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Annotated, Any

import typer

from unseen.cli.console import print_json, print_table
from unseen.cli.options import Json
from unseen.errors import UnknownNameError

PLACES = {
    "splitters": "unseen.splits:SPLITTERS",
    "recipes": "unseen.training:RECIPES",
    "encoders": "unseen.representations:ENCODERS",
    "metrics": "unseen.evaluation:METRICS",
    "explainers": "unseen.explanations:EXPLAINERS",
    "attacks": "unseen.attacks:ATTACKS",
    "checks": "unseen.audits.checks:CHECKS",
    "pipelines": "unseen.audits.pipelines.examples:EXAMPLES",
    "perturbations": "unseen.functional.perturbations:PERTURBATIONS",
}
"""What can be listed, and where it is registered."""


def listing(group: str, *kinds: str) -> Callable[..., None]:
    """The command `unseen GROUP ls`, which lists what is registered of these kinds."""

    def ls(
        kind: Annotated[str | None, typer.Argument(help="Only this kind. (default: all)")] = None,
        as_json: Json = False,
    ) -> None:
        if kind is not None and kind not in kinds:
            raise UnknownNameError.of("kind", kind, kinds)
        shown = {name: _listed(name) for name in kinds if kind in (None, name)}
        if as_json:
            print_json(shown)
            return
        lines = [[kind.removesuffix("s"), *line] for kind, names in shown.items() for line in names.items()]
        print_table([["kind", "name", "what it is"], *lines])

    ls.__doc__ = f"List {', '.join(kinds)}: the names that can be typed.\n\nExample: unseen {group} ls {kinds[0]}"
    return ls


def _listed(kind: str) -> dict[str, str]:
    """The names of one kind, each with what it is."""
    module, _, name = PLACES[kind].partition(":")
    registered: Any = getattr(import_module(module), name)
    if kind == "metrics":
        better = {True: "higher is better", False: "lower is better"}
        forms = {
            f"SCORE.{form}": meaning for form, meaning in import_module("unseen.evaluation.weighting").FORMS.items()
        }
        return {name: better[metric.higher_is_better] for name, metric in registered.items()} | forms
    return {registered.full_name(name): registered.summary(name) for name in registered}
