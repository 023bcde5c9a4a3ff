"""`unseen split make`: a split as a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli.console import notes, print_json, print_table, printable, progress, say
from unseen.cli.data_options import takes_data
from unseen.cli.options import (
    Clusters,
    Encoder,
    Groups,
    Json,
    PartForTest,
    Quiet,
    Seed,
    Set,
    Vectors,
    any_number,
    json_or_text,
    listed,
    numbers_of_clusters,
    size,
    vectors_source,
)
from unseen.cli.target import check_target
from unseen.errors import InputError

OWN_OPTIONS = {
    "using": "--vectors or --encoder",
    "test_size": "--test",
    "random_state": "--seed",
    "name": "-o",
} | {name: f"--{name}" for name in ("by", "groups", "test", "dev", "independent", "seed")}
"""Parameters that --set cannot give, and the options that can."""


@takes_data
def make(
    data: Any,
    method: Annotated[str, typer.Option("--with", help="Splitter; 'unseen split ls' lists them.")] = "closest",
    vectors: Vectors = None,
    encoder: Encoder = None,
    test: PartForTest = None,
    dev: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Part for dev, drawn at random: a share, or rows.")
    ] = None,
    independent: Annotated[str | None, typer.Option(help="Rows to set aside first, drawn at random.")] = None,
    groups: Groups = None,
    by: Annotated[str | None, typer.Option(help="Column that time, attribute or predefined reads, or a file.")] = None,
    values: Annotated[str | None, typer.Option(help="Values that attribute holds out, 'a,b'.")] = None,
    clusters: Clusters = None,
    difficulty: Annotated[float | None, typer.Option(help="0 (random) to 1 (hardest), for difficulty.")] = None,
    deployment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Vectors (.npy) of texts that the model will meet.")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Number of folds, for hard-kfold.")] = None,
    mix: Annotated[str | None, typer.Option(help="Class mix of the test part: 'balanced' or 'a=0.5,b=0.5'.")] = None,
    settings: Set = None,
    seed: Seed = 42,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File. (default: DATA-SPLITTER.csv)")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Make a split: a hard test part of the asked size and class mix, with a certificate.

    Example: unseen split make posts.csv --text text --label label --with closest --test 0.1 -o hard.csv
    """
    from unseen import api
    from unseen.store import write_split

    using = vectors_source(vectors, encoder)
    out = out or Path(re.sub("[/:]", "-", f"{data.name}-{method}") + ".csv")
    check_target(out, ".csv")
    with notes(quiet), progress(quiet):
        made = api.folds(
            data,
            method,
            using=using,
            by=by,
            groups=groups,
            test=None if test is None else size(test, "--test"),
            dev=0 if dev is None else size(dev, "--dev"),
            independent=0 if independent is None else size(independent, "--independent"),
            seed=seed,
            **_knobs(values, clusters, difficulty, deployment, folds, mix, settings or []),
        )
        paths = [out] if len(made) == 1 else [out.with_stem(f"{out.stem}-{i}") for i in range(1, len(made) + 1)]
        for path in paths:
            check_target(path, ".csv")
        for split, path in zip(made, paths, strict=True):
            write_split(split, path)
    _show(data, made, paths, as_json)


def _show(data: Any, made: list[Any], paths: list[Path], as_json: bool) -> None:
    from unseen.store.splits import description

    if as_json:
        content = [description(split) | {"file": path} for split, path in zip(made, paths, strict=True)]
        print_json(content[0] if len(content) == 1 else content)
        return
    for split, path in zip(made, paths, strict=True):
        print_split(data, split)
        say(f"written: {path} and {path.with_suffix('.json').name}\n")


def print_split(data: Any, split: Any) -> None:
    """Sizes, classes and certificate of a split, for people."""
    certificate = split.certificate
    sizes = ", ".join(f"{part} {count:,}" for part, count in split.sizes.items())
    say(f"{printable(split.name)}: {sizes}")
    counts = {part: data.take(split.rows(part)).label_counts for part in split.sizes}
    lines = [["label", *counts, "test asked"]]
    for name in data.label_names:
        shares = [f"{own[name]:,} ({own[name] / max(1, sum(own.values())):.1%})" for own in counts.values()]
        lines.append([name, *shares, f"{certificate.asked[name]:,}" if name in certificate.asked else "-"])
    print_table(lines, numbers_from=1)
    if certificate.n_clusters:
        say(f"clusters: {certificate.n_clusters}; added one by one: {certificate.completed_share:.1%} of the test part")
    proven = ", proven to be the least possible" if certificate.optimal else ""
    if certificate.optimal is False and certificate.missed > (certificate.missed_at_least or 0):
        proven = f", at least {certificate.missed_at_least} for any choice"
    say(f"size and mix missed by {certificate.missed} rows{proven}")
    if certificate.groups:
        say(
            "groups: {count:,} by {attribute}, the largest has {largest:,} rows, {on_both_sides} on both sides".format(
                **certificate.groups
            )
        )
    for note in certificate.notes:
        say(f"note: {printable(note)}")


def _knobs(
    values: str | None, clusters: str | None, difficulty: float | None, deployment: Path | None,
    folds: int | None, mix: str | None, others: list[str],
) -> dict[str, Any]:  # fmt: skip
    """Parameters of the splitter from the options that were given."""
    knobs: dict[str, Any] = {
        "values": values and listed(values),
        "n_clusters": clusters and numbers_of_clusters(clusters),
        "difficulty": difficulty,
        "deployment": None if deployment is None else _array(deployment),
        "n_splits": folds,
        "mix": mix and _mix(mix),
    }
    for other in others:
        name, middle, value = other.partition("=")
        if not middle:
            raise InputError("--set takes name=value", got=repr(other))
        name = name.strip()
        if name in OWN_OPTIONS:
            raise InputError(f"--set does not take {name}", got=repr(other), fix=f"use {OWN_OPTIONS[name]}")
        if knobs.get(name) is not None:
            raise InputError(f"{name} is given twice", got=repr(other), fix="leave one of them out")
        knobs[name] = json_or_text(value)
    return {name: value for name, value in knobs.items() if value is not None}


def _mix(text: str) -> str | dict[str, float]:
    if "=" not in text:
        return text
    pairs = [pair.partition("=") for pair in text.split(",")]
    return {
        name.strip(): float(any_number(share, "--mix", "a share per label, 'a=0.5,b=0.5'")) for name, _, share in pairs
    }


def _array(path: Path) -> Any:
    import numpy as np

    from unseen.errors import VectorsError

    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as cause:
        raise VectorsError(f"cannot read vectors from {path}: {cause.strerror or cause}") from cause
    except (ValueError, EOFError) as cause:
        raise VectorsError(f"{path} is not an NPY file of numbers", expected="what numpy.save writes") from cause
