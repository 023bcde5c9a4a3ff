"""The records that flow through unseen: frozen, checked when made, arrays read-only.

::

    Dataset ──> Embeddings ──> Split ──> Predictions ──> Measurement
                                    └──> Explanation     Finding

Each carries an Origin: how it was made, from what, with which seed and versions.
"""

from unseen.types.arrays import (
    LONGEST_TEXT,
    ROWS_AT_ONCE,
    as_names,
    bounded,
    finite_float32,
    frozen,
    refuse_repeats,
    some,
    string_array,
)
from unseen.types.records import (
    DEV,
    INDEPENDENT,
    LEVELS,
    PARTS,
    TEST,
    TRAIN,
    UNUSED,
    Certificate,
    Dataset,
    Embeddings,
    ExitTrace,
    Explanation,
    Finding,
    Measurement,
    Origin,
    Predictions,
    Split,
    SuspectLabel,
    located,
)

__all__ = [
    "DEV",
    "INDEPENDENT",
    "LEVELS",
    "LONGEST_TEXT",
    "PARTS",
    "ROWS_AT_ONCE",
    "TEST",
    "TRAIN",
    "UNUSED",
    "Certificate",
    "Dataset",
    "Embeddings",
    "ExitTrace",
    "Explanation",
    "Finding",
    "Measurement",
    "Origin",
    "Predictions",
    "Split",
    "SuspectLabel",
    "as_names",
    "bounded",
    "finite_float32",
    "frozen",
    "located",
    "refuse_repeats",
    "some",
    "string_array",
]
