"""A pipeline by its name, place or file, and the split that it is given where none is named."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unseen.audits.pipelines.examples import EXAMPLES
from unseen.audits.pipelines.shapes import shape_of
from unseen.errors import InputError, UnknownNameError
from unseen.models import PIPELINES
from unseen.models.scikit_learn import open_scikit_learn
from unseen.registry import Registry
from unseen.splits.partition import Request, partition
from unseen.splits.random import RandomSplit
from unseen.training import RECIPES
from unseen.types import Dataset, Split

TEST = 0.2
"""Share of rows that a random split tests."""
PLACES = Registry("pipeline", {})


def open_pipeline(pipeline: Any, *, trust: bool = False) -> Any:
    """The pipeline of this name, at this place (`module:function`) or in this file.

    What is no name comes back as it is. A .joblib file runs any code it holds when it is opened, so it needs `trust`.
    """
    if not isinstance(pipeline, str | Path):
        return pipeline
    name = str(pipeline)
    if Path(name).suffix in PIPELINES:
        return open_scikit_learn(name, trust=trust).model
    if trust:
        raise InputError("trust has no effect without a pipeline file", got=name)
    if ":" in name:
        found = PLACES.get(name)
        return PLACES.make(name) if isinstance(found, type) else found
    known = name.partition(".v")[0]
    if known in list(EXAMPLES):
        return EXAMPLES.get(name)
    if known in list(RECIPES):
        return RECIPES.make(name)
    raise UnknownNameError.of("pipeline", name, [*EXAMPLES, *RECIPES], fix="or module:function of your own")


def default_split(
    fit: Any, data: Dataset, *, shape: str | None = None, test: float | None = None, seed: int = 42
) -> Split | None:
    """A random split for a pipeline that needs one; None for one that makes its own."""
    if shape_of(fit, shape) == "own split":
        if test is not None:
            raise InputError(
                "test has no effect on a pipeline that makes its own split", fix="a setting of its own: --set test=0.15"
            )
        return None
    splitter = RandomSplit(TEST if test is None else test, random_state=seed)
    params = {"test_size": splitter.test_size, "random_state": seed}
    request = Request(data, None, seed=seed, name="random", step="random.v1", params=params)
    return partition(request, splitter)[0]
