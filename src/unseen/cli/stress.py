"""`unseen stress`: the main job; `unseen demo`: the same on the bundled sample."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import rough_duration, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, makes_run
from unseen.cli.hints import as_typed
from unseen.cli.options import METRIC, listed, numbers_of_clusters, pairs, parameters, whole_numbers

LONG = 600
"""Seconds after which somebody may want a first answer sooner."""


def asks_before_replacing(command: Callable[..., None]) -> Callable[..., None]:
    """The command, which takes the place of another run in its folder if somebody at a terminal agrees."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from unseen.store.run_folder import OtherRunError

        try:
            command(**given)
        except OtherRunError as error:
            if not sys.stdin.isatty():
                raise
            say(as_typed(str(error)), err=True)
            if not _agreed("Put this run in its place?"):
                raise typer.Exit(error.exit_code) from error
            command(**given | {"replace": True})

    return run


def _agreed(question: str) -> bool:
    """Whether the answer is yes; the end of the input is a no."""
    try:
        return typer.confirm(question, err=True)
    except typer.Abort:
        say("", err=True)
        return False


@takes_data
@asks_before_replacing
@makes_run(out=Path("out"))
def stress(
    data: Any,
    frame: Any,
    typed: str,
    loading: Any,
    model: options.Model = "minilm",
    budget: Annotated[
        str, typer.Option(help="small: few trainings of transformers; thesis: the published settings.")
    ] = "small",
    methods: Annotated[
        str | None,
        typer.Option(
            "--with",
            help="Splitters, 'random' among them. (default: random,subset-sum,closest,novel; of --split: random)",
        ),
    ] = None,
    split: options.Splits = None,
    clusters: options.Clusters = None,
    random_splits: Annotated[int, typer.Option(help="Random splits to compare with.")] = 3,
    representation: Annotated[
        str | None,
        typer.Option(
            help="bottleneck-50, full, pca-50, umap-50, pretrained, … (default: bottleneck-50, or the model's own)"
        ),
    ] = None,
    seeds: Annotated[
        str | None,
        typer.Option(help="Seeds of the trainings. (default: 42,55,83; of transformers with --budget small: 42)"),
    ] = None,
    seen_folds: Annotated[
        int | None,
        typer.Option(
            help="Seen control: how many fifths of each hard test part are scored again with the others in training. "
            "(default: 5; of transformers with --budget small: 2)"
        ),
    ] = None,
    space_seeds: Annotated[
        int | None,
        typer.Option(help="Further seeds of the latent space, to see whether its splits stay. (default: 2 or 1)"),
    ] = None,
    settings: options.Set = None,
    trust: options.Trust = False,
    test: Annotated[
        float | None,
        typer.Option(metavar="SHARE", help="Share of the rows for testing. (default: 0.1, or as in --split)"),
    ] = None,
    dev: Annotated[float, typer.Option(metavar="SHARE", help="Share of the training rows for dev.")] = 0.1,
    independent: Annotated[
        str, typer.Option(help="Share of the rows to set aside first, 0 for none, or a file like DATA.")
    ] = "0.1",
    limit: options.Limit = None,
    metric: options.Metric = METRIC,
    groups: options.Groups = None,
    slice_by: options.Slice = None,
    agreement: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column with how far annotators agreed.")
    ] = None,
    neutral: options.Neutral = None,
    seed: Annotated[int, typer.Option(help="Seed of all that is drawn but the trainings on splits (--seeds).")] = 42,
    about: options.About = None,
    positive: options.Positive = None,
    suite: Annotated[str | None, typer.Option(help="Test cases to run as well: a table, or 'hatecheck'.")] = None,
    suite_map: options.SuiteMap = None,
    deployment: Annotated[
        str | None, typer.Option(metavar="FILE", help="Texts that the model will meet: forecast its score there.")
    ] = None,
    explain: Annotated[
        int | None,
        typer.Option(metavar="TEXTS", help="Judge explanations of so many texts of each test part; trains once more."),
    ] = None,
    texts: options.ExampleTexts = False,
    reviews: options.Reviews = None,
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
    plan: options.Plan = False,
    quiet: options.Quiet = False,
) -> Any:
    """Find how far a model falls where it was not trained: fine-tune, split its latent space, retrain, measure, report.

    Example: unseen stress posts.csv --text text --label label --model neural --out out
    """
    from unseen.data.catalogue import cards
    from unseen.runs.stress import plan as plan_stress
    from unseen.runs.stress import stress as run_stress

    given: dict[str, Any] = {
        "model": model,
        "budget": budget,
        "params": parameters(settings, trust=trust),
        "splits": methods and listed(methods),
        "split_files": split,
        "clusters": clusters and numbers_of_clusters(clusters),
        "seen_folds": seen_folds,
        "space_seeds": space_seeds,
        "random_splits": random_splits,
        "representation": representation,
        "seeds": None if seeds is None else whole_numbers(seeds, "--seeds"),
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
        "workers": workers,
        "texts": texts,
        "bias": about,
        "positive": positive,
        "suite": suite,
        "suite_map": pairs(suite_map, "--map"),
        "deployment": deployment,
        "explain": explain,
    }
    if suite is not None and suite in cards():
        given["data_dir"] = loading.get("data_dir")
    if plan:
        planned = plan_stress(data, out=frame["out"], gates=frame["gates"], **given)
        return Reply(planned, described(planned, model, given))
    return run_stress(
        data, typed=typed, reviews=reviews or (), replace=replace, **given, **frame,
        announce=None if quiet else lambda plan: say(described(plan, model, given), err=True),
    )  # fmt: skip


