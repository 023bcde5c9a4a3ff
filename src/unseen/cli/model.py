"""`unseen model`: train, ask, encode, score, and what models cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import cost, metrics, options
from unseen.cli.console import measured_cells, print_table, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, gives_reply
from unseen.cli.listing import listing
from unseen.cli.options import (
    check_measurements,
    check_target,
    class_mix,
    name_and_place,
    only_given,
    pairs,
    parameters,
    split_of,
)
from unseen.errors import InputError, UnknownNameError

app = typer.Typer(
    help="Train a model, ask it, encode texts, score predictions; what do models cost?", no_args_is_help=True
)
NO_INTERVAL = {
    "few_groups": "the groups are worth only {} of equal size, too few to tell how groups differ",
    "few_rows": "the rarest label has only {:,} rows, too few in an average over so many labels",
    "no_spread": "rows drawn again all give the same score",
}
"""What tags of `unseen.evaluation.intervals` mean."""


@app.command()
@takes_data
@gives_reply
def train(
    data: Any,
    model: options.Model = "minilm",
    bottleneck: options.Bottleneck = None,
    settings: options.Set = None,
    trust: options.Trust = False,
    dev: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the rows for dev: settings are chosen there.")
    ] = 0.1,
    seed: options.Seed = 42,
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder for the model.")] = Path("model"),
) -> Reply:
    """Train a classifier and write it to a folder.

    Example: unseen model train posts.csv --text text --label label --model logistic -o model
    """
    from unseen import api
    from unseen.cli.options import check_folder
    from unseen.splits.quotas import rows_asked

    check_folder(out)
    params = parameters(settings, bottleneck=bottleneck, trust=trust)
    classifier = api.train(data, model, dev=dev, seed=seed, **params)
    if not hasattr(classifier, "save"):
        raise InputError(f"a classifier of {model} cannot be written to a folder", fix="keep it in its own format")
    classifier.save(out)
    aside = rows_asked(dev, len(data), "dev")
    learnt = f"trained on {len(data) - aside:,} texts, its settings chosen on {aside:,} others (--dev)"
    return Reply(
        {"folder": out, "model": model, "labels": classifier.classes_, "seed": seed},
        f"{out}: {model} for {', '.join(classifier.classes_)}, {learnt}; scores on these texts would flatter it",
    )


@app.command()
@takes_data
@gives_reply
def predict(
    data: Any,
    model: Annotated[
        str,
        typer.Option(
            help="A model folder, a Hugging Face folder or hub name, a pipeline file, module:function, a URL."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="File: .csv or .parquet.")] = Path("predictions.csv"),
    trust: options.Trust = False,
    key_env: options.KeyEnv = None,
    settings: options.Set = None,
) -> Reply:
    """Ask a model for the probabilities of every text; `unseen model score` measures them.

    Example: unseen model predict posts.csv --text text --label label --model model -o predictions.csv
    """
    from unseen import api
    from unseen.store import write_predictions

    if out.suffix not in (".csv", ".parquet"):
        raise InputError(f"{out} ends in neither .csv nor .parquet", fix=f"-o {out.with_suffix('.csv')}")
    given = parameters(settings, trust=trust, key_env=key_env)
    predictions = api.predict(data, model, **given)
    write_predictions(predictions, out)
    return Reply(
        {"file": out, "rows": len(predictions.ids), "labels": predictions.label_names},
        f"{out}: predictions for {len(predictions.ids):,} texts",
    )


@app.command()
@takes_data
@gives_reply
def score(
    data: Any,
    predictions: Annotated[
        Path, typer.Argument(help="CSV or Parquet: id and a probability per label, or a prediction.")
    ],
    split: options.Split = None,
    metric: options.Metrics = None,
    slice_by: options.Slice = None,
    groups: options.Groups = None,
    exclude: options.Exclude = None,
    mix: options.Mix = None,
    schemes: Annotated[
        bool, typer.Option("--schemes", help="F1 under every weighting of the labels: scores, weights, influence.")
    ] = False,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]FILE",
            help="Predictions of another model: differences on the same rows, with p; may be repeated, "
            "files of one name are trainings of one model.",
        ),
    ] = None,
    rename: options.Map = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the measurements (.csv).")] = None,
    seed: options.Seed = 42,
) -> Reply:
    """Score predictions of any model: metrics with 95 % intervals, by part and by slice.

    Example: unseen model score posts.csv predictions.csv --text text --label label --split hard.csv -m f1.macro
    """
    from unseen import api
    from unseen.cli.scheme_tables import print_schemes
    from unseen.evaluation import DEFAULT_METRICS
    from unseen.evaluation.metrics import without
    from unseen.evaluation.weighting import Weighting
    from unseen.store import read_predictions, write_measurements

    check_measurements(out)
    parted, shares = split_of(data, split), _mix_of(mix, data)
    metrics = [without(name, exclude or []) for name in metric or DEFAULT_METRICS]
    metrics += [] if shares is None else [f"{score}.{Weighting.of_mix(shares)}" for score in ("recall", "f1")]
    options: dict[str, Any] = {"metrics": metrics, "slices": slice_by or [], "groups": groups, "seed": seed}
    files = _named(str(predictions), compare or [])
    read = [(name, read_predictions(path, data, pairs(rename, "--map"))) for name, path in files]
    (own, answers), *others = read
    rows = api.score(data, answers, parted, **options)
    differences: dict[str, list[Any]] = {}
    for (name, other), (_, path) in zip(others, files[1:], strict=True):
        if name != own:
            compared = api.compare(data, answers, other, parted, **options)
            than = {"than": path} if len(others) > 1 else {}
            differences[path] = [replace(row, tags={**row.tags, **than}) for row in compared]
    by_scheme: list[Any] = []
    if schemes:
        models = {name: [one for owner, one in read if owner == name] for name, _ in read}
        given: dict[str, Any] = {"exclude": exclude or [], "mix": shares, "groups": groups, "seed": seed}
        by_scheme = api.score_by_schemes(data, models, parted, **given)
    everything = [*rows, *(row for some in differences.values() for row in some), *by_scheme]
    if out is not None:
        write_measurements(everything, out)

    def show() -> None:
        from unseen.types.numbers import number

        print_table([["part", "slice", "metric", "value", "95 % interval", "n"], *map(_cells, rows)], numbers_from=3)
        for path, compared in differences.items():
            say()
            head = ["part", "slice", f"less {path}", "value", "95 % interval", "n", "p"]
            lines = [[*_cells(row), number(row.tags.get("p"), 4)] for row in compared]
            print_table([head, *lines], numbers_from=3)
        print_schemes(by_scheme)
        for line in _without_interval(everything):
            say(line)

    remarks = [] if out is None else [f"note: written: {out}"]
    return Reply(everything, show, remarks)


def _named(predictions: str, compare: Sequence[str]) -> list[tuple[str, str]]:
    """The files with the names of their models; only files that were given one name are of one model."""
    files = [(Path(predictions).stem, predictions)]
    for typed in compare:
        name, place = name_and_place(typed)
        taken = any(name == other for other, _ in files)
        files.append((place if taken and place == typed else name, place))
    return files


def _mix_of(typed: str | None, data: Any) -> Any:
    """The share of each label, where a mix was typed."""
    if typed is None:
        return None
    shares = class_mix(typed)
    if shares == "balanced":
        return {name: 1 / len(data.label_names) for name in data.label_names}
    if isinstance(shares, str):
        raise UnknownNameError.of("mix", shares, ["balanced"], fix="or give a share per label, or a file")
    return shares


def _without_interval(rows: Sequence[Any]) -> Iterator[str]:
    """Why some have no interval, a line for each reason."""
    for tag, reason in NO_INTERVAL.items():
        refused = [row for row in rows if tag in row.tags]
        if refused:
            metrics = ", ".join(dict.fromkeys(row.metric for row in refused))
            yield f"no interval for {metrics}: {reason.format(min(row.tags[tag] for row in refused))}"


def _cells(row: Any) -> list[str]:
    return [str(row.tags.get("part", "all")), row.slice, row.metric, *measured_cells(row, 4)]


@app.command()
@takes_data
@gives_reply
def encode(
    data: Any,
    encoder: Annotated[
        str, typer.Option(help="An encoder ('unseen model ls'), a model folder, a transformer's folder or hub name.")
    ] = "tfidf",
    out: Annotated[Path, typer.Option("-o", "--out", help="File for the vectors.")] = Path("vectors.npy"),
    pooling: options.Pooling = None,
    layer: options.Layer = None,
    reduce: Annotated[str | None, typer.Option(help="pca or umap, to --dimensions numbers.")] = None,
    dimensions: Annotated[int | None, typer.Option(help="Numbers per vector. (default: the encoder's; 50)")] = None,
    trust: options.Trust = False,
    seed: options.Seed = 42,
) -> Reply:
    """Turn texts into vectors. Interrupted and started again, a transformer goes on where it stopped.

    Example: unseen model encode posts.csv --text text --label label --encoder tfidf -o vectors.npy
    """
    from unseen import api
    from unseen.representations.partial_vectors import forget
    from unseen.store import write_embeddings

    check_target(out, ".npy")
    params = only_given(dimensions=dimensions, pooling=pooling, layer=layer, trust=trust or None)
    partial = out.with_name(f".{out.stem}.partial.npy")
    vectors = api.encode(data, encoder, reduce=reduce, seed=seed, partial=partial, **params)
    write_embeddings(vectors, out, data)
    forget(partial)
    rows, width = vectors.vectors.shape
    return Reply(
        {"file": out, "rows": rows, "dimensions": width, "encoder": vectors.origin.step},
        f"{out}: {rows:,} vectors of {width} numbers by {vectors.origin.step}",
    )


app.command()(cost.cost)
app.command("ls")(listing("model", "recipes", "encoders", "metrics", "explainers"))
app.add_typer(metrics.app, name="metrics")
