"""Trained on one dataset, tested on another: what is left of a score elsewhere."""

from unseen.study.transfer.entries import Datasets, Entry, read_datasets
from unseen.study.transfer.job import TransferPlan, Transferred, transfer

__all__ = ["Datasets", "Entry", "TransferPlan", "Transferred", "read_datasets", "transfer"]
