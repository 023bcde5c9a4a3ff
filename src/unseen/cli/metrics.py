"""`unseen model metrics`: what is known about metrics, what their names say, and which ones leaderboards use."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import print_json, print_table, say
from unseen.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from unseen.evaluation.metric_usage import MetricUsage, MetricUse

app = typer.Typer(help="Look up metrics: facts, what a name says, what leaderboards use.", no_args_is_help=True)
SHOWN = 20
"""Lines of a table of usage."""


@app.command()
def show(
    names: Annotated[
        list[str] | None, typer.Argument(help="Ids or names of metrics, f1.macro, 'Macro F1'. (default: all)")
    ] = None,
    form: Annotated[str | None, typer.Option("--format", help="table (the default) or md, a glossary of all.")] = None,
    as_json: options.Json = False,
) -> None:
    """Show what is known about metrics: formula, direction, range, limits, what to report beside them.

    Example: unseen model metrics show f1.macro "ROC AUC"
    """
    from unseen.evaluation.metric_facts import described, tree

    if form not in (None, "table", "md"):
        raise UnknownNameError.of("format", form, ["table", "md"])
    if form == "md" and (names or as_json):
        raise InputError("--format md is the glossary of all metrics", fix="leave out names and --json")
    if names:
        ids = [_id_of(name) for name in names]
        if as_json:
            print_json([described(metric) for metric in ids])
        else:
            for metric in ids:
                _print_facts(metric)
    elif as_json:
        print_json(tree())
    else:
        _print_all(form == "md")


def _id_of(name: str) -> str:
    from unseen.evaluation.metric_facts import entries
    from unseen.evaluation.metric_names import normalise

    metric = normalise(name)
    if metric.id is None:
        near = UnknownNameError.of("metric", name, entries())
        raise InputError(near.message, got=metric.reason, fix=near.fix)
    return metric.id


def _print_all(markdown: bool) -> None:
    from unseen.evaluation.metric_facts import entries, fact
    from unseen.reports.computed import glossary

    if markdown:
        say(glossary(), nl=False)
        return
    metrics = [fact(entry.id) for entry in entries().values() if not entry.is_group]
    print_table([["id", "name", "formula"], *([metric.id, metric.name, metric.formula] for metric in metrics)])


def _print_facts(name: str) -> None:
    from unseen.evaluation.metric_facts import fact, line_of
    from unseen.reports.computed import direction_and_range

    metric = fact(name)
    facts = {
        "name": metric.name,
        "kind of": ", ".join(line_of(name)),
        "other names": ", ".join(metric.aliases),
        "formula": metric.formula,
        "parameters": ", ".join(f"{parameter}: {value}" for parameter, value in metric.params.items()),
        "range": direction_and_range(name),
        "limits": "; ".join(metric.limits),
        "report beside": ", ".join(metric.companions),
        "needs": ", ".join(metric.needs),
        "interval": metric.interval,
        "reference": metric.reference,
    }
    say(f"{name}")
    print_table([[f"  {heading}", text] for heading, text in facts.items() if text])


@app.command()
def normalise(
    names: Annotated[list[str], typer.Argument(help="Names as papers write them, or files with one a line.")],
    as_json: options.Json = False,
) -> None:
    """Say which metric a name means, what else it says and what it leaves open; never a guess.

    Example: unseen model metrics normalise "Micro-F1@10%" "F1@IoU=.3"
    """
    from unseen.evaluation.metric_names import normalise

    read = [normalise(name) for given in names for name in _names_of(given)]
    if as_json:
        print_json(read)
        return
    lines = [
        [name.text, name.id or "undetermined", _listed(name.qualifiers), ", ".join(name.missing) or name.reason]
        for name in read
    ]
    print_table([["name", "metric", "it also says", "open"], *lines])


def _names_of(given: str) -> list[str]:
    """The lines of a file, or the name itself; a file is told by its ending."""
    from unseen.store.files import read_parsed

    path = Path(given)
    if path.suffix not in (".txt", ".csv"):
        return [given]
    return list(filter(str.strip, read_parsed(path, str.splitlines, "UTF-8 text")))


def _listed(qualifiers: Any) -> str:
    return ", ".join(f"{name} {value}" for name, value in qualifiers.items())


@app.command()
def usage(
    files: Annotated[list[Path], typer.Argument(help="CSV or JSON: columns dataset and metric, a row per result.")],
    as_json: options.Json = False,
) -> None:
    """Count which metrics leaderboards use: datasets per metric, each once, alone and together.

    Example: unseen model metrics usage leaderboards.csv
    """
    from unseen.evaluation.metric_usage import metric_usage, read_leaderboards

    counts = metric_usage(read_leaderboards(files))
    if as_json:
        together = [{"families": list(pair), "datasets": count} for pair, count in counts.together.items()]
        print_json({**asdict(counts), "together": together})
        return
    _print_usage(counts)


def _print_usage(counts: MetricUsage) -> None:
    from unseen.types.numbers import percent

    middle, average = counts.families_per_dataset
    say(f"{counts.results:,} results, {counts.pairs:,} pairs of dataset and name, {counts.datasets:,} datasets")
    say(f"families of metrics per dataset: median {middle:g}, mean {average:.2f}")

    def lines(uses: list[MetricUse]) -> list[list[str]]:
        return [
            [
                use.id, f"{use.datasets:,}", percent(use.datasets / counts.datasets), f"{use.pairs:,}",
                f"{use.alone:,}", percent(use.alone / use.datasets),
            ]
            for use in uses[:SHOWN]
        ]  # fmt: skip

    for title, uses in (("family", counts.families), ("metric", counts.metrics)):
        say()
        head = [title, "datasets", f"of {counts.datasets:,}", "pairs", "alone", "of its datasets"]
        print_table([head, *lines(list(uses))], numbers_from=1)
    tables = {
        "together": [[f"{a} and {b}", f"{count:,}"] for (a, b), count in counts.together.items()],
        "undetermined": [[name, f"{count:,}"] for name, count in counts.undetermined.items()],
    }
    for title, rows in tables.items():
        if rows:
            say()
            print_table([[title, "datasets"], *rows[:SHOWN]], numbers_from=1)
