"""Trained on one dataset, tested on another: what is left of a score elsewhere."""

from unseen.runs.transfer.job import TransferPlan, transfer
from unseen.runs.transfer_file import DatasetEntry, Datasets, read_datasets

__all__ = ["DatasetEntry", "Datasets", "TransferPlan", "read_datasets", "transfer"]
