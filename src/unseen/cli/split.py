"""`unseen split`: make, describe, repair and export splits."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import print_table, printable, say
from unseen.cli.data_options import ROLES, takes_data
from unseen.cli.frame import Reply, gives_reply
from unseen.cli.listing import listing
from unseen.cli.options import (
    check_target,
    class_mix,
    json_or_text,
    listed,
    needed_split,
    numbers_of_clusters,
    only_given,
    size,
    split_of,
    vectors_source,
)
from unseen.errors import InputError, UnknownNameError

app = typer.Typer(help="Make, describe, repair and export splits.", no_args_is_help=True)


OWN_OPTIONS = {
    "using": "--vectors or --encoder",
    "test_size": "--test",
    "random_state": "--seed",
    "name": "-o",
} | {name: f"--{name}" for name in ("by", "groups", "test", "dev", "independent", "seed")}
"""Parameters that --set cannot give, and the options that can."""
FORMS = ("indices", "hf", "hub")


@app.command()
@takes_data
@gives_reply
def make(
    data: Any,
    method: Annotated[str, typer.Option("--with", help="Splitter; 'unseen split ls' lists them.")] = "closest",
    vectors: options.Vectors = None,
    encoder: options.Encoder = None,
    test: options.PartForTest = None,
    dev: Annotated[
        str | None, typer.Option(metavar="SHARE", help="Part for dev, drawn at random: a share, or rows.")
    ] = None,
    independent: Annotated[str | None, typer.Option(help="Rows to set aside first, drawn at random.")] = None,
    groups: options.Groups = None,
    by: Annotated[str | None, typer.Option(help="Column that time, attribute or predefined reads, or a file.")] = None,
    values: Annotated[str | None, typer.Option(help="Values that attribute holds out, 'a,b'.")] = None,
    clusters: options.Clusters = None,
    difficulty: Annotated[float | None, typer.Option(help="0 (random) to 1 (hardest), for difficulty.")] = None,
    deployment: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Vectors (.npy) of texts that the model will meet.")
    ] = None,
    folds: Annotated[int | None, typer.Option(help="Number of folds, for hard-kfold.")] = None,
    mix: options.Mix = None,
    settings: options.Set = None,
    seed: options.Seed = 42,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File. (default: DATA-SPLITTER.csv)")] = None,
) -> Reply:
    """Make a split: a hard test part of the asked size and class mix, with a certificate.

    Example: unseen split make posts.csv --text text --label label --with closest --test 0.1 -o hard.csv
    """
    from unseen import api
    from unseen.store import write_split
    from unseen.store.splits import description

    using = vectors_source(vectors, encoder)
    out = out or Path(re.sub("[/:]", "-", f"{data.name}-{method}") + ".csv")
    check_target(out, ".csv")
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

    def show() -> None:
        for split, path in zip(made, paths, strict=True):
            print_split(data, split)
            say(f"written: {path} and {path.with_suffix('.json').name}\n")

    content = [description(split) | {"file": path} for split, path in zip(made, paths, strict=True)]
    return Reply(content[0] if len(content) == 1 else content, show)


def print_split(data: Any, split: Any) -> None:
    """Sizes, classes and certificate of a split, for people."""
    from unseen.types.numbers import percent

    certificate = split.certificate
    sizes = ", ".join(f"{part} {count:,}" for part, count in split.sizes.items())
    say(f"{printable(split.name)}: {sizes}")
    counts = {part: data.take(split.rows(part)).label_counts for part in split.sizes}
    lines = [["label", *counts, "test asked"]]
    for name in data.label_names:
        shares = [f"{own[name]:,} ({percent(own[name] / max(1, sum(own.values())))})" for own in counts.values()]
        lines.append([name, *shares, f"{certificate.asked[name]:,}" if name in certificate.asked else "-"])
    print_table(lines, numbers_from=1)
    if certificate.n_clusters:
        singly = percent(certificate.completed_share)
        say(f"clusters: {certificate.n_clusters}; added one by one: {singly} of the test part")
    proven = ", proven to be the least possible" if certificate.optimal else ""
    if certificate.optimal is False and certificate.missed > (certificate.missed_at_least or 0):
        proven = f", at least {certificate.missed_at_least} for any choice"
    missed = f"size and class mix missed by {certificate.missed:,} rows{proven}"
    say(missed if certificate.missed else "size and class mix are exactly as asked")
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
    from unseen.store.embeddings import read_array

    knobs: dict[str, Any] = {
        "values": values and listed(values),
        "n_clusters": clusters and numbers_of_clusters(clusters),
        "difficulty": difficulty,
        "deployment": None if deployment is None else read_array(deployment),
        "n_splits": folds,
        "mix": mix and class_mix(mix),
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
    return only_given(**knobs)


@app.command()
@takes_data
@gives_reply
def describe(
    data: Any,
    split: options.Split = None,
    parts: options.Parts = None,
    vectors: options.Vectors = None,
    encoder: options.Encoder = None,
    distance: options.Distance = "cosine",
    category: Annotated[
        list[str] | None, typer.Option(help="An attribute (-a) to take as a category; may be repeated.")
    ] = None,
    groups: options.Groups = None,
    neutral: options.Neutral = None,
    english: Annotated[Path | None, typer.Option(help="English words, one per line, for the rare words.")] = None,
) -> Reply:
    """Describe a split: sizes, class mix, how far test is from training, words, and the attributes of -a.

    Example: unseen split describe posts.csv --split hard.csv --text text --label label --vectors vectors.npy -a source
    """
    from unseen import api

    using = vectors_source(vectors, encoder)
    parted = needed_split(data, split, parts)
    measured = api.analyse(
        data,
        parted,
        using or api.DEFAULT_ENCODER,
        metric=distance,
        categories=category or None,
        groups=None if groups is None else [groups],
        neutral=neutral,
        english=english,
    )

    def show() -> None:
        from unseen.types.numbers import number, scored

        print_split(data, parted)
        for row in measured:
            if row.metric.startswith("nearest") and row.value is not None:
                say(f"{row.metric}: {scored(row, partial(number, places=4))} (n = {row.n:,})")
        _print_properties(measured)

    return Reply(measured, show)


def _print_properties(measured: Sequence[Any]) -> None:
    """One line per property: its value on each side, and the interval of that of the test part."""
    own = [row for row in measured if row.metric not in ("rows", "label_share") and not row.metric.startswith("near")]
    shown: dict[str, dict[str, Any]] = {}
    for row in own:
        if row.metric != "train_share" or row.value < 0.5:
            name = row.metric if row.slice == "all" else f"{row.metric}[{row.slice}]"
            shown.setdefault(name, {})[row.tags["part"]] = row
    lines = [["property", "train", "test", "95 % interval"]]
    lines += [[name, _figure(sides.get("train")), *_with_interval(sides["test"])] for name, sides in shown.items()]
    if len(lines) > 1:
        say("")
        print_table(lines, numbers_from=1)


def _with_interval(row: Any) -> tuple[str, str]:
    from unseen.types.numbers import bounds, thousandths

    return _figure(row), bounds(row, thousandths)


def _figure(row: Any) -> str:
    from unseen.types.numbers import thousandths

    if row is not None and row.value is not None and row.metric.startswith("under_represented."):
        return f"{row.value:.0f} of {row.n}"
    return "" if row is None else thousandths(row.value)


@app.command()
@takes_data
@gives_reply
def repair(
    data: Any,
    typed: str,
    split: options.Split = None,
    parts: options.Parts = None,
    reviews: options.Reviews = None,
    grouped_by: Annotated[
        list[str] | None,
        typer.Option("--groups", metavar="COLUMN", help="Column(s) whose values stay on one side: a or a,b."),
    ] = None,
    together: Annotated[
        str | None, typer.Option(help="Copies that stay on one side, none taken out: exact, normalised, near.")
    ] = None,
    dedupe: Annotated[str | None, typer.Option(help="Copies of which one stays: exact, normalised, near.")] = None,
    keep: Annotated[
        str | None,
        typer.Option(help="Side that keeps its rows, train or test; for --dedupe, --minimal. (default: test)"),
    ] = None,
    conflicts: Annotated[
        str | None, typer.Option(help="Same text, other label: drop, relabel (by majority), keep. (default: keep)")
    ] = None,
    cap: options.Cap = None,
    cap_by: options.CapBy = None,
    cap_parts: Annotated[
        str | None, typer.Option(help="train or all. (default: train; all when the parts are drawn anew)")
    ] = None,
    minimal: Annotated[
        str | None, typer.Option(help="Keep the given split; move or drop what is on both sides.")
    ] = None,
    test: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="New test part: a share, or rows. (default: as in --split, else 0.2)"),
    ] = None,
    seed: options.Seed = 42,
    roles: Any = tuple(ROLES),
    out: Annotated[Path, typer.Option("-o", "--out", help="File.")] = Path("fixed.csv"),
) -> Reply:
    """Repair a split: apply reviews, settle conflicts, drop copies, part groups, cap crowds; every change is written.

    It ends with the audit of its result: exit code 1 when that still finds a leak, or what should be gone.

    Example: unseen split repair posts.csv --groups user --dedupe near --conflicts drop --test 0.2 -o fixed.csv
    """
    from unseen.audits.reviewed_labels import reviews_of
    from unseen.repairs import repair as repaired
    from unseen.repairs import write_repaired
    from unseen.store.splits import description

    _check_targets(out)
    made = repaired(
        data,
        split_of(data, split, parts),
        reviews=reviews_of(reviews or (), data),
        groups=[name for names in grouped_by or () for name in listed(names)],
        together=together,
        dedupe=dedupe,
        keep=keep,
        conflicts=conflicts,
        cap=cap,
        cap_by=cap_by,
        cap_parts=cap_parts,
        minimal=minimal,
        test=None if test is None else size(test, "--test"),
        seed=seed,
        columns=roles,
        name=out.stem,
        typed=(typed, _with_repaired(typed, split, parts, out)),
    )
    replaced = out.exists()
    written = write_repaired(made, out)
    audits = {when: getattr(made, when) for when in ("before", "after", "remaining", "worse")}
    content = description(made.split) | {"changes": made.counts, "files": written} | audits
    return Reply(content, lambda: _print_repaired(made, written, replaced), passed=not made.remaining)


def _with_repaired(typed: str, split: str | None, parts: str | None, out: Path) -> str:
    """What was typed for the data, with the split that is written in place of the one that is repaired."""
    before = [word for option, value in (("--split", split), ("--parts", parts)) if value for word in (option, value)]
    repaired = shlex.join(["--split", str(out)])
    return typed.replace(shlex.join(before), repaired) if before else f"{typed} {repaired}"


def _check_targets(out: Path) -> None:
    """Refuse to replace what is not ours: files beside a split of ours are."""
    from unseen.repairs.procedure import targets

    check_target(out, ".csv")
    for path in targets(out).values():
        if path.exists() and not out.exists():
            raise InputError(f"{path} would be overwritten", fix="give -o another name, or move that file away")


def _print_repaired(made: Any, written: dict[str, Path], replaced: bool) -> None:
    print_split(made.data, made.split)
    say("")
    print_table(_changes(made), numbers_from=4)
    say("")
    print_table(_audit(made))
    before = {finding.check: finding.level for finding in made.before}
    for finding in made.worse:
        change = f"{before[finding.check]}, now {finding.level}"
        say(f"note: {finding.check} is worse than before ({change}): {printable(finding.message)}")
    for finding in made.remaining:
        advice = f" {printable(finding.advice)}" if finding.advice else ""
        say(f"still there: {printable(finding.message)}{advice}")
    over = ", in place of older ones" if replaced else ""
    say(f"\nwritten: {', '.join(str(path) for path in written.values())}{over}")
    if "data" in written:
        labels = shlex.quote(printable(",".join(made.data.label_names)))
        say(f"Labels were changed, so the split belongs to {written['data']}, which holds the texts; load it with")
        say(f"  --id id --labels {labels}")


def _changes(made: Any) -> list[list[str]]:
    """Counts of changes by what was done, where and why."""
    from collections import Counter

    counts = Counter((change.action, change.before, change.after, change.reason) for change in made.changes)
    lines = [
        [action, before or "-", after, why, f"{n:,}"] for (action, before, after, why), n in sorted(counts.items())
    ]
    return [["change", "from", "to", "why", "rows"], *(lines or [["none", "", "", "", "0"]])]


def _audit(made: Any) -> list[list[str]]:
    """One line per check: level and count before and after."""
    before = {finding.check: finding for finding in made.before}
    lines = [["check", "before", "after"]]
    for finding in made.after:
        if finding.level != "skipped" or before.get(finding.check, finding).level != "skipped":
            lines.append([finding.check, _level(before.get(finding.check)), _level(finding)])
    return lines


def _level(finding: Any) -> str:
    """The level, with the count of what is wrong."""
    if finding is None:
        return "-"
    return (
        f"{finding.level} ({finding.count:,})" if finding.level in ("warn", "fail") and finding.count else finding.level
    )


@app.command()
@takes_data
@gives_reply
def export(
    data: Any,
    form: Annotated[
        str,
        typer.Option(
            "--format", help="indices (one .npy per part), hf (a DatasetDict, with texts) or hub (a dataset folder)."
        ),
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="Folder to write to; must not exist, or be empty.")],
    split: options.Splits = None,
    parts: options.Parts = None,
    texts: Annotated[
        bool, typer.Option("--texts", help="Of the form hub: texts and all columns, not ids alone.")
    ] = False,
    quiet: options.Quiet = False,
) -> Reply:
    """Export a split as index arrays or a Hugging Face DatasetDict, or splits as configurations of a dataset folder.

    In the form hub, rows are named by their id, so that the folder may be public where the texts may not.

    Example: unseen split export posts.csv --split hard.csv --text text --label label --format hf -o hard-dataset/
    """
    from unseen.store.foreign_splits import write_hub_dataset

    if form not in FORMS:
        raise UnknownNameError.of("form", form, FORMS)
    if form != "hub" and (texts or len(split or ()) > 1):
        raise InputError(f"--texts and several splits have no effect on --format {form}", fix="--format hub")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists already", fix="name another folder")
    files: list[str | None] = [*split] if split else [None]
    parted = [needed_split(data, file, parts) for file in files]
    with _whole(out) as folder:
        if form == "hub":
            write_hub_dataset(data, {one.name: one for one in parted}, folder, texts)
        else:
            _write(data, parted[0], form, folder, quiet)
    lines = []
    for one in parted:
        name = f"{out} {one.name}" if form == "hub" else str(out)
        lines.append(f"{name}: " + ", ".join(f"{part} {count:,}" for part, count in one.sizes.items()))
    sizes = {one.name: one.sizes for one in parted} if form == "hub" else parted[0].sizes
    return Reply({"folder": out, "form": form, "sizes": sizes}, "\n".join(lines))


def _write(data: Any, split: Any, form: str, folder: Path, quiet: bool) -> None:
    import numpy as np

    from unseen.store import to_dataset_dict, to_indices

    if form == "hf":
        if quiet:
            with suppress(ImportError):  # to_dataset_dict says what is missing
                from datasets import disable_progress_bars

                disable_progress_bars()
        to_dataset_dict(data, split).save_to_disk(str(folder))
        return
    for part, rows in to_indices(split.of(data)).items():
        np.save(folder / f"{part}.npy", rows)


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """A temporary folder that becomes `folder` when the block ends without an error."""
    import secrets

    folder = folder.absolute()
    temporary = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.part")
    try:
        temporary.mkdir(parents=True)
    except OSError as cause:
        raise InputError(f"cannot write {folder}: {cause.strerror}", fix="name a folder you may write to") from cause
    try:
        yield temporary
        temporary.replace(folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


app.command("ls")(listing("split", "splitters"))
