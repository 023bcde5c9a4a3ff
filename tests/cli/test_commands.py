"""The commands, one after another, on a small table and on the real data."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer

from unseen import __version__, load, read_split
from unseen.attacks import ATTACKS
from unseen.audits.checks import CHECKS
from unseen.audits.pipelines.examples import EXAMPLES
from unseen.cli import app
from unseen.evaluation import METRICS
from unseen.evaluation.weighting import FORMS
from unseen.explanations import EXPLAINERS
from unseen.functional import load_suite
from unseen.functional.perturbations import PERTURBATIONS
from unseen.representations import ENCODERS
from unseen.splits import SPLITTERS
from unseen.training import RECIPES

COLUMNS = "--text text --label label --id id"
Run = Callable[..., Any]

# what each splitter needs besides the data
FLAGS = {
    "random": "",
    "grouped": "--groups user",
    "subset-sum": "--clusters 3-20",
    "closest": "--clusters 3-20",
    "novel": "--clusters 20",
    "difficulty": "--clusters 3-20 --difficulty 0.5",
    "deployment": "--clusters 3-20 --vectors v.npy --deployment deployment.npy",
    "hard-kfold": "--folds 3",
    "length": "",
    "time": "--by day",
    "attribute": "--by source --values mail",
    "predefined": "--by part",
}


@pytest.fixture
def do(unseen: Run) -> Run:
    """`do("split posts.csv …")` runs a command that must succeed."""

    def run(command: str) -> Any:
        answer = unseen(*shlex.split(command))
        assert answer.code == 0, answer.err
        return answer

    return run


def parts_in(path: Path) -> dict[str, str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {row["id"]: row["part"] for row in csv.DictReader(file)}


def test_from_texts_to_a_split_that_others_can_read(folder: Path, do: Run) -> None:
    assert do(f"model encode posts.csv {COLUMNS} -o v.npy").out == "v.npy: 60 vectors of 50 numbers by tfidf.v1\n"
    assert np.load("v.npy").shape == (60, 50)
    made = do(f"split make posts.csv {COLUMNS} --vectors v.npy --clusters 3-20 --test 0.2 -o hard.csv")
    assert made.out.startswith("closest: train 48, test 12\n")
    assert "written: hard.csv and hard.json" in made.out
    split = read_split("hard.csv", load("posts.csv", id="id"))
    assert split.sizes == {"train": 48, "test": 12}

    described = do(f"split describe posts.csv --split hard.csv {COLUMNS} --vectors v.npy").out
    assert described.splitlines()[:4] == made.out.splitlines()[:4]
    assert re.search(r"^nearest_train_distance\.cosine: \.\d{4} \[.*\] \(n = 12\)$", described, re.MULTILINE)

    assert (
        do(f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o rows").out
        == "rows: train 48, test 12\n"
    )
    for part in ("train", "test"):
        assert np.load(f"rows/{part}.npy").tolist() == split.rows(part).tolist()
    assert sorted(os.listdir("rows")) == ["test.npy", "train.npy"]


def test_export_for_hugging_face(folder: Path, do: Run) -> None:
    datasets = pytest.importorskip("datasets")
    do(f"split make posts.csv {COLUMNS} --with random -o hard.csv")
    answer = do(f"split export posts.csv --split hard.csv {COLUMNS} -a user --format hf -o dataset --quiet")
    assert (answer.out, answer.err) == ("dataset: train 54, test 6\n", "")
    loaded = datasets.load_from_disk("dataset")
    parts = parts_in(folder / "hard.csv")
    assert set(loaded["test"]["id"]) == {name for name, part in parts.items() if part == "test"}
    assert loaded["train"].features["label"].names == ["calm", "loud"]
    assert "user" in loaded["train"].column_names
    assert sorted(os.listdir()) == ["dataset", "hard.csv", "hard.json", "posts.csv"]


def test_every_splitter_is_tried() -> None:
    assert set(FLAGS) == set(SPLITTERS)


@pytest.mark.parametrize("method", [name for name in FLAGS if name != "hard-kfold"])
def test_every_splitter_from_the_command_line(method: str, folder: Path, do: Run) -> None:
    vectors = np.random.default_rng(0).normal(size=(60, 5))
    np.save("v.npy", vectors)
    np.save("deployment.npy", vectors[:20] + 0.1)
    said = do(f"split make posts.csv {COLUMNS} --with {method} {FLAGS[method]} -o a.csv --json").out
    assert json.loads(said)["origin"]["step"] == f"{method}.v1"
    split = read_split("a.csv", load("posts.csv", id="id"))
    assert split.name == method
    assert split.sizes["test"] == {"attribute": 20, "predefined": 12, "grouped": 5}.get(method, 6)


def test_hard_kfold_writes_a_file_per_fold(folder: Path, do: Run) -> None:
    answer = do(f"split make posts.csv {COLUMNS} --with hard-kfold --folds 3 -o fold.csv")
    assert [f"written: fold-{number}.csv" in answer.out for number in (1, 2, 3)] == [True] * 3
    assert not Path("fold.csv").exists()
    tests = [[name for name, part in parts_in(folder / f"fold-{i}.csv").items() if part == "test"] for i in (1, 2, 3)]
    assert sorted(name for each in tests for name in each) == sorted(parts_in(folder / "fold-1.csv"))
    assert [len(each) for each in tests] == [20, 20, 20]
    names = [each["name"] for each in json.loads(do(f"split make posts.csv {COLUMNS} --with hard-kfold --json -q").out)]
    assert names == [f"hard-kfold-{i}" for i in range(1, 6)]


def test_names_of_files_that_nobody_named(folder: Path, do: Run) -> None:
    do(f"split make posts.csv {COLUMNS} --with random")
    do(f"split make posts.csv {COLUMNS} --with hard-kfold --folds 2")
    do(
        f"split make posts.csv {COLUMNS} --with sklearn.model_selection:StratifiedKFold "
        "--set n_splits=2 --set shuffle=true"
    )
    do(f"model encode posts.csv {COLUMNS}")
    assert sorted(each.name for each in folder.glob("*.[cn][sp][vy]")) == [
        "posts-hard-kfold-1.csv",
        "posts-hard-kfold-2.csv",
        "posts-random.csv",
        "posts-sklearn.model_selection-StratifiedKFold-1.csv",
        "posts-sklearn.model_selection-StratifiedKFold-2.csv",
        "posts.csv",
        "vectors.npy",
    ]


@pytest.mark.parametrize(
    "command",
    [
        f"model encode posts.csv {COLUMNS}",
        f"split make posts.csv {COLUMNS} --clusters 3-20 -o new.csv",
        f"split make posts.csv {COLUMNS} --with hard-kfold",
        f"split describe posts.csv --split hard.csv {COLUMNS}",
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o rows",
        "model ls",
        "model ls encoders",
        "data ls",
        "data show stormfront",
    ],
)
def test_json_is_all_there_is_on_stdout(command: str, folder: Path, do: Run) -> None:
    do(f"split make posts.csv {COLUMNS} --with random -o hard.csv")

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    json.loads(do(f"{command} --json").out, parse_constant=refuse)


def test_progress_is_on_stderr_and_can_be_silenced(folder: Path, forked: Run) -> None:
    command = f"split make posts.csv {COLUMNS} --clusters 3-20"
    loud = forked(*shlex.split(f"{command} -o loud.csv"), cwd=folder)
    quiet = forked(*shlex.split(f"{command} -o quiet.csv --quiet"), cwd=folder)
    assert re.fullmatch(r"clustering: done in \d+ s\n", loud.err)
    assert quiet.err == ""
    assert loud.out.replace("loud.", "quiet.") == quiet.out


@pytest.mark.parametrize(
    "command",
    [
        f"model encode posts.csv {COLUMNS}",
        f"split make posts.csv {COLUMNS} --with hard-kfold",
        f"split describe posts.csv --split hard.csv {COLUMNS}",
        f"split export posts.csv --split hard.csv {COLUMNS} --format indices -o rows",
    ],
)
def test_quiet_commands_say_nothing_on_stderr(command: str, folder: Path, do: Run) -> None:
    do(f"split make posts.csv {COLUMNS} --with random -o hard.csv")
    answer = do(f"{command} --quiet")
    assert answer.err == ""
    assert answer.out


def test_what_loading_warns_of_is_a_note(folder: Path, do: Run) -> None:
    (folder / "data" / "stormfront").mkdir(parents=True)
    with (folder / "data/stormfront/stormfront.csv").open("w") as file:
        print("file_id,text,label,user_id,comment_id,subforum_id,num_contexts,sampled_split", file=file)
        for number in range(20):
            print(f"f{number},text {number},{('noHate', 'hate')[number % 2]},{number},1,1,0,train", file=file)
    answer = do("split make stormfront --data-dir data --with random -o a.csv")
    assert re.fullmatch(r"note: .*stormfront\.csv is not the file the card of stormfront describes.*\n", answer.err)
    assert do("split make stormfront --data-dir data --with random -o a.csv --quiet").err == ""


def test_the_same_command_gives_the_same_bytes(folder: Path, program: Run) -> None:
    for name, threads in (("one", "1"), ("two", "2")):
        command = f"split make posts.csv {COLUMNS} --clusters 3-20 --dev 0.1 --independent 0.1 -o {name}/a.csv"
        answer = program(*shlex.split(command), cwd=folder, env=os.environ | {"OMP_NUM_THREADS": threads})
        assert answer.code == 0, answer.err
    assert Path("one/a.csv").read_bytes() == Path("two/a.csv").read_bytes()
    assert Path("one/a.json").read_bytes() == Path("two/a.json").read_bytes()


def test_a_split_of_ours_may_be_written_again(folder: Path, do: Run) -> None:
    do(f"split make posts.csv {COLUMNS} --with random -o a.csv")
    before = Path("a.csv").read_bytes()
    do(f"split make posts.csv {COLUMNS} --with random --seed 7 -o a.csv")
    assert Path("a.csv").read_bytes() != before
    read_split("a.csv", load("posts.csv", id="id"))


def test_a_killed_command_leaves_no_half_a_file(folder: Path) -> None:
    lines = [f"text {number} of many,{('calm', 'loud')[number % 2]},{number}" for number in range(200_000)]
    Path("many.csv").write_text("\n".join(["text,label,id", *lines, ""]), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "unseen",
        *shlex.split(f"split make many.csv {COLUMNS} --with random -q -o hard.csv"),
    ]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and not any(
            each.stat().st_size > 0 for each in folder.glob(".hard.csv.*.part") if each.exists()
        ):
            time.sleep(0.002)
        process.kill()
    assert process.returncode == -9
    assert list(folder.glob(".hard.csv.*.part"))
    assert not Path("hard.csv").exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert list(parts_in(folder / "hard.csv").values()).count("test") == 20_000


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "unseen", "data", "show", "stormfront"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()  # type: ignore[union-attr]
        said = process.stderr.read()  # type: ignore[union-attr]
    assert said == b""


@pytest.mark.parametrize("through", ["option", "environment"])
def test_a_known_dataset_by_name(
    through: str, shared_data: Path, folder: Path, do: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNSEEN_DATA", str(shared_data if through == "environment" else folder))
    option = "" if through == "environment" else f"--data-dir {shared_data}"
    answer = do(f"split make stormfront {option} --with grouped --groups user_id --test 0.1 -o users.csv --json")
    certificate = json.loads(answer.out)["certificate"]
    assert sum(certificate["asked"].values()) == 1070
    assert certificate["groups"]["attribute"] == "user_id"
    data = load("stormfront", data_dir=shared_data)
    split = read_split("users.csv", data)
    users = np.array(data.attribute("user_id").to_pylist())
    assert not set(users[split.rows("test")]) & set(users[split.rows("train")])


def test_a_file_of_a_known_dataset_names_no_folder(shared_data: Path, folder: Path, do: Run) -> None:
    do(f"split make hatexplain-thesis --data-dir {shared_data} --file dev.csv --with random")
    assert Path("hatexplain-thesis-dev.csv-random.csv").is_file()


@pytest.mark.parametrize("model", ["bert", "roberta"])
def test_published_splits_are_described(model: str, shared_data: Path, folder: Path, do: Run) -> None:
    published = f"hatexplain/published_splits/closest_{model}_bottleneck50.txt"
    np.save("v.npy", np.random.default_rng(0).normal(size=(17_305, 3)))
    command = (
        f"split describe hatexplain-thesis --split {shared_data / published} --data-dir {shared_data} --vectors v.npy"
    )
    rows = json.loads(do(f"{command} --json").out)
    sizes = {row["tags"]["part"]: row["n"] for row in rows if row["metric"] == "rows"}
    assert sizes == {"train": 15_575, "test": 1_730}
    shares = {(row["tags"]["part"], row["slice"]): row["value"] for row in rows if row["metric"] == "label_share"}
    for label in ("noHate", "offensive", "hate"):
        assert shares["test", f"label={label}"] == pytest.approx(shares["train", f"label={label}"], abs=0.001)
    assert do(command).out.startswith(f"closest_{model}_bottleneck50: train 15,575, test 1,730\n")


def test_ls_names_everything_that_can_be_typed(do: Run) -> None:
    lines = do("model ls").out.splitlines()
    assert lines[0].split() == ["kind", "name", "what", "it", "is"]
    names = [line.split()[1] for line in lines[1:]]
    assert names == [
        *(f"{name}.v1" for name in RECIPES),
        *map(ENCODERS.full_name, ENCODERS),
        *METRICS,
        *(f"SCORE.{form}" for form in FORMS),
        *(f"{name}.v1" for name in EXPLAINERS),
    ]
    assert all(len(line.split()) > 3 for line in lines)
    listed = {group: json.loads(do(f"{group} ls --json").out) for group in ("split", "audit", "data suite", "attack")}
    assert [*listed["split"]["splitters"]] == [f"{name}.v1" for name in SPLITTERS]
    assert [*listed["audit"]["checks"]] == [f"{name}.v1" for name in CHECKS]
    assert [*listed["audit"]["pipelines"]] == [f"{name}.v1" for name in EXAMPLES]
    assert [*listed["data suite"]["perturbations"]] == [f"{name}.v1" for name in PERTURBATIONS]
    assert [*listed["attack"]["attacks"]] == [f"{name}.v1" for name in ATTACKS]


def test_version(program: Run, unseen: Run) -> None:
    assert unseen("--version") == program("--version") == (0, f"unseen {__version__}\n", "")


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Every command that does something, and its help."""
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(each, (*words, name))
    if not hasattr(command, "commands"):
        yield words, command.help


