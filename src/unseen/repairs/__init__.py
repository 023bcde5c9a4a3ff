"""Repairs: from a split that leaks to one that does not, with every change written down."""

from unseen.repairs.draft import Draft, RepairChange
from unseen.repairs.procedure import Repaired, repair, write_repaired
from unseen.repairs.recipe import RepairRecipe

__all__ = ["Draft", "RepairChange", "RepairRecipe", "Repaired", "repair", "write_repaired"]
