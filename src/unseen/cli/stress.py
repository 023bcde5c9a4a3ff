"""`unseen stress`: the main job."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import Gates, Json, Quiet, command_line, notes, print_json, print_result, progress, say
from unseen.cli.model import Model, Set, Trust, parameters
from unseen.cli.source import pairs, takes_data
from unseen.cli.split import numbers_of_clusters

LONG = 600
"""Seconds after which somebody may want a first answer sooner."""


@takes_data
def stress(
    data: Any,
    typed: str,
    model: Model = "minilm",
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder of the run.")] = Path("out"),
    budget: Annotated[
        str, typer.Option(help="small: few trainings of transformers; thesis: the published settings.")
    ] = "small",
    splits: Annotated[
        str | None,
        typer.Option(
            help="Splits, 'random' among them. (default: random,subset-sum,closest,novel; of --split: random)"
        ),
    ] = None,
    split_files: Annotated[
        list[str] | None,
        typer.Option("--split", help="A split that somebody else made, a file of ids and parts; may be repeated."),
    ] = None,
    clusters: Annotated[
        str | None,
        typer.Option(help="Numbers of clusters that splits try: '3-50', '20', '5,10,20'. (default: by splitter)"),
    ] = None,
    random_splits: Annotated[int, typer.Option(help="Random splits to compare with.")] = 3,
    representation: Annotated[
        str | None,
        typer.Option(
            help="bottleneck-50, full, pca-50, umap-50, pretrained, … (default: bottleneck-50, or the model's own)"
        ),
    ] = None,
    seeds: Annotated[
        str | None, typer.Option(help="Of the trainings. (default: 42,55,83; of transformers with --budget small: 42)")
    ] = None,
    seen_folds: Annotated[
        int | None,
        typer.Option(
            help="Fifths of every hard test part to score again with the rest of it in training, 0 to 5. "
            "(default: 5; of transformers with --budget small: 2)"
        ),
    ] = None,
    space_seeds: Annotated[
        int | None,
        typer.Option(help="Further seeds of the latent space, to see whether its splits stay. (default: 2 or 1)"),
    ] = None,
    settings: Set = None,
    trust: Trust = False,
    test: Annotated[
        float | None, typer.Option(help="Share of the rows for testing. (default: 0.1, or that of --split)")
    ] = None,
    dev: Annotated[float, typer.Option(help="Share of the training rows for validation.")] = 0.1,
    independent: Annotated[
        str, typer.Option(help="Share of the rows to set aside first, 0 for none, or a file like DATA.")
    ] = "0.1",
    limit: Annotated[
        int | None, typer.Option(help="Take at most so many rows, at random with the class mix of all.")
    ] = None,
    metric: Annotated[str, typer.Option(help="The metric of the verdict; 'unseen ls metrics'.")] = "f1.macro",
    groups: Annotated[str | None, typer.Option(help="Column whose values stay on one side of every split.")] = None,
    slice_by: Annotated[list[str] | None, typer.Option("--slice", help="Column to score by; may be repeated.")] = None,
    agreement: Annotated[str | None, typer.Option(help="Column with how far annotators agreed.")] = None,
    neutral: Annotated[str | None, typer.Option(help="The label that means: nothing of the kind.")] = None,
    seed: Annotated[int, typer.Option(help="Of everything but the trainings on splits.")] = 42,
    bias: Annotated[str | None, typer.Option(help="Column with the groups a text is about.")] = None,
    positive: Annotated[
        list[str] | None, typer.Option(help="A label that counts as positive for --bias; may be repeated.")
    ] = None,
    suite: Annotated[str | None, typer.Option(help="Test cases to run as well: a table, or 'hatecheck'.")] = None,
    suite_map: Annotated[
        list[str] | None, typer.Option(metavar="OURS=THEIRS,…", help="Labels of the data in the suite's words.")
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Put example texts into the report, behind a click.")] = False,
    gate: Gates = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Trainings side by side, one thread each; 1: one, all threads. (default: one a core; transformers 1)"
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="Take the place of another run in the folder; trainings that fit are used again."
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be done and what it costs; do nothing.")
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find how far a model falls where it was not trained: fine-tune, split its latent space, retrain, measure, report.

    Example: unseen stress posts.csv --text text --label label --model neural --out out
    """
    from unseen.runs import OtherRunError
    from unseen.runs import stress as job

    given: dict[str, Any] = {
        "model": model,
        "out": out,
        "budget": budget,
        "params": parameters(settings, trust=trust),
        "splits": splits and [name.strip() for name in splits.split(",")],
        "split_files": split_files,
        "clusters": clusters and numbers_of_clusters(clusters),
        "seen_folds": seen_folds,
        "space_seeds": space_seeds,
        "random_splits": random_splits,
        "representation": representation,
        "seeds": None if seeds is None else numbers(seeds),
        "test": test,
        "dev": dev,
        "independent": share_or_file(independent),
        "limit": limit,
        "metric": metric,
        "groups": groups,
        "slices": slice_by,
        "agreement": agreement,
        "neutral": neutral,
        "seed": seed,
        "texts": texts,
        "bias": bias,
        "positive": positive,
        "suite": suite,
        "suite_map": pairs(suite_map, "--suite-map"),
    }
    if dry_run:
        with notes(quiet):
            plan = job.plan(data, workers=workers, **given)
        print_json(asdict(plan)) if as_json else say(described(plan))
        return
    command = command_line()

    def carry_out(replace: bool) -> Any:
        with notes(quiet), progress(quiet):
            announce = None if quiet else lambda plan: say(described(plan), err=True)
            return job.stress(
                data, command=command, typed=typed, workers=workers, announce=announce, gates=gate or (),
                replace=replace, **given,
            )  # fmt: skip

    try:
        result = carry_out(replace)
    except OtherRunError as error:
        if not sys.stdin.isatty():
            raise
        say(str(error), err=True)
        if not typer.confirm("Put this run in its place?", err=True):
            raise typer.Exit(error.exit_code) from error
        result = carry_out(replace=True)
    print_result(result, as_json)


def described(plan: Any) -> str:
    """A plan in two lines."""
    rows = f"{plan.rows['split']:,} texts to split, {plan.rows['independent']:,} set aside"
    said = f"{rows}; {plan.trainings} trainings"
    said += f", {plan.seen} of them for the seen control (--seen-folds)" if plan.seen else ""
    said += f"; {plan.done} are done" if plan.done else ""
    sooner = "; --model logistic gives a first answer sooner" * ((plan.seconds or 0.0) > LONG)
    return said + time_needed(plan, f"--limit takes fewer rows{sooner}.")


def time_needed(cost: Any, less: str) -> str:
    """How long trainings take, as the end of a sentence, and what makes it `less`."""
    if cost.seconds is None:
        return "; how long a recipe of your own takes is not known, the bar will show it" * (cost.done < cost.trainings)
    return (
        f".\nAt {cost.texts_per_second:,.0f} texts a second, measured now, that takes about "
        f"{duration(cost.seconds)} ({cost.texts:,} texts through the model). {less}"
    )


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return "a minute"
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"


def numbers(listed: str) -> list[int]:
    """Whole numbers between commas."""
    from unseen.errors import InputError

    try:
        return [int(each) for each in listed.split(",")]
    except ValueError as cause:
        raise InputError("--seeds are whole numbers", expected="'42,55,83'", got=repr(listed)) from cause


def share_or_file(value: str) -> float | str:
    """A number when it is one, else the name of a file."""
    try:
        return float(value)
    except ValueError:
        return value