COMMANDS = dict(commands(typer.main.get_command(app)))


def example(words: tuple[str, ...]) -> str:
    return re.search(r"Example: (.*)", COMMANDS[words])[1]  # type: ignore[index]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_shows_an_example(words: tuple[str, ...], option: str, unseen: Run) -> None:
    answer = unseen(*words, option)
    assert answer.code == 0
    said = " ".join(answer.out.split())
    assert example(words) in said
    assert example(words).startswith(" ".join(("unseen", *words)))


KITCHEN = """
labels = ["fine", "rude"]
[[tests]]
functionality = "praise"
label = "fine"
templates = ["I like it.", "How nice!"]
[[tests]]
functionality = "insult"
label = "rude"
templates = ["I hate it."]
"""


LESS = {("stress",): " --seeds 42,55 --seen-folds 1 --space-seeds 1 --workers 1 --set epochs=2"}


def test_examples_of_the_help_run(folder: Path, do: Run) -> None:
    """As they stand, but in one process and with fewer trainings."""
    pytest.importorskip("datasets")
    # long, or not without others; `view` serves until it is stopped, and has tests of its own
    elsewhere = {("demo",), ("data", "fetch"), ("runs", "track"), ("data", "suite", "holdout"), ("view",)}
    elsewhere |= {("attack", "session"), ("attack", "rate")}  # they serve too
    elsewhere |= {("study", "pretrain")}  # needs an encoder with a masked-LM head
    flow = [
        ("stress",), ("model", "train"), ("model", "encode"), ("split", "make"), ("model", "predict"), ("check",)
    ]  # fmt: skip
    others = [words for words in COMMANDS if words not in elsewhere | {*flow} and words[:2] != ("data", "corpus")]
    assert {*flow} <= {*COMMANDS}
    data = load(folder / "posts.csv")
    lines = ["id,prediction", *(f"{name},{data.label_names[0]}" for name in data.ids.to_pylist())]
    (folder / "predictions.csv").write_text("\n".join(lines), encoding="utf-8")
    (folder / "study.toml").write_text(
        '[data.sample]\n[model.tfidf]\nuse = "logistic"\n[space.tfidf]\n[split.random]\n[split.closest]\n'
    )
    (folder / "suite.toml").write_text("[data.sample]\nlimit = 200\n[model.logistic]\n")
    (folder / "answers").mkdir()
    shutil.copy(folder / "predictions.csv", folder / "answers" / "constant.csv")
    (folder / "cases.csv").write_text("functionality,id,text,label\nplain,1,a b,fine\nplain,2,c d,bad\n")
    (folder / "kitchen.toml").write_text(KITCHEN)
    scores = [f"en=100,{target},{0.5 + place / 20}" for place, target in enumerate(("de", "fr", "it", "es"))]
    (folder / "scores.csv").write_text("\n".join(["configuration,target,score", *scores]))
    features = [f"{name},{place}" for place, name in enumerate(("en", "de", "fr", "it", "es", "th"))]
    (folder / "features.csv").write_text("\n".join(["name,size", *features]))
    (folder / "gold.csv").write_text("id,valid\np00,yes\np01,no\n")
    (folder / "results.md").write_text("| model | macro F1 |\n| --- | --- |\n| a | .71 |\n| b | .68 |\n")
    (folder / "leaderboards.csv").write_text("dataset,metric\na,Macro F1\na,Accuracy\nb,BLEU\n")
    for copy in ("others.csv", "new.csv", "held-out.csv"):
        shutil.copy(folder / "posts.csv", folder / copy)
    for words in (*flow, *others):
        assert do(example(words).removeprefix("unseen ") + LESS.get(words, "")).out
        if words == ("stress",):
            for copy in ("out-before", "out-after"):
                shutil.copytree(folder / "out", folder / copy)
        if words == ("data", "suite", "build"):
            suite = load_suite(folder / "kitchen.csv")
            said = [suite.label_names[code] for code in suite.labels]
            lines = [f"{case},{label},{label}" for case, label in zip(suite.ids.to_pylist(), said, strict=True)]
            (folder / "votes.csv").write_text("\n".join(["id,rater_1,rater_2", *lines]))


