"""`unseen suite holdout`: train on a suite, and see whether that helped or only passed the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_result, progress, say
from unseen.cli.options import (
    Columns,
    DataDir,
    ExampleTexts,
    Gate,
    Ignore,
    Json,
    Junit,
    Quiet,
    RunFolder,
    Seed,
    Set,
    Summary,
    Trust,
    Workers,
    listed,
    pairs,
    parameters,
)


def holdout(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A table with test cases, or a known suite.")],
    task: Annotated[str, typer.Option(metavar="DATA", help="Labelled texts of the task: a table or a known dataset.")],
    task_text: Annotated[str | None, typer.Option(help="Column of the task's texts. (default: text)")] = None,
    task_label: Annotated[str | None, typer.Option(help="Column of the task's labels. (default: label)")] = None,
    elsewhere: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data of the task, only for testing; columns as the task's."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FROM=TO,…", help="A label of the task as one of the suite's; may be repeated."),
    ] = None,
    columns: Columns = None,
    ignore: Ignore = None,
    model: Annotated[
        str, typer.Option(help="A recipe or a transformer that can go on from a trained model.")
    ] = "neural",
    settings: Set = None,
    trust: Trust = False,
    hold_out: Annotated[
        str | None,
        typer.Option(
            help="What to hold out: functionality,target,class,template,pair,all. (default: what the suite has)"
        ),
    ] = None,
    trained_on: Annotated[
        str | None, typer.Option(help="Any of task,suite,task then suite. (default: all three)")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Pool validation as in the paper: it then sees held-out cases.")
    ] = False,
    folds: Annotated[int | None, typer.Option(help="Folds of template and pair. (default: 5)")] = None,
    out: RunFolder = Path("out"),
    workers: Workers = 1,
    texts: ExampleTexts = False,
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
    seed: Seed = 42,
    data_dir: DataDir = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Train on the cases of a suite, hold some out, and measure what of it is more than passing the tests.

    Example: unseen suite holdout cases.csv --task posts.csv --map abusive=rude --map normal=fine --out out
    """
    from unseen.functional.tables import load_suite
    from unseen.runs.learning import CONFIGURATIONS, learn_from_suite

    chosen: dict[str, Any] = {
        "model": model, "params": parameters(settings, trust=trust), "labels": pairs(rename, "--map"),
        "schemes": None if hold_out is None else listed(hold_out), "strict": not published, "folds": folds,
        "seed": seed, "configurations": CONFIGURATIONS if trained_on is None else listed(trained_on), "texts": texts,
    }  # fmt: skip
    given = {"text": task_text, "label": task_label, "data_dir": data_dir}
    loading = {name: value for name, value in given.items() if value is not None}
    with notes(quiet), progress(quiet):
        cases = load_suite(suite, columns=pairs(columns, "--column"), ignore=ignore or (), data_dir=data_dir)
        result = learn_from_suite(
            cases, _loaded(task, loading), elsewhere=None if elsewhere is None else _loaded(elsewhere, loading),
            out=out, workers=workers, gates=gate or (), command=command_line(),
            announce=None if quiet else lambda plan: say(described(plan), err=True), **chosen,
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def _loaded(source: str, loading: dict[str, Any]) -> Any:
    """A table, or a known dataset, which lies in the data folder."""
    from unseen.api import load

    is_table = Path(source).exists()
    return load(source, **{name: value for name, value in loading.items() if not (is_table and name == "data_dir")})


def described(plan: Any) -> str:
    """A plan in one line."""
    schemes = ", ".join(f"{name} {count}" for name, count in plan.schemes.items())
    done = f", {plan.done} of them done" if plan.done else ""
    return f"{plan.cases:,} cases, {plan.texts:,} texts of the task; plans: {schemes}; {plan.trainings} trainings{done}"
