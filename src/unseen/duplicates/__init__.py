"""Duplicates: which texts are the same, the same but for trifles, or nearly the same."""

from unseen.duplicates.normal_forms import normal_forms, same, same_forms
from unseen.duplicates.pairs import Pairs
from unseen.duplicates.texts import near_pairs
from unseen.duplicates.vectors import vector_pairs

__all__ = ["Pairs", "near_pairs", "normal_forms", "same", "same_forms", "vector_pairs"]
