"""Pipelines: whether something in them was fitted on test rows, proven by experiment.

::

    shapes.py       what a pipeline may look like        answered.py    what it may answer
    perturbing.py   changes that it must not notice      bench.py       runs, and how far they repeat themselves
    experiments.py  changed test rows                    knowledge.py   planted and shuffled labels
    captured.py     what it holds                        fitted.py      words and weights of test rows
    opening.py      a pipeline by its name               auditing.py    the audit
    examples.py     published pipelines that leak, and their corrected forms
"""

from unseen.audits.pipelines.auditing import EXPERIMENTS, PipelineAudit, audit_pipeline, planned_runs, prepared
from unseen.audits.pipelines.examples import EXAMPLES
from unseen.audits.pipelines.opening import default_split, open_pipeline

__all__ = [
    "EXAMPLES",
    "EXPERIMENTS",
    "PipelineAudit",
    "audit_pipeline",
    "default_split",
    "open_pipeline",
    "planned_runs",
    "prepared",
]
