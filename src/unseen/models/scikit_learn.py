"""A scikit-learn pipeline in a file: from texts to labels, vectoriser included.

A .joblib or .pkl file is a pickle, and reading a pickle runs whatever code it holds: only with trust.
A .skops file is read without running code; types that skops does not know are listed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from unseen.errors import InputError, MissingPackageError
from unseen.models.label_names import names_for
from unseen.store.files import missing_file


def open_scikit_learn(source: str, *, label_names: tuple[str, ...] | None = None, trust: bool = False) -> Any:
    """The pipeline in the file `source`."""
    path = Path(source)
    if not path.is_file():
        raise missing_file(source)
    try:
        model = _from_skops(path, trust) if path.suffix == ".skops" else _from_pickle(path, trust)
    except (InputError, MissingPackageError):
        raise
    except Exception as cause:  # a pickle or an archive can fail in any way
        raise InputError(f"{source} cannot be read: {type(cause).__name__}: {cause}") from cause
    return PipelineClassifier(model, label_names, path.name)


class PipelineClassifier:
    """A fitted pipeline; one without `predict_proba` gives labels only and is marked hard."""

    def __init__(self, model: Any, label_names: tuple[str, ...] | None = None, source: str = "pipeline") -> None:
        answers = hasattr(model, "predict") or hasattr(model, "predict_proba")
        if not answers or getattr(model, "classes_", None) is None:
            raise InputError(
                f"{source} does not hold a fitted classifier",
                expected="a scikit-learn pipeline, or any object with predict_proba or predict, and classes_",
                got=type(model).__name__,
            )
        self.model = model
        self.classes_ = names_for(np.asarray(model.classes_).tolist(), label_names, source)
        self.hard = not hasattr(model, "predict_proba")
        self.source = source

    def predict_proba(self, texts: Sequence[str]) -> npt.NDArray[np.float64]:
        """Probabilities [texts, classes]."""
        try:
            if not self.hard:
                return np.asarray(self.model.predict_proba(list(texts)), dtype=np.float64)
            labels = np.asarray(self.model.predict(list(texts)))
        except Exception as cause:
            raise InputError(
                f"{self.source} failed on texts: {type(cause).__name__}: {cause}",
                expected="a pipeline that begins with a vectoriser of texts",
            ) from cause
        return (labels[:, None] == np.asarray(self.model.classes_)[None, :]).astype(np.float64)


def _from_skops(path: Path, trust: bool) -> Any:
    try:
        from skops.io import get_untrusted_types, load
    except ImportError as cause:
        raise MissingPackageError.of("skops", "reading a .skops file", "skops") from cause
    unknown = get_untrusted_types(file=path)
    if unknown and not trust:
        raise InputError(
            f"{path} holds types that are not known to be harmless",
            problems=unknown,
            fix="if you trust all of them: trust=True (--trust on the command line)",
        )
    return load(path, trusted=unknown)


def _from_pickle(path: Path, trust: bool) -> Any:
    if not trust:
        raise InputError(
            f"{path} is a pickle, and reading a pickle runs any code it holds",
            fix="if you trust whoever made it: trust=True (--trust); better: skops.io.dump(pipeline, 'model.skops')",
        )
    try:
        import joblib
    except ImportError as cause:
        raise MissingPackageError(
            f"reading {path.suffix} needs the package 'joblib'", fix="pip install joblib"
        ) from cause
    return joblib.load(path)
