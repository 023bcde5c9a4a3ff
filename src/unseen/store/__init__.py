"""Records to and from files: atomic writes, content fingerprints, never pickle."""

from unseen.store.datasets import read_dataset, write_dataset
from unseen.store.embeddings import read_embeddings, write_embeddings
from unseen.store.files import atomic, read_json, sha256_of, write_json, write_text
from unseen.store.measurements import read_measurements, write_measurements
from unseen.store.splits import read_split, write_split

__all__ = [
    "atomic",
    "read_dataset",
    "read_embeddings",
    "read_json",
    "read_measurements",
    "read_split",
    "sha256_of",
    "write_dataset",
    "write_embeddings",
    "write_json",
    "write_measurements",
    "write_split",
    "write_text",
]
