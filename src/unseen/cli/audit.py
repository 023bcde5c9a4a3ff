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
    from unseen.api import vectors_of
    from unseen.audits.subject import SEMANTIC, Subject
    from unseen.runs.price import Pricing, find_leaks
    from unseen.runs.price import price as priced
    from unseen.runs.spaces import Model
    from unseen.store import read_predictions

    training = {"trainings": trainings, "repeats": repeats}
    _refuse_untrained(model, predictions, settings, training)
    kinds = listed(leaks) if leaks else None
    using = semantic_source(vectors, encoder, semantic)
    _refuse_unused(kinds, roles, using, groups)
    parted = needed_split(data, split, parts)
    numbers = {"seeds": trainings, "repeats": repeats}
    is_trained = model is not None or predictions is None
    pricing = Pricing(
        model=Model(model or "logistic", parameters(settings)) if is_trained else None, metric=metric,
        groups=groups, seed=seed,
        **{name: value for name, value in numbers.items() if value is not None},
    )  # fmt: skip
    answers = None if predictions is None else read_predictions(predictions, data, pairs(rename, "--map"))
    threshold = SEMANTIC if semantic is None else semantic
    neighbours = None if using is None else vectors_of(data, using, seed)
    leaking = find_leaks(Subject(data, parted, roles, neighbours, near, threshold, seed), kinds)
    return priced(data, parted, leaking, pricing, predictions=answers, **frame)


def _refuse_untrained(model: str | None, predictions: Path | None, settings: Any, training: dict[str, Any]) -> None:
    if predictions is None or model is not None:
        return
    given = [f"--{name}" for name, value in {**training, "set": settings or None}.items() if value is not None]
    if given:
        raise InputError(f"{', '.join(given)} has no effect without --model: with --predictions nothing is trained")


def _refuse_unused(kinds: list[str] | None, columns: dict[str, str], vectors: Any, groups: str | None) -> None:
    """Columns and vectors that no kind of leak asks for; authors are drawn together in intervals of any kind."""
    used = {*(kinds or columns), *(["author"] if groups is None else [])}
    unused = [f"--{role}" for role in columns if role not in used]
    if kinds is not None and vectors is not None and "semantic" not in kinds:
        unused.append("--vectors" if isinstance(vectors, Path) else "--encoder")
    if unused:
        raise InputError(f"{', '.join(unused)} has no effect with these --leaks", got=", ".join(kinds or ()))


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
    from unseen.runs.authors import UnseenAuthors
    from unseen.runs.authors import authors as audited
    from unseen.runs.spaces import Model

    training = {"metric": metric, "seeds": trainings, "share": test, "cap": cap, "seed": seed}
    _refuse_contradictions(author, model, calibrate, calibrate_author, {**training, "set": settings or None})
    given: dict[str, Any] = {name: value for name, value in training.items() if value is not None}
    measured = None if model is None else UnseenAuthors(Model(model, parameters(settings)), **given)
    calibration = _calibration(calibrate, calibrate_author)
    return audited(data, split_of(data, split), author, measured, calibration=calibration, **frame)


def _refuse_contradictions(
    author: str | None, model: str | None, calibrate: str | None, column: str | None, training: dict[str, Any]
) -> None:
    """Options that would have no effect, all at once."""
    options = {"share": "test", "seeds": "trainings"}
    given = [f"--{options.get(name, name)}" for name, value in training.items() if value is not None]
    problems = [f"{name} has no effect without --model" for name in given if model is None]
    if model is not None and author is None:
        problems.append("--model has no effect without --author: there are no unseen authors to test on")
    if author is not None and calibrate is not None:
        problems.append("--calibrate has no effect with --author: nothing needs an estimate")
    if (calibrate is None) != (column is None):
        problems.append("--calibrate and --calibrate-author go together")
    if problems:
        raise InputError("these options do not go together", problems=problems)


def _calibration(source: str | None, column: str | None) -> Any:
    """The other dataset, read as a table with this column or as a known dataset, and its author column."""
    from unseen.api import load

    if source is None:
        return None
    return (load(source, attributes=[column]) if Path(source).exists() else load(source)), column


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
    parted = _split(fit, shape, data, split_of(data, split, parts), test, frame["seed"])
    if not quiet:
        say(f"plan: {sum(runs.values())} runs of {place}, 2 more if it does not repeat itself", err=True)
    return audited(
        fit, data, parted, name=place, experiments=experiment, shape=shape, planted=planted, settings=given, **frame
    )


def _split(fit: Any, shape: str | None, data: Any, named: Any, test: float | None, seed: int) -> Any:
    """The split that was named, or the one that is made where none is."""
    from unseen.audits.pipelines import default_split

    if named is None:
        return default_split(fit, data, shape=shape, test=test, seed=seed)
    if test is not None:
        raise InputError("--test has no effect with a split", fix="leave one of them out")
    return named


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
