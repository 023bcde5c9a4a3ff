"""One small finished run of every kind, made by the commands as they are typed, in this process.

A kind is a folder with material and some commands. `tests/golden` compares what they wrote and printed with what is
stored; other tests look at the same folders, or at copies of them (`finished` in conftest.py).
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import shlex
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from learning_suite import small_suite, small_task
from unseen.types import Dataset

TESTS = Path(__file__).resolve().parent
ANSWERS = "answers.json"
"""What the commands of a kind answered, beside their material."""

TOPICS = {
    "calm": (("rain", "wind", "cloud", "storm"), ("bread", "soup", "salt", "pan")),
    "loud": (("goal", "team", "ball", "match"), ("drum", "song", "band", "horn")),
}


class Done(NamedTuple):
    """What a command answered."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Kind:
    """A sort of run: what lies in the folder before, and what is typed there."""

    commands: tuple[str, ...]
    material: Callable[[Path], None]
    on_the_way: tuple[str, ...] = ()
    """Folders that are made on the way, of kinds that are looked at elsewhere."""


def run_here(*words: str) -> Done:
    """The command in this process and folder; an error that nobody meant is raised."""
    from unseen.cli import main

    code: Any = 0
    out, err = StringIO(), StringIO()
    paths = list(sys.path)
    with patch.object(sys, "argv", ["unseen", *words]), redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = ended.code or 0
        finally:
            sys.path[:] = paths
    return Done(code, out.getvalue(), err.getvalue())


# -- material ----------------------------------------------------------------------------------------------------------


def write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)


def drawn(*what: object) -> int:
    """A number that only depends on what it is drawn for."""
    return int(hashlib.sha256(repr(what).encode()).hexdigest()[:8], 16)


