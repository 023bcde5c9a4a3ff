"""`unseen audit`: whether data, splits, pipelines and models are sound."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import bias, invariance, items, options
from unseen.cli.console import gates_of, print_places, print_table, say
from unseen.cli.data_options import ROLES, takes_data
from unseen.cli.frame import Reply, makes_run
from unseen.cli.listing import listing
from unseen.cli.options import METRIC, NEAR, listed, needed_split, pairs, parameters, semantic_source, split_of
from unseen.cli.stress import time_needed
from unseen.errors import InputError

app = typer.Typer(
    help="Look for leaks, price them, audit authors, texts, pipelines, bias and invariance.", no_args_is_help=True
)
ROLES_OF_LEAKS = ("author", "conversation", "template", "partner", "source", "original")


@app.command("data")
@takes_data
@makes_run(gate=options.AuditGate)
def audit_data(
    data: Any,
    frame: Any,
    typed: str,
    split: options.Split = None,
    parts: options.Parts = None,
    roles: Any = tuple(ROLES),
    vectors: options.Vectors = None,
    encoder: options.SemanticEncoder = None,
    near: options.Near = NEAR,
    semantic: options.Semantic = None,
    check: Annotated[
        list[str] | None, typer.Option(help="Only this check, or module:function of your own; may be repeated.")
    ] = None,
    texts: options.ExampleTexts = False,
) -> Any:
    """Look for leaks between test and training, drift, conflicts and shortcuts; exit 1 when a check fails.

    Example: unseen audit data posts.csv --split hard.csv --text text --label label --author user --gate none -o audited
    """
    from unseen.audits.subject import SEMANTIC
    from unseen.runs.audit import audit

    using = semantic_source(vectors, encoder, semantic)
    if texts and frame["out"] is None:
        raise InputError("--texts has no effect without --out", fix="name a folder: -o audited")
    return audit(
        data, split_of(data, split, parts), using=using, checks=check, near=near,
        semantic=SEMANTIC if semantic is None else semantic, texts=texts, typed=typed, **roles, **frame,
    )  # fmt: skip


def _cost(cost: Any) -> str:
    text = f"{cost.trainings} trainings" + (f"; {cost.done} are done" if cost.done else "")
    return text + time_needed(cost, "--trainings, --repeats and --leaks make it less.")


@app.command()
@takes_data
@makes_run(workers=1, tells=_cost)
def price(
    data: Any,
    frame: Any,
    split: options.Split = None,
    parts: options.Parts = None,
    leaks: Annotated[
        str | None,
        typer.Option(help="Kinds of leak, 'exact,near,author'. (default: all that can be looked for)"),
    ] = None,
    roles: Any = ROLES_OF_LEAKS,
    vectors: options.Vectors = None,
    encoder: options.SemanticEncoder = None,
    near: options.Near = NEAR,
    semantic: options.Semantic = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained with and without them. (default: logistic, or nothing)")
    ] = None,
    settings: options.Set = None,
    predictions: options.Predictions = None,
    rename: options.Map = None,
    metric: options.Metric = METRIC,
    trainings: options.OptionalTrainings = None,
    repeats: options.Repeats = None,
    groups: options.Groups = None,
    seed: options.Seed = 42,
) -> Any:
    """Say how many points leaks buy: the score without them, against removing as many random rows.

    Example: unseen audit price posts.csv --split hard.csv --text text --label label --leaks near --trainings 1
    """
    from unseen.audits.subject import SEMANTIC
    from unseen.runs.price import price as priced

    return priced(
        data, needed_split(data, split, parts), leaks=listed(leaks) if leaks else None,
        using=semantic_source(vectors, encoder, semantic), near=near,
        semantic=SEMANTIC if semantic is None else semantic, model=model, params=parameters(settings),
        predictions=predictions, rename=pairs(rename, "--map"), metric=metric, trainings=trainings, repeats=repeats,
        groups=groups, seed=seed, **roles, **frame,
    )  # fmt: skip


@app.command()
@takes_data
@makes_run(workers=1)
def authors(
    data: Any,
    frame: Any,
    split: options.Split = None,
    author: options.Author = None,
    model: Annotated[
        str | None, typer.Option(help="What is trained on random and on author-disjoint splits. (default: nothing)")
    ] = None,
    settings: options.Set = None,
    metric: Annotated[str | None, typer.Option("-m", "--metric", help="The metric. (default: f1.macro)")] = None,
    trainings: options.OptionalTrainings = None,
    test: options.ShareForTest = None,
    cap: options.Cap = None,
    calibrate: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data with known authors, for an estimate where there are none."),
    ] = None,
    calibrate_author: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the authors in that data.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all that is drawn. (default: 42)")] = None,
) -> Any:
    """Audit authors: who wrote how much of each class, what names alone give away, the score on unseen authors.

    Example: unseen audit authors posts.csv --text text --label label --author user --model logistic --trainings 1
    """
    from unseen.runs.authors import authors as audited

    return audited(
        data, split_of(data, split), author=author, model=model, params=parameters(settings), metric=metric,
        trainings=trainings, test=test, cap=cap, calibrate=calibrate, calibrate_author=calibrate_author, seed=seed,
        **frame,
    )  # fmt: skip


@app.command()
@functools.partial(takes_data, last=True)
@makes_run(gate=options.AuditGate)
def pipeline(
    data: Any,
    frame: Any,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PIPELINE", help="module:function, a .skops or .joblib file, a recipe, or a built-in example."
        ),
    ],
    split: options.Split = None,
    parts: options.Parts = None,
    test: options.ShareForTest = None,
    experiment: Annotated[list[str] | None, typer.Option(help="Only this experiment; may be repeated.")] = None,
    shape: Annotated[
        str | None, typer.Option(help="recipe, protocol, 'own split' or estimator. (default: by its parameters)")
    ] = None,
    planted: Annotated[int | None, typer.Option(help="Nonsense texts to plant. (default: enough)")] = None,
    settings: options.Set = None,
    trust: options.Trust = False,
    plan: options.Plan = False,
    quiet: options.Quiet = False,
) -> Any:
    """Change the test rows and see whether a pipeline notices, which proves a leak; exit 1 when it does.

    Example: unseen audit pipeline words-chosen-in-training posts.csv --text text --label label
    """
    from unseen.audits.pipelines import open_pipeline, planned_runs
    from unseen.runs.audit import audit_pipeline as audited

    fit = open_pipeline(place, trust=trust)
    given = parameters(settings)
    runs = planned_runs(fit, experiment, shape)
    if plan:
        lines = [["experiment", "runs"], *([name, str(count)] for name, count in runs.items())]
        return Reply(runs, lambda: print_table(lines, numbers_from=1))
    if not quiet:
        say(f"plan: {sum(runs.values())} runs of {place}, 2 more if it does not repeat itself", err=True)
    return audited(
        fit, data, split_of(data, split, parts), test=test, name=place, experiments=experiment, shape=shape,
        planted=planted, settings=given, **frame,
    )  # fmt: skip


@app.command("table")
def audit_table(
    files: Annotated[list[Path], typer.Argument(help="Files with tables: .md, .tex, .csv, .tsv; or folders.")],
    relations: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML that says how columns and rows hang together. (default: by headers)"),
    ] = None,
    gate: options.AuditGate = None,
    junit: options.Junit = None,
    summary: options.Summary = None,
    as_json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Recompute averages, sums, gains and shares from the cells of a printed table; exit 1 when one cannot be right.

    Example: unseen audit table results.md
    """
    from unseen.runs.table_checks import recompute_tables

    result = recompute_tables(files, relations=relations, gates=gates_of(gate))
    print_places(result, as_json, quiet, junit, summary)


app.command()(bias.bias)
app.command()(invariance.invariance)
app.add_typer(items.app, name="items")
app.command("ls")(listing("audit", "checks", "pipelines"))
