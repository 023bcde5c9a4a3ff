"""`unseen audit pipeline`: whether a pipeline learns from test rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, gates_of, notes, print_json, print_result, print_table, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    AuditGate,
    Json,
    Junit,
    OptionalRunFolder,
    Parts,
    Plan,
    Quiet,
    Seed,
    Set,
    ShareForTest,
    Split,
    Summary,
    Trust,
    parameters,
    split_of,
)
from unseen.errors import InputError


def pipeline_first(command: Callable[..., None]) -> Callable[..., None]:
    """The command with its argument PIPELINE before DATA."""
    signature = inspect.signature(command)
    named = sorted(signature.parameters.values(), key=lambda parameter: parameter.name != "place")
    command.__signature__ = signature.replace(parameters=named)  # type: ignore[attr-defined]
    return command


@pipeline_first
@takes_data
def pipeline(
    data: Any,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE", help="module:function, a .skops or .joblib file, a recipe, or a built-in example."
        ),
    ],
    split: Split = None,
    parts: Parts = None,
    test: ShareForTest = None,
    experiment: Annotated[list[str] | None, typer.Option(help="Only this experiment; may be repeated.")] = None,
    shape: Annotated[
        str | None, typer.Option(help="recipe, protocol, 'own split' or estimator. (default: by its parameters)")
    ] = None,
    planted: Annotated[int | None, typer.Option(help="Nonsense texts to plant. (default: enough)")] = None,
    settings: Set = None,
    trust: Trust = False,
    plan: Plan = False,
    out: OptionalRunFolder = None,
    seed: Seed = 42,
    gate: AuditGate = None,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Change the test rows and see whether a pipeline notices, which proves a leak; exit 1 when it does.

    Example: unseen audit pipeline words-chosen-in-training posts.csv --text text --label label
    """
    from unseen.audits.pipelines import open_pipeline, planned_runs
    from unseen.runs.audit import audit_pipeline as audited

    command = command_line()
    with notes(quiet), progress(quiet):
        fit = open_pipeline(place, trust=trust)
        given = parameters(settings)
        runs = planned_runs(fit, experiment, shape)
        if plan:
            _print_plan(runs, as_json)
            return
        parted = _split(fit, shape, data, split_of(data, split, parts), test, seed)
        if not quiet:
            say(f"plan: {sum(runs.values())} runs of {place}, 2 more if it does not repeat itself", err=True)
        options: dict[str, Any] = {
            "experiments": experiment, "shape": shape, "seed": seed, "planted": planted, "settings": given,
        }  # fmt: skip
        result = audited(fit, data, parted, name=place, out=out, gates=gates_of(gate), command=command, **options)
    print_result(result, as_json, junit, summary)


def _split(fit: Any, shape: str | None, data: Any, named: Any, test: float | None, seed: int) -> Any:
    """The split that was named, or the one that is made where none is."""
    from unseen.audits.pipelines import default_split

    if named is None:
        return default_split(fit, data, shape=shape, test=test, seed=seed)
    if test is not None:
        raise InputError("--test has no effect with a split", fix="leave one of them out")
    return named


def _print_plan(runs: dict[str, int], as_json: bool) -> None:
    if as_json:
        print_json(runs)
        return
    print_table([["experiment", "runs"], *([name, str(count)] for name, count in runs.items())], numbers_from=1)
