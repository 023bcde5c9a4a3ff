"""`unseen data suite`: write suites of test cases, look into them, validate them, learn from them."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unseen.cli import options
from unseen.cli.console import measured_cells, print_findings, print_table, say
from unseen.cli.data_options import takes_data
from unseen.cli.frame import Reply, gives_reply, makes_run
from unseen.cli.options import listed, only_given, pairs, parameters, refuse_idle
from unseen.errors import InputError

if TYPE_CHECKING:
    from unseen.functional.counts import FunctionalityCount, SuiteCounts
    from unseen.types import Dataset, Finding
from unseen.cli.listing import listing

app = typer.Typer(
    help="Build, perturb, count and validate suites of test cases; learn from them.", no_args_is_help=True
)


Out = Annotated[Path, typer.Option("-o", "--out", help="File for the suite (.csv); NAME.json beside it tells how.")]


@app.command()
@gives_reply
def build(
    file: Annotated[Path, typer.Argument(help="Suite file: TOML, or YAML where pyyaml is installed.")],
    out: Out = Path("suite.csv"),
    trust: options.Trust = False,
    seed: options.Seed = 42,
) -> Reply:
    """Make the cases of a suite file: templates filled from lists, for every group, paired and perturbed.

    Example: unseen data suite build kitchen.toml -o kitchen.csv
    """
    from unseen.functional.suite_file import build_suite, read_suite_file

    _check_out(out)
    return _written(build_suite(read_suite_file(file, trust=trust), seed), out)


@app.command()
@takes_data
@gives_reply
def perturb(
    data: Any,
    perturbations: Annotated[
        str | None, typer.Option("--with", help="Perturbations, 'swap,leet'; package.module:function for your own.")
    ] = None,
    append: Annotated[list[str] | None, typer.Option(help="A sentence to add at the end; may be repeated.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="invariance, functional or directional. (default: directional with --expect, else invariance)"
        ),
    ] = None,
    expect: Annotated[str | None, typer.Option(help="'up LABEL' or 'down LABEL': how versions should move.")] = None,
    focus: Annotated[list[str] | None, typer.Option(help="A word to change, where it occurs; may be repeated.")] = None,
    limit: options.Limit = None,
    out: Out = Path("suite.csv"),
    seed: options.Seed = 42,
) -> Reply:
    """Make a suite of labelled texts and versions of them whose prediction should stay, or move one way.

    Example: unseen data suite perturb posts.csv --with swap,leet -n 500 -o altered.csv
    """
    from unseen.functional.alterations import altered_suite

    _check_out(out)
    chosen = _alterations(perturbations, append or [], focus or [], seed)
    kind = kind or ("invariance" if expect is None else "directional")
    return _written(altered_suite(data, chosen, kind=kind, expect=expect, most=limit, seed=seed), out)


@app.command()
@gives_reply
def stats(
    suite: Annotated[str, typer.Argument(help="A suite (CSV, TSV, JSONL, Parquet), or a known dataset that is one.")],
    column: options.Columns = None,
    ignore: options.Ignore = None,
    data_dir: options.DataDir = None,
    file: options.DataFile = None,
) -> Reply:
    """Count what is in a suite, and say what would mislead whoever uses it.

    Example: unseen data suite stats kitchen.csv
    """
    from unseen.functional.counts import check_suite, count

    loaded = _load(suite, column, ignore, data_dir, file)
    counted, findings = count(loaded), check_suite(loaded)
    about = _published(loaded)

    def show() -> None:
        if about:
            say(f"{suite} is {about['title']} ({about['licence']}). {about['citation']}\n")
        _print_counts(counted, findings)

    return Reply(_plain(counted, findings) | {"published": about}, show)


@app.command()
@gives_reply
def validate(
    annotations: Annotated[Path, typer.Argument(help="A row per case, a column per annotator (CSV, TSV or JSONL).")],
    suite: options.Suite,
    annotator: Annotated[
        list[str] | None, typer.Option("--annotator", help="Column of an annotator; may be repeated.")
    ] = None,
    annotators: Annotated[
        str | None, typer.Option("--annotators", help="Instead: what their columns begin with, before a number.")
    ] = None,
    id: Annotated[str | None, typer.Option(help="Column of the case ids in the annotations.")] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FROM=TO,…", help="What annotators wrote in the suite's words; may be repeated."),
    ] = None,
    least: Annotated[int, typer.Option(help="Annotators who must give a case its label.")] = 4,
    out: Annotated[Path | None, typer.Option("-o", "--out", help="File for the suite of what stays (.csv).")] = None,
    column: options.Columns = None,
    ignore: options.Ignore = None,
    data_dir: options.DataDir = None,
    file: options.DataFile = None,
    seed: options.Seed = 42,
) -> Reply:
    """Measure how far annotators agree, and say which cases they do not confirm; whole templates go with them.

    Example: unseen data suite validate votes.csv --suite kitchen.csv --annotators rater_ --least 2 -o validated.csv
    """
    from unseen.functional.annotations import confirmed, load_annotations, rater_agreement
    from unseen.functional.tables import write_suite

    if out is not None:
        _check_out(out)
    loaded = _load(suite, column, ignore, data_dir, file)
    votes = load_annotations(annotations, annotators=annotator or [], prefix=annotators, id=id).of(loaded)
    votes = votes.renamed(pairs(rename, "--map"), loaded)
    rows, removal = rater_agreement(loaded, votes, seed=seed), confirmed(loaded, votes, least)
    kept = loaded.take(removal.kept)
    if out is not None:
        write_suite(kept, out)
    ids, why = loaded.ids.to_pylist(), removal.reasons
    gone = [
        {"id": ids[row], "reason": why[row], "votes": int(removal.votes[row]), "said": votes.summary(row)}
        for row in range(len(ids))
        if why[row]
    ]

    def show() -> None:
        lines = [[row.metric, *measured_cells(row)] for row in rows]
        print_table([["agreement", "value", "95 % interval", "cases"], *lines], numbers_from=1)
        _print_removal(gone, len(ids), least)
        if out is not None:
            say(f"{out}: {len(kept):,} cases")

    content = {"agreement": rows, "least": least, "cases": len(ids), "kept": len(kept)}
    return Reply(content | {"out": out, "removed": gone}, show)


def _check_out(out: Path) -> None:
    from unseen.functional.tables import refuse_foreign

    refuse_foreign(out)


def _load(
    source: str, column: list[str] | None, ignore: list[str] | None, data_dir: Path | None, file: str | None = None
) -> Dataset:
    from unseen.functional.tables import load_suite

    refuse_idle(source, data_dir=data_dir, file=file)
    return load_suite(source, columns=pairs(column, "--column"), ignore=ignore or (), data_dir=data_dir, file=file)


def _published(suite: Dataset) -> dict[str, Any] | None:
    """What is known about the suite where it is a published one."""
    from unseen.functional.catalogue import published

    known = published().get(str(suite.origin.params.get("published")))
    return None if known is None else asdict(known)


def _alterations(names: str | None, append: list[str], focus: list[str], seed: int) -> dict[str, Any]:
    from unseen.functional.alterations import APPENDED, addition, perturbation

    if focus and not names:
        raise InputError("--focus has no effect without --with")
    chosen: dict[str, Any] = {}
    for place in listed(names or ""):
        name = place.rpartition(":")[2]
        if name in chosen:
            raise InputError(f"--with names {name!r} twice")
        chosen[name] = perturbation(place, focus=focus, seed=seed)
    for number, sentence in enumerate(append, 1):
        chosen[APPENDED if len(append) == 1 else f"{APPENDED}_{number}"] = addition(sentence)
    return chosen


def _written(suite: Dataset, out: Path) -> Reply:
    """Write a suite; the reply says what is in it."""
    from unseen.functional.counts import check_suite, count
    from unseen.functional.tables import write_suite

    write_suite(suite, out)
    counted, findings = count(suite), check_suite(suite)

    def show() -> None:
        say(f"{out}: {len(suite):,} cases")
        _print_counts(counted, [finding for finding in findings if finding.level in ("warn", "fail")])

    return Reply({"out": out} | _plain(counted, findings), show, _formulas(suite, out))


def _formulas(suite: Dataset, out: Path) -> list[str]:
    """A note about texts that a spreadsheet would compute."""
    from unseen.functional.tables import formulas

    n = formulas(suite)
    return [f"note: {n} texts begin like a formula: import {out} into a spreadsheet as text"] if n else []


def _plain(counted: SuiteCounts, findings: list[Finding]) -> dict[str, Any]:
    content = asdict(counted)
    for functionality in content["functionalities"]:
        functionality["class"] = functionality.pop("class_")
    return content | {"findings": findings}


def _print_counts(counted: SuiteCounts, findings: list[Finding]) -> None:
    print_table(
        [["functionality", "class", "kind", "label", "cases", "templates"], *map(_line, counted.functionalities)],
        numbers_from=4,
    )
    if counted.targets:
        say()
        table = [[target.target, f"{target.cases:,}", f"{target.balanced:,}"] for target in counted.targets]
        table += [["(none)", f"{counted.untargeted:,}", "-"]] if counted.untargeted else []
        print_table([["target", "cases", "on balanced templates"], *table], numbers_from=1)
    say()
    rows = [["cases", counted.cases], *([f"  {name}", n] for name, n in counted.labels.items())]
    rows += [["functionalities", len(counted.functionalities)], ["classes", len(counted.classes)]]
    rows += [["templates", counted.templates], ["  of several targets", counted.shared_templates]]
    rows += [["references", counted.references], ["  to another label", counted.contrasts]]
    rows += [["  to another class", counted.straddling]]
    print_table([["all", "number"], *([str(head), "-" if n is None else f"{n:,}"] for head, n in rows)], numbers_from=1)
    if findings:
        say()
    print_findings(findings)


def _line(row: FunctionalityCount) -> list[str]:
    kinds, labels = ", ".join(row.kinds), ", ".join(row.labels)
    return [row.functionality, row.class_ or "-", kinds, labels, f"{row.cases:,}", str(row.templates or "-")]


REASONS = {
    "votes": "fewer than {least} annotators give the case its label",
    "template": "another case of the template lacks votes",
    "reference": "the case or template it refers to is gone, or that of another case of its template",
}
SHOWN = 20


def _print_removal(gone: list[dict[str, Any]], cases: int, least: int) -> None:
    say(f"\n{len(gone):,} of {cases:,} cases go, {cases - len(gone):,} stay")
    number = Counter(case["reason"] for case in gone)
    lines = [
        [reason, f"{number[reason]:,}", why.format(least=least)] for reason, why in REASONS.items() if number[reason]
    ]
    if lines:
        print_table([["reason", "cases", "why"], *lines])
    unconfirmed = [case for case in gone if case["reason"] == "votes"]
    if unconfirmed:
        say()
        shown = [[case["id"], str(case["votes"]), case["said"]] for case in unconfirmed[:SHOWN]]
        print_table([["unconfirmed", "votes", "annotators said"], *shown])
        if len(unconfirmed) > SHOWN:
            say(f"… and {len(unconfirmed) - SHOWN} more; --json has all")


@app.command()
@gives_reply
def sample(
    failures: Annotated[Path, typer.Argument(help="failures.csv of 'unseen check'.")],
    suite: options.Suite,
    limit: Annotated[int, typer.Option("-n", "--limit", help="At most so many cases of each functionality.")] = 10,
    model: Annotated[
        str | None, typer.Option(help="Whose failures, as 'unseen check' calls it; needed where there are several.")
    ] = None,
    out: Annotated[
        Path, typer.Option("-o", "--out", help="File for the cases (.csv); NAME.json beside it tells how.")
    ] = Path("training.csv"),
    column: options.Columns = None,
    ignore: options.Ignore = None,
    data_dir: options.DataDir = None,
    seed: options.Seed = 42,
) -> Reply:
    """Draw cases that a model failed as training material: it will pass them, and may learn nothing else.

    Example: unseen data suite sample behaviour/failures.csv --suite cases.csv -n 5 -o training.csv
    """
    from unseen.functional.tables import refuse_foreign
    from unseen.functional.training_cases import (
        SAMPLE_KEYS,
        WARNING,
        read_failures,
        sample_failures,
        write_training_cases,
    )

    refuse_foreign(out, SAMPLE_KEYS)
    cases = _load(suite, column, ignore, data_dir)
    drawn = sample_failures(cases, read_failures(failures), limit, model=model, seed=seed)
    about = {"failures": failures.name, "suite_fingerprint": cases.fingerprint, "model": model, "number": limit}
    write_training_cases(drawn, out, about | {"seed": seed})
    counts = Counter(drawn.attribute("functionality").to_pylist())

    def show() -> None:
        print_table([["functionality", "cases"], *([name, f"{n:,}"] for name, n in counts.items())], numbers_from=1)
        say(f"{out}: {len(drawn):,} cases")

    content = {"out": out, "cases": len(drawn), "functionalities": counts, "warning": WARNING}
    return Reply(content, show, [f"warning: {WARNING}", *_formulas(drawn, out)])


def described(plan: Any) -> str:
    """A plan in one line."""
    schemes = ", ".join(f"{name} {count}" for name, count in plan.schemes.items())
    done = f", {plan.done} of them done" if plan.done else ""
    return f"{plan.cases:,} cases, {plan.texts:,} texts of the task; plans: {schemes}; {plan.trainings} trainings{done}"


@app.command()
@makes_run(out=Path("out"), workers=1, tells=described)
def holdout(
    frame: Any,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A table with test cases, or a known suite.")],
    task: Annotated[str, typer.Option(metavar="DATA", help="Labelled texts of the task: a table or a known dataset.")],
    task_text: Annotated[str | None, typer.Option(help="Column of the task's texts. (default: text)")] = None,
    task_label: Annotated[str | None, typer.Option(help="Column of the task's labels. (default: label)")] = None,
    elsewhere: Annotated[
        str | None,
        typer.Option(metavar="DATA", help="Other data of the task, only for testing; columns as the task's."),
    ] = None,
    rename: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="FROM=TO,…", help="A label of the task as one of the suite's; may be repeated."),
    ] = None,
    columns: options.Columns = None,
    ignore: options.Ignore = None,
    model: Annotated[
        str, typer.Option(help="A recipe or a transformer that can go on from a trained model.")
    ] = "neural",
    settings: options.Set = None,
    trust: options.Trust = False,
    hold_out: Annotated[
        str | None,
        typer.Option(
            help="What to hold out: functionality,target,class,template,pair,all. (default: what the suite has)"
        ),
    ] = None,
    trained_on: Annotated[
        str | None, typer.Option(help="Any of task,suite,task then suite. (default: all three)")
    ] = None,
    published: Annotated[
        bool, typer.Option("--published", help="Pool validation as in the paper: it then sees held-out cases.")
    ] = False,
    folds: Annotated[int | None, typer.Option(help="Folds of template and pair. (default: 5)")] = None,
    texts: options.ExampleTexts = False,
    data_dir: options.DataDir = None,
) -> Any:
    """Train on the cases of a suite, hold some out, and measure what of it is more than passing the tests.

    Example: unseen data suite holdout cases.csv --task posts.csv --map abusive=rude --map normal=fine --out out
    """
    from unseen.functional.tables import load_suite
    from unseen.runs.learning import CONFIGURATIONS, learn_from_suite

    loading = only_given(text=task_text, label=task_label, data_dir=data_dir)
    cases = load_suite(suite, columns=pairs(columns, "--column"), ignore=ignore or (), data_dir=data_dir)
    return learn_from_suite(
        cases, _loaded(task, loading), elsewhere=None if elsewhere is None else _loaded(elsewhere, loading),
        model=model, params=parameters(settings, trust=trust), labels=pairs(rename, "--map"),
        schemes=None if hold_out is None else listed(hold_out), strict=not published, folds=folds,
        configurations=CONFIGURATIONS if trained_on is None else listed(trained_on), texts=texts, **frame,
    )  # fmt: skip


def _loaded(source: str, loading: dict[str, Any]) -> Any:
    """A table, or a known dataset, which lies in the data folder."""
    from unseen.api import load

    is_table = Path(source).exists()
    return load(source, **{name: value for name, value in loading.items() if not (is_table and name == "data_dir")})


app.command("ls")(listing("data suite", "perturbations"))
