"""`unseen model cost`: what models cost, beside what they score."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import rough_duration
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, makes_run
from unseen.cli.options import METRIC, any_number, named_parameters, named_places, pairs, split_of, whole_numbers


@takes_data
@makes_run()
def cost(
    data: Any,
    frame: Any,
    loading: Any,
    model: Annotated[
        list[str],
        typer.Option(
            help="[NAME=] a recipe or transformer, which is trained; or a model folder, a pipeline file, "
            "module:function or URL, which is asked; may be repeated."
        ),
    ],
    budget: Annotated[
        str | None, typer.Option(help="Memory: train each with the largest batch within it, memory=2GB.")
    ] = None,
    lengths: Annotated[
        str | None, typer.Option(metavar="COUNT,…", help="Limits of tokens to try of transformers, 64,128,256.")
    ] = None,
    batches: Annotated[
        str | None, typer.Option(metavar="COUNT,…", help="Further batches to train with: is it the batch? 8,32.")
    ] = None,
    split: options.Split = None,
    hard: Annotated[
        str, typer.Option(metavar="SPLITTER", help="The hard split: a splitter, a split file, or none.")
    ] = "closest",
    suite: Annotated[
        str | None, typer.Option("--suite", help="A suite: a table of test cases, or a known one (hatecheck).")
    ] = None,
    suite_map: options.SuiteMap = None,
    price: Annotated[
        list[str] | None,
        typer.Option(metavar="call=PRICE", help="Of an endpoint: of a call, or tokens=PRICE of 1,000 tokens."),
    ] = None,
    metric: options.Metric = METRIC,
    trainings: options.Trainings = 1,
    repeats: Annotated[int, typer.Option(help="How often everything is timed, at least 3.")] = 3,
    limit: Annotated[int, typer.Option("-n", "--limit", help="Texts of the test part that are timed.")] = 200,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A parameter of one model, minilm.epochs=1; repeatable."),
    ] = None,
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    plan: options.Plan = False,
) -> Any:
    """What does a score cost? Time, memory, energy and operations of several models, beside what they score.

    Quality is the score on an ordinary test part, on a hard split, and on a suite where one is named.
    What was measured and what is an estimate stand apart.

    Example: unseen model cost posts.csv --model logistic --model svm --gate "latency.p95<=50ms" -o costs
    """
    from unseen.data.catalogue import cards
    from unseen.functional import load_suite
    from unseen.runs.cost import cost as run_cost
    from unseen.runs.cost import plan_cost

    named = named_places(model, "models", _called)
    params = named_parameters(settings, "MODEL", "minilm.epochs=1")
    for name, place in named.items():
        opening = _opening(place, trust, key_env)
        if opening:
            params[name] = {**params.get(name, {}), **opening}
    prices = {name: float(any_number(value, "--price", "a price")) for name, value in pairs(price, "--price").items()}
    given: dict[str, Any] = {
        "params": params, "lengths": whole_numbers(lengths, "--lengths") if lengths else (),
        "batches": whole_numbers(batches, "--batches") if batches else (), "budget": budget,
        "price": prices, "metric": metric, "trainings": trainings, "repeats": repeats, "texts": limit,
        "suite_map": pairs(suite_map, "--map"),
        "split": split_of(data, split), "hard": hard,
        "suite": suite if suite not in cards() else load_suite(suite, data_dir=loading.get("data_dir")),
    }  # fmt: skip
    if plan:
        planned = plan_cost(data, named, out=frame["out"], seed=frame["seed"], **given)
        return Reply(planned, described(planned))
    return run_cost(data, named, **given, **frame)


def described(plan: Any) -> str:
    """A plan in a few lines."""
    about = "" if plan.seconds is None else f", {rough_duration(plan.seconds)}"
    lines = [f"candidates: {', '.join(plan.candidates)}"]
    if plan.trainings:
        lines.append(f"trainings: {plan.trainings}, of which {plan.done} are done{about}; their measuring comes on top")
    return "\n".join([*lines, *(f"{name}: asked about {texts:,} texts" for name, texts in plan.asked.items())])


def _called(place: str) -> str:
    """How a model without a name is called."""
    return place.split("?")[0] if "://" in place else Path(place.rstrip("/")).name


def _opening(place: str, trust: bool, key_env: str | None) -> dict[str, Any]:
    """What opening a model needs of what was typed."""
    if place.startswith(("http://", "https://")):
        return {"key_env": key_env} if key_env else {}
    return {"trust": True} if trust and (Path(place).exists() or ":" not in place) else {}
