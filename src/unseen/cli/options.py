"""The options that commands share: each stands here once, with one name, one form and one meaning.

The table in CONTRIBUTING.md lists them; `tests/cli/test_surface.py` holds every command to it. What was typed is
checked here too: values, splits, and files that would be written, before the work begins.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from unseen.errors import InputError
from unseen.redaction import redacted

TWIN_KEYS = {".csv": {"certificate", "csv_sha256"}, ".npy": {"npy_sha256"}}
"""What the .json beside a file of ours holds, by the ending of the file."""


def column(of: str, *names: str) -> Any:
    """An option that names the column of one role."""
    return typer.Option(*names, metavar="COLUMN", help=f"Column of the {of}.")


def out_option(of: str) -> Any:
    """The option that says where something is written."""
    return typer.Option("-o", "--out", help=f"{of}.")


Text = str | None
Texts = list[str] | None

# what is printed
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print results and errors only.")]

# runs
RunFolder = Annotated[Path, out_option("Folder of the run")]
OptionalRunFolder = Annotated[Path | None, out_option("Folder of the run: report, tables, numbers")]
Gate = Annotated[
    Texts,
    typer.Option(
        "--gate", metavar="METRIC<=NUMBER", help="Exit 1 unless it holds, 'fall.f1.macro<=0.2'; may be repeated."
    ),
]
AuditGate = Annotated[
    Texts,
    typer.Option(
        "--gate", metavar="METRIC<=NUMBER", help="Exit 1 unless it holds; none: always 0. (default: findings.fail<=0)"
    ),
]
Junit = Annotated[
    Path | None, typer.Option("--junit", metavar="FILE", help="Write gates and findings as JUnit XML, for CI systems.")
]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Write the result as Markdown; $GITHUB_STEP_SUMMARY is added to."),
]
Plan = Annotated[bool, typer.Option("--plan", help="Say what would be done and what it costs; do nothing.")]
Workers = Annotated[int, typer.Option(help="Trainings side by side, one thread each; 1: one, all threads.")]
Engine = Annotated[str, typer.Option(help="Where steps run: local, ray, inline.")]
Threads = Annotated[int, typer.Option(help="Threads of each step.")]
Address = Annotated[Text, typer.Option(help="Ray cluster; 'auto' finds it. (default: this machine)")]
ExampleTexts = Annotated[bool, typer.Option("--texts", help="Write texts of the data as well, as examples.")]

# a page in the browser
Port = Annotated[int, typer.Option(help="Port on this machine. (default: a free one)")]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Only print the address.")]
Simulated = Annotated[
    bool, typer.Option("--simulated", help="A program fills this in, not a person: all that comes of it says so.")
]

# what is drawn
Seed = Annotated[int, typer.Option(help="Seed of all that is drawn.")]
Trainings = Annotated[int, typer.Option(help="Trainings of each kind, with the seeds SEED, SEED + 1, ….")]
OptionalTrainings = Annotated[
    int | None, typer.Option(help="Trainings of each kind, with the seeds SEED, SEED + 1, …. (default: 3)")
]
Repeats = Annotated[
    int | None, typer.Option(help="Random removals for each training. (default: 20 in all; fewer of a transformer)")
]

# models
Model = Annotated[
    str,
    typer.Option(
        help="A recipe ('unseen model ls'), a transformer (minilm, smollm2, a folder, a hub name), a pipeline file."
    ),
]
Bottleneck = Annotated[int | None, typer.Option(help="Numbers in a transformer's bottleneck. (default: none)")]
Encoder = Annotated[
    Text, typer.Option(help="What turns texts into vectors ('unseen model ls encoders'). (default: tfidf)")
]
SemanticEncoder = Annotated[Text, typer.Option("--encoder", help="Encoder for semantic neighbours, e.g. minilm.")]
Vectors = Annotated[Path | None, typer.Option(help="Vectors (.npy), in the order of the rows.")]
Pooling = Annotated[Text, typer.Option(help="Of a transformer: class, mean or last.")]
Layer = Annotated[Text, typer.Option(help="Of a fine-tuned transformer: bottleneck or full.")]
Predictions = Annotated[Path | None, typer.Option(help="Predictions that somebody made, instead of --model.")]
Set = Annotated[
    Texts,
    typer.Option(
        "--set", metavar="NAME=VALUE", help="A parameter of what is trained or asked, e.g. epochs=5; may be repeated."
    ),
]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Run code that a model, a folder or a file brings or names; only if you trust it."),
]
KeyEnv = Annotated[Text, typer.Option(help="Environment variable with the key of a URL.")]
Map = Annotated[
    Texts,
    typer.Option("--map", metavar="FROM=TO,…", help="Labels of the model or predictions in the words of the data."),
]
SuiteMap = Annotated[
    Texts, typer.Option("--map", metavar="FROM=TO,…", help="Labels of the data in the words of the suite.")
]

# measures
METRIC = "f1.macro"
Metric = Annotated[str, typer.Option("-m", "--metric", help="The metric; 'unseen model ls metrics'.")]
Metrics = Annotated[Texts, typer.Option("-m", "--metric", help="A metric; may be repeated.")]
Mix = Annotated[Text, typer.Option(help="Class mix: 'balanced', 'a=0.5,b=0.5', or a CSV file of label and share.")]
Exclude = Annotated[
    Texts,
    typer.Option(
        "--exclude", metavar="LABEL", help="A label that no average counts, e.g. the negative one; may be repeated."
    ),
]
Slice = Annotated[Texts, typer.Option("--slice", metavar="COLUMN", help="Column to score by; may be repeated.")]
Positive = Annotated[Texts, typer.Option(help="A label that counts as positive; may be repeated.")]
Distance = Annotated[str, typer.Option(help="cosine or euclidean.")]

# splits
Split = Annotated[Text, typer.Option(metavar="FILE", help="A split file, ours or anybody's.")]
Splits = Annotated[
    Texts, typer.Option("--split", metavar="FILE", help="A split file, ours or anybody's; may be repeated.")
]
Reviews = Annotated[
    Texts, typer.Option(metavar="FILE", help="What people said about texts: a reviews.jsonl; may be repeated.")
]
Parts = Annotated[Text, typer.Option(metavar="COLUMN", help="Instead of --split: column that names each row's part.")]
Groups = Annotated[
    Text,
    typer.Option(metavar="COLUMN", help="Column of rows that belong together: one side, one draw; e.g. an author."),
]
PartForTest = Annotated[
    Text, typer.Option(metavar="SHARE", help="Test part: a share of the rows, or rows. (default: 0.1)")
]
ShareForTest = Annotated[
    float | None, typer.Option(metavar="SHARE", help="Share of the rows for testing. (default: 0.2)")
]
Clusters = Annotated[
    Text, typer.Option(help="Numbers of clusters to try: '3-50', '20', '5,10,20'. (default: by splitter)")
]
Limit = Annotated[int | None, typer.Option("-n", "--limit", help="Use at most so many, drawn with the seed.")]
Cap = Annotated[int | None, typer.Option(help="Rows per author or group and label, at most, e.g. 250.")]
CapBy = Annotated[Text, typer.Option(metavar="COLUMN", help="Column of the cap. (default: that of --groups)")]

# what columns of the data mean
Author = Annotated[Text, column("authors")]
Conversation = Annotated[Text, column("conversations (threads, comments, documents)")]
Template = Annotated[Text, column("templates")]
Partner = Annotated[Text, column("contrast partners: their ids, or a name that partners share")]
Source = Annotated[Text, column("sources (platforms, forums)", "--source")]
Time = Annotated[Text, column("times")]
Original = Annotated[Text, column("originals, where rows are copies: their ids, or a name that copies share")]
About = Annotated[Text, column("groups that a text is about", "--about")]
Neutral = Annotated[Text, typer.Option(help="The label that means: nothing of the kind.")]
NEAR = 0.8
Near = Annotated[float, typer.Option(help="Share of 5-character pieces that makes near-duplicates.")]
Semantic = Annotated[float | None, typer.Option(help="Cosine about the centre that makes neighbours. (default: 0.95)")]
Language = Annotated[str, typer.Option(help="Language of the texts, e.g. en, de.")]
Terms = Annotated[Path | None, typer.Option(help='Words of groups: TOML with group = ["word", …], or a word per line.')]

# suites and known datasets
Suite = Annotated[str, typer.Option("--suite", help="A suite: a table of test cases, or a known one (hatecheck).")]
Columns = Annotated[
    Texts,
    typer.Option(
        "--column", metavar="NAME=COLUMN", help="Which column of a suite is what, text=case; may be repeated."
    ),
]
Ignore = Annotated[
    Texts, typer.Option("--ignore", metavar="COLUMN", help="A column of the suite to leave out; may be repeated.")
]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder of known datasets. (default: $UNSEEN_DATA, else ~/.cache/unseen/data)")
]
DataFile = Annotated[Text, typer.Option("--file", help="Which file of a known dataset. (default: the main one)")]
Labels = Annotated[Text, typer.Option(help="Labels in order, 'a,b,c', or raw values and names, '0=a,1=b'.")]

CLUSTERS = re.compile(r"\s*(\d{1,6})\s*(?:-\s*(\d{1,6})\s*)?")


def parameters(settings: list[str] | None, **given: Any) -> dict[str, Any]:
    """Parameters from what was typed; numbers, true, false, null, lists and objects as in JSON, else text."""
    values = {name: value for name, value in given.items() if value}
    for setting in settings or []:
        name, middle, value = setting.partition("=")
        if not middle or not name.isidentifier():
            raise InputError(f"--set {setting} is not a setting", expected="NAME=VALUE, e.g. epochs=5")
        values[name] = json_or_text(value)
    return values


def named_parameters(settings: list[str] | None, what: str, example: str) -> dict[str, dict[str, Any]]:
    """`lime.samples=500` as parameters by the name of what they belong to."""
    made: dict[str, dict[str, Any]] = {}
    for setting in settings or ():
        place, middle, value = setting.partition("=")
        owner, dot, name = place.partition(".")
        if not (middle and dot and name.isidentifier()):
            raise InputError(f"--set {setting} is not a setting", expected=f"{what}.NAME=VALUE, e.g. {example}")
        made.setdefault(owner, {})[name] = json_or_text(value)
    return made


def json_or_text(value: str) -> Any:
    """What was typed as JSON where it is JSON, else as it stands."""
    try:
        return json.loads(value)
    except ValueError:
        return value


def pairs(given: list[str] | None, option: str) -> dict[str, str]:
    """`a=b,c=d`, as often as the option was given: commas separate, the first = divides, nothing is said twice."""
    values: dict[str, str] = {}
    for pair in (part for text in given or () for part in text.split(",")):
        left, middle, right = (part.strip() for part in pair.partition("="))
        if not (left and middle and right):
            raise InputError(f"{option} {pair} is not a pair", expected=f"{option} a=b, or a=b,c=d")
        if left in values:
            raise InputError(f"{option} says twice what {left!r} is", got=f"{values[left]!r} and {right!r}")
        values[left] = right
    return values


def class_mix(typed: str) -> str | dict[str, float]:
    """The share of each label, from 'a=0.5,b=0.5' or a CSV file of label and share; else what is typed."""
    import csv

    from unseen.evaluation.weighting import Weighting
    from unseen.store.files import door

    if not Path(typed).is_file():
        return dict(Weighting.parsed("mix", typed).mix) if "=" in typed else typed
    with door(Path(typed), "a class mix"), Path(typed).open(encoding="utf-8-sig", newline="") as file:
        lines = list(csv.DictReader(file))
    if not lines or not {"label", "share"} <= lines[0].keys():
        raise InputError(f"{typed} is no class mix", expected="a CSV file with the columns label and share")
    shares = {
        str(line["label"]): float(any_number(line["share"] or "", "share", "a share per label")) for line in lines
    }
    return dict(Weighting.of_mix(shares, typed).mix)


def stem_of_file(place: str) -> str:
    """How a place without a name is called: a file by its stem, anything else as it is typed."""
    return Path(place).stem if Path(place).is_file() else place


def name_and_place(typed: str, called: Callable[[str], str] = stem_of_file) -> tuple[str, str]:
    """A name and the file, column, data or model that it stands for: `mine=b.csv`, or a place and what it is `called`.

    A path or an address, and a file that is there, may have a `=` in it and is a place all the same.
    """
    name, middle, place = typed.partition("=")
    is_named = middle and not set(name) & set("/\\") and not Path(typed).exists()
    return (name, place) if is_named else (called(typed), typed)


def named_places(typed: Iterable[str], what: str, called: Callable[[str], str] = stem_of_file) -> dict[str, str]:
    """The places by name; two of one name are refused."""
    places: dict[str, str] = {}
    for name, place in (name_and_place(word, called) for word in typed):
        if name in places:
            raise InputError(f"two {what} are called {name!r}", fix=f"name them: {name}-2={redacted(place)}")
        places[name] = place
    return places


def declared_labels(labels: str) -> list[str] | dict[str, str]:
    """What was typed as labels: names in order, or the name of each raw value."""
    names = listed(labels)
    if not any("=" in name for name in names):
        return names
    if not all("=" in name for name in names):
        raise InputError("--labels must be all names or all pairs", expected="'a,b' or '0=a,1=b'", got=repr(labels))
    return pairs([labels], "--labels")


def listed(names: str) -> list[str]:
    """Names between commas, each once."""
    return list(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))


def whole_numbers(numbers: str, option: str) -> list[int]:
    """Whole numbers between commas."""
    try:
        return [int(number) for number in numbers.split(",")]
    except ValueError as cause:
        raise InputError(f"{option} are whole numbers", expected="'42,55,83'", got=repr(numbers)) from cause


def numbers_of_clusters(text: str) -> list[int]:
    """'3-50', '20' or '5,10,20' as numbers."""
    numbers: list[int] = []
    for piece in text.split(","):
        match = CLUSTERS.fullmatch(piece)
        first, last = (int(match[1]), int(match[2] or match[1])) if match else (1, 0)
        if last < first:
            raise InputError(
                "--clusters must be numbers, the smaller first", expected="'3-50', '20' or '5,10,20'", got=repr(text)
            )
        numbers += range(first, last + 1)
    return numbers


def size(text: str, option: str) -> float:
    """A share or a number of rows, as typed; 1 could be either and is refused."""
    number = any_number(text, option, "a share such as 0.1, or rows")
    if 0 < number < 1 or (number > 1 and float(number).is_integer()):
        return number
    raise InputError(
        f"{option} must be a share between 0 and 1, or a number of rows above 1",
        expected="0.1 for a tenth of the rows, or 500 for 500 of them",
        got=repr(text),
        fix=f"{option} 0.1",
    )


LONGEST = 16
"""Digits from which on a whole number is read as a fraction: no float holds them all."""


def any_number(text: str, option: str, expected: str) -> float:
    """A whole number or a fraction, as typed."""
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() and len(text) < LONGEST else float(text)
    except ValueError as cause:
        raise InputError(f"{option} must be a number", expected=expected, got=repr(text)) from cause


def split_of(data: Any, split: str | None, parts: str | None = None) -> Any:
    """The split in a file, or the one that a column names; None without either."""
    from unseen.runs import source

    if split is not None and parts is not None:
        raise InputError("--parts has no effect with a split file", fix="leave one of them out")
    return source.split_of(data, split, parts)


def needed_split(data: Any, split: str | None, parts: str | None) -> Any:
    """The split that a command cannot do without."""
    if split is None and parts is None:
        raise InputError("no split is named", fix="name its file, --split FILE, or a column of parts, --parts COLUMN")
    return split_of(data, split, parts)


def vectors_source(vectors: Path | None, encoder: str | None) -> Path | str | None:
    """The file of vectors or the encoder that was named; refuses both."""
    if vectors is not None and encoder is not None:
        raise InputError("--encoder has no effect with --vectors", fix="leave one of them out")
    return vectors or encoder


def semantic_source(vectors: Path | None, encoder: str | None, semantic: float | None) -> Path | str | None:
    """The same for semantic neighbours; refuses a threshold without vectors too."""
    if semantic is not None and vectors is None and encoder is None:
        raise InputError("--semantic has no effect without vectors", fix="--vectors FILE, or --encoder NAME")
    return vectors_source(vectors, encoder)


def only_given(**options: Any) -> dict[str, Any]:
    """The options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def refuse_idle(source: str, **of_known: Any) -> None:
    """Refuse options that say where a known dataset lies, or which file of it, on a table of one's own."""
    idle = only_given(**of_known) if Path(source).is_file() else {}
    if idle:
        option = f"--{next(iter(idle)).replace('_', '-')}"
        raise InputError(f"{option} has no effect on {source}", expected=f"{option} only for known datasets")


