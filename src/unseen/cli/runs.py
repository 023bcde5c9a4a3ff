"""`unseen runs`: what was run, looked at again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import (
    gates_of,
    print_json,
    print_places,
    print_table,
    printable,
    say,
    write_for_builds,
)
from unseen.cli.frame import Reply, gives_reply, makes_run
from unseen.cli.options import AuditGate, ExampleTexts, Gate, Json, Junit, Metrics, Quiet, Summary
from unseen.errors import InputError, UnknownNameError

app = typer.Typer(help="Look at finished runs: report, compare, rank, track, export, lint.", no_args_is_help=True)
FORMS = ("table", "csv", "md", "tex")


@app.command()
@gives_reply
def report(
    run: Annotated[Path, typer.Argument(help="Folder of any run, -o of the command.")],
    gate: Gate = None,
    junit: Junit = None,
    summary: Summary = None,
) -> Reply:
    """Write report.html again from the files of a run folder, print the verdict, and judge gates.

    Example: unseen runs report out --gate 'fall.f1.macro<=0.2'
    """
    from unseen.runs.frame import report as written

    result = written(run, gate or ())
    write_for_builds(result, junit, summary)
    own = len(result.record.about.get("gates") or ())
    return Reply(result.described(), str(result), passed=all(outcome.passed for outcome in result.gates[own:]))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Run folder to compare with.")],
    b: Annotated[Path, typer.Argument(help="The new run. Differences are B minus A.")],
    metric: Metrics = None,
    part: Annotated[str, typer.Option(help="Part of the splits: test, dev or independent.")] = "test",
    everything: Annotated[bool, typer.Option("--all", help="Every metric, on every slice.")] = False,
    form: Annotated[str | None, typer.Option("--format", help="table (the default), csv, md or tex.")] = None,
    gate: Gate = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare two runs training by training: differences with 95 % intervals, and what was set otherwise.

    Example: unseen runs compare out-before out-after --gate 'difference.f1.macro>=-0.02'
    """
    from unseen.evaluation.gates import judged, parsed_gates
    from unseen.reports.comparison import compare_runs
    from unseen.reports.comparison_text import warnings
    from unseen.reports.summary import summary_of_comparison, write_summary

    _check(form, as_json)
    bounds = parsed_gates(gate or ())
    comparison = compare_runs(a, b, metrics=metric, part=part, everything=everything)
    if not quiet:
        for warning in warnings(comparison):
            say(printable(f"note: {warning}"), err=True)
    if as_json:
        print_json(_content(comparison))
    elif form in (None, "table"):
        _print(comparison, quiet)
    else:
        _write(comparison, str(form))
    outcomes = judged(bounds, _judged_rows(comparison))
    if summary is not None:
        write_summary(summary, summary_of_comparison(comparison, outcomes))
    for outcome in outcomes:
        say(str(outcome), err=True)
    if not all(outcome.passed for outcome in outcomes):
        raise typer.Exit(1)


def _judged_rows(comparison: Any) -> list[Any]:
    """Differences of the main metric and all that were asked for, each once, without tags of their own."""
    from unseen.evaluation.differences import OF_A_DIFFERENCE, key_of

    rows: dict[Any, Any] = {}
    for row in (*comparison.gated, *comparison.rows):
        tags = {name: value for name, value in row.tags.items() if name not in OF_A_DIFFERENCE}
        rows.setdefault(key_of(row, OF_A_DIFFERENCE), replace(row, tags=tags))
    return list(rows.values())


def _check(form: str | None, as_json: bool) -> None:
    if form is not None and form not in FORMS:
        raise UnknownNameError.of("format", form, FORMS)
    if form is not None and as_json:
        raise InputError("--format has no effect with --json", fix="leave one of the two out")


def _print(comparison: Any, quiet: bool) -> None:
    from unseen.reports.comparison_text import changes, headline, remarks, tables

    say(printable(headline(comparison)))
    if not quiet:
        for remark in remarks(comparison):
            say(printable(remark))
    for table in tables(comparison):
        say()
        first = next(place for place, name in enumerate(table.columns) if name in ("A", "fall in A", "level in A"))
        print_table([table.columns, *([str(cell) for cell in row] for row in table.rows)], numbers_from=first)
    if not quiet:
        lines = changes(comparison)
        say("\n" + ("What is not the same:" if lines else "Settings, versions, data and splits are the same."))
        for line in lines:
            say(printable(f"  {line}"))


def _write(comparison: Any, form: str) -> None:
    from unseen.reports.comparison_text import differences_table, tables
    from unseen.reports.formats import FORMATS

    first = differences_table(comparison, exact=form == "csv")
    shown = [first, *(table for table in tables(comparison) if form != "csv" and table.title != first.title)]
    say("\n".join(FORMATS[form](table) for table in shown), nl=False)


