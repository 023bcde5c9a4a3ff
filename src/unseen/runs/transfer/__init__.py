"""Trained on one dataset, tested on another: what is left of a score elsewhere."""

from unseen.runs.transfer.entries import DatasetEntry, Datasets, read_datasets
from unseen.runs.transfer.job import TransferPlan, transfer

__all__ = ["DatasetEntry", "Datasets", "TransferPlan", "read_datasets", "transfer"]
