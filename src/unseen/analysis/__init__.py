"""Analysis: what a split is like, whoever made it."""

from unseen.analysis.distances import distances
from unseen.analysis.mixes import sizes_and_mixes

__all__ = ["distances", "sizes_and_mixes"]
