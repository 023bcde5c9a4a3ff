"""Labelled texts from files and tables in memory."""

from unseen.data.tables import load_table

__all__ = ["load_table"]
