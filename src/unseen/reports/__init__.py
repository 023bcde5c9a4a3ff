"""Reports: one HTML file that needs nothing else."""

from unseen.reports.run import Run, read_run
from unseen.reports.stress_page import write_stress_page

__all__ = ["Run", "read_run", "write_stress_page"]
