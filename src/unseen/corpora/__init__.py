"""Corpora that do not fit into memory: vectors and clusters in folders of shards, made on Ray Data."""

from unseen.corpora.assignment import assign
from unseen.corpora.centres import Centres, fit_centres, read_centres, write_centres
from unseen.corpora.shards import Shards, open_shards
from unseen.corpora.vectors import encode_corpus

__all__ = [
    "Centres",
    "Shards",
    "assign",
    "encode_corpus",
    "fit_centres",
    "open_shards",
    "read_centres",
    "write_centres",
]
