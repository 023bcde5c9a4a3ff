"""The verbs, in flow order."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from unseen import analysis, evaluation, inference
from unseen.data.catalogue import cards, load_card
from unseen.data.files import foreign_format
from unseen.data.labels import doubts
from unseen.data.sample import sample_corpus
from unseen.data.tables import load_table
from unseen.errors import InputError, UnknownNameError, UnseenWarning
from unseen.evaluation import DEFAULT_METRICS, measure
from unseen.evaluation.measurements import by_part
from unseen.evaluation.scheme_scores import scheme_scores
from unseen.evaluation.weighting import Weighting
from unseen.models import as_classifier
from unseen.naming import content_of_name, encoder_of, recipe_of, settings_of, splitter_of
from unseen.release import __version__
from unseen.representations.partial_vectors import encode_resumably
from unseen.representations.reduction import DEFAULT_DIMENSIONS
from unseen.representations.reduction import reduce as reduced
from unseen.roles import Splitter
from unseen.splits.length import word_lengths
from unseen.splits.split_records import random_rows, split_records
from unseen.store import read_embeddings, read_parts, read_predictions
from unseen.types import Dataset, Embeddings, Measurement, Origin, Predictions, Split
from unseen.types.records import versions

Vectors = Embeddings | npt.NDArray[Any] | str | Path | None
"""Vectors, an array of them, an .npy file, or the name of an encoder."""

DEFAULT_ENCODER = "tfidf"


def load(source: Any, *, data_dir: str | Path | None = None, file: str | None = None, **columns: Any) -> Dataset:
    """Labelled texts from a table (a file or an object in memory), a known dataset, or the `sample`.

    `columns` are the parameters of `unseen.data.load_table`: `text`, `label`, `id`, `attributes`, `labels`,
    `drop`, `merge`, `longest`, `delimiter`, `encoding`, `name`. A file of that name comes before a known dataset.
    """
    if isinstance(source, str) and not Path(source).is_file():
        if source == "sample":
            _refuse("the sample corpus", columns | {"data_dir": data_dir, "file": file})
            return sample_corpus()
        if source in cards():
            return _with_doubts(load_card(source, data_dir, file, **columns), declared=True)
        if not Path(source).suffix and not Path(source).exists():
            raise UnknownNameError.of("file or known dataset", source, ["sample", *cards()])
    _refuse("a table of your own", {"data_dir": data_dir, "file": file})
    text = columns.get("text", "text")
    if text == columns.get("label", "label"):
        raise InputError(
            f"the texts and the labels cannot both be the column {text!r}",
            expected="one column with the texts, another with the labels",
            fix="text=… and label=…, each with its own column",
        )
    return _with_doubts(load_table(source, **columns), columns.get("labels") is not None)


def _with_doubts(data: Dataset, declared: bool) -> Dataset:
    """`data`; warns of labels that may not be the classes somebody meant."""
    for doubt in doubts(data.label_counts, declared):
        warnings.warn(f"{data.name}: {doubt}", UnseenWarning, stacklevel=3)
    return data


def encode(
    data: Dataset,
    using: Any = DEFAULT_ENCODER,
    *,
    reduce: str | None = None,
    seed: int = 42,
    partial: str | Path | None = None,
    **params: Any,
) -> Embeddings:
    """One vector per text; the order of rows decides nothing.

    `using` is an encoder's name, a transformer (folder or hub name) as it comes, a model folder of ours, or a
    classifier with a latent space of its own. `reduce` is pca or umap, to `dimensions` numbers (default 50).
    `partial` names a file in which encoding by a transformer goes on where it was interrupted.
    """
    dimensions = {"dimensions": params.pop("dimensions", DEFAULT_DIMENSIONS)} if reduce else {}
    encoder, step = encoder_of(using, seed, params)
    content = content_of_name(str(using)) if isinstance(using, str | Path) else {}
    key = f"{step} {content} {sorted(params.items())} {data.fingerprint} {__version__}"
    vectors = np.asarray(encode_resumably(encoder, data.texts_by_id(), partial, key), dtype=np.float32)
    if reduce is not None:
        vectors = reduced(vectors, reduce, **dimensions, seed=seed)
        params |= {"reduce": reduce} | dimensions
    if vectors.shape[:1] == (len(data),):
        vectors = vectors[np.argsort(data.by_id)]
    return Embeddings(data.ids, vectors, Origin(step, params, seed, {"dataset": data.fingerprint}, versions()))


def train(data: Dataset, model: Any = "minilm", *, dev: float | Dataset = 0.1, seed: int = 42, **params: Any) -> Any:
    """A classifier trained on `data` by a recipe: its name, a transformer's name or folder, or a Recipe object.

    `dev` is validation data, or the share of `data` that is set aside as such. `params` are the recipe's.
    """
    if not isinstance(dev, Dataset):
        drawn, _ = random_rows(data, "dev", dev, seed=seed)
        data, dev = data.take(np.flatnonzero(~drawn)), data.take(np.flatnonzero(drawn))
    return recipe_of(model, **params).fit(data, dev, seed)


def predict(data: Dataset, model: Any, **opening: Any) -> Predictions:
    """What a classifier says about every text; `opening` are the parameters of `unseen.models.open_model`."""
    return inference.predict(as_classifier(model, **opening), data)


def split(data: Dataset, method: Any = "closest", **request: Any) -> Split:
    """One split of `data`; the parameters are those of `folds`."""
    splits = folds(data, method, **request)
    if len(splits) > 1:
        raise InputError(
            f"{method!r} gives {len(splits)} splits", expected="one", fix="unseen.folds(…) returns all of them"
        )
    return splits[0]


def folds(
    data: Dataset,
    method: Any = "closest",
    *,
    using: Vectors = None,
    by: str | Path | None = None,
    groups: str | None = None,
    test: float | None = None,
    dev: float = 0,
    independent: float | npt.NDArray[np.bool_] = 0,
    seed: int = 42,
    name: str | None = None,
    positions: bool = False,
    **knobs: Any,
) -> list[Split]:
    """The splits of `data` by `method`: a name, `package.module:Class`, or a splitter object.

    `using` gives the vectors of methods that cut a latent space. `by` is the attribute that `time`,
    `attribute` and `predefined` read; for `predefined` it may be a file, in which `positions` makes numbers row
    positions even where they may be ids. `groups` names an attribute whose
    values stay on one side. `independent` is set aside first, `dev` comes from the training rows, both at
    random; they are shares of all rows, or numbers of rows; a mask names the very rows to set aside. `test` is
    a share of the rows that are not set aside, or a number of rows. `knobs` are the parameters of the splitter.
    """
    splitter, full_name = splitter_of(method, test, seed, knobs)
    if not isinstance(splitter, Splitter):
        raise InputError(f"{full_name!r} is not a splitter", expected="an object with split and get_n_splits")
    reads = getattr(splitter, "reads", "vectors" if using is not None else "nothing")
    X, embeddings = _read(data, reads, full_name, using, by, seed, positions)
    params = {
        "dev": dev,
        "independent": int(independent.sum()) if isinstance(independent, np.ndarray) else independent,
        "groups": groups,
        "by": by and Path(by).name,
        "positions": positions,
        "encoder": embeddings and embeddings.origin.step,
    }
    params = {key: value for key, value in params.items() if value} | settings_of(splitter)
    inputs = {} if embeddings is None else {"vectors": embeddings.fingerprint}
    step = full_name.partition(".v")[0].rpartition(":")[2]
    return split_records(
        splitter, data, X, groups=groups, dev=dev, independent=independent, seed=seed, name=name or step,
        step=full_name, params=params, inputs=inputs,
    )  # fmt: skip


def analyse(
    data: Dataset,
    split: Split,
    using: Vectors = None,
    *,
    metric: str = "cosine",
    words: analysis.Words | None = None,
    categories: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    neutral: str | None = None,
    english: Any = None,
) -> list[Measurement]:
    """Sizes, class mixes, with vectors the distance from test to training, and the properties; for any split.

    `words`, `categories`, `groups`, `neutral` and `english` are those of `unseen.analysis.properties`. A
    split without a training or a test part has sizes and mixes only.
    """
    rows = analysis.sizes_and_mixes(data, split)
    if using is not None:
        rows += analysis.distances(data, split, vectors_of(data, using), metric)
    if "test" in split.sizes and {"train", "dev"} & split.sizes.keys():
        rows += analysis.properties(
            data, split, words, categories=categories, groups=groups, neutral=neutral, english=english
        )
    return rows


def score(
    data: Dataset,
    predictions: Predictions | str | Path,
    split: Split | None = None,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    slices: Sequence[str] = (),
    groups: str | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """Metrics of anybody's predictions with 95 % intervals, by slice; with a split, for each part on its own.

    Parts for which no row has a prediction are left out; a part with some but not all of them is refused.
    """
    if not isinstance(predictions, Predictions):
        predictions = read_predictions(predictions, data)

    def measured(rows: npt.NDArray[np.intp], tags: dict[str, str]) -> list[Measurement]:
        return measure(data, predictions, rows, metrics, slices=slices, groups=groups, seed=seed, tags=tags)

    return by_part(data, split, [predictions], measured)


def score_by_schemes(
    data: Dataset,
    models: Mapping[str, Sequence[Predictions]],
    split: Split | None = None,
    *,
    exclude: Sequence[str] = (),
    mix: Mapping[str, float] | None = None,
    groups: str | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """F1 under every weighting scheme, weights, imbalance and influence; of several models, who wins by which.

    `models` are the predictions of each model, one or several trainings of it. `exclude` are labels that are not
    averaged, `mix` the shares of labels where the model will be used. What is measured: `evaluation.scheme_scores`.
    """
    weighting = None if mix is None else Weighting.of_mix(mix)

    def measured(rows: npt.NDArray[np.intp], tags: dict[str, str]) -> list[Measurement]:
        return scheme_scores(data, models, rows, exclude=exclude, mix=weighting, groups=groups, seed=seed, tags=tags)

    return by_part(data, split, [one for trainings in models.values() for one in trainings], measured)


def compare(
    data: Dataset,
    predictions: Predictions | str | Path,
    other: Predictions | str | Path,
    split: Split | None = None,
    *,
    metrics: Sequence[str] = DEFAULT_METRICS,
    slices: Sequence[str] = (),
    groups: str | None = None,
    seed: int = 42,
) -> list[Measurement]:
    """`difference.METRIC` of two models' predictions on the same rows: 95 % interval, and `p` among the tags.

    Positive means that `predictions` has the higher value. With a split, for each part that both predict.
    """
    first, second = (
        given if isinstance(given, Predictions) else read_predictions(given, data) for given in (predictions, other)
    )

    def compared(rows: npt.NDArray[np.intp], tags: dict[str, str]) -> list[Measurement]:
        return evaluation.compare(
            data, first, second, rows, metrics, slices=slices, groups=groups, seed=seed, tags=tags
        )

    return by_part(data, split, [first, second], compared)


def vectors_of(data: Dataset, using: Vectors, seed: int = 42) -> Embeddings:
    """`using` as the vectors of `data`; None is the default encoder."""
    if isinstance(using, Embeddings):
        if not using.ids.equals(data.ids):
            raise InputError("the vectors belong to other rows, or to these in another order", fix="encode this data")
        return using
    if isinstance(using, Path) or (isinstance(using, str) and using.endswith(".npy")):
        return read_embeddings(using, data)
    if using is None or isinstance(using, str):
        return encode(data, using or DEFAULT_ENCODER, seed=seed)
    return Embeddings(data.ids, np.asarray(using))


def _read(
    data: Dataset, reads: str, method: str, using: Vectors, by: str | Path | None, seed: int, positions: bool
) -> tuple[Any, Embeddings | None]:
    """What a splitter reads, and the vectors where that is what it reads."""
    if using is not None and reads != "vectors":
        raise InputError(f"vectors have no effect on the splitter {method!r}", fix="leave them out")
    if by is not None and reads != "column":
        raise InputError(f"by={str(by)!r} has no effect on the splitter {method!r}", fix="leave it out")
    if positions and (not method.startswith("predefined") or str(by) in data.attributes):
        raise InputError("positions=True has no effect without a split file", fix="leave it out")
    if reads == "vectors":
        embeddings = vectors_of(data, using, seed)
        return embeddings.vectors, embeddings
    if reads == "texts":
        return word_lengths(data), None
    if reads == "column":
        return _column(data, method, by, positions), None
    return None, None


def _column(data: Dataset, method: str, by: str | Path | None, positions: bool) -> Any:
    if by is None:
        raise InputError(f"the splitter {method!r} reads an attribute", fix="name it: by=… (--by on the command line)")
    if method.startswith("predefined") and str(by) not in data.attributes:
        if Path(by).is_file() and (kind := foreign_format(Path(by))):
            raise InputError(f"{by} cannot be read as a split", expected="ids and parts: CSV, TSV or JSON", got=kind)
        return read_parts(by, data, positions)
    values = data.attribute(str(by))
    is_number = pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    if pa.types.is_temporal(values.type) or (is_number and not method.startswith("attribute")):
        return values.to_numpy()
    return values.to_pylist()


def _refuse(what: str, params: Mapping[str, Any]) -> None:
    useless = [name for name, value in params.items() if value is not None]
    if useless:
        raise InputError(f"{', '.join(useless)} has no effect on {what}", fix="leave it out")
