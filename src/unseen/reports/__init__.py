"""Reports: one HTML file that needs nothing else."""

from unseen.reports.page import write_splits_page

__all__ = ["write_splits_page"]
