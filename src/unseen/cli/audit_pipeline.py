"""`unseen audit-pipeline`: whether a pipeline learns from test rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.columns import split_of
from unseen.cli.console import (
    AuditGates,
    Json,
    Quiet,
    command_line,
    gates_of,
    notes,
    print_json,
    print_result,
    print_table,
    progress,
    say,
)
from unseen.cli.model import Trust, parameters
from unseen.cli.source import takes_data
from unseen.errors import InputError


def pipeline_first(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its argument PIPELINE before DATA."""
    signature = inspect.signature(command)
    named = sorted(signature.parameters.values(), key=lambda each: each.name != "pipeline")
    command.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return command


@pipeline_first
@takes_data
def audit_pipeline(
    data: Any,
    pipeline: Annotated[
        str, typer.Argument(help="module:function, a .skops or .joblib file, a recipe, or a built-in example.")
    ],
    split: Annotated[
        str | None, typer.Argument(help="A split file of ours, or anybody's; without it, a random split.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column that names each row's part.")] = None,
    test: Annotated[float | None, typer.Option(help="Share of rows to test, of a random split. (default: 0.2)")] = None,
    experiment: Annotated[list[str] | None, typer.Option(help="Only this experiment; may be repeated.")] = None,
    shape: Annotated[
        str | None, typer.Option(help="recipe, protocol, 'own split' or estimator. (default: by its parameters)")
    ] = None,
    planted: Annotated[int | None, typer.Option(help="Nonsense texts to plant. (default: enough)")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A setting of the pipeline, e.g. epochs=5; may be repeated."),
    ] = None,
    trust: Trust = False,
    plan: Annotated[bool, typer.Option("--plan", help="Print how often the pipeline would be run, and stop.")] = False,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder for report and findings.")] = None,
    seed: Annotated[int, typer.Option(help="Of the pipeline, the experiments and a random split.")] = 42,
    gate: AuditGates = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Change the test rows and see whether a pipeline notices, which proves a leak; exit 1 when it does.

    Example: unseen audit-pipeline words-chosen-in-training posts.csv --text text --label label
    """
    from unseen.audits.pipelines import open_pipeline, planned_runs
    from unseen.runs.audit import audit_pipeline as audited

    command = command_line()
    with notes(quiet), progress(quiet):
        fit = open_pipeline(pipeline, trust=trust)
        given = parameters(settings)
        runs = planned_runs(fit, experiment, shape)
        if plan:
            _print_plan(runs, as_json)
            return
        parts = _split(fit, shape, data, split, by, test, seed)
        if not quiet:
            say(f"plan: {sum(runs.values())} runs of {pipeline}, 2 more if it does not repeat itself", err=True)
        options: dict[str, Any] = {
            "experiments": experiment, "shape": shape, "seed": seed, "planted": planted, "settings": given,
        }  # fmt: skip
        result = audited(fit, data, parts, name=pipeline, out=out, gates=gates_of(gate), command=command, **options)
    print_result(result, as_json)


def _split(
    fit: Any, shape: str | None, data: Any, split: str | None, by: str | None, test: float | None, seed: int
) -> Any:
    """The split that was named, or the one that is made where none is."""
    from unseen.audits.pipelines import default_split

    found = split_of(data, split, by)
    if found is None:
        return default_split(fit, data, shape=shape, test=test, seed=seed)
    if test is not None:
        raise InputError("--test has no effect with a split", fix="leave one of them out")
    return found


def _print_plan(runs: dict[str, int], as_json: bool) -> None:
    if as_json:
        print_json(runs)
        return
    print_table([["experiment", "runs"], *([name, str(count)] for name, count in runs.items())], numbers_from=1)