def _content(comparison: Any) -> dict[str, Any]:
    from unseen.reports.comparison_text import headline, remarks, warnings

    pairs = comparison.pairs
    unpaired = {name: [dict(key) for key in getattr(pairs, name)] for name in ("only_a", "only_b", "apart")}
    return {
        "a": comparison.a,
        "b": comparison.b,
        "metric": comparison.metric,
        "headline": headline(comparison),
        "remarks": remarks(comparison),
        "warnings": warnings(comparison),
        "differences": comparison.rows,
        "falls": [{"a": a, "b": b, "difference": b.value - a.value} for a, b in comparison.falls],
        "worst": comparison.worst,
        **unpaired,
        "changed": {name: getattr(comparison, name) for name in ("settings", "versions", "data", "splits", "findings")},
    }


@app.command()
@makes_run()
def leaderboard(
    frame: Any,
    predictions: Annotated[
        Path,
        typer.Argument(metavar="DIR", help="Folder: MODEL.csv or MODEL.seed-42.parquet; of several DATA, DIR/NAME/."),
    ],
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Labelled texts: a table, a known dataset, or NAME=…")
    ],
    text: Annotated[str | None, typer.Option(help="Column of the texts, of DATA that are tables.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, of DATA that are tables.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, of DATA that are tables.")] = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", metavar="FILE", help="Test rows of DATA: a split file, or NAME=FILE; may be repeated."),
    ] = None,
    metric: Metrics = None,
    groups: options.Groups = None,
    rename: options.Map = None,
    reference: Annotated[str | None, typer.Option(help="Model that gains are measured over.")] = None,
) -> Any:
    """Measure a folder of predictions on the same rows: models × measures, ranks, and where measures disagree.

    Example: unseen runs leaderboard answers posts.csv --text text --label label -o board
    """
    from unseen import api
    from unseen.runs.leaderboard import leaderboard as build

    columns = options.only_given(text=text, label=label, id=id)
    named = options.named_places(datasets, "datasets")
    if columns and not any(Path(source).is_file() for source in named.values()):
        raise InputError(f"--{', --'.join(columns)} has no effect: no table is named", fix="leave it out")
    columns |= {"attributes": [groups]} if groups else {}
    data = {name: api.load(source, **(columns if Path(source).is_file() else {})) for name, source in named.items()}
    files = options.named_places(split or (), "splits")
    if len(data) == len(files) == 1:
        files = dict(zip(data, files.values(), strict=True))
    for name in files:
        if name not in data:
            raise UnknownNameError.of("dataset", name, data)
    return build(
        predictions, data, metrics=metric or (), groups=groups, rename=options.pairs(rename, "--map"),
        splits=files, reference=reference, **frame,
    )  # fmt: skip


@app.command()
@gives_reply
def track(
    run: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    to: Annotated[str, typer.Option(help="mlflow or wandb; where it lies is up to its own setup.")],
    project: Annotated[str | None, typer.Option(help="Experiment of MLflow, or project of W&B.")] = None,
    texts: ExampleTexts = False,
) -> Reply:
    """Log the settings, scores and files of a finished run to a tracker.

    Example: unseen runs track out --to mlflow --project classifiers
    """
    from unseen.reports.tracking import track as log

    logged = log(run, to, project=project, texts=texts)
    where = f" at {logged.address}" if logged.address else ""
    counts = f"{logged.metrics} numbers, {logged.files} files"
    return Reply(logged, printable(f"{logged.to} run {logged.run}{where}: {counts}"))


@app.command()
@gives_reply
def export(
    run: Annotated[Path, typer.Argument(help="Folder of a stress run, or one of unseen.report(model, X, y).")],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to; must not exist, or be empty.")],
    dataset: Annotated[
        str | None, typer.Option(metavar="OWNER/NAME", help="Id of the data on the hub; writes .eval_results too.")
    ] = None,
) -> Reply:
    """Write the scores of a run as the head of a model card, and as .eval_results of the Hugging Face hub.

    Example: unseen runs export out --dataset owner/posts -o model-page
    """
    from unseen.reports.hub_results import write_hub_results
    from unseen.runs.frame import report

    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already", fix="name another folder")
    written = write_hub_results(report(run), out, dataset)
    return Reply({"files": written}, "\n".join(map(str, written)))


@app.command()
def lint(
    paths: Annotated[
        list[Path], typer.Argument(help="Run folders, folders, or files: .md, .tex, .csv, .tsv, .eval_results/*.yaml.")
    ],
    skip: Annotated[
        list[str] | None, typer.Option(metavar="RULE", help="A rule that does not apply; may be repeated.")
    ] = None,
    gate: AuditGate = None,
    junit: Junit = None,
    summary: Summary = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Look for numbers that tables of results leave unclear: unnamed averages, mixed scales, no intervals.

    Example: unseen runs lint results.md --skip single-metric
    """
    from unseen.runs.table_checks import lint_results

    result = lint_results(paths, skip=skip or (), gates=gates_of(gate))
    print_places(result, as_json, quiet, junit, summary)
