"""`unseen audit-pipeline`: whether a pipeline learns from test rows."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.columns import split_of
from unseen.cli.console import Json, Quiet, notes, print_json, print_table, progress
from unseen.cli.model import Trust, parameters
from unseen.cli.source import takes_data
from unseen.errors import InputError, UnknownNameError
from unseen.registry import Registry

TEST = 0.2
PLACES = Registry("pipeline", {})


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
    test: Annotated[
        float | None, typer.Option(help=f"Share of rows to test, of a random split. (default: {TEST})")
    ] = None,
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
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for report and findings.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the pipeline, the experiments and a random split.")] = 42,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Change the test rows and see whether a pipeline notices, which proves a leak; exit 1 when it does.

    Example: unseen audit-pipeline words-chosen-in-training posts.csv --text text --label label
    """
    from unseen.audits.pipelines import audit_pipeline as audited
    from unseen.audits.pipelines import planned_runs
    from unseen.study.audit import write_pipeline_audit

    command = shlex.join(["unseen", *sys.argv[1:]])
    with notes(quiet), progress(quiet):
        fit = opened(pipeline, trust)
        given = parameters(settings)
        runs = planned_runs(fit, experiment, shape)
        if plan:
            _print_plan(runs, as_json)
            return
        parts = _split(fit, shape, data, split, by, test, seed)
        if not quiet:
            typer.echo(f"plan: {sum(runs.values())} runs of {pipeline}, 2 more if it does not repeat itself", err=True)
        with _folder(out) as folder:
            found = audited(
                fit, data, parts, experiments=experiment, shape=shape, seed=seed, planted=planted, settings=given
            )
            page = None if folder is None else write_pipeline_audit(found, folder, data, pipeline, seed, command)
    _tell(found, page, as_json)
    if not found.passed:
        raise typer.Exit(1)


def opened(pipeline: str, trust: bool) -> Any:
    """The pipeline of this name, at this place or in this file."""
    from unseen.audits.pipelines.examples import EXAMPLES
    from unseen.models import PIPELINES
    from unseen.models.scikit_learn import open_scikit_learn
    from unseen.training import RECIPES

    if Path(pipeline).suffix in PIPELINES:
        return open_scikit_learn(pipeline, trust=trust).model
    if trust:
        raise InputError("--trust has no effect without a pipeline file", got=pipeline)
    if ":" in pipeline:
        found = PLACES.get(pipeline)
        return PLACES.make(pipeline) if isinstance(found, type) else found
    name = pipeline.partition(".v")[0]
    if name in list(EXAMPLES):
        return EXAMPLES.get(pipeline)
    if name in list(RECIPES):
        return RECIPES.make(pipeline)
    raise UnknownNameError.of("pipeline", pipeline, [*EXAMPLES, *RECIPES], fix="or module:function of your own")


def _split(
    fit: Any, shape: str | None, data: Any, split: str | None, by: str | None, test: float | None, seed: int
) -> Any:
    """The split that was named, or a random one; None for a pipeline that makes its own."""
    from unseen import api
    from unseen.audits.pipelines.shapes import shape_of

    found = split_of(data, split, by)
    if test is not None and found is not None:
        raise InputError("--test has no effect with a split", fix="leave one of them out")
    if found is not None:
        return found
    if shape_of(fit, shape) == "own split":
        if test is not None:
            raise InputError("--test has no effect on a pipeline that makes its own split", fix="--set test=0.15")
        return None
    return api.split(data, "random", test=TEST if test is None else test, seed=seed)


def _print_plan(runs: dict[str, int], as_json: bool) -> None:
    if as_json:
        print_json(runs)
        return
    print_table([["experiment", "runs"], *([name, str(count)] for name, count in runs.items())], numbers_from=1)


@contextmanager
def _folder(out: Path | None) -> Iterator[Any]:
    """The folder of the audit, kept for this process before the work begins; None without one."""
    from unseen.study.folder import RunFolder

    if out is None:
        yield None
        return
    folder = RunFolder(out)
    with folder.locked():
        yield folder


def _tell(found: Any, page: Path | None, as_json: bool) -> None:
    if as_json:
        rows = [asdict(row) for row in found.measurements]
        print_json(
            {
                "passed": found.passed,
                "findings": [asdict(each) for each in found.findings],
                "measurements": rows,
                "report": page,
            }
        )
        return
    lines = [[each.level, each.check.removeprefix("pipeline."), each.message] for each in found.findings]
    print_table([["level", "experiment", "what was found"], *lines])
    for each in found.findings:
        if each.advice:
            typer.echo(f"{each.check.removeprefix('pipeline.')}: {each.advice}")
    failed = sum(each.level == "fail" for each in found.findings)
    proven = "1 experiment proves" if failed == 1 else f"{failed} experiments prove"
    typer.echo(f"{proven} that test rows are used" if failed else "no experiment proves a leak")
    if page is not None:
        typer.echo(f"report: {page}")
