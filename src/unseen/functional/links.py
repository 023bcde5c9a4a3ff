"""Which templates of a suite refer to which, by the cases or by the templates that their cases name."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from unseen.functional.outcomes import Codes, partners, units
from unseen.types import Dataset


def template_links(suite: Dataset) -> tuple[Codes, Codes]:
    """Templates with a case that refers elsewhere, and the templates it refers to: numbers of `units`, each pair once.

    A case names the case it contrasts with (`reference`), or only that case's template (`reference_template`), or
    both. A template that the suite does not have leads nowhere; one that refers to itself is left out.
    """
    own, (referring, referred) = units(suite), partners(suite)
    by_case = np.column_stack([own[referring], own[referred]])
    pairs = np.unique(np.concatenate([by_case, _by_template(suite, own)]), axis=0)
    apart = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart[:, 0], apart[:, 1]


def _by_template(suite: Dataset, own: Codes) -> Codes:
    """Pairs of templates [pairs, 2] from the templates that cases name."""
    if not {"template", "reference_template"} <= set(suite.attributes):
        return np.empty((0, 2), np.intp)
    named, template = (suite.attribute(name).cast(pa.large_string()) for name in ("reference_template", "template"))
    at = pc.index_in(named, value_set=template.combine_chunks(), skip_nulls=True)
    rows = np.asarray(pc.fill_null(at, -1).to_numpy(), dtype=np.intp)
    referring = np.flatnonzero(rows >= 0)
    return np.column_stack([own[referring], own[rows[referring]]])
