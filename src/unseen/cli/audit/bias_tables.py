"""What `unseen bias` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from unseen.cli.console import print_table, say

FIGURES = {
    "subgroup_auc": "subgroup AUC",
    "bpsn_auc": "BPSN AUC",
    "bnsp_auc": "BNSP AUC",
    "positive_aeg": "positive gap",
    "negative_aeg": "negative gap",
}
CHANGES = {
    "flip_rate": "flip rate",
    "mean_change": "mean change",
    "mean_absolute_change": "mean size",
    "largest_change": "largest",
}
SAID = {
    "all": "all texts that do not mention the group",
    "mentioned": "texts that mention another group but not this one",
}


def print_subgroups(rows: Sequence[Any]) -> None:
    """A table per place and background, the means below it, then all places side by side."""
    tables: dict[tuple[str, str], list[Any]] = {}
    for row in rows:
        tables.setdefault((_place(row), row.tags["background"]), []).append(row)
    for (place, background), mine in tables.items():
        say(f"{place}; background {background}: {SAID[background]}")
        by_slice: dict[str, dict[str, Any]] = {}
        for row in mine:
            by_slice.setdefault(row.slice, {})[row.metric.removeprefix("bias.")] = row
        means = by_slice.pop("all")
        head = [mine[0].tags["grouping"], "positive", "negative", *FIGURES.values()]
        print_table([head, *(_line(name, figures) for name, figures in by_slice.items())], numbers_from=1)
        for row in means.values():
            say(f"{row.metric}: {_figure(row)} over {row.tags['groups']} groups{_by_chance(row)}")
        _print_undefined(mine)
        say("")
    if len({place for place, _ in tables}) > 1:
        _print_side_by_side(rows)


def _line(name: str, figures: Mapping[str, Any]) -> list[str]:
    tags = figures["subgroup_auc"].tags
    counts = [f"{tags[side]:,}" for side in ("positives", "negatives")]
    return [name.partition("=")[2], *counts, *(_figure(figures[figure]) for figure in FIGURES)]


def _print_side_by_side(rows: Sequence[Any]) -> None:
    """A line per number, a column per place."""
    columns = list(dict.fromkeys(map(_place, rows)))
    lines: dict[tuple[str, str, str], dict[str, str]] = {}
    for row in rows:
        value = "-" if row.value is None else f"{row.value:.3f}"
        lines.setdefault((row.metric, row.slice, row.tags["background"]), {})[_place(row)] = value
    table = [[*key, *(cells.get(column, "") for column in columns)] for key, cells in sorted(lines.items())]
    print_table([["side by side", "slice", "background", *columns], *table], numbers_from=3)
    say("")


def print_values(rows: Sequence[Any]) -> None:
    """A line per metric and slice; nothing without metrics."""
    if rows:
        lines = [[_place(row), row.metric, row.slice, _figure(row), f"{row.n:,}", _by_chance(row)] for row in rows]
        print_table([["part", "metric", "slice", "value", "n", ""], *lines], numbers_from=3)
        _print_undefined(rows)
        say("")


def print_swaps(rows: Sequence[Any]) -> None:
    """A line per place and slice: how many versions, what they changed."""
    lines: dict[tuple[str, str], dict[str, Any]] = {}
    for row in rows:
        lines.setdefault((_place(row), row.slice), {})[row.metric.removeprefix("bias.")] = row
    table = [
        [*key, f"{rows['flip_rate'].n:,}", *(_figure(rows[change]) for change in CHANGES)]
        for key, rows in lines.items()
    ]
    if table:
        print_table([["part", "swaps", "n", *CHANGES.values()], *table], numbers_from=2)


def _print_undefined(rows: Sequence[Any]) -> None:
    """A line for each reason: what is undefined, and of which groups."""
    from unseen.types import some

    reasons: dict[str, list[Any]] = {}
    for row in rows:
        if "undefined" in row.tags:
            reasons.setdefault(str(row.tags["undefined"]), []).append(row)
    for reason, of_reason in reasons.items():
        metrics = ", ".join(dict.fromkeys(row.metric for row in of_reason))
        groups = some(dict.fromkeys(row.slice for row in of_reason))
        say(f"undefined: {metrics} of {groups}: {reason}")


def _place(row: Any) -> str:
    return f"{row.tags['part']} of {row.tags['split']}" if "part" in row.tags else "all rows"


def _by_chance(row: Any) -> str:
    return f" (by chance about {row.tags['by_chance']:.3f})" if "by_chance" in row.tags else ""


def _figure(row: Any) -> str:
    value = "-" if row.value is None else f"{row.value:.3f}"
    if "few_texts" in row.tags and row.value is not None:
        return f"{value} (too few texts: {row.tags['few_texts']})"
    return value if row.low is None or row.high is None else f"{value} [{row.low:.3f}, {row.high:.3f}]"
