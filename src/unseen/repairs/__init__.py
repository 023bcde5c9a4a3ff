"""Repairs: from a split that leaks to one that does not, with every change written down."""

from unseen.repairs.draft import Draft, RepairChange
from unseen.repairs.recipe import Recipe
from unseen.repairs.repairing import Repaired, repair
from unseen.repairs.writing import write_repaired

__all__ = ["Draft", "Recipe", "RepairChange", "Repaired", "repair", "write_repaired"]
