"""`unseen study run`: a whole study."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import command_line, notes, print_json, print_result, progress, rough_duration, say
from unseen.cli.options import Address, Json, Junit, Plan, Quiet, Summary, Trust

File = Annotated[Path, typer.Argument(help="Study file (TOML).", metavar="STUDY")]


def run(
    study: File,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder of the run. (default: out/STUDY)")] = None,
    store: Annotated[
        Path, typer.Option(help="Where results of steps are kept, for later studies too.", envvar="UNSEEN_STORE")
    ] = Path("unseen-steps"),
    engine: Annotated[str, typer.Option(help="Where steps run: local, ray, inline.")] = "local",
    workers: Annotated[int | None, typer.Option(help="Steps at once. (default: as many as cores)")] = None,
    threads: Annotated[int, typer.Option(help="Threads of each step.")] = 1,
    address: Address = None,
    trust: Trust = False,
    plan: Plan = False,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a grid of experiments: data × models × spaces × splits × seeds, each step once, resumable.

    A file with kind = "validation" compares leaking with corrected protocols instead.

    Example: unseen study run study.toml --plan
    """
    from unseen.engines import ENGINES
    from unseen.runs import study as studies
    from unseen.runs import validation

    plan_of, run_of = studies.plan_study, studies.run_study
    if validation.is_validation(study):
        plan_of, run_of = validation.plan_validation, validation.run_validation
    chosen = ENGINES.make(engine, **_options(engine, workers, threads, address))
    if plan:
        with notes(quiet):
            planned, steps = plan_of(study, store=store, trust=trust)
        _tell_plan(planned, steps, as_json, quiet)
        return
    announce = None if quiet else lambda planned: say(described(planned), err=True)
    with notes(quiet), progress(quiet):
        result = run_of(
            study, engine=chosen, out=out or Path("out") / study.stem, store=store,
            command=command_line(), announce=announce, trust=trust,
        )  # fmt: skip
    print_result(result, as_json, junit, summary)


def _options(engine: str, workers: int | None, threads: int, address: str | None) -> dict[str, Any]:
    """The options that were given; what an engine does not take, it refuses by name."""
    given = {"workers": workers, "address": address, "threads": threads if threads != 1 else None}
    return {name: value for name, value in given.items() if value is not None}


def described(plan: Any) -> str:
    """A plan in a few lines."""
    kinds = ", ".join(f"{count} × {kind}" for kind, count in plan.steps.items())
    total = sum(plan.steps.values())
    text = f"{total} steps ({kinds}); {plan.done} are there already.\n"
    text += f"{plan.trainings} trainings, {plan.trainings_done} done."
    if plan.seconds is None:
        return text
    return (
        f"{text} {plan.texts:,} texts to train on: about {rough_duration(plan.seconds)} one after the "
        "other, at the speed measured now on this machine."
    )


def _tell_plan(plan: Any, steps: list[tuple[str, bool]], as_json: bool, quiet: bool) -> None:
    if as_json:
        print_json(asdict(plan) | {"list": [{"step": name, "done": done} for name, done in steps]})
        return
    if not quiet:
        for name, done in steps:
            say(f"{'done' if done else 'to do'}  {name}")
    say(described(plan))
