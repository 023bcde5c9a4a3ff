"""`unseen audit invariance`: whether a property of texts survives a transformation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.data_options import takes_data
from unseen.cli.frame import makes_run
from unseen.cli.options import ExampleTexts, Groups, KeyEnv, Set, Trust, listed, named_places, parameters


@takes_data
@makes_run(workers=1)
def invariance(
    data: Any,
    frame: Any,
    property: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the property that must not change.")],
    transformed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="The transformed texts: a file such as DATA, or a column of DATA; NAME=…; may be repeated.",
        ),
    ] = None,
    transform: Annotated[
        list[str] | None,
        typer.Option(metavar="PLACE", help="module:function of a list of texts, with --trust; may be repeated."),
    ] = None,
    perturbations: Annotated[
        str | None, typer.Option("--with", help="Perturbations, 'lower,swap'; 'unseen data suite ls perturbations'.")
    ] = None,
    model: Annotated[
        str, typer.Option(help="With --train, a recipe; else a model folder, pipeline, module:function, or a URL.")
    ] = "char-ngrams",
    train: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Labelled texts from which the classifier learns the property.")
    ] = None,
    model_transformed: Annotated[
        str | None, typer.Option(help="Another model for the transformed texts, as of another language.")
    ] = None,
    train_transformed: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What a second classifier, for the transformed texts, learns from."),
    ] = None,
    folds: Annotated[int, typer.Option(help="Folds without which classifiers are trained again; 0: none.")] = 5,
    margin: Annotated[
        float, typer.Option(help="How far macro F1 of two classifiers may differ on held-out texts.")
    ] = 0.05,
    trial: Annotated[
        str, typer.Option(help="What is on trial: transformation, or model where the transformation keeps the meaning.")
    ] = "transformation",
    groups: Groups = None,
    texts: ExampleTexts = False,
    trust: Trust = False,
    key_env: KeyEnv = None,
    settings: Set = None,
    loading: Any = None,
) -> Any:
    """Say whether a property of texts survives a transformation: distributions, flips above their floor, whose bias.

    Example: unseen audit invariance posts.csv --property label --with lower --train others.csv -o survives
    """
    from unseen.api import load
    from unseen.functional.transformations import column_texts, function_texts, read_transformed
    from unseen.models import kind_of
    from unseen.runs.invariance import invariance as judged

    columns = {"text": loading.get("text", "text"), "label": property, "labels": list(data.label_names)}
    learnt = [None if file is None else load(file, **columns) for file in (train, train_transformed)]
    given: dict[str, Any] = {}
    for name, place in named_places(transformed or (), "transformations").items():
        is_file = Path(place).is_file()
        given[name] = (
            read_transformed(place, data, columns["text"], loading.get("id")) if is_file
            else column_texts(data, place)
        )  # fmt: skip
    given |= {place: function_texts(data, place, trust=trust) for place in transform or ()}
    brings_code = train is None and (not transform or kind_of(model) in ("hugging-face", "scikit-learn"))
    return judged(
        data, transformed=given, perturbations=listed(perturbations or ""), model=model, train=learnt[0],
        params=parameters(settings, trust=trust and brings_code, key_env=key_env),
        model_transformed=model_transformed, train_transformed=learnt[1], folds=folds, margin=margin, trial=trial,
        groups=groups, texts=texts, **frame,
    )  # fmt: skip
