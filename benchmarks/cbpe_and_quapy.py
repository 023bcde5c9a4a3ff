"""What NannyML and QuaPy say about answers in FOLDER; run by the interpreter of the environment that has them.

`python -m benchmarks.cbpe_and_quapy FOLDER` prints JSON: the versions, and for each pair the accuracy and the seconds
of each method. `benchmarks.forecast_peers` writes the folder. A pair is a file with home and target (probabilities of
two labels) and labels (of home).
"""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator


def cbpe(home: Any, labels: Any, target: Any) -> float:
    """NannyML's CBPE with its own calibration; the target is one chunk."""
    import nannyml
    import pandas as pd

    nannyml.disable_usage_logging()
    sides = [pd.DataFrame({"score": side[:, 1], "predicted": side.argmax(axis=1)}) for side in (home, target)]
    estimator = nannyml.CBPE(
        metrics=["accuracy"], y_pred_proba="score", y_pred="predicted", y_true="label",
        problem_type="classification_binary", chunk_number=1,
    )  # fmt: skip
    estimator.fit(sides[0].assign(label=labels))
    return float(estimator.estimate(sides[1]).filter(period="analysis").to_df()["accuracy"]["value"].iloc[0])


class Given(BaseEstimator):
    """A classifier whose answers are there already: they are its inputs."""

    classes_ = np.arange(2)

    def fit(self, answers: Any, labels: Any) -> Given:
        return self

    def predict_proba(self, answers: Any) -> Any:
        return answers

    def predict(self, answers: Any) -> Any:
        return answers.argmax(axis=1)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def by_label_mix(name: str, home: Any, labels: Any, target: Any) -> float:
    """The share right of each label at home, in the label mix that a quantifier of QuaPy finds in the target."""
    import quapy.method.aggregative as quapy

    make = quapy.EMQ.EMQ_BCTS if name == "EMQ_BCTS" else getattr(quapy, name)
    quantifier = make(Given(), fit_classifier=False, val_split=(home, labels))
    mix = quantifier.fit(home, labels).predict(target)
    right = home.argmax(axis=1) == labels
    return float(sum(share * right[labels == label].mean() for label, share in enumerate(mix)))


def methods() -> dict[str, Any]:
    """What is installed here, by name."""
    found: dict[str, Any] = {"NannyML CBPE": cbpe} if find_spec("nannyml") else {}
    if find_spec("quapy"):
        for name in ("ACC", "PACC", "EMQ", "EMQ_BCTS", "KDEyML"):
            found[f"QuaPy {name}"] = lambda *pair, name=name: by_label_mix(name, *pair)
    return found


def main() -> None:
    """Ask each method about each pair, once before the clock starts."""
    warnings.simplefilter("ignore")
    files, pairs = sorted(Path(sys.argv[1]).glob("*.npz")), {}
    for file in (files[0], *files):
        kept, pairs[file.stem] = np.load(file), {}
        for name, method in methods().items():
            begun = perf_counter()
            accuracy = method(kept["home"], kept["labels"], kept["target"])
            pairs[file.stem][name] = (accuracy, perf_counter() - begun)
    packages = ("nannyml", "quapy", "numpy", "scikit-learn")
    versions = {name: version(name) for name in packages if find_spec(name.replace("scikit-learn", "sklearn"))}
    print(json.dumps({"versions": versions, "pairs": pairs}))


if __name__ == "__main__":
    main()
