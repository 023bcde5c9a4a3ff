"""Anybody's classifier: opened by its place, called like ours.

::

    out/models/mine                      a folder of ours (unseen.json)
    ./roberta-mine, org/name             Hugging Face: a folder, or a name on the hub
    model.skops, model.joblib            a scikit-learn pipeline
    package.module:function              Python of your own
    https://example.org/classify         an endpoint

`docs/models.md` has the details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from unseen.errors import InputError
from unseen.registry import Registry, check_numbers, check_parameters
from unseen.representations.checkpoints import may_be_checkpoint

OPENERS = Registry(
    "kind of model",
    {
        "endpoint.v1": "unseen.models.endpoint:open_endpoint",
        "folder.v1": "unseen.models.folder:open_folder",
        "hugging-face.v1": "unseen.models.hugging_face:open_hugging_face",
        "python.v1": "unseen.models.python:open_python",
        "scikit-learn.v1": "unseen.models.scikit_learn:open_scikit_learn",
    },
)
PIPELINES = (".skops", ".joblib", ".pkl", ".pickle")

__all__ = ["OPENERS", "PIPELINES", "as_classifier", "kind_of", "open_model"]


def open_model(
    source: str | Path,
    *,
    trust: bool = False,
    label_names: Sequence[str] | None = None,
    rename: Mapping[str, str] | None = None,
    **options: Any,
) -> Any:
    """The classifier at `source`.

    `label_names` names the columns of a model that does not say its labels; `rename` maps its labels to
    those of the data, {theirs: ours}, several of theirs may become one of ours. `trust` runs code
    that a file or a folder brings. `options` belong to the kind: `revision`, `max_length`, `batch` (Hugging Face),
    `key_env`, `timeout`, `retries`, `rate`, `batch`, `field` (endpoint).
    """
    kind = kind_of(source)
    opener = OPENERS.get(kind)
    if trust:
        options["trust"] = True
    check_parameters(f"a model of the kind {kind!r}", opener, options)
    check_numbers(f"a model of the kind {kind!r}", opener, options)
    opened = opener(str(source), label_names=None if label_names is None else tuple(label_names), **options)
    return as_classifier(opened, rename)


def as_classifier(model: Any, rename: Mapping[str, str] | None = None, **opening: Any) -> Any:
    """The classifier at a place, opened with these parameters of `open_model`; any other object, its labels renamed."""
    if isinstance(model, str | Path):
        return open_model(model, rename=rename, **opening)
    if not rename:
        return model
    from unseen.models.label_names import RenamedClassifier

    return RenamedClassifier(model, rename)


def kind_of(source: str | Path) -> str:
    """Which kind of model `source` names."""
    place, path = str(source), Path(source)
    if place.startswith(("http://", "https://")):
        return "endpoint"
    if place.strip() and path.is_dir():
        return "folder" if (path / "unseen.json").is_file() else "hugging-face"
    if path.suffix in PIPELINES:
        return "scikit-learn"
    if ":" in place:
        return "python"
    if path.suffix in (".csv", ".parquet"):
        raise InputError(
            f"{place} is a file of predictions, not a model", fix="unseen model score reads predictions: --predictions"
        )
    # of any other name the hub is asked, half a minute where there is no network
    if place.startswith((".", "/", "~")) or place.count("/") > 1 or not (place.strip() and may_be_checkpoint(place)):
        raise InputError(
            f"there is no model at {place!r}",
            expected="a folder, a .skops or .joblib file, module:function, http(s)://…, or a name on the hub",
        )
    return "hugging-face"
