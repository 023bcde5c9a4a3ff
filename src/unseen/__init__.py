"""unseen tells how a text classifier will do on what it has not seen.

The main job is `stress`; grids of experiments are `run_study`; `check`, `forecast`, `forecast_scores`, `explain`,
`attack`, `audit`, `price`, `authors`, `bias`, `invariance`, `cost`, `transfer`, `bench`, `leaderboard`, `pretrain`,
`item_effect`, `learn_from_suite` and `audit_pipeline` are runs too: all give a `Result`, and with `out` a folder whose
page `report` writes anew; `report(model, X, y)` is the run of a fitted model on labelled texts. Runs take what `load`
takes, or a Dataset. The verbs, in the order of the flow: `load`, `train`, `encode`, `split` (`folds` for several),
`predict`, `score`, `compare`, `analyse`, `repair`; `open_model` takes anybody's model; splits go to files and come back
with `write_split` and `read_split`, or go to other programs with `to_indices` and `to_dataset_dict`; `measure_cost`
measures what a block of code costs; `compare_runs`, `track` and `view` look at finished runs; `file_schema` tells an
editor what may stand in a file. Names are imported when first used, so `import unseen` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from unseen.release import __version__ as __version__

if TYPE_CHECKING:
    from unseen.api import analyse, compare, encode, folds, load, predict, score, split, train
    from unseen.costs.meter import measure_cost
    from unseen.errors import UnseenError, UnseenWarning
    from unseen.file_schemas import file_schema
    from unseen.models import open_model
    from unseen.repairs import repair
    from unseen.reports.comparison import compare_runs
    from unseen.reports.tracking import track
    from unseen.runs.attack import attack
    from unseen.runs.audit import audit, audit_pipeline
    from unseen.runs.authors import authors
    from unseen.runs.bench import bench
    from unseen.runs.bias import bias
    from unseen.runs.check import check
    from unseen.runs.cost import cost
    from unseen.runs.explain import explain
    from unseen.runs.forecast import forecast
    from unseen.runs.frame import Result
    from unseen.runs.invariance import invariance
    from unseen.runs.item_effect import item_effect
    from unseen.runs.leaderboard import leaderboard
    from unseen.runs.learning import learn_from_suite
    from unseen.runs.pretraining import pretrain
    from unseen.runs.price import price
    from unseen.runs.score import report
    from unseen.runs.score_forecast import forecast_scores
    from unseen.runs.stress import stress
    from unseen.runs.study import run_study
    from unseen.runs.transfer import transfer
    from unseen.store import read_split, to_dataset_dict, to_indices, write_split
    from unseen.types import Certificate, Dataset, Embeddings, Finding, Measurement, Origin, Predictions, Split
    from unseen.viewer.notebook import view

_HOMES = {
    "unseen.api": ("load", "train", "encode", "split", "folds", "predict", "score", "compare", "analyse"),
    "unseen.costs.meter": ("measure_cost",),
    "unseen.errors": ("UnseenError", "UnseenWarning"),
    "unseen.file_schemas": ("file_schema",),
    "unseen.models": ("open_model",),
    "unseen.repairs": ("repair",),
    "unseen.reports.comparison": ("compare_runs",),
    "unseen.reports.tracking": ("track",),
    "unseen.runs.attack": ("attack",),
    "unseen.runs.audit": ("audit", "audit_pipeline"),
    "unseen.runs.authors": ("authors",),
    "unseen.runs.bench": ("bench",),
    "unseen.runs.bias": ("bias",),
    "unseen.runs.check": ("check",),
    "unseen.runs.cost": ("cost",),
    "unseen.runs.explain": ("explain",),
    "unseen.runs.forecast": ("forecast",),
    "unseen.runs.frame": ("Result",),
    "unseen.runs.invariance": ("invariance",),
    "unseen.runs.item_effect": ("item_effect",),
    "unseen.runs.leaderboard": ("leaderboard",),
    "unseen.runs.learning": ("learn_from_suite",),
    "unseen.runs.pretraining": ("pretrain",),
    "unseen.runs.price": ("price",),
    "unseen.runs.score": ("report",),
    "unseen.runs.score_forecast": ("forecast_scores",),
    "unseen.runs.stress": ("stress",),
    "unseen.runs.study": ("run_study",),
    "unseen.runs.transfer": ("transfer",),
    "unseen.store": ("read_split", "write_split", "to_indices", "to_dataset_dict"),
    "unseen.types": (
        "Certificate", "Dataset", "Embeddings", "Finding", "Measurement", "Origin", "Predictions", "Split",
    ),
    "unseen.viewer.notebook": ("view",),
}  # fmt: skip
_PLACES = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Certificate",
    "Dataset",
    "Embeddings",
    "Finding",
    "Measurement",
    "Origin",
    "Predictions",
    "Result",
    "Split",
    "UnseenError",
    "UnseenWarning",
    "analyse",
    "attack",
    "audit",
    "audit_pipeline",
    "authors",
    "bench",
    "bias",
    "check",
    "compare",
    "compare_runs",
    "cost",
    "encode",
    "explain",
    "file_schema",
    "folds",
    "forecast",
    "forecast_scores",
    "invariance",
    "item_effect",
    "leaderboard",
    "learn_from_suite",
    "load",
    "measure_cost",
    "open_model",
    "predict",
    "pretrain",
    "price",
    "read_split",
    "repair",
    "report",
    "run_study",
    "score",
    "split",
    "stress",
    "to_dataset_dict",
    "to_indices",
    "track",
    "train",
    "transfer",
    "view",
    "write_split",
]


def __getattr__(name: str) -> object:
    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(f"module 'unseen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