def test_without_a_command_help_is_shown(unseen: Run) -> None:
    for words in ((), ("data",)):
        answer = unseen(*words)
        assert answer.code == 2
        assert "Usage" in answer.out + answer.err


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("calm,loud", ["calm", "loud"]),
        ("loud, calm", ["loud", "calm"]),
        ("calm=quiet,loud=noisy", ["quiet", "noisy"]),
        ("loud = noisy , calm = quiet", ["noisy", "quiet"]),
    ],
)
def test_labels_are_declared_or_renamed(labels: str, names: list[str], folder: Path, do: Run) -> None:
    answer = do(f"split make posts.csv {COLUMNS} --with random --labels '{labels}' -o a.csv --json")
    assert list(json.loads(answer.out)["certificate"]["asked"]) == names


def test_several_values_may_become_one_label(folder: Path, do: Run) -> None:
    command = (
        "split make posts.csv --text text --label source --id id --labels app=phone,web=desk,mail=desk --with random"
    )
    assert json.loads(do(f"{command} --json").out)["certificate"]["asked"] == {"phone": 2, "desk": 4}


def test_set_gives_any_parameter(folder: Path, do: Run) -> None:
    command = (
        f"split make posts.csv {COLUMNS} --set n_clusters=[12,13] --set n_init=2 --set metric=cosine -o a.csv --json"
    )
    params = json.loads(do(command).out)["origin"]["params"]
    assert (params["n_clusters"], params["n_init"], params["metric"]) == ([12, 13], 2, "cosine")
    plain = do(f"split make posts.csv {COLUMNS} --with length --set hold_out=shortest -o b.csv --json").out
    assert json.loads(plain)["origin"]["params"]["hold_out"] == "shortest"


def test_options_of_loading_reach_the_table(folder: Path, do: Run) -> None:
    Path("odd.txt").write_bytes("text;label\ncaf\xe9 one;a\ntwo;b\nthree;\nfour;a\nfive;b\n".encode("latin-1"))
    command = "split make odd.txt --delimiter ';' --encoding latin-1 --drop unlabelled --with random --test 2 -o a.csv"
    assert do(command).out.startswith("random: train 2, test 2\n")


def test_mix_sizes_and_parts(folder: Path, do: Run) -> None:
    command = (
        f"split make posts.csv {COLUMNS} --with random --test 8 --dev 10 --independent 6 --mix calm=0.25,loud=0.75"
    )
    answer = json.loads(do(f"{command} --json").out)
    assert answer["sizes"] == {"train": 36, "dev": 10, "test": 8, "independent": 6}
    assert answer["certificate"]["got"] == {"calm": 2, "loud": 6}
