"""What a plan of training on a suite lets through: near-copies of test cases among the training cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.functional.holdout import HoldoutPlan
from unseen.functional.links import template_links
from unseen.functional.outcomes import Codes, units
from unseen.types import Dataset, Measurement

Mask = npt.NDArray[np.bool_]


def leaks(suite: Dataset, found: Sequence[HoldoutPlan], tags: Mapping[str, Any] | None = None) -> list[Measurement]:
    """Shares of the test cases of one scheme that have a near-copy in train, over all its plans together.

    `leak.template`: another case of the same template is trained on. `leak.reference`: a case that it contrasts with
    or alters, or that contrasts with or alters it, or a sibling of such a case, is. `leak.any`: either. Covered
    and held-out cases are apart, as the tag `part`. Without templates, cases are their own.
    """
    template = units(suite)
    one, other = template_links(suite)
    links = np.concatenate([one, other]), np.concatenate([other, one])
    rows = []
    for part, of in (("covered", "test_covered"), ("held-out", "test_held_out")):
        masks = [_shared(template, links, plan.train, getattr(plan, of)) for plan in found]
        for kind in ("template", "reference", "any"):
            said = np.concatenate([mask[kind] for mask in masks])
            if len(said):
                about = {"scheme": found[0].scheme, "part": part} | dict(tags or {})
                rows.append(Measurement(f"leak.{kind}", float(said.mean()), len(said), tags=about))
    return rows


def _shared(template: Codes, links: tuple[Codes, Codes], train: Codes, test: Codes) -> dict[str, Mask]:
    trained = np.zeros(int(template.max()) + 1, bool)
    trained[template[train]] = True
    partnered = np.zeros(len(trained), bool)
    np.logical_or.at(partnered, links[0], trained[links[1]])
    sibling, partner = trained[template[test]], partnered[template[test]]
    return {"template": sibling, "reference": partner, "any": sibling | partner}