def check_target(path: Path, ending: str) -> None:
    """Refuse a file that could not be written, or that is not one of ours and would be lost."""
    from unseen.store.files import holds

    if path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", fix=f"name a file in it: -o {path / f'NAME{ending}'}")
    if path.suffix != ending:
        raise InputError(f"{path} does not end in {ending}", fix=f"-o {path.with_suffix(ending)}")
    twin = path.with_suffix(".json")
    for file in (path, twin):
        if file.exists() and not holds(twin, TWIN_KEYS[ending]):
            raise InputError(
                f"{file} is not a file of unseen's and would be overwritten",
                fix="give -o another name, or move that file away",
            )
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise InputError(f"cannot write {path}: {above.name} is not a folder", fix="name a file in a folder")
    if not os.access(above, os.W_OK | os.X_OK, effective_ids=os.access in os.supports_effective_ids):
        raise InputError(f"cannot write {path}: {above} may not be written to", fix="name another folder")


def check_measurements(path: Path | None) -> None:
    """Refuse a folder, and a file that holds something else than measurements and would be lost."""
    from unseen.store.files import door
    from unseen.store.record_tables import MEASUREMENT

    if path is not None and path.is_dir():
        raise InputError(f"cannot write {path}: it is a folder", fix=f"name a file in it: -o {path / 'NAME.csv'}")
    if path is not None and path.is_file() and path.stat().st_size:
        with door(path, "measurements"), path.open("rb") as file:
            ours = file.read(100).startswith(",".join(MEASUREMENT).encode())
        if not ours:
            raise InputError(f"{path} holds no measurements and would be overwritten", fix="give -o another name")


def check_folder(path: Path) -> None:
    """Refuse a folder that holds other things than a model of ours."""
    from unseen.store.files import holds

    if path.exists() and not path.is_dir():
        raise InputError(f"cannot write the folder {path}: it is a file", fix="give -o another name")
    if path.is_dir() and any(path.iterdir()) and not holds(path / "unseen.json", {"classifier"}):
        raise InputError(f"{path} holds other things than a model", fix="give -o another name, or an empty folder")
