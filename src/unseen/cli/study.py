"""`unseen study`: many trainings, described in a file or by a list of datasets."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import print_json, rough_duration
from unseen.cli.frame import Reply, makes_run
from unseen.cli.options import named_places, only_given, parameters, whole_numbers
from unseen.errors import InputError

app = typer.Typer(
    help="Grids of experiments, benchmarks, transfer between datasets, pretraining, and scores nobody has measured.",
    no_args_is_help=True,
)


READING = "pretraining."
"""Before settings of masked-LM training."""
File = Annotated[Path, typer.Argument(help="Study file (TOML).", metavar="STUDY")]


def described_study(plan: Any) -> str:
    """A plan in a few lines."""
    kinds = ", ".join(f"{count} × {kind}" for kind, count in plan.steps.items())
    total = sum(plan.steps.values())
    text = f"{total} steps ({kinds}); {plan.done} are there already.\n"
    text += f"{plan.trainings} trainings, {plan.trainings_done} done."
    if plan.seconds is None:
        return text
    return (
        f"{text} {plan.texts:,} texts to train on: about {rough_duration(plan.seconds)} one after the "
        "other, at the speed measured now on this machine."
    )


@app.command()
@makes_run(seed=None, tells=described_study)
def run(
    frame: Any,
    study: File,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder of the run. (default: out/STUDY)")] = None,
    store: Annotated[
        Path, typer.Option(help="Where results of steps are kept, for later studies too.", envvar="UNSEEN_STORE")
    ] = Path("unseen-steps"),
    engine: options.Engine = "local",
    workers: Annotated[int | None, typer.Option(help="Steps at once. (default: as many as cores)")] = None,
    threads: options.Threads = 1,
    address: options.Address = None,
    trust: options.Trust = False,
    plan: options.Plan = False,
    quiet: options.Quiet = False,
) -> Any:
    """Run a grid of experiments: data × models × spaces × splits × seeds, each step once, resumable.

    A file with kind = "validation" compares leaking with corrected protocols instead.

    Example: unseen study run study.toml --plan
    """
    from unseen.runs import study as studies
    from unseen.runs import validation

    plan_of, run_of = studies.plan_study, studies.run_study
    if validation.is_validation(study):
        plan_of, run_of = validation.plan_validation, validation.run_validation
    chosen = _engine(engine, workers, threads, address)
    if plan:
        planned, steps = plan_of(study, store=store, gates=frame["gates"], trust=trust)
        listed = [{"step": name, "done": done} for name, done in steps]
        lines = [] if quiet else [f"{'done' if done else 'to do'}  {name}" for name, done in steps]
        return Reply(asdict(planned) | {"list": listed}, "\n".join([*lines, described_study(planned)]))
    return run_of(study, engine=chosen, out=out, store=store, trust=trust, **frame)


def _engine(name: str, workers: int | None, threads: int, address: str | None) -> Any:
    """The engine with the options that were given; what it does not take, it refuses by name."""
    from unseen.engines import ENGINES

    given = only_given(workers=workers, address=address, threads=threads if threads != 1 else None)
    return ENGINES.make(name, **given)


def described_bench(plan: Any) -> str:
    """A plan in a few lines."""
    sizes = ", ".join(f"{name} {rows:,}" for name, rows in plan.datasets.items())
    done = f", {plan.done} of them done" if plan.done else ""
    return f"texts: {sizes}\nmodels: {', '.join(plan.models)}\n{plan.trainings} trainings{done}"


@app.command()
@makes_run(seed=None, tells=described_bench)
def bench(
    frame: Any,
    suite: Annotated[Path, typer.Argument(help="Suite file (TOML): datasets and models.", metavar="SUITE")],
    pick: Annotated[
        list[str] | None, typer.Option("--pick", metavar="NAME", help="Only this model of the suite; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="Folder of the run. (default: out/SUITE)")] = None,
    engine: options.Engine = "local",
    workers: Annotated[int | None, typer.Option(help="Steps at once. (default: as many as cores)")] = None,
    threads: options.Threads = 1,
    address: options.Address = None,
    trust: options.Trust = False,
    plan: options.Plan = False,
) -> Any:
    """Say which model is better over several datasets: scores, ranks, paired tests; elsewhere and on hard splits too.

    Example: unseen study bench suite.toml --plan
    """
    from unseen.runs.bench import bench as carry_out
    from unseen.runs.bench import plan_bench

    chosen = _engine(engine, workers, threads, address)
    if plan:
        planned = plan_bench(suite, models=pick or (), out=out, gates=frame["gates"], trust=trust)
        return Reply(planned, described_bench(planned))
    return carry_out(suite, models=pick or (), out=out, engine=chosen, trust=trust, **frame)


def described_transfer(plan: Any) -> str:
    """A plan in a few lines."""
    done = f", {plan.done} of them done" if plan.done else ""
    return "\n".join([*_rows_by_part(plan), f"{plan.trainings} trainings{done}"])


def _rows_by_part(plan: Any) -> list[str]:
    return [
        f"{name}: {', '.join(f'{part} {rows:,}' for part, rows in parts.items())}" for name, parts in plan.texts.items()
    ]


@app.command()
@makes_run(out=Path("out"), workers=1, tells=described_transfer)
def transfer(
    frame: Any,
    datasets: Annotated[
        list[str] | None,
        typer.Argument(metavar="DATA...", help="Names in the --label-map file, tables, known datasets, or NAME=…"),
    ] = None,
    label_map: Annotated[
        Path | None, typer.Option(help="TOML file: labels, datasets and what their labels are here.")
    ] = None,
    model: options.Model = "minilm",
    settings: options.Set = None,
    trust: options.Trust = False,
    trainings: options.Trainings = 3,
    test: options.ShareForTest = None,
    groups: options.Groups = None,
    pooled: Annotated[bool, typer.Option("--pooled", help="Train on all together as well.")] = False,
    cap: options.Cap = None,
    cap_by: options.CapBy = None,
    matched: Annotated[bool, typer.Option("--matched", help="Cut training sets to the size of the smallest.")] = False,
    text: Annotated[str | None, typer.Option(help="Column of the texts, of DATA that are tables.")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, of DATA that are tables.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, of DATA that are tables.")] = None,
    data_dir: options.DataDir = None,
) -> Any:
    """Train on each dataset, test on each: what is left of a score elsewhere, and what overlaps.

    Example: unseen study transfer posts.csv others.csv --model logistic --groups user --pooled --out transfer
    """
    from unseen.runs.transfer import transfer as carry_over

    columns = only_given(text=text, label=label, id=id)
    return carry_over(
        chosen(datasets or [], label_map, columns, data_dir), model=model, params=parameters(settings, trust=trust),
        trainings=trainings, test=test, groups=groups, pooled=pooled, cap=cap, cap_by=cap_by, matched=matched, **frame,
    )  # fmt: skip


def chosen(names: list[str], file: Path | None, columns: dict[str, str], data_dir: Path | None) -> Any:
    """The datasets that are meant: those of the file with these names, others as sources; all of the file without."""
    from unseen.runs.transfer_file import DatasetEntry, Datasets, read_datasets

    if not names and file is None:
        raise InputError(
            "no datasets are named", fix="unseen study transfer A B …, or --label-map FILE that names them"
        )
    known = Datasets({}) if file is None else read_datasets(file)
    entries: dict[str, Any] = {}
    tables = 0
    meant = names or list(known.entries)
    for named, (name, source) in zip(meant, named_places(meant, "datasets").items(), strict=True):
        is_table = named not in known.entries and Path(source).is_file()
        tables += is_table
        entries[name] = (
            known.entries[named] if named in known.entries else DatasetEntry(source, columns if is_table else {})
        )
    if columns and not tables:
        raise InputError(f"--{', --'.join(columns)} has no effect: no table is named", fix="say it in the file")
    if data_dir is not None:
        entries = _in_folder(entries, data_dir)
    return Datasets(entries, known.labels, known.positive)


def _in_folder(entries: dict[str, Any], data_dir: Path) -> dict[str, Any]:
    from dataclasses import replace

    from unseen.data.catalogue import cards

    known = {name for name, entry in entries.items() if entry.source in cards() and not Path(entry.source).is_file()}
    if not known:
        raise InputError("--data-dir has no effect: no known dataset is named", fix="leave it out")
    return {
        name: replace(entry, load={"data_dir": data_dir} | dict(entry.load)) if name in known else entry
        for name, entry in entries.items()
    }


def described_pretraining(plan: Any) -> str:
    """A plan in a few lines."""
    steps = ", ".join(f"{steps:,} ({texts:,} texts)" for texts, steps in plan.steps.items())
    done = f", {plan.done} of them done" if plan.done else ""
    reading = f"{plan.pretrainings} masked-LM trainings, {plan.tokens:,} tokens in all; steps of each: {steps}"
    return "\n".join([*_rows_by_part(plan), reading, f"{plan.trainings} fine-tunings{done}"])


@app.command()
@makes_run(out=Path("out"), workers=1, tells=described_pretraining)
def pretrain(
    frame: Any,
    datasets: Annotated[
        list[str], typer.Argument(metavar="DATA...", help="Labelled tables, known datasets, or NAME=…: fine-tuned on.")
    ],
    model: Annotated[str, typer.Option(help="An encoder with a masked-LM head: a folder or a hub name.")],
    corpus: Annotated[Path, typer.Option(metavar="FILE", help="Unlabelled texts of the domain.")],
    control: Annotated[Path, typer.Option(metavar="FILE", help="Other unlabelled texts, as a control.")],
    sizes: Annotated[
        str | None, typer.Option(help="Numbers of domain texts, '1000,10000'; all are added. (default: 1000, 10000, …)")
    ] = None,
    placeholders: Annotated[
        bool, typer.Option("--placeholders", help="@USER and HTTP-URL for handles and links, in all texts.")
    ] = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of fine-tuning, epochs=5, or of reading, pretraining.epochs=3; may be repeated.",
        ),
    ] = None,
    trust: options.Trust = False,
    trainings: options.Trainings = 3,
    metric: options.Metric = options.METRIC,
    test: options.ShareForTest = None,
    parts: options.Parts = None,
    groups: options.Groups = None,
    text: Annotated[str | None, typer.Option(help="Column of the texts, of all tables. (default: text)")] = None,
    label: Annotated[str | None, typer.Option(help="Column of the labels, of DATA that are tables.")] = None,
    id: Annotated[str | None, typer.Option(help="Column of the ids, of DATA that are tables.")] = None,
    data_dir: options.DataDir = None,
) -> Any:
    """Train an encoder further on texts of the domain, and as long on other text: what classifiers gain by it.

    Example: unseen study pretrain posts.csv --model bert --corpus corpus.csv --control other.csv --sizes 1000 -o out
    """
    from dataclasses import replace

    from unseen.runs.pretraining import pretrain as read_on

    columns = only_given(text=text, label=label, id=id)
    entries = chosen(datasets, None, columns, data_dir).entries
    if parts is not None:
        entries = {name: replace(entry, split=parts) for name, entry in entries.items()}
    reading = [typed.removeprefix(READING) for typed in settings or () if typed.startswith(READING)]
    tuning = [typed for typed in settings or () if not typed.startswith(READING)]
    return read_on(
        entries, model=model, corpus=corpus, control=control, params=parameters(tuning, trust=trust),
        pretraining=parameters(reading), sizes=None if sizes is None else whole_numbers(sizes, "--sizes"),
        metric=metric, trainings=trainings, test=test, groups=groups, text=text or "text", placeholders=placeholders,
        **frame,
    )  # fmt: skip


@app.command()
@makes_run(seed=None)
def forecast(
    frame: Any,
    scores: Annotated[
        Path, typer.Argument(metavar="SCORES", help="A CSV, SumEval JSON, or the folder of a transfer or study.")
    ],
    features: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="Features: a CSV, those of LITMUS, or NAME=TABLE of texts; may be repeated."),
    ] = None,
    predict: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONFIG", help="What is trained on, 'en=5000+de=100'; may be repeated. (default: as in SCORES)"
        ),
    ] = None,
    target: Annotated[list[str] | None, typer.Option(help="What is tested on; may be repeated.")] = None,
    model: Annotated[
        str,
        typer.Option(help="xgboost, group-lasso, same-configuration-mean, same-target-mean or global-mean."),
    ] = "xgboost",
    leave_out: Annotated[
        str, typer.Option(help="What is left out to measure errors: the target, or also all training on it: language.")
    ] = "target",
    text: Annotated[str, typer.Option(help="Column of the texts, of tables of texts.")] = "text",
) -> Any:
    """Forecast scores from scores elsewhere and features of the target: with intervals, or not at all.

    Example: unseen study forecast scores.csv --features features.csv --target th --predict en=5000 --model group-lasso
    """
    from unseen.runs.score_forecast import forecast_scores

    return forecast_scores(
        scores, features=features_of(features or [], text), predict=predict or (), targets=target or (),
        model=model, leave_out=leave_out, **frame,
    )  # fmt: skip


def features_of(typed: list[str], text: str) -> Any:
    """The features in all files that were named; texts are counted together, each table under its name."""
    from functools import reduce
    from operator import or_

    from unseen.data.tables import read_strings
    from unseen.forecasts.features import read_features, text_features

    files, texts = [], {}
    for source in typed:
        name, middle, path = source.partition("=")
        if not middle or Path(source).is_file():
            files.append(read_features(source))
        elif name in texts:
            raise InputError(f"--features names {name!r} twice")
        else:
            texts[name] = read_strings(path, [text], "texts")[text].drop_null().to_pylist()
    known = [*files, *([text_features(texts)] if texts else [])]
    return reduce(or_, known) if known else None


@app.command()
def schema(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="study, validation, transfer, suite or card.")] = "study",
) -> None:
    """Print the JSON Schema of a kind of file, so that an editor completes and checks while you type.

    Example: unseen study schema study
    """
    from unseen.file_schemas import file_schema

    print_json(file_schema(kind))
