"""`unseen ls`: the names that can be typed."""

from __future__ import annotations

from typing import Annotated

import typer

from unseen.cli.console import Json, print_json, print_table
from unseen.errors import UnknownNameError


def ls(
    kind: Annotated[
        str | None,
        typer.Argument(help="encoders, splitters, recipes, perturbations, checks, pipelines, metrics. (default: all)"),
    ] = None,
    as_json: Json = False,
) -> None:
    """List encoders, splitters, recipes, perturbations, checks, pipelines and metrics.

    Example: unseen ls splitters
    """
    from unseen.audits.checks import CHECKS
    from unseen.audits.pipelines.examples import EXAMPLES
    from unseen.evaluation import METRICS
    from unseen.functional.perturbations import PERTURBATIONS
    from unseen.representations import ENCODERS
    from unseen.splits import SPLITTERS
    from unseen.training import RECIPES

    registries = {
        "encoders": ENCODERS, "splitters": SPLITTERS, "recipes": RECIPES, "perturbations": PERTURBATIONS,
        "checks": CHECKS, "pipelines": EXAMPLES,
    }  # fmt: skip
    kinds = [*registries, "metrics"]
    if kind is not None and kind not in kinds:
        raise UnknownNameError.of("kind", kind, kinds)
    shown: dict[str, dict[str, str]] = {
        each: {own.full_name(name): own.summary(name) for name in own}
        for each, own in registries.items()
        if kind in (None, each)
    }
    if kind in (None, "metrics"):
        shown["metrics"] = {
            name: "higher is better" if each.higher_is_better else "lower is better" for name, each in METRICS.items()
        }
    if as_json:
        print_json(shown)
        return
    lines = [[each.removesuffix("s"), name, said] for each, own in shown.items() for name, said in own.items()]
    print_table([["kind", "name", "what it is"], *lines])
