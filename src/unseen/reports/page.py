"""The report of a set of splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from unseen.reports.figures import latent_maps
from unseen.store import write_text
from unseen.types import Dataset, Embeddings, Measurement, Split

DISTANCE = "nearest_train_distance.cosine"
RATIO = "nearest_train_distance_ratio.cosine"


def write_splits_page(
    path: str | Path,
    data: Dataset,
    embeddings: Embeddings,
    splits: Sequence[Split],
    measured: Sequence[Measurement],
    about: Mapping[str, Any],
) -> Path:
    """Write one HTML file: verdict, table, map, certificates, how to do it again."""
    rows = [split_row(data, split, measured) for split in splits]
    environment = Environment(
        loader=PackageLoader("unseen.reports"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    page = environment.get_template("splits.html").render(
        data=data,
        rows=rows,
        verdict=verdict(rows),
        maps=zip(splits, latent_maps(embeddings, splits), strict=True),
        about=about,
    )
    return write_text(path, page)


def split_row(data: Dataset, split: Split, measured: Sequence[Measurement]) -> dict[str, Any]:
    """What a table shows about one split."""
    mine = [row for row in measured if row.tags["split"] == split.name]
    shares = {
        (str(row.tags["part"]), row.slice.removeprefix("label=")): row.value
        for row in mine
        if row.metric == "label_share"
    }
    by_metric = {row.metric: row for row in mine}
    return {
        "split": split,
        "sizes": split.sizes,
        "mix": {part: [shares[part, name] for name in data.label_names] for part in split.sizes},
        "distance": by_metric.get(DISTANCE),
        "ratio": by_metric.get(RATIO),
    }


def verdict(rows: Sequence[Mapping[str, Any]]) -> str:
    """One sentence: which split is farthest from training, and how far."""
    far = max(
        (row for row in rows if row["ratio"] and row["ratio"].value), key=lambda row: row["ratio"].value, default=None
    )
    if far is None:
        return "No distances were measured."
    split, ratio = far["split"], far["ratio"].value
    singly = split.certificate.completed_share
    said = (
        f"In the split “{split.name}” a test text is {ratio:.2f} times as far from its nearest training text as in a "
        "random split of the same size and class mix."
    )
    if split.certificate.n_clusters is None:
        return said
    made = f"whole clusters and {singly:.0%} single rows" if singly else "whole clusters only"
    return f"{said} Its test part is made of {made}."
