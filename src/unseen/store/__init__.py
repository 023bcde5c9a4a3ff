"""Records to and from files: atomic writes, content fingerprints, never pickle."""

from unseen.store.datasets import read_dataset, write_dataset
from unseen.store.embeddings import read_embeddings, write_embeddings
from unseen.store.exit_traces import read_exits, write_exits
from unseen.store.files import atomic, read_json, sha256_of, write_json, write_text
from unseen.store.foreign_splits import read_parts, to_dataset_dict, to_indices
from unseen.store.predictions import read_predictions, write_predictions
from unseen.store.record_tables import (
    read_findings,
    read_measurements,
    read_suspects,
    write_findings,
    write_measurements,
    write_suspects,
)
from unseen.store.splits import read_split, write_split

__all__ = [
    "atomic",
    "read_dataset",
    "read_embeddings",
    "read_exits",
    "read_findings",
    "read_json",
    "read_measurements",
    "read_parts",
    "read_predictions",
    "read_split",
    "read_suspects",
    "sha256_of",
    "to_dataset_dict",
    "to_indices",
    "write_dataset",
    "write_embeddings",
    "write_exits",
    "write_findings",
    "write_json",
    "write_measurements",
    "write_predictions",
    "write_split",
    "write_suspects",
    "write_text",
]
