"""Author audit: how far few authors carry a dataset, and what knowing them is worth."""

from unseen.audits.authors.concentration import Writers, concentration, gini, lorenz, lorenz_curve
from unseen.audits.authors.findings import author_findings
from unseen.audits.authors.probe import estimate_shared_authors
from unseen.audits.authors.rule import know_the_author

__all__ = [
    "Writers",
    "author_findings",
    "concentration",
    "estimate_shared_authors",
    "gini",
    "know_the_author",
    "lorenz",
    "lorenz_curve",
]