def post(number: int, name: str = "p") -> list[object]:
    """A made-up post whose words tell its label three times of four; every tenth repeats the one before."""
    base = number - 1 if number % 10 == 9 else number
    labels = list(TOPICS)
    user = drawn(name, number, "user") % 11
    label = labels[(drawn(name, base, "label") % 5 + user % 2) // 3]
    told = label if drawn(name, base, "told") % 4 else labels[1 - labels.index(label)]
    topic = TOPICS[told][drawn(name, base, "topic") % 2]
    words = [topic[drawn(name, base, place) % 4] for place in range(2)]
    words += [("today", "again", "here", "now", "soon")[base % 5], f"number {base}"]
    return [
        f"{name}{number:03}", " ".join(words), label, f"user{user:02}", ("app", "mail", "web")[number % 3],
        f"2024-{1 + number // 28:02}-{1 + number % 28:02}", "test" if number % 5 == 0 else "train",
    ]  # fmt: skip


COLUMNS = ("id", "text", "label", "user", "source", "day", "part")


def posts(folder: Path) -> None:
    """posts.csv: 120 posts by eleven users, with copies, doubtful labels and a published split; others.csv like it."""
    write_rows(folder / "posts.csv", COLUMNS, map(post, range(120)))
    write_rows(folder / "others.csv", COLUMNS, (post(number, "o") for number in range(80)))


SUITE = """
title = "Posts and others"
metrics = ["accuracy"]
trainings = 1
folds = 2
elsewhere = 30
[family.noise]
labels = ["calm", "loud"]
[data.posts]
source = "posts.csv"
id = "id"
family = "noise"
published = 121
[data.others]
source = "others.csv"
id = "id"
family = "noise"
split = "part"
[model.logistic]
C = 1.0
[model.svm]
C = 1.0
"""


def bench_suite(folder: Path) -> None:
    """Posts, others, and a suite of both."""
    posts(folder)
    (folder / "suite.toml").write_text(SUITE, encoding="utf-8")


def predictions_of_three(folder: Path) -> None:
    """Posts, and what three models answered, one of them in two trainings and one not about all of them."""
    posts(folder)
    rows = [post(number) for number in range(120)]
    write_rows(folder / "part.csv", ("id", "part"), [(row[0], row[6]) for row in rows])
    (folder / "answers").mkdir()
    for name, wrong, count in (("a.seed-1", 5, 120), ("a.seed-2", 6, 120), ("b", 3, 120), ("c", 4, 60)):
        answers = [
            (row[0], *((0.8, 0.2) if (row[2] == "calm") == bool(drawn(name, row[0]) % wrong) else (0.3, 0.7)))
            for row in rows[:count]
        ]
        write_rows(folder / "answers" / f"{name}.csv", ("id", "calm", "loud"), answers)


def noisy_posts(folder: Path) -> None:
    """posts.csv of which every eighth is too short."""
    rows = [post(number) for number in range(120)]
    write_rows(
        folder / "posts.csv",
        COLUMNS,
        [[row[0], f"so {number}" if number % 8 == 3 else row[1], *row[2:]] for number, row in enumerate(rows)],
    )
    gold = [(row[0], "no" if number % 7 == 3 else "yes") for number, row in enumerate(rows[:60])]
    write_rows(folder / "gold.csv", ("id", "valid"), gold)


def word_lists(folder: Path) -> None:
    """posts.csv, and words that could stand for others: some near, some opposite."""
    posts(folder)
    near = ["rain storm", "wind cloud", "bread soup", "goal song", "rain goal", "team band", "soup drum", "horn ball"]
    (folder / "synonyms.txt").write_text("".join(f"{pair}\n" for pair in near))
    (folder / "opposites.txt").write_text("rain goal\nsoup drum\n")


def hard_posts(folder: Path) -> None:
    """posts.csv, and a split of it that somebody else made."""
    posts(folder)
    rows = [post(number) for number in range(120)]
    write_rows(
        folder / "hard.csv", ("id", "part"), [(row[0], "test" if row[3] < "user02" else "train") for row in rows]
    )


def predicted_posts(folder: Path) -> None:
    """posts.csv and probabilities for them, with some mistakes."""
    posts(folder)
    rows = [post(number) for number in range(120)]
    loud = [0.15 + 0.6 * ((row[2] == "loud") ^ (n % 6 == 1)) + 0.2 * (n * 37 % 50) / 50 for n, row in enumerate(rows)]
    said = [(row[0], f"{1 - p:.4f}", f"{p:.4f}") for row, p in zip(rows, loud, strict=True)]
    write_rows(folder / "predictions.csv", ("id", "calm", "loud"), said)


def study(folder: Path) -> None:
    """study.toml over posts.csv: a grid with a gate."""
    posts(folder)
    (folder / "study.toml").write_text(
        'title = "posts"\ngates = ["fall.f1.macro where split=closest <= 0.99"]\n'
        '[data.posts]\nsource = "posts.csv"\nid = "id"\ngroups = "user"\n'
        '[model.tfidf]\nuse = "logistic"\n[space.tfidf]\n[measure]\nseen_folds = 1\n'
        '[split.random]\n[split.closest]\nn_clusters = [3, 8]\n[split.grouped]\n'
    )  # fmt: skip


def validation(folder: Path) -> None:
    """study.toml of a validation study over posts.csv, with pipelines that learn by heart."""
    posts(folder)
    shutil.copy(TESTS / "runs" / "own_pipelines.py", folder / "by_heart.py")
    (folder / "study.toml").write_text(
        'kind = "validation"\ntitle = "by heart"\nseed = 7\n'
        '[data]\nsource = "posts.csv"\ntext = "text"\nlabel = "label"\nid = "id"\nauthor = "user"\n'
        '[foreign]\nsource = "others.csv"\ntext = "text"\nlabel = "label"\n'
        '[pipeline.heart]\nleaking = "by_heart:leaking"\ncorrected = "by_heart:corrected"\n'
        '[model.tfidf]\nuse = "logistic"\n[validate]\nfolds = 3\nseeds = [1, 2]\ncap = [4]\n'
    )


def write_table(data: Dataset, path: Path) -> None:
    columns = ["id", "text", "label", *data.attributes]
    write_rows(path, columns, zip(*(data.table[name].to_pylist() for name in columns), strict=True))


def suite(folder: Path) -> None:
    """cases.csv, a suite about kitchen workers; posts.csv, the task it tests; answers of two models."""
    cases = small_suite(4)
    write_table(cases, folder / "cases.csv")
    write_table(small_task(120), folder / "posts.csv")
    gold = [cases.label_names[code] for code in cases.labels]
    ids = cases.ids.to_pylist()
    wrong = {"fine": "rude", "rude": "fine"}
    for model, slips in (("one", 5), ("two", 3)):
        said = [wrong[label] if row % slips == 2 else label for row, label in enumerate(gold)]
        write_rows(folder / f"{model}.csv", ("id", "prediction"), zip(ids, said, strict=True))
    second = [wrong[label] if row % 11 == 3 else label for row, label in enumerate(gold)]
    votes = zip(ids, gold, second, gold, strict=True)
    write_rows(folder / "votes.csv", ("id", "rater_1", "rater_2", "rater_3"), votes)


def kitchen(folder: Path) -> None:
    """kitchen.toml, from which a suite is built."""
    posts(folder)
    (folder / "kitchen.toml").write_text(
        'labels = ["fine", "rude"]\n[[tests]]\nfunctionality = "praise"\nlabel = "fine"\n'
        'templates = ["I like [WHO].", "How nice [WHO] are!"]\n'
        '[[tests]]\nfunctionality = "insult"\nlabel = "rude"\ntemplates = ["I hate [WHO]."]\n'
        '[lists]\nWHO = ["cooks", "waiters"]\n'
    )


def terms(folder: Path) -> None:
    """Posts with predictions, and words that stand for groups."""
    predicted_posts(folder)
    (folder / "terms.toml").write_text('sky = ["rain", "cloud", "wind"]\nfood = ["soup", "bread"]\n')


def encoder_and_texts(folder: Path) -> None:
    """posts.csv, a tiny encoder with a masked-LM head, unlabelled texts of which one is a post, and others."""
    from masked_lm import write_masked_lm

    rows = [post(number) for number in range(60)]
    write_rows(folder / "posts.csv", COLUMNS, rows)
    own = [word for topics in TOPICS.values() for topic in topics for word in topic]
    others = ("salt", "fork", "plate", "spoon", "glass", "bowl")
    write_masked_lm(folder / "bert", [*own, *others[1:], "today", "again", "here", "now", "soon"])
    for name, words, copies in (("corpus", own, [rows[5][1]]), ("control", others, [])):
        texts = [" ".join(words[drawn(name, row, place) % len(words)] for place in range(9)) for row in range(30)]
        write_rows(folder / f"{name}.csv", ("text",), [[text] for text in [*texts, *copies]])


def new_posts(folder: Path) -> None:
    """posts.csv with held-out ones beside it, and new ones of which every third has a label."""
    posts(folder)
    rows = [post(number) for number in range(120, 300)]
    write_rows(folder / "held-out.csv", COLUMNS, rows[:90])
    some = [(*row[:2], row[2] if number % 3 == 0 else "") for number, row in enumerate(rows[90:])]
    write_rows(folder / "new.csv", COLUMNS[:3], some)


# -- kinds -------------------------------------------------------------------------------------------------------------

POSTS = "posts.csv --id id"
KINDS: dict[str, Kind] = {
    "stress": Kind(
        (
            f"stress {POSTS} --model logistic --with random,closest,novel --clusters 3-8 --seeds 42,55 --test 0.2 "
            "--random-splits 2 --seen-folds 1 --space-seeds 1 --workers 1 --groups user --about source --positive loud "
            "--gate fall.f1.macro<=0.9 --texts --out run --json",
            "runs report run",
        ),
        posts,
    ),
    "study": Kind(
        (
            "study run study.toml --plan",
            "study run study.toml --engine inline --out run --store steps",
            "runs report run --json",
        ),
        study,
    ),
    "validation": Kind(
        ("study run study.toml --engine inline --trust --out run --store steps", "runs report run --json"), validation
    ),
    "price": Kind(
        (
            f"split make {POSTS} --with random --test 0.3 -o hard.csv --json",
            f"audit price {POSTS} --split hard.csv --author user --leaks near,exact --trainings 2 --repeats 2 -o run",
            "runs report run --json",
        ),
        posts,
    ),
    "authors": Kind(
        (f"audit authors {POSTS} --author user --model logistic --trainings 2 -o run", "runs report run --json"), posts
    ),
    "item-effect": Kind(
        (f"audit items effect {POSTS} --packs scrape-noise --trainings 2 -o run", "runs report run --json"), noisy_posts
    ),
    "transfer": Kind(
        (
            "study transfer posts.csv others.csv --id id --model logistic --set C=1 --trainings 2 --groups user "
            "--cap 2 -o run",
            "runs report run --json",
        ),
        posts,
    ),
    "bench": Kind(
        ("study bench suite.toml --engine inline -o run", "runs report run --json"),
        bench_suite,
    ),
    "cost": Kind(
        (
            f"cost {POSTS} --model logistic --set logistic.C=1 -n 20 --gate latency.p95<=60s --plan",
            f"cost {POSTS} --model logistic --set logistic.C=1 -n 20 --gate latency.p95<=60s -o run",
            "runs report run --json",
        ),
        posts,
    ),
    "leaderboard": Kind(
        ("runs leaderboard answers posts.csv --id id --split part.csv --reference b -o run", "runs report run --json"),
        predictions_of_three,
    ),
    "pretraining": Kind(
        (
            "study pretrain posts.csv --id id --parts part --model bert --corpus corpus.csv --control control.csv "
            "--trainings 1 --seed 5 --set epochs=6 --set learning_rate=0.003 --set pretraining.batch_tokens=256 "
            "--set pretraining.epochs=2 --set pretraining.learning_rate=0.003 --set precision=fp32 "
            "--set pretraining.precision=fp32 -o run "
            "--gate 'difference.f1.macro where encoder=domain, than=control >= -1'",
        ),
        encoder_and_texts,
        ("models",),
    ),
    "learning": Kind(
        (
            "data suite holdout cases.csv --task posts.csv --map insult=rude,other=fine --hold-out target,all "
            "--set epochs=2 --set width=8 --set bottleneck=8 -o run",
            "runs report run --json",
        ),
        suite,
    ),
    "check": Kind(
        (
            "check one.csv second=two.csv --suite cases.csv -o run "
            "--gate 'pass_rate where functionality=plain_blame >= 0.6'",
            "runs report run --json",
        ),
        suite,
    ),
    "forecast": Kind(
        (
            f"model train {POSTS} --model logistic --set C=1 -o model -q",
            "forecast new.csv --id id --model model --known held-out.csv --draw 10 --metric accuracy -o run "
            "--gate labelled.accuracy>=0.1",
            "runs report run --json",
        ),
        new_posts,
        ("model",),
    ),
    "explain": Kind(
        (
            f"model train {POSTS} --model logistic --set C=1 -o model -q",
            f"explain {POSTS} --model model --limit 30 --normalised 5 --slice part --texts -o run "
            "--gate comprehensiveness.aopc>=0",
            "runs report run --json",
        ),
        posts,
        ("model",),
    ),
    "attack": Kind(
        (
            f"model train {POSTS} --model logistic --set C=1 -o model -q",
            f"attack run {POSTS} --model model --with characters,pwws-synonyms --limit 12 --texts -o run "
            "--set pwws-synonyms.synonyms=synonyms.txt --set characters.edits=2 --set characters.places=3 "
            "--antonyms opposites.txt --gate 'success.valid<=0.9'",
            "runs report run --json",
        ),
        word_lists,
        ("model",),
    ),
    "invariance": Kind(
        (
            f"audit invariance {POSTS} --property label --train others.csv --with upper --model char-ngrams "
            "--set C=1 --folds 2 --texts -o run --gate 'flip_rate where transformation=upper <= 0.5'",
            "runs report run --json",
        ),
        posts,
    ),
    "audit": Kind(
        (f"audit data {POSTS} --parts part --author user -o run", "runs report run --json"), posts
    ),
    "pipeline-audit": Kind(
        ("audit pipeline words-chosen-on-all-data posts.csv --parts part -q -o run", "runs report run --json"), posts
    ),
    "compare": Kind(
        (
            *(
                f"stress {POSTS} --model logistic --set C={strength} --split hard.csv --random-splits 2 --seeds 42,55 "
                f"--seen-folds 0 --space-seeds 0 --workers 1 -o {name} -q"
                for name, strength in (("before", 1), ("after", 0.01))
            ),
            "runs compare before after",
            "runs compare before after --json",
        ),
        hard_posts,
        ("before", "after"),
    ),
    "splits": Kind(
        (
            f"model encode {POSTS} -o vectors.npy",
            *(
                f"split make {POSTS} --with {method} --test 0.2 --dev 0.1 -o {method.split()[0]}.csv"
                for method in (
                    "random", "grouped --groups user", "subset-sum --vectors vectors.npy --clusters 3-8",
                    "closest --vectors vectors.npy --clusters 3-8", "novel --vectors vectors.npy --clusters 20",
                    "difficulty --vectors vectors.npy --clusters 3-8 --difficulty 0.5", "length", "time --by day",
                )
            ),
            f"split make {POSTS} --with attribute --by source --values mail -o attribute.csv",
            f"split make {POSTS} --with predefined --by part -o predefined.csv --json",
            f"split make {POSTS} --with hard-kfold --folds 3 --vectors vectors.npy -o folds.csv",
            f"split describe {POSTS} --split closest.csv --vectors vectors.npy -a source --json",
            f"split describe {POSTS} --split closest.csv --vectors vectors.npy",
            f"split export {POSTS} --split closest.csv --format indices -o rows",
        ),
        posts,
    ),
    "repair": Kind(
        (
            f"split repair {POSTS} --parts part --groups user --dedupe near --conflicts drop --minimal drop "
            "-o fixed.csv",
            f"split repair {POSTS} --groups user --dedupe exact --test 0.2 --cap 8 --author user -o capped.csv --json",
        ),
        posts,
    ),
    "bias": Kind(
        (
            f"audit bias {POSTS} --about source --predictions predictions.csv --positive loud --background both "
            "-o by",
            f"audit bias {POSTS} --terms terms.toml --predictions predictions.csv --positive loud -m accuracy "
            "-m false_positive_rate --json -o words",
            f"model score {POSTS} predictions.csv --slice source",
            f"model score {POSTS} predictions.csv --slice user --json",
        ),
        terms,
    ),
    "card": Kind(
        (
            f"data card init {POSTS} -a user -o card.json",
            "data card audit card.json posts.csv --id id -o card.md",
            "data card audit card.json --strict --json",
            "data card survey --builtin",
        ),
        posts,
    ),
    "suites": Kind(
        (
            "data suite build kitchen.toml -o kitchen.csv",
            "data suite stats kitchen.csv",
            "data suite perturb posts.csv --id id --with swap,leet -n 10 -o altered.csv",
        ),
        kitchen,
    ),
    "cases": Kind(
        (
            "data suite validate votes.csv --suite cases.csv --annotators rater_ --least 3 -o validated.csv",
            "check one.csv --suite cases.csv -o run -q",
            "data suite sample run/failures.csv --suite cases.csv -n 2 -o training.csv",
        ),
        suite,
        ("run",),
    ),
    "items": Kind(
        (
            f"audit items flag {POSTS} --packs scrape-noise,label-text --slice source -o flags.csv",
            f"audit items agree {POSTS} flags.csv gold.csv",
        ),
        noisy_posts,
    ),
    "models": Kind(
        (
            f"model train {POSTS} --model logistic -o model",
            f"model predict {POSTS} --model model -o predictions.csv",
            f"model train {POSTS} --model neural --set epochs=2 --set width=8 --set bottleneck=4 -o small",
            f"model predict {POSTS} --model small -o small.parquet",
            f"model encode {POSTS} --encoder small -o own.npy",
            "model ls",
            "split ls",
            "audit ls",
            "data suite ls",
            "data ls --data-dir .",
            "data show stormfront --data-dir .",
        ),
        posts,
    ),
}  # fmt: skip
"""By name; those that are a kind of run are called as run.json calls them."""


def make(kind: Kind, folder: Path) -> None:
    """The material and what the commands made of it; what lay there before and their answers are in answers.json."""
    folder.mkdir(parents=True)
    kind.material(folder)
    material = [*sorted(path.name for path in folder.iterdir()), *kind.on_the_way]
    with chdir(folder):
        answers = {command: run_here(*shlex.split(command))._asdict() for command in kind.commands}
    content = {"material": material, "answers": answers}
    (folder / ANSWERS).write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")


def finished_in(root: Path, name: str) -> Path:
    """The folder of a kind below `root`, made by whichever process asks first."""
    root.mkdir(parents=True, exist_ok=True)
    with (root / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = root / name
        if not (folder / ANSWERS).exists():
            shutil.rmtree(folder, ignore_errors=True)
            make(KINDS[name], folder)
    return folder
