"""Pipelines: whether something in them was fitted on test rows, proven by experiment.

::

    pipeline.py       what a pipeline may look like, by which name, what it may answer
    bench.py          changes that it must not notice, its runs, and their noise
    experiments.py    changed test rows, planted and shuffled labels, what it holds of test rows
    examples.py       pipelines that leak, and their corrected forms, with the network of some of them
    audit.py          the audit
"""

from unseen.audits.pipelines.audit import EXPERIMENTS, audit_pipeline, planned_runs, prepared
from unseen.audits.pipelines.examples import EXAMPLES
from unseen.audits.pipelines.pipeline import default_split, open_pipeline

__all__ = [
    "EXAMPLES",
    "EXPERIMENTS",
    "audit_pipeline",
    "default_split",
    "open_pipeline",
    "planned_runs",
    "prepared",
]