def described(plan: Any, model: str, given: Mapping[str, Any]) -> str:
    """A plan in two lines; of what makes it shorter, not what was `given` already."""
    rows = f"{plan.rows['split']:,} texts to split, {plan.rows['independent']:,} set aside"
    text = f"{rows}; {plan.trainings} trainings"
    text += f", {plan.seen} of them for the seen control (--seen-folds)" if plan.seen else ""
    text += f"; {plan.done} are done" if plan.done else ""
    seeds, folds = given.get("seeds"), given.get("seen_folds")
    fewer = "--seeds 42 --seen-folds 1" if model == "logistic" else "--model logistic"
    is_least = model == "logistic" and seeds is not None and len(seeds) == 1 and folds in (0, 1)
    sooner = f"; {fewer} gives a first answer sooner" * (not is_least and (plan.seconds or 0.0) > LONG)
    return text + time_needed(plan, f"--limit takes fewer rows{sooner}.")


def time_needed(cost: Any, less: str) -> str:
    """How long trainings take, as the end of a sentence, and what makes it `less`."""
    if cost.seconds is None:
        return "; how long a recipe of your own takes is not known, the bar will show it" * (cost.done < cost.trainings)
    return (
        f".\n{cost.counted} takes about {rough_duration(cost.seconds)} where nothing else runs: {cost.texts:,} texts "
        f"through the model, {cost.texts_per_second:,.0f} a second, measured now. {less}"
    )


def share_or_file(value: str) -> float | str:
    """A number when it is one, else the name of a file."""
    try:
        return float(value)
    except ValueError:
        return value


@makes_run(gate=None)
def demo(
    out: options.RunFolder = Path("out/demo"),
    model: options.Model = "neural",
    seed: options.Seed = 42,
) -> Any:
    """Run the whole job on a bundled synthetic sample: train, split, retrain, measure, report. No network.

    Example: unseen demo --out out/demo
    """
    from unseen.runs.stress import stress as run_stress

    command = shlex.join(["unseen", "demo", "--out", str(out), "--model", model, "--seed", str(seed)])
    return run_stress(
        "sample", model=model, out=out, seed=seed, slices=("topic",), texts=True, command=command, workers=None
    )
