"""What a plan of training on a suite lets through: near-copies of test cases among the training cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.functional.holdout import HoldoutPlan, Rows, reference_rows, template_codes
from unseen.types import Dataset, Measurement

Mask = npt.NDArray[np.bool_]


def leaks(suite: Dataset, found: Sequence[HoldoutPlan], tags: Mapping[str, Any] | None = None) -> list[Measurement]:
    """Shares of the test cases of one scheme that have a near-copy in train, over all its plans together.

    `leak.template`: another case of the same template is trained on. `leak.reference`: a case that it contrasts with
    or alters, or that contrasts with or alters it, or a sibling of such a case, is. `leak.any`: either. Covered
    and held-out cases are apart, as the tag `part`. Without templates, cases are their own.
    """
    units = template_codes(suite)
    links = _links(suite, units)
    rows = []
    for part, of in (("covered", "test_covered"), ("held-out", "test_held_out")):
        masks = [_shared(units, links, plan.train, getattr(plan, of)) for plan in found]
        for kind in ("template", "reference", "any"):
            said = np.concatenate([mask[kind] for mask in masks])
            if len(said):
                about = {"scheme": found[0].scheme, "part": part} | dict(tags or {})
                rows.append(Measurement(f"leak.{kind}", float(said.mean()), len(said), tags=about))
    return rows


def _links(suite: Dataset, units: Rows) -> tuple[Rows, Rows]:
    """Templates that refer to each other, as two columns, each pair both ways."""
    one, other = reference_rows(suite)
    pairs = np.unique(np.column_stack([units[one], units[other]]).reshape(-1, 2), axis=0)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    apart = both[both[:, 0] != both[:, 1]]
    return apart[:, 0], apart[:, 1]


def _shared(units: Rows, links: tuple[Rows, Rows], train: Rows, test: Rows) -> dict[str, Mask]:
    trained = np.zeros(int(units.max()) + 1, bool)
    trained[units[train]] = True
    partnered = np.zeros(len(trained), bool)
    np.logical_or.at(partnered, links[0], trained[links[1]])
    template, reference = trained[units[test]], partnered[units[test]]
    return {"template": template, "reference": reference, "any": template | reference}
