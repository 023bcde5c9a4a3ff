"""What lies where: the map of a latent space, and cards of its clusters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from unseen.analysis import Words, top_words
from unseen.engines import Workspace
from unseen.reports.figures import MOST_POINTS, plane
from unseen.runs.source import Source
from unseen.runs.work import split_of, vectors
from unseen.seeding import generator
from unseen.store import atomic, write_text
from unseen.types import PARTS, Embeddings, Split

MAP, CLUSTERS, EXAMPLES = "map.parquet", "clusters.json", "examples.json"
CARDS = 12
"""Clusters per split that get a card: those with the most test rows."""
EXAMPLES_PER_CARD = 5
WORDS_PER_CARD = 10


def write_map(here: Workspace) -> None:
    """Write where texts lie in the plane (a sample when there are many), with their label and part in every split."""
    seed, whole = here.settings["seed"], here.shared["source"].data
    shown = np.sort(generator(seed, "map").permutation(len(whole))[:MOST_POINTS])
    data = whole.take(shown)
    x, y = plane(np.asarray(vectors(here).vectors[shown]), seed).T
    columns: dict[str, Any] = {"id": data.ids, "x": x.astype(np.float32), "y": y.astype(np.float32)}
    columns["label"] = data.table["label"].cast(pa.string())
    for split in _splits(here):
        columns[split.name] = np.array(PARTS)[split.parts[shown]]
    with atomic(here.folder / MAP) as temporary:
        pq.write_table(pa.table(columns), temporary)


def write_clusters(here: Workspace) -> None:
    """Write the cards of the clusters with the most test rows, and, when asked for, the texts of their examples."""
    source: Source = here.shared["source"]
    found = vectors(here)
    cards = [card for split in _splits(here) for card in cluster_cards(source, split, found)]
    write_text(here.folder / CLUSTERS, json.dumps(cards, ensure_ascii=False, indent=1) + "\n")
    if not here.settings["texts"]:
        return
    wanted = pa.array(sorted({each for card in cards for each in card["examples"]}), pa.large_string())
    rows = source.data.table.filter(pc.is_in(source.data.ids, value_set=wanted))
    texts = dict(zip(rows["id"].to_pylist(), rows["text"].to_pylist(), strict=True))
    write_text(here.folder / EXAMPLES, json.dumps(texts, ensure_ascii=False, indent=1) + "\n")


def _splits(here: Workspace) -> list[Split]:
    return [split_of(here, f"split-{number}", name) for number, name in enumerate(here.settings["splits"])]


def cluster_cards(source: Source, split: Split, embeddings: Embeddings) -> Iterator[dict[str, Any]]:
    """What the largest test clusters of a split hold."""
    clusters = split.clusters
    clustered = np.flatnonzero(clusters >= 0)
    if not len(clustered):
        return
    words = source.words
    telling = top_words(Words(words.vocabulary, words.counts[clustered]), clusters[clustered], WORDS_PER_CARD)
    in_test = np.isin(np.arange(len(clusters)), split.rows("test"))
    tested = Counter(clusters[in_test & (clusters >= 0)].tolist())
    points, ids, labels = embeddings.vectors, source.data.ids, source.data.labels
    for cluster, count in sorted(tested.items(), key=lambda each: (-each[1], each[0]))[:CARDS]:
        rows = np.flatnonzero(clusters == cluster)
        middle = points[rows].mean(axis=0)
        shown = rows[in_test[rows]]
        central = shown[np.argsort(((points[shown] - middle) ** 2).sum(axis=1), kind="stable")[:EXAMPLES_PER_CARD]]
        mix = np.bincount(labels[rows], minlength=len(source.data.label_names)).tolist()
        yield {
            "split": split.name,
            "cluster": int(cluster),
            "size": len(rows),
            "test": int(count),
            "labels": dict(zip(source.data.label_names, mix, strict=True)),
            "words": telling[cluster],
            "examples": ids.take(pa.array(central)).to_pylist(),
        }
