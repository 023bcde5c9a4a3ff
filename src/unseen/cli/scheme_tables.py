"""What `unseen model score --schemes` prints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unseen.cli.console import measured_cells, print_table, printable, say
from unseen.evaluation.wording import called
from unseen.types.numbers import number, points

MOST_LABELS = 20
INFLUENCE = "influence."
WAYS = {"removal": "left out", "correction": "answered rightly"}
"""What happens to a text whose influence is told."""
DEMANDS = {"D1": "no smaller weight", "D2": "no larger weight per row"}
"""What weights should keep."""


def print_schemes(rows: Sequence[Any]) -> None:
    """Print scores under every scheme, weights, imbalance, influence and winners, part by part."""
    for part in dict.fromkeys(str(row.tags.get("part", "all")) for row in rows):
        of_part = [row for row in rows if str(row.tags.get("part", "all")) == part]
        say(f"\nF1 under every weighting of the labels{'' if part == 'all' else f', part {part}'}")
        scored = [row for row in of_part if row.metric.startswith("f1.")]
        moved = {(row.metric, *_who(row)): row for row in of_part if row.metric.startswith(INFLUENCE)}
        lines = [
            [*_who(row), row.metric, *measured_cells(row, 4)[:2]]
            + [_moves(moved.get((f"{INFLUENCE}{way}.{row.metric}", *_who(row)))) for way in WAYS]
            for row in scored
        ]
        print_table([["model", "metric", "value", "95 % interval", "one removed", "one corrected"], *lines], 2)
        say("one removed, one corrected: how far the strongest single text moves it, in points")
        _print_weights(of_part)
        for line in _sentences(of_part):
            say(printable(line))


def _who(row: Any) -> list[str]:
    """The model, and which training of it."""
    training = f" {row.tags['training'] + 1}" if "training" in row.tags else ""
    return [f"{row.tags.get('model', '-')}{training}"]


def _moves(row: Any) -> str:
    return "-" if row is None else points(row.value)


def _print_weights(rows: Sequence[Any]) -> None:
    weights = [row for row in rows if row.metric.startswith("weight.")]
    schemes = list(dict.fromkeys(row.metric.removeprefix("weight.") for row in weights))
    by_label: dict[str, list[Any]] = {}
    for row in weights:
        by_label.setdefault(row.slice.removeprefix("label="), []).append(row)
    largest = sorted(by_label, key=lambda label: -by_label[label][0].n)
    lines = [
        [label, f"{by_label[label][0].n:,}", *(number(row.value, 4) for row in by_label[label])]
        for label in largest[:MOST_LABELS]
    ]
    say()
    print_table([["label", "rows", *(f"weight {scheme.partition('(')[0]}" for scheme in schemes)], *lines], 1)
    if len(largest) > MOST_LABELS:
        say(f"… and {len(largest) - MOST_LABELS} labels more: --json has all of them")


def _sentences(rows: Sequence[Any]) -> Iterator[str]:
    """Imbalance, broken demands, influence, winners and effects over seeds."""
    values = {row.metric: row for row in rows}
    included = values.get("label_perplexity.included")
    without = "" if included is None else f", {included.value:.2f} without the excluded"
    yield (
        f"labels are as hard to guess as {values['label_perplexity'].value:.2f} of equal size{without}; "
        f"the largest has {values['class_ratio'].value:,.4g} times the rows of the smallest"
    )
    for row in rows:
        tags, name = row.tags, row.metric
        if name.startswith("demands_broken.") and row.value:
            scheme = name.removeprefix("demands_broken.")
            for demand, means in DEMANDS.items():
                if demand in tags:
                    yield f"{scheme} breaks {demand}, a larger label has {means}: {tags[demand]}"
        elif name.startswith(INFLUENCE) and tags["flagged"]:
            way, _, metric = name.removeprefix(INFLUENCE).partition(".")
            model = f" of {_who(row)[0]}" if "model" in tags else ""
            answer = "" if tags["predicted"] == tags["gold"] else f" taken for {tags['predicted']}"
            texts = "text moves" if tags["flagged"] == 1 else "texts move"
            yield (
                f"WARNING: {tags['flagged']:,} single {texts} {called(metric)}{model} by more than a point when "
                f"{WAYS[way]}, by up to {points(row.value)}: {tags['ids']} "
                f"({tags['gold']}{answer})"
            )
        elif name == "winner_change":
            yield (
                f"the best model is {tags['before']} while labels weigh rows^α with α below {number(row.value, 3)}, "
                f"then {tags['after']} (α = 0 is macro, 0.75 dodrans, 1 weighted)"
            )
        elif name == "rank_flip":
            yield (
                f"rank flip: {tags['one']} is above {tags['other']} by {tags['one_wins']}, below it by "
                f"{tags['other_wins']}; their difference moves by {points(row.value)} points"
            )
        elif name.startswith("difference.") and "than" in tags:
            effect = ""
            if "d" in tags:
                effect = f", p = {tags['p.welch']:.2g} (Welch), d = {number(tags['d'])} ({tags['band']})"
            yield (
                f"{called(name.removeprefix('difference.'))}, {tags['model']} less {tags['than']} over {tags['seeds']} "
                f"trainings each: {points(row.value)} points{effect}"
            )
